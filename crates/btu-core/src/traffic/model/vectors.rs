//! Connection vectors of tmix: what each connection of a recording sent, when, and who waited for whom.

mod read;

use super::prelude::*;
use crate::traffic::train::Action;
use crate::traffic::train::Closed;
use crate::traffic::train::Event;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

pub(super) use read::is_one;
pub(super) use read::read;

/// A connection as the end that began it runs it.
///
/// That end alone has a clock here: where the other one waits before it answers, it answers at once and the time passes
/// before what follows; where it sends unasked, it is asked with a byte.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::traffic) struct Vector {
    pub(super) start: Nanos,
    /// Whether each step waits for the answer of the one before; else all are due at times of their own.
    pub(super) waits: bool,
    /// The last one closes.
    pub(super) steps: Vec<Step>,
}

/// What is done a time after the step before, or after its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) after: Nanos,
    /// A request with its answer; `None` closes.
    pub(super) ask: Option<(Bytes, Bytes)>,
}

impl Vector {
    /// When it is over if answers take no time.
    pub(super) fn end(&self) -> Nanos {
        self.steps.iter().fold(self.start, |at, step| at.saturating_add(step.after))
    }

    /// Bytes of requests and of answers.
    pub(super) fn bytes(&self) -> [f64; 2] {
        let asks = self.steps.iter().filter_map(|step| step.ask);
        asks.fold([0.0; 2], |[forward, back], (request, answer)| {
            [forward + float(request.count()), back + float(answer.count())]
        })
    }
}

/// The time of a whole recording: it is repeated when the last connection has closed.
pub(super) fn period(all: &[Vector]) -> Nanos {
    all.iter().map(Vector::end).max().unwrap_or_default()
}

/// The connections of a recording, each at its time, over and over.
///
/// On a path where answers take longer than in the recording, there are never more connections at once than the recording
/// has where answers take no time: the next one waits until another has closed.
#[derive(Debug)]
pub(super) struct Replayed {
    all: Arc<[Vector]>,
    period: Nanos,
    /// By flow.
    places: Vec<Option<Running>>,
    due: BinaryHeap<Reverse<(Nanos, u32)>>,
    /// Connections that have begun.
    begun: usize,
    /// When a connection closed last.
    freed: Nanos,
    armed: Option<Nanos>,
}

/// A connection that has begun.
#[derive(Debug)]
struct Running {
    vector: usize,
    /// The step that follows.
    step: usize,
    unanswered: u32,
}

impl Replayed {
    /// In the order of the starts of connections.
    pub(super) fn new(all: Arc<[Vector]>) -> Self {
        let places = std::iter::repeat_with(|| None).take(most_at_once(&all)).collect();
        let period = period(&all);
        let (due, freed, armed) = (BinaryHeap::new(), Nanos::ZERO, None);
        Self { all, period, places, due, begun: 0, freed, armed }
    }

    /// The place and the time of the connection that begins next; `None` while all places are taken.
    fn next(&self) -> Option<(usize, Nanos)> {
        let place = self.places.iter().position(Option::is_none)?;
        let passes = (self.begun / self.all.len()) as u64;
        let start = self.all[self.begun % self.all.len()].start;
        let begins = Nanos::new(self.period.count().saturating_mul(passes));
        Some((place, begins.saturating_add(start).max(self.freed)))
    }

    /// Does all that is due by now, in the order of time.
    fn catch_up(&mut self, now: Nanos, actions: &mut Vec<Action>) {
        loop {
            let next = self.next().filter(|(_, at)| *at <= now);
            let due = self.due.peek().map(|Reverse(due)| *due).filter(|(at, _)| *at <= now);
            match (due, next) {
                (Some((at, flow)), next) if next.is_none_or(|(_, begins)| at <= begins) => {
                    self.due.pop();
                    self.step(flow, at, actions);
                }
                (_, Some((place, at))) => self.begin(place, at),
                _ => return,
            }
        }
    }

    fn begin(&mut self, place: usize, at: Nanos) {
        let vector = self.begun % self.all.len();
        self.begun += 1;
        self.places[place] = Some(Running { vector, step: 0, unanswered: 0 });
        self.plan(place, at);
    }

    /// The next step of the connection in a place follows what was at this time.
    fn plan(&mut self, place: usize, at: Nanos) {
        let Some(one) = &self.places[place] else { return };
        let next = self.all[one.vector].steps.get(one.step);
        if let Some((step, flow)) = next.zip(u32::try_from(place).ok()) {
            self.due.push(Reverse((at.saturating_add(step.after), flow)));
        }
    }

    fn step(&mut self, flow: u32, at: Nanos, actions: &mut Vec<Action>) {
        let place = flow as usize;
        let Some(one) = &mut self.places[place] else { return };
        let vector = &self.all[one.vector];
        let ask = vector.steps.get(one.step).and_then(|step| step.ask);
        one.step += 1;
        let Some((request, answer)) = ask else { return self.close(flow, at, actions) };
        one.unanswered += 1;
        actions.push(Action::Ask { flow, request, answer });
        if !vector.waits {
            self.plan(place, at);
        }
    }

    fn answered(&mut self, flow: u32, now: Nanos, actions: &mut Vec<Action>) {
        let place = flow as usize;
        let Some(one) = self.places.get_mut(place).and_then(Option::as_mut) else { return };
        one.unanswered = one.unanswered.saturating_sub(1);
        let vector = &self.all[one.vector];
        if one.step == vector.steps.len() {
            self.close(flow, now, actions);
        } else if vector.waits {
            self.plan(place, now);
        }
    }

    /// Closes a connection, unless an answer has yet to come: that closes it then.
    fn close(&mut self, flow: u32, at: Nanos, actions: &mut Vec<Action>) {
        let place = &mut self.places[flow as usize];
        if place.as_ref().is_some_and(|one| one.unanswered == 0) {
            *place = None;
            self.freed = self.freed.max(at);
            actions.push(Action::Close { flow });
        }
    }

    fn arm(&mut self, now: Nanos, actions: &mut Vec<Action>) {
        let due = self.due.peek().map(|Reverse((at, _))| *at);
        let Some(until) = due.into_iter().chain(self.next().map(|(_, at)| at)).min() else {
            return;
        };
        let until = until.max(now);
        if self.armed != Some(until) {
            self.armed = Some(until);
            actions.push(Action::Wait { until });
        }
    }
}

impl Closed for Replayed {
    fn on(&mut self, now: Nanos, event: Event, actions: &mut Vec<Action>) {
        match event {
            Event::Answered { flow } => self.answered(flow, now, actions),
            Event::Start | Event::Timer => {
                self.armed = None;
                self.catch_up(now, actions);
            }
        }
        self.arm(now, actions);
    }
}

/// The most connections of a recording at once where answers take no time, one at least.
fn most_at_once(all: &[Vector]) -> usize {
    let mut ends = BinaryHeap::new();
    let mut most = 1;
    for vector in all {
        while ends.peek().is_some_and(|Reverse(end)| *end < vector.start) {
            ends.pop();
        }
        ends.push(Reverse(vector.end()));
        most = most.max(ends.len());
    }
    most
}

#[cfg(test)]
mod tests;
