//! The pacer's own error: what only the generator can have done.

use serde::Deserialize;
use serde::Serialize;

use super::sorted::Sorted;
use crate::stats;
use crate::traffic::trace::Trace;
use crate::units::Nanos;

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

impl Pacing {
    /// p99 above max(100 us, 1 % of the period) means that the generator is the limit.
    pub(super) fn of(trace: &Trace) -> Option<Self> {
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

const HOST_LIMITED_US: f64 = 100.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::burst::BlockRecord;
    use crate::traffic::burst::Fate;
    use crate::units::Bytes;

    fn close(got: f64, want: f64, within: f64) {
        assert!((got / want - 1.0).abs() <= within, "{got} for {want}");
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
