//! Which run of a cell and pass counts, and with what figures.

use std::collections::BTreeMap;

use super::AloneRun;
use super::ScoredRun;
use crate::journal::AloneSample;
use crate::journal::Record;
use crate::role::Role;
use crate::run::anomaly;
use crate::run::cell::ActivityName;
use crate::run::cell::Cell;
use crate::run::plan::Plan;
use crate::run::plan::Work;
use crate::run::score::Figure;
use crate::run::verdict;
use crate::run::verdict::Verdict;
use crate::sample::ActivitySample;
use crate::sample::CellSample;
use crate::sample::Flag;
use crate::sample::Outcome;
use crate::units::BitRate;
use crate::units::Nanos;

/// A run that counts: its record, and what the score takes from it.
#[derive(Clone, Debug)]
pub struct CountedRun<'j> {
    /// As the journal holds it.
    pub sample: &'j CellSample,
    /// Its figures.
    pub scored: ScoredRun,
    /// What the emulation was worth.
    pub verdict: Verdict,
    /// Why COMM's figures are bounds instead of measurements.
    pub censored: Option<String>,
    /// Why the slowdown is one, though COMM may have been measured.
    pub idle: Option<String>,
    /// Why the run should not count, though it is the best there is.
    pub invalid: Vec<String>,
    /// What speaks against the base of its slowdown.
    pub base_doubt: Option<String>,
}

/// Each activity alone, one entry per pass: of several attempts the one that counts.
pub(super) fn alone_runs(plan: &Plan, records: &[Record]) -> Vec<AloneRun> {
    let mut attempts: BTreeMap<(u32, &ActivityName), Vec<&AloneSample>> = BTreeMap::new();
    for record in records {
        if let Record::Alone(sample) = record {
            attempts.entry((sample.pass, &sample.activity)).or_default().push(sample);
        }
    }
    attempts.into_values().filter_map(|attempts| base(plan, &attempts)).collect()
}

fn base(plan: &Plan, attempts: &[&AloneSample]) -> Option<AloneRun> {
    let AloneSample { activity, pass, sample, host, invalid, .. } =
        AloneSample::that_counts(attempts)?;
    let run = AloneRun {
        activity: activity.clone(),
        pass: *pass,
        units: sample.units,
        elapsed: sample.elapsed_ns,
        rate_per_s: None,
        failures: sample.failures.clone(),
        attempts: u32::try_from(attempts.len()).unwrap_or(u32::MAX),
        invalid: invalid.clone(),
        disturbance: host.as_ref().and_then(anomaly::disturbance),
    };
    Some(AloneRun { rate_per_s: base_rate(plan, &run), ..run })
}

/// An activity that fails stops working while its window goes on: that is a rate below the true one,
/// and every slowdown by it would flatter. Fixed work is timed to its own end, whatever cut it.
fn base_rate(plan: &Plan, run: &AloneRun) -> Option<f64> {
    let counts = plan.work == Work::Calibrated || !run.has_failed();
    let measured = run.elapsed > Nanos::ZERO && run.units > 0.0;
    (counts && measured).then(|| run.units / run.elapsed.seconds())
}

impl AloneRun {
    /// What speaks against it as a base, in words: the slowdowns by it are too small where it was slowed.
    fn doubt(&self) -> Option<String> {
        let Self { activity, pass, .. } = self;
        if self.invalid.is_empty() {
            let why = self.disturbance.as_ref()?;
            return Some(format!("{activity} alone in pass {pass} was disturbed: {why}"));
        }
        Some(format!("{activity} alone in pass {pass} is invalid: {}", self.invalid.join("; ")))
    }
}

/// The runs that count, one per cell and pass, in order of pass and position.
pub(super) fn counted_runs<'j>(
    plan: &Plan,
    records: &'j [Record],
    bases: &[AloneRun],
) -> Vec<CountedRun<'j>> {
    let mut attempts: BTreeMap<(u32, &Cell), Vec<&CellSample>> = BTreeMap::new();
    for record in records {
        if let Record::Cell(sample) = record {
            attempts.entry((sample.pass, &sample.cell)).or_default().push(sample);
        }
    }
    let emulator_rate = verdict::emulator_rate(records);
    let counted = |attempts: Vec<&'j CellSample>| count(plan, &attempts, bases, emulator_rate);
    let mut runs: Vec<CountedRun<'j>> = attempts.into_values().filter_map(counted).collect();
    runs.sort_by_key(|run| (run.sample.pass, run.sample.position));
    runs
}

