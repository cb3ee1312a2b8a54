//! What standard methods found, with units in the keys.

use btu_core::traffic::course::KNEE;
use btu_core::traffic::findings::BurstFinding;
use btu_core::traffic::findings::Findings;
use btu_core::traffic::findings::FrameFinding;
use btu_core::traffic::findings::GoalFinding;
use btu_core::traffic::findings::InPass;
use btu_core::traffic::findings::TransferFinding;
use btu_core::traffic::plan::Plan;
use btu_core::traffic::probe::CapacityFigures;
use btu_core::traffic::probe::PathMtuFigures;
use btu_core::traffic::probe::ResponsivenessFigures;
use btu_core::units::Bytes;
use serde::Deserialize;
use serde::Serialize;

use super::reasons;
use crate::traffic::path_mtu::how_found;

/// What standard methods found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MethodResult {
    /// `rfc2544`, `rfc9004`, `rfc6349`, `rfc9097`, `mlrsearch`, `responsiveness`, or `qos`, which uses some of them.
    pub name: String,
    /// In which respects it was not what the text asks for.
    pub deviations: Vec<String>,
    /// By frame size.
    pub frames: Vec<FrameResult>,
    /// The path MTU, where the method asks for it.
    pub path_mtu: Option<PathMtuResult>,
    /// TCP over its window.
    pub transfers: Vec<TransferResult>,
    /// Capacity searches.
    pub capacities: Vec<CapacityResult>,
    /// Round trips under load.
    pub responsiveness: Vec<ResponsivenessResult>,
}

/// One frame size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FrameResult {
    /// The Ethernet frame, its checksum included.
    pub frame_bytes: u32,
    /// The highest load without loss, frames per second; null where every load lost some. Where there are `goals`, the
    /// highest that met the first of them, that of no loss, in most of its trials.
    pub throughput_frames_s: Option<f64>,
    /// Why it is null.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub throughput_frames_s_reason: Option<String>,
    /// The same on the wire, preamble and gap included, bit/s.
    pub throughput_wire_bit_s: Option<f64>,
    /// Why it is null.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub throughput_wire_bit_s_reason: Option<String>,
    /// The lowest load above it that lost some, frames per second; null where none did. Where there are `goals`, the
    /// lowest that missed the first of them in most of its trials.
    pub lossy_frames_s: Option<f64>,
    /// Why it is null.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lossy_frames_s_reason: Option<String>,
    /// What was found for each goal of loss; empty where one alone was searched for, that of no loss.
    #[serde(default)]
    pub goals: Vec<GoalResult>,
    /// Trials of the search.
    pub trials: u64,
    /// How long each was, seconds.
    pub trial_s: f64,
    /// Median delay at the throughput, seconds.
    pub latency_p50_s: Option<f64>,
    /// 99th percentile, seconds.
    pub latency_p99_s: Option<f64>,
    /// How far the clocks of two hosts may put these off, seconds; null where one clock measured both ends.
    pub latency_bound_s: Option<f64>,
    /// Loads with the share of frames that they lost, in falling order.
    pub losses: Vec<LossResult>,
    /// Bursts back to back.
    pub back_to_back: Option<BackToBackResult>,
}

/// The bounds of a load for a goal of loss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GoalResult {
    /// The share of loss that it allows.
    pub lost_share: f64,
    /// The highest load most of whose trials meet it, frames per second; null where there is none.
    pub met_frames_s: Option<f64>,
    /// Why it is null.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub met_frames_s_reason: Option<String>,
    /// The same on the wire, preamble and gap included, bit/s.
    pub met_wire_bit_s: Option<f64>,
    /// Why it is null.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub met_wire_bit_s_reason: Option<String>,
    /// The lowest load that does not, frames per second; null where there is none.
    pub missed_frames_s: Option<f64>,
    /// Why it is null.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub missed_frames_s_reason: Option<String>,
}

/// The loss of one load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LossResult {
    /// Frames per second.
    pub load_frames_s: f64,
    /// Lost, of all sent.
    pub lost_share: f64,
}

/// The longest burst that came whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BackToBackResult {
    /// Mean of the searches.
    pub frames: f64,
    /// The shortest.
    pub least_frames: f64,
    /// The longest.
    pub most_frames: f64,
    /// Searches.
    pub searches: u64,
    /// True where the longest burst that was tried came whole, too.
    pub open_end: bool,
    /// How fast frames came within a burst, per second.
    pub burst_frames_s: f64,
    /// The buffer, corrected for what left meanwhile (RFC 9004, 6.4), frames; null without a throughput.
    pub buffer_frames: Option<f64>,
    /// Its time at the throughput, seconds.
    pub buffer_s: Option<f64>,
}

