//! Waiting for the next due time of many flows, or for a socket that has room again.

use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::traffic::Pace;
use btu_core::traffic::sending::margin::Margin;
use btu_core::units::Nanos;
use btu_sys::clock;
use btu_sys::wait::Ready;

use super::job::Flow;
use super::job::Offer;
use crate::error::EngineError;
use crate::time::now;

/// How a thread waits, with what its own wake-ups take.
#[derive(Debug)]
pub(super) struct Pacer {
    pace: Pace,
    margin: Margin,
    rank: Rank,
    /// Whether what comes has to be noted at once, by one that is awake as well.
    hears: bool,
    /// When it last slept.
    rested: Nanos,
}

/// Whether a thread runs before all others when it wakes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rank {
    First,
    Ordinary,
}

impl Pacer {
    /// A pacer for the calling thread, which carries these flows.
    pub(super) fn new<'a>(
        flows: impl Iterator<Item = &'a Flow> + Clone,
        ready: &mut Ready,
    ) -> Result<Self, EngineError> {
        let pace = pace_for_all(flows.clone());
        let hears = flows.clone().any(|flow| flow.has_receipts);
        Ok(Self { hears, ..Self::begin(pace, may_go_first(pace, flows), ready)? })
    }

    /// A pacer for the calling thread, which sends what it decides on the way.
    pub(super) fn of(pace: Pace, ready: &mut Ready) -> Result<Self, EngineError> {
        Self::begin(pace, may_go_first(pace, std::iter::empty()), ready)
    }

    fn begin(pace: Pace, may_go_first: bool, ready: &mut Ready) -> Result<Self, EngineError> {
        // Without the right the default slack of 50 us stays, which the margin then shows.
        let _ = btu_sys::cpu::set_timer_slack(1);
        btu_sys::cpu::prefer_latency();
        let rank = if may_go_first && btu_sys::cpu::go_first().is_ok() {
            Rank::First
        } else {
            Rank::Ordinary
        };
        let margin = match pace {
            Pace::Hybrid => measured_margin(ready).map_err(EngineError::peer("wait"))?,
            Pace::Sleep => Margin::none(),
            Pace::Spin => Margin::always(),
        };
        Ok(Self { pace, margin, rank, hears: false, rested: now() })
    }

    /// How it waits, as results say it.
    pub(super) const fn name(&self) -> &'static str {
        match (self.pace, self.rank) {
            (pace, Rank::Ordinary) => pace.name(),
            (Pace::Hybrid, Rank::First) => HYBRID_FIRST,
            (Pace::Sleep, Rank::First) => SLEEP_FIRST,
            (Pace::Spin, Rank::First) => Pace::Spin.name(),
        }
    }

    /// Waits until `due`, or until a socket is ready.
    pub(super) fn until(&mut self, due: Nanos, ready: &mut Ready) -> io::Result<()> {
        let margin = self.margin.width();
        let asleep = due.since(now()).since(margin);
        if asleep > Nanos::ZERO {
            self.sleep(asleep, ready)?;
            if !ready.is_empty() || due.since(now()) > margin {
                return Ok(());
            }
        } else {
            self.step_back_if_restless();
            ready.wait(Some(0))?;
        }
        while ready.is_empty() && margin > Nanos::ZERO && now() < due {
            if self.hears {
                ready.wait(Some(0))?;
            } else {
                std::hint::spin_loop();
            }
        }
        Ok(())
    }

    /// Who has more to do than there is time for is no more exact by keeping others from their CPU.
    fn step_back_if_restless(&mut self) {
        if self.rank == Rank::First && now().since(self.rested) > RESTLESS {
            btu_sys::cpu::prefer_latency();
            self.rank = Rank::Ordinary;
        }
    }

    /// Sleeps, and learns from it unless a socket ended it.
    fn sleep(&mut self, asleep: Nanos, ready: &mut Ready) -> io::Result<()> {
        let begun = now();
        let end = begun.saturating_add(asleep);
        ready.wait(Some(asleep.count()))?;
        let woken = now();
        if woken.since(begun) >= REST {
            self.rested = woken;
        } else {
            self.step_back_if_restless();
        }
        if self.pace == Pace::Hybrid && ready.is_empty() && woken >= end {
            self.margin.saw(woken.since(end));
        }
        Ok(())
    }
}

