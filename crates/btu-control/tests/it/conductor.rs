//! What runs, in which order, how often, and when it ends.

use std::collections::BTreeMap;

use btu_control::Conductor;
use btu_control::Ending;
use btu_control::JournalDir;
use btu_control::Progress;
use btu_control::Task;
use btu_control::TimeLeft;
use btu_control::Watcher;
use btu_control::When;
use btu_control::drive;
use btu_core::disclosure::Disclosure;
use btu_core::journal::Record;
use btu_core::run::cell::Case;
use btu_core::run::plan::Captured;
use btu_core::run::plan::Choices;
use btu_core::run::plan::Plan;
use btu_core::run::plan::Vocabulary;
use btu_core::sample::Outcome;
use btu_core::units::Nanos;

use crate::simulated::Simulated;
use crate::simulated::disturb;
use crate::simulated::plan;

/// Runs a plan on the simulated testbed, keeping what `records` hold already.
fn run(plan: &Plan, testbed: &mut Simulated, records: Vec<Record>) -> (Ending, Vec<Record>) {
    let (ending, records, _) = run_and_left(plan, testbed, records);
    (ending, records)
}

/// The same, and the cells that were due for a second run and have none.
fn run_and_left(
    plan: &Plan,
    testbed: &mut Simulated,
    records: Vec<Record>,
) -> (Ending, Vec<Record>, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("result");
    let mut journal =
        JournalDir::create(&place, &plan.to_toml(), None, &Disclosure::default()).unwrap();
    let mut watcher = testbed.watcher();
    let mut conductor = Conductor::new(plan.clone(), records.clone(), watcher.now());
    let ending = drive(&mut conductor, testbed, &mut journal, &mut watcher).unwrap();
    drop(journal);
    let (_, stored) = JournalDir::resume(&place).unwrap();
    let left = conductor.not_run_again().iter().map(|cell| cell.id()).collect();
    (ending, records.into_iter().chain(stored.records).collect(), left)
}

/// How often each cell was measured in each pass.
fn measured(records: &[Record]) -> BTreeMap<(String, u32), usize> {
    let mut counts = BTreeMap::new();
    for record in records {
        if let Record::Cell(sample) = record {
            *counts.entry((sample.cell.id(), sample.pass)).or_default() += 1;
        }
    }
    counts
}

#[test]
fn a_quick_run_measures_every_cell_once_in_each_of_three_passes() {
    let mut testbed = Simulated::new();
    let (ending, records) = run(&plan("btu-26"), &mut testbed, Vec::new());
    assert_eq!(ending, Ending::Complete);
    let counts = measured(&records);
    assert_eq!(counts.len(), 360);
    assert!(counts.values().all(|count| *count == 1));
    assert_eq!(testbed.tasks.first(), Some(&Task::Verify(When::Before)));
    assert_eq!(testbed.tasks.last(), Some(&Task::Verify(When::After)));
}

#[test]
fn a_plan_without_impaired_cases_checks_no_emulation() {
    let mut plan = plan("btu-26");
    plan.cases.truncate(2);
    let mut testbed = Simulated::new();
    run(&plan, &mut testbed, Vec::new());
    assert!(!testbed.tasks.iter().any(|task| matches!(task, Task::Verify(_))));
}

#[test]
fn an_invalid_cell_is_repeated_once_and_no_more() {
    let mut testbed = Simulated::new();
    testbed.spoil = Box::new(|run, sample| {
        if run.pass == 2 && run.cell.id() == "SEND+DL/audio/cpu" {
            sample.invalid.push("lateness p99 900 us, limit 500 us".into());
        }
    });
    let (_, records) = run(&plan("btu-26"), &mut testbed, Vec::new());
    let repeated: Vec<_> = measured(&records).into_iter().filter(|(_, n)| *n > 1).collect();
    assert_eq!(repeated, [(("SEND+DL/audio/cpu".to_owned(), 2), 2)]);
}

/// How often each activity was run alone in each pass.
fn alone(records: &[Record]) -> BTreeMap<(String, u32), u32> {
    let mut counts = BTreeMap::new();
    for record in records {
        if let Record::Alone(sample) = record {
            *counts.entry((sample.activity.as_str().to_owned(), sample.pass)).or_default() += 1;
        }
    }
    counts
}