/// A run beside the score, as if it counted.
pub(super) fn of_one<'j>(
    plan: &Plan,
    sample: &'j CellSample,
    emulator_rate: Option<BitRate>,
) -> Option<CountedRun<'j>> {
    count(plan, &[sample], &[], emulator_rate)
}

/// The last attempt that is not void: a repeat that failed takes nothing from what was measured before
/// it. Else the last valid one, else the last, which then says why it should not count.
fn count<'j>(
    plan: &Plan,
    attempts: &[&'j CellSample],
    bases: &[AloneRun],
    emulator_rate: Option<BitRate>,
) -> Option<CountedRun<'j>> {
    let judged = |sample: &&'j CellSample| {
        let verdict = verdict::run(sample, plan, emulator_rate);
        (*sample, invalid_causes(sample, &verdict), verdict)
    };
    let mut attempts: Vec<&CellSample> = attempts.to_vec();
    attempts.sort_by_key(|sample| sample.attempt);
    let made = u32::try_from(attempts.len()).unwrap_or(u32::MAX);
    let mut judged: Vec<_> = attempts.iter().map(judged).collect();
    let last_valid = judged.iter().rposition(|(_, invalid, _)| invalid.is_empty());
    let measured =
        judged.iter().rposition(|(sample, invalid, _)| invalid.is_empty() && !sample.is_void());
    let chosen = measured.or(last_valid).or(judged.len().checked_sub(1))?;
    let (sample, invalid, verdict) = judged.swap_remove(chosen);
    let base = AloneRun::of(bases, sample.pass, &sample.cell.activity);
    let Figures { scored, censored, idle } = figures(plan, sample, base, made);
    let base_doubt = base.and_then(AloneRun::doubt);
    let mut run = CountedRun { sample, scored, verdict, censored, idle, invalid, base_doubt };
    run.flag_itself();
    Some(run)
}

/// What the conductor found, and what the samples say when they are judged again.
fn invalid_causes(sample: &CellSample, verdict: &Verdict) -> Vec<String> {
    let judged = verdict.causes().iter().filter(|_| verdict.is_invalid());
    let mut causes: Vec<String> = sample.invalid.clone();
    causes.extend(judged.filter(|cause| !sample.invalid.contains(cause)).cloned());
    causes
}

/// The figures of one run, and why they are bounds where they are.
struct Figures {
    scored: ScoredRun,
    censored: Option<String>,
    idle: Option<String>,
}

fn figures(plan: &Plan, sample: &CellSample, base: Option<&AloneRun>, attempts: u32) -> Figures {
    let (bits, elapsed, censored) = traffic(plan, sample);
    let work = sample.activity_sample.as_ref().filter(|_| !sample.cell.activity.is_none());
    let (rate, idle) = work.map_or((None, None), |work| loaded_rate(sample, work));
    let base = base.and_then(|base| base.rate_per_s);
    let scored = ScoredRun {
        cell: sample.cell.clone(),
        pass: sample.pass,
        bits,
        elapsed,
        capped: censored.is_some(),
        goodput_mbps: megabits(bits) / elapsed.seconds(),
        //= maly1996#5 eq. 8
        slowdown: base.zip(rate).map(|(base, rate)| base / rate),
        slowdown_is_bound: idle.is_some(),
        activity_rate_per_s: rate,
        flags: sample.flags.clone(),
        attempt: sample.attempt,
        attempts,
    };
    Figures { scored, censored, idle }
}

