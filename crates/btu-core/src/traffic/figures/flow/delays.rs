//! Delays of whole blocks.

use serde::Deserialize;
use serde::Serialize;

use crate::stats::Sorted;
use crate::traffic::sending::burst::BlockRecord;
use crate::traffic::sending::burst::Fate;
use crate::traffic::trace::ReadTime;
use crate::traffic::trace::Trace;
use crate::traffic::trace::float;

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

/// The 99th percentile, whatever became of the blocks that are still to be read.
pub(super) fn p99_at_least(trace: &Trace) -> Option<f64> {
    if trace.endless {
        return None;
    }
    let is_given_up = |block: &BlockRecord| match block.fate {
        Fate::Interrupted | Fate::Missed => true,
        // A datagram that was sent and not read was lost.
        Fate::Sent => trace.datagrams.is_some(),
        Fate::Unfinished | Fate::Waiting => false,
    };
    let delay = |(block, read): (&BlockRecord, &Option<ReadTime>)| {
        let from = trace.arrival(block)?;
        match read {
            Some(read) if block.fate == Fate::Sent => Some(read.last.since(from).seconds()),
            _ if is_given_up(block) => None,
            _ => Some(trace.duration.since(from).seconds()),
        }
    };
    let blocks = trace.blocks.iter().zip(&trace.read_times);
    Some(Sorted::new(blocks.filter_map(delay).collect())?.at(0.99))
}

impl Delays {
    pub(super) fn of(trace: &Trace) -> Option<Self> {
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
        let [min_s, p50_s, p95_s, p99_s, tail_s, max_s] = extremes_and_tail(&sorted);
        Some(Self {
            blocks: u64::try_from(sorted.values().len()).unwrap_or(u64::MAX),
            mean_s: sorted.mean(),
            byte_mean_s: weighted / bytes,
            min_s,
            p50_s,
            p95_s,
            p99_s,
            p999_s: tail_s,
            max_s,
            pdv_p99_s: p99_s - min_s,
        })
    }
}

/// The smallest, the median, the 95th, 99th and 99.9th percentile, the largest.
pub(super) fn extremes_and_tail(values: &Sorted) -> [f64; 6] {
    [0.0, 0.5, 0.95, 0.99, 0.999, 1.0].map(|share| values.at(share))
}
