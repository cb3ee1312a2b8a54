//! The search for a capacity (RFC 9097): a rate that adjusts itself to what the receiver reports.

use serde::Deserialize;
use serde::Serialize;

use crate::stats;
use crate::traffic::figures::capacity::Adjustment;
use crate::traffic::figures::capacity::BOTTOM_OF_C;
use crate::traffic::figures::flow::rounded;
use crate::traffic::trace::float;
use crate::units::BitRate;
use crate::units::Bytes;
use crate::units::Nanos;

/// A capacity search, report by report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CapacitySample {
    /// Payload of a datagram.
    pub datagram_bytes: Bytes,
    /// How the rate followed the reports.
    #[serde(default, skip_serializing_if = "Adjustment::is_default")]
    pub adjustment: Adjustment,
    /// True where its packets were those of IPv6, whose headers are longer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub over_ipv6: bool,
    /// The smallest delay of one way, as it was read: between two clocks it may be negative.
    pub least_delay_ns: i64,
    /// How far that may be from the truth; `None` where one clock measured both ends.
    #[serde(default, alias = "delay_bound_ns", skip_serializing_if = "Option::is_none")]
    pub least_delay_bound_ns: Option<Nanos>,
    /// Datagrams sent.
    pub sent: u64,
    /// Times at which the sender was too late for its rate and let it go.
    pub late: u64,
    /// How long the sender had sent when it ended before its time, because no report came any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_after_ns: Option<Nanos>,
    /// What the receiver reported.
    pub reports: Vec<CapacityReport>,
}

/// What a receiver reported of one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapacityReport {
    /// The rate that was sent at, at the IP layer: the last one that came.
    pub asked_bit_s: BitRate,
    /// How long the interval was.
    pub elapsed_ns: Nanos,
    /// Datagrams that came.
    pub received: u64,
    /// Lost.
    pub lost: u64,
    /// Reordered or duplicated.
    pub disordered: u64,
    /// Mean delay less the smallest of all; `None` where nothing came, which older results say with zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_variation_ns: Option<Nanos>,
    /// What the sender took, by its own clock, to send what came or was lost; zero in results that are older than
    /// this key.
    #[serde(default)]
    pub sent_in_ns: Nanos,
    /// What that takes at the rate asked for.
    #[serde(default)]
    pub due_in_ns: Nanos,
}

/// What a capacity search found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CapacityFigures {
    /// How the rate followed the reports.
    pub adjustment: Adjustment,
    /// The most that came in a sub-interval, bit/s at the IP layer.
    pub capacity_bit_s: f64,
    /// How long a sub-interval was, seconds.
    pub sub_interval_s: f64,
    /// What the search asked its sender for in that sub-interval, bit/s; `None` in results whose samples do not say.
    pub asked_bit_s: Option<f64>,
    /// What the sender sent of it.
    pub sent_bit_s: Option<f64>,
    /// True where the sender did not keep the rate asked for and what it sent came: the path carries at least that.
    pub is_lower_bound: bool,
    /// What came over the whole search, bit/s.
    pub mean_bit_s: f64,
    /// Of all datagrams the share that was lost.
    pub lost_share: f64,
    /// Of the datagrams of the sub-interval with the most the share that was lost.
    pub best_lost_share: f64,
    /// Delay variation of the sub-interval with the most, seconds: of the reports in whose time something came.
    pub delay_variation_s: Option<f64>,
    /// The smallest delay of one way, seconds; `None` where two clocks hide it.
    pub least_delay_s: Option<f64>,
    /// How far that may be from the truth, seconds; `None` where one clock measured both ends.
    pub least_delay_bound_s: Option<f64>,
    /// Reports.
    pub reports: usize,
    /// Those in whose time nothing came.
    pub silent_reports: usize,
    /// When the sender ended before its time, seconds, because no report came any more.
    pub cut_after_s: Option<f64>,
}

impl CapacitySample {
    /// A datagram at the IP layer: its payload, UDP (8), and IPv4 (20) or IPv6 (40).
    pub fn packet(&self) -> Bytes {
        self.datagram_bytes + headers(self.over_ipv6)
    }

    fn packet_bits(&self) -> f64 {
        float(self.packet().bits())
    }

    /// The smallest delay of one way, where the clocks of both ends are known well enough to say it.
    fn least_delay_s(&self) -> Option<f64> {
        let least = Nanos::new(u64::try_from(self.least_delay_ns).ok()?);
        self.least_delay_bound_ns.is_none_or(|bound| least >= bound).then(|| least.seconds())
    }

    /// Reports of a sub-interval: those of 1 s (RFC 9097, 5.3), and of a tenth of a search that is shorter than 10 s.
    fn sub_interval(&self) -> usize {
        let all: f64 = self.reports.iter().map(|report| report.elapsed_ns.seconds()).sum();
        let of_one = all / stats::count(self.reports.len().max(1));
        let wanted = (all / SUB_INTERVALS).min(SUB_INTERVAL_S);
        let length = if of_one > 0.0 { (wanted / of_one).round() } else { 1.0 };
        usize::try_from(rounded(length)).unwrap_or(usize::MAX).clamp(1, self.reports.len().max(1))
    }

