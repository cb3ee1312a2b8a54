//! Segments sent again although nobody asked for their loss.

use super::Rule;
use super::Weight;
use crate::analysis::CountedRun;
use crate::sample::ConnectionSample;

pub(super) const RULE: Rule = Rule {
    name: "retransmissions",
    about: "retransmitted segments beyond 1.1 times the asked drops by more than 3 and by more than \
            0.1 % of the segments",
    weight: Weight::Abnormal,
    find: |evidence| evidence.each_run(judge),
};

fn judge(run: &CountedRun<'_>) -> Option<String> {
    let Resent { again, sent, asked } = Resent::beyond_the_asked(run)?;
    Some(format!("{again} of {sent} segments were sent again, {asked} drops were asked for"))
}

/// What nobody asked for, as a cause that something else may have.
pub(super) fn unexplained(run: &CountedRun<'_>) -> Option<String> {
    let Resent { again, asked, .. } = Resent::beyond_the_asked(run)?;
    Some(match asked {
        0 => format!("{again} retransmissions"),
        _ => format!("{again} retransmissions ({asked} drops were asked for)"),
    })
}

/// The segments of a run.
struct Resent {
    again: u64,
    sent: u64,
    asked: u64,
}

impl Resent {
    /// Those of a run that the asked drops do not explain.
    fn beyond_the_asked(run: &CountedRun<'_>) -> Option<Self> {
        let connections = &run.sample.comm.as_ref()?.connections;
        let again = sum(connections, ConnectionSample::retransmissions)?;
        let sent = sum(connections, |one| one.sender.tcp_info.as_ref()?.data_segs_out)?;
        let drops = run.sample.emulation.iter().map(|each| each.dropped + each.queue_dropped);
        let asked = drops.sum();
        (again > allowed(asked, sent)).then_some(Self { again, sent, asked })
    }
}

/// How many retransmissions the asked drops explain: a lost segment is sent once more, a probe of
/// the tail or a late acknowledgement adds a few.
pub(super) fn allowed(asked: u64, sent: u64) -> u64 {
    asked + asked / 10 + (sent / 1000).max(3)
}

fn sum(
    connections: &[ConnectionSample],
    count: impl Fn(&ConnectionSample) -> Option<u64>,
) -> Option<u64> {
    connections.iter().map(count).sum()
}
