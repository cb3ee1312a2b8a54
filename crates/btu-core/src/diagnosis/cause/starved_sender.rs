//! The sending thread waited for a CPU.

use crate::diagnosis::Basis;
use crate::diagnosis::Cause;
use crate::diagnosis::Confidence;
use crate::diagnosis::EndEvidence;
use crate::diagnosis::Figure;
use crate::diagnosis::Finding;
use crate::diagnosis::Site;
use crate::diagnosis::seen::Seen;
use crate::units::Nanos;

pub(super) const CAUSE: Cause = Cause {
    name: "starved-sender",
    site: Site::Own,
    basis: Basis::Waits,
    about: "the sending thread was runnable but did not get a CPU",
    remedy: "give the sender a CPU: fewer threads, another placement, a higher priority, no quota \
             (cpu.max)",
    explains: &[],
    find,
};

/// While data is outstanding, the path works and nothing is lost.
fn find(seen: &Seen<'_>) -> Option<Finding> {
    starved(seen, &seen.evidence.sender, seen.idle(), "sending")
}

/// The scheduler counts how long a thread waited for a CPU. That costs the connection something only
/// where the path waited too: the thread had work most of the time and so was the limit, or the path
/// stood still for `idle` of the time. And it is starved where others got much of what it wanted: any
/// thread waits a little behind interrupts and the packets it is about to read, and whoever comes by
/// on a host that rests has the CPU until the next tick.
pub(super) fn starved(
    seen: &Seen<'_>,
    end: &EndEvidence,
    idle: f64,
    which: &str,
) -> Option<Finding> {
    let lost = lost(seen, end, idle)?;
    let percent = |time| seen.observed(time).map(|share| share * 100.0);
    let (waited, ran) = (percent(end.run_delay)?, percent(end.cpu));
    let mut figures = vec![Figure::new("run-queue delay", waited, "%")];
    figures.extend(ran.map(|ran| Figure::new("CPU used", ran, "%")));
    figures.push(Figure::new("the path stood still", idle * 100.0, "%"));
    let ran = ran.map(|ran| format!(" and ran {ran:.0} %")).unwrap_or_default();
    let stopped = stopped(seen);
    figures.extend(stopped.map(|stopped| Figure::new("stopped by a CPU quota", stopped, "%")));
    let why = stopped.map(|stopped| format!("; a CPU quota stopped its host for {stopped:.0} %"));
    let others = seen.other_programs();
    figures.extend(others.map(|used| Figure::new("other programs, of a CPU", used, "%")));
    let others = others.map(|used| format!("; other programs used {used:.0} % of a CPU"));
    let why: String = why.into_iter().chain(others).collect();
    let sentence =
        format!("the {which} thread waited for a CPU {waited:.0} % of the time{ran}{why}");
    let confidence = if lost >= 0.3 { Confidence::High } else { Confidence::Medium };
    Some(Finding { share: lost, confidence, sentence, figures })
}

/// How many percent of the time a quota stopped the host under test, where that is more than a slip.
fn stopped(seen: &Seen<'_>) -> Option<f64> {
    let (stopped, elapsed) =
        (seen.evidence.throttled?.seconds(), seen.evidence.host_elapsed.seconds());
    (stopped >= elapsed * LEAST_STOPPED && elapsed > 0.0).then(|| stopped / elapsed * 100.0)
}

/// The share of the time that this cost, if it is starved.
fn lost(seen: &Seen<'_>, end: &EndEvidence, idle: f64) -> Option<f64> {
    let delay = end.run_delay.filter(|delay| *delay >= LEAST_WAIT && !end.is_black_box());
    let waited = seen.observed(delay)?;
    let ran = seen.observed(end.cpu).unwrap_or(0.0);
    let sets_the_pace = waited + ran >= MOST_OF_THE_TIME;
    let lost = if sets_the_pace { waited } else { waited.min(idle) };
    (lost >= LEAST_SHARE && waited >= (waited + ran) * LEAST_PART).then_some(lost)
}

/// The part of its silence that is not the sending application's own choice.
pub(super) fn silenced(seen: &Seen<'_>) -> f64 {
    lost(seen, &seen.evidence.sender, seen.idle()).unwrap_or(0.0)
}

const LEAST_SHARE: f64 = 0.15;
/// Three turns of others, of a tick each (10 ms at the most): one alone is a sixth of a connection of
/// 60 ms and says nothing of what a longer one would have got.
const LEAST_WAIT: Nanos = Nanos::from_millis(30);
/// Of what it wanted: one rival of its own kind takes half.
const LEAST_PART: f64 = 0.4;
const MOST_OF_THE_TIME: f64 = 0.5;
const LEAST_STOPPED: f64 = 0.01;
