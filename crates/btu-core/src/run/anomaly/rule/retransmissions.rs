//! Segments sent again although nobody asked for their loss.

use std::fmt;

use crate::run::analysis::CountedRun;
use crate::run::anomaly::Rule;
use crate::run::anomaly::Weight;
use crate::sample::ConnectionSample;
use crate::sample::DirectionSample;

pub(super) const RULE: Rule = Rule {
    name: "retransmissions",
    about: "retransmitted segments beyond 1.1 times what the emulator dropped, as asked or from a queue, by \
            more than 3 and by more than 0.1 % of the segments",
    weight: Weight::Abnormal,
    find: |evidence| evidence.each_run(judge),
};

fn judge(run: &CountedRun<'_>) -> Option<String> {
    let Resent { again, sent, drops } = Resent::beyond_the_drops(run)?;
    Some(format!("{again} of {sent} segments were sent again, {drops}"))
}

/// What nobody asked for, as a cause that something else may have.
pub(super) fn unexplained(run: &CountedRun<'_>) -> Option<String> {
    let Resent { again, drops, .. } = Resent::beyond_the_drops(run)?;
    Some(match drops.all() {
        0 => format!("{again} retransmissions"),
        _ => format!("{again} retransmissions ({drops})"),
    })
}

/// The segments of a run.
struct Resent {
    again: u64,
    sent: u64,
    drops: Drops,
}

impl Resent {
    /// Those of a run that the emulator's drops do not explain.
    fn beyond_the_drops(run: &CountedRun<'_>) -> Option<Self> {
        let connections = &run.sample.comm.as_ref()?.connections;
        let again = sum(connections, ConnectionSample::retransmissions)?;
        let sent = sum(connections, |one| one.sender.tcp_info.as_ref()?.data_segs_out)?;
        let drops = Drops::of(&run.sample.emulation);
        (again > drops.explain(sent)).then_some(Self { again, sent, drops })
    }
}

/// What an emulator dropped.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Drops {
    /// Because it was asked to.
    asked: u64,
    /// From the full queue of a rate: nobody asked for them one by one, and they explain as much.
    queued: u64,
    /// Packets that it changed, as it was asked to: no receiver takes them.
    corrupted: u64,
}

impl Drops {
    pub(super) fn of<'d>(directions: impl IntoIterator<Item = &'d DirectionSample>) -> Self {
        directions.into_iter().fold(Self::default(), |sum, each| Self {
            asked: sum.asked + each.dropped,
            queued: sum.queued + each.queue_dropped,
            corrupted: sum.corrupted + each.corrupted,
        })
    }

    const fn all(self) -> u64 {
        self.asked + self.queued + self.corrupted
    }

    /// How many retransmissions of so many segments they explain: a lost segment is sent once more, a probe of
    /// the tail or a late acknowledgement adds a few.
    pub(super) fn explain(self, sent: u64) -> u64 {
        self.all() + self.all() / 10 + (sent / 1000).max(3)
    }
}

impl fmt::Display for Drops {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} drops were asked for", self.asked)?;
        match self.queued {
            0 => {}
            queued => write!(out, ", and a queue dropped {queued}")?,
        }
        match self.corrupted {
            0 => Ok(()),
            corrupted => write!(out, "; {corrupted} packets were corrupted"),
        }
    }
}

fn sum(
    connections: &[ConnectionSample],
    count: impl Fn(&ConnectionSample) -> Option<u64>,
) -> Option<u64> {
    connections.iter().map(count).sum()
}
