//! A black box was the limit, not the host under test.

use super::stolen_time::taken;
use crate::diagnosis::Basis;
use crate::diagnosis::Cause;
use crate::diagnosis::Confidence;
use crate::diagnosis::EndEvidence;
use crate::diagnosis::Figure;
use crate::diagnosis::Finding;
use crate::diagnosis::Site;
use crate::diagnosis::Worked;
use crate::diagnosis::seen::Seen;
use crate::diagnosis::worked::LEAST;
use crate::units::Ratio;

pub(super) const CAUSE: Cause = Cause {
    name: "blackbox-limited",
    site: Site::Own,
    basis: Basis::Waits,
    about: "a black box was the limit: the figure is a lower bound for the host under test",
    remedy: "a faster black box, or more CPUs for its role",
    explains: &[
        "application",
        "congestion-window",
        "slow-reader",
        "small-receive-buffer",
        "stolen-time",
        "unknown",
    ],
    find,
};

fn find(seen: &Seen<'_>) -> Option<Finding> {
    let (evidence, worked) = (seen.evidence, seen.worked);
    let ends = [
        (&evidence.sender, [worked.sender, worked.receiver], seen.idle()),
        (&evidence.receiver, [worked.receiver, worked.sender], seen.window_limited()),
    ];
    let never_rested = |(end, worked, still)| without_rest(seen, end, worked, still);
    ends.into_iter().find_map(never_rested).or_else(|| stolen(seen))
}

/// A data thread that never rests is the limit, whatever the packets look like: at a receiver its
/// window shuts, at a sender there is nothing to send. `still` is the share of the time in which that
/// was so.
fn without_rest(
    seen: &Seen<'_>,
    end: &EndEvidence,
    worked: [Option<Ratio>; 2],
    still: f64,
) -> Option<Finding> {
    let role = end.role.filter(|_| end.is_black_box())?;
    let Cost { share, confidence, beside, figure } = cost(worked, still)?;
    let percent = |time| seen.observed(time).map(|share| share * 100.0);
    let (ran, waited) = (percent(end.cpu)?, percent(end.run_delay));
    let mut figures = vec![Figure::new("CPU used by the black box", ran, "%")];
    figures.extend(waited.map(|waited| Figure::new("its run-queue delay", waited, "%")));
    figures.push(figure);
    let queued = waited.map(|waited| format!(" and waited for a CPU {waited:.0} %"));
    let sentence = format!(
        "the data thread of {role} never rested: it ran {ran:.0} % of the time{}; {beside}",
        queued.unwrap_or_default()
    );
    Some(Finding { share, confidence, sentence, figures })
}

/// What it cost that an end never rested, and how that is known.
struct Cost {
    share: f64,
    confidence: Confidence,
    /// Of the test host.
    beside: String,
    figure: Figure,
}

/// A fault where the test host could have done twice as much; else one of two ends is the slower, as
/// always. Where nobody measured the test host's thread, only packets say that it had to wait.
fn cost([own, other]: [Option<Ratio>; 2], still: f64) -> Option<Cost> {
    let own = own.filter(|own| Worked::never_rests(*own))?;
    let Some(other) = other else { return by_packets(still) };
    let percent = other.percent();
    Worked::is_far_slower(own, other).then(|| Cost {
        share: 1.0 - other.share(),
        confidence: Confidence::High,
        beside: format!(
            "that of the test host had work for {percent:.0} % and could have done more"
        ),
        figure: Figure::new("the test host's thread worked", percent, "%"),
    })
}

fn by_packets(still: f64) -> Option<Cost> {
    let percent = still * 100.0;
    (still >= LEAST).then(|| Cost {
        share: still,
        confidence: Confidence::Medium,
        beside: format!(
            "the test host's work was not measured, but {percent:.0} % of the time the connection stood \
             still for that end"
        ),
        figure: Figure::new("the connection stood still", percent, "%"),
    })
}

/// The hypervisor of a black box took its CPU, while both ends had time to wait for it.
fn stolen(seen: &Seen<'_>) -> Option<Finding> {
    let ends = [&seen.evidence.sender, &seen.evidence.receiver];
    let of = |end: &EndEvidence| Some((end.role?, end.host?));
    let mut hosts = ends.into_iter().filter(|end| end.is_black_box()).filter_map(of);
    let (role, share) =
        hosts.find_map(|(role, host)| Some((role, taken(host.steal, host.elapsed)?)))?;
    let percent = share * 100.0;
    let share = share.min(seen.worked.spare(Site::Path, Basis::Waits));
    (share > 0.0).then(|| Finding {
        share,
        confidence: Confidence::Medium,
        sentence: format!("the hypervisor took {percent:.0} % of a CPU from {role}"),
        figures: vec![Figure::new("steal at the black box", percent, "%")],
    })
}
