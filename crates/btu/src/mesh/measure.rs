//! Every round, kept in the journal before the next one.

use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use anyhow::anyhow;
use btu_core::mesh::course;
use btu_core::mesh::course::Batch;
use btu_core::mesh::plan::Plan;
use btu_core::mesh::sample::Line;
use btu_core::mesh::sample::PairSample;

use super::pair;
use super::start::Started;
use crate::conductor::NamedAgent;
use crate::conductor::PeerLink;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::measurement::closing::Ending;
use crate::measurement::journal::journal_failure;
use crate::measurement::place;

/// Measures everything that the journal does not hold yet.
pub(super) fn measure(started: &mut Started, interrupt: &Interrupt) -> Result<Ending, Failure> {
    call_the_roll(started, interrupt)?;
    while let Some(batch) = course::next(&started.plan, &started.lines) {
        if interrupt.flag().load(Relaxed) {
            break;
        }
        started.progress.begins(&started.plan, &batch);
        let seen = seen(started, &batch, interrupt);
        // Pairs that were told to end measured nothing.
        if interrupt.flag().load(Relaxed) {
            break;
        }
        for sample in seen {
            keep(started, Line::MeshPair(Box::new(sample)))?;
        }
        started.journal.sync().map_err(journal_failure)?;
    }
    started.progress.finish();
    let is_asked = interrupt.flag().load(Relaxed);
    Ok(if is_asked { Ending::Interrupted } else { Ending::Complete })
}

/// Says of each host that does not answer why that is: its pairs are not measured. Asked once, at the beginning.
fn call_the_roll(started: &mut Started, interrupt: &Interrupt) -> Result<(), Failure> {
    if !started.lines.is_empty() {
        return Ok(());
    }
    let ask = |agent: &NamedAgent| {
        PeerLink::connect(agent, &started.own, interrupt.flag(), &mut |_| ()).map(drop)
    };
    let answers: Vec<_> = thread::scope(|scope| {
        let asked: Vec<_> = started.agents.iter().map(|agent| scope.spawn(|| ask(agent))).collect();
        asked.into_iter().map(thread::ScopedJoinHandle::join).collect()
    });
    let mut missing = Vec::new();
    for (host, answer) in answers.into_iter().enumerate() {
        match answer {
            Ok(Ok(())) => {}
            Ok(Err(fault)) => missing.push(Line::MeshMissing { host, reason: fault.to_string() }),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
    if interrupt.flag().load(Relaxed) {
        return Ok(());
    }
    let there = started.agents.len() - missing.len();
    let first = missing.first().map(|line| told(&started.plan, line)).unwrap_or_default();
    missing.into_iter().try_for_each(|line| keep(started, line))?;
    if there < Plan::LEAST_HOSTS {
        let cause = anyhow!("{there} of {} hosts came: {first}", started.agents.len());
        return Err(
            Failure::agent(cause).hint("is btu agent running there, and paired with this host?")
        );
    }
    Ok(())
}

fn told(plan: &Plan, line: &Line) -> String {
    match line {
        Line::MeshMissing { host, reason } => format!("{}: {reason}", plan.hosts[*host]),
        Line::MeshPair(_) => String::new(),
    }
}

/// Measures disjoint pairs at the same time.
fn seen(started: &Started, batch: &Batch, interrupt: &Interrupt) -> Vec<PairSample> {
    let one = |pair: (usize, usize)| {
        let started_at = place::timestamp();
        let (there, back, failure) = match pair::measured(started, pair, batch.round, interrupt) {
            Ok([there, back]) => (Some(there), Some(back), None),
            Err(failure) => (None, None, Some(format!("{:#}", failure.cause))),
        };
        PairSample { part: batch.part, round: batch.round, pair, started_at, there, back, failure }
    };
    thread::scope(|scope| {
        let begun: Vec<_> = batch.pairs.iter().map(|pair| scope.spawn(|| one(*pair))).collect();
        let ended = begun.into_iter().map(thread::ScopedJoinHandle::join);
        ended.map(|one| one.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

fn keep(started: &mut Started, line: Line) -> Result<(), Failure> {
    started.journal.append(&line).map_err(journal_failure)?;
    started.lines.push(line);
    Ok(())
}