/// What runs first must leave room for others: full streams have something to do at all times, and so has
/// whoever spins.
fn may_go_first<'a>(pace: Pace, mut flows: impl Iterator<Item = &'a Flow>) -> bool {
    pace != Pace::Spin && flows.all(|flow| matches!(flow.offer, Offer::Train { .. }))
}

/// What flows of one thread need together: the most exact of what each asks for. A sender that is awake
/// is an activity of the host in its own right, so long periods are slept through.
fn pace_for_all<'a>(flows: impl Iterator<Item = &'a Flow>) -> Pace {
    let (mut pace, mut per_second) = (Pace::Sleep, 0.0);
    for flow in flows {
        match flow.pace {
            Some(Pace::Spin) => return Pace::Spin,
            Some(Pace::Hybrid) => pace = Pace::Hybrid,
            Some(Pace::Sleep) => {}
            None => per_second += bursts_per_second(flow),
        }
    }
    if per_second > OFTEN { Pace::Hybrid } else { pace }
}

/// Sleeps until `moment`, or until nobody wants it any more.
pub(super) fn rest_until(moment: Nanos, cancel: &AtomicBool) {
    while !cancel.load(Relaxed) && now() < moment {
        clock::sleep_until(moment.min(now().saturating_add(LOOK)).count());
    }
}

/// What wake-ups from short naps take: where learning begins.
fn measured_margin(ready: &mut Ready) -> io::Result<Margin> {
    let mut late = Vec::with_capacity(WAKE_UPS);
    for _ in 0..WAKE_UPS {
        let due = now().saturating_add(NAP);
        ready.wait(Some(NAP.count()))?;
        late.push(now().since(due));
    }
    Ok(Margin::of(&mut late))
}

/// Bursts of a flow, by its first and last due time.
fn bursts_per_second(flow: &Flow) -> f64 {
    let Offer::Train { blocks, .. } = &flow.offer else { return 0.0 };
    let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else { return 0.0 };
    let span = last.due.since(first.due).seconds();
    let bursts = blocks.windows(2).filter(|pair| pair[0].due != pair[1].due).count();
    if span > 0.0 { f64::from(u32::try_from(bursts).unwrap_or(u32::MAX)) / span } else { 0.0 }
}

/// A sleep that lets others run.
const REST: Nanos = Nanos::from_micros(20);
/// Without such a sleep for so long, a thread is an ordinary one for the rest of its flows.
const RESTLESS: Nanos = Nanos::from_millis(10);
const HYBRID_FIRST: &str = "hybrid first";
const SLEEP_FIRST: &str = "sleep first";
/// What results may say of how a sender waited.
pub(super) const NAMES: [&str; 5] =
    [Pace::Hybrid.name(), HYBRID_FIRST, Pace::Sleep.name(), SLEEP_FIRST, Pace::Spin.name()];
/// From so many bursts a second on a thread stays awake for the last part.
const OFTEN: f64 = 100.0;
const WAKE_UPS: usize = 300;
/// How long one that rests does not look whether it is still wanted.
const LOOK: Nanos = Nanos::from_millis(50);
const NAP: Nanos = Nanos::from_micros(30);

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn pacer() -> (Pacer, Ready) {
        let mut ready = Ready::new(1).unwrap();
        // No flow is no full stream.
        let pacer = Pacer::new(std::iter::empty(), &mut ready).unwrap();
        (pacer, ready)
    }

    /// Where a thread may go first at all; where not, the same sentence holds of one that never did.
    #[test]
    fn a_thread_that_never_rests_steps_back_and_one_that_does_stays() {
        thread::scope(|scope| {
            scope.spawn(|| {
                let (mut pacer, mut ready) = pacer();
                let rank = pacer.rank;
                let end = now().saturating_add(RESTLESS * 4);
                while now() < end {
                    let due = now().saturating_add(REST * 20);
                    pacer.until(due, &mut ready).unwrap();
                }
                assert_eq!(pacer.rank, rank);
                let behind = now();
                while now() < behind.saturating_add(RESTLESS * 4) {
                    pacer.until(behind, &mut ready).unwrap();
                }
                assert_eq!((pacer.rank, pacer.name()), (Rank::Ordinary, "sleep"));
            });
        });
    }

    #[test]
    fn full_streams_and_spinners_never_go_first() {
        let none = std::iter::empty;
        assert!(may_go_first(Pace::Sleep, none()) && may_go_first(Pace::Hybrid, none()));
        assert!(!may_go_first(Pace::Spin, none()));
    }
}
