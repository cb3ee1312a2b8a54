//! How far a run is, and how long it will take.

use btu_core::run::plan::Plan;
use btu_core::run::plan::StepTimes;
use btu_core::run::schedule::Step;
use btu_core::units::Nanos;

use super::ledger::Ledger;

/// A line of progress.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Steps measured.
    pub done: u64,
    /// Steps that are sure to be made, those measured included.
    pub total: u64,
    /// Number of the pass that runs, from 1; 0 before the first.
    pub pass: u32,
    /// The passes that are sure to be made.
    pub least_passes: u32,
    /// The passes that may be made, as far as can be told now.
    pub most_passes: u32,
    /// Estimated time left.
    pub left: TimeLeft,
    /// The score over what is measured so far, Mb/s.
    pub btu_mbps: Option<f64>,
}

/// The time that a run still takes: how many passes and second runs it makes is decided on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLeft {
    /// With nothing but what is sure to be made.
    pub least: Nanos,
    /// With all passes, repeats and second runs that there is time for.
    pub most: Nanos,
}

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Second runs with capture, for so long at most.
    Captures { left: Nanos },
    /// The emulation is checked after the last pass.
    Check,
    /// Nothing any more.
    Ended,
    /// The matrix is measured.
    Passes,
}

/// What an estimate is made from.
pub(super) struct Outlook<'o> {
    pub(super) plan: &'o Plan,
    pub(super) times: &'o StepTimes,
    pub(super) ledger: &'o Ledger,
    pub(super) pass: u32,
    /// The steps of this pass that are still to be made.
    pub(super) waiting: Vec<&'o Step>,
    /// The time of the whole run.
    pub(super) elapsed: Nanos,
    /// The time of it that went into steps and their repeats.
    pub(super) in_passes: Nanos,
    /// What repeats may still take.
    pub(super) allowance: Nanos,
    pub(super) stage: Stage,
}

impl Outlook<'_> {
    pub(super) fn progress(&self) -> Progress {
        let done = count(self.ledger.steps_done().count());
        let waiting = if self.stage == Stage::Passes { count(self.waiting.len()) } else { 0 };
        let later = u64::from(self.least_passes() - self.pass) * count(self.plan.steps().len());
        let left = self.left();
        Progress {
            done,
            total: done + waiting + later,
            pass: self.pass,
            least_passes: self.least_passes(),
            most_passes: self.most_passes(self.sure_steps()),
            left,
            btu_mbps: btu_core::run::analysis::running_score(self.plan, self.ledger.records()),
        }
    }

    fn left(&self) -> TimeLeft {
        let second_runs = self.plan.capture_limits().budget;
        let check = self.plan.check_time();
        match self.stage {
            Stage::Ended => TimeLeft { least: Nanos::ZERO, most: Nanos::ZERO },
            Stage::Captures { left } => TimeLeft { least: Nanos::ZERO, most: left },
            Stage::Check => TimeLeft { least: check, most: check + second_runs },
            Stage::Passes => {
                let steps = self.sure_steps();
                let most = steps + self.more_passes(steps) + self.allowance;
                TimeLeft { least: steps + check, most: most + check + second_runs }
            }
        }
    }

    /// The passes that are sure to be made: those of the plan, and what the journal has begun.
    fn least_passes(&self) -> u32 {
        match self.stage {
            Stage::Passes => self.plan.passes.min.max(self.pass).max(self.ledger.last_pass()),
            Stage::Captures { .. } | Stage::Check | Stage::Ended => self.pass,
        }
    }

    /// The passes for which there is time, where the sure steps take so long.
    fn most_passes(&self, sure_steps: Nanos) -> u32 {
        let least = self.least_passes();
        if self.stage != Stage::Passes || self.ledger.is_past_the_passes() {
            return least;
        }
        let per_pass = self.paced(self.times.pass()).count().max(1);
        let fit = u32::try_from(self.room(sure_steps).count() / per_pass).unwrap_or(u32::MAX);
        least.saturating_add(fit).min(self.plan.passes.max).max(least)
    }

    /// The most time of passes that are not sure to be made. Where the budget ends them they may be
    /// slower than it seems now, and take all of it.
    fn more_passes(&self, sure_steps: Nanos) -> Nanos {
        let least = self.least_passes();
        if self.most_passes(sure_steps) == least {
            return Nanos::ZERO;
        }
        let more = u64::from(self.plan.passes.max - least);
        let all = self.paced(self.times.pass()).saturating_mul(more);
        all.min(self.room(sure_steps))
    }

    /// What the budget leaves beside the sure steps.
    fn room(&self, sure_steps: Nanos) -> Nanos {
        self.plan.pass_budget().since(self.elapsed.saturating_add(sure_steps))
    }

    /// The time of the steps that are sure to be made.
    fn sure_steps(&self) -> Nanos {
        let waiting: Nanos = self.waiting.iter().map(|step| self.times.of(step)).sum();
        let later = self.times.pass() * u64::from(self.least_passes() - self.pass);
        self.paced(waiting + later)
    }

    /// A time of the plan's estimate as it will be here: steps so far took longer or shorter than
    /// that. A tenth of a pass as estimated is counted in, or the first steps would say too much.
    fn paced(&self, planned: Nanos) -> Nanos {
        let known = Nanos::new(self.times.pass().count() / 10);
        let made: Nanos = self.ledger.steps_done().map(|step| self.times.of(&step)).sum();
        let took = u128::from((self.in_passes + known).count());
        let expected = u128::from((made + known).count().max(1));
        let paced = u128::from(planned.count()) * took / expected;
        Nanos::new(u64::try_from(paced).unwrap_or(u64::MAX))
    }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
