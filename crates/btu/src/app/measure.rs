//! Every launch of the plan, kept in the journal before the next one.

use std::sync::atomic::Ordering::Relaxed;

use anyhow::anyhow;
use btu_core::app::kernel;
use btu_core::app::plan::Slot;
use btu_core::app::sample::LaunchSample;
use btu_core::app::sample::Line;
use btu_core::app::sample::RankSample;
use btu_engine::EngineError;
use btu_engine::app::Launched;
use btu_engine::app::launch;

use super::rank;
use super::room;
use super::start::Started;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::measurement::closing::Ending;
use crate::measurement::journal::journal_failure;
use crate::measurement::place;

/// Launches everything that the journal does not hold yet.
pub(super) fn measure(started: &mut Started, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let order = started.plan.order();
    let done = replayed(&order, &started.lines)?;
    let ending = launch_all(started, &order, done, interrupt)?;
    started.progress.finish();
    started.journal.sync().map_err(journal_failure)?;
    Ok(ending)
}

fn launch_all(
    started: &mut Started,
    order: &[Slot],
    done: usize,
    interrupt: &Interrupt,
) -> Result<Ending, Failure> {
    for (place, slot) in order.iter().enumerate().skip(done) {
        started.progress.launches(slot, place, order.len());
        let sample = launched(started, slot, interrupt);
        // What an interrupt ended is launched again.
        if interrupt.flag().load(Relaxed) {
            return Ok(Ending::Interrupted);
        }
        let line = Line::AppLaunch(Box::new(sample));
        started.journal.append(&line).map_err(journal_failure)?;
        started.lines.push(line);
    }
    Ok(Ending::Complete)
}

fn launched(started: &Started, slot: &Slot, interrupt: &Interrupt) -> LaunchSample {
    let (job, plan) = (&slot.job, &started.plan);
    let started_at = place::timestamp();
    let seats = started.hosts.seats(job.ranks);
    let unknown = || EngineError::Refused(format!("there is no kernel \"{}\"", job.kernel));
    let kernel =
        room::for_launch(job).and_then(|()| kernel::by_name(&job.kernel).ok_or_else(unknown));
    let came = kernel.and_then(|kernel| {
        launch(kernel, job, &seats, plan.cap_ns, interrupt.flag(), &rank::program())
    });
    let Launched { ranks, host, cpus, flags, .. } =
        came.unwrap_or_else(|cause| not_launched(job.ranks, &cause));
    LaunchSample {
        job: job.clone(),
        round: slot.round,
        position: slot.position,
        started_at,
        ranks,
        host,
        cpus,
        flags,
    }
}

/// A launch that was not made: no rank came to its end, for the same reason.
fn not_launched(ranks: u32, cause: &EngineError) -> Launched {
    let failure = cause.sentence();
    let failed =
        |rank| RankSample { rank, failure: Some(failure.clone()), ..RankSample::default() };
    let ranks = (0..ranks).map(failed).collect();
    Launched { ranks, host: None, cpus: 0, flags: Vec::new(), library: None }
}

/// How many launches the journal holds, which are the first of the plan.
fn replayed(order: &[Slot], lines: &[Line]) -> Result<usize, Failure> {
    let launches = lines.iter().filter_map(|line| match line {
        Line::AppLaunch(sample) => Some(&**sample),
        Line::AppMissing { .. } => None,
    });
    let mut done = 0;
    for sample in launches {
        if !order.get(done).is_some_and(|slot| is_of(slot, sample)) {
            let (kernel, layer, round) = (&sample.job.kernel, &sample.job.layer, sample.round);
            let cause = anyhow!(
                "resume: launch of {kernel} over {layer} in round {round} is not the plan's next"
            );
            return Err(Failure::usage(cause).hint("start a new one with btu app run"));
        }
        done += 1;
    }
    Ok(done)
}

fn is_of(slot: &Slot, sample: &LaunchSample) -> bool {
    (&slot.job, slot.round, slot.position) == (&sample.job, sample.round, sample.position)
}
