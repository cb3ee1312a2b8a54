//! What the emulator did to one direction of one link, and how well it kept its word.

use serde::Deserialize;
use serde::Serialize;

use crate::units::Nanos;

/// One direction of one link in one run. The same record is what `btu link --stats` writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DirectionSample {
    /// The link: `test-active`, or the name of the level of `btu link`.
    pub link: String,
    /// `up` (away from the test host) or `down`.
    pub direction: String,
    /// The chain of link elements in canonical text form, in order of traversal.
    pub chain: Vec<String>,
    /// Wire packets that arrived.
    pub packets: u64,
    /// Their bytes, from the IP header on.
    pub bytes: u64,
    /// Wire packets dropped because an element asked for it.
    pub dropped: u64,
    /// Wire packets dropped by elements, per element text.
    pub dropped_by: Vec<(String, u64)>,
    /// Positions (from 1) of the first asked drops: 1,000 for `btu link`, 10,000 in the journal.
    pub drop_positions: Vec<u64>,
    /// What patterns and lists say for this many packets; `None` without either.
    pub pattern_drops: Option<u64>,
    /// Wire packets dropped by a full emulated queue (asked for by `rate ... queue`).
    pub queue_dropped: u64,
    /// Copies made by `duplicate`.
    pub duplicated: u64,
    /// Packets in which a bit was flipped.
    pub corrupted: u64,
    /// Wire packets that `hold` and `reorder` chose to wait.
    #[serde(default)]
    pub held_back: u64,
    /// Wire packets still held when the record was made.
    pub held: u64,
    /// Packets lost for want of the emulator's own memory.
    pub overflow: u64,
    /// Packets lost in the receive socket or ring before the emulator saw them.
    pub socket_drops: u64,
    /// Sends that the kernel refused.
    pub send_errors: u64,
    /// A device of the link that was gone when the record was made, with its counters: what the kernel
    /// lost there, and what came after, is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_gone: Option<String>,
    /// Super-packets that could not be understood and passed whole.
    pub opaque: u64,
    /// Packets released more than 50 us after they were due.
    pub late: u64,
    /// The constant delay that was asked for; `None` without a delay element.
    pub delay_asked_us: Option<f64>,
    /// Achieved minus asked delay, signed, in microseconds: from the moment when the chain lets a packet go to the end
    /// of its send. What a line, its queue, `hold`, `jitter` or `reorder` add to the constant delay was asked, too.
    pub delay_error_us: Option<Quantiles>,
    /// How late packets were released after their due time, in microseconds.
    pub lateness_us: Option<Quantiles>,
    /// CPU time of the emulator's thread during the run.
    pub thread_cpu_ns: Option<Nanos>,
    /// Time the emulator's thread was runnable but not running.
    pub run_delay_ns: Option<Nanos>,
    /// How long the record covers.
    pub elapsed_ns: Nanos,
    /// Jumps of the wall clock against the monotonic clock.
    pub clock_steps: u64,
    /// Backend and receive form: `relay/ring`, `relay/recvmsg`.
    pub backend: String,
    /// `sleep`, `hybrid` or `spin`.
    pub wait: String,
}

/// A distribution in five numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Quantiles {
    /// How many values.
    pub n: u64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Largest value.
    pub max: f64,
}

/// One check of the emulation, before the first cell or after the last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VerificationSample {
    /// `before` or `after`.
    pub when: String,
    /// The link: `test-active`.
    pub link: String,
    /// Round trip of the direct path, microseconds.
    pub direct_rtt_us: Option<Quantiles>,
    /// Round trip of the emulated path with no delay asked, microseconds.
    pub emulated_rtt_us: Option<Quantiles>,
    /// Round trip of the emulated path with the plan's delay, microseconds.
    pub delayed_rtt_us: Option<Quantiles>,
    /// The delay asked for, each way; of two that differ the mean. Zero where none is, or none that is known beforehand.
    pub delay_asked_us: f64,
    /// Packets sent through the drop pattern, and how many were lost.
    pub pattern_packets: u64,
    /// Packets that the formula drops of that many.
    pub pattern_expected: u64,
    /// Packets that were lost.
    pub pattern_dropped: u64,
    /// Bulk rate of the emulator at no delay, bit/s, both ways the smaller.
    pub bulk_bit_s: Option<f64>,
    /// Elements of which nobody knows beforehand what they do, such as drops by chance: of them only losses that they do
    /// not explain were looked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_foretold: Vec<String>,
    /// What does not fit; empty when the emulation does what was asked.
    pub mismatches: Vec<String>,
}

impl DirectionSample {
    /// Packets that nobody asked to lose, by its own account.
    pub const fn lost_unasked(&self) -> u64 {
        self.overflow + self.socket_drops + self.send_errors
    }

    /// True where no element holds one packet longer than another: what was achieved is the constant delay and its error.
    pub fn delays_alike(&self) -> bool {
        let alike = ["corrupt", "delay", "drop", "duplicate"];
        let mut names = self.chain.iter().map(|element| element.split(' ').next());
        names.all(|name| name.is_some_and(|name| alike.contains(&name)))
    }

    /// True where the management of a queue drops, too.
    pub fn has_codel(&self) -> bool {
        self.chain.iter().any(|element| element.split(' ').any(|word| word == "codel"))
    }
}
