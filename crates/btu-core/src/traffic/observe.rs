//! Values of a train for the claims of its model.

use super::chance::Streams;
use super::preview::Message;
use super::preview::message;
use super::preview::preview;
use super::train::Direction;
use super::train::Open;
use super::train::Timeline;
use super::train::Train;
use crate::traffic::language::call::Call;
use crate::traffic::language::quantity::float;
use crate::units::Nanos;

/// The messages of one direction, at least `count` if the train has as many.
fn one_way(call: &Call, streams: &Streams, direction: Direction, count: usize) -> Vec<Message> {
    let of_way = |message: &Message| message.direction == direction;
    let scheduled = match call.train(streams) {
        Some(Train::Open(train)) => Some(train),
        Some(Train::Media(media)) => Some(media.unhindered),
        Some(Train::Closed(_)) | None => None,
    };
    if let Some(train) = scheduled {
        let all = Timeline::new(train).take(SELDOM * count);
        return all.map(|(at, arrival)| message(at, arrival)).filter(of_way).take(count).collect();
    }
    // A pause follows each question at the most.
    let all = preview(call, streams, Nanos::MAX, 2 * count);
    all.into_iter().filter(of_way).take(count).collect()
}

/// The sizes of so many messages of a part of a train, in bytes.
pub(super) fn sizes_of(mut part: impl Open, count: usize) -> Vec<f64> {
    let arrivals = std::iter::from_fn(|| part.next());
    arrivals.take(count).map(|arrival| float(arrival.bytes.count())).collect()
}

/// The sizes of the messages of one direction, in bytes.
pub(super) fn sizes(
    call: &Call,
    streams: &Streams,
    direction: Direction,
    count: usize,
) -> Vec<f64> {
    let messages = one_way(call, streams, direction, count);
    messages.iter().map(|message| float(message.bytes.count())).collect()
}

/// The gaps between the messages of one direction, in nanoseconds.
pub(super) fn gaps(call: &Call, streams: &Streams, direction: Direction, count: usize) -> Vec<f64> {
    let messages = one_way(call, streams, direction, count + 1);
    messages.windows(2).map(|pair| float(pair[1].at.since(pair[0].at).count())).collect()
}

/// The sums of what is due at the same instant, in bytes: the frames of a train of packets.
pub(super) fn frames(
    call: &Call,
    streams: &Streams,
    direction: Direction,
    count: usize,
) -> Vec<f64> {
    let messages = one_way(call, streams, direction, 40 * count);
    let frames = messages.chunk_by(|a, b| a.at == b.at);
    let sum = |frame: &[Message]| frame.iter().map(|m| float(m.bytes.count())).sum();
    // The last one may be cut off.
    let mut sums: Vec<f64> = frames.map(sum).collect();
    sums.pop();
    sums.truncate(count);
    sums
}

/// Messages of an open train among which each direction has one at least.
const SELDOM: usize = 100;
