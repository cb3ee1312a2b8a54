//! A black box was the limit, not the host under test.

use super::Cause;
use super::Confidence;
use super::EndEvidence;
use super::Figure;
use super::Finding;
use super::Pace;
use super::Site;
use super::seen::Seen;
use super::stolen_time::taken;
use crate::tcp::float;
use crate::units::Ratio;

pub(super) const CAUSE: Cause = Cause {
    name: "blackbox-limited",
    site: Site::Own,
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
    let (evidence, pace) = (seen.evidence, seen.pace);
    let ends = [
        (&evidence.sender, pace.sender, pace.receiver),
        (&evidence.receiver, pace.receiver, pace.sender),
    ];
    let far_slower = |(end, own, other)| without_rest(seen, end, [own, other]);
    ends.into_iter().find_map(far_slower).or_else(|| stolen(seen)).or_else(|| told(seen))
}

/// A data thread that never rests sets the pace, whatever the packets look like: at a receiver its
/// window shuts, at a sender there is nothing to send. It is a fault where the test host could have
/// done twice as much; else one of two ends is the slower, as always.
fn without_rest(
    seen: &Seen<'_>,
    end: &EndEvidence,
    [own, other]: [Option<Ratio>; 2],
) -> Option<Finding> {
    let role = end.role.filter(|_| end.is_black_box() && Pace::is_limit(own, other))?;
    let [ran, waited] =
        [end.cpu, end.run_delay].map(|time| seen.observed(time).unwrap_or(0.0) * 100.0);
    let worked = other.map_or(0.0, Ratio::share);
    Some(Finding {
        share: 1.0 - worked,
        confidence: Confidence::High,
        sentence: format!(
            "the data thread of {role} never rested: it ran {ran:.0} % of the time and waited for a CPU \
             {waited:.0} %; that of the test host had work for {:.0} % and could have done more",
            worked * 100.0
        ),
        figures: vec![
            Figure::new("CPU used by the black box", ran, "%"),
            Figure::new("its run-queue delay", waited, "%"),
            Figure::new("the test host's thread worked", worked * 100.0, "%"),
        ],
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
    let share = share.min(seen.pace.spare(Site::Path));
    (share > 0.0).then(|| Finding {
        share,
        confidence: Confidence::Medium,
        sentence: format!("the hypervisor took {percent:.0} % of a CPU from {role}"),
        figures: vec![Figure::new("steal at the black box", percent, "%")],
    })
}

/// What the rule of that name says, threads aside.
fn told(seen: &Seen<'_>) -> Option<Finding> {
    let reasons = &seen.evidence.blackbox;
    let first = reasons.first()?;
    let share = seen.pace.spare(Site::Path).min(0.5);
    (share > 0.0).then(|| Finding {
        share,
        confidence: Confidence::Medium,
        sentence: format!("a black box was the limit: {first}"),
        figures: vec![Figure::new("reasons", float(reasons.len() as u64), "")],
    })
}
