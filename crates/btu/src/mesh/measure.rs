//! Every round, kept in the journal before the next one.

use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use anyhow::anyhow;
use btu_control::client::Fault;
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
        let is_asked = interrupt.flag().load(Relaxed);
        // A pair that was told to end did not fail.
        for sample in seen.into_iter().filter(|one| !is_asked || one.failure.is_none()) {
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
    let missing = missing(started, interrupt);
    if interrupt.flag().load(Relaxed) {
        return Ok(());
    }
    let (all, hosts) = (started.agents.len(), &started.plan.hosts);
    match missing.first() {
        // None of them is kept as missing: whoever goes on asks all of them again.
        Some((host, reason)) if all - missing.len() < Plan::LEAST_HOSTS => {
            let (there, host) = (all - missing.len(), &hosts[*host]);
            let cause = anyhow!("{there} of {all} hosts came: {host}: {reason}");
            Err(Failure::agent(cause)
                .hint("is btu agent running there, and paired with this host?"))
        }
        _ => missing
            .into_iter()
            .try_for_each(|(host, reason)| keep(started, Line::MeshMissing { host, reason })),
    }
}

/// The hosts that do not answer, and why.
fn missing(started: &Started, interrupt: &Interrupt) -> Vec<(usize, String)> {
    let ask = |agent: &NamedAgent| {
        PeerLink::connect(agent, &started.own, interrupt.flag(), &mut |_| ()).err()
    };
    let faults: Vec<_> = thread::scope(|scope| {
        let asked: Vec<_> = started.agents.iter().map(|agent| scope.spawn(|| ask(agent))).collect();
        asked.into_iter().map(joined).collect()
    });
    let told = |(host, fault): (usize, Option<Fault>)| Some((host, fault?.to_string()));
    faults.into_iter().enumerate().filter_map(told).collect()
}

/// What a thread found; its panic is one of this thread.
fn joined<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
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
        begun.into_iter().map(joined).collect()
    })
}

fn keep(started: &mut Started, line: Line) -> Result<(), Failure> {
    started.journal.append(&line).map_err(journal_failure)?;
    started.lines.push(line);
    Ok(())
}
