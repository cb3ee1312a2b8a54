//! From a journal to its analysis.

use std::collections::BTreeSet;

use super::Analysis;
use super::ApplicationScore;
use super::CellSummary;
use super::CountedRun;
use super::Estimate;
use super::INCOMPLETE_PASS;
use super::count;
use super::estimate::Composite;
use super::estimate::composite;
use super::gaps;
use super::omitted::omitted;
use super::rank::Grounds;
use super::reference_seconds;
use super::second_runs;
use super::summary::summarise;
use crate::journal::Journal;
use crate::run::anomaly;
use crate::run::anomaly::Evidence;
use crate::run::anomaly::Subject;
use crate::run::cell::Application;
use crate::run::cell::Cell;
use crate::run::plan::Plan;
use crate::run::score::ClassScore;
use crate::run::score::Classic;
use crate::run::score::Figure;
use crate::run::score::Score;
use crate::run::score::even_slowdowns;
use crate::run::score::penalty_percent;
use crate::run::score::score;
use crate::run::score::score_repeats;
use crate::sample::Flag;
use crate::stats::detectable_change;

/// Everything that a report shows of a journal. The same journal gives the same analysis, for ever.
pub fn analyse(journal: &Journal) -> Analysis {
    let plan = &journal.plan;
    let activity_runs = count::alone_runs(plan, &journal.records);
    let mut runs = count::counted_runs(plan, &journal.records, &activity_runs);
    let passes = complete_passes(plan, &runs);
    flag_incomplete_passes(&mut runs, &passes);
    let of_cells = flag_anomalies(plan, &mut runs);
    let scores = Scores::of(&runs, &passes);
    let cells = summaries(plan, &runs, &of_cells);
    let complete = journal.came_to_its_end();
    let complete_passes = u32::try_from(passes.len()).unwrap_or(u32::MAX);
    let missing_cells = plan.cells().len() - cells.len();
    let slowdown = scores.slowdown();
    let grounds = Grounds {
        journal,
        runs: &runs,
        bases: &activity_runs,
        complete,
        complete_passes,
        penalty_passes: slowdown.passes.len(),
        missing_cells,
    };
    let not_rankable_reasons = grounds.reasons();
    let seed = plan.seed;
    let btu = scores.btu();
    Analysis {
        detectable_change: detectable_change(&btu.passes),
        btu_mbps: btu.estimate(seed),
        btu_idle_mbps: scores.idle().estimate(seed),
        share_of_idle: scores.share_of_idle().estimate(seed),
        penalty_percent: slowdown.estimate_as(seed, penalty_percent),
        penalty_classic_percent: classic_estimate(scores.over_all.classic),
        applications: plan.applications.iter().map(|y| scores.application(y, seed)).collect(),
        pass_btu_mbps: btu.passes,
        complete_passes,
        complete,
        partial: plan.partial == Some(true) || missing_cells > 0,
        not_rankable_reasons,
        warnings: warnings(journal, missing_cells),
        second_runs: second_runs(journal, |_| Err("the packets were not read".to_owned())),
        omitted: omitted(journal, &cells, complete),
        cells,
        runs: runs.into_iter().map(|run| run.scored).collect(),
        activity_runs,
    }
}

