//! Sessions that begin at random times, each with a train of its own.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;

use super::Arrival;
use super::Open;
use crate::traffic::chance::Stream;
use crate::traffic::chance::Streams;
use crate::traffic::language::quantity::float;
use crate::traffic::language::quantity::whole;
use crate::traffic::law::Law;
use crate::units::Nanos;

/// Makes the train of a session from streams of its own.
type Make = Box<dyn Fn(&Streams) -> Box<dyn Open> + Send>;

/// The arrivals of all sessions in order of time; the flow is the session's place.
pub(in crate::traffic) struct Sessions {
    between: (Law, Stream),
    make: Make,
    streams: Streams,
    born: u64,
    next_birth: Nanos,
    places: Vec<Option<(Arrival, Box<dyn Open>)>>,
    due: BinaryHeap<Reverse<(Nanos, usize)>>,
    at: Nanos,
}

impl Sessions {
    pub(in crate::traffic) fn new(streams: &Streams, between: Law, make: Make) -> Self {
        let mut stream = streams.stream("session");
        let next_birth = Nanos::new(whole(between.sample(&mut stream)));
        Self {
            between: (between, stream),
            make,
            streams: streams.clone(),
            born: 0,
            next_birth,
            places: Vec::new(),
            due: BinaryHeap::new(),
            at: Nanos::ZERO,
        }
    }

    /// Starts every session that begins before the next arrival.
    fn bear(&mut self) {
        while self.due.peek().is_none_or(|Reverse((due, _))| self.next_birth <= *due) {
            let (begins, mut train) = self.birth();
            if let Some(first) = train.next() {
                let at = begins.saturating_add(first.gap);
                let free = self.places.iter().position(Option::is_none);
                let place = free.unwrap_or_else(|| {
                    self.places.push(None);
                    self.places.len() - 1
                });
                self.places[place] = Some((first, train));
                self.due.push(Reverse((at, place)));
            }
        }
    }

    /// When the next session begins, and its train.
    pub(in crate::traffic) fn birth(&mut self) -> (Nanos, Box<dyn Open>) {
        let train = (self.make)(&self.streams.part(self.born));
        self.born += 1;
        let gap = whole(self.between.0.sample(&mut self.between.1)).max(1);
        let next = self.next_birth.saturating_add(Nanos::new(gap));
        (std::mem::replace(&mut self.next_birth, next), train)
    }

    /// The times between so many sessions and those before them, in nanoseconds.
    pub(in crate::traffic) fn gaps(mut self, count: usize) -> Vec<f64> {
        let mut before = self.birth().0;
        let gap = |_| {
            let begins = self.birth().0;
            float(begins.since(std::mem::replace(&mut before, begins)).count())
        };
        (0..count).map(gap).collect()
    }
}

impl Open for Sessions {
    fn next(&mut self) -> Option<Arrival> {
        self.bear();
        let Reverse((due, place)) = self.due.pop()?;
        let (arrival, mut train) = self.places.get_mut(place)?.take()?;
        if let Some(next) = train.next() {
            self.due.push(Reverse((due.saturating_add(next.gap), place)));
            self.places[place] = Some((next, train));
        }
        let gap = due.since(self.at);
        self.at = due;
        let flow = u32::try_from(place).unwrap_or(u32::MAX);
        Some(Arrival { gap, flow, ..arrival })
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Sessions").field("born", &self.born).finish_non_exhaustive()
    }
}
