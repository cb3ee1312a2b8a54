//! What a train is told and when, and what it asked for; the clock is an argument.
//!
//! A train lives on its own times. A timer is told as the time that was waited for, however late that is noticed, so
//! what it asks for is due then and a late asker delays nothing that follows.

use btu_core::traffic::Action;
use btu_core::traffic::Closed;
use btu_core::traffic::Event;
use btu_core::traffic::sending::burst::BlockRecord;
use btu_core::traffic::sending::burst::Fate;
use btu_core::traffic::trace::Read;
use btu_core::traffic::trace::ReadTime;
use btu_core::traffic::trace::Trace;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

/// What was asked, and what the train waits for. Times count from the beginning of the conversation.
#[derive(Default)]
pub(super) struct Agenda {
    timer: Option<Nanos>,
    is_done: bool,
    exchanges: Vec<Exchange>,
}

/// What a train wants after an event, but for its timers.
pub(super) struct Turn {
    /// When it was due.
    due: Nanos,
    /// Whether a timer of the train made it due.
    is_timed: bool,
    pub(super) actions: Vec<Action>,
}

/// A request and its answer.
struct Exchange {
    /// When the train decided it.
    due: Nanos,
    is_timed: bool,
    /// When the asker came to it; its connection may have had to be made then.
    start: Nanos,
    size: Bytes,
    answered: Option<Nanos>,
}

impl Agenda {
    /// What is asked for first, at time zero.
    pub(super) fn begin(&mut self, train: &mut dyn Closed) -> Turn {
        self.tell(train, Event::Start, Nanos::ZERO)
    }

    /// What is asked for because an answer on this flow was read then.
    pub(super) fn answered(&mut self, train: &mut dyn Closed, flow: u32, at: Nanos) -> Turn {
        self.tell(train, Event::Answered { flow }, at)
    }

    /// What is asked for because its time has come by `now`, and came before the `end` of the conversation: by then
    /// somebody waits for it, whether the asker is late or not.
    pub(super) fn fell_due(
        &mut self,
        train: &mut dyn Closed,
        now: Nanos,
        end: Nanos,
    ) -> Option<Turn> {
        if self.is_done {
            return None;
        }
        let due = self.timer.take_if(|due| *due <= now && *due < end)?;
        Some(self.tell(train, Event::Timer, due))
    }

    fn tell(&mut self, train: &mut dyn Closed, event: Event, due: Nanos) -> Turn {
        let mut actions = Vec::new();
        train.on(due, event, &mut actions);
        for action in &actions {
            match action {
                Action::Done => self.is_done = true,
                Action::Wait { until } => self.timer = Some(*until),
                Action::Ask { .. } | Action::Close { .. } => {}
            }
        }
        Turn { due, is_timed: event == Event::Timer, actions }
    }

    /// When the train wants to be told next.
    pub(super) fn next_due(&self) -> Option<Nanos> {
        self.timer
    }

    /// Whether nothing follows.
    pub(super) fn is_done(&self) -> bool {
        self.is_done
    }

    /// One exchange more, which the asker comes to now. Gives its place.
    pub(super) fn ask(&mut self, turn: &Turn, size: u64, now: Nanos) -> usize {
        let Turn { due, is_timed, .. } = *turn;
        let size = Bytes::new(size);
        self.exchanges.push(Exchange { due, is_timed, start: now, size, answered: None });
        self.exchanges.len() - 1
    }

    /// The answer of an exchange is there.
    pub(super) fn hear(&mut self, place: usize, at: Nanos) {
        if let Some(exchange) = self.exchanges.get_mut(place) {
            exchange.answered = Some(at);
        }
    }

    /// Whether an answer is missing that has had this long to come.
    pub(super) fn is_unanswered(&self, now: Nanos, patience: Nanos) -> bool {
        self.open().any(|one| now.since(one.start) >= patience)
    }

    /// How far the asker is behind, with what is due by `now` and fell due before the `end`, or was with what is not
    /// answered; `None` where all of it is asked and answered.
    pub(super) fn lag(&self, now: Nanos, end: Nanos) -> Option<Nanos> {
        let is_due = |due: &Nanos| !self.is_done && *due <= now && *due < end;
        let timer = self.timer.filter(is_due).map(|due| now.since(due));
        self.open().map(|one| one.start.since(one.due)).chain(timer).max()
    }

    fn open(&self) -> impl Iterator<Item = &Exchange> {
        self.exchanges.iter().filter(|one| one.answered.is_none())
    }

    /// Each exchange as a block that is due when it was decided and read when it was answered.
    pub(super) fn trace(&self, duration: Nanos) -> Trace {
        let mut answered: Vec<(Nanos, Bytes)> =
            self.exchanges.iter().filter_map(|one| Some((one.answered?, one.size))).collect();
        answered.sort_unstable();
        let mut total = Bytes::ZERO;
        let reads = answered.into_iter().map(|(at, size)| {
            total += size;
            Read { at, total }
        });
        let read_time = |one: &Exchange| {
            one.answered.map(|at| ReadTime { first: at, last: at, mean_ns: at.micros() * 1e3 })
        };
        Trace {
            duration,
            reads: reads.collect(),
            blocks: self.exchanges.iter().map(Exchange::block).collect(),
            read_times: self.exchanges.iter().map(read_time).collect(),
            ..Trace::default()
        }
    }
}

impl Exchange {
    fn block(&self) -> BlockRecord {
        BlockRecord {
            due: self.due,
            size: self.size,
            start: Some(self.start),
            end: self.answered,
            taken: self.size,
            held_from: None,
            is_untimed: !self.is_timed,
            fate: if self.answered.is_some() { Fate::Sent } else { Fate::Unfinished },
        }
    }
}

#[cfg(test)]
mod tests;