/// The base of every slowdown of its pass is watched as the cells are.
#[test]
fn an_activity_alone_that_was_disturbed_or_failed_is_repeated_once_and_no_more() {
    let mut testbed = Simulated::new();
    testbed.spoil_alone = Box::new(|run, sample| match (run.pass, run.activity.as_str()) {
        (1, "cpu") => disturb(sample.host.as_mut().unwrap()),
        (2, "io") => sample.invalid.push("governor changed".into()),
        (2, "ftp") => sample.sample.failures.push("connection reset".into()),
        _ => {}
    });
    let (_, records) = run(&plan("btu-26"), &mut testbed, Vec::new());
    let twice: Vec<_> = alone(&records).into_iter().filter(|(_, n)| *n > 1).collect();
    let of = |name: &str, pass| ((name.to_owned(), pass), 2);
    assert_eq!(twice, [of("cpu", 1), of("ftp", 2), of("io", 2)]);
    let attempts = records.iter().filter_map(|record| match record {
        Record::Alone(sample) if sample.pass == 1 && sample.activity.as_str() == "cpu" => {
            Some(sample.attempt)
        }
        _ => None,
    });
    assert_eq!(attempts.collect::<Vec<u32>>(), [1, 2]);
    assert_eq!(measured(&records).values().max(), Some(&1), "no cell has more runs for it");
}

#[test]
fn activities_alone_take_their_repeats_from_the_same_allowance() {
    let mut testbed = Simulated::new();
    testbed.spoil_alone = Box::new(|_, sample| disturb(sample.host.as_mut().unwrap()));
    let (_, records) = run(&plan("btu-26"), &mut testbed, Vec::new());
    let again = alone(&records).values().filter(|count| **count == 2).count();
    assert_eq!(again, 4, "2.5 of 5 s in repeats of 530 ms each");
}

#[test]
fn an_activity_alone_that_was_due_again_when_the_run_stopped_is_run_again_after_the_resume() {
    let plan = plan("btu-26");
    let invalid = |testbed: &mut Simulated| {
        testbed.spoil_alone = Box::new(|run, sample| {
            if run.attempt == 1 && run.pass == 1 {
                sample.invalid.push("governor changed".into());
            }
        });
    };
    let (mut whole, mut first, mut second) = (Simulated::new(), Simulated::new(), Simulated::new());
    [&mut whole, &mut first, &mut second].into_iter().for_each(invalid);
    run(&plan, &mut whole, Vec::new());
    let is_again = |task: &Task| matches!(task, Task::Alone(run) if run.attempt == 2);
    first.stop_after = whole.tasks.iter().position(is_again).unwrap();
    let (_, records) = run(&plan, &mut first, Vec::new());
    assert!(alone(&records).values().all(|count| *count == 1));
    let (_, records) = run(&plan, &mut second, records);
    assert_eq!(alone(&records).values().filter(|count| **count == 2).count(), 3);
    assert_eq!(measured(&records).values().max(), Some(&1));
}

#[test]
fn a_cell_that_cannot_come_up_is_tried_twice() {
    let mut testbed = Simulated::new();
    testbed.spoil = Box::new(|run, sample| {
        if run.cell.id() == "RECV/ftp/none" {
            sample.outcome = Outcome::Failed { reason: "connect 198.18.12.2: refused".into() };
        }
    });
    let (ending, records) = run(&plan("btu-26"), &mut testbed, Vec::new());
    assert_eq!(ending, Ending::Complete);
    assert_eq!(measured(&records)[&("RECV/ftp/none".to_owned(), 1)], 2);
}

