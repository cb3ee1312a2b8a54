//! The figures of one flow: rates, Little's queue and delay, exact delays, loss, the pacer's own error.

use serde::Deserialize;
use serde::Serialize;

use crate::stats;
use crate::traffic::burst::BlockRecord;
use crate::traffic::burst::Fate;
use crate::traffic::trace::Trace;
use crate::traffic::trace::float;
use crate::units::Bytes;
use crate::units::Nanos;

/// Everything that is said of one flow by itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// What became of the blocks.
    pub blocks: BlockCounts,
    /// A(T): bytes that arrived at the transport's door within the duration.
    pub arrived_bytes: Bytes,
    /// D(T): bytes that the receiving user had read at the end of the duration.
    pub departed_bytes: Bytes,
    /// Bytes that the receiving user read in all, what was drained after the duration included.
    pub delivered_bytes: Bytes,
    /// a = A(T) / T, bit/s.
    pub arrival_rate_bit_s: f64,
    /// d = D(T) / T, bit/s.
    pub departure_rate_bit_s: f64,
    /// a / d, the utilisation of the paper; can exceed 1.
    pub offered_ratio: Option<f64>,
    /// The mean of A(t) - D(t) over the duration, bytes; `None` for a full stream, whose queue is as
    /// long as it likes.
    pub mean_queue_bytes: Option<f64>,
    /// Mean queue over the duration, by arrival rate: Little's formula as the paper uses it, seconds.
    pub window_delay_s: Option<f64>,
    /// The same until the queue was empty, which is exact: the mean delay of a byte, seconds.
    pub drained_delay_s: Option<f64>,
    /// Of whole blocks, from due (queued) or start (unqueued) to the read of the last byte.
    pub delay: Option<Delays>,
    /// Of datagrams; `None` for a stream.
    pub loss: Option<Loss>,
    /// How well the sender kept to its schedule; `None` without one.
    pub pacing: Option<Pacing>,
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

/// A distribution of delays, seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Delays {
    /// Blocks that were read whole.
    pub blocks: u64,
    /// Arithmetic mean.
    pub mean_s: f64,
    /// The mean delay of a byte.
    pub byte_mean_s: f64,
    /// The smallest.
    pub min_s: f64,
    /// Median.
    pub p50_s: f64,
    /// 95th percentile.
    pub p95_s: f64,
    /// 99th percentile.
    pub p99_s: f64,
    /// 99.9th percentile.
    pub p999_s: f64,
    /// The largest.
    pub max_s: f64,
    /// PDV: 99th percentile less the smallest (RFC 5481, 4.2).
    pub pdv_p99_s: f64,
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
    /// The mean change of delay from one to the next (RFC 3550), seconds.
    pub jitter_s: Option<f64>,
}

/// How far the sender was from its schedule, microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pacing {
    /// Blocks that nothing but the generator could delay.
    pub blocks: u64,
    /// Their mean period.
    pub period_us: f64,
    /// Inter-departure error: start to start, less due to due.
    pub p50_us: f64,
    /// 99th percentile.
    pub p99_us: f64,
    /// The largest.
    pub max_us: f64,
    /// 99th percentile of start less due.
    pub late_p99_us: f64,
    /// True where the generator and not the network limited the run.
    pub host_limited: bool,
}

