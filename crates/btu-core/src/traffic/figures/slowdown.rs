//! The slowdown of messages by their size: the delay of each over the least of any that was as large or larger.

use serde::Deserialize;
use serde::Serialize;

use crate::stats;
use crate::traffic::sending::burst::Fate;
use crate::traffic::trace::Trace;
use crate::traffic::trace::float;
use crate::units::Bytes;
use crate::units::Nanos;

/// A message that was read whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its bytes; of an exchange those of request and answer together.
    pub size: Bytes,
    /// From when it was due to when its last byte was read.
    pub delay: Nanos,
}

/// The slowdown of messages of about one size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Slowdown {
    /// The largest size that belongs here: a power of ten. The smallest is above the tenth of it.
    pub up_to_bytes: Bytes,
    /// Messages that were read whole.
    pub messages: u64,
    /// Median.
    pub p50: f64,
    /// 99th percentile; `None` below a hundred messages.
    pub p99: Option<f64>,
}

/// The messages of a flow that were read whole; none of a stream that always has more.
pub fn messages(trace: &Trace) -> Vec<Message> {
    let blocks = trace.blocks.iter().zip(&trace.read_times).filter(|_| !trace.endless);
    let whole = blocks.filter(|(block, _)| block.fate == Fate::Sent);
    whole
        .filter_map(|(block, read)| {
            let delay = read.as_ref()?.last.since(trace.arrival(block)?);
            Some(Message { size: block.size, delay })
        })
        .collect()
}

/// By powers of ten of the size, smallest first; nothing where all messages are of one size.
///
/// What a message takes on an idle path grows with its size, so it is no more than the least delay among all
/// messages that are at least as large: that stands below the fraction, and a slowdown is at least what is said.
/// Messages larger than almost all others have few to be compared with.
///
/// The measure that Homa was judged by (Montazeri et al., SIGCOMM 2018), where an idle network tells the least delay.
pub fn by_size(messages: impl IntoIterator<Item = Message>) -> Vec<Slowdown> {
    let mut messages: Vec<Message> = messages.into_iter().collect();
    messages.sort_unstable_by_key(|message| message.size);
    if messages.first().map(|one| one.size) == messages.last().map(|one| one.size) {
        return Vec::new();
    }
    let mut least = vec![Nanos::ZERO; messages.len()];
    let mut known = Nanos::MAX;
    // From the largest on; of one size together.
    for same in messages.chunk_by(|a, b| a.size == b.size).rev() {
        known = same.iter().map(|message| message.delay).fold(known, Nanos::min);
        let from = messages.partition_point(|message| message.size < same[0].size);
        least[from..from + same.len()].fill(known);
    }
    let timed: Vec<(Message, Nanos)> = messages.into_iter().zip(least).collect();
    timed.chunk_by(|a, b| band(a.0.size) == band(b.0.size)).filter_map(slowdown).collect()
}

fn slowdown(messages: &[(Message, Nanos)]) -> Option<Slowdown> {
    // A clock that shows the same twice shows no more than a nanosecond.
    let over = |(message, least): &(Message, Nanos)| {
        float(message.delay.count().max(1)) / float(least.count().max(1))
    };
    let over: Vec<f64> = messages.iter().map(over).collect();
    let (first, _) = messages.first()?;
    Some(Slowdown {
        up_to_bytes: band(first.size),
        messages: u64::try_from(over.len()).unwrap_or(u64::MAX),
        p50: stats::quantile(&over, 0.5)?,
        p99: stats::quantile(&over, 0.99).filter(|_| over.len() >= LEAST_FOR_P99),
    })
}

/// The power of ten that a size is at most.
fn band(size: Bytes) -> Bytes {
    let powers = (0..20).map(|power| 10_u64.saturating_pow(power));
    Bytes::new(powers.into_iter().find(|most| size.count() <= *most).unwrap_or(u64::MAX))
}

/// Below so many messages the 99th percentile is the largest one.
const LEAST_FOR_P99: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    fn message(size: u64, micros: u64) -> Message {
        Message { size: Bytes::new(size), delay: Nanos::from_micros(micros) }
    }

    /// 80 B take 10 us at the least, and 5 kB 40 us; a large message was lucky once and bounds the small ones, too.
    #[test]
    fn a_message_is_compared_with_the_quickest_that_is_at_least_as_large() {
        let all = [(80, 30), (80, 10), (90, 20), (5_000, 120), (4_000, 40), (6_000, 80)];
        let found = by_size(all.map(|(size, micros)| message(size, micros)));
        let told: Vec<(u64, u64, f64)> =
            found.iter().map(|one| (one.up_to_bytes.count(), one.messages, one.p50)).collect();
        // 30/10, 10/10, 20/20; 40/40, 120/80, 80/80.
        assert_eq!(told, [(100, 3, 1.0), (10_000, 3, 1.0)]);
        assert!(found.iter().all(|one| one.p99.is_none()));
        let slow = by_size([(100, 50), (100, 10), (1_000, 5)].map(|(s, t)| message(s, t)));
        assert!((slow[0].p50 - 6.0).abs() < 1e-12, "{slow:?}");
    }

    /// An idle line of 1 Mb/s with 1 ms on the way slows nothing; where every fourth message waits as long again, its
    /// 99th percentile is 2.
    #[test]
    fn a_line_that_nobody_else_uses_slows_nothing() {
        let idle = |size: u64| 1_000 + 8 * size;
        let sizes = || (0..4_000_u64).map(|k| 50 + k * 7_919 % 9_000);
        let quick = by_size(sizes().map(|size| message(size, idle(size))));
        assert_eq!(
            quick.iter().map(|one| one.up_to_bytes.count()).collect::<Vec<_>>(),
            [100, 1_000, 10_000]
        );
        for one in &quick {
            let largest = one.p99.unwrap_or(one.p50);
            assert!((one.p50 - 1.0).abs() < 1e-12 && largest < 1.001, "{one:?}");
        }
        let busy = (0..).zip(sizes()).map(|(k, size)| {
            let times = if k % 4 == 0 { 2 } else { 1 };
            message(size, times * idle(size))
        });
        let slow = by_size(busy);
        let p99 = slow[2].p99.unwrap();
        assert!((1.95..=2.01).contains(&p99) && (slow[2].p50 - 1.0).abs() < 0.01, "{slow:?}");
    }

    #[test]
    fn messages_of_one_size_have_no_slowdown_by_size() {
        assert_eq!(by_size([message(100, 5), message(100, 9)]), []);
        assert_eq!(by_size([]), []);
        let seen = by_size((0..200).map(|k| message(10 + k % 2, 10 + k % 10)));
        assert_eq!(seen[0].messages, 100);
        assert_eq!(band(Bytes::new(100)), Bytes::new(100));
        assert_eq!(band(Bytes::new(101)), Bytes::new(1_000));
    }
}
