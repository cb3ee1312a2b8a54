//! What a conversation leaves behind.

use btu_core::sample::Outcome;
use btu_core::units::Nanos;

use super::asker::Asker;
use crate::time::now;
use crate::traffic::job::FlowEnd;

impl Asker {
    /// What the exchanges came to.
    pub(super) fn end(self, outcome: Outcome, cpu: Nanos) -> FlowEnd {
        // What was cut short is averaged over the time that it had.
        let had = now().since(self.begin).min(self.dialogue.duration);
        let duration = if outcome.is_complete() { self.dialogue.duration } else { had };
        FlowEnd {
            trace: self.agenda.trace(duration),
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
