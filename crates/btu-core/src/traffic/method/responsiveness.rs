//! Responsiveness under working conditions: round trips per minute while connections fill the path.

use super::Method;
use super::nothing_chosen;
use crate::traffic::course::SoFar;
use crate::traffic::plan::Cell;
use crate::traffic::plan::Course;
use crate::traffic::plan::Group;
use crate::traffic::plan::Probe;
use crate::units::Nanos;

pub(in crate::traffic) static METHOD: Method = Method {
    name: "responsiveness",
    about: "round trips per minute (RPM) while connections fill the path, and on the idle path",
    source: "draft-ietf-ippm-responsiveness, the TCP-only case; 10 probes of each kind due in a second",
    differs: &[
        "load in one direction, away from the test host",
        "requests and answers of ours in the place of HTTP, and no TLS whose handshake would be timed",
    ],
    trial: "intervals",
    time: Nanos::from_secs(1),
    short_time: Nanos::from_millis(300),
    frames: &[],
    repeats: 1,
    width: super::WIDTH,
    chosen: nothing_chosen,
    next,
};

/// What is run.
pub(in crate::traffic) fn probe(course: &Course) -> Probe {
    Probe::Responsiveness { interval_ns: course.time_ns, intervals: INTERVALS }
}

fn next(seen: &SoFar<'_>) -> Option<Cell> {
    let cell = Cell {
        group: Group::Working,
        label: "round trips under load".to_owned(),
        x: 1.0,
        sessions: 1,
        probe: Some(probe(seen.course)),
        ..Cell::default()
    };
    seen.until(cell, seen.course.repeats.max(seen.plan.passes))
}

/// Where nothing has settled by then, the confidence is low or medium, and the result says so.
const INTERVALS: u32 = 20;