/// The passes in which every cell of the plan was measured, ascending.
pub(super) fn complete_passes(plan: &Plan, runs: &[CountedRun<'_>]) -> Vec<u32> {
    let cells = plan.cells();
    let measured: BTreeSet<(u32, &Cell)> =
        runs.iter().map(|run| (run.scored.pass, &run.scored.cell)).collect();
    let passes: BTreeSet<u32> = measured.iter().map(|(pass, _)| *pass).collect();
    let is_complete = |pass: &u32| cells.iter().all(|cell| measured.contains(&(*pass, cell)));
    passes.into_iter().filter(is_complete).collect()
}

/// The figures of one pass.
pub(super) fn figures_of(runs: &[CountedRun<'_>], pass: u32) -> Vec<Figure> {
    runs.iter().filter(|run| run.scored.pass == pass).map(CountedRun::figure).collect()
}

/// A pass cut short counts for no composite, as soon as there is one that is whole.
fn flag_incomplete_passes(runs: &mut [CountedRun<'_>], complete: &[u32]) {
    let cut = |run: &&mut CountedRun<'_>| !complete.contains(&run.scored.pass);
    for run in runs.iter_mut().filter(cut).filter(|_| !complete.is_empty()) {
        let detail = format!("pass {} was cut short: in no composite", run.scored.pass);
        run.flag(Flag::new(INCOMPLETE_PASS, detail));
    }
}

/// Adds the findings of all rules to their runs, and gives back those of cells.
pub(super) fn flag_anomalies(plan: &Plan, runs: &mut [CountedRun<'_>]) -> Vec<(Cell, Flag)> {
    let mut of_runs = Vec::new();
    let mut of_cells = Vec::new();
    let evidence = Evidence::new(plan, runs);
    for (subject, flag) in anomaly::flags(&evidence) {
        match subject {
            Subject::Cell(at) => of_cells.push((evidence.cells[at].cell.clone(), flag)),
            Subject::Run(at) => of_runs.push((at, flag)),
        }
    }
    for (at, flag) in of_runs {
        runs[at].flag(flag);
    }
    of_cells
}

/// The scores of each complete pass, and those over everything that counts.
struct Scores {
    passes: Vec<Score>,
    over_all: Score,
}

impl Scores {
    fn of(runs: &[CountedRun<'_>], passes: &[u32]) -> Self {
        let counts = |run: &&CountedRun<'_>| passes.is_empty() || passes.contains(&run.scored.pass);
        let all: Vec<Figure> = runs.iter().filter(counts).map(CountedRun::figure).collect();
        let of_passes = if passes.is_empty() { Vec::new() } else { score_repeats(&all) };
        Self { passes: of_passes, over_all: score(&even_slowdowns(all)) }
    }

    fn btu(&self) -> Composite {
        self.composite(|score| score.btu_mbps, NO_LOADED)
    }

    fn idle(&self) -> Composite {
        self.composite(|score| score.btu_idle_mbps, NO_BASELINES)
    }

    /// Both of one pass: what moves a whole pass moves them alike. Without a whole one they are over
    /// unlike cells.
    fn share_of_idle(&self) -> Composite {
        if self.passes.is_empty() {
            return composite(Vec::new(), None, NO_WHOLE_PASS);
        }
        self.composite(|score| Some(score.btu_mbps? / score.btu_idle_mbps?), NO_PAIR)
    }

    fn slowdown(&self) -> Composite {
        self.composite(|score| score.slowdown, NO_SLOWDOWN)
    }

    fn composite(&self, figure: fn(&Score) -> Option<f64>, why_none: &str) -> Composite {
        composite(self.passes.iter().map(figure).collect(), figure(&self.over_all), why_none)
    }

    fn application(&self, application: &Application, seed: u64) -> ApplicationScore {
        let class = |score: &'_ Score| -> Option<ClassScore> {
            score.applications.iter().find(|class| class.application == application.name).cloned()
        };
        let of = |figure: fn(&ClassScore) -> Option<f64>, why_none| {
            let passes = self.passes.iter().map(|score| figure(&class(score)?)).collect();
            composite(passes, class(&self.over_all).as_ref().and_then(figure), why_none)
        };
        let btu = of(|class| class.btu_mbps, NO_LOADED);
        let seconds = btu.value.map(reference_seconds);
        let classic = class(&self.over_all).map_or_else(Classic::default, |class| class.classic);
        ApplicationScore {
            application: application.clone(),
            btu_mbps: btu.estimate(seed),
            btu_idle_mbps: of(|class| class.btu_idle_mbps, NO_BASELINES).estimate(seed),
            penalty_percent: of(|class| class.slowdown, NO_SLOWDOWN)
                .estimate_as(seed, penalty_percent),
            penalty_classic_percent: classic_estimate(classic),
            seconds_for_32_mb: seconds,
        }
    }
}

fn classic_estimate(classic: Classic) -> Estimate {
    Estimate {
        value: classic.percent(),
        reason: classic.reason(),
        n: 0,
        ci95: None,
        ci95_reason: Some("a mean of percentages has no interval".to_owned()),
        bootstrap95: None,
    }
}

/// The cells that have runs, in the order of the plan.
pub(super) fn summaries(
    plan: &Plan,
    runs: &[CountedRun<'_>],
    of_cells: &[(Cell, Flag)],
) -> Vec<CellSummary> {
    let of = |cell: &Cell| {
        let runs: Vec<&CountedRun<'_>> =
            runs.iter().filter(|run| run.scored.cell == *cell).collect();
        let own = of_cells.iter().filter(|(subject, _)| subject == cell);
        let mut summary = summarise(cell, &runs)?;
        summary.flags.splice(0..0, own.map(|(_, flag)| flag.clone()));
        Some(summary)
    };
    plan.cells().iter().filter_map(of).collect()
}

fn warnings(journal: &Journal, missing_cells: usize) -> Vec<Flag> {
    let local = journal.plan.testbed_class.is_local().then(|| {
        let detail = "the three roles share one machine: the result is for regression and learning, \
                      and is compared only with others of class local";
        Flag::new("local-testbed", detail)
    });
    let missing = (missing_cells > 0).then(|| {
        let all = journal.plan.cells().len();
        Flag::new("missing-cells", format!("{missing_cells} of {all} cells have no run"))
    });
    let wrong = journal.deciding_checks().into_iter().filter(|check| !check.mismatches.is_empty());
    let checks = wrong.map(|check| {
        let (link, when, found) = (&check.link, &check.when, check.mismatches.join("; "));
        Flag::new("emulation-mismatch", format!("{link} {when} the run: {found}"))
    });
    let said = journal.events.iter().filter(|record| record.event == "warning");
    let said = said.map(|record| Flag::new("warning", record.detail.clone()));
    let gaps = gaps::warnings(journal);
    local.into_iter().chain(missing).chain(checks).chain(said).chain(gaps).collect()
}

const NO_LOADED: &str = "no loaded cells";

const NO_BASELINES: &str = "no baseline cells";

const NO_PAIR: &str = "not both loaded cells and baselines";

const NO_WHOLE_PASS: &str = "no pass is complete";

const NO_SLOWDOWN: &str = "no activity was measured both alone and beside COMM";
