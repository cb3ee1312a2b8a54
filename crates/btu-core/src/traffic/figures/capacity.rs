//! The search for the maximum IP capacity of RFC 9097: a rate that goes up while nothing queues.

mod retry;

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde::Serialize;

use self::retry::Retry;
use crate::units::BitRate;
use crate::units::Nanos;

/// RFC 9097, 8.1: a report each 50 ms.
pub const FEEDBACK: Nanos = Nanos::from_millis(50);

/// Below, a step back of type C leads to the bottom of the table: in each second there may be a trough.
pub const BOTTOM_OF_C: BitRate = BitRate::new(14_000_000);

/// What a receiver reports of one feedback interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feedback {
    /// Lost, reordered or duplicated datagrams.
    pub sequence_errors: u64,
    /// How much longer than at the least the way took; `None` where nothing came in the interval.
    pub delay_variation: Option<Nanos>,
}

/// How the rate follows what its receiver reports, by the letters that RFC 9946 has for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Adjustment {
    /// 10 Mb/s up with each good report until the path was full, then 1 Mb/s (RFC 9097, appendix A).
    #[default]
    B,
    /// Doubled with each second good report until the path was full, and again after a while: multiply and
    /// retry (README.md and `udpst_data.c` of `BroadbandForum/obudpst`, from its version 7.5.0 on).
    C,
}

impl Adjustment {
    /// True of what the text of RFC 9097 has.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Adjustment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::B => "B",
            Self::C => "C",
        })
    }
}

impl FromStr for Adjustment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "B" => Ok(Self::B),
            "C" => Ok(Self::C),
            _ => Err("write B or C".to_owned()),
        }
    }
}

/// The load adjustment of RFC 9097, section 8.1, from the lowest row of its table on.
#[derive(Clone, Debug, Default)]
pub struct CapacitySearch {
    row: usize,
    slow_adjustments: u32,
    /// What type C has beside that.
    retry: Option<Retry>,
}

impl CapacitySearch {
    /// From the lowest rate on.
    pub fn new(adjustment: Adjustment) -> Self {
        let retry = (adjustment == Adjustment::C).then(Retry::default);
        Self { retry, ..Self::default() }
    }

    /// The rate to send at now.
    pub fn rate(&self) -> BitRate {
        row_rate(self.row)
    }

    /// One feedback interval is over. One in which nothing came has no error that could be counted, and is the worst.
    pub fn record(&mut self, feedback: Feedback) {
        let errors = feedback.sequence_errors > SEQUENCE_ERRORS;
        match feedback.delay_variation {
            Some(variation) if !errors && variation < LOW_DELAY => self.rise(),
            Some(variation) if !errors && variation <= HIGH_DELAY => {}
            _ => self.fall(),
        }
    }

    fn rise(&mut self) {
        if self.rate() < HIGH_SPEED && self.slow_adjustments < SLOW_ADJUSTMENTS {
            // No step leads past the threshold of high speed.
            self.row = match &mut self.retry {
                None => (self.row + HIGH_SPEED_STEP).min(HIGH_SPEED_ROW),
                Some(retry) => retry.fast(self.row, HIGH_SPEED_ROW),
            };
            self.slow_adjustments = 0;
        } else if self.row < ROWS - 1 {
            self.row += 1;
            if self.retry.as_mut().is_some_and(Retry::rose) {
                self.slow_adjustments = 0;
            }
        }
    }

    fn fall(&mut self) {
        self.slow_adjustments += 1;
        if self.rate() < HIGH_SPEED && self.slow_adjustments == SLOW_ADJUSTMENTS {
            self.row = self.row.saturating_sub(3 * HIGH_SPEED_STEP);
        } else if self.row > 0 {
            self.row -= 1;
            if self.retry.as_mut().is_some_and(Retry::fell) {
                self.slow_adjustments = 0;
            }
        }
    }
}

/// The table of rates: 0.5 Mb/s, then each Mb/s up to 1 Gb/s, then each 100 Mb/s up to 10 Gb/s.
fn row_rate(row: usize) -> BitRate {
    let row = u64::try_from(row).unwrap_or(u64::MAX);
    BitRate::new(match row {
        0 => 500_000,
        1..=1000 => row * 1_000_000,
        _ => 1_000_000_000 + (row - 1000) * 100_000_000,
    })
}

