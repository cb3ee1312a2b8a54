//! Every trial of every round, kept in the journal before the next one.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::file::plan::Slot;
use btu_core::file::sample::Line;
use btu_core::file::sample::TrialSample;

use super::night;
use super::start::Started;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::measurement::closing::Ending;
use crate::measurement::journal::journal_failure;
use crate::measurement::place;

/// Measures everything that the journal does not hold yet.
pub(super) fn measure(started: &mut Started, interrupt: &Interrupt) -> Result<Ending, Failure> {
    if let Some(night) = started.plan.night.clone() {
        night::measure(started, &night, interrupt)?;
    } else {
        let numbered: Vec<(u64, Slot)> = (1..).zip(left(started)).collect();
        make(started, &numbered, numbered.len(), interrupt)?;
    }
    started.progress.finish();
    started.journal.sync().map_err(journal_failure)?;
    let is_asked = interrupt.flag().load(Relaxed);
    Ok(if is_asked { Ending::Interrupted } else { Ending::Complete })
}

/// Makes these trials, each with its number of so many.
pub(super) fn make(
    started: &mut Started,
    slots: &[(u64, Slot)],
    all: usize,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let mut round = 0;
    for (number, slot) in slots {
        if interrupt.flag().load(Relaxed) {
            break;
        }
        if slot.round != round {
            round = slot.round;
            started.journal.sync().map_err(journal_failure)?;
        }
        started.progress.begins(&started.plan, slot, *number, all);
        let sample = seen(started, slot);
        // A trial that was told to end measured nothing.
        if interrupt.flag().load(Relaxed) {
            break;
        }
        let line = Line::FileTrial(Box::new(sample));
        started.journal.keep(&line).map_err(journal_failure)?;
    }
    Ok(())
}

/// The trials that are there and were not made yet.
fn left(started: &Started) -> Vec<Slot> {
    let done: BTreeSet<(u32, u32)> = started.lines.iter().filter_map(place_of).collect();
    let is_left = |slot: &Slot| {
        !started.absent.has(&slot.trial) && !done.contains(&(slot.round, slot.position))
    };
    started.plan.slots().filter(is_left).collect()
}

fn place_of(line: &Line) -> Option<(u32, u32)> {
    line.trial().map(|sample| (sample.round, sample.position))
}

fn seen(started: &mut Started, slot: &Slot) -> TrialSample {
    let started_at = place::timestamp();
    let sample = started.service.trial(&slot.trial);
    let Slot { round, position, warm_up, .. } = *slot;
    TrialSample { round, position, warm_up, started_at, ..sample }
}
