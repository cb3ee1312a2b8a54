//! The search for a capacity (RFC 9097): a rate that adjusts itself to what the receiver reports.

use serde::Deserialize;
use serde::Serialize;

use crate::stats;
use crate::traffic::analysis::capacity::Adjustment;
use crate::traffic::analysis::capacity::BOTTOM_OF_C;
use crate::traffic::analysis::figures::rounded;
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
mod tests {
    use super::*;

    #[test]
    fn t13_the_capacity_is_that_of_the_best_tenth() {
        let report = |received| CapacityReport {
            received,
            lost: if received > 25 { 2 } else { 0 },
            elapsed_ns: Nanos::from_millis(50),
            ..CapacityReport::default()
        };
        let reports = (0..200).map(|n| report(if (100..120).contains(&n) { 50 } else { 25 }));
        let sample = CapacitySample {
            datagram_bytes: Bytes::new(1222),
            reports: reports.collect(),
            ..CapacitySample::default()
        };
        let figures = sample.figures().unwrap();
        // 50 packets of 10,000 bits each 50 ms.
        assert!((figures.capacity_bit_s - 10e6).abs() < 1.0, "{figures:?}");
        assert!(
            (figures.mean_bit_s - 5.5e6).abs() < 1.0 && (figures.sub_interval_s - 1.0).abs() < 1e-9
        );
        let lost = [(figures.best_lost_share, 2.0 / 52.0), (figures.lost_share, 40.0 / 5540.0)];
        assert!(lost.iter().all(|(got, want)| (got - want).abs() < 1e-12), "{figures:?}");
        assert_eq!(CapacitySample::default().figures(), None);
    }

    /// Half of a second was dead: its zeros, which older results have, are no delay of what came in the other half.
    #[test]
    fn silent_intervals_have_no_part_in_the_delay_variation() {
        let report = |received, delay_variation_ns| CapacityReport {
            received,
            delay_variation_ns,
            elapsed_ns: Nanos::from_millis(50),
            ..CapacityReport::default()
        };
        for of_silence in [None, Some(Nanos::ZERO)] {
            let alive = report(50, Some(Nanos::from_millis(40)));
            let reports = [vec![alive; 10], vec![report(0, of_silence); 10]].concat();
            let sample = CapacitySample { reports, ..CapacitySample::default() };
            let mut figures = sample.figures().unwrap();
            assert_eq!((figures.silent_reports, figures.reports), (10, 20));
            assert!((figures.delay_variation_s.unwrap() - 0.04).abs() < 1e-12, "{figures:?}");
            let dead = CapacitySample { reports: sample.reports[10..].to_vec(), ..sample };
            figures = dead.figures().unwrap();
            assert_eq!((figures.capacity_bit_s, figures.delay_variation_s), (0.0, None));
        }
    }

    /// 1222 bytes are packets of 1250 over IPv4 and of 1270 over IPv6.
    #[test]
    fn the_capacity_of_ipv6_counts_its_headers() {
        let capacity = |over_ipv6| {
            let report = CapacityReport {
                received: 50,
                elapsed_ns: Nanos::from_millis(50),
                ..CapacityReport::default()
            };
            let (datagram_bytes, reports) = (Bytes::new(1222), vec![report; 20]);
            let sample =
                CapacitySample { datagram_bytes, over_ipv6, reports, ..CapacitySample::default() };
            sample.figures().unwrap().capacity_bit_s
        };
        let found = [false, true].map(capacity);
        assert!((found[0] - 10e6).abs() < 1.0 && (found[1] - 10.16e6).abs() < 1.0, "{found:?}");
    }

    /// 60 s at 5 Mb/s with one second of 10 Mb/s: the maximum of a longer interval would be less than what the RFC
    /// asks for. A lost report more or less changes nothing.
    #[test]
    fn a_long_search_has_sub_intervals_of_a_second() {
        for (reports, sub_interval_s) in [(1200, 1.0), (199, 1.0), (60, 0.3), (4, 0.05)] {
            let report = |n| CapacityReport {
                received: if (40..60).contains(&n) { 50 } else { 25 },
                elapsed_ns: Nanos::from_millis(50),
                ..CapacityReport::default()
            };
            let sample = CapacitySample {
                datagram_bytes: Bytes::new(1222),
                reports: (0..reports).map(report).collect(),
                ..CapacitySample::default()
            };
            let figures = sample.figures().unwrap();
            assert!(
                (figures.sub_interval_s - sub_interval_s).abs() < 1e-9,
                "{reports}: {figures:?}"
            );
            let want = if reports > 40 { 10e6 } else { 5e6 };
            assert!((figures.capacity_bit_s / want - 1.0).abs() < 1e-9, "{reports}: {figures:?}");
        }
    }