const ROWS: usize = 1091;
const HIGH_SPEED_ROW: usize = 1000;
/// The defaults of RFC 9097, section 8.1.
const HIGH_SPEED: BitRate = BitRate::new(1_000_000_000);
const HIGH_SPEED_STEP: usize = 10;
const SLOW_ADJUSTMENTS: u32 = 3;
const SEQUENCE_ERRORS: u64 = 10;
const LOW_DELAY: Nanos = Nanos::from_millis(30);
const HIGH_DELAY: Nanos = Nanos::from_millis(90);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::figures::flow::rounded;
    use crate::traffic::probe::CapacityReport;
    use crate::traffic::probe::CapacitySample;
    use crate::traffic::trace::float;
    use crate::units::Bytes;

    /// A line with a queue of 100 ms, and what a search saw of it: what is above waits, then is lost.
    struct Run {
        sample: CapacitySample,
        /// The first report that came while the line was full.
        full: Option<usize>,
    }

    /// Searches a line whose rate, bit/s, is asked for with the number of each report.
    fn run(adjustment: Adjustment, reports: usize, line: impl Fn(usize) -> u64) -> Run {
        let mut search = CapacitySearch::new(adjustment);
        let datagram_bytes = Bytes::new(1472);
        let mut sample = CapacitySample { datagram_bytes, ..CapacitySample::default() };
        let packet_bits = float(sample.packet().bits());
        let (mut queue_ms, mut came_bits, mut told, mut full) = (0.0_f64, 0.0, 0, None);
        for number in 0..reports {
            let line = float(line(number));
            let asked_bit_s = search.rate();
            let rate = float(asked_bit_s.bit_per_second());
            full = full.or((rate >= line).then_some(number));
            queue_ms += 50.0 * (rate / line - 1.0);
            let over = (queue_ms - 100.0).max(0.0);
            queue_ms = queue_ms.clamp(0.0, 100.0);
            let lost = rounded(over / 50.0 * line * 0.05 / packet_bits);
            let delay_variation = Nanos::new(rounded(queue_ms * 1e6));
            search
                .record(Feedback { sequence_errors: lost, delay_variation: Some(delay_variation) });
            // Packets come whole: what is left of one counts with the next report.
            came_bits += 0.05 * if queue_ms > 0.0 { line } else { rate };
            let came = rounded((came_bits / packet_bits).floor());
            sample.reports.push(CapacityReport {
                asked_bit_s,
                elapsed_ns: FEEDBACK,
                received: came - told,
                lost,
                delay_variation_ns: Some(delay_variation),
                ..CapacityReport::default()
            });
            told = came;
        }
        Run { sample, full }
    }

    fn capacity(run: &Run) -> f64 {
        run.sample.figures().unwrap().capacity_bit_s
    }

    fn mbit_s(rate: u64) -> u64 {
        rate * 1_000_000
    }

    #[test]
    fn t13_the_capacity_of_a_line_is_found_within_two_percent() {
        let fast = || [mbit_s(100), mbit_s(340), mbit_s(940), mbit_s(2_500)];
        let of_b = (5..30).map(mbit_s).chain(fast()).chain([1_700_000]);
        let of_c = (14..60).map(mbit_s).chain(fast()).chain([1_700_000]);
        let of_b = of_b.map(|mu| (Adjustment::B, mu));
        for (adjustment, mu) in of_b.chain(of_c.map(|mu| (Adjustment::C, mu))) {
            let found = capacity(&run(adjustment, 400, |_| mu));
            assert!((found / float(mu) - 1.0).abs() <= 0.02, "{adjustment}: {found} of {mu}");
        }
    }

    /// Its step back of 30 Mb/s leads to the bottom there, and each second has a trough in it.
    #[test]
    fn type_c_may_miss_a_fifth_of_a_line_below_its_step_back_and_no_more() {
        let found = |mu: u64| capacity(&run(Adjustment::C, 200, |_| mu)) / float(mu);
        let worst = (1..14).map(mbit_s).map(found).min_by(f64::total_cmp).unwrap();
        assert!((0.8..0.98).contains(&worst), "{worst}");
    }

    /// B goes up by 10 Mb/s with each report, C to the double with each second one: 0.95 s to 1 Gb/s.
    #[test]
    fn type_c_fills_a_fast_line_in_a_fraction_of_the_reports() {
        for (line, of_b, of_c) in [(mbit_s(940), 94, 19), (mbit_s(300), 30, 18)] {
            let full = |adjustment| run(adjustment, 400, |_| line).full.unwrap();
            assert_eq!([Adjustment::B, Adjustment::C].map(full), [of_b, of_c], "{line}");
        }
    }

    /// After 5 of 10 s a line of 100 Mb/s has 400, as where a radio finds a better channel: B goes up by 1 Mb/s with
    /// a report by then, C doubles again. A line that lost three quarters of its rate had them first.
    #[test]
    fn t13_a_capacity_that_changes_meanwhile_is_found_within_two_percent() {
        let found = |adjustment, before, after| {
            let line = move |number| if number < 100 { before } else { after };
            capacity(&run(adjustment, 200, line)) / 1e6
        };
        let (slow, fast) = (mbit_s(100), mbit_s(400));
        let [b, c] = [Adjustment::B, Adjustment::C].map(|one| found(one, slow, fast));
        assert!((c / 400.0 - 1.0).abs() <= 0.02, "{c}");
        assert!(b < 200.0, "{b}");
        let fallen = found(Adjustment::C, fast, slow);
        assert!((fallen / 400.0 - 1.0).abs() <= 0.02, "{fallen}");
    }

    /// Rows by hand: up to 8 Mb/s, then two reports of loss, the third takes back three steps of 10.
    #[test]
    fn type_c_doubles_steps_back_and_tries_again() {
        let mut search = CapacitySearch::new(Adjustment::C);
        let report = |sequence_errors| Feedback { sequence_errors, ..GOOD };
        let mut rates = |errors: u64, times: usize| -> Vec<u64> {
            let mut one = || {
                search.record(report(errors));
                search.rate().bit_per_second() / 1_000_000
            };
            (0..times).map(|_| one()).collect()
        };
        assert_eq!(rates(0, 13), [1, 2, 2, 4, 4, 8, 8, 16, 16, 32, 32, 64, 64]);
        assert_eq!(rates(11, 3), [63, 62, 32]);
        // Two of the five steps that it waits for were made on the way down.
        assert_eq!(rates(0, 5), [33, 34, 35, 70, 70]);
        // Now it waits for ten: what follows a full path is slower each time.
        assert_eq!(rates(11, 3), [69, 68, 38]);
        assert_eq!(rates(0, 9), [39, 40, 41, 42, 43, 44, 45, 46, 92]);
        // Between the thresholds nothing moves.
        let between = Feedback { delay_variation: Some(Nanos::from_millis(60)), ..GOOD };
        let before = search.rate();
        search.record(between);
        assert_eq!(search.rate(), before);
    }

    /// Four good reports, and a path that carries nothing for eight: 40 Mb/s would be 120 if silence were no loss.
    #[test]
    fn a_silent_interval_raises_no_rate() {
        let rates = |adjustment, good: usize| -> Vec<u64> {
            let mut search = CapacitySearch::new(adjustment);
            (0..good).for_each(|_| search.record(GOOD));
            let mut silent = || {
                search.record(Feedback { delay_variation: None, ..GOOD });
                search.rate().bit_per_second() / 1_000_000
            };
            (0..8).map(|_| silent()).collect()
        };
        assert_eq!(rates(Adjustment::B, 4), [39, 38, 8, 7, 6, 5, 4, 3]);
        assert_eq!(rates(Adjustment::C, 11)[..3], [31, 30, 0]);
        assert_eq!(rates(Adjustment::B, 0), [0; 8]);
    }

    /// A report without loss of a path that queues nothing.
    const GOOD: Feedback = Feedback { sequence_errors: 0, delay_variation: Some(Nanos::ZERO) };

    #[test]
    fn the_table_has_the_rows_of_the_rfc() {
        assert_eq!(CapacitySearch::default().rate(), row_rate(0));
        assert_eq!(row_rate(0), BitRate::new(500_000));
        assert_eq!(row_rate(1000), HIGH_SPEED);
        assert_eq!(row_rate(ROWS - 1), BitRate::new(10_000_000_000));
    }
}
