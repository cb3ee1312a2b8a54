//! From the samples of a journal to what each experiment found.

mod drift;

use super::Journal;
use super::experiment;
use super::experiment::Experiment;
use super::plan::Plan;
use super::point::Point;
use super::round;
use super::sample::Held;
use super::sample::Line;
use super::sample::Trial;
use super::sample::TrialSample;
use super::table::Findings;
use super::table::size_text;
use crate::sample::Flag;
use crate::words::several;

/// What a journal means.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// Each experiment with what it found, in the order of the plan.
    pub experiments: Vec<Outcome>,
    /// Every trial over all its rounds, in the order of the plan.
    pub points: Vec<Point>,
    /// Trials that failed, in their order.
    pub failures: Vec<Failure>,
    /// Slots of a night that were not made, with the reason.
    pub missed: Vec<(u32, String)>,
    /// Whether what was measured in a night changed from its beginning to its end, for each trial.
    pub drifts: Vec<Drift>,
    /// Protocols that are not there, with the reason.
    pub missing: Vec<(String, String)>,
    /// What a reader should know of all of it.
    pub flags: Vec<Flag>,
    /// False where it was cut short, or a trial failed.
    pub complete: bool,
}

pub use drift::Drift;

/// An experiment and what it found.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The experiment.
    pub experiment: &'static dyn Experiment,
    /// What it found.
    pub findings: Findings,
}

/// A trial that did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What was asked for.
    pub trial: Trial,
    /// Its round.
    pub round: u32,
    /// What happened.
    pub reason: String,
}

/// What a journal means.
pub fn analyse(journal: &Journal) -> Analysis {
    let samples = samples(journal);
    let cpus = journal.hosts.online_cpus();
    let of_trial = |trial: &Trial| -> Vec<&TrialSample> {
        samples.iter().copied().filter(|sample| sample.trial.is_like(trial)).collect()
    };
    let trials = journal.plan.trials();
    let points = trials.iter().map(|trial| Point::of(trial, &of_trial(trial), cpus));
    let points: Vec<Point> = points.filter(|point| point.rounds + point.failed > 0).collect();
    let failures = failures(&samples);
    let outcome = |experiment: &'static dyn Experiment| Outcome {
        experiment,
        findings: experiment.findings(&journal.plan, &points),
    };
    Analysis {
        experiments: journal.plan.named().into_iter().map(outcome).collect(),
        flags: flags(journal, &points),
        complete: journal.is_complete() && failures.is_empty(),
        missing: missing(journal),
        missed: missed(journal),
        drifts: drift::drifts(&journal.plan, &points),
        points,
        failures,
    }
}

fn samples(journal: &Journal) -> Vec<&TrialSample> {
    journal.lines.iter().filter_map(Line::trial).collect()
}

fn missing(journal: &Journal) -> Vec<(String, String)> {
    let missing = journal.lines.iter().filter_map(|line| match line {
        Line::FileMissing { protocol, reason } => Some((protocol.clone(), reason.clone())),
        _ => None,
    });
    missing.collect()
}

fn missed(journal: &Journal) -> Vec<(u32, String)> {
    let missed = journal.lines.iter().filter_map(|line| match line {
        Line::FileSlotMissed { slot, reason } => Some((*slot, reason.clone())),
        _ => None,
    });
    missed.collect()
}

/// Of warm-ups, too: they are no part of a figure, but what failed in them fails again.
fn failures(samples: &[&TrialSample]) -> Vec<Failure> {
    let failure = |sample: &&TrialSample| {
        let reason = round::failure(sample)?;
        Some(Failure { trial: sample.trial.clone(), round: sample.round, reason })
    };
    samples.iter().filter_map(failure).collect()
}

fn flags(journal: &Journal, points: &[Point]) -> Vec<Flag> {
    let theirs = journal.plan.target.as_ref().map(|_| Flag::new(SERVER_OF_OTHERS, THEIRS));
    let shared = is_shared(journal).then(|| Flag::new(SHARED_HOST, SHARED));
    let flags = theirs.into_iter().chain(shared).filter(|_| !points.is_empty());
    let others = match journal.plan.target {
        Some(_) if is_shared(journal) => "other programs, the server among them,",
        _ => "other programs",
    };
    let disturbed = disturbed(&journal.plan, points, others);
    let missed = missed_slots(journal);
    flags.chain(missed).chain(disturbed).chain(points.iter().filter_map(not_cold)).collect()
}

