//! Trains: what a test sends and when, in virtual time. An engine only carries them out.
//!
//! A train draws from the streams of its test alone, so that the same seed gives the same train on
//! every host: each end of a connection runs the train and carries out its own direction.

mod basic;
mod page;
mod renewal;
mod sessions;

use std::collections::BTreeMap;

use crate::stats;
use crate::traffic::sending::media::Media;
use crate::units::Bytes;
use crate::units::Nanos;

pub(super) use basic::Bursts;
pub(super) use page::Conversation;
pub(super) use page::Script;
pub(super) use page::Step;
pub(super) use renewal::Periodic;
pub(super) use renewal::Renewal;
pub(super) use renewal::merge;
pub(super) use sessions::Sessions;

/// Which way an amount of data goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// From the test's `from` to its `to`; where a model says down, this is it.
    Forward,
    /// Back, such as the input of a player; where a model says up, this is it.
    Backward,
}

/// What an open-loop train sends next, whatever became of what it sent before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The time since the arrival before; of the first one, since the start.
    pub gap: Nanos,
    /// How much is due.
    pub bytes: Bytes,
    /// Which of the train's flows, counted from 0.
    pub flow: u32,
    /// Which way.
    pub direction: Direction,
}

/// A train without feedback.
pub trait Open: std::fmt::Debug + Send {
    /// The next arrival; `None` where the train has an end of its own.
    fn next(&mut self) -> Option<Arrival>;
}

/// A train that waits for answers.
///
/// The end at the test's `from` runs it. An engine calls [`Closed::on`] with [`Event::Start`], does
/// what was pushed, and calls again for each thing that happened.
pub trait Closed: std::fmt::Debug + Send {
    /// What to do now that `event` has happened; actions are carried out in their order.
    ///
    /// `now` is the time of the event and not that of the call: of a start zero, of a timer what was waited for, of
    /// an answer when it was read. So an engine that is late makes nothing later that follows, and what is asked
    /// is due at `now`. A late timer can be told after an answer that was read later than it was due.
    fn on(&mut self, now: Nanos, event: Event, actions: &mut Vec<Action>);

    /// What the user of the application noticed until now, such as `page load p95` in seconds. What is not
    /// finished by `now` is noticed as well: whoever waits for the slowest page has not seen it.
    fn noticed(&self, _now: Nanos) -> Vec<Noticed> {
        Vec::new()
    }

    /// The largest segment of its TCP connections, where its source gives one and nobody else does; `None` leaves it to
    /// the transport.
    fn segment(&self) -> Option<Bytes> {
        None
    }
}

/// A figure that the user of an application notices.
#[derive(Clone, Debug, PartialEq)]
pub struct Noticed {
    /// What it is, with its unit: `page load p50, s`.
    pub name: &'static str,
    /// The figure.
    pub value: f64,
}

impl Noticed {
    /// A percentile of times, in seconds. One that is not over yet counts where it has lasted longer than the
    /// percentile of the others; then it is told by the second name, as a lower bound.
    pub(super) fn percentile(
        [name, at_least]: [&'static str; 2],
        share: f64,
        over: &[f64],
        lasts: Option<f64>,
    ) -> Option<Self> {
        let known = stats::quantile(over, share);
        let longer = lasts.filter(|lasts| known.is_none_or(|known| *lasts > known));
        match longer {
            None => Some(Self { name, value: known? }),
            Some(lasts) => {
                let all: Vec<f64> = over.iter().copied().chain([lasts]).collect();
                Some(Self { name: at_least, value: stats::quantile(&all, share)? })
            }
        }
    }
}

/// What happened to a closed-loop train.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The last byte of the answer to the oldest request of the flow has been read.
    Answered {
        /// The flow.
        flow: u32,
    },
    /// The train begins.
    Start,
    /// The time that was waited for has come.
    Timer,
}

/// What a closed-loop train wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send `request`, which asks the other end for `answer` bytes. An answer of no bytes is
    /// complete when the other end has read the request. Requests of a flow are answered in order.
    Ask {
        /// The flow.
        flow: u32,
        /// Bytes forward.
        request: Bytes,
        /// Bytes back.
        answer: Bytes,
    },
    /// Close a flow's connection; opened again by its next request.
    Close {
        /// The flow.
        flow: u32,
    },
    /// The train has an end of its own: nothing follows.
    Done,
    /// Call with [`Event::Timer`] at this time, and say this time; a later wait replaces an earlier one.
    Wait {
        /// When.
        until: Nanos,
    },
}

/// What a test sends.
#[derive(Debug)]
pub enum Train {
    /// Waits for answers.
    Closed(Box<dyn Closed>),
    /// Follows what its receiver reports.
    Media(Box<Media>),
    /// Does not.
    Open(Box<dyn Open>),
}

/// The arrivals of an open-loop train on an absolute schedule: arrival k is due at the sum of the
/// gaps up to it, whatever the writes before took.
#[derive(Debug)]
pub struct Timeline {
    train: Box<dyn Open>,
    at: Nanos,
}

impl Timeline {
    /// The schedule of a train, from zero.
    pub fn new(train: Box<dyn Open>) -> Self {
        Self { train, at: Nanos::ZERO }
    }
}

impl Iterator for Timeline {
    type Item = (Nanos, Arrival);

    fn next(&mut self) -> Option<(Nanos, Arrival)> {
        let arrival = self.train.next()?;
        self.at = self.at.saturating_add(arrival.gap);
        Some((self.at, arrival))
    }
}

/// What a closed-loop train does in virtual time, where each answer comes `delay` after its request:
/// until `end`, or until so many actions.
pub fn converse(
    train: &mut dyn Closed,
    delay: Nanos,
    end: Nanos,
    most: usize,
) -> Vec<(Nanos, Action)> {
    let mut done = Vec::new();
    let mut waiting = BTreeMap::from([((Nanos::ZERO, 0), Event::Start)]);
    let (mut timer, mut order) = (None, 0_u64);
    let mut actions = Vec::new();
    while let Some(((now, number), event)) = waiting.pop_first() {
        if now > end || done.len() >= most {
            break;
        }
        if event == Event::Timer && timer != Some(number) {
            continue;
        }
        train.on(now, event, &mut actions);
        for action in actions.drain(..) {
            order += 1;
            match action {
                Action::Ask { flow, .. } => {
                    waiting.insert((now.saturating_add(delay), order), Event::Answered { flow });
                }
                Action::Wait { until } => {
                    timer = Some(order);
                    waiting.insert((until.max(now), order), Event::Timer);
                }
                Action::Close { .. } => {}
                Action::Done => waiting.clear(),
            }
            done.push((now, action));
        }
    }
    done
}
