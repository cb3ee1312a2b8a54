//! Bursts of blocks on an absolute schedule: unqueued ones are missed or interrupt, queued ones wait.
//!
//! The two forms of `NetSpec`, as napier (section 3) tells them apart: output that is
//! queued "to avoid interrupting or overwriting previous bursts ... gives significantly different
//! results from unqueued output for the cases when the burst duration is of the order of bursting
//! period". Here they are one state machine without a clock or a socket: who carries a flow says
//! what time it is and what the transport took; the machine says what to write next and keeps the
//! record of every block.

use std::sync::Arc;

use serde::Deserialize;
use serde::Serialize;

use crate::units::Bytes;
use crate::units::Nanos;

/// A block of a train: when it is due, from the start of the flow, and its size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// From the start of the flow.
    pub due: Nanos,
    /// At least one byte.
    pub size: Bytes,
}

/// What happens to a block that is due while an earlier one is unfinished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Discipline {
    /// The rest of the earlier block is abandoned, and the new one begins.
    Interrupt,
    /// The new block is not sent, and counted.
    Miss,
    /// The new block waits. It is never dropped, merged or overwritten.
    #[default]
    Queue,
}

/// What became of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// A later block abandoned the rest of it.
    Interrupted,
    /// An earlier block was unfinished when it was due.
    Missed,
    /// The transport took all of it.
    Sent,
    /// It was begun and not finished at the end.
    Unfinished,
    /// It was still waiting at the end, or not due yet.
    #[default]
    Waiting,
}

/// The record of one block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockRecord {
    /// When it was due.
    pub due: Nanos,
    /// Its size.
    pub size: Bytes,
    /// When its first write began.
    pub start: Option<Nanos>,
    /// When the transport had taken all of it.
    pub end: Option<Nanos>,
    /// What the transport took of it.
    pub taken: Bytes,
    /// When the transport first refused something of what waited, where this block was among that or came
    /// to it: from then on it is late because of the transport, and not because of the generator.
    pub held_from: Option<Nanos>,
    /// What became of it.
    pub fate: Fate,
}

/// The fatal errors of the original: what a sender does not put up with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes that may wait to be written.
    pub queue: Option<Bytes>,
    /// The longest that a block may wait to be finished.
    pub block_time: Option<Nanos>,
}

/// The sender of a train of blocks.
#[derive(Debug)]
pub struct Bursts {
    train: Arc<[Block]>,
    discipline: Discipline,
    limits: Limits,
    records: Vec<BlockRecord>,
    /// The block that is being written, or the next to be.
    at: usize,
    /// What waits: due, not missed, and not yet taken by the transport.
    waiting: Bytes,
    /// Since when the transport does not take what is due as fast as it is written to it.
    refused: Option<Nanos>,
    stopped: bool,
}

impl Bursts {
    /// A sender at the start of its train, whose due times ascend.
    pub fn new(train: Arc<[Block]>, discipline: Discipline, limits: Limits) -> Self {
        let records = Vec::with_capacity(train.len());
        let waiting = Bytes::ZERO;
        Self { train, discipline, limits, records, at: 0, waiting, refused: None, stopped: false }
    }

    /// When the next block is due; `None` once all were, or nothing more is wanted.
    pub fn next_due(&self) -> Option<Nanos> {
        self.train.get(self.records.len()).filter(|_| !self.stopped).map(|block| block.due)
    }

    /// Takes note of every block that is due by `now`.
    pub fn advance(&mut self, now: Nanos) {
        while let Some(block) = self.train.get(self.records.len()).copied() {
            if block.due > now || self.stopped {
                return;
            }
            self.fall_due(block);
        }
    }

    /// What is left of the block to be written now, the first of those that wait. Begins it.
    pub fn offer(&mut self, now: Nanos) -> Option<Bytes> {
        self.pass_missed();
        let refused = self.refused;
        let record = self.records.get_mut(self.at)?;
        if record.start.is_none() {
            record.start = Some(now);
            record.fate = Fate::Unfinished;
            record.held_from = refused;
        }
        Some(record.size.saturating_sub(record.taken))
    }

