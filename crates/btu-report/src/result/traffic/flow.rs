//! One flow of one run, with everything that is said of it.

use btu_core::traffic::analysis::Analysis;
use btu_core::traffic::figures::flow::Pacing;
use btu_core::traffic::figures::flow::Receipts;
use btu_core::traffic::sample::FlowSample;
use btu_core::traffic::sample::Journal;
use btu_core::traffic::sample::RunSample;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use serde::Deserialize;
use serde::Serialize;

/// One flow of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrafficFlowResult {
    /// The cell.
    pub cell: u32,
    /// Number of the pass.
    pub pass: u32,
    /// The cluster.
    pub cluster: String,
    /// The test.
    pub test: String,
    /// Which of its sessions.
    pub session: u32,
    /// The sending host.
    pub from: String,
    /// The receiving host.
    pub to: String,
    /// `tcp`, `udp` or `quic`.
    pub transport: String,
    /// What it sends.
    pub traffic: String,
    /// How much later than its schedule it began: a random part of its period, seconds.
    pub phase_s: Option<f64>,
    /// T, seconds.
    pub duration_s: f64,
    /// `complete`, or what it ended with.
    pub ended: String,
    /// A(T).
    pub arrived_bytes: u64,
    /// Of it, bytes of datagrams that never came.
    pub lost_bytes: u64,
    /// D(T).
    pub departed_bytes: u64,
    /// What was read in all.
    pub delivered_bytes: u64,
    /// Payload acknowledged at T; null for datagrams.
    pub acknowledged_bytes: Option<u64>,
    /// Payload that was sent again; null for datagrams.
    pub retransmitted_bytes: Option<u64>,
    /// The smallest round trip of the connection, seconds.
    pub least_rtt_s: Option<f64>,
    /// Datagrams that the kernel of the sender threw away: a full device, a firewall. They count as sent and lost.
    pub refused_datagrams: u64,
    /// a, bit/s.
    pub arrival_rate_bit_s: f64,
    /// d, bit/s.
    pub departure_rate_bit_s: f64,
    /// D(T + w) / T with the least delay w of a byte, bit/s: d, and what was only under way at T. Of a full stream without
    /// D(w), what its first read found.
    pub carried_rate_bit_s: Option<f64>,
    /// a / d.
    pub offered_ratio: Option<f64>,
    /// a / mu, by the full streams that went the same way alone; null for these themselves.
    pub rho_of_way: Option<f64>,
    /// Blocks that fell due.
    pub blocks_due: u64,
    /// Blocks that the transport took whole.
    pub blocks_sent: u64,
    /// Blocks missed or interrupted.
    pub blocks_missed: u64,
    /// Of these, abandoned for a later one.
    pub blocks_interrupted: u64,
    /// Begun and not finished at the end.
    pub blocks_unfinished: u64,
    /// Never begun.
    pub blocks_waiting: u64,
    /// Mean of A - D within the duration, A without what was lost on the way; null for a full stream.
    pub mean_queue_bytes: Option<f64>,
    /// Of it, due and not yet taken by the transport; null for datagrams and between two hosts.
    pub queue_application_bytes: Option<f64>,
    /// Taken and not yet sent.
    pub queue_socket_bytes: Option<f64>,
    /// Sent and not yet acknowledged.
    pub queue_network_bytes: Option<f64>,
    /// Received and not yet read.
    pub queue_receiver_bytes: Option<f64>,
    /// The largest difference, of one reading, between the sum of these four and A - D.
    pub queue_gap_bytes: Option<f64>,
    /// Round trips beyond the smallest one, mean, seconds: what waits on the way.
    pub rtt_above_least_s: Option<f64>,
    /// Little's delay within the duration, seconds.
    pub window_delay_s: Option<f64>,
    /// The same until the queue was empty, seconds.
    pub drained_delay_s: Option<f64>,
    /// The smallest delay of a whole block, seconds.
    pub delay_min_s: Option<f64>,
    /// The mean of them.
    pub delay_mean_s: Option<f64>,
    /// The mean delay of a byte of them.
    pub delay_byte_mean_s: Option<f64>,
    /// Median delay of whole blocks, seconds.
    pub delay_p50_s: Option<f64>,
    /// 95th percentile.
    pub delay_p95_s: Option<f64>,
    /// 99th percentile.
    pub delay_p99_s: Option<f64>,
    /// The same, where a block that nobody had read counts with the time for which it had waited at T: what limits
    /// of classes are compared with.
    pub delay_p99_at_least_s: Option<f64>,
    /// 99.9th percentile.
    pub delay_p999_s: Option<f64>,
    /// The largest.
    pub delay_max_s: Option<f64>,
    /// How far delays may be off between two hosts, because their clocks are not known better, seconds;
    /// null where one clock measured them.
    pub delay_bound_s: Option<f64>,
    /// Why delays between two hosts are null that exist: smaller than that bound, or clocks that cannot
    /// be compared; empty where none is hidden.
    pub delay_hidden: String,
    /// 99th percentile less the smallest (RFC 5481).
    pub pdv_p99_s: Option<f64>,
    /// What receipts of blocks say, which the receiver sent in band; null where the scenario asks for none.
    pub receipts: Option<ReceiptsResult>,
    /// Datagrams sent; null for streams.
    pub datagrams_sent: Option<u64>,
    /// Share of them that never came (RFC 7680).
    pub lost_share: Option<f64>,
    /// Datagrams that came after a later one (RFC 4737).
    pub reordered: Option<u64>,
    /// Datagrams that came again (RFC 5560).
    pub duplicated: Option<u64>,
    /// Mean change of delay, whichever way, from one block that came whole to the next (RFC 3393: of |IPDV|), seconds;
    /// not the smoothed value of RFC 3550.
    pub jitter_s: Option<f64>,
    /// How the sender waited.
    pub pace: String,
    /// Inter-departure error of the generator, 99th percentile, microseconds.
    pub pacing_p99_us: Option<f64>,
    /// Its median.
    pub pacing_p50_us: Option<f64>,
    /// Its largest.
    pub pacing_max_us: Option<f64>,
    /// The mean period of the blocks that the generator alone could delay, microseconds.
    pub pacing_period_us: Option<f64>,
    /// How late these began, 99th percentile, microseconds.
    pub pacing_late_p99_us: Option<f64>,
    /// How many blocks the generator alone could delay.
    pub pacing_blocks: Option<u64>,
    /// Of these, those that began more than 100 us and more than 1 % of the period late.
    pub pacing_late_blocks: Option<u64>,
    /// True where the generator and not the network limited the flow; null where it had no time to keep.
    pub host_limited: Option<bool>,
    /// `TCP_CONGESTION` of the sender, as read back.
    pub congestion: Option<String>,
    /// `TCP_NODELAY` of the sender.
    pub nodelay: Option<bool>,
    /// `SO_SNDBUF` of the sender, as the kernel counts it.
    pub send_buffer_bytes: Option<u64>,
    /// `SO_RCVBUF` of the receiver, as the kernel counts it.
    pub receive_buffer_bytes: Option<u64>,
    /// `TCP_MAXSEG` of the sender.
    pub mss_bytes: Option<u64>,
    /// `TCP_WINDOW_CLAMP` of the receiver; zero means none.
    pub window_clamp_bytes: Option<u64>,
    /// CPU time of the thread that asked in a conversation, or sent media, seconds.
    pub asking_cpu_s: Option<f64>,
    /// CPU time of the threads that answered, or received media, seconds.
    pub answering_cpu_s: Option<f64>,
    /// What the user of a conversation's application, or of a call, noticed; empty for other flows.
    pub noticed: Vec<NoticedResult>,
}