/// The largest packet that the path carries whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PathMtuResult {
    /// From the IP header on; null where nobody answered or nobody could search.
    pub path_mtu_bytes: Option<u64>,
    /// False where the search was cut off: the path may carry more.
    pub exact: bool,
    /// The largest packet of the device by which probes left; null where nobody could search.
    pub device_mtu_bytes: Option<u64>,
    /// Probes.
    pub probes: u64,
    /// Those that were answered.
    pub answered_probes: u64,
    /// How long an answer was waited for beside four times the slowest one, seconds.
    pub timer_s: f64,
    /// How it was found, in words, or why it was not.
    pub found_by: String,
}

/// TCP with one window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransferResult {
    /// Window in products of `product_bytes`, to a thousandth.
    pub window_share: f64,
    /// Bandwidth-delay product of the idle path, bytes of payload: a window counts no headers.
    pub product_bytes: u64,
    /// What arrived, payload, bit/s.
    pub goodput_bit_s: f64,
    /// What full segments back to back would be, payload, bit/s.
    pub ideal_bit_s: f64,
    /// Round trip of the idle path, seconds.
    pub idle_rtt_s: f64,
    /// Time taken over the ideal time; 1 is perfect.
    pub time_ratio: f64,
    /// Payload not sent again, percent.
    pub efficiency_percent: f64,
    /// Mean round trip beyond the idle one, percent of it; null where nobody sampled it.
    pub buffer_delay_percent: Option<f64>,
}

/// One capacity search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CapacityResult {
    /// Number of the pass.
    pub pass: u32,
    /// How the rate followed the reports of the receiver: `B` or `C`.
    pub adjustment: String,
    /// The most that came in a sub-interval, IP layer, bit/s.
    pub capacity_bit_s: f64,
    /// Length of a sub-interval, seconds.
    pub sub_interval_s: f64,
    /// What the search asked its sender for in that sub-interval, IP layer, bit/s.
    pub asked_bit_s: Option<f64>,
    /// What the sender sent then, bit/s.
    pub sent_bit_s: Option<f64>,
    /// True where the sender did not keep the rate asked for and what it sent came: the path carries at least that.
    pub lower_bound: bool,
    /// What came over the whole search, bit/s.
    pub mean_bit_s: f64,
    /// Of all datagrams the share that was lost.
    pub lost_share: f64,
    /// Of the datagrams of the sub-interval with the most the share that was lost.
    pub best_lost_share: f64,
    /// Delay variation in the sub-interval with the most, of the reports in whose time something came, seconds.
    pub delay_variation_s: Option<f64>,
    /// The smallest delay of one way, seconds; null where two clocks hide it.
    pub least_delay_s: Option<f64>,
    /// How far the clocks of two hosts may put it off, seconds; null where one clock measured both ends.
    pub least_delay_bound_s: Option<f64>,
    /// Reports of the receiver.
    pub reports: u64,
    /// Those in whose time nothing came.
    #[serde(default)]
    pub silent_reports: u64,
    /// When the sender ended before its time, seconds, because no report came any more.
    #[serde(default)]
    pub cut_after_s: Option<f64>,
}

/// One measurement of round trips under load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResponsivenessResult {
    /// Number of the pass.
    pub pass: u32,
    /// Round trips per minute under load: the mean of the next two.
    pub rpm: f64,
    /// On connections of their own.
    pub foreign_rpm: f64,
    /// On connections that carry load.
    pub loaded_rpm: f64,
    /// On the idle path; null where no probe came back.
    pub idle_rpm: Option<f64>,
    /// Payload of the last intervals, bit/s.
    pub goodput_bit_s: f64,
    /// Connections at the end.
    pub connections: u32,
    /// Connections and probes that broke: without them the result is too good.
    pub broken: u32,
    /// `low`, `medium` or `high`.
    pub confidence: String,
    /// Probes of each kind that were due in the last intervals.
    #[serde(default)]
    pub probes_due: Option<u64>,
    /// Of those on connections of their own, came to their end then.
    #[serde(default)]
    pub foreign_probes: u64,
    /// Of those on connections that carry load, came to their end then.
    #[serde(default)]
    pub loaded_probes: u64,
    /// Probes that had no answer at the end and count with what they had waited for: with any, the rates under load are no
    /// more than what is told.
    #[serde(default)]
    pub pending_probes: u64,
}

/// What was found; `None` where no method was run.
pub(super) fn method(plan: &Plan, findings: &Findings) -> Option<MethodResult> {
    // A sweep that looks for the knee is none.
    let course = plan.course.as_ref().filter(|course| course.name != KNEE)?;
    Some(MethodResult {
        name: course.name.clone(),
        deviations: findings.deviations(course),
        frames: findings.frames.iter().map(frame).collect(),
        path_mtu: findings.path_mtu.as_ref().map(path_mtu),
        transfers: findings.transfers.iter().map(transfer).collect(),
        capacities: findings.capacities.iter().map(capacity).collect(),
        responsiveness: findings.responsiveness.iter().map(responsiveness).collect(),
    })
}

