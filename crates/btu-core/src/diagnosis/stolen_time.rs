//! Hypervisor or softirqs took the CPU.

use super::Cause;
use super::Confidence;
use super::Figure;
use super::Finding;
use super::seen::Seen;

pub(super) const CAUSE: Cause = Cause {
    name: "stolen-time",
    about: "the hypervisor, or the kernel's own packet work, took the CPU",
    remedy: "measure on a quieter machine; spread interrupts (RPS, IRQ affinity); larger segments",
    explains: &[],
    find,
};

fn find(seen: &Seen<'_>) -> Option<Finding> {
    let steal = seen.observed(seen.evidence.steal).unwrap_or(0.0);
    let softirq = seen.observed(seen.evidence.softirq).unwrap_or(0.0);
    let sentence = if steal >= MOST_STEAL {
        format!("the hypervisor took {:.0} % of a CPU", steal * 100.0)
    } else if softirq >= MOST_SOFTIRQ {
        format!("softirqs took {:.0} % of a CPU", softirq * 100.0)
    } else {
        return None;
    };
    let share = if steal >= MOST_STEAL { steal } else { softirq - MOST_SOFTIRQ + 0.1 };
    Some(Finding {
        share,
        confidence: Confidence::Medium,
        sentence,
        figures: vec![
            Figure::new("steal", steal * 100.0, "%"),
            Figure::new("softirq", softirq * 100.0, "%"),
        ],
    })
}

const MOST_STEAL: f64 = 0.05;
const MOST_SOFTIRQ: f64 = 0.7;