    /// The transport has taken `bytes` of the block that was offered.
    pub fn took(&mut self, now: Nanos, bytes: Bytes) {
        let Some(record) = self.records.get_mut(self.at) else { return };
        record.taken += bytes;
        self.waiting = self.waiting.saturating_sub(bytes);
        if record.taken >= record.size {
            record.end = Some(now);
            record.fate = Fate::Sent;
            self.at += 1;
        }
        if self.waiting.is_empty() {
            self.refused = None;
        }
    }

    /// The transport has no room for what was offered, or a rate does not allow it yet: until nothing waits
    /// any more it is the transport that blocks wait for. A backlog alone says nothing of that: a generator that
    /// was held up has one as well.
    pub fn refused(&mut self, now: Nanos) {
        self.refused.get_or_insert(now);
    }

    /// Nothing more falls due; what is due stays to be written.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// True while a block is begun and not finished.
    pub fn is_within_block(&self) -> bool {
        self.records.get(self.at).is_some_and(|record| record.fate == Fate::Unfinished)
    }

    /// True while something is due and not yet taken.
    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// What is due and not yet taken.
    pub fn waiting(&self) -> Bytes {
        self.waiting
    }

    /// Why the sender cannot go on, where it met one of its limits.
    pub fn overflow(&self, now: Nanos) -> Option<String> {
        if let Some(most) = self.limits.queue.filter(|most| self.waiting > *most) {
            let waiting = self.waiting.count();
            return Some(format!("generator overflow: {waiting} bytes wait, the limit is {most}"));
        }
        let oldest = self.records.get(self.at).filter(|_| self.has_waiting())?;
        let age = now.since(oldest.due);
        let most = self.limits.block_time.filter(|most| age > *most)?;
        Some(format!(
            "generator overflow: a block waits for {:.3} s, the limit is {most}",
            age.seconds()
        ))
    }

    /// The records of all blocks that fell due, in order.
    pub fn records(&self) -> &[BlockRecord] {
        &self.records
    }

    /// The same, at the end.
    pub fn into_records(self) -> Vec<BlockRecord> {
        self.records
    }

    fn fall_due(&mut self, block: Block) {
        let mut record = BlockRecord { due: block.due, size: block.size, ..BlockRecord::default() };
        if self.discipline != Discipline::Queue && self.is_overrun(block) {
            match self.discipline {
                Discipline::Interrupt => self.abandon(),
                Discipline::Miss => record.fate = Fate::Missed,
                Discipline::Queue => {}
            }
        }
        if record.fate != Fate::Missed {
            self.waiting += block.size;
        }
        self.records.push(record);
    }

    /// Blocks of one instant are one burst: they follow each other and overrun nothing. Due times ascend, so
    /// the first that is unfinished tells for all: a burst may have a million blocks.
    fn is_overrun(&mut self, block: Block) -> bool {
        self.pass_missed();
        self.records.get(self.at).is_some_and(|oldest| oldest.due != block.due)
    }

    /// Leaves behind what will never be written.
    fn pass_missed(&mut self) {
        while self.records.get(self.at).is_some_and(|record| record.fate == Fate::Missed) {
            self.at += 1;
        }
    }

