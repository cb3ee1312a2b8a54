//! RFC 6349: how well TCP uses a path whose round trip and bandwidth were measured before.

use super::Method;
use super::frames::Frame;
use super::frames::throughput;
use crate::traffic::course::SoFar;
use crate::traffic::plan::Cell;
use crate::traffic::plan::Group;
use crate::traffic::recipe;
use crate::traffic::trace::float;
use crate::units::Bytes;
use crate::units::Nanos;

pub(in crate::traffic) static METHOD: Method = Method {
    name: "rfc6349",
    about: "transfer time ratio, TCP efficiency and buffer delay over the window",
    source: "RFC 6349, sections 3.2 (round trip), 3.3 (bandwidth, by the throughput of full frames), 4 \
             (windows of a quarter to twice the bandwidth-delay product)",
    differs: &[
        "the path MTU is not measured (3.1): a path below 1500 B carries the frames that find its bandwidth in pieces",
        "no window below 8 KiB",
    ],
    trial: "transfers",
    time: Nanos::from_secs(30),
    short_time: Nanos::from_secs(3),
    frames: &[],
    repeats: 1,
    next,
};

fn next(seen: &SoFar<'_>) -> Option<Cell> {
    let idle = Cell {
        group: Group::Idle,
        label: "small blocks on the idle path".to_owned(),
        x: 1.0,
        sessions: 1,
        scenario: recipe::bursts("burstq", recipe::TCP, Bytes::new(64), IDLE_PERIOD, IDLE),
        ..Cell::default()
    };
    seen.until(idle, 1)
        .or_else(|| throughput(seen, FULL_FRAME))
        .or_else(|| WINDOWS.iter().find_map(|share| transfer(seen, *share)))
}

/// A full stream with a share of the bandwidth-delay product as its window.
fn transfer(seen: &SoFar<'_>, share: f64) -> Option<Cell> {
    let rtt = seen
        .made()
        .find(|made| made.cell.group == Group::Idle)
        .and_then(|made| made.run.flows().next()?.least_rtt_ns)?;
    let bandwidth = float(seen.bounds(FULL_FRAME)?.lower?.bit_per_second());
    let product = bandwidth / 8.0 * rtt.seconds();
    let window = crate::traffic::analysis::figures::rounded(product * share).max(LEAST_WINDOW);
    let transport = format!("tcp(window={window} B)");
    let cell = Cell {
        group: Group::Transfer,
        label: format!("window {window} B, {share} of the product"),
        x: share,
        sessions: 1,
        scenario: recipe::full_over(&transport, Bytes::new(64 << 10), seen.course.time_ns),
        ..Cell::default()
    };
    seen.until(cell, seen.course.repeats)
}

/// The frame by which the bandwidth is measured.
pub(in crate::traffic) const FULL_FRAME: Frame = Frame(1518);
const WINDOWS: [f64; 5] = [0.25, 0.5, 0.75, 1.0, 2.0];
/// Below, a connection has hardly a segment under way.
const LEAST_WINDOW: u64 = 8 << 10;
const IDLE: Nanos = Nanos::from_millis(500);
const IDLE_PERIOD: Nanos = Nanos::from_millis(20);
