//! The pacer's own error: what only the generator can have done.

use serde::Deserialize;
use serde::Serialize;

use crate::stats;
use crate::stats::Sorted;
use crate::traffic::sending::burst::BlockRecord;
use crate::traffic::trace::Trace;
use crate::units::Nanos;

/// How far the sender was from its schedule, microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pacing {
    /// Blocks that nothing but the generator could delay, of those due at one instant the first: the others
    /// follow it as fast as they can be written.
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
    /// Of these blocks, those that began later than a flow may at its 99th percentile. `None` in results that are
    /// older than this figure.
    #[serde(default)]
    pub late_blocks: Option<u64>,
    /// True where the generator and not the network limited the run.
    pub host_limited: bool,
}

impl Pacing {
    /// p99 above max(100 us, 1 % of the period) means that the generator is the limit. None where no clock made
    /// anything due, or all of it waited for the transport.
    pub(super) fn of(trace: &Trace) -> Option<Self> {
        if trace.endless {
            return None;
        }
        let timed: Vec<&BlockRecord> = trace.blocks.iter().filter(|b| !b.is_untimed).collect();
        let free = free(&timed);
        let micros = |span: Nanos| span.micros();
        let late =
            Sorted::new(free.iter().map(|(due, start)| micros(start.since(*due))).collect())?;
        let apart = free.windows(2).filter(|pair| pair[1].0 > pair[0].0);
        let errors = apart.map(|pair| {
            let [asked, got] = [pair[1].0.since(pair[0].0), pair[1].1.since(pair[0].1)];
            micros(Nanos::new(asked.count().abs_diff(got.count())))
        });
        let errors = Sorted::new(errors.collect()).or_else(|| Sorted::new(vec![0.0]))?;
        let period_us = period(&timed).unwrap_or_else(|| trace.duration.micros());
        let p99_us = errors.at(0.99);
        let late_p99_us = late.at(0.99);
        let bound_us = (period_us / 100.0).max(HOST_LIMITED_US);
        let late_blocks = late.values().iter().filter(|late| **late > bound_us).count();
        Some(Self {
            blocks: u64::try_from(free.len()).unwrap_or(u64::MAX),
            period_us,
            p50_us: errors.at(0.5),
            p99_us,
            max_us: errors.at(1.0),
            late_p99_us,
            late_blocks: u64::try_from(late_blocks).ok(),
            host_limited: p99_us.max(late_p99_us) > bound_us,
        })
    }

    /// The same where there is a time between departures: one burst alone is apart from none.
    pub fn between_bursts(self) -> Option<Self> {
        (self.blocks > 1).then_some(self)
    }
}

/// When each burst was due that the generator could delay, and when it was done with that: it began, or had to
/// wait for the transport from then on.
fn free(timed: &[&BlockRecord]) -> Vec<(Nanos, Nanos)> {
    let mut firsts = timed.to_vec();
    firsts.dedup_by_key(|block| block.due);
    let ready = |block: &BlockRecord| {
        let start = block.start?;
        let ready = block.held_from.map_or(start, |held| held.min(start));
        (block.held_from.is_none() || ready > block.due).then_some((block.due, ready))
    };
    firsts.into_iter().filter_map(ready).collect()
}

/// The mean gap between bursts, microseconds; none where there is one at the most.
fn period(timed: &[&BlockRecord]) -> Option<f64> {
    let mut dues: Vec<Nanos> = timed.iter().map(|block| block.due).collect();
    dues.dedup();
    match dues.as_slice() {
        [first, .., last] => Some(last.since(*first).micros() / stats::count(dues.len() - 1)),
        _ => None,
    }
}