impl Figures {
    /// The figures of a trace.
    pub fn of(trace: &Trace) -> Self {
        let (time, seconds) = (trace.duration, trace.duration.seconds());
        let (arrived, departed) = (arrived_within(trace), trace.read_by(time));
        let rate = |bytes: Bytes| if seconds > 0.0 { float(bytes.bits()) / seconds } else { 0.0 };
        let area = queue_area(trace, time);
        let ratio = |over: f64, under: Bytes| {
            let under = float(under.count());
            (under > 0.0).then(|| over / under)
        };
        Self {
            blocks: BlockCounts::of(&trace.blocks),
            arrived_bytes: arrived,
            departed_bytes: departed,
            delivered_bytes: trace.reads.last().map_or(Bytes::ZERO, |read| read.total),
            arrival_rate_bit_s: rate(arrived),
            departure_rate_bit_s: rate(departed),
            offered_ratio: ratio(float(arrived.count()), departed),
            mean_queue_bytes: (seconds > 0.0 && !trace.endless).then(|| area / seconds),
            window_delay_s: ratio(area, arrived).filter(|_| !trace.endless),
            drained_delay_s: drained(trace).filter(|_| !trace.endless),
            delay: Delays::of(trace),
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
        }
    }
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

impl Delays {
    fn of(trace: &Trace) -> Option<Self> {
        if trace.endless {
            return None;
        }
        let (mut delays, mut weighted, mut bytes) = (Vec::new(), 0.0, 0.0);
        for (block, read) in trace.blocks.iter().zip(&trace.read_times) {
            let (Some(read), Some(from)) = (read, trace.arrival(block)) else { continue };
            if block.fate != Fate::Sent {
                continue;
            }
            delays.push(read.last.since(from).seconds());
            let size = float(block.size.count());
            weighted += size * (read.mean_ns / 1e9 - from.seconds());
            bytes += size;
        }
        let sorted = Sorted::new(delays)?;
        Some(Self {
            blocks: u64::try_from(sorted.0.len()).unwrap_or(u64::MAX),
            mean_s: sorted.mean(),
            byte_mean_s: weighted / bytes,
            min_s: sorted.at(0.0),
            p50_s: sorted.at(0.5),
            p95_s: sorted.at(0.95),
            p99_s: sorted.at(0.99),
            p999_s: sorted.at(0.999),
            max_s: sorted.at(1.0),
            pdv_p99_s: sorted.at(0.99) - sorted.at(0.0),
        })
    }
}

impl Pacing {
    /// p99 above max(100 us, 1 % of the period) means that the generator is the limit.
    fn of(trace: &Trace) -> Option<Self> {
        if trace.endless {
            return None;
        }
        let free: Vec<(Nanos, Nanos)> = trace
            .blocks
            .iter()
            .filter(|block| block.held_until.is_none())
            .filter_map(|block| Some((block.due, block.start?)))
            .collect();
        let micros = |span: Nanos| span.micros();
        let late =
            Sorted::new(free.iter().map(|(due, start)| micros(start.since(*due))).collect())?;
        let apart = free.windows(2).filter(|pair| pair[1].0 > pair[0].0);
        let errors = apart.map(|pair| {
            let [asked, got] = [pair[1].0.since(pair[0].0), pair[1].1.since(pair[0].1)];
            micros(Nanos::new(asked.count().abs_diff(got.count())))
        });
        let errors = Sorted::new(errors.collect()).unwrap_or_else(|| Sorted(vec![0.0]));
        let period_us = period(trace);
        let p99_us = errors.at(0.99);
        let late_p99_us = late.at(0.99);
        Some(Self {
            blocks: u64::try_from(free.len()).unwrap_or(u64::MAX),
            period_us,
            p50_us: errors.at(0.5),
            p99_us,
            max_us: errors.at(1.0),
            late_p99_us,
            host_limited: p99_us.max(late_p99_us) > (period_us / 100.0).max(HOST_LIMITED_US),
        })
    }
}

/// The mean gap between bursts, microseconds.
fn period(trace: &Trace) -> f64 {
    let mut dues: Vec<Nanos> = trace.blocks.iter().map(|block| block.due).collect();
    dues.dedup();
    match dues.as_slice() {
        [first, .., last] => last.since(*first).micros() / stats::count(dues.len() - 1),
        _ => trace.duration.micros(),
    }
}

fn arrived_within(trace: &Trace) -> Bytes {
    if trace.endless {
        return trace.blocks.iter().map(|block| block.taken).sum();
    }
    trace.arrived_by(trace.duration)
}

/// The area under A(t) - D(t) from 0 to `until`, byte seconds.
fn queue_area(trace: &Trace, until: Nanos) -> f64 {
    let arrivals = trace.blocks.iter().filter_map(|block| {
        let at = trace.arrival(block).filter(|at| *at <= until)?;
        Some(float(trace.arrived(block).count()) * until.since(at).seconds())
    });
    let arrived: f64 = arrivals.sum();
    let (mut departed, mut before) = (0.0, 0);
    for read in trace.reads.iter().take_while(|read| read.at <= until) {
        departed += float(read.total.count() - before) * until.since(read.at).seconds();
        before = read.total.count();
    }
    arrived - departed
}

/// Little's formula over a window that begins and ends empty: the mean delay of a byte.
fn drained(trace: &Trace) -> Option<f64> {
    let arrived: Bytes = trace.blocks.iter().map(|block| trace.arrived(block)).sum();
    let last = trace.reads.last().filter(|read| read.total == arrived && !arrived.is_empty())?;
    Some(queue_area(trace, last.at) / float(arrived.count()))
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { float(part) / float(whole) }
}

/// Values in order, at least one.
struct Sorted(Vec<f64>);

impl Sorted {
    fn new(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        (!values.is_empty()).then_some(Self(values))
    }

    /// By linear interpolation.
    fn at(&self, share: f64) -> f64 {
        let position = stats::count(self.0.len() - 1) * share;
        let low = stats::floor(position);
        let high = (low + 1).min(self.0.len() - 1);
        self.0[low] + (position - stats::count(low)) * (self.0[high] - self.0[low])
    }

    fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / stats::count(self.0.len())
    }
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

const HOST_LIMITED_US: f64 = 100.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::burst::Block;
    use crate::traffic::burst::Discipline;
    use crate::traffic::simulated::Line;

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

    #[test]
    fn a_generator_that_fell_behind_says_so() {
        let late = |us| {
            let block = |k: u64| BlockRecord {
                due: Nanos::from_millis(k),
                size: Bytes::new(10),
                start: Some(
                    Nanos::from_millis(k)
                        + Nanos::from_micros(if k.is_multiple_of(10) { us } else { 1 }),
                ),
                fate: Fate::Sent,
                ..BlockRecord::default()
            };
            let blocks: Vec<BlockRecord> = (0..1000).map(block).collect();
            Pacing::of(&Trace { blocks, duration: Nanos::from_secs(1), ..Trace::default() })
                .unwrap()
        };
        assert!(late(500).host_limited && !late(90).host_limited);
        close(late(500).p99_us, 499.0, 0.01);
        close(late(500).period_us, 1000.0, 0.01);
    }

    #[test]
    fn what_waited_for_the_transport_is_no_fault_of_the_generator() {
        let block = |k: u64| BlockRecord {
            due: Nanos::from_millis(k),
            start: Some(Nanos::from_millis(10 * k)),
            held_until: (k > 0).then(|| Nanos::from_millis(10 * k)),
            size: Bytes::new(10),
            ..BlockRecord::default()
        };
        let blocks: Vec<BlockRecord> = (0..100).map(block).collect();
        let pacing = Pacing::of(&Trace { blocks, ..Trace::default() }).unwrap();
        assert_eq!((pacing.blocks, pacing.host_limited), (1, false));
    }
}
