//! What a job passes: the table of the seed, application data alone.

use super::super::ranks::Count;
use super::super::ranks::Tally;
use super::super::sample::LaunchSample;
use super::launch;
use crate::app::ranks::Collective;
use crate::stats::count;
use crate::stats::median;

/// What all ranks pass together, from their start to their end.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// Messages and bytes, by kind.
    pub tally: Tally,
    /// How long the ranks lived: the rates are over this time, in which the messages were counted.
    pub lived_s: f64,
}

impl Traffic {
    /// That of launches which came to their end; the time is their median.
    pub(super) fn of(launches: &[&LaunchSample]) -> Option<Self> {
        let whole: Vec<&LaunchSample> =
            launches.iter().copied().filter(|sample| launch::is_whole(sample)).collect();
        let lived: Vec<f64> = whole.iter().filter_map(|sample| lived_s(sample)).collect();
        Some(Self { tally: total(whole.first()?), lived_s: median(&lived)? })
    }

    /// Messages between ranks, and all bytes of them, in 10^6 bytes.
    pub fn megabytes(&self) -> f64 {
        bytes(self.tally.messages) / 1e6
    }

    /// Bytes of a message in the mean; `None` without any.
    pub fn mean_bytes(&self) -> Option<f64> {
        let Count { count: messages, .. } = self.tally.messages;
        (messages > 0).then(|| bytes(self.tally.messages) / number(messages))
    }

    /// 10^6 bytes per second.
    pub fn megabytes_per_s(&self) -> Option<f64> {
        self.per_s(self.megabytes())
    }

    /// Messages per second.
    pub fn messages_per_s(&self) -> Option<f64> {
        self.per_s(number(self.tally.messages.count))
    }

    /// Calls of all collectives but barriers, which carry nothing.
    pub fn collectives(&self) -> Count {
        let with_payload =
            self.tally.collectives.iter().filter(|(of, _)| **of != Collective::Barrier);
        let mut sum = Count::default();
        with_payload.for_each(|(_, one)| sum.join(*one));
        sum
    }

    /// How many sizes of messages there are.
    pub fn distinct_sizes(&self) -> usize {
        self.tally.sizes.len()
    }

    fn per_s(&self, amount: f64) -> Option<f64> {
        (self.lived_s > 0.0).then(|| amount / self.lived_s)
    }
}

/// What the ranks of a launch passed, all together.
pub(super) fn total(sample: &LaunchSample) -> Tally {
    let mut total = Tally::default();
    sample.ranks.iter().for_each(|rank| total.join(&rank.tally));
    total
}

/// What each rank of a launch passed.
pub(super) fn by_rank(sample: &LaunchSample) -> Vec<Tally> {
    sample.ranks.iter().map(|rank| rank.tally.clone()).collect()
}

fn lived_s(sample: &LaunchSample) -> Option<f64> {
    let longest = sample.ranks.iter().map(|rank| rank.lived_ns).max()?;
    Some(longest.seconds())
}

fn bytes(of: Count) -> f64 {
    number(of.bytes.count())
}

fn number(whole: u64) -> f64 {
    count(usize::try_from(whole).unwrap_or(usize::MAX))
}
