//! What a journal cannot hold if it was measured: another order than the seed's, passes with holes, more
//! bits than the kernel counted.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use btu_core::journal::AloneSample;
use btu_core::journal::Journal;
use btu_core::journal::Record;
use btu_core::journal::file;
use btu_core::role::Role;
use btu_core::run::anomaly::disturbance;
use btu_core::run::cell::Direction;
use btu_core::run::plan::Plan;
use btu_core::run::schedule::Slot;
use btu_core::run::schedule::Step;
use btu_core::sample::CellSample;
use btu_core::sample::ConnectionSample;
use btu_core::sample::HostSample;
use btu_core::units::BitRate;
use btu_core::units::Bytes;
use btu_core::words::several;

use super::Finding;

/// What a conductor of this plan would not have written, line by line, and what it would have.
pub fn check_runs(journal: &Journal) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut passes = Passes::default();
    for (record, line) in journal.records.iter().zip(1..) {
        let place = format!("samples.jsonl:{line}");
        if let Some(run) = Made::of(record) {
            let faults = passes.add(&journal.plan, &run).into_iter();
            found.extend(faults.map(|it| Finding::new("order", place.clone(), it)));
        }
        if let Record::Cell(sample) = record {
            let impossible =
                impossible(sample, &journal.plan).map(|it| Finding::new("plausibility", place, it));
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
    /// Pass and place of first attempts that a conductor repeats.
    due: BTreeSet<(u32, u32)>,
}

impl Passes {
    /// What is wrong with the run that comes next.
    fn add(&mut self, plan: &Plan, run: &Made) -> Vec<String> {
        let Made { slot, attempt, wants_repeat } = run;
        let (Slot { pass, position, step }, attempt) = (slot, *attempt);
        let order = self.orders.entry(*pass).or_insert_with(|| plan.pass_order(*pass));
        let misplaced = (!order.contains(slot))
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
        if attempt == 1 && *wants_repeat {
            self.due.insert((*pass, *position));
        }
        let unasked = self.unasked(key).map(|why| format!("{step}: attempt {attempt} {why}"));
        misplaced.into_iter().chain(out_of_turn).chain(unasked).collect()
    }

    /// Why no conductor made this attempt: a run that is void or disturbed is repeated, once. Whoever repeats more
    /// chooses the best.
    fn unasked(&self, (pass, position, attempt): (u32, u32, u32)) -> Option<&'static str> {
        match attempt {
            1 => None,
            2 if !self.seen.contains(&(pass, position, 1)) => Some("without the one before"),
            2 => (!self.due.contains(&(pass, position)))
                .then_some("of a run that was neither invalid nor disturbed"),
            _ => Some("of a run that is repeated once at the most"),
        }
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

/// A run that is scored.
struct Made {
    slot: Slot,
    attempt: u32,
    /// True where a conductor repeats such a run, if the allowance has room.
    wants_repeat: bool,
}

impl Made {
    fn of(record: &Record) -> Option<Self> {
        let wants = |is_void, host: Option<&HostSample>| is_void || host.is_some_and(is_disturbed);
        match record {
            Record::Alone(alone) => {
                let AloneSample { pass, position, attempt, .. } = *alone;
                let step = Step::Alone(alone.activity.clone());
                let wants_repeat = wants(alone.is_void(), alone.host.as_ref());
                Some(Self { slot: Slot { pass, position, step }, attempt, wants_repeat })
            }
            Record::Cell(run) => {
                let CellSample { pass, position, attempt, .. } = **run;
                let step = Step::Cell(run.cell.clone());
                let wants_repeat = wants(run.is_void(), Some(&run.host));
                Some(Self { slot: Slot { pass, position, step }, attempt, wants_repeat })
            }
            // Second runs have their own order, and nothing of them is scored.
            Record::Capture(_) | Record::Verification(_) => None,
        }
    }
}

fn is_disturbed(host: &HostSample) -> bool {
    disturbance(host).is_some()
}

/// Why this run cannot have been measured.
fn impossible(sample: &CellSample, plan: &Plan) -> Option<String> {
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
    comm.connections.iter().find_map(more_than_counted).or_else(|| beyond_its_line(sample, plan))
}

/// More bits to the user than the emulated line has: a line has no bucket and no first burst, nothing of a run is on
/// it before the run begins, and of each packet at least 40 bytes are headers (RFC 791, RFC 9293) that are no goodput.
/// An honest run stays below its line by these, so that the rate itself is the limit. One that was given up at its cap
/// is none: what its queues held came after the time that it counts.
fn beyond_its_line(sample: &CellSample, plan: &Plan) -> Option<String> {
    if !sample.outcome.is_complete() {
        return None;
    }
    let (comm, case) = (sample.comm.as_ref()?, sample.cell.case);
    let mut lines: BTreeMap<Option<(Role, Direction)>, (Bytes, BitRate)> = BTreeMap::new();
    for one in &comm.connections {
        let Some(rate) = plan.line_rate(case, one.direction) else { continue };
        let own = (!plan.has_one_line(case)).then_some((one.peer, one.direction));
        let (carried, line) = lines.entry(own).or_default();
        *carried = carried.saturating_add(one.bytes);
        *line = rate.max(*line);
    }
    lines.into_values().find_map(|(carried, line)| {
        let goodput = carried.per(comm.elapsed_ns).filter(|goodput| *goodput > line)?;
        Some(format!("{carried} in {}, {goodput}, through a line of {line}", comm.elapsed_ns))
    })
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
