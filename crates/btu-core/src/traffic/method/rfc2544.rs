//! RFC 2544: throughput, latency and frame loss rate, for each frame size.

use super::Method;
use super::frames::Frame;
use super::frames::lost;
use super::frames::throughput;
use super::nothing_chosen;
use crate::traffic::course::SoFar;
use crate::traffic::plan::Cell;
use crate::traffic::plan::Group;
use crate::traffic::trace::float;
use crate::units::Nanos;

pub(super) static METHOD: Method = Method {
    name: "rfc2544",
    about: "throughput, latency and frame loss rate for each frame size",
    source: "RFC 2544, sections 9, 26.1, 26.2, 26.3",
    differs: &[
        "one direction, and neither broadcast nor management frames among the others (sections 11, 14)",
        "latency (26.2): every frame of one stream as long as a trial, instead of a marked frame in each of 20 \
         streams of 120 s",
        "frame loss (26.3): from half above what came at the most, instead of the rate of the medium; what the \
         sender did not manage to send counts as lost",
        "no system recovery (26.5), no reset (26.6)",
    ],
    trial: "trials",
    time: Nanos::from_secs(60),
    short_time: Nanos::from_secs(2),
    frames: &[64, 128, 256, 512, 1024, 1280, 1518],
    repeats: 1,
    width: super::WIDTH,
    chosen: nothing_chosen,
    next,
};

fn next(seen: &SoFar<'_>) -> Option<Cell> {
    seen.course.frames.iter().find_map(|size| {
        let frame = Frame(*size);
        throughput(seen, frame).or_else(|| latency(seen, frame)).or_else(|| losses(seen, frame))
    })
}

/// Frames at the throughput (26.2).
fn latency(seen: &SoFar<'_>, frame: Frame) -> Option<Cell> {
    let throughput = float(seen.bounds(frame)?.lower?.bit_per_second());
    seen.until(frame.at(Group::Latency, throughput, seen.course.time_ns), 1)
}

/// From half above what came at the most, in tenths, until nothing is lost twice (26.3).
fn losses(seen: &SoFar<'_>, frame: Frame) -> Option<Cell> {
    let most = seen.most(frame)? * 1.5;
    let done: Vec<f64> = seen.sized(Group::FrameLoss, frame).map(|made| lost(made.run)).collect();
    let clean = done.iter().rev().take_while(|loss| **loss <= 0.0).count();
    let steps = u32::try_from(done.len()).ok().filter(|steps| *steps < 10 && clean < 2)?;
    let load = (most * (1.0 - 0.1 * f64::from(steps))).round();
    seen.until(frame.at(Group::FrameLoss, load, seen.course.time_ns), 1)
}
