//! The search for the maximum IP capacity of RFC 9097: a rate that goes up while nothing queues.

use crate::units::BitRate;
use crate::units::Nanos;

/// RFC 9097, 8.1: a report each 50 ms.
pub const FEEDBACK: Nanos = Nanos::from_millis(50);

/// What a receiver reports of one feedback interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feedback {
    /// Lost, reordered or duplicated datagrams.
    pub sequence_errors: u64,
    /// How much longer than at the least the way took.
    pub delay_variation: Nanos,
}

/// The type B load adjustment of RFC 9097, section 8.1 and appendix A, from the lowest row of its table on.
#[derive(Clone, Debug, Default)]
pub struct CapacitySearch {
    row: usize,
    slow_adjustments: u32,
}

impl CapacitySearch {
    /// The rate to send at now.
    pub fn rate(&self) -> BitRate {
        row_rate(self.row)
    }

    /// One feedback interval is over.
    pub fn record(&mut self, feedback: Feedback) {
        let fast = self.rate() < HIGH_SPEED;
        let errors = feedback.sequence_errors > SEQUENCE_ERRORS;
        if !errors && feedback.delay_variation < LOW_DELAY {
            if fast && self.slow_adjustments < SLOW_ADJUSTMENTS {
                // No step leads past the threshold of high speed.
                self.row = (self.row + HIGH_SPEED_STEP).min(HIGH_SPEED_ROW);
                self.slow_adjustments = 0;
            } else {
                self.row += 1;
            }
            self.row = self.row.min(ROWS - 1);
        } else if errors || feedback.delay_variation > HIGH_DELAY {
            self.slow_adjustments += 1;
            let step = if fast && self.slow_adjustments == SLOW_ADJUSTMENTS {
                3 * HIGH_SPEED_STEP
            } else {
                1
            };
            self.row = self.row.saturating_sub(step);
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
    use super::super::figures::rounded;
    use super::*;
    use crate::traffic::probe::CapacityReport;
    use crate::traffic::probe::CapacitySample;
    use crate::traffic::trace::float;
    use crate::units::Bytes;

    /// What a search finds of a line of `mu` with a queue of 100 ms: what is above waits, then is lost.
    fn found(mu: u64) -> f64 {
        let (mut search, line) = (CapacitySearch::default(), float(mu));
        let datagram_bytes = Bytes::new(1472);
        let mut sample = CapacitySample { datagram_bytes, ..CapacitySample::default() };
        let packet_bits = float(sample.packet().bits());
        let (mut queue_ms, mut came_bits, mut told) = (0.0_f64, 0.0, 0);
        for _ in 0..400 {
            let asked_bit_s = search.rate();
            let rate = float(asked_bit_s.bit_per_second());
            queue_ms += 50.0 * (rate / line - 1.0);
            let over = (queue_ms - 100.0).max(0.0);
            queue_ms = queue_ms.clamp(0.0, 100.0);
            let lost = rounded(over / 50.0 * line * 0.05 / packet_bits);
            let delay_variation = Nanos::new(rounded(queue_ms * 1e6));
            search.record(Feedback { sequence_errors: lost, delay_variation });
            // Packets come whole: what is left of one counts with the next report.
            came_bits += 0.05 * if queue_ms > 0.0 { line } else { rate };
            let came = rounded((came_bits / packet_bits).floor());
            sample.reports.push(CapacityReport {
                asked_bit_s,
                elapsed_ns: FEEDBACK,
                received: came - told,
                lost,
                delay_variation_ns: delay_variation,
                ..CapacityReport::default()
            });
            told = came;
        }
        sample.figures().unwrap().capacity_bit_s
    }

    #[test]
    fn t13_the_capacity_of_a_line_is_found_within_two_percent() {
        let lines = [1_700_000, 340_000_000, 940_000_000, 2_500_000_000];
        for mu in (5..30).map(|mbit_s| mbit_s * 1_000_000).chain(lines) {
            let found = found(mu);
            assert!((found / float(mu) - 1.0).abs() <= 0.02, "{found} of {mu}");
        }
    }

    #[test]
    fn the_table_has_the_rows_of_the_rfc() {
        assert_eq!(CapacitySearch::default().rate(), row_rate(0));
        assert_eq!(row_rate(0), BitRate::new(500_000));
        assert_eq!(row_rate(1000), HIGH_SPEED);
        assert_eq!(row_rate(ROWS - 1), BitRate::new(10_000_000_000));
    }
}
