//! Two results of known rates, and what is said of each figure.

use rand::SeedableRng;
use rand_chacha::ChaCha12Rng;
use rand_distr::Distribution;
use rand_distr::Normal;

use super::*;
use crate::journal::Record;
use crate::run::analysis::analyse;
use crate::run::analysis::synthetic;
use crate::stats::welch_on_logs;

/// Four passes at `mbps` (telnet a tenth of it), the activity at half its rate alone.
fn analysis(mbps: u64, passes: u32) -> Analysis {
    let plan = synthetic::plan(passes);
    let mut journal = synthetic::journal(plan.clone());
    for pass in 1..=passes {
        journal.records.push(synthetic::alone("cpu", pass, 100.0));
        for cell in plan.cells() {
            let telnet = cell.application.name == "telnet";
            let rate = if telnet { mbps / 10 } else { mbps } + u64::from(pass);
            let run = synthetic::run(&plan, &cell.id(), pass, rate, 50.0);
            journal.records.push(Record::from(run));
        }
    }
    analyse(&journal)
}

fn found<'c>(comparison: &'c Comparison, name: &str) -> &'c Change {
    let all = comparison.changes.iter().chain(&comparison.cells);
    all.into_iter().find(|change| change.figure == name).unwrap()
}

#[test]
fn a_result_against_itself_has_not_changed() {
    let same = analysis(1000, 4);
    let comparison = compare(&same, &same);
    for change in comparison.changes.iter().chain(&comparison.cells) {
        assert!((change.ratio - 1.0).abs() < 1e-12, "{}", change.figure);
        assert_eq!(change.different, Some(false), "{}", change.figure);
    }
    assert_eq!(comparison.cells.len(), 2 * 2 * 2);
}

#[test]
fn a_faster_host_is_faster_in_every_part_and_its_penalty_is_the_same() {
    let comparison = compare(&analysis(1000, 4), &analysis(1200, 4));
    for name in ["btu", "idle", "application.video.btu", "case.SEND.idle", "activity.cpu.btu"] {
        let change = found(&comparison, name);
        assert!(change.percent() > 15.0 && change.percent() < 21.0, "{name}");
        assert_eq!(change.different, Some(true), "{name}");
        let [low, high] = change.ci95.unwrap();
        assert!(low < change.ratio && change.ratio < high, "{name}");
    }
    assert_eq!(found(&comparison, "penalty").different, Some(false));
    assert_eq!(found(&comparison, "cell.SEND/video/none").different, Some(true));
}

#[test]
fn two_passes_have_a_ratio_and_no_interval() {
    let comparison = compare(&analysis(1000, 2), &analysis(1200, 4));
    let change = found(&comparison, "btu");
    assert_eq!((change.ci95, change.different), (None, None));
    let reason = change.ci95_reason.as_deref();
    assert_eq!(reason, Some("2 and 4 passes, at least 3 each are needed"));
}

/// A result against itself but for one run beside `cpu`, and the name of the cell of that.
fn with_a_run_beside_cpu(change: impl FnOnce(&mut ScoredRun)) -> (Comparison, String) {
    let before = analysis(1000, 4);
    let mut after = before.clone();
    let run = after.runs.iter_mut().find(|run| run.cell.activity.as_str() == "cpu").unwrap();
    change(run);
    let cell = format!("cell.{}", cell_name(&figure(run)));
    (compare(&before, &after), cell)
}

#[test]
fn a_figure_with_a_capped_run_is_a_bound_and_called_neither_different_nor_the_same() {
    let (compared, cell) = with_a_run_beside_cpu(|run| run.capped = true);
    for name in ["btu", "penalty", &cell] {
        let change = found(&compared, name);
        assert!(change.is_bound && change.different.is_none(), "{name}: {change:?}");
    }
    assert!(!found(&compared, "idle").is_bound);
    assert_eq!(found(&compared, "idle").different, Some(false));
    let asked = |text: &str| text.parse::<Condition>().unwrap().judge(&compared).unwrap();
    let untold = asked("btu<-1%");
    assert!(!untold.met && untold.is_open, "{untold:?}");
    assert_eq!(
        untold.said,
        ["btu +0.0 % (a bound: a run met its cap, or failed, or its activity finished nothing)"]
    );
    assert!(!asked("idle<-1%").is_open);
}

/// A slowdown that is a lower bound makes the penalty one, and nothing else.
#[test]
fn a_penalty_with_an_activity_that_finished_nothing_is_a_bound() {
    let (compared, cell) = with_a_run_beside_cpu(|run| run.slowdown_is_bound = true);
    let is_bound = |name: &str| found(&compared, name).is_bound;
    assert!(is_bound("penalty") && is_bound("activity.cpu.penalty"));
    assert!(!["btu", "idle", "activity.cpu.btu", &cell].into_iter().any(is_bound));
    let asked = "penalty>10%".parse::<Condition>().unwrap().judge(&compared).unwrap();
    assert!(!asked.met && asked.is_open, "{asked:?}");
}

#[test]
fn a_cell_without_a_whole_pass_is_compared_over_all_its_runs() {
    let mut found = analysis(1000, 2);
    found.complete_passes = 0;
    let cell = found.runs[0].cell.clone();
    let mut own: Vec<&mut ScoredRun> =
        found.runs.iter_mut().filter(|run| run.cell == cell).collect();
    (own[0].goodput_mbps, own[1].goodput_mbps) = (100.0, 400.0);
    let name = format!("cell.{}", cell_name(&figure(&found.runs[0])));
    let compared = compare(&found, &found);
    assert!((self::found(&compared, &name).before - 200.0).abs() < 1e-9);
}

#[test]
fn many_passes_have_the_same_interval_as_few() {
    let (before, after) = (analysis(1000, 10), analysis(1200, 10));
    let of_t = welch_on_logs(&before.pass_btu_mbps, &after.pass_btu_mbps).unwrap().interval;
    let ci95 = found(&compare(&before, &after), "btu").ci95.unwrap();
    for (found, want) in ci95.into_iter().zip([of_t.low, of_t.high]) {
        assert!((found / want - 1.0).abs() < 1e-9, "{ci95:?}, not {of_t:?}");
    }
}

/// The same runs, each off by chance of a tenth.
fn again(of: &Analysis, chance: &mut ChaCha12Rng) -> Analysis {
    let normal = Normal::new(0.0, 0.1).unwrap();
    let mut found = of.clone();
    for run in &mut found.runs {
        run.goodput_mbps *= f64::exp(normal.sample(chance));
        run.slowdown = run.slowdown.map(|slowdown| slowdown * f64::exp(normal.sample(chance)));
    }
    found
}

/// One pair in twenty at the most is said to differ in an application, a case or an activity (14 figures here, 39 of a
/// whole result); by the interval of each it would be one in three.
#[test]
fn two_results_of_one_host_differ_in_hardly_any_part() {
    let (host, chance) = (analysis(1000, 5), &mut ChaCha12Rng::seed_from_u64(140));
    let differs = |_: &usize| {
        let found = compare(&again(&host, chance), &again(&host, chance));
        let mut parts = found
            .changes
            .iter()
            .filter(|change| !MEASURES.iter().any(|one| one.name() == change.figure));
        parts.any(|change| change.different == Some(true))
    };
    let pairs = (0..200).filter(differs).count();
    assert!(pairs <= 14, "{pairs} of 200");
}