/// Receipts of blocks, all by the clock of the sender. A receipt is sent when the receiving user has read a block: its delay is an
/// upper bound of the delay of one way, with the way back in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReceiptsResult {
    /// Blocks that the receiving user read whole: each was answered once.
    pub blocks_answered: u64,
    /// Of these, those whose receipt came.
    pub receipts_came: u64,
    /// Those whose receipt did not.
    pub receipts_missing: u64,
    /// From due (queued) or start (unqueued) to the receipt, the smallest, seconds.
    pub receipt_delay_min_s: Option<f64>,
    /// Its median.
    pub receipt_delay_p50_s: Option<f64>,
    /// Its 95th percentile.
    pub receipt_delay_p95_s: Option<f64>,
    /// Its 99th percentile.
    pub receipt_delay_p99_s: Option<f64>,
    /// Its 99.9th percentile.
    pub receipt_delay_p999_s: Option<f64>,
    /// The largest.
    pub receipt_delay_max_s: Option<f64>,
}

fn receipts(receipts: &Receipts) -> ReceiptsResult {
    let delay = receipts.delay;
    ReceiptsResult {
        blocks_answered: receipts.answered,
        receipts_came: receipts.came,
        receipts_missing: receipts.missing(),
        receipt_delay_min_s: delay.map(|delay| delay.min_s),
        receipt_delay_p50_s: delay.map(|delay| delay.p50_s),
        receipt_delay_p95_s: delay.map(|delay| delay.p95_s),
        receipt_delay_p99_s: delay.map(|delay| delay.p99_s),
        receipt_delay_p999_s: delay.map(|delay| delay.p999_s),
        receipt_delay_max_s: delay.map(|delay| delay.max_s),
    }
}

