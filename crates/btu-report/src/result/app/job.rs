//! A program over one layer, for programs.

use btu_core::app::analysis::JobFigures;
use btu_core::app::analysis::Ratio;
use btu_core::app::analysis::Shares;
use btu_core::app::analysis::Traffic;
use btu_core::app::analysis::Verdict;
use btu_core::stats::Interval;
use serde::Deserialize;
use serde::Serialize;

use crate::app::undivided;

/// A program over one layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AppJobResult {
    /// The message layer.
    pub layer: String,
    /// Launches in the journal.
    pub launches: usize,
    /// Of these, those that found what the benchmark publishes: only they are timed.
    pub verified_launches: usize,
    /// The timed part of the rank that was last: median over launches.
    pub elapsed_median_s: Option<f64>,
    /// Its 95 % interval, by Student's t on logs.
    pub elapsed_ci95_s: Option<[f64; 2]>,
    /// By the time over the fastest layer; null over that one.
    pub ratio: Option<AppRatioResult>,
    /// Where the time of the median launch goes; null where that cannot be told.
    pub split: Option<AppSplitResult>,
    /// Why it cannot be told.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub split_reason: Option<String>,
    /// What is passed; null where no launch came to its end.
    pub traffic: Option<AppTrafficResult>,
}

/// One time by another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AppRatioResult {
    /// The layer of the divisor.
    pub to: String,
    /// Geometric mean over rounds.
    pub ratio_mean: f64,
    /// Its 95 % interval, by Student's t on logs.
    pub ratio_ci95: Option<[f64; 2]>,
    /// Rounds that have both times.
    pub rounds: usize,
}

/// The timed part of a launch, divided: means over its ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AppSplitResult {
    /// Outside of message calls.
    pub compute_s: f64,
    /// In a receive, before the other rank had begun to send.
    pub wait_s: f64,
    /// The rest of receives, and all of sends.
    pub transfer_s: f64,
}

/// What all ranks pass together, warm-up included: payload alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AppTrafficResult {
    /// Messages from rank to rank.
    pub messages: u64,
    /// Their bytes.
    pub message_bytes: u64,
    /// Bytes of a message in the mean.
    pub message_mean_bytes: Option<f64>,
    /// Of the messages, those of ranks to themselves.
    pub own_messages: u64,
    /// The bytes of those.
    pub own_bytes: u64,
    /// Calls of collectives, barriers apart.
    pub collective_calls: u64,
    /// The payload of these calls.
    pub collective_bytes: u64,
    /// How many sizes of messages there are.
    pub distinct_sizes: usize,
    /// How long the ranks lived, median over launches: what rates are over.
    pub lived_s: f64,
}

pub(super) fn job(found: &JobFigures) -> AppJobResult {
    let is_verified =
        |launch: &&btu_core::app::analysis::Launch| launch.verdict == Verdict::Verified;
    let elapsed = found.elapsed;
    AppJobResult {
        layer: found.job.layer.clone(),
        launches: found.launches.len(),
        verified_launches: found.launches.iter().filter(is_verified).count(),
        elapsed_median_s: elapsed.map(|elapsed| elapsed.median_s),
        elapsed_ci95_s: elapsed.and_then(|elapsed| elapsed.interval_s).map(bounds),
        ratio: found.ratio.as_ref().map(ratio),
        split: found.split.as_ref().ok().map(split),
        split_reason: found.split.as_ref().err().map(undivided),
        traffic: found.traffic.as_ref().map(traffic),
    }
}

pub(super) fn ratio(found: &Ratio) -> AppRatioResult {
    AppRatioResult {
        to: found.to.clone(),
        ratio_mean: found.ratio,
        ratio_ci95: found.interval.map(bounds),
        rounds: found.rounds,
    }
}

fn bounds(interval: Interval) -> [f64; 2] {
    [interval.low, interval.high]
}

fn split(found: &Shares) -> AppSplitResult {
    let Shares { compute_s, wait_s, transfer_s } = *found;
    AppSplitResult { compute_s, wait_s, transfer_s }
}

fn traffic(found: &Traffic) -> AppTrafficResult {
    let (messages, own, collectives) = (found.tally.messages, found.tally.own, found.collectives());
    AppTrafficResult {
        messages: messages.count,
        message_bytes: messages.bytes.count(),
        message_mean_bytes: found.mean_bytes(),
        own_messages: own.count,
        own_bytes: own.bytes.count(),
        collective_calls: collectives.count,
        collective_bytes: collectives.bytes.count(),
        distinct_sizes: found.distinct_sizes(),
        lived_s: found.lived_s,
    }
}
