//! Why figures of a traffic result are null.

use btu_core::traffic::findings::FrameFinding;
use btu_core::traffic::findings::GoalFinding;

use super::super::silence::Reasons;

const FEW_PASSES: &str = "an interval needs three passes in which all of it could be run";
const NO_WAIT: &str = "a flow of it has no schedule (nothing waits behind a full stream), nothing came, or \
                       two clocks hide it (delay_bound_s; of flows delay_hidden)";
const NO_DRAIN: &str = "a flow of it has no schedule, or a queue that was not empty at the end; or \
                        two clocks hide it (delay_bound_s; of flows delay_hidden)";
const NO_MU: &str = "mu is not known: no full stream ran alone that way, and there is no knee; or this is such a stream itself";
const NOT_SAMPLED: &str =
    "places are told apart on one host, where TCP follows a schedule and its socket was sampled";
const NO_BLOCK: &str = "no whole block arrived that was due at a known time";
const NO_DELAY: &str = "no whole block arrived that was due at a known time, or two clocks hide it (delay_bound_s; of flows delay_hidden)";
const NO_RECEIPT: &str = "no receipt came";
const NO_CALL: &str = "the class is no call, no flow of it sent anything, no delay of it is known, or two clocks hide it in a pass (delays_bound_s)";
const NO_DATAGRAM: &str = "no flow of datagrams";
const NOT_PACED: &str = "nothing that the generator alone could delay was sent: a full stream, blocks that all waited for the \
                         transport, requests that only follow answers; or a conversation of a journal in which it was not told";
const NO_GAPS: &str = "fewer than two bursts that the generator alone could delay were sent: a full stream, blocks that all \
                       waited for the transport, requests that only follow answers, a single burst; or a conversation of \
                       a journal in which it was not told";
const NO_LATE_BLOCKS: &str = "nothing that the generator alone could delay was sent, or the journal is older than this figure";
const NO_RUN: &str =
    "no run of this cell was made in which all of it could be run; a probe has no flows";
const NO_STAMPS: &str = "the samples of the search do not say when its datagrams were sent";
const NO_LATENCY: &str = "the method measures no latency, no load without loss was found, or two clocks hide it \
                          (latency_bound_s)";
const NO_LOAD: &str = "no load without loss was found";
const FEW_KNOWN: &str = "an interval needs three passes in which the figure is known";
const NO_SOCKET: &str = "no kernel keeps an account of datagrams, of QUIC or of a conversation";
const NO_OPTION: &str = "the socket has no such option, or nobody read it back";
const UNREAD_CPU: &str = "nobody reads the time of threads on another host that answer";
const NO_LIMIT: &str = "the class is not judged by it";
const NO_ASKER: &str = "flows share threads, and what answers on another host is not told of";
const NO_CPU: &str =
    "nothing was delivered, or by a conversation with another host, whose CPU time is not told";

/// Why a frame size has no throughput, and why no load above it: by each trial alone, or by the majority of a load's.
pub(super) fn of_frame(found: &FrameFinding) -> (Option<String>, Option<String>) {
    match found.goals.first() {
        Some(goal) => of_goal(goal),
        None => (
            unless(found.throughput_fps, NO_LOAD),
            unless(found.lossy_fps, "no load lost any frame"),
        ),
    }
}

/// Why a goal has no load that meets it, and why none that misses it. A search that was cut short may have neither.
pub(super) fn of_goal(found: &GoalFinding) -> (Option<String>, Option<String>) {
    let (no_lower, no_upper) = match (found.lower_fps, found.upper_fps) {
        (None, None) => (UNDECIDED, UNDECIDED),
        _ => (NONE_MEETS, ALL_MEET),
    };
    (unless(found.lower_fps, no_lower), unless(found.upper_fps, no_upper))
}

fn unless(value: Option<f64>, reason: &str) -> Option<String> {
    value.is_none().then(|| reason.to_owned())
}

const UNDECIDED: &str = "no load was decided";
const NONE_MEETS: &str = "no load below the lowest that misses the goal was decided to meet it";
const ALL_MEET: &str = "every load that was decided meets the goal";

