//! What a journal cannot hold if it was measured: another order than the seed's, passes with holes, more
//! bits than the kernel counted.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use btu_core::journal::Journal;
use btu_core::journal::Record;
use btu_core::journal::file;
use btu_core::plan::Plan;
use btu_core::sample::CellSample;
use btu_core::sample::ConnectionSample;
use btu_core::schedule::Slot;
use btu_core::schedule::Step;
use btu_core::words::several;

use super::Finding;

/// What a conductor of this plan would not have written, line by line, and what it would have.
pub fn check_runs(journal: &Journal) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut passes = Passes::default();
    for (record, line) in journal.records.iter().zip(1..) {
        let place = format!("samples.jsonl:{line}");
        if let Some((slot, attempt)) = slot(record) {
            let faults = passes.add(&journal.plan, &slot, attempt).into_iter();
            found.extend(faults.map(|it| Finding::new("order", place.clone(), it)));
        }
        if let Record::Cell(sample) = record {
            let impossible = impossible(sample).map(|it| Finding::new("plausibility", place, it));
            found.extend(impossible);
        }
    }
    let missing = passes.missing(&journal.plan, journal.came_to_its_end()).into_iter();
    found.extend(missing.map(|it| Finding::new("order", file::SAMPLES, it)));
    found
}

/// The runs of a journal by their place. A conductor makes one step after the other and one pass after
/// the other, also after a resume: whatever is out of order, twice or not there was not measured so.
#[derive(Default)]
struct Passes {
    orders: BTreeMap<u32, Vec<Slot>>,
    /// Pass, place in it, attempt.
    seen: BTreeSet<(u32, u32, u32)>,
}

impl Passes {
    /// What is wrong with the run that comes next.
    fn add(&mut self, plan: &Plan, run: &Slot, attempt: u32) -> Vec<String> {
        let Slot { pass, position, step } = run;
        let order = self.orders.entry(*pass).or_insert_with(|| plan.pass_order(*pass));
        let misplaced = (!order.contains(run))
            .then(|| format!("{step} is not step {position} of pass {pass} by the plan's seed"));
        let key = (*pass, *position, attempt);
        let last = self.seen.last().copied().unwrap_or_default();
        let out_of_turn = if !self.seen.insert(key) {
            Some(format!("{step}, attempt {attempt}: a second time"))
        } else if key < last {
            let (later, at, _) = last;
            Some(format!("step {position} of pass {pass} after step {at} of pass {later}"))
        } else {
            None
        };
        let before = (*pass, *position, attempt.saturating_sub(1));
        let repeats = attempt > 1 && self.seen.contains(&before);
        let unasked = (attempt != 1 && !repeats)
            .then(|| format!("{step}: attempt {attempt} without the one before"));
        misplaced.into_iter().chain(out_of_turn).chain(unasked).collect()
    }

    /// What is not there, and what is too much. Only the last pass of a run that was cut short may have holes.
    fn missing(&self, plan: &Plan, finished: bool) -> Vec<String> {
        let mut missing = Vec::new();
        let numbers: Vec<u32> = self.orders.keys().copied().collect();
        if let Some((found, wanted)) = numbers.iter().zip(1..).find(|(found, at)| *found != at) {
            missing.push(format!("pass {wanted} is missing: the next one is pass {found}"));
        }
        let whole = numbers.len() - usize::from(!finished && !numbers.is_empty());
        missing.extend(numbers[..whole].iter().filter_map(|pass| self.hole(*pass)));
        missing.extend(self.too_many(plan));
        let (made, least) = (numbers.len(), plan.passes.min);
        if finished && u32::try_from(made).is_ok_and(|made| made < least) {
            missing.push(format!("finished with {made} of at least {}", several(least, "pass")));
        }
        missing
    }

    /// Passes beyond those of the plan: whoever adds some chooses the best of them. How many of the others
    /// are made is decided on the way.
    fn too_many(&self, plan: &Plan) -> Option<String> {
        let (last, most) = (*self.orders.keys().last()?, plan.passes.max);
        (last > most).then(|| format!("pass {last} of at most {}", several(most, "pass")))
    }

    /// The steps of a pass that no run stands for.
    fn hole(&self, pass: u32) -> Option<String> {
        let order = self.orders.get(&pass)?;
        let made: BTreeSet<u32> =
            self.seen.range((pass, 0, 0)..=(pass, u32::MAX, u32::MAX)).map(|key| key.1).collect();
        let gone = || order.iter().filter(|slot| !made.contains(&slot.position));
        let (first, n, all) = (&gone().next()?.step, gone().count(), order.len());
        Some(format!("{n} of {all} runs of pass {pass} are missing, the first is {first}"))
    }
}

/// The place of a run that is scored, and its attempt.
fn slot(record: &Record) -> Option<(Slot, u32)> {
    match record {
        Record::Alone(alone) => {
            let (pass, position) = (alone.pass, alone.position);
            Some((
                Slot { pass, position, step: Step::Alone(alone.activity.clone()) },
                alone.attempt,
            ))
        }
        Record::Cell(sample) => {
            let (pass, position) = (sample.pass, sample.position);
            let step = Step::Cell(sample.cell.clone());
            Some((Slot { pass, position, step }, sample.attempt))
        }
        // Second runs have their own order, and nothing of them is scored.
        Record::Capture(_) | Record::Verification(_) => None,
    }
}

/// Why this run cannot have been measured.
fn impossible(sample: &CellSample) -> Option<String> {
    let comm = sample.comm.as_ref()?;
    let sum: u64 = comm.connections.iter().map(|one| one.bytes.count()).sum();
    if sum != comm.bytes.count() {
        let all = comm.bytes.count();
        return Some(format!("{all} bytes, but its connections carried {sum}"));
    }
    let late = comm.connections.iter().any(|one| one.elapsed_ns > comm.elapsed_ns);
    if late {
        return Some("a connection took longer than the whole run".to_owned());
    }
    comm.connections.iter().find_map(more_than_counted)
}

/// Bytes that no kernel saw pass.
fn more_than_counted(connection: &ConnectionSample) -> Option<String> {
    let bytes = connection.bytes.count();
    let received = connection.receiver.tcp_info.as_ref().and_then(|info| info.bytes_received);
    let sent = connection.sender.tcp_info.as_ref().and_then(|info| info.bytes_sent);
    let (end, counted) = [("receiver", received), ("sender", sent)]
        .into_iter()
        .find_map(|(end, counted)| Some((end, counted.filter(|counted| *counted < bytes)?)))?;
    Some(format!("{bytes} bytes, but the {end}'s kernel counted {counted}"))
}
