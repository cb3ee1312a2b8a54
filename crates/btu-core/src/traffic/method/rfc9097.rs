//! RFC 9097: the most that a path carries at the IP layer, by a rate that follows what its receiver says.

use super::Method;
use crate::traffic::course::SoFar;
use crate::traffic::plan::Cell;
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
        "load adjustment of type B alone: type C, which reacts faster where a capacity changes, is not there",
        "the best sub-interval may begin with any report, not only where the one before ends",
    ],
    trial: "the search",
    time: Nanos::from_secs(10),
    short_time: Nanos::from_secs(3),
    frames: &[],
    repeats: 1,
    next,
};

fn next(seen: &SoFar<'_>) -> Option<Cell> {
    let cell = Cell {
        group: Group::Search,
        label: "capacity search".to_owned(),
        x: 1.0,
        sessions: 1,
        probe: Some(Probe::Capacity { time_ns: seen.course.time_ns, datagram_bytes: DATAGRAM }),
        ..Cell::default()
    };
    seen.until(cell, seen.course.repeats.max(seen.plan.passes))
}

/// UDP payload: 1250 bytes of IPv4 packet (TR-471 of the Broadband Forum).
const DATAGRAM: Bytes = Bytes::new(1222);