#[test]
fn disturbed_cells_are_repeated_while_half_of_the_allowance_lasts_and_invalid_ones_to_its_end() {
    let mut testbed = Simulated::new();
    testbed.spoil = Box::new(|_, sample| disturb(&mut sample.host));
    let (_, records) = run(&plan("btu-26"), &mut testbed, Vec::new());
    let repeats = measured(&records).values().filter(|count| **count == 2).count();
    assert_eq!(repeats, 12, "2.5 of 5 s in repeats of 200 ms each");
    testbed.spoil = Box::new(|run, sample| {
        disturb(&mut sample.host);
        if run.pass == 2 {
            sample.invalid.push("lateness p99 900 us, limit 500 us".into());
        }
    });
    let (_, records) = run(&plan("btu-26"), &mut testbed, Vec::new());
    let counts = measured(&records);
    let twice = |pass| counts.iter().filter(|((_, of), n)| *of == pass && **n == 2).count();
    assert_eq!([1, 2, 3].map(twice), [12, 13, 0]);
}

/// Whoever stops the program for a minute stops no clock: its repeat takes no minute.
#[test]
fn how_long_a_run_took_that_went_wrong_says_nothing_of_its_repeat() {
    let mut testbed = Simulated::new();
    let stopped = "RECV/ftp/none";
    testbed.spoil = Box::new(move |run, sample| {
        if run.cell.id() == stopped && run.pass == 1 && run.attempt == 1 {
            sample.host.elapsed_ns = Nanos::from_secs(60);
            sample.invalid.push("the program on test stood still for 59800 ms".into());
        }
    });
    let (_, records) = run(&plan("btu-26"), &mut testbed, Vec::new());
    assert_eq!(measured(&records)[&(stopped.to_owned(), 1)], 2);
}

#[test]
fn an_emulation_that_misses_its_figures_ends_the_run_before_the_first_cell() {
    let mut testbed = Simulated::new();
    testbed.mismatch = Some("delay: asked 5 ms, measured 9 ms".into());
    let (ending, records) = run(&plan("btu-26"), &mut testbed, Vec::new());
    assert_eq!(ending, Ending::EmulationMismatch(vec!["delay: asked 5 ms, measured 9 ms".into()]));
    assert!(measured(&records).is_empty());
    assert_eq!(testbed.tasks.len(), 5, "a busy moment is given more chances");
}

#[test]
fn an_emulation_that_is_late_in_a_busy_moment_is_checked_again() {
    let mut testbed = Simulated::new();
    testbed.mismatch = Some("delay: asked 5 ms, measured 9 ms".into());
    testbed.busy_checks = 4;
    let (ending, records) = run(&plan("btu-26"), &mut testbed, Vec::new());
    assert_eq!(ending, Ending::Complete);
    let checks = records.iter().filter(|record| matches!(record, Record::Verification(_))).count();
    assert_eq!(checks, 6, "every check is kept: five before, one after");
}

//= maly1996#4.3
#[test]
fn an_interrupted_run_resumes_wherever_it_stopped_and_repeats_nothing() {
    let plan = plan("btu-26");
    for stop_after in [0, 1, 2, 57, 124, 300, 370] {
        let mut first = Simulated::new();
        first.stop_after = stop_after;
        let (ending, records) = run(&plan, &mut first, Vec::new());
        assert_eq!(ending, Ending::Interrupted);
        let mut second = Simulated::new();
        let (ending, records) = run(&plan, &mut second, records);
        assert_eq!(ending, Ending::Complete);
        let counts = measured(&records);
        assert_eq!((counts.len(), counts.values().max()), (360, Some(&1)), "after {stop_after}");
    }
}

#[test]
fn a_repeat_that_was_due_when_the_run_stopped_is_made_after_the_resume() {
    let plan = plan("btu-26");
    let mut first = Simulated::new();
    first.stop_after = 3;
    first.spoil = Box::new(|_, sample| sample.invalid.push("clock step".into()));
    let (_, records) = run(&plan, &mut first, Vec::new());
    let (_, records) = run(&plan, &mut Simulated::new(), records);
    assert!(measured(&records).values().filter(|count| **count == 2).count() >= 1);
}

/// Telnet in SEND is ten times slower than in RECV: asymmetric, with each activity.
fn asymmetric(testbed: &mut Simulated) {
    let slow = testbed.cell_time * 10;
    testbed.spoil = Box::new(move |run, sample| {
        if run.cell.case == Case::Send && run.cell.application.name == "telnet" {
            sample.comm.as_mut().unwrap().elapsed_ns = slow;
        }
    });
}

