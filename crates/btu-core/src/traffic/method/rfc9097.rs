//! RFC 9097: the most that a path carries at the IP layer, by a rate that follows what its receiver says.

use super::Method;
use crate::traffic::course::SoFar;
use crate::traffic::figures::capacity::Adjustment;
use crate::traffic::plan::Cell;
use crate::traffic::plan::Course;
use crate::traffic::plan::Group;
use crate::traffic::plan::Probe;
use crate::units::Bytes;
use crate::units::Nanos;

pub(in crate::traffic) static METHOD: Method = Method {
    name: "rfc9097",
    about: "maximum IP-layer capacity, by a rate that follows what its receiver reports",
    source: "RFC 9097, section 8 and appendix A (type B), Y.1540 annex A: reports each 50 ms, thresholds of \
             30 and 90 ms",
    differs: &[
        "delays of one way instead of round trips",
        "messages of ours, not the protocol of RFC 9946",
        "the best sub-interval may begin with any report, not only where the one before ends",
    ],
    trial: "the search",
    time: Nanos::from_secs(10),
    short_time: Nanos::from_secs(3),
    frames: &[],
    repeats: 1,
    width: super::WIDTH,
    chosen,
    next,
};

fn next(seen: &SoFar<'_>) -> Option<Cell> {
    let cell = Cell {
        group: Group::Search,
        label: "capacity search".to_owned(),
        x: 1.0,
        sessions: 1,
        probe: Some(probe(seen.course)),
        ..Cell::default()
    };
    seen.until(cell, seen.course.repeats.max(seen.plan.passes))
}

fn probe(course: &Course) -> Probe {
    let Course { time_ns, adjustment, .. } = *course;
    Probe::Capacity { time_ns, datagram_bytes: DATAGRAM, adjustment }
}

/// The text has type B alone.
fn chosen(course: &Course) -> Option<String> {
    let of_c = "load adjustment of type C (multiply and retry), as BroadbandForum/obudpst has it, in the place of \
                type B";
    (course.adjustment == Adjustment::C).then(|| of_c.to_owned())
}

/// UDP payload: 1250 bytes of IPv4 packet, up to 1 Gb/s (TR-471 of the Broadband Forum).
pub(in crate::traffic) const DATAGRAM: Bytes = Bytes::new(1222);
