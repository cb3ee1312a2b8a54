//! Runs and clusters of a traffic measurement: what all their flows came to together.

use btu_core::sample::DirectionSample;
use btu_core::traffic::analysis::Totals;
use btu_core::traffic::sample::ClusterSample;
use btu_core::traffic::sample::RunSample;
use btu_core::traffic::sample::SlowdownSample;
use serde::Deserialize;
use serde::Serialize;

use super::largest_bound;

/// All flows of one run together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrafficRunResult {
    /// The cell.
    pub cell: u32,
    /// Number of the pass.
    pub pass: u32,
    /// When it began, UTC, RFC 3339.
    pub began_at: String,
    /// Its flows; a search or round trips under load have none.
    pub flow_count: u64,
    /// a, bit/s.
    pub arrival_rate_bit_s: f64,
    /// d, bit/s.
    pub departure_rate_bit_s: f64,
    /// d, and what was only under way at the end, bit/s.
    pub carried_rate_bit_s: Option<f64>,
    /// Payload acknowledged within the duration, bit/s; null for datagrams.
    pub transmitted_rate_bit_s: Option<f64>,
    /// Little's delay within the duration, seconds.
    pub window_delay_s: Option<f64>,
    /// The same until the queues were empty, seconds.
    pub drained_delay_s: Option<f64>,
    /// How far these delays may be off between two hosts, seconds; null where one clock measured them.
    pub delay_bound_s: Option<f64>,
    /// Share of datagrams lost.
    pub lost_share: Option<f64>,
    /// Blocks missed or interrupted.
    pub missed_blocks: u64,
    /// Jain's index between the flows.
    pub fairness: Option<f64>,
    /// CPU seconds of the sender per 10^9 bytes.
    pub sender_cpu_s_per_gb: Option<f64>,
    /// CPU seconds of the receiver per 10^9 bytes.
    pub receiver_cpu_s_per_gb: Option<f64>,
    /// Flows that the generator and not the network limited.
    pub host_limited_flows: u64,
    /// Flows that had a time to keep: only they can be limited so.
    pub timed_flows: u64,
    /// What a flow did not come to its end with; empty where all did.
    pub broken: String,
    /// What the emulator did, by direction; empty on the direct path.
    pub emulator: Vec<TrafficEmulatorResult>,
}

/// What the emulator did in one direction during a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrafficEmulatorResult {
    /// The link.
    pub link: String,
    /// `up` (away from the test host) or `down`.
    pub direction: String,
    /// Packets that arrived.
    pub packets: u64,
    /// Their bytes, from the IP header on.
    pub packet_bytes: u64,
    /// Dropped because an element asked for it.
    pub dropped: u64,
    /// Dropped by a full emulated queue.
    pub queue_dropped: u64,
    /// Copies made.
    pub duplicated_packets: u64,
    /// Packets in which a bit was flipped.
    pub corrupted: u64,
    /// Lost by the emulator itself, which nobody asked for.
    pub emulator_lost: u64,
    /// Released more than 50 us after they were due.
    pub late: u64,
}

/// One cluster of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrafficClusterResult {
    /// The cell.
    pub cell: u32,
    /// Number of the pass.
    pub pass: u32,
    /// The cluster.
    pub cluster: String,
    /// Why it could not be run; empty where it was.
    pub failed: String,
    /// From the beginning of the run to its own, seconds.
    pub began_s: f64,
    /// From the start to the last byte read, seconds.
    pub elapsed_s: f64,
    /// Sending threads.
    pub sender_threads: u32,
    /// CPU time of all sending threads, seconds.
    pub sender_cpu_s: Option<f64>,
    /// CPU time of all receiving threads, seconds.
    pub receiver_cpu_s: Option<f64>,
    /// How messages were slowed, by test, direction and size; empty where that is not known or says nothing: all are of
    /// one size, two clocks measured them, none was read whole, full streams, and journals older than these figures.
    pub slowdowns: Vec<SlowdownResult>,
}

/// The slowdown of messages of about one size: their delay over the least delay of any message of the test that is
/// at least as large, which is at least how much the path slowed them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SlowdownResult {
    /// The test, all its sessions and connections together.
    pub test: String,
    /// The host that its flows are from.
    pub from: String,
    /// The host that they are to.
    pub to: String,
    /// The largest size here, a power of ten; the smallest is above the tenth of it. Of an exchange request and
    /// answer together.
    pub up_to_bytes: u64,
    /// Messages that were read whole.
    pub messages: u64,
    /// Median.
    pub slowdown_p50: f64,
    /// 99th percentile.
    pub slowdown_p99: Option<f64>,
}

pub(super) fn run(run: &RunSample) -> TrafficRunResult {
    let all = Totals::of(run);
    let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    TrafficRunResult {
        cell: run.cell,
        pass: run.pass,
        began_at: run.started_at.clone(),
        flow_count: count(all.flows),
        arrival_rate_bit_s: all.arrival,
        departure_rate_bit_s: all.departure,
        carried_rate_bit_s: all.carried,
        transmitted_rate_bit_s: all.transmitted,
        window_delay_s: all.known(all.window_delay),
        drained_delay_s: all.known(all.drained_delay),
        delay_bound_s: largest_bound(run.flows()),
        lost_share: all.loss,
        missed_blocks: all.missed,
        fairness: all.fairness,
        sender_cpu_s_per_gb: all.cpu_s_per_gb.map(|cpu| cpu.0),
        receiver_cpu_s_per_gb: all.cpu_s_per_gb.map(|cpu| cpu.1),
        host_limited_flows: count(all.host_limited),
        timed_flows: count(all.timed),
        broken: all.broken.unwrap_or_default(),
        emulator: run.emulation.iter().map(emulator).collect(),
    }
}

fn emulator(one: &DirectionSample) -> TrafficEmulatorResult {
    TrafficEmulatorResult {
        link: one.link.clone(),
        direction: one.direction.clone(),
        packets: one.packets,
        packet_bytes: one.bytes,
        dropped: one.dropped,
        queue_dropped: one.queue_dropped,
        duplicated_packets: one.duplicated,
        corrupted: one.corrupted,
        emulator_lost: one.lost_unasked(),
        late: one.late,
    }
}

pub(super) fn clusters(run: &RunSample) -> Vec<TrafficClusterResult> {
    run.clusters.iter().map(|cluster| self::cluster(run, cluster)).collect()
}

fn cluster(run: &RunSample, cluster: &ClusterSample) -> TrafficClusterResult {
    // Nobody reads the time of threads on another host that answer.
    let read = cluster.sender_threads > 0;
    TrafficClusterResult {
        cell: run.cell,
        pass: run.pass,
        cluster: cluster.name.clone(),
        failed: cluster.failed.clone().unwrap_or_default(),
        began_s: cluster.began_ns.seconds(),
        elapsed_s: cluster.elapsed_ns.seconds(),
        sender_threads: cluster.sender_threads,
        sender_cpu_s: read.then(|| cluster.sender_cpu_ns.seconds()),
        receiver_cpu_s: read.then(|| cluster.receiver_cpu_ns.seconds()),
        slowdowns: cluster.slowdowns.iter().flat_map(slowdowns).collect(),
    }
}

fn slowdowns(of: &SlowdownSample) -> impl Iterator<Item = SlowdownResult> {
    of.sizes.iter().map(|one| SlowdownResult {
        test: of.test.clone(),
        from: of.from.to_string(),
        to: of.to.to_string(),
        up_to_bytes: one.up_to_bytes.count(),
        messages: one.messages,
        slowdown_p50: one.p50,
        slowdown_p99: one.p99,
    })
}
