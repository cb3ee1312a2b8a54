//! Where the time of a job goes: computing, waiting, passing messages.

use super::super::sample::LaunchSample;
use super::super::sample::RankSample;
use crate::app::ranks::Split;
use crate::sample::Flag;
use crate::stats::arithmetic_mean;

/// The timed part of a launch, divided: means over its ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// Outside of message calls.
    pub compute_s: f64,
    /// In a receive, before the other rank had begun to send.
    pub wait_s: f64,
    /// The rest of receives, and all of sends.
    pub transfer_s: f64,
}

/// Why the time of a job is not divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undivided {
    /// Ranks waited for a CPU, and that is no communication: by how much.
    Oversubscribed(String),
    /// So many messages did not say when they were sent.
    Undated(u64),
    /// No launch has a time.
    Untimed,
}

impl Shares {
    /// Those of a launch.
    pub(super) fn of(sample: &LaunchSample) -> Result<Self, Undivided> {
        let oversubscribed = |flag: &&Flag| flag.name == Flag::OVERSUBSCRIBED;
        if let Some(flag) = sample.flags.iter().find(oversubscribed) {
            return Err(Undivided::Oversubscribed(flag.detail.clone()));
        }
        let undated = sample.ranks.iter().map(|rank| rank.split.undated).sum();
        if undated > 0 {
            return Err(Undivided::Undated(undated));
        }
        let mean = |part: fn(&RankSample) -> Option<f64>| {
            let parts: Vec<f64> = sample.ranks.iter().filter_map(part).collect();
            arithmetic_mean(&parts).ok_or(Undivided::Untimed)
        };
        Ok(Self {
            compute_s: mean(compute_s)?,
            wait_s: mean(|rank| Some(rank.split.wait_ns.seconds()))?,
            transfer_s: mean(|rank| Some(rank.split.transfer_ns.seconds()))?,
        })
    }

    /// Waiting and passing, as a share of all.
    pub fn communication_share(&self) -> f64 {
        let passing = self.wait_s + self.transfer_s;
        let all = self.compute_s + passing;
        if all > 0.0 { passing / all } else { 0.0 }
    }
}

fn compute_s(rank: &RankSample) -> Option<f64> {
    let Split { wait_ns, transfer_ns, .. } = rank.split;
    Some(rank.elapsed_ns?.since(wait_ns.saturating_add(transfer_ns)).seconds())
}
