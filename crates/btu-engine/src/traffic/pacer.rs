//! Waiting for the next due time of many flows, or for a socket that has room again.

use std::io;

use btu_core::traffic::Pace;
use btu_core::traffic::margin::Margin;
use btu_core::units::Nanos;
use btu_sys::clock;
use btu_sys::wait::Ready;

use super::job::Flow;
use super::job::Offer;
use crate::error::EngineError;

/// How a thread waits, with what its own wake-ups take.
#[derive(Debug)]
pub(super) struct Pacer {
    pub(super) pace: Pace,
    margin: Margin,
}

impl Pacer {
    /// A pacer for the calling thread.
    pub(super) fn new(pace: Pace, ready: &mut Ready) -> Result<Self, EngineError> {
        // Without the right the default slack of 50 us stays, which the margin then shows.
        let _ = btu_sys::cpu::set_timer_slack(1);
        btu_sys::cpu::prefer_latency();
        let margin = match pace {
            Pace::Hybrid => measured_margin(ready).map_err(EngineError::peer("wait"))?,
            Pace::Sleep => Margin::none(),
            Pace::Spin => Margin::always(),
        };
        Ok(Self { pace, margin })
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
            ready.wait(Some(0))?;
        }
        while ready.is_empty() && margin > Nanos::ZERO && now() < due {
            std::hint::spin_loop();
        }
        Ok(())
    }

    /// Sleeps, and learns from it unless a socket ended it.
    fn sleep(&mut self, asleep: Nanos, ready: &mut Ready) -> io::Result<()> {
        let end = now().saturating_add(asleep);
        ready.wait(Some(asleep.count()))?;
        let woken = now();
        if self.pace == Pace::Hybrid && ready.is_empty() && woken >= end {
            self.margin.saw(woken.since(end));
        }
        Ok(())
    }
}

/// What flows of one thread need together: the most exact of what each asks for. A sender that is awake
/// is an activity of the host in its own right, so long periods are slept through.
pub(super) fn pace_for_all<'a>(flows: impl Iterator<Item = &'a Flow>) -> Pace {
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

pub(super) fn now() -> Nanos {
    Nanos::new(clock::monotonic_ns())
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

/// From so many bursts a second on a thread stays awake for the last part.
const OFTEN: f64 = 100.0;
const WAKE_UPS: usize = 300;
const NAP: Nanos = Nanos::from_micros(30);