fn captured(records: &[Record]) -> Vec<(String, usize)> {
    let of = |record: &Record| match record {
        Record::Capture(sample) => Some((sample.run.cell.id(), sample.why.len())),
        _ => None,
    };
    records.iter().filter_map(of).collect()
}

#[test]
fn abnormal_cells_are_run_again_with_capture_after_everything_that_is_scored() {
    let mut testbed = Simulated::new();
    asymmetric(&mut testbed);
    let (ending, records) = run(&plan("btu-26"), &mut testbed, Vec::new());
    assert_eq!(ending, Ending::Complete);
    let found = captured(&records);
    assert_eq!(found.len(), 4);
    assert!(found.iter().all(|(cell, why)| cell.starts_with("SEND/telnet/") && *why > 0));
    let first = testbed.tasks.iter().position(|task| matches!(task, Task::Capture(_))).unwrap();
    assert_eq!(testbed.tasks[first - 1], Task::Verify(When::After));
    assert_eq!(testbed.tasks.len(), first + 4);
    assert_eq!(measured(&records).len(), 360, "a second run is no run of a cell");
}

/// So many are made however slow the cells are: two say nothing of an asymmetry.
fn three_passes() -> Plan {
    let mut plan = plan("btu-26");
    plan.passes.min = 3;
    plan
}

#[test]
fn second_runs_are_made_for_none_for_every_cell_and_within_their_time() {
    let count = |choice, cell_time| {
        let mut testbed = Simulated::new();
        testbed.cell_time = Nanos::from_millis(cell_time);
        asymmetric(&mut testbed);
        let plan = Plan { captured: choice, ..three_passes() };
        captured(&run(&plan, &mut testbed, Vec::new()).1).len()
    };
    assert_eq!(count(Captured::None, 200), 0);
    assert_eq!(count(Captured::All, 200), 120);
    assert_eq!(count(Captured::Abnormal, 200), 4);
    assert_eq!(count(Captured::Abnormal, 2500), 2, "4 s in the quick preset");
}

#[test]
fn the_cells_for_whose_second_run_no_time_was_left_are_known() {
    let left = |cell_time| {
        let mut testbed = Simulated::new();
        testbed.cell_time = Nanos::from_millis(cell_time);
        asymmetric(&mut testbed);
        run_and_left(&three_passes(), &mut testbed, Vec::new()).2
    };
    assert_eq!(left(200), Vec::<String>::new());
    let late = left(2500);
    assert_eq!(late.len(), 2, "two of four were made: {late:?}");
    assert!(late.iter().all(|cell| cell.starts_with("SEND/telnet/")), "{late:?}");
}

#[test]
fn a_resumed_run_makes_only_the_second_runs_that_are_missing() {
    let plan = plan("btu-26");
    let mut first = Simulated::new();
    asymmetric(&mut first);
    let (_, all) = run(&plan, &mut first, Vec::new());
    first = Simulated::new();
    first.stop_after = 373;
    asymmetric(&mut first);
    let (ending, records) = run(&plan, &mut first, Vec::new());
    assert_eq!((ending, captured(&records).len()), (Ending::Interrupted, 2));
    let mut second = Simulated::new();
    asymmetric(&mut second);
    let (ending, records) = run(&plan, &mut second, records);
    assert_eq!((ending, captured(&records)), (Ending::Complete, captured(&all)));
}

#[test]
fn more_passes_are_made_only_while_they_fit() {
    let mut plan = plan("btu-26");
    (plan.passes.min, plan.passes.max) = (2, 9);
    let mut testbed = Simulated::new();
    unsure(&mut testbed);
    let (_, records) = run(&plan, &mut testbed, Vec::new());
    assert_eq!(passes(&records), Some(3), "26 s a pass, 80 s of budget");
}

/// The score of each pass differs, so that only the budget ends the passes.
fn unsure(testbed: &mut Simulated) {
    let mut noise = 0;
    testbed.spoil = Box::new(move |run, sample| {
        noise = (noise * 31 + 7) % 101;
        let time = Nanos::from_millis(50 + 100 * u64::from(run.pass % 3) + noise);
        sample.comm.as_mut().unwrap().elapsed_ns = time;
    });
}

