//! One round at each slot of a night, by a clock from the first slot on that goes on while the machine is suspended.

use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;
use std::time::SystemTime;

use btu_core::file::night::Night;
use btu_core::file::night::Slots;
use btu_core::file::night::Step;
use btu_core::file::night::next_slot;
use btu_core::file::plan::Slot;
use btu_core::file::sample::Line;
use btu_core::units::Nanos;
use btu_sys::clock::boottime_ns;

use super::measure::make;
use super::start::Started;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::measurement::journal::journal_failure;

/// Makes every slot in its time. One that is missed is journalled with the reason, and never made.
pub(super) fn measure(
    started: &mut Started,
    night: &Night,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let clock = Clock::start();
    let slots = slots(started, night, clock)?;
    let mut next = next_slot(&started.lines);
    let mut before = if next > 1 { NOBODY } else { LATE };
    while !interrupt.flag().load(Relaxed) {
        match slots.step(clock.now(), next) {
            Step::Over => break,
            Step::Wait(until) => {
                started.progress.waits(next, until.since(clock.now()));
                wait(until, clock, interrupt);
                continue;
            }
            Step::Miss { slot, late } => {
                let reason = format!("{before}: it was due {late} before");
                let line = Line::FileSlotMissed { slot, reason };
                started.journal.append(&line).map_err(journal_failure)?;
            }
            Step::Begin(slot) => {
                round(started, slot, interrupt)?;
                before = BUSY;
            }
        }
        next += 1;
    }
    Ok(())
}

/// All trials of one slot.
fn round(started: &mut Started, slot: u32, interrupt: &Interrupt) -> Result<(), Failure> {
    let mut trials: Vec<Slot> = started.plan.round(slot);
    trials.retain(|one| !started.absent.has(&one.trial));
    let each = trials.len() as u64;
    let all = trials.len() * usize::try_from(started.plan.rounds).unwrap_or(usize::MAX);
    let numbered: Vec<(u64, Slot)> = (u64::from(slot - 1) * each + 1..).zip(trials).collect();
    make(started, &numbered, all, interrupt)?;
    started.journal.sync().map_err(journal_failure)
}

/// The slots of the night, which begins now or began in an earlier part of the measurement.
fn slots(started: &mut Started, night: &Night, clock: Clock) -> Result<Slots, Failure> {
    let begun = started.lines.iter().find_map(|line| match line {
        Line::FileNight { first_unix_ns } => Some(*first_unix_ns),
        _ => None,
    });
    let first = begun.unwrap_or_else(|| {
        let second = clock.now().count() / SECOND;
        clock.now() + Nanos::from_secs(night.from.map_or(0, |from| from.seconds_after(second)))
    });
    if begun.is_none() {
        let line = Line::FileNight { first_unix_ns: first };
        started.journal.append(&line).map_err(journal_failure)?;
    }
    Ok(Slots { first, every: night.every_ns, count: started.plan.rounds })
}

/// The clock since the start of the machine, suspended or not, with the time of the day at which this part of the measurement
/// began: whoever sets the machine's clock meanwhile moves no slot, and a later part, perhaps after another start of the
/// machine, finds its slots again.
#[derive(Clone, Copy)]
struct Clock {
    begun: Nanos,
    unix: Nanos,
}

impl Clock {
    fn start() -> Self {
        let unix = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self { begun: since_start(), unix: unix.into() }
    }

    fn now(self) -> Nanos {
        self.unix + since_start().since(self.begun)
    }
}

fn since_start() -> Nanos {
    Nanos::new(boottime_ns())
}

/// Sleeps, unless somebody wants everything to end.
fn wait(until: Nanos, clock: Clock, interrupt: &Interrupt) {
    while !interrupt.flag().load(Relaxed) && clock.now() < until {
        thread::sleep(Duration::from(until.since(clock.now())).min(GLANCE));
    }
}

const SECOND: u64 = 1_000_000_000;
const GLANCE: Duration = Duration::from_millis(50);
const BUSY: &str = "the slot before was still being made";
const LATE: &str = "the measurement began too late";
const NOBODY: &str = "the measurement did not run";
