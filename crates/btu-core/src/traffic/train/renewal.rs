//! Trains of independent gaps and sizes, and several trains as one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Arrival;
use super::Direction;
use super::Open;
use crate::traffic::chance::Stream;
use crate::traffic::chance::Streams;
use crate::traffic::language::quantity::whole;
use crate::traffic::law::Law;
use crate::units::Bytes;
use crate::units::Nanos;

/// A gap, then a message: both drawn anew each time.
#[derive(Debug)]
pub(in crate::traffic) struct Renewal {
    gap: (Law, Stream),
    size: (Law, Stream),
    direction: Direction,
}

/// Trains side by side: the arrivals of all in order of time.
#[derive(Debug)]
struct Merged {
    trains: Vec<(Arrival, Box<dyn Open>)>,
    /// When the next arrival of each train is due.
    due: BinaryHeap<Reverse<(Nanos, usize)>>,
    at: Nanos,
}

impl Renewal {
    pub(in crate::traffic) fn new(
        streams: &Streams,
        direction: Direction,
        gap: Law,
        size: Law,
    ) -> Self {
        let way = match direction {
            Direction::Forward => "down",
            Direction::Backward => "up",
        };
        let stream = |what: &str| streams.stream(&format!("{way} {what}"));
        Self { gap: (gap, stream("gap")), size: (size, stream("size")), direction }
    }
}

/// Messages of any sizes at one period, the first one after a part of it.
#[derive(Debug)]
pub(in crate::traffic) struct Periodic {
    period: Nanos,
    first: Option<Nanos>,
    flow: u32,
    size: (Law, Stream),
}

impl Periodic {
    pub(in crate::traffic) fn new(
        period: Nanos,
        first: Nanos,
        flow: u32,
        size: (Law, Stream),
    ) -> Self {
        Self { period, first: Some(first), flow, size }
    }
}

impl Open for Periodic {
    fn next(&mut self) -> Option<Arrival> {
        let gap = self.first.take().unwrap_or(self.period);
        let bytes = Bytes::new(whole(self.size.0.sample(&mut self.size.1)).max(1));
        Some(Arrival { gap, bytes, flow: self.flow, direction: Direction::Forward })
    }
}

impl Open for Renewal {
    fn next(&mut self) -> Option<Arrival> {
        let gap = Nanos::new(whole(self.gap.0.sample(&mut self.gap.1)));
        let bytes = Bytes::new(whole(self.size.0.sample(&mut self.size.1)).max(1));
        Some(Arrival { gap, bytes, flow: 0, direction: self.direction })
    }
}

/// All trains as one; of two arrivals at one time the earlier train's comes first.
pub(in crate::traffic) fn merge(trains: Vec<Box<dyn Open>>) -> Box<dyn Open> {
    let begun = trains.into_iter().filter_map(|mut train| Some((train.next()?, train)));
    let trains: Vec<(Arrival, Box<dyn Open>)> = begun.collect();
    let due = trains.iter().enumerate().map(|(index, (first, _))| Reverse((first.gap, index)));
    Box::new(Merged { due: due.collect(), trains, at: Nanos::ZERO })
}

impl Open for Merged {
    fn next(&mut self) -> Option<Arrival> {
        let Reverse((due, index)) = self.due.pop()?;
        let (arrival, train) = self.trains.get_mut(index)?;
        let found = Arrival { gap: due.since(self.at), ..*arrival };
        self.at = due;
        if let Some(next) = train.next() {
            *arrival = next;
            self.due.push(Reverse((due.saturating_add(next.gap), index)));
        }
        Some(found)
    }
}