fn missed_slots(journal: &Journal) -> Option<Flag> {
    let (missed, all) = (missed(journal), journal.plan.rounds);
    let named: Vec<String> = missed.iter().map(|(slot, _)| slot.to_string()).collect();
    let slots = if named.len() == 1 { "slot" } else { "slots" };
    let detail = format!("not made, and in no figure: {slots} {} of {all}", named.join(", "));
    (!missed.is_empty()).then(|| Flag::new(MISSED_SLOTS, detail))
}

/// Servers of this program share the machine with their clients; a server of others does where its address is one of this
/// host.
fn is_shared(journal: &Journal) -> bool {
    let is_here = || {
        let server = journal.hosts.hosts.get("active")?.get("server")?;
        server.get("on_this_host")?.value.as_ref()?.as_bool()
    };
    journal.plan.target.is_none() || is_here() == Some(true)
}

/// Other programs took CPUs from trials.
fn disturbed(plan: &Plan, points: &[Point], others: &str) -> Option<Flag> {
    let taken = |point: &Point| Some((experiment::foreign(point)?, plan.label(&point.trial)));
    let all: Vec<(f64, String)> = points.iter().filter_map(taken).collect();
    let (most, label) = all.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let trials = several(all.len(), "trial");
    let detail = format!(
        "{others} used {:.0} % of the CPUs and more during {trials} of {}, {most:.0} % at most ({label}): rates are of \
         what they left; end them, and measure again",
        experiment::FOREIGN,
        points.len()
    );
    Some(Flag::new(FOREIGN_CPU, detail))
}

/// A read that was asked for cold and is not known to be so.
fn not_cold(point: &Point) -> Option<Flag> {
    let label = point.trial.label();
    match (point.trial.held, point.held, point.server.disk_per_delivered) {
        (Held::Cold, Held::Warm, read) => {
            let read = read.map_or(0.0, |read| 100.0 * read.value);
            let detail =
                format!("{label}: {read:.0} % of the bytes came from a disk: told as warm");
            Some(Flag::new(NOT_COLD, detail))
        }
        (Held::Cold, Held::Cold, Some(_)) if point.warm_rounds > 0 => {
            let (warm, all) = (point.warm_rounds, point.rounds);
            let detail =
                format!("{label}: warm in {warm} of {all} rounds: its figures are of both");
            Some(Flag::new(NOT_COLD, detail))
        }
        (Held::Cold, _, None) if point.rounds > 0 => {
            let detail = format!("{label}: nobody counted what came from a disk: perhaps not cold");
            Some(Flag::new(NOT_COLD, detail))
        }
        _ => None,
    }
}

impl Trial {
    /// True for the same but for the number of files: another version of this program may make more of them.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        *self == Self { count: self.count, ..other.clone() }
    }

    /// The trial in words: `ftp get 1 MB B->A, 2 clients, MTU 1500, cold`.
    pub fn label(&self) -> String {
        self.label_towards("B")
    }

    /// The same where host B has a name.
    pub(super) fn label_towards(&self, far: &str) -> String {
        let (operation, way) = (self.operation.name(), self.direction.towards(far));
        let size = size_text(self.size_bytes);
        let what = [
            Some(format!("{} {operation} {size} {way}", self.protocol)),
            (self.clients > 1).then(|| format!("{} clients", self.clients)),
            self.mtu_bytes.map(|mtu| format!("MTU {}", mtu.count())),
            self.held.is_on_disk().then(|| self.held.name().to_owned()),
        ];
        what.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// A night has fewer slots than were asked for.
pub const MISSED_SLOTS: &str = "missed-slots";
/// The server is not this program's.
pub const SERVER_OF_OTHERS: &str = "server-of-others";
const THEIRS: &str =
    "the server is not this program's: what it used, and what its files lay in, cannot be told";
/// Clients and servers are on one machine.
pub const SHARED_HOST: &str = "shared-host";
const SHARED: &str = "clients and servers share the CPUs of one machine: how the service grows with its clients \
     cannot be concluded from this result";
/// Other programs took CPUs from what was measured.
pub const FOREIGN_CPU: &str = "foreign-cpu";
/// A cold read that was none, or may have been none.
pub const NOT_COLD: &str = "not-cold";

#[cfg(test)]
mod tests;