fn frame(found: &FrameFinding) -> FrameResult {
    let (no_lower, no_upper) = reasons::of_frame(found);
    FrameResult {
        frame_bytes: found.frame_bytes,
        throughput_frames_s: found.throughput_fps,
        throughput_frames_s_reason: no_lower.clone(),
        throughput_wire_bit_s: found.throughput_fps.map(|fps| found.wire_bit_s(fps)),
        throughput_wire_bit_s_reason: no_lower,
        lossy_frames_s: found.lossy_fps,
        lossy_frames_s_reason: no_upper,
        goals: found.goals.iter().map(|one| goal(found, one)).collect(),
        trials: count(found.trials),
        trial_s: found.trial_s,
        latency_p50_s: found.latency_p50_s,
        latency_p99_s: found.latency_p99_s,
        latency_bound_s: found.latency_bound_s,
        losses: found
            .losses
            .iter()
            .map(|(load, lost)| LossResult { load_frames_s: *load, lost_share: *lost })
            .collect(),
        back_to_back: found.burst.map(burst),
    }
}

fn goal(of: &FrameFinding, found: &GoalFinding) -> GoalResult {
    let (no_lower, no_upper) = reasons::of_goal(found);
    GoalResult {
        lost_share: found.loss,
        met_frames_s: found.lower_fps,
        met_frames_s_reason: no_lower.clone(),
        met_wire_bit_s: found.lower_fps.map(|fps| of.wire_bit_s(fps)),
        met_wire_bit_s_reason: no_lower,
        missed_frames_s: found.upper_fps,
        missed_frames_s_reason: no_upper,
    }
}

fn burst(found: BurstFinding) -> BackToBackResult {
    BackToBackResult {
        frames: found.frames,
        least_frames: found.least,
        most_frames: found.most,
        searches: count(found.searches),
        open_end: found.open_end,
        burst_frames_s: found.rate_fps,
        buffer_frames: found.buffer_frames,
        buffer_s: found.buffer_s,
    }
}

fn path_mtu(found: &PathMtuFigures) -> PathMtuResult {
    PathMtuResult {
        path_mtu_bytes: found.path_mtu.map(Bytes::count),
        exact: found.is_exact,
        device_mtu_bytes: found.unavailable.is_none().then(|| found.device.count()),
        probes: count(found.probes),
        answered_probes: count(found.answered),
        timer_s: found.timer.seconds(),
        found_by: how_found(found),
    }
}

fn transfer(found: &TransferFinding) -> TransferResult {
    TransferResult {
        window_share: found.share,
        product_bytes: found.figures.bdp.count(),
        goodput_bit_s: found.goodput_bit_s,
        ideal_bit_s: found.ideal_bit_s,
        idle_rtt_s: found.idle_rtt_s,
        time_ratio: found.figures.time_ratio,
        efficiency_percent: found.figures.efficiency_percent,
        buffer_delay_percent: found.figures.buffer_delay_percent,
    }
}

fn capacity(one: &InPass<CapacityFigures>) -> CapacityResult {
    let found = &one.figures;
    CapacityResult {
        pass: one.pass,
        adjustment: found.adjustment.to_string(),
        capacity_bit_s: found.capacity_bit_s,
        sub_interval_s: found.sub_interval_s,
        asked_bit_s: found.asked_bit_s,
        sent_bit_s: found.sent_bit_s,
        lower_bound: found.is_lower_bound,
        mean_bit_s: found.mean_bit_s,
        lost_share: found.lost_share,
        best_lost_share: found.best_lost_share,
        delay_variation_s: found.delay_variation_s,
        least_delay_s: found.least_delay_s,
        least_delay_bound_s: found.least_delay_bound_s,
        reports: count(found.reports),
        silent_reports: count(found.silent_reports),
        cut_after_s: found.cut_after_s,
    }
}

fn responsiveness(one: &InPass<ResponsivenessFigures>) -> ResponsivenessResult {
    let found = &one.figures;
    ResponsivenessResult {
        pass: one.pass,
        rpm: found.rpm,
        foreign_rpm: found.foreign_rpm,
        loaded_rpm: found.loaded_rpm,
        idle_rpm: found.idle_rpm,
        goodput_bit_s: found.goodput_bit_s,
        connections: found.connections,
        broken: found.broken,
        confidence: found.confidence.word().to_owned(),
        probes_due: found.probes_due,
        foreign_probes: count(found.foreign_probes),
        loaded_probes: count(found.loaded_probes),
        pending_probes: count(found.pending_probes),
    }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