    /// Gives up what is unfinished: the rest of the block that was begun, and those that follow it.
    fn abandon(&mut self) {
        for record in &mut self.records[self.at..] {
            let begun = record.fate == Fate::Unfinished;
            record.fate = if begun { Fate::Interrupted } else { Fate::Missed };
        }
        self.at = self.records.len();
        self.waiting = Bytes::ZERO;
        self.refused = None;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: u64 = 1_000_000;

    fn every(period_ms: u64, size: u64, blocks: u64) -> Arc<[Block]> {
        let block = |k| Block { due: Nanos::from_millis(k * period_ms), size: Bytes::new(size) };
        (0..blocks).map(block).collect()
    }

    /// Carries a train over a transport that takes a byte each `ns_per_byte` and holds none.
    fn carry(train: Arc<[Block]>, discipline: Discipline, ns_per_byte: u64) -> Vec<BlockRecord> {
        let mut bursts = Bursts::new(train, discipline, Limits::default());
        let mut now = Nanos::ZERO;
        loop {
            bursts.advance(now);
            let Some(left) = bursts.offer(now) else {
                match bursts.next_due() {
                    Some(due) => now = due,
                    None => return bursts.into_records(),
                }
                continue;
            };
            let done = now + Nanos::new(left.count() * ns_per_byte);
            if let Some(due) = bursts.next_due().filter(|due| *due < done) {
                let part = due.since(now).count() / ns_per_byte;
                bursts.took(due, Bytes::new(part));
                bursts.refused(now);
                now = due;
            } else {
                now = done;
                // A block that falls due at this instant finds the transport free.
                bursts.took(now, left);
            }
        }
    }

    fn counts(records: &[BlockRecord]) -> [usize; 3] {
        let of = |fate| records.iter().filter(|record| record.fate == fate).count();
        [of(Fate::Sent), of(Fate::Missed), of(Fate::Interrupted)]
    }

    /// A burst takes S = 10 ms. Above S all three are alike; below they differ.
    #[test]
    fn t9_unqueued_bursts_are_missed_or_interrupt_and_queued_ones_wait() {
        for (period, missing, interrupting) in [
            (20, [10, 0, 0], [10, 0, 0]),
            (11, [10, 0, 0], [10, 0, 0]),
            (9, [5, 5, 0], [1, 0, 9]),
            (5, [5, 5, 0], [1, 0, 9]),
        ] {
            let of = |discipline| carry(every(period, 1000, 10), discipline, 10_000);
            let [missed, interrupted, queued] =
                [of(Discipline::Miss), of(Discipline::Interrupt), of(Discipline::Queue)];
            assert_eq!(counts(&missed), missing, "period {period} ms, miss");
            assert_eq!(counts(&interrupted), interrupting, "period {period} ms, interrupt");
            assert_eq!(counts(&queued), [10, 0, 0], "period {period} ms, queue");
        }
    }

    #[test]
    fn a_queued_burst_waits_for_the_one_before_it() {
        let records = carry(every(5, 1000, 3), Discipline::Queue, 10_000);
        let times: Vec<(u64, u64)> = records
            .iter()
            .map(|r| (r.start.unwrap().count() / MS, r.end.unwrap().count() / MS))
            .collect();
        assert_eq!(times, [(0, 10), (10, 20), (20, 30)]);
        let held: Vec<Option<Nanos>> = records.iter().map(|record| record.held_from).collect();
        assert_eq!(held, [None, Some(Nanos::ZERO), Some(Nanos::ZERO)]);
    }

    #[test]
    fn nobody_is_held_before_the_transport_refuses_nor_after_the_queue_was_empty() {
        let mut bursts = Bursts::new(every(5, 1000, 6), Discipline::Queue, Limits::default());
        let mut send = |ms, taken: u64| {
            let now = Nanos::from_millis(ms);
            bursts.advance(now);
            assert!(bursts.offer(now).is_some());
            match taken {
                0 => bursts.refused(now),
                bytes => bursts.took(now, Bytes::new(bytes)),
            }
        };
        // The generator was held up until 12 ms: three wait, and the transport takes two of them.
        send(12, 1000);
        send(12, 1000);
        send(13, 0);
        send(16, 1000);
        send(16, 1000);
        // Nothing waited at 17 ms.
        send(20, 1000);
        send(31, 1000);
        let held: Vec<Option<u64>> =
            bursts.records().iter().map(|r| r.held_from.map(|at| at.count() / MS)).collect();
        assert_eq!(held, [None, None, None, Some(13), None, None]);
    }

    #[test]
    fn blocks_of_one_instant_are_one_burst() {
        let block = |due, size| Block { due: Nanos::from_millis(due), size: Bytes::new(size) };
        let train: Arc<[Block]> = [block(0, 10), block(0, 20), block(9, 10)].into();
        for discipline in [Discipline::Miss, Discipline::Interrupt, Discipline::Queue] {
            assert_eq!(counts(&carry(Arc::clone(&train), discipline, 1000)), [3, 0, 0]);
        }
    }

    #[test]
    fn an_interrupted_block_keeps_what_was_taken_of_it() {
        let records = carry(every(9, 1000, 2), Discipline::Interrupt, 10_000);
        assert_eq!((records[0].fate, records[0].taken), (Fate::Interrupted, Bytes::new(900)));
        assert_eq!((records[1].start, records[1].fate), (Some(Nanos::from_millis(9)), Fate::Sent));
    }

    #[test]
    fn a_limit_of_the_queue_or_of_time_is_told_with_its_figures() {
        let limits = Limits { queue: Some(Bytes::new(2500)), block_time: None };
        let mut bursts = Bursts::new(every(5, 1000, 9), Discipline::Queue, limits);
        bursts.advance(Nanos::from_millis(5));
        assert_eq!(bursts.overflow(Nanos::from_millis(5)), None);
        bursts.advance(Nanos::from_millis(10));
        let told = bursts.overflow(Nanos::from_millis(10)).unwrap();
        assert_eq!(told, "generator overflow: 3000 bytes wait, the limit is 2500B");
        let limits = Limits { queue: None, block_time: Some(Nanos::from_secs(1)) };
        let mut bursts = Bursts::new(every(5, 1000, 9), Discipline::Queue, limits);
        bursts.advance(Nanos::ZERO);
        assert_eq!(bursts.overflow(Nanos::from_secs(1)), None);
        assert!(bursts.overflow(Nanos::from_millis(1001)).unwrap().contains("1.001 s"));
    }

    #[test]
    fn after_the_end_nothing_falls_due_and_what_is_due_can_be_finished() {
        let mut bursts = Bursts::new(every(5, 1000, 9), Discipline::Queue, Limits::default());
        bursts.advance(Nanos::from_millis(5));
        assert_eq!(bursts.offer(Nanos::from_millis(5)), Some(Bytes::new(1000)));
        bursts.stop();
        bursts.advance(Nanos::from_secs(9));
        assert_eq!((bursts.records().len(), bursts.next_due()), (2, None));
        assert!(bursts.is_within_block() && bursts.has_waiting());
        for now in [6, 7].map(Nanos::from_millis) {
            let left = bursts.offer(now).unwrap();
            bursts.took(now, left);
        }
        assert!(!bursts.has_waiting() && bursts.offer(Nanos::from_secs(9)).is_none());
    }

    proptest! {
        /// Whatever the train: every block has exactly one fate, queued bytes are all sent, and
        /// blocks start in order.
        #[test]
        fn no_block_is_lost_from_the_books(
            gaps in prop::collection::vec((0_u64..20, 1_u64..3000), 1..60),
            ns_per_byte in 1_u64..20_000,
        ) {
            let mut due = 0;
            let blocks = gaps.iter().map(|(gap, size)| {
                due += gap * MS;
                Block { due: Nanos::new(due), size: Bytes::new(*size) }
            });
            let train: Arc<[Block]> = blocks.collect();
            let asked: u64 = train.iter().map(|block| block.size.count()).sum();
            for discipline in [Discipline::Miss, Discipline::Interrupt, Discipline::Queue] {
                let records = carry(Arc::clone(&train), discipline, ns_per_byte);
                prop_assert_eq!(records.len(), train.len());
                prop_assert_eq!(counts(&records).iter().sum::<usize>(), train.len());
                prop_assert!(records.iter().filter_map(|r| r.start).is_sorted());
                let taken: u64 = records.iter().map(|record| record.taken.count()).sum();
                if discipline == Discipline::Queue {
                    prop_assert_eq!(taken, asked);
                } else {
                    prop_assert!(taken <= asked);
                }
            }
        }
    }
}
