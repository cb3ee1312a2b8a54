//! What the receiver of a search counts: interval by interval, and over the whole.

use btu_core::traffic::probe::CapacityReport;
use btu_core::traffic::probe::CapacitySample;
use btu_core::units::BitRate;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

use super::Head;
use super::numbers::Arrival;
use super::numbers::Numbers;

/// What came so far.
#[derive(Debug)]
pub(super) struct Account {
    sample: CapacitySample,
    numbers: Numbers,
    report: CapacityReport,
    /// Of what came in this interval, all together.
    delays: u128,
    /// For each report that is kept, the number after the newest one that had come: whose loss it counts.
    ends: Vec<u64>,
}

/// What becomes of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// It belongs to the search.
    Kept,
    /// The sender has ended, and the queue of the path runs empty: that is no rate.
    Told,
}

impl Account {
    pub(super) fn new(datagram: Bytes) -> Self {
        Self {
            sample: CapacitySample {
                datagram_bytes: datagram,
                least_delay_ns: Nanos::MAX,
                ..CapacitySample::default()
            },
            numbers: Numbers::default(),
            report: CapacityReport::default(),
            delays: 0,
            ends: Vec::new(),
        }
    }

    /// Reports that are kept.
    pub(super) fn reports(&self) -> usize {
        self.sample.reports.len()
    }

    /// True where nothing came in this interval yet.
    pub(super) fn is_silent(&self) -> bool {
        self.report.received == 0
    }

    /// One more datagram.
    pub(super) fn note(&mut self, head: &Head, delay: Nanos) {
        match self.numbers.record(head.number) {
            // What nobody sent twice is not carried twice.
            Arrival::Again => {
                self.report.disordered += 1;
                return;
            }
            Arrival::Late => {
                self.report.disordered += 1;
                self.found(head.number);
            }
            Arrival::Newest { missing } => self.report.lost += missing,
        }
        self.sample.least_delay_ns = self.sample.least_delay_ns.min(delay);
        self.delays += u128::from(delay.count());
        self.report.received += 1;
        self.report.asked_bit_s = BitRate::new(head.asked_bit_s);
    }

    /// It is not lost after all: the interval that missed it has one less, and no other.
    fn found(&mut self, number: u64) {
        let interval = self.ends.partition_point(|end| *end <= number);
        let report = self.sample.reports.get_mut(interval).unwrap_or(&mut self.report);
        report.lost = report.lost.saturating_sub(1);
    }

    /// The report of an interval that took so long; the next one begins.
    pub(super) fn close(&mut self, elapsed: Nanos, used: Use) -> CapacityReport {
        let report = std::mem::take(&mut self.report);
        let mean = std::mem::take(&mut self.delays) / u128::from(report.received.max(1));
        let mean = Nanos::new(u64::try_from(mean).unwrap_or(u64::MAX));
        let is_silent = report.received == 0;
        let delay_variation_ns =
            if is_silent { Nanos::ZERO } else { mean.since(self.sample.least_delay_ns) };
        let report = CapacityReport { elapsed_ns: elapsed, delay_variation_ns, ..report };
        if used == Use::Kept {
            self.sample.reports.push(report);
            self.ends.push(self.numbers.expected());
        }
        report
    }

    /// All of it.
    pub(super) fn finish(self) -> CapacitySample {
        let mut sample = self.sample;
        if sample.least_delay_ns == Nanos::MAX {
            sample.least_delay_ns = Nanos::ZERO;
        }
        sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELAY: Nanos = Nanos::from_millis(7);

    fn came(account: &mut Account, numbers: impl IntoIterator<Item = u64>) {
        for number in numbers {
            account.note(&Head { number, sent_ns: 0, asked_bit_s: 1_000_000 }, DELAY);
        }
    }

    fn close(account: &mut Account) -> [u64; 3] {
        let report = account.close(Nanos::from_millis(50), Use::Kept);
        [report.received, report.lost, report.disordered]
    }

    /// A path that drops 2 % and duplicates 2 % has lost 2 %, and carries nothing twice.
    #[test]
    fn duplicates_make_no_loss_good() {
        let mut account = Account::new(Bytes::new(1000));
        for interval in 0..10 {
            let numbers = interval * 100..(interval + 1) * 100;
            let sent = numbers.filter(|number| number % 50 != 7);
            came(&mut account, sent.flat_map(|n| vec![n; if n % 50 == 8 { 2 } else { 1 }]));
            assert_eq!(close(&mut account), [98, 2, 2]);
        }
    }

    /// What comes after the end of its interval takes its own loss away, and no other one's.
    #[test]
    fn a_late_datagram_is_found_where_it_was_missed() {
        let mut account = Account::new(Bytes::new(1000));
        came(&mut account, [0, 1, 3, 5]);
        assert_eq!(close(&mut account), [4, 2, 0]);
        came(&mut account, [6, 8]);
        assert_eq!(close(&mut account), [2, 1, 0]);
        came(&mut account, [9, 4, 11, 10]);
        assert_eq!(close(&mut account), [4, 0, 2]);
        let sample = account.finish();
        let lost: Vec<u64> = sample.reports.iter().map(|report| report.lost).collect();
        assert_eq!(lost, [1, 1, 0]);
        assert_eq!(sample.least_delay_ns, DELAY);
    }
}
