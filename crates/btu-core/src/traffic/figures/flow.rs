//! The figures of one flow: rates, Little's queue and delay, exact delays, loss, the pacer's own error.

mod delays;
mod pacing;
mod receipts;

use serde::Deserialize;
use serde::Serialize;

use crate::traffic::sending::burst::BlockRecord;
use crate::traffic::sending::burst::Fate;
use crate::traffic::trace::Trace;
use crate::traffic::trace::float;
use crate::units::Bytes;
use crate::units::Nanos;

pub use delays::Delays;
pub use pacing::Pacing;
pub use receipts::ReceiptDelays;
pub use receipts::Receipts;

/// Everything that is said of one flow by itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// What became of the blocks.
    pub blocks: BlockCounts,
    /// A(T): bytes that arrived at the transport's door within the duration.
    pub arrived_bytes: Bytes,
    /// Of A(T), bytes of datagrams that never came. Zero in results that are older than this key.
    #[serde(default)]
    pub lost_bytes: Bytes,
    /// D(T): bytes that the receiving user had read at the end of the duration.
    pub departed_bytes: Bytes,
    /// Bytes that the receiving user read in all, what was drained after the duration included.
    pub delivered_bytes: Bytes,
    /// a = A(T) / T, bit/s.
    pub arrival_rate_bit_s: f64,
    /// d = D(T) / T, bit/s.
    pub departure_rate_bit_s: f64,
    /// D(T + w) / T, bit/s, with the least w that a byte took: what the path carries of a, with what was under
    /// way at T for no other reason than the length of the path. Of a full stream (D(T + w) - D(w)) / T, with its
    /// first read at w. `None` in results that are older than this key.
    #[serde(default)]
    pub carried_rate_bit_s: Option<f64>,
    /// a / d, the utilisation of the paper; can exceed 1.
    pub offered_ratio: Option<f64>,
    /// The mean of A(t) - D(t) over the duration, bytes, A without what was lost on the way: that waits for
    /// nobody. `None` for a full stream, whose queue is as long as it likes, and where nothing came.
    pub mean_queue_bytes: Option<f64>,
    /// Mean queue over the duration, by the arrival rate of the same bytes: Little's formula as the paper
    /// uses it, seconds.
    pub window_delay_s: Option<f64>,
    /// The same until the queue was empty, which is exact: the mean delay of a byte, seconds.
    pub drained_delay_s: Option<f64>,
    /// Of whole blocks, from due (queued) or start (unqueued) to the read of the last byte.
    pub delay: Option<Delays>,
    /// The 99th percentile of delays, where a block that nobody has read counts with the time for which it had waited
    /// at T: no less than this, seconds. What was lost on the way is not among them.
    #[serde(default)]
    pub delay_p99_at_least_s: Option<f64>,
    /// Of datagrams; `None` for a stream.
    pub loss: Option<Loss>,
    /// How well the sender kept to its schedule, or the asker of a conversation to the times of its model; `None`
    /// without any.
    pub pacing: Option<Pacing>,
    /// From the start of the first block to that of the last, seconds; `None` below two.
    pub spread_s: Option<f64>,
    /// Of receipts that the receiver sent of blocks; `None` where none were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipts: Option<Receipts>,
}

/// What became of the blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockCounts {
    /// Fell due.
    pub due: u64,
    /// Taken whole by the transport.
    pub sent: u64,
    /// Not sent, because an earlier one was unfinished.
    pub missed: u64,
    /// Abandoned for a later one.
    pub interrupted: u64,
    /// Begun and not finished at the end.
    pub unfinished: u64,
    /// Never begun.
    pub waiting: u64,
}

/// Counts of datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// Sent.
    pub sent: u64,
    /// Of these, came.
    pub received: u64,
    /// Came again (RFC 5560).
    pub duplicated: u64,
    /// Came after one with a higher number (RFC 4737).
    pub reordered: u64,
    /// Share that never came (RFC 7680).
    pub lost_share: f64,
    /// The mean change of delay, whichever way, from one block that came whole to the next (RFC 3393: of |IPDV|),
    /// seconds. RFC 3550 takes the same differences, and smooths them: that is another figure.
    pub jitter_s: Option<f64>,
}

