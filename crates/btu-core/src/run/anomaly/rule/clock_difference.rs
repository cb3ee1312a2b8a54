//! The receiver's own time of a run against the test host's.

use crate::run::analysis::CountedRun;
use crate::run::anomaly::Evidence;
use crate::run::anomaly::Finding;
use crate::run::anomaly::Rule;
use crate::run::anomaly::Weight;
use crate::sample::ConnectionSample;
use crate::units::Nanos;

pub(super) const RULE: Rule = Rule {
    name: "clock-difference",
    about: "the receiver's first-to-last-byte time differs from the test host's by more than 2 % \
            and one round trip; not on the local testbed, which has one clock",
    weight: Weight::Remark,
    find,
};

/// The hosts of the local testbed read one clock: there it is the time before the first byte that differs.
fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    if evidence.plan.testbed_class.is_local() {
        return Vec::new();
    }
    evidence.each_run(judge)
}

fn judge(run: &CountedRun<'_>) -> Option<String> {
    run.sample.comm.as_ref()?.connections.iter().find_map(difference)
}

fn difference(one: &ConnectionSample) -> Option<String> {
    let (own, receivers) = (one.elapsed_ns, one.receiver_elapsed_ns);
    let apart = own.since(receivers).max(receivers.since(own));
    let bound = Nanos::new(own.count() / 50).saturating_add(one.round_trip());
    (receivers > Nanos::ZERO && apart > bound).then(|| {
        let (own, receivers, bound) = (own.millis(), receivers.millis(), bound.millis());
        format!(
            "{own:.1} ms by the test host, {receivers:.1} ms by the receiver ({}), more than \
             {bound:.1} ms apart",
            one.receiver.role,
        )
    })
}

impl ConnectionSample {
    /// The smoothed round trip at the sender; no time where its kernel did not tell.
    pub(super) fn round_trip(&self) -> Nanos {
        let told = self.sender.tcp_info.as_ref().and_then(|info| info.rtt_us);
        told.map_or(Nanos::ZERO, |rtt| Nanos::new(rtt.saturating_mul(1000)))
    }
}