    /// What it found: the most that came in a sub-interval, wherever that began. The rate of the search swings about
    /// the capacity: in sub-intervals that follow each other each may have a trough in it.
    pub fn figures(&self) -> Option<CapacityFigures> {
        let length = self.sub_interval();
        let rate = |part: &[CapacityReport]| {
            let time: f64 = part.iter().map(|report| report.elapsed_ns.seconds()).sum();
            let came: u64 = part.iter().map(|report| report.received).sum();
            (time > 0.0).then(|| (float(came) * self.packet_bits() / time, time))
        };
        let parts = self.reports.windows(length);
        let best = parts.max_by(|a, b| {
            let of = |part: &[CapacityReport]| rate(part).map_or(0.0, |(rate, _)| rate);
            of(a).total_cmp(&of(b))
        })?;
        let (capacity_bit_s, sub_interval_s) = rate(best)?;
        let offered = Offered::of(best, self.packet_bits());
        let is_lower_bound = offered.is_some_and(|offered| offered.is_short(capacity_bit_s));
        let variations: Vec<f64> =
            best.iter().filter_map(CapacityReport::delay_variation_s).collect();
        Some(CapacityFigures {
            adjustment: self.adjustment,
            capacity_bit_s,
            sub_interval_s,
            asked_bit_s: offered.map(|offered| offered.asked_bit_s),
            sent_bit_s: offered.map(|offered| offered.sent_bit_s),
            is_lower_bound,
            mean_bit_s: rate(&self.reports)?.0,
            lost_share: lost_share(&self.reports),
            best_lost_share: lost_share(best),
            delay_variation_s: stats::arithmetic_mean(&variations),
            least_delay_s: self.least_delay_s(),
            least_delay_bound_s: self.least_delay_bound_ns.map(Nanos::seconds),
            reports: self.reports.len(),
            silent_reports: self.reports.iter().filter(|report| report.is_silent()).count(),
            cut_after_s: self.cut_after_ns.map(Nanos::seconds),
        })
    }
}

impl CapacityReport {
    /// True where nothing came in its time: its path was not idle, it was dead.
    pub fn is_silent(&self) -> bool {
        self.received == 0
    }

    fn delay_variation_s(&self) -> Option<f64> {
        let known = self.delay_variation_ns.filter(|_| !self.is_silent());
        known.map(Nanos::seconds)
    }
}

/// What UDP and IP add to the payload of a datagram.
pub const fn headers(over_ipv6: bool) -> Bytes {
    Bytes::new(if over_ipv6 { 48 } else { 28 })
}

impl CapacityFigures {
    /// True where type C steps back to the bottom of its table, and may have found too little.
    pub fn may_be_short(&self) -> bool {
        self.adjustment == Adjustment::C
            && self.capacity_bit_s < float(BOTTOM_OF_C.bit_per_second())
    }

    /// What was sent in the best sub-interval and what was asked for, bit/s.
    pub fn offered(&self) -> Option<(f64, f64)> {
        self.sent_bit_s.zip(self.asked_bit_s)
    }
}

fn lost_share(part: &[CapacityReport]) -> f64 {
    let lost: u64 = part.iter().map(|report| report.lost).sum();
    let received: u64 = part.iter().map(|report| report.received).sum();
    float(lost) / float((lost + received).max(1))
}

/// What a sender was asked for, and what it sent.
#[derive(Clone, Copy, Debug)]
struct Offered {
    asked_bit_s: f64,
    sent_bit_s: f64,
}

impl Offered {
    fn of(part: &[CapacityReport], packet_bits: f64) -> Option<Self> {
        let seconds = |of: fn(&CapacityReport) -> Nanos| -> f64 {
            part.iter().map(|report| of(report).seconds()).sum()
        };
        let (sent_in, due_in) = (seconds(|report| report.sent_in_ns), seconds(|r| r.due_in_ns));
        let datagrams: u64 = part.iter().map(|report| report.received + report.lost).sum();
        let bits = float(datagrams) * packet_bits;
        (sent_in > 0.0 && due_in > 0.0)
            .then(|| Self { asked_bit_s: bits / due_in, sent_bit_s: bits / sent_in })
    }

    /// True where less was sent than asked for, and that came: not the path is what stood in the way.
    fn is_short(self, came_bit_s: f64) -> bool {
        self.sent_bit_s < KEPT * self.asked_bit_s && came_bit_s > KEPT * self.sent_bit_s
    }
}

/// The length of a sub-interval, seconds (RFC 9097, 5.3: dt).
const SUB_INTERVAL_S: f64 = 1.0;
/// Sub-intervals of a search at the least.
const SUB_INTERVALS: f64 = 10.0;
/// A capacity is known within so much (check T13).
const KEPT: f64 = 0.98;

#[cfg(test)]
mod tests;