fn passes(records: &[Record]) -> Option<u32> {
    measured(records).keys().map(|(_, pass)| *pass).max()
}

#[test]
fn the_budget_of_a_resumed_run_is_what_its_first_part_left() {
    let mut plan = plan("btu-26");
    (plan.passes.min, plan.passes.max) = (2, 9);
    for (stop_after, left) in [(200, 3), (280, 3), (370, 3), (371, 3), (375, 3)] {
        let mut first = Simulated::new();
        (first.stop_after, first.cell_time) = (stop_after, Nanos::from_millis(200));
        unsure(&mut first);
        let (_, records) = run(&plan, &mut first, Vec::new());
        let mut second = Simulated::new();
        unsure(&mut second);
        let (ending, records) = run(&plan, &mut second, records);
        assert_eq!((ending, passes(&records)), (Ending::Complete, Some(left)), "{stop_after}");
        assert!(measured(&records).values().all(|count| *count == 1));
        assert_eq!(measured(&records).len(), 360, "a pass that was begun is made to its end");
    }
}

#[test]
fn a_run_that_had_no_time_for_more_passes_has_none_after_a_resume() {
    let mut plan = plan("btu-26");
    (plan.passes.min, plan.passes.max, plan.passes.budget) = (2, 6, Nanos::from_secs(1));
    let mut first = Simulated::new();
    unsure(&mut first);
    let (_, records) = run(&plan, &mut first, Vec::new());
    assert_eq!(passes(&records), Some(2));
    let mut again = Simulated::new();
    unsure(&mut again);
    let (_, records) = run(&plan, &mut again, records);
    assert_eq!((passes(&records), again.cells().len()), (Some(2), 0));
}

#[test]
fn the_allowance_for_repeats_is_not_renewed_by_a_resume() {
    let plan = plan("btu-26");
    let mut first = Simulated::new();
    first.stop_after = 200;
    first.spoil = Box::new(|_, sample| sample.invalid.push("clock step".into()));
    let (_, records) = run(&plan, &mut first, Vec::new());
    let mut second = Simulated::new();
    second.spoil = Box::new(|_, sample| sample.invalid.push("clock step".into()));
    let (_, records) = run(&plan, &mut second, records);
    let repeats = measured(&records).values().filter(|count| **count == 2).count();
    assert_eq!(repeats, 25, "5 s of repeats of 200 ms each, in both parts together");
}

#[test]
fn a_score_that_is_sure_ends_the_passes_early() {
    let mut plan = plan("btu-26");
    (plan.passes.min, plan.passes.max) = (3, 9);
    plan.passes.budget = Nanos::from_secs(10_000);
    let (_, records) = run(&plan, &mut Simulated::new(), Vec::new());
    assert_eq!(measured(&records).keys().map(|(_, pass)| *pass).max(), Some(3));
}

#[test]
fn calibrated_work_aims_at_the_baselines_and_is_then_fixed() {
    let mut testbed = Simulated::new();
    run(&plan("btu-96"), &mut testbed, Vec::new());
    let aims = testbed.tasks.iter().filter_map(|task| match task {
        Task::Alone(run) => Some(run.calibrate_to),
        _ => None,
    });
    let near = |aim: Option<Nanos>| {
        aim.is_some_and(|t| t.since(Nanos::from_millis(199)) < Nanos::from_millis(2))
    };
    assert!(aims.into_iter().all(near));
    let loaded = testbed.cells().into_iter().filter(|run| !run.cell.activity.is_none());
    assert!(loaded.into_iter().all(|run| run.fixed_units == Some(100.0)));
}