    /// A line of 49 packets in 50 ms under a rate that swings once in 27 reports, with seven of them below it.
    #[test]
    fn t13_a_rate_that_swings_about_the_capacity_finds_it_wherever_it_began() {
        for phase in 0..27 {
            let received = |n: u64| if (n + phase) % 27 < 7 { 30 } else { 49 };
            let report = |n| CapacityReport {
                received: received(n),
                elapsed_ns: Nanos::from_millis(50),
                ..CapacityReport::default()
            };
            let reports = (0..200).map(report).collect();
            let datagram_bytes = Bytes::new(1222);
            let sample = CapacitySample { datagram_bytes, reports, ..CapacitySample::default() };
            let found = sample.figures().unwrap().capacity_bit_s;
            assert!((found / 9.8e6 - 1.0).abs() < 1e-9, "{phase}: {found}");
        }
    }

    /// The row of 10 Gb/s, of which the sender sent 1.5 and all of it came: the path carries at least that. Where
    /// less came than was sent, or all was sent that was asked for, the path is what stood in the way.
    #[test]
    fn a_sender_that_did_not_keep_its_rate_gives_a_lower_bound() {
        let found = |asked_mbit_s: u64, sent_mbit_s: u64, came_mbit_s: u64| {
            let datagrams = |mbit_s: u64| mbit_s * 5; // of 1250 bytes in 50 ms
            let report = CapacityReport {
                asked_bit_s: BitRate::new(asked_mbit_s * 1_000_000),
                elapsed_ns: Nanos::from_millis(50),
                received: datagrams(came_mbit_s),
                lost: datagrams(sent_mbit_s - came_mbit_s),
                sent_in_ns: Nanos::from_millis(50),
                due_in_ns: Nanos::new(50_000_000 * sent_mbit_s / asked_mbit_s),
                ..CapacityReport::default()
            };
            let datagram_bytes = Bytes::new(1222);
            let reports = vec![report; 20];
            let sample = CapacitySample { datagram_bytes, reports, ..CapacitySample::default() };
            sample.figures().unwrap()
        };
        for (asked, sent, came, want) in [
            (10_000, 1_500, 1_500, true),
            (10_000, 1_500, 1_000, false),
            (1_500, 1_500, 1_000, false),
            (1_500, 1_490, 1_490, false),
        ] {
            let figures = found(asked, sent, came);
            assert_eq!(figures.is_lower_bound, want, "{figures:?}");
            for (got, want) in [(figures.asked_bit_s, asked), (figures.sent_bit_s, sent)] {
                assert!((got.unwrap() / (float(want) * 1e6) - 1.0).abs() < 1e-6, "{figures:?}");
            }
        }
        let old = CapacityReport {
            received: 5,
            elapsed_ns: Nanos::from_millis(50),
            ..CapacityReport::default()
        };
        let old = CapacitySample { reports: vec![old], ..CapacitySample::default() };
        let old = old.figures().unwrap();
        assert_eq!((old.asked_bit_s, old.sent_bit_s, old.is_lower_bound), (None, None, false));
    }

    /// 50 us that two clocks read as -200 or as 300 us are not known; 21 ms that they read as 11 are, within 10.
    #[test]
    fn a_delay_below_the_bound_of_the_clocks_is_not_said() {
        let report =
            CapacityReport { elapsed_ns: Nanos::from_millis(50), ..CapacityReport::default() };
        for (least_delay_ns, bound, want) in [
            (50_000, None, Some(0.000_05)),
            (-200_000, Some(350), None),
            (300_000, Some(350), None),
            (11_000_000, Some(10_000), Some(0.011)),
        ] {
            let sample = CapacitySample {
                least_delay_ns,
                least_delay_bound_ns: bound.map(Nanos::from_micros),
                reports: vec![report],
                ..CapacitySample::default()
            };
            let figures = sample.figures().unwrap();
            assert_eq!(figures.least_delay_s, want);
            let wanted = sample.least_delay_bound_ns.map(Nanos::seconds);
            assert_eq!(figures.least_delay_bound_s, wanted);
            // Journals that are older than the name of the bound have another one.
            let told = serde_json::to_string(&sample).unwrap();
            let older = told.replace("least_delay_bound_ns", "delay_bound_ns");
            assert_eq!(older != told, bound.is_some());
            assert_eq!(serde_json::from_str::<CapacitySample>(&older).unwrap(), sample);
        }
    }
}
