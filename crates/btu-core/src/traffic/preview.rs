//! A train in virtual time, for pictures, samples and checks: answers take no time, and nothing holds media back.

use std::collections::BTreeSet;

use crate::stats::Sorted;
use crate::units::BitRate;
use crate::units::Bytes;
use crate::units::Nanos;

use super::chance::Streams;
use super::train::Action;
use super::train::Arrival;
use super::train::Closed;
use super::train::Direction;
use super::train::Open;
use super::train::Timeline;
use super::train::Train;
use super::train::converse;
use crate::traffic::language::call::Call;
use crate::traffic::language::quantity::float;

/// One message of a train.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// When it is due.
    pub at: Nanos,
    /// How much.
    pub bytes: Bytes,
    /// On which flow.
    pub flow: u32,
    /// Which way.
    pub direction: Direction,
}

/// What a train looked like, in one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Messages.
    pub messages: usize,
    /// Over the time that was looked at.
    pub mean: BitRate,
    /// The most that was due within 10 ms.
    pub peak: BitRate,
    /// Quantiles of the sizes at 5, 50, 95, 99 %, in bytes.
    pub sizes: [f64; 4],
    /// Quantiles of the gaps at 5, 50, 95, 99 %, in nanoseconds.
    pub gaps: [f64; 4],
}

/// The messages of a test in virtual time: until `end`, or until so many. None for a sink.
pub fn preview(call: &Call, streams: &Streams, end: Nanos, most: usize) -> Vec<Message> {
    match call.train(streams) {
        None => Vec::new(),
        Some(Train::Open(train)) => scheduled(train, end, most),
        Some(Train::Media(media)) => scheduled(media.unhindered, end, most),
        Some(Train::Closed(mut train)) => {
            let done = converse(&mut *train, Nanos::ZERO, end, most);
            done.into_iter().flat_map(|(at, action)| both(at, action)).collect()
        }
    }
}

fn scheduled(train: Box<dyn Open>, end: Nanos, most: usize) -> Vec<Message> {
    let until = Timeline::new(train).take_while(|(at, _)| *at <= end);
    until.take(most).map(|(at, arrival)| message(at, arrival)).collect()
}

/// The most connections that a conversation has at once until `end`. Answers take no time here: where they
/// do, it comes less far in what it draws, and never has more.
pub fn connections(train: &mut dyn Closed, end: Nanos) -> usize {
    let (mut open, mut most) = (BTreeSet::new(), 0);
    for (_, action) in converse(train, Nanos::ZERO, end, LOOKED_AT) {
        match action {
            Action::Ask { flow, .. } => open.insert(flow),
            Action::Close { flow } => open.remove(&flow),
            Action::Done | Action::Wait { .. } => continue,
        };
        most = most.max(open.len());
    }
    most
}

/// What `messages` look like one way, over a time.
pub fn summary(messages: &[Message], direction: Direction, time: Nanos) -> Option<Summary> {
    let one_way: Vec<&Message> = messages.iter().filter(|m| m.direction == direction).collect();
    let total: Bytes = one_way.iter().map(|message| message.bytes).sum();
    let sizes: Vec<f64> = one_way.iter().map(|m| float(m.bytes.count())).collect();
    let pairs = one_way.windows(2);
    let gaps: Vec<f64> = pairs.map(|pair| float(pair[1].at.since(pair[0].at).count())).collect();
    (!one_way.is_empty()).then(|| Summary {
        messages: one_way.len(),
        mean: total.per(time).unwrap_or_default(),
        peak: peak(&one_way),
        sizes: quantiles(sizes),
        gaps: quantiles(gaps),
    })
}

/// The most that is due within 10 ms, as a rate.
fn peak(messages: &[&Message]) -> BitRate {
    let (mut first, mut inside, mut most) = (0, 0, 0);
    for message in messages {
        inside += message.bytes.count();
        while message.at.since(messages[first].at) >= WINDOW {
            inside -= messages[first].bytes.count();
            first += 1;
        }
        most = most.max(inside);
    }
    Bytes::new(most).per(WINDOW).unwrap_or_default()
}

/// The quantiles at 5, 50, 95 and 99 %; zeros for no values.
fn quantiles(values: Vec<f64>) -> [f64; 4] {
    let sorted = Sorted::new(values);
    [0.05, 0.5, 0.95, 0.99].map(|share| sorted.as_ref().map_or(0.0, |sorted| sorted.at(share)))
}

pub(super) const fn message(at: Nanos, arrival: Arrival) -> Message {
    let Arrival { bytes, flow, direction, .. } = arrival;
    Message { at, bytes, flow, direction }
}

/// A request and its answer.
fn both(at: Nanos, action: Action) -> Vec<Message> {
    let Action::Ask { flow, request, answer } = action else { return Vec::new() };
    let forward = Message { at, bytes: request, flow, direction: Direction::Forward };
    let back = Message { bytes: answer, direction: Direction::Backward, ..forward };
    [forward, back].into_iter().filter(|message| !message.bytes.is_empty()).collect()
}

const WINDOW: Nanos = Nanos::from_millis(10);
/// Actions of a conversation of which connections are counted.
const LOOKED_AT: usize = 1 << 17;
