//! The sweep: every visit of the schedule, kept in the journal before the next one.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering::Relaxed;

use anyhow::anyhow;
use btu_core::pingpong::configuration::Configuration;
use btu_core::pingpong::configuration::Mode;
use btu_core::pingpong::configuration::REFERENCE;
use btu_core::pingpong::sample::ConfigurationId;
use btu_core::pingpong::sample::Line;
use btu_core::pingpong::sample::VisitSample;
use btu_core::pingpong::schedule::Schedule;
use btu_core::pingpong::schedule::Sweep;
use btu_core::pingpong::schedule::Visit;
use btu_core::units::Bytes;

use super::search;
use super::start::Started;
use super::start::declared;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::measurement::closing::Ending;
use crate::measurement::journal::journal_failure;

/// Measures everything that the journal does not hold yet.
pub(super) fn measure(started: &mut Started, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let all = declared(&started.lines);
    let (reference, curves): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(_, configuration, _)| configuration.transport == REFERENCE);
    let carried: Vec<(ConfigurationId, Bytes)> =
        curves.iter().map(|(id, _, largest)| (*id, *largest)).collect();
    let sweep_of_curves = started.plan.sweep(&carried, started.clock_step);
    let schedule = Schedule::new(Sweep { streams: streams(&curves), ..sweep_of_curves });
    let mut ending = sweep(started, schedule, &curves, interrupt)?;
    if let (Ending::Complete, Some((id, ..))) = (&ending, reference.first()) {
        let sweep_of_copies = started.plan.reference_sweep(*id, started.clock_step);
        ending = sweep(started, Schedule::new(sweep_of_copies), &reference, interrupt)?;
    }
    started.sessions.close();
    if ending == Ending::Complete && started.plan.chasms.is_some() {
        for (id, configuration, _) in &curves {
            search::search(started, *id, configuration)?;
        }
        ending = started.sessions.lost().map_or(ending, Ending::Lost);
    }
    started.progress.finish();
    started.journal.sync().map_err(journal_failure)?;
    Ok(if interrupt.flag().load(Relaxed) { Ending::Interrupted } else { ending })
}

/// Those whose blocks go one way; one whose every byte is checked goes there and back.
fn streams(curves: &[(ConfigurationId, Configuration, Bytes)]) -> BTreeSet<ConfigurationId> {
    let is_stream = |configuration: &Configuration| {
        configuration.mode == Mode::Streaming && !configuration.verify
    };
    let streams = curves.iter().filter(|(_, configuration, _)| is_stream(configuration));
    streams.map(|(id, ..)| *id).collect()
}

/// Runs a schedule to its end, or to the interrupt.
fn sweep(
    started: &mut Started,
    mut schedule: Schedule,
    curves: &[(ConfigurationId, Configuration, Bytes)],
    interrupt: &Interrupt,
) -> Result<Ending, Failure> {
    let ids: Vec<ConfigurationId> = curves.iter().map(|(id, ..)| *id).collect();
    replay(&mut schedule, &started.lines, &ids)?;
    let round = started.plan.points().len().saturating_mul(curves.len()).max(1);
    let mut since = 0;
    while let Some(visit) = schedule.next_visit() {
        let Some((_, configuration, _)) = curves.iter().find(|(id, ..)| *id == visit.configuration)
        else {
            continue;
        };
        let asked = asked(&visit, configuration, started.plan.reset);
        let sample = started.sessions.visit(configuration, &asked);
        if interrupt.flag().load(Relaxed) {
            return Ok(Ending::Interrupted);
        }
        schedule.record(&visit, &sample);
        keep(started, Line::PingPongVisit(Box::new(sample)))?;
        if let Some(reason) = started.sessions.lost() {
            return Ok(Ending::Lost(reason));
        }
        since += 1;
        if since == round {
            since = 0;
            started.journal.sync().map_err(journal_failure)?;
        }
        started.progress.visited(&visit, configuration, &schedule);
    }
    for id in ids {
        tell_stops(started, &schedule, id)?;
    }
    Ok(Ending::Complete)
}

/// Keeps which points of a configuration got fewer rounds, and why: once, also where its search is gone on with.
fn tell_stops(
    started: &mut Started,
    schedule: &Schedule,
    id: ConfigurationId,
) -> Result<(), Failure> {
    let stops = schedule.stopped(id);
    let is_told = |line: &Line| matches!(line, Line::PingPongStops { id: of, .. } if *of == id);
    if stops.is_empty() || started.lines.iter().any(is_told) {
        return Ok(());
    }
    keep(started, Line::PingPongStops { id, stops })
}

/// The visit as it is made: a checked one is short, and a plan may want new connections throughout.
fn asked(visit: &Visit, configuration: &Configuration, reset: bool) -> Visit {
    let units = if configuration.verify { CHECKED_EXCHANGES } else { visit.units };
    let batch = if configuration.verify { 1 } else { visit.batch };
    Visit { units, batch, opens: visit.opens || reset, ..visit.clone() }
}

fn keep(started: &mut Started, line: Line) -> Result<(), Failure> {
    started.journal.keep(&line).map_err(journal_failure)?;
    started.lines.push(line);
    Ok(())
}

/// Leads the schedule over the visits that the journal holds already.
fn replay(schedule: &mut Schedule, lines: &[Line], ids: &[ConfigurationId]) -> Result<(), Failure> {
    for line in lines {
        let Line::PingPongVisit(sample) = line else { continue };
        if !ids.contains(&sample.configuration) {
            continue;
        }
        match schedule.next_visit() {
            Some(visit) if is_of(&visit, sample) => schedule.record(&visit, sample),
            _ => {
                let cause = anyhow!(
                    "resume: visit of {} bytes in round {} is not the plan's next",
                    sample.size_bytes.count(),
                    sample.round
                );
                return Err(Failure::usage(cause).hint("start a new one with btu pingpong"));
            }
        }
    }
    Ok(())
}

fn is_of(visit: &Visit, sample: &VisitSample) -> bool {
    (visit.configuration, visit.size, visit.round, visit.position, visit.attempt)
        == (sample.configuration, sample.size_bytes, sample.round, sample.position, sample.attempt)
}

/// Exchanges of a visit whose every byte is checked; a planted fault comes in the sixth.
const CHECKED_EXCHANGES: u32 = 10;