/// Delivered bits and the time they took. A run that was capped, failed or delivered nothing has the
/// cap as its time and at least one message as its amount, so that its goodput is a bound above what
/// it reached and never zero (report: "censored").
//= maly1996#5 eq. 4
fn traffic(plan: &Plan, sample: &CellSample) -> (u64, Nanos, Option<String>) {
    let comm = sample.comm.as_ref();
    let bits = comm.map_or(0, |comm| comm.bytes.bits());
    let elapsed = comm.map_or(Nanos::ZERO, |comm| comm.elapsed_ns);
    let cause = match &sample.outcome {
        Outcome::Complete if bits > 0 && elapsed > Nanos::ZERO => return (bits, elapsed, None),
        Outcome::Complete => "nothing arrived".to_owned(),
        cut => cut.to_string(),
    };
    let least = sample.cell.application.message_bytes.bits().max(1);
    (bits.max(least), elapsed.max(plan.time_cap()), Some(cause))
}

/// The rate of the activity beside COMM. No unit at all counts as one: the slowdown is then a bound
/// below what it was, and never infinite.
//= maly1996#5 eq. 8
fn loaded_rate(sample: &CellSample, work: &ActivitySample) -> (Option<f64>, Option<String>) {
    if work.elapsed_ns == Nanos::ZERO {
        return (None, None);
    }
    let idle = (work.units <= 0.0).then(|| {
        let window = work.elapsed_ns.millis();
        format!("{} finished no unit of work in {window:.0} ms", sample.cell.activity)
    });
    let units = if work.units > 0.0 { work.units } else { 1.0 };
    (Some(units / work.elapsed_ns.seconds()), idle)
}

/// 10^6 bit.
#[expect(clippy::cast_precision_loss, reason = "bits of one run are far below 2^53")]
pub(super) fn megabits(bits: u64) -> f64 {
    bits as f64 / 1e6
}

impl CountedRun<'_> {
    /// The run as the score sees it.
    pub(super) fn figure(&self) -> Figure {
        Figure {
            case: self.scored.cell.case.name().to_owned(),
            application: self.scored.cell.application.name.clone(),
            activity: self.scored.cell.activity.as_str().to_owned(),
            repeat: self.scored.pass.into(),
            goodput_mbps: self.scored.goodput_mbps,
            slowdown: self.scored.slowdown,
        }
    }

    /// Adds a remark, unless one of that name is there already.
    pub(super) fn flag(&mut self, flag: Flag) {
        if !self.scored.flags.iter().any(|known| known.name == flag.name) {
            self.scored.flags.push(flag);
        }
    }

    /// True where a setting of a host changed meanwhile: of the test host, or of a black box, which tells it with its role.
    fn a_host_changed(&self) -> bool {
        let of_a_black_box = |cause: &String| {
            [Role::Active, Role::Passive].iter().any(|role| cause.starts_with(&format!("{role}: ")))
        };
        !self.sample.host.drift.is_empty() || self.sample.invalid.iter().any(of_a_black_box)
    }

    fn flag_itself(&mut self) {
        let bounds = [
            (&self.censored, "counts with its cap: a bound, not a measurement"),
            (&self.idle, "counts as one unit: the slowdown is a lower bound, the goodput is not"),
        ];
        let told = bounds.map(|(cause, counted)| Some(format!("{}; {counted}", cause.as_ref()?)));
        let told: Vec<String> = told.into_iter().flatten().collect();
        if !told.is_empty() {
            self.flag(Flag::new("censored", told.join("; ")));
        }
        if !self.invalid.is_empty() {
            let emulated = !self.sample.emulation.is_empty() && !self.a_host_changed();
            let stood_still = self.sample.comm.as_ref().and_then(verdict::standstill).is_some();
            let late = !stood_still && (self.verdict.is_invalid() || emulated);
            let name = if late { "emulation-late" } else { "invalid" };
            let causes = self.invalid.join("; ");
            let detail = match self.scored.attempts {
                0 | 1 => format!("invalid, and not repeated: {causes}"),
                attempts => format!("still invalid after {attempts} attempts: {causes}"),
            };
            self.flag(Flag::new(name, detail));
        }
        if let Some(work) = self.sample.activity_sample.as_ref().filter(|w| !w.failures.is_empty())
        {
            self.flag(Flag::new("activity-failed", work.failures.join("; ")));
        }
    }
}
