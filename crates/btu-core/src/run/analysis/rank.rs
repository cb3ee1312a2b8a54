//! Why a result must not be ranked. Every reason is a sentence; none is hidden.

use std::ops::RangeBounds;

use super::AloneRun;
use super::CountedRun;
use super::INCOMPLETE_PASS;
use crate::journal::EventRecord;
use crate::journal::Journal;
use crate::run::anomaly::is_disturbance;
use crate::run::cell::ActivityName;
use crate::sample::Flag;
use crate::words::agreeing;
use crate::words::several;

/// What the reasons are drawn from.
#[derive(Debug)]
pub(super) struct Grounds<'g> {
    pub(super) journal: &'g Journal,
    pub(super) runs: &'g [CountedRun<'g>],
    pub(super) bases: &'g [AloneRun],
    pub(super) complete: bool,
    pub(super) complete_passes: u32,
    /// Of these, the ones that have every slowdown.
    pub(super) penalty_passes: usize,
    pub(super) missing_cells: usize,
}

impl Grounds<'_> {
    /// All reasons, the general ones first; empty for a rankable result.
    pub(super) fn reasons(&self) -> Vec<String> {
        let general = [
            self.preset(),
            self.partial(),
            self.unfinished(),
            self.too_few_passes(),
            self.failed_base(),
            self.invalid_base(2.., "are invalid after their repeat"),
            self.invalid_base(..2, NOT_REPEATED),
            self.missing_base(),
            self.uneven_penalty(),
            self.build(),
            self.verification(),
        ];
        let of_runs = [
            self.runs_that("are censored (a cap or a failure counts as time)", |run| {
                run.censored.clone()
            }),
            self.runs_that(IDLE, |run| run.idle.clone()),
            self.runs_that("are invalid after their repeat", |run| run.invalid_at(2..)),
            self.runs_that(NOT_REPEATED, |run| run.invalid_at(..2)),
            self.runs_that("fail the proof of their byte counts", proof_failure),
            self.runs_that("had an activity that did not work as asked", |run| {
                run.flag_detail("activity-failed")
            }),
            self.runs_that("were held back by an agent's policy", |run| {
                run.flag_detail(Flag::POLICY_LIMITED)
            }),
            self.disturbed(),
            self.congestion(),
            self.io_in_memory(),
            self.limited_black_box(),
            self.shared_black_box(),
        ];
        general.into_iter().chain(of_runs).flatten().collect()
    }

    fn preset(&self) -> Option<String> {
        match self.journal.plan.preset.as_str() {
            "quick" => Some("preset quick: windows too short to rank; use --official".to_owned()),
            "custom" => Some("preset custom: a plan of the user's own".to_owned()),
            _ => None,
        }
    }

    fn partial(&self) -> Option<String> {
        let all = self.journal.plan.cells().len();
        match (self.journal.plan.partial, self.missing_cells) {
            (Some(true), _) => Some("partial: the matrix is smaller than the edition's".to_owned()),
            (_, missing @ 1..) => Some(format!("partial: {missing} of {all} cells have no run")),
            (None, 0) => Some(UNKNOWN_MATRIX.to_owned()),
            (Some(false), 0) => None,
        }
    }

    fn unfinished(&self) -> Option<String> {
        let why = EventRecord::cut(&self.journal.events).filter(|why| !why.is_empty());
        let why = why.map_or_else(String::new, |why| format!(": {why}"));
        (!self.complete).then(|| format!("the run did not come to its end{why}"))
    }

    fn too_few_passes(&self) -> Option<String> {
        let (made, wanted) = (self.complete_passes, self.journal.plan.passes.min);
        (made < wanted).then(|| format!("{made} of {wanted} passes are complete"))
    }

    /// An activity that did not do alone what it was asked for is no base to compare with.
    fn failed_base(&self) -> Option<String> {
        let failed = || self.bases.iter().filter(|base| base.has_failed());
        let AloneRun { activity, pass, failures, .. } = failed().next()?;
        let (n, all, cause) = (failed().count(), self.bases.len(), failures.join("; "));
        Some(format!(
            "{n} of {all} runs of an activity alone did not work as asked; the first is {activity}, \
             pass {pass}: {cause}"
        ))
    }

    /// How many bases of so many attempts are invalid, and the first of them.
    fn invalid_base(&self, attempts: impl RangeBounds<u32>, what: &str) -> Option<String> {
        let is_invalid =
            |base: &&AloneRun| attempts.contains(&base.attempts) && !base.invalid.is_empty();
        let AloneRun { activity, pass, invalid, .. } = self.bases.iter().find(is_invalid)?;
        let (n, all) = (self.bases.iter().filter(is_invalid).count(), self.bases.len());
        let (what, cause) = (agreeing(n, what), invalid.join("; "));
        Some(format!(
            "{n} of {all} runs of an activity alone {what}; the first is {activity}, pass {pass}: {cause}"
        ))
    }

    /// Without its base in the same pass an activity has no slowdown there.
    fn missing_base(&self) -> Option<String> {
        let lacks = |run: &&CountedRun<'_>| {
            run.scored.activity_rate_per_s.is_some() && run.scored.slowdown.is_none()
        };
        let mut runs_of: Vec<((u32, &ActivityName), usize)> = Vec::new();
        for run in self.runs.iter().filter(lacks) {
            let base = (run.scored.pass, &run.scored.cell.activity);
            match runs_of.iter_mut().find(|(known, _)| *known == base) {
                Some((_, runs)) => *runs += 1,
                None => runs_of.push((base, 1)),
            }
        }
        let n: usize = runs_of.iter().map(|(_, runs)| runs).sum();
        let bases: Vec<String> = runs_of.iter().map(|one| self.no_base(*one)).collect();
        let (runs, bases) = (several(n, "run"), bases.join("; "));
        (n > 0).then(|| format!("{runs} {}: {bases}", agreeing(n, "have no slowdown")))
    }

    fn no_base(&self, ((pass, activity), runs): ((u32, &ActivityName), usize)) -> String {
        let failed = AloneRun::of(self.bases, pass, activity).is_some_and(AloneRun::has_failed);
        let what = if failed { "failed" } else { "was not measured" };
        format!("{activity} alone {what} in pass {pass} ({})", several(runs, "run"))
    }

    /// A penalty over fewer passes than the score says so.
    fn uneven_penalty(&self) -> Option<String> {
        let (with, all) = (self.penalty_passes, several(self.complete_passes, "complete pass"));
        let mut loaded = self.runs.iter().filter(|run| {
            !run.scored.cell.activity.is_none() && run.flag_detail(INCOMPLETE_PASS).is_none()
        });
        let has_some = loaded.clone().any(|run| run.scored.slowdown.is_some());
        let lacks_some = loaded.any(|run| run.scored.slowdown.is_none());
        match with {
            _ if !has_some || !lacks_some || self.complete_passes == 0 => None,
            0 => Some("the penalty is over unlike passes: each lacks a slowdown".to_owned()),
            _ => Some(format!("the penalty is over {with} of {all}: the others lack a slowdown")),
        }
    }

    /// Other runs on the same black box are a load that nobody measured.
    fn shared_black_box(&self) -> Option<String> {
        let placement = self.journal.hosts.placement.iter();
        let shared = placement.filter(|(name, _)| name.starts_with("shared_"));
        let most = shared.filter_map(|(_, fact)| fact.value.as_ref()?.as_u64()).max()?;
        (most > 1).then(|| format!("an agent served up to {most} conductors at once (--shared)"))
    }

    /// Only a build that says it is a release build may be ranked.
    fn build(&self) -> Option<String> {
        match self.journal.hosts.build_profile() {
            Some("release") => None,
            Some(other) => Some(format!("{other} build of the program, not a release build")),
            None => Some("the journal does not say how the program was built".to_owned()),
        }
    }

    /// Another congestion control is another transport: the kernel may lack the one of the plan.
    fn congestion(&self) -> Option<String> {
        let asked = self.journal.plan.sockets.congestion.as_deref()?;
        self.runs_that(&format!("did not have congestion control {asked}"), |run| {
            let connections = run.sample.comm.iter().flat_map(|comm| &comm.connections);
            let mut found = connections.filter_map(|one| one.sender.options.congestion.as_deref());
            found.find(|found| *found != asked).map(|found| format!("{found} instead"))
        })
    }

    /// `io` on a file system in memory measures no disk.
    fn io_in_memory(&self) -> Option<String> {
        let fact = self.journal.hosts.placement.get("io_in_memory")?;
        let in_memory = fact.value.as_ref().and_then(serde_json::Value::as_bool) == Some(true);
        in_memory.then(|| "io worked on a file system in memory (--allow-tmpfs)".to_owned())
    }

    fn verification(&self) -> Option<String> {
        let checks = self.journal.deciding_checks();
        let found = checks.into_iter().find(|check| !check.mismatches.is_empty())?;
        let (link, when) = (&found.link, &found.when);
        Some(format!("emulation of {link} {when} the run: {}", found.mismatches.join("; ")))
    }

    /// On the local testbed the black boxes share the machine, so this is shown and does not count.
    fn limited_black_box(&self) -> Option<String> {
        if self.journal.plan.testbed_class.is_local() {
            return None;
        }
        self.runs_that("were limited by a black box", |run| run.flag_detail("blackbox-limited"))
    }

    /// A disturbance is a remark. Where most runs have one, the figures are of another host than the one that is named.
    fn disturbed(&self) -> Option<String> {
        let why = |run: &CountedRun<'_>| {
            let flag = run.scored.flags.iter().find(|flag| is_disturbance(flag))?;
            Some(flag.detail.clone())
        };
        let disturbed = self.runs.iter().filter(|run| why(run).is_some()).count();
        let told = || self.runs_that("were disturbed by what else the machine did", why);
        (disturbed * 2 > self.runs.len()).then(told).flatten()
    }

    /// How many runs have a fault, and the first of them.
    fn runs_that(
        &self,
        what: &str,
        fault: impl Fn(&CountedRun<'_>) -> Option<String>,
    ) -> Option<String> {
        let faults: Vec<(&CountedRun<'_>, String)> =
            self.runs.iter().filter_map(|run| Some((run, fault(run)?))).collect();
        let (first, cause) = faults.first()?;
        let (n, all, pass) = (faults.len(), self.runs.len(), first.scored.pass);
        let (what, cell) = (agreeing(n, what), &first.scored.cell);
        Some(format!("{n} of {all} runs {what}; the first is {cell}, pass {pass}: {cause}"))
    }
}

/// What runs have whose activity did nothing.
const IDLE: &str = "have a slowdown that is a lower bound (no unit of the activity was finished, and counts as one)";

/// What a plan cannot be asked that another build made, before plans said it themselves.
const UNKNOWN_MATRIX: &str =
    "nothing says whether the matrix is the edition's: this program does not have that edition";

/// What became of invalid runs that have no second attempt.
const NOT_REPEATED: &str =
    "are invalid and not repeated (the allowance was used, or the run was cut short)";

fn proof_failure(run: &CountedRun<'_>) -> Option<String> {
    let connections = run.sample.comm.iter().flat_map(|comm| &comm.connections);
    connections.flat_map(|one| &one.proof_failures).next().cloned()
}

impl CountedRun<'_> {
    /// Why a run of these attempts is invalid.
    fn invalid_at(&self, attempts: impl RangeBounds<u32>) -> Option<String> {
        let counts = attempts.contains(&self.sample.attempt) && !self.invalid.is_empty();
        counts.then(|| self.invalid.join("; "))
    }

    /// The sentence of a remark, if the run has it.
    fn flag_detail(&self, name: &str) -> Option<String> {
        self.scored.flags.iter().find(|flag| flag.name == name).map(|flag| flag.detail.clone())
    }
}