/// A figure that a user notices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoticedResult {
    /// What it is, with its unit: `page load p50, s`.
    pub what: String,
    /// The figure.
    pub value: f64,
}

pub(super) fn flows(
    journal: &Journal,
    analysis: &Analysis,
    run: &RunSample,
) -> Vec<TrafficFlowResult> {
    let clusters = run.clusters.iter();
    let of = |flow: &FlowSample, cluster: &str| {
        self::flow(run, cluster, flow, analysis.rho_of(journal, run.cell, (cluster, flow)))
    };
    clusters.flat_map(|c| c.flows.iter().map(move |flow| of(flow, &c.name))).collect()
}

#[expect(clippy::too_many_lines, reason = "a field of the document in each")]
fn flow(run: &RunSample, cluster: &str, flow: &FlowSample, rho: Option<f64>) -> TrafficFlowResult {
    let (figures, delay, pacing) = (&flow.figures, flow.figures.delay, flow.figures.pacing);
    let between_bursts = pacing.and_then(Pacing::between_bursts);
    let (places, loss) = (flow.places, figures.loss);
    TrafficFlowResult {
        cell: run.cell,
        pass: run.pass,
        cluster: cluster.to_owned(),
        test: flow.test.clone(),
        session: flow.session,
        from: flow.from.to_string(),
        to: flow.to.to_string(),
        transport: flow.transport.clone(),
        traffic: flow.traffic.clone(),
        phase_s: flow.phase_ns.map(Nanos::seconds),
        duration_s: flow.duration_ns.seconds(),
        ended: flow.outcome.to_string(),
        arrived_bytes: figures.arrived_bytes.count(),
        lost_bytes: figures.lost_bytes.count(),
        departed_bytes: figures.departed_bytes.count(),
        delivered_bytes: figures.delivered_bytes.count(),
        acknowledged_bytes: flow.acknowledged_bytes.map(Bytes::count),
        retransmitted_bytes: flow.retransmitted_bytes.map(Bytes::count),
        least_rtt_s: flow.least_rtt_ns.map(Nanos::seconds),
        refused_datagrams: flow.refused,
        arrival_rate_bit_s: figures.arrival_rate_bit_s,
        departure_rate_bit_s: figures.departure_rate_bit_s,
        carried_rate_bit_s: figures.carried_rate_bit_s,
        offered_ratio: figures.offered_ratio,
        rho_of_way: rho,
        blocks_due: figures.blocks.due,
        blocks_sent: figures.blocks.sent,
        blocks_missed: figures.blocks.missed + figures.blocks.interrupted,
        blocks_interrupted: figures.blocks.interrupted,
        blocks_unfinished: figures.blocks.unfinished,
        blocks_waiting: figures.blocks.waiting,
        mean_queue_bytes: figures.mean_queue_bytes,
        queue_application_bytes: places.map(|places| places.application_bytes),
        queue_socket_bytes: places.map(|places| places.socket_bytes),
        queue_network_bytes: places.map(|places| places.network_bytes),
        queue_receiver_bytes: places.map(|places| places.receiver_bytes),
        queue_gap_bytes: places.map(|places| places.largest_gap_bytes),
        rtt_above_least_s: places.map(|places| places.queueing_s),
        window_delay_s: flow.one_way(figures.window_delay_s),
        drained_delay_s: flow.one_way(figures.drained_delay_s),
        delay_min_s: flow.one_way(delay.map(|delay| delay.min_s)),
        delay_mean_s: flow.one_way(delay.map(|delay| delay.mean_s)),
        delay_byte_mean_s: flow.one_way(delay.map(|delay| delay.byte_mean_s)),
        delay_p50_s: flow.one_way(delay.map(|delay| delay.p50_s)),
        delay_p95_s: flow.one_way(delay.map(|delay| delay.p95_s)),
        delay_p99_s: flow.one_way(delay.map(|delay| delay.p99_s)),
        delay_p99_at_least_s: flow.one_way(figures.delay_p99_at_least_s),
        delay_p999_s: flow.one_way(delay.map(|delay| delay.p999_s)),
        delay_max_s: flow.one_way(delay.map(|delay| delay.max_s)),
        delay_bound_s: flow.delay_bound_s(),
        delay_hidden: flow.delay_reason().unwrap_or_default(),
        pdv_p99_s: delay.map(|delay| delay.pdv_p99_s),
        receipts: figures.receipts.as_ref().map(receipts),
        datagrams_sent: loss.map(|loss| loss.sent),
        lost_share: loss.map(|loss| loss.lost_share),
        reordered: loss.map(|loss| loss.reordered),
        duplicated: loss.map(|loss| loss.duplicated),
        jitter_s: loss.and_then(|loss| loss.jitter_s),
        pace: flow.pace.clone(),
        pacing_p99_us: between_bursts.map(|pacing| pacing.p99_us),
        pacing_p50_us: between_bursts.map(|pacing| pacing.p50_us),
        pacing_max_us: between_bursts.map(|pacing| pacing.max_us),
        pacing_period_us: between_bursts.map(|pacing| pacing.period_us),
        pacing_late_p99_us: pacing.map(|pacing| pacing.late_p99_us),
        pacing_blocks: pacing.map(|pacing| pacing.blocks),
        pacing_late_blocks: pacing.and_then(|pacing| pacing.late_blocks),
        host_limited: pacing.map(|pacing| pacing.host_limited),
        congestion: flow.sender_options.congestion.clone(),
        nodelay: flow.sender_options.nodelay,
        send_buffer_bytes: flow.sender_options.send_buffer_bytes,
        receive_buffer_bytes: flow.receiver_options.receive_buffer_bytes,
        mss_bytes: flow.sender_options.mss_bytes,
        window_clamp_bytes: flow.receiver_options.window_clamp_bytes,
        asking_cpu_s: flow.cpu_ns.map(|[asking, _]| asking.seconds()),
        answering_cpu_s: flow.cpu_ns.map(|[_, answering]| answering.seconds()),
        noticed: flow
            .noticed
            .iter()
            .map(|(what, value)| NoticedResult { what: what.clone(), value: *value })
            .collect(),
    }
}

