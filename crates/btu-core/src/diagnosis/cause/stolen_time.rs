//! Hypervisor or softirqs took the CPU.

use crate::diagnosis::Basis;
use crate::diagnosis::Cause;
use crate::diagnosis::Confidence;
use crate::diagnosis::Figure;
use crate::diagnosis::Finding;
use crate::diagnosis::Site;
use crate::diagnosis::seen::Seen;
use crate::units::Nanos;

pub(super) const CAUSE: Cause = Cause {
    name: "stolen-time",
    site: Site::Own,
    basis: Basis::Waits,
    about: "the hypervisor, or the kernel's own packet work, took the CPU",
    remedy: "measure on a quieter machine; spread interrupts (RPS, IRQ affinity); larger segments",
    explains: &[],
    find,
};

fn find(seen: &Seen<'_>) -> Option<Finding> {
    let of_host = |time: Option<Nanos>| {
        let elapsed = seen.evidence.host_elapsed.seconds();
        if elapsed > 0.0 { time.unwrap_or_default().seconds() / elapsed } else { 0.0 }
    };
    let [steal, softirq] = [seen.evidence.steal, seen.evidence.softirq].map(of_host);
    let was_stolen = taken(seen.evidence.steal, seen.evidence.host_elapsed).is_some();
    // Packets are work, not loss, while a CPU is left for the threads of the host under test.
    let ends = [&seen.evidence.sender, &seen.evidence.receiver];
    let mut delays = ends.into_iter().filter(|end| !end.is_black_box()).map(|end| end.run_delay);
    let waits = delays.any(|delay| seen.observed(delay).is_some_and(|share| share >= LEAST_WAIT));
    let has_idle = of_host(seen.evidence.idle) >= LEAST_IDLE || seen.evidence.idle.is_none();
    let (share, sentence) = if was_stolen {
        (steal, format!("the hypervisor took {:.0} % of a CPU", steal * 100.0))
    } else if softirq >= MOST_SOFTIRQ && waits && !has_idle {
        let left = of_host(seen.evidence.idle) * 100.0;
        let sentence =
            format!("softirqs took {:.0} % of a CPU, {left:.0} % were idle", softirq * 100.0);
        (softirq - MOST_SOFTIRQ + 0.1, sentence)
    } else {
        return None;
    };
    let known =
        [("steal", seen.evidence.steal, steal), ("softirq", seen.evidence.softirq, softirq)];
    let known = known.into_iter().filter(|(_, time, _)| time.is_some());
    let figures = known.map(|(name, _, share)| Figure::new(name, share * 100.0, "%")).collect();
    Some(Finding { share, confidence: Confidence::Medium, sentence, figures })
}

/// The share of the time that a hypervisor took from a host, where that is more than a tick or two.
pub(super) fn taken(steal: Option<Nanos>, elapsed: Nanos) -> Option<f64> {
    let steal = steal.filter(|steal| *steal >= RESOLUTION && elapsed > Nanos::ZERO)?;
    Some(steal.seconds() / elapsed.seconds()).filter(|share| *share >= MOST_STEAL)
}

const MOST_STEAL: f64 = 0.05;
/// The kernel counts in ticks of 10 ms: one or two say nothing.
const RESOLUTION: Nanos = Nanos::from_millis(30);
const MOST_SOFTIRQ: f64 = 0.7;
const LEAST_IDLE: f64 = 0.1;
const LEAST_WAIT: f64 = 0.15;