const HOST_LIMITED_US: f64 = 100.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::sending::burst::Block;
    use crate::traffic::sending::burst::Bursts;
    use crate::traffic::sending::burst::Discipline;
    use crate::traffic::sending::burst::Fate;
    use crate::traffic::sending::burst::Limits;
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
        // Every tenth block, and none that is within the bound.
        assert_eq!([500, 90].map(|us| late(us).late_blocks), [Some(100), Some(0)]);
        close(late(500).p99_us, 499.0, 0.01);
        close(late(500).period_us, 1000.0, 0.01);
    }

    #[test]
    fn what_waited_for_the_transport_is_no_fault_of_the_generator() {
        let block = |k: u64| BlockRecord {
            due: Nanos::from_millis(k),
            start: Some(Nanos::from_millis(10 * k)),
            held_from: (k > 0).then_some(Nanos::ZERO),
            size: Bytes::new(10),
            ..BlockRecord::default()
        };
        let blocks: Vec<BlockRecord> = (0..100).map(block).collect();
        let pacing = Pacing::of(&Trace { blocks, ..Trace::default() }).unwrap();
        assert_eq!((pacing.blocks, pacing.host_limited), (1, false));
    }

    /// Each tenth of a conversation is due by a clock, 5 ms late; what answers ask for is at once.
    #[test]
    fn what_no_clock_made_due_says_nothing_of_the_generator() {
        let block = |k: u64| {
            let is_untimed = !k.is_multiple_of(10);
            let late = Nanos::from_millis(if is_untimed { 0 } else { 5 });
            let due = Nanos::from_millis(k);
            BlockRecord { due, start: Some(due + late), is_untimed, ..BlockRecord::default() }
        };
        let blocks: Vec<BlockRecord> = (0..1000).map(block).collect();
        let duration = Nanos::from_secs(1);
        let pacing = Pacing::of(&Trace { blocks: blocks.clone(), duration, ..Trace::default() });
        let pacing = pacing.unwrap();
        assert_eq!((pacing.blocks, pacing.host_limited), (100, true));
        close(pacing.period_us, 10_000.0, 0.001);
        close(pacing.late_p99_us, 5000.0, 0.001);
        let untimed = blocks.into_iter().filter(|block| block.is_untimed).collect();
        assert_eq!(Pacing::of(&Trace { blocks: untimed, duration, ..Trace::default() }), None);
    }

    /// Two blocks each millisecond for 2 s, of a thread that is held up from 1 s on. The path takes a block each
    /// 0.3 ms, and the transport keeps so many.
    fn stalled(stall_ms: u64, room: u64) -> Pacing {
        let slot = Nanos::from_micros(300);
        let due = |k: u64| Block { due: Nanos::from_millis(k / 2), size: Bytes::new(1000) };
        let mut bursts =
            Bursts::new((0..4000).map(due).collect(), Discipline::Queue, Limits::default());
        let stall = [1000, 1000 + stall_ms].map(Nanos::from_millis);
        let (mut now, mut free) = (Nanos::ZERO, Nanos::ZERO);
        loop {
            if (stall[0]..stall[1]).contains(&now) {
                now = stall[1];
            }
            bursts.advance(now);
            let Some(left) = bursts.offer(now) else {
                let Some(due) = bursts.next_due() else { break };
                now = now.max(due);
                continue;
            };
            let full = free.since(now + slot * (room - 1));
            if full > Nanos::ZERO {
                bursts.refused(now);
                now += full;
                continue;
            }
            free = free.max(now) + slot;
            bursts.took(now, left);
        }
        let (duration, blocks) = (Nanos::from_secs(2), bursts.into_records());
        Pacing::of(&Trace { duration, blocks, ..Trace::default() }).unwrap()
    }

    #[test]
    fn a_backlog_of_a_generator_that_was_held_up_is_its_own() {
        let calm = stalled(0, 1000);
        assert_eq!((calm.blocks, calm.host_limited), (2000, false));
        // 30 of 2000 bursts are late by up to 30 ms, and the transport takes them as they come.
        let held_up = stalled(30, 1000);
        assert_eq!((held_up.blocks, held_up.host_limited), (2000, true));
        assert!(held_up.late_p99_us > 5000.0, "{held_up:?}");
    }

    #[test]
    fn what_was_late_before_the_transport_refused_was_late_by_the_generator() {
        // Of each two blocks the second waits for the first; nothing is late by that.
        assert!(!stalled(0, 1).host_limited);
        // Four of the backlog fit, 100 were due before the fifth was refused.
        let held_up = stalled(100, 4);
        assert!(held_up.host_limited && held_up.late_p99_us > 50_000.0, "{held_up:?}");
        assert!((1700..2000).contains(&held_up.blocks), "{held_up:?}");
    }
}