/// The clock of another host in one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrafficClockResult {
    /// The cell.
    pub cell: u32,
    /// Number of the pass.
    pub pass: u32,
    /// The cluster.
    pub cluster: String,
    /// Whose clock it is.
    pub host: String,
    /// How far it was ahead of the test host's at the start, seconds; negative where it was behind.
    pub ahead_s: f64,
    /// How much faster it ran, in millionths.
    pub drift_ppm: f64,
    /// How far the truth may be from that, seconds.
    pub bound_s: f64,
    /// The fastest reading of it, there and back, seconds.
    pub least_round_trip_s: f64,
    /// Readings.
    pub readings: u32,
    /// Why it cannot be compared with the test host's; empty where it can.
    pub incomparable: String,
}

pub(super) fn clocks(run: &RunSample) -> Vec<TrafficClockResult> {
    let clocks = run.clusters.iter().flat_map(|cluster| {
        cluster.clocks.iter().map(|clock| TrafficClockResult {
            cell: run.cell,
            pass: run.pass,
            cluster: cluster.name.clone(),
            host: clock.host.to_string(),
            ahead_s: clock.ahead_s(),
            drift_ppm: clock.drift_ppm,
            bound_s: clock.bound_ns.seconds(),
            least_round_trip_s: clock.least_round_trip_ns.seconds(),
            readings: clock.readings,
            incomparable: clock.reason.clone().unwrap_or_default(),
        })
    });
    clocks.collect()
}