impl Figures {
    /// The figures of a trace.
    pub fn of(trace: &Trace) -> Self {
        let (time, seconds) = (trace.duration, trace.duration.seconds());
        let (arrived, departed) = (arrived_within(trace), trace.read_by(time));
        let rate = |bytes: Bytes| if seconds > 0.0 { float(bytes.bits()) / seconds } else { 0.0 };
        let (area, kept) = (queue_area(trace, time), kept_within(trace, time));
        let ratio = |over: f64, under: Bytes| {
            let under = float(under.count());
            (under > 0.0).then(|| over / under)
        };
        Self {
            blocks: BlockCounts::of(&trace.blocks),
            arrived_bytes: arrived,
            lost_bytes: if trace.endless { Bytes::ZERO } else { arrived.saturating_sub(kept) },
            departed_bytes: departed,
            delivered_bytes: trace.reads.last().map_or(Bytes::ZERO, |read| read.total),
            arrival_rate_bit_s: rate(arrived),
            departure_rate_bit_s: rate(departed),
            carried_rate_bit_s: Some(rate(trace.carried())),
            offered_ratio: ratio(float(arrived.count()), departed),
            mean_queue_bytes: (seconds > 0.0 && !trace.endless)
                .then(|| area / seconds)
                .filter(|_| arrived.is_empty() || !kept.is_empty()),
            window_delay_s: ratio(area, kept).filter(|_| !trace.endless),
            drained_delay_s: drained(trace).filter(|_| !trace.endless),
            delay: Delays::of(trace),
            delay_p99_at_least_s: delays::p99_at_least(trace),
            loss: trace.datagrams.map(|counts| Loss {
                sent: counts.sent,
                received: counts.received,
                duplicated: counts.duplicated,
                reordered: counts.reordered,
                lost_share: share(counts.sent - counts.received, counts.sent),
                jitter_s: (counts.jitter.1 > 0)
                    .then(|| counts.jitter.0.seconds() / float(counts.jitter.1)),
            }),
            pacing: Pacing::of(trace),
            spread_s: spread(&trace.blocks),
            receipts: Receipts::of(trace),
        }
    }

    /// What the path carried, bit/s: of an arrival rate below its own all, however long it is.
    pub fn carried(&self) -> f64 {
        self.carried_rate_bit_s.unwrap_or(self.departure_rate_bit_s)
    }
}

fn spread(blocks: &[BlockRecord]) -> Option<f64> {
    let mut starts = blocks.iter().filter_map(|block| block.start);
    let first = starts.next()?;
    starts.next_back().map(|last| last.since(first).seconds())
}

impl BlockCounts {
    fn of(blocks: &[BlockRecord]) -> Self {
        let mut counts = Self::default();
        for block in blocks {
            counts.due += 1;
            *match block.fate {
                Fate::Interrupted => &mut counts.interrupted,
                Fate::Missed => &mut counts.missed,
                Fate::Sent => &mut counts.sent,
                Fate::Unfinished => &mut counts.unfinished,
                Fate::Waiting => &mut counts.waiting,
            } += 1;
        }
        counts
    }
}

fn arrived_within(trace: &Trace) -> Bytes {
    if trace.endless {
        return trace.blocks.iter().map(|block| block.taken).sum();
    }
    trace.arrived_by(trace.duration)
}

/// What of A(`until`) was not lost on the way.
fn kept_within(trace: &Trace, until: Nanos) -> Bytes {
    trace.kept().filter(|(at, _)| *at <= until).map(|(_, bytes)| bytes).sum()
}

