//! Receipts of blocks: how many came, and how long each took, all by the clock of the sender.

use serde::Deserialize;
use serde::Serialize;

use super::delays::extremes_and_tail;
use crate::stats::Sorted;
use crate::traffic::sending::burst::Fate;
use crate::traffic::trace::Trace;

/// What receipts say of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Receipts {
    /// Blocks that the receiving user read whole: each was answered once.
    pub answered: u64,
    /// Of these, blocks whose receipt came to the sender.
    pub came: u64,
    /// How long receipts took; `None` where none came.
    pub delay: Option<ReceiptDelays>,
}

/// From due (queued) or start (unqueued) to the receipt, seconds: an upper bound of the delay of one way, and of the same
/// block at least as long as the round trip that its last byte and its receipt made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReceiptDelays {
    /// The smallest.
    pub min_s: f64,
    /// Median.
    pub p50_s: f64,
    /// 95th percentile.
    pub p95_s: f64,
    /// 99th percentile.
    pub p99_s: f64,
    /// 99.9th percentile.
    pub p999_s: f64,
    /// The largest.
    pub max_s: f64,
}

impl Receipts {
    pub(super) fn of(trace: &Trace) -> Option<Self> {
        let receipts = trace.receipts.as_ref()?;
        let (mut answered, mut delays) = (0, Vec::new());
        for (place, (block, receipt)) in trace.blocks.iter().zip(receipts).enumerate() {
            let is_read = trace.read_times.get(place).is_some_and(Option::is_some);
            answered += u64::from(is_read && block.fate == Fate::Sent || receipt.is_some());
            let times = receipt.zip(trace.arrival(block));
            delays.extend(times.map(|(receipt, from)| receipt.since(from).seconds()));
        }
        let came = u64::try_from(delays.len()).unwrap_or(u64::MAX);
        let delay = Sorted::new(delays).map(|sorted| {
            let [min_s, p50_s, p95_s, p99_s, tail_s, max_s] = extremes_and_tail(&sorted);
            ReceiptDelays { min_s, p50_s, p95_s, p99_s, p999_s: tail_s, max_s }
        });
        Some(Self { answered, came, delay })
    }

    /// Blocks that were answered and whose receipt did not come.
    pub const fn missing(&self) -> u64 {
        self.answered.saturating_sub(self.came)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::figures::flow::Figures;
    use crate::traffic::sending::burst::BlockRecord;
    use crate::traffic::sending::burst::Discipline;
    use crate::traffic::trace::Read;
    use crate::units::Bytes;
    use crate::units::Nanos;

    fn ms(count: u64) -> Nanos {
        Nanos::from_millis(count)
    }

    /// Eleven blocks of 10 bytes, due each 10 ms and begun 2 ms later, are read 5 ms after they were due; `receipts` says
    /// when the receipt of each came, from then on, and the last one was never begun.
    fn trace(discipline: Discipline, receipts: impl Fn(u64) -> Option<u64>) -> Trace {
        let block = |k: u64| BlockRecord {
            due: ms(10 * k),
            size: Bytes::new(10),
            start: Some(ms(10 * k + 2)),
            end: Some(ms(10 * k + 2)),
            taken: Bytes::new(10),
            fate: Fate::Sent,
            ..BlockRecord::default()
        };
        let waiting = BlockRecord { due: ms(109), size: Bytes::new(10), ..BlockRecord::default() };
        let read = |k: u64| Read { at: ms(10 * k + 5), total: Bytes::new(10 * (k + 1)) };
        let came = |k: u64| receipts(k).map(|after| ms(10 * k + after));
        let trace = Trace {
            duration: ms(110),
            discipline,
            blocks: (0..10).map(block).chain([waiting]).collect(),
            receipts: Some((0..10).map(came).chain([None]).collect()),
            ..Trace::default()
        };
        trace.of_stream((0..10).map(read).collect())
    }

    /// Receipts after 7, 8 ... 16 ms; p50 is halfway between the fifth and the sixth.
    #[test]
    fn a_receipt_counts_from_due_where_blocks_wait_and_from_start_where_they_do_not() {
        for (discipline, less) in [(Discipline::Queue, 0.0), (Discipline::Miss, 0.002)] {
            let found = Figures::of(&trace(discipline, |k| Some(7 + k))).receipts.unwrap();
            assert_eq!((found.answered, found.came, found.missing()), (10, 10, 0));
            let delay = found.delay.unwrap();
            let told =
                [delay.min_s, delay.p50_s, delay.p95_s, delay.p99_s, delay.p999_s, delay.max_s];
            let wanted = [0.007, 0.0115, 0.01555, 0.01591, 0.015_991, 0.016];
            for (found, wanted) in told.into_iter().zip(wanted) {
                assert!((found - (wanted - less)).abs() < 1e-12, "{told:?}");
            }
        }
    }

    #[test]
    fn a_receipt_that_does_not_come_is_missing_and_no_delay() {
        let found = Figures::of(&trace(Discipline::Queue, |k| (k != 3).then_some(7))).receipts;
        let found = found.unwrap();
        assert_eq!((found.answered, found.came, found.missing()), (10, 9, 1));
        let none = Figures::of(&trace(Discipline::Queue, |_| None)).receipts.unwrap();
        assert_eq!((none.answered, none.came, none.missing(), none.delay), (10, 0, 10, None));
        let unasked = Trace { receipts: None, ..trace(Discipline::Queue, |_| None) };
        assert_eq!(Figures::of(&unasked).receipts, None);
    }

    /// A journal that is older than receipts, and one without them, read the same.
    #[test]
    fn figures_without_receipts_are_written_as_before_and_read() {
        let unasked = Trace { receipts: None, ..trace(Discipline::Queue, |_| None) };
        let figures = Figures::of(&unasked);
        let text = serde_json::to_string(&figures).unwrap();
        assert!(!text.contains("receipts"), "{text}");
        assert_eq!(serde_json::from_str::<Figures>(&text).unwrap(), figures);
        let asked = Figures::of(&trace(Discipline::Queue, |k| Some(7 + k)));
        let text = serde_json::to_string(&asked).unwrap();
        assert_eq!(serde_json::from_str::<Figures>(&text).unwrap(), asked);
    }
}
