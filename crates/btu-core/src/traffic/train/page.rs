//! Closed-loop trains as a script of steps: ask, think, ask ...

use std::collections::VecDeque;

use super::Action;
use super::Closed;
use super::Event;
use super::Noticed;
use crate::units::Bytes;
use crate::units::Nanos;

/// One step of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::traffic) enum Step {
    /// Ask on these flows at once, and go on when all are answered: (flow, request, answer).
    Ask(Vec<(u32, Bytes, Bytes)>),
    /// Ask one after another, so many at a time on so many flows, until all are answered.
    Pool(u32, Vec<(Bytes, Bytes)>),
    /// Close these flows.
    Close(u32),
    /// Do nothing for a time.
    Think(Nanos),
}

/// What invents the steps of a conversation.
pub(in crate::traffic) trait Script: std::fmt::Debug + Send {
    /// The next steps; none ends the conversation. `elapsed` is how long the last ones took.
    fn more(&mut self, elapsed: Nanos, steps: &mut VecDeque<Step>);

    /// What the user of the application noticed, when the last steps have taken so long.
    fn noticed(&self, _elapsed: Nanos) -> Vec<Noticed> {
        Vec::new()
    }

    /// As [`Closed::segment`].
    fn segment(&self) -> Option<Bytes> {
        None
    }
}

/// A script that is carried out.
#[derive(Debug)]
pub(in crate::traffic) struct Conversation {
    script: Box<dyn Script>,
    steps: VecDeque<Step>,
    pool: VecDeque<(Bytes, Bytes)>,
    open: u32,
    since: Nanos,
}

impl Conversation {
    pub(in crate::traffic) fn new(script: Box<dyn Script>) -> Self {
        let (steps, pool) = (VecDeque::new(), VecDeque::new());
        Self { script, steps, pool, open: 0, since: Nanos::ZERO }
    }

    /// Carries out steps until one has to wait.
    fn advance(&mut self, now: Nanos, actions: &mut Vec<Action>) {
        while self.open == 0 {
            if self.steps.is_empty() {
                self.script.more(now.since(self.since), &mut self.steps);
                self.since = now;
            }
            match self.steps.pop_front() {
                None => return actions.push(Action::Done),
                Some(Step::Think(time)) => {
                    return actions.push(Action::Wait { until: now.saturating_add(time) });
                }
                Some(Step::Close(flow)) => actions.push(Action::Close { flow }),
                Some(Step::Ask(requests)) => {
                    for (flow, request, answer) in requests {
                        self.ask((flow, request, answer), actions);
                    }
                }
                Some(Step::Pool(flows, requests)) => {
                    self.pool = requests.into();
                    for flow in 0..flows {
                        self.next_of_pool(flow, actions);
                    }
                }
            }
        }
    }

    fn ask(&mut self, (flow, request, answer): (u32, Bytes, Bytes), actions: &mut Vec<Action>) {
        self.open += 1;
        actions.push(Action::Ask { flow, request, answer });
    }

    fn next_of_pool(&mut self, flow: u32, actions: &mut Vec<Action>) {
        if let Some((request, answer)) = self.pool.pop_front() {
            self.ask((flow, request, answer), actions);
        }
    }
}

impl Closed for Conversation {
    fn on(&mut self, now: Nanos, event: Event, actions: &mut Vec<Action>) {
        if let Event::Answered { flow } = event {
            self.open = self.open.saturating_sub(1);
            self.next_of_pool(flow, actions);
            if self.open > 0 {
                return;
            }
        }
        self.advance(now, actions);
    }

    fn noticed(&self, now: Nanos) -> Vec<Noticed> {
        self.script.noticed(now.since(self.since))
    }

    fn segment(&self) -> Option<Bytes> {
        self.script.segment()
    }
}