/// The area under A(t) - D(t) from 0 to `until`, byte seconds, without what was lost on the way.
fn queue_area(trace: &Trace, until: Nanos) -> f64 {
    let arrivals = trace.kept().filter(|(at, _)| *at <= until);
    let arrived: f64 =
        arrivals.map(|(at, bytes)| float(bytes.count()) * until.since(at).seconds()).sum();
    let (mut departed, mut before) = (0.0, 0);
    for read in trace.reads.iter().take_while(|read| read.at <= until) {
        departed += float(read.total.count() - before) * until.since(read.at).seconds();
        before = read.total.count();
    }
    arrived - departed
}

/// Little's formula over a window that begins and ends empty: the mean delay of a byte.
fn drained(trace: &Trace) -> Option<f64> {
    let arrived: Bytes = trace.kept().map(|(_, bytes)| bytes).sum();
    let last = trace.reads.last().filter(|read| read.total == arrived && !arrived.is_empty())?;
    Some(queue_area(trace, last.at) / float(arrived.count()))
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { float(part) / float(whole) }
}

/// Nanoseconds of a positive float.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positive, far below 2^63"
)]
pub(crate) fn rounded(value: f64) -> u64 {
    value.round().max(0.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::sending::burst::Block;
    use crate::traffic::sending::burst::Discipline;
    use crate::traffic::simulated::Line;
    use crate::traffic::trace::Arrived;

    fn train(period: Nanos, size: u64, blocks: u64) -> Vec<Block> {
        (0..blocks).map(|k| Block { due: period * k, size: Bytes::new(size) }).collect()
    }

    fn close(got: f64, want: f64, within: f64) {
        assert!((got / want - 1.0).abs() <= within, "{got} for {want}");
    }

    /// 12500 B at 1.7 Mb/s: S = 58.8 ms; below the knee mean L / a = S / 2 (a byte waits for those
    /// before it), and a block takes S (napier, section 5 b).
    #[test]
    fn below_the_knee_a_block_takes_its_own_time_on_the_line() {
        let line = Line::new(1.7e6);
        let trace = line.carry(
            &train(Nanos::from_millis(80), 12_500, 125),
            Nanos::from_secs(10),
            Discipline::Queue,
        );
        let figures = Figures::of(&trace);
        let service = 12_500.0 * 8.0 / 1.7e6;
        close(figures.delay.unwrap().p50_s, service, 0.001);
        // The line delivers packets, whose bytes are read together: half a packet more.
        close(figures.window_delay_s.unwrap(), service / 2.0, 0.13);
        close(figures.offered_ratio.unwrap(), 1.0, 0.001);
        assert!(!figures.pacing.unwrap().host_limited);
    }

    /// Fluid overload: W over the window is (T/2)(1 - 1/rho), drained (T/2)(rho - 1).
    #[test]
    fn an_overload_grows_as_half_the_time() {
        let (time, rho) = (10.0, 3.0);
        let period = Nanos::new(19_607_843);
        let blocks = train(period, 12_500, 510);
        let trace = Line::new(1.7e6).carry(&blocks, Nanos::from_secs(10), Discipline::Queue);
        let figures = Figures::of(&trace);
        close(figures.offered_ratio.unwrap(), rho, 0.005);
        close(figures.window_delay_s.unwrap(), time / 2.0 * (1.0 - 1.0 / rho), 0.01);
        close(figures.drained_delay_s.unwrap(), time / 2.0 * (rho - 1.0), 0.01);
    }

    /// T7: Little's delay of a drained queue is the mean delay of a byte, by way of the blocks.
    #[test]
    fn t7_the_drained_delay_is_the_mean_over_the_bytes_of_all_blocks() {
        for rho in [0.5, 1.5] {
            let period = 12_500.0 * 8.0 / 1.7e6 / rho * 1e9;
            let blocks: Vec<Block> = (0..100_u32)
                .map(|k| Block {
                    due: Nanos::new(rounded(period * f64::from(k))),
                    size: Bytes::new(10_000 + 50 * u64::from(k)),
                })
                .collect();
            let trace = Line::new(1.7e6).carry(&blocks, Nanos::from_secs(6), Discipline::Queue);
            let figures = Figures::of(&trace);
            close(figures.drained_delay_s.unwrap(), figures.delay.unwrap().byte_mean_s, 0.001);
        }
    }

    /// Two of 34 blocks are read soon, the third and those behind it never.
    #[test]
    fn what_nobody_has_read_counts_with_the_time_that_it_waited() {
        let period = Nanos::new(29_411_765);
        let whole = Line::new(1.7e6).carry(
            &train(period, 12_500, 34),
            Nanos::from_secs(1),
            Discipline::Queue,
        );
        let mut left = whole.clone();
        for (block, read) in left.blocks.iter_mut().zip(&mut left.read_times).skip(2) {
            (block.fate, *read) = (Fate::Waiting, None);
        }
        let [whole, left] = [whole, left].map(|trace| Figures::of(&trace));
        assert_eq!(whole.delay_p99_at_least_s, whole.delay.map(|delay| delay.p99_s));
        let (read, all) = (left.delay.unwrap().p99_s, left.delay_p99_at_least_s.unwrap());
        assert!(read < 0.1 && all > 0.9, "{read} {all}");
    }

    /// Datagrams of 100 B each millisecond over a path of 5 ms, of which `comes` says which arrive.
    fn datagrams(comes: impl Fn(u64) -> bool) -> Figures {
        let record = |k: u64| BlockRecord {
            due: Nanos::from_millis(k),
            size: Bytes::new(100),
            start: Some(Nanos::from_millis(k)),
            end: Some(Nanos::from_millis(k)),
            taken: Bytes::new(100),
            held_from: None,
            is_untimed: false,
            fate: Fate::Sent,
        };
        let arrived: Vec<Arrived> = (0..1000)
            .filter(|k| comes(*k))
            .map(|k| Arrived { at: Nanos::from_millis(k + 5), number: k, size: Bytes::new(100) })
            .collect();
        let trace = Trace {
            duration: Nanos::from_secs(1),
            blocks: (0..1000).map(record).collect(),
            ..Trace::default()
        };
        Figures::of(&trace.of_datagrams(&arrived, Bytes::new(1000), 1000))
    }

    /// What was lost waits for nobody: nine of ten bytes wait 5 ms, however long the run is.
    #[test]
    fn what_was_lost_on_the_way_is_no_queue() {
        let figures = datagrams(|k| k % 10 != 3);
        assert_eq!(
            (figures.arrived_bytes, figures.lost_bytes),
            (Bytes::new(100_000), Bytes::new(10_000))
        );
        // Those of the last 5 ms have not waited as long at the end.
        close(figures.window_delay_s.unwrap(), 0.005, 0.005);
        close(figures.mean_queue_bytes.unwrap(), 450.0, 0.005);
        close(figures.drained_delay_s.unwrap(), 0.005, 1e-9);
        close(figures.delay.unwrap().byte_mean_s, 0.005, 1e-9);
        close(figures.offered_ratio.unwrap(), 1.0 / 0.9, 0.006);
        let none = datagrams(|_| false);
        assert_eq!(
            (none.window_delay_s, none.drained_delay_s, none.mean_queue_bytes),
            (None, None, None)
        );
        assert_eq!(none.lost_bytes, none.arrived_bytes);
    }

    #[test]
    fn unqueued_bursts_never_offer_more_than_the_line_takes() {
        let blocks = train(Nanos::from_millis(20), 12_500, 500);
        let trace = Line::new(1.7e6).carry(&blocks, Nanos::from_secs(10), Discipline::Miss);
        let figures = Figures::of(&trace);
        let counts = figures.blocks;
        assert_eq!(counts.sent + counts.missed + counts.unfinished, counts.due);
        assert!(counts.missed > 300, "{counts:?}");
        assert!(figures.offered_ratio.unwrap() < 1.1, "{figures:?}");
    }
}
