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
    /// True where no clock made it due, but an answer that came, or the beginning of a conversation: its due
    /// time is that, and says nothing of how well the generator keeps time.
    pub is_untimed: bool,
    /// What became of it.
    pub fate: Fate,
}

/// The fatal errors of the original: what a sender does not put up with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes that may wait to be written.
    pub queue: Option<Bytes>,
    /// The longest that a block may take from when it is due until the transport has all of it.
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
        let discipline = self.discipline;
        match discipline {
            Discipline::Queue => {}
            _ if !self.is_overrun(block) => {}
            Discipline::Interrupt => self.abandon(),
            Discipline::Miss => record.fate = Fate::Missed,
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
mod tests;
