//! RFC 9004: the longest burst that comes whole, and the buffer that it shows.

use super::Method;
use super::frames::Frame;
use super::frames::lost;
use super::frames::throughput;
use super::nothing_chosen;
use crate::traffic::course::SoFar;
use crate::traffic::figures::search::BackToBack;
use crate::traffic::language::recipe;
use crate::traffic::plan::Cell;
use crate::traffic::plan::Group;
use crate::traffic::trace::float;
use crate::units::Nanos;
use crate::words::several;

pub(super) static METHOD: Method = Method {
    name: "rfc9004",
    about: "throughput, the longest burst that comes whole, and the buffer that it shows",
    source: "RFC 9004, sections 6.3 and 6.4, for 26.4 of RFC 2544",
    differs: &[
        "bursts come as fast as the sender writes, instead of with the smallest gaps of the medium; that rate is \
         measured and used for the correction",
        "bursts of 1024 frames at the most",
    ],
    trial: "throughput trials",
    time: Nanos::from_secs(60),
    short_time: Nanos::from_secs(2),
    frames: &[64, 128, 256, 512, 1024, 1280, 1518],
    repeats: 50,
    width: super::WIDTH,
    chosen: nothing_chosen,
    next,
};

fn next(seen: &SoFar<'_>) -> Option<Cell> {
    seen.course.frames.iter().find_map(|size| {
        let frame = Frame(*size);
        throughput(seen, frame).or_else(|| burst(seen, frame))
    })
}

/// The next burst of the search that is under way, or of the next one.
fn burst(seen: &SoFar<'_>, frame: Frame) -> Option<Cell> {
    let mut searches = 0;
    let mut search = BackToBack::new(MOST_FRAMES);
    for made in seen.sized(Group::BackToBack, frame) {
        let count = crate::traffic::figures::flow::rounded(made.cell.x);
        search.record(count, lost(made.run) <= 0.0);
        if search.next_burst().is_none() {
            searches += 1;
            search = BackToBack::new(MOST_FRAMES);
        }
    }
    let frames = search.next_burst().filter(|_| searches < seen.course.repeats)?;
    Some(Cell {
        group: Group::BackToBack,
        label: format!("{} of {} B", several(frames, "frame"), frame.0),
        x: float(frames),
        sessions: 1,
        series: Some(frame.series()),
        scenario: recipe::volley(frame.payload(), frames, SETTLE),
        ..Cell::default()
    })
}

/// Frames of a burst at most: what the sockets and rings of a host hold by themselves is not the path's.
pub(in crate::traffic) const MOST_FRAMES: u64 = 1024;
/// How long a burst has to leave.
const SETTLE: Nanos = Nanos::from_millis(20);