/// An activity that did nothing while it was calibrated: its cells are run all the same.
#[test]
fn work_that_could_not_be_calibrated_runs_steadily_beside_comm() {
    let plan = plan("btu-96");
    let (_, records) = run(&plan, &mut Simulated::new(), Vec::new());
    let is_io =
        |record: &Record| matches!(record, Record::Alone(one) if one.activity.as_str() == "io");
    let until = records.iter().position(is_io).unwrap();
    let mut records = records[..=until].to_vec();
    let Some(Record::Alone(failed)) = records.last_mut() else { unreachable!() };
    failed.sample.units = 0.0;
    failed.sample.failures = vec!["read a file: no such device".to_owned()];
    let mut testbed = Simulated::new();
    testbed.spoil_alone = Box::new(|run, sample| {
        if run.activity.as_str() == "io" {
            sample.sample.units = 0.0;
            sample.sample.failures.push("read a file: no such device".to_owned());
        }
    });
    let (ending, _) = run(&plan, &mut testbed, records);
    assert_eq!(ending, Ending::Complete);
    for run in testbed.cells().into_iter().filter(|run| !run.cell.activity.is_none()) {
        let asked = (run.cell.activity.as_str() != "io").then_some(100.0);
        assert_eq!(run.fixed_units, asked, "{}", run.cell);
    }
}

/// What is told of a run, each time with the time that then was really left.
fn told(plan: &Plan, testbed: &mut Simulated, records: Vec<Record>) -> Vec<(Progress, Nanos)> {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("r");
    let mut journal =
        JournalDir::create(&place, &plan.to_toml(), None, &Disclosure::default()).unwrap();
    let mut watcher = testbed.watcher();
    let mut conductor = Conductor::new(plan.clone(), records, watcher.now());
    drive(&mut conductor, testbed, &mut journal, &mut watcher).unwrap();
    let end = watcher.now();
    watcher.told.into_iter().map(|(now, progress)| (progress, end.since(now))).collect()
}

/// The time left is between what is told, but for a hundredth and a second.
#[track_caller]
fn assert_honest(told: &[(Progress, Nanos)]) {
    for (progress, left) in told {
        let slack = Nanos::from_secs(1) + Nanos::new(left.count() / 100);
        let TimeLeft { least, most } = progress.left;
        assert!(least <= *left + slack && *left <= most + slack, "{left} left: {progress:?}");
    }
}

#[test]
fn progress_counts_down_to_the_end() {
    let told = told(&plan("btu-26"), &mut Simulated::new(), Vec::new());
    let (last, _) = told.last().unwrap();
    let none = TimeLeft { least: Nanos::ZERO, most: Nanos::ZERO };
    assert_eq!((last.done, last.total, last.left), (369, 369, none));
    assert!(told.iter().all(|(progress, _)| progress.done <= progress.total));
}

#[test]
fn the_time_left_holds_whether_or_not_more_passes_are_made() {
    for make_unsure in [false, true] {
        let mut testbed = Simulated::new();
        if make_unsure {
            unsure(&mut testbed);
        }
        let told = told(&plan("btu-26"), &mut testbed, Vec::new());
        assert_honest(&told);
        let (first, _) = &told[1];
        assert_eq!((first.pass, first.least_passes, first.total), (1, 2, 246));
        assert!(first.most_passes > 2 && first.left.most > first.left.least, "{first:?}");
        let (last, _) = told.last().unwrap();
        assert_eq!((last.least_passes, last.most_passes), (3, 3));
    }
}

#[test]
fn the_time_left_of_a_resumed_run_is_that_of_its_rest() {
    let plan = plan("btu-26");
    let mut first = Simulated::new();
    first.stop_after = 101;
    let (_, records) = run(&plan, &mut first, Vec::new());
    let told = told(&plan, &mut Simulated::new(), records);
    assert_honest(&told);
    let (checked, _) = &told[0];
    assert_eq!((checked.done, checked.total), (100, 246));
}

#[test]
fn an_official_run_ends_in_30_minutes_with_as_many_passes_as_fit() {
    let choices = Choices { official: true, ..Choices::default() };
    let words = Vocabulary { activities: &["cpu", "ftp", "io"] };
    let official = Plan::resolve(&choices, &words, 7).unwrap();
    let mut testbed = Simulated::new();
    testbed.cell_time = Nanos::from_millis(2240);
    unsure(&mut testbed);
    let clock = std::rc::Rc::clone(&testbed.clock);
    let (_, records) = run(&official, &mut testbed, Vec::new());
    assert_eq!(passes(&records), Some(6));
    assert!(Nanos::new(clock.get()) <= Nanos::from_secs(1800), "{} ns", clock.get());
}
