//! What the receiver of a search counts: interval by interval, and over the whole.

use btu_core::traffic::probe::CapacityReport;
use btu_core::traffic::probe::CapacitySample;
use btu_core::units::BitRate;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

use super::Head;
use crate::traffic::numbers::Arrival;
use crate::traffic::numbers::Numbers;

/// What came so far.
#[derive(Debug)]
pub(super) struct Account {
    sample: CapacitySample,
    numbers: Numbers,
    report: CapacityReport,
    /// Of what came in this interval, all together.
    delays: i128,
    /// When the newest one was sent, by the sender's clock.
    newest_sent_ns: Option<Nanos>,
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
                least_delay_ns: i64::MAX,
                ..CapacitySample::default()
            },
            numbers: Numbers::default(),
            report: CapacityReport::default(),
            delays: 0,
            newest_sent_ns: None,
            ends: Vec::new(),
        }
    }

    /// Which packets its datagrams are.
    pub(super) fn came_over(&mut self, ipv6: bool) {
        self.sample.over_ipv6 = ipv6;
    }

    /// A datagram at the IP layer.
    pub(super) fn packet(&self) -> Bytes {
        self.sample.packet()
    }

    /// Reports that are kept.
    pub(super) fn reports(&self) -> usize {
        self.sample.reports.len()
    }

    /// True where nothing came in this interval yet.
    pub(super) fn is_silent(&self) -> bool {
        self.report.is_silent()
    }

    /// One more datagram.
    pub(super) fn note(&mut self, head: &Head, delay_ns: i64) {
        match self.numbers.record(head.number) {
            // What nobody sent twice is not carried twice.
            Arrival::Again => {
                self.report.disordered += 1;
                return;
            }
            // Nor does one from nowhere say that a million were lost.
            Arrival::Far => return,
            Arrival::Late => {
                self.report.disordered += 1;
                self.found(head.number);
            }
            Arrival::Newest { missing } => {
                self.report.lost += missing;
                self.keep_time(head, missing + 1);
            }
        }
        self.sample.least_delay_ns = self.sample.least_delay_ns.min(delay_ns);
        self.delays += i128::from(delay_ns);
        self.report.received += 1;
        self.report.asked_bit_s = BitRate::new(head.asked_bit_s);
    }

    /// Whether the sender keeps its rate is what its own stamps say: they know of no queue and no loss.
    fn keep_time(&mut self, head: &Head, datagrams: u64) {
        let sent = Nanos::new(head.sent_ns);
        let Some(before) = self.newest_sent_ns.replace(sent) else { return };
        let gap = BitRate::new(head.asked_bit_s).time_for(self.sample.packet());
        let due = gap.saturating_mul(datagrams);
        self.report.sent_in_ns = self.report.sent_in_ns.saturating_add(sent.since(before));
        self.report.due_in_ns = self.report.due_in_ns.saturating_add(due);
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
        let delays = std::mem::take(&mut self.delays);
        let delay_variation_ns = delays.checked_div(i128::from(report.received)).map(|mean| {
            let beyond = (mean - i128::from(self.sample.least_delay_ns)).max(0);
            Nanos::new(u64::try_from(beyond).unwrap_or(u64::MAX))
        });
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
        if sample.least_delay_ns == i64::MAX {
            sample.least_delay_ns = 0;
        }
        sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELAY: i64 = 7_000_000;

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

    /// 1028 bytes at 1 Mb/s are due every 8.224 ms: who sends one every 10 ms keeps 82 % of that, whatever is lost.
    #[test]
    fn how_fast_datagrams_leave_is_told_by_their_sender() {
        let mut account = Account::new(Bytes::new(1000));
        for number in (0..100).filter(|number| number % 10 != 3) {
            let sent_ns = Nanos::from_secs(5).count() + number * 10_000_000;
            account.note(&Head { number, sent_ns, asked_bit_s: 1_000_000 }, DELAY);
        }
        let report = account.close(Nanos::from_millis(50), Use::Kept);
        assert_eq!(report.sent_in_ns, Nanos::from_millis(990));
        assert_eq!(report.due_in_ns, Nanos::from_micros(8224 * 99));
        // Over IPv6 they are 1048 bytes long.
        let mut account = Account::new(Bytes::new(1000));
        account.came_over(true);
        came(&mut account, 0..100);
        let report = account.close(Nanos::from_millis(50), Use::Kept);
        assert_eq!(report.due_in_ns, Nanos::from_micros(8384 * 99));
    }

    /// Differences of delays are what they are, however wrong the offset of two clocks.
    #[test]
    fn delay_variation_does_not_depend_on_the_offset() {
        for wrong in [0, -250_000, 3_600_000_000_000] {
            let mut account = Account::new(Bytes::new(1000));
            for (number, delay) in [(0, 50_000), (1, 90_000), (2, 70_000)] {
                account.note(&Head { number, sent_ns: 0, asked_bit_s: 1_000_000 }, delay + wrong);
            }
            let report = account.close(Nanos::from_millis(50), Use::Kept);
            assert_eq!(report.delay_variation_ns, Some(Nanos::from_micros(20)));
            assert_eq!(account.finish().least_delay_ns, 50_000 + wrong);
        }
    }

    /// No loss is seen where nothing comes after it, and no delay: neither is zero.
    #[test]
    fn a_silent_interval_has_no_delay() {
        let mut account = Account::new(Bytes::new(1000));
        came(&mut account, [0, 1]);
        let close = |account: &mut Account| account.close(Nanos::from_millis(50), Use::Kept);
        assert_eq!(close(&mut account).delay_variation_ns, Some(Nanos::ZERO));
        let silent = close(&mut account);
        assert!(silent.is_silent() && silent.delay_variation_ns.is_none(), "{silent:?}");
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
