//! What a conversation leaves behind.

use btu_core::sample::Outcome;
use btu_core::traffic::burst::BlockRecord;
use btu_core::traffic::burst::Fate;
use btu_core::traffic::trace::Read;
use btu_core::traffic::trace::ReadTime;
use btu_core::traffic::trace::Trace;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

use super::asker::Asker;
use super::asker::Exchange;
use crate::traffic::job::FlowEnd;
use crate::traffic::pacer::now;

impl Asker {
    /// Each exchange is a block: due when it was asked, read when it was answered.
    pub(super) fn end(self, outcome: Outcome, cpu: Nanos) -> FlowEnd {
        // What was cut short is averaged over the time that it had.
        let had = now().since(self.begin).min(self.dialogue.duration);
        let duration = if outcome.is_complete() { self.dialogue.duration } else { had };
        let block = |exchange: &Exchange| BlockRecord {
            due: exchange.asked,
            size: Bytes::new(exchange.size),
            start: Some(exchange.asked),
            end: exchange.answered,
            taken: Bytes::new(exchange.size),
            held_from: None,
            fate: if exchange.answered.is_some() { Fate::Sent } else { Fate::Unfinished },
        };
        let mut answered: Vec<(Nanos, u64)> =
            self.exchanges.iter().filter_map(|one| Some((one.answered?, one.size))).collect();
        answered.sort_unstable();
        let mut total = Bytes::ZERO;
        let reads = answered.into_iter().map(|(at, size)| {
            total += Bytes::new(size);
            Read { at, total }
        });
        let read_time = |one: &Exchange| {
            one.answered.map(|at| ReadTime { first: at, last: at, mean_ns: at.micros() * 1e3 })
        };
        let trace = Trace {
            duration,
            blocks: self.exchanges.iter().map(block).collect(),
            reads: reads.collect(),
            read_times: self.exchanges.iter().map(read_time).collect(),
            ..Trace::default()
        };
        FlowEnd {
            trace,
            glances: Vec::new(),
            outcome,
            tcp: None,
            receiver: self.sender.clone(),
            sender: self.sender,
            pace: "answers",
            refused: 0,
            cpu: Some([cpu, Nanos::ZERO]),
            noticed: self.dialogue.train.noticed(had),
        }
    }
}