/// Why each key may be null, where the document does not say so by itself.
pub(super) const REASONS: &Reasons = &[
    ("tool_version", "the journal does not name the program"),
    ("started_at", "the journal has no beginning"),
    ("finished_at", "the measurement was cut short"),
    ("mu_bit_s", "no full stream ran alone, or some did over different ways or transports"),
    ("mu_ci95_bit_s", FEW_PASSES),
    ("knee", "most passes have no loads on both sides of a knee"),
    (
        "knee_ci95_bit_s",
        "there are fewer than three whole passes, or one of them has no knee of its own",
    ),
    ("p", "the curve was not found to be something else than a hinge"),
    (
        "delay_knee",
        "there are too few loads below the knee of throughput, or two clocks hide the delay of one of them or of the idle path",
    ),
    ("doubled_at_rho", "delay does not grow with the load"),
    ("most_power_at_rho", "no load below the knee was measured"),
    ("bends_at_rho", "too few loads below the knee were measured"),
    ("scaling", "full streams were not measured at three numbers of sessions"),
    ("most_at_sessions", "the total has no maximum over the number of sessions"),
    ("method", "the plan runs no standard method"),
    ("arrival_rate_bit_s", NO_RUN),
    ("departure_rate_bit_s", NO_RUN),
    ("departure_ci95_bit_s", FEW_PASSES),
    (
        "carried_rate_bit_s",
        "no run of this cell was made in which all of it could be run, it is a probe, which has no flows, or the journal is older than this figure",
    ),
    (
        "transmitted_rate_bit_s",
        "a flow of it goes over a transport whose acknowledgements no kernel counts",
    ),
    ("acknowledged_bytes", "no kernel keeps an account of datagrams, nor of QUIC"),
    ("offered_ratio", "no flow delivered anything within the duration"),
    ("rho", "mu is not known, a flow of the cell is a full stream, or its flows have several mu"),
    ("rho_of_way", NO_MU),
    ("window_delay_s", NO_WAIT),
    ("drained_delay_s", NO_DRAIN),
    ("mean_queue_bytes", NO_WAIT),
    ("queue_application_bytes", NOT_SAMPLED),
    ("queue_socket_bytes", NOT_SAMPLED),
    ("queue_network_bytes", NOT_SAMPLED),
    ("queue_receiver_bytes", NOT_SAMPLED),
    ("queue_gap_bytes", NOT_SAMPLED),
    ("delay_p50_s", NO_DELAY),
    ("delay_p95_s", NO_DELAY),
    ("delay_p99_s", NO_DELAY),
    (
        "delay_p99_at_least_s",
        "no block was due at a known time, two clocks hide it, or the journal is older than this figure",
    ),
    ("delay_p999_s", NO_DELAY),
    ("delay_max_s", NO_DELAY),
    (
        "delay_bound_s",
        "one clock measured both ends, two cannot be compared, or it is no delay of one way",
    ),
    ("pdv_p99_s", NO_BLOCK),
    (
        "receipts",
        "the scenario asks for no receipts of its blocks, or the journal is older than these",
    ),
    ("receipt_delay_min_s", NO_RECEIPT),
    ("receipt_delay_p50_s", NO_RECEIPT),
    ("receipt_delay_p95_s", NO_RECEIPT),
    ("receipt_delay_p99_s", NO_RECEIPT),
    ("receipt_delay_p999_s", NO_RECEIPT),
    ("receipt_delay_max_s", NO_RECEIPT),
    ("most_sessions", "not even the fewest sessions that were tried met the limits in every pass"),
    ("fails_at_sessions", "every number of sessions that was tried met the limits"),
    ("reordered_share", "no datagram came"),
    ("call_r", NO_CALL),
    ("call_mos", NO_CALL),
    ("datagrams_sent", NO_DATAGRAM),
    ("lost_share", NO_DATAGRAM),
    ("reordered", NO_DATAGRAM),
    ("duplicated", NO_DATAGRAM),
    ("jitter_s", "jitter needs two datagrams that arrived"),
    ("fairness", "no flow received anything"),
    ("sender_cpu_s_per_gb", NO_CPU),
    ("receiver_cpu_s_per_gb", NO_CPU),
    ("asking_cpu_s", NO_ASKER),
    ("answering_cpu_s", NO_ASKER),
    ("pacing_p50_us", NO_GAPS),
    ("host_limited", NOT_PACED),
    ("pacing_p99_us", NO_GAPS),
    ("pacing_max_us", NO_GAPS),
    ("latency_p50_s", NO_LATENCY),
    ("latency_p99_s", NO_LATENCY),
    (
        "latency_bound_s",
        "one clock measured both ends, two cannot be compared, or no latency was measured",
    ),
    ("buffer_frames", NO_LOAD),
    ("buffer_s", NO_LOAD),
    ("buffer_delay_percent", "round trips under load are sampled where both ends are on one host"),
    ("back_to_back", "the method sends no bursts back to back"),
    (
        "path_mtu",
        "the method does not ask for the path MTU, or the journal is older than this figure",
    ),
    ("path_mtu_bytes", "nobody answered, or nobody could search: found_by says which"),
    ("device_mtu_bytes", "nobody could search: found_by says why"),
    ("asked_bit_s", NO_STAMPS),
    ("sent_bit_s", NO_STAMPS),
    ("delay_variation_s", "nothing came in the whole search"),
    ("probes_due", "the journal is older than this figure"),
    ("cut_after_s", "reports came until the search was over"),
    (
        "least_delay_s",
        "smaller than the clocks of both hosts are known to agree (least_delay_bound_s)",
    ),
    ("least_delay_bound_s", "one clock measured both ends"),
    ("idle_rpm", "no probe came back on the idle path"),
    ("delays_bound_s", "one clock measured both ends, or two that cannot be compared"),
    (
        "interval",
        "what has no value has none; an interval needs three passes, and that of sessions a number that was not carried",
    ),
    ("arrival_ci95_bit_s", FEW_PASSES),
    ("carried_ci95_bit_s", FEW_PASSES),
    ("offered_ratio_ci95", FEW_PASSES),
    ("window_delay_ci95_s", FEW_KNOWN),
    ("delay_p50_ci95_s", FEW_KNOWN),
    ("delay_p95_ci95_s", FEW_KNOWN),
    ("delay_p99_ci95_s", FEW_KNOWN),
    ("delay_p999_ci95_s", FEW_KNOWN),
    ("pdv_p99_ci95_s", FEW_KNOWN),
    ("lost_ci95_share", FEW_KNOWN),
    ("delay_min_s", NO_DELAY),
    ("delay_mean_s", NO_DELAY),
    ("delay_byte_mean_s", NO_DELAY),
    ("phase_s", "the flow began with its schedule"),
    ("retransmitted_bytes", NO_SOCKET),
    ("least_rtt_s", NO_SOCKET),
    ("rtt_above_least_s", NOT_SAMPLED),
    ("pacing_period_us", NO_GAPS),
    ("pacing_late_p99_us", NOT_PACED),
    ("pacing_blocks", NOT_PACED),
    ("pacing_late_blocks", NO_LATE_BLOCKS),
    ("congestion", NO_OPTION),
    ("nodelay", NO_OPTION),
    ("send_buffer_bytes", NO_OPTION),
    ("receive_buffer_bytes", NO_OPTION),
    ("mss_bytes", NO_OPTION),
    ("window_clamp_bytes", NO_OPTION),
    ("sender_cpu_s", UNREAD_CPU),
    ("receiver_cpu_s", UNREAD_CPU),
    ("slowdown_p99", "fewer than a hundred messages of this size"),
    ("limit_delay_p99_s", NO_LIMIT),
    ("limit_pdv_p99_s", NO_LIMIT),
    ("limit_lost_share", NO_LIMIT),
    ("limit_slowdown", NO_LIMIT),
    ("limit_carried_share", NO_LIMIT),
    ("limit_mu_share", NO_LIMIT),
];
