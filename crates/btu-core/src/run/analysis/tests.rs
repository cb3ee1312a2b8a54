//! Analyses of synthetic journals, checked by hand.

mod bases;
mod uneven;

use super::synthetic::alone;
use super::synthetic::event;
use super::synthetic::journal;
use super::synthetic::plan;
use super::synthetic::run;
use super::*;
use crate::disclosure::Fact;
use crate::journal::Journal;
use crate::journal::Record;
use crate::run::cell::ActivityName;
use crate::run::plan::Plan;
use crate::run::plan::TestbedClass;
use crate::run::score::score_table;
use crate::sample::CellSample;
use crate::sample::DirectionSample;
use crate::sample::Outcome;
use crate::sample::VerificationSample;
use crate::units::Ratio;

/// Cells and goodputs of a pass: telnet cpu GM(2, 8) = 4, video cpu GM(9, 25) = 15, BTU sqrt(60);
/// idle telnet GM(4, 16) = 8, video GM(36, 49) = 42, sqrt(336).
const PASS: [(&str, u64); 8] = [
    ("SEND/telnet/cpu", 2),
    ("RECV/telnet/cpu", 8),
    ("SEND/video/cpu", 9),
    ("RECV/video/cpu", 25),
    ("SEND/telnet/none", 4),
    ("RECV/telnet/none", 16),
    ("SEND/video/none", 36),
    ("RECV/video/none", 49),
];

/// Pass number `pass`: goodputs `factor` times those above, cpu 100/s alone and 80/s beside.
fn pass(plan: &Plan, pass: u32, factor: u64) -> Vec<Record> {
    let cells = PASS.iter().map(|(name, mbps)| run(plan, name, pass, mbps * factor, 80.0).into());
    [alone("cpu", pass, 100.0)].into_iter().chain(cells).collect()
}

fn passes(factors: &[u64]) -> Journal {
    let mut journal = journal(plan(u32::try_from(factors.len()).unwrap()));
    for (number, factor) in (1..).zip(factors) {
        journal.records.extend(pass(&journal.plan, number, *factor));
    }
    journal
}

/// The first run of this cell in the journal.
fn first<'j>(journal: &'j mut Journal, name: &str) -> &'j mut CellSample {
    let samples = journal.records.iter_mut().filter_map(|record| match record {
        Record::Cell(sample) if sample.cell.id() == name => Some(&mut **sample),
        _ => None,
    });
    samples.into_iter().next().unwrap()
}

#[track_caller]
fn assert_close(found: Option<f64>, want: f64) {
    assert!(found.is_some_and(|found| (found / want - 1.0).abs() < 1e-9), "{found:?}, not {want}");
}

#[track_caller]
fn assert_reason(analysis: &Analysis, part: &str) {
    let reasons = &analysis.not_rankable_reasons;
    assert!(reasons.iter().any(|reason| reason.contains(part)), "{reasons:?}\n  misses: {part}");
}

#[test]
fn one_pass_by_hand() {
    let found = analyse(&passes(&[1]));
    assert_close(found.btu_mbps.value, 60.0_f64.sqrt());
    assert_close(found.btu_idle_mbps.value, 336.0_f64.sqrt());
    assert_close(found.penalty_percent.value, 25.0);
    assert_close(found.penalty_classic_percent.value, 25.0);
    assert_eq!(found.btu_mbps.ci95, None);
    assert_eq!(found.btu_mbps.ci95_reason.as_deref(), Some("1 pass, no interval"));
    assert_close(found.applications[0].btu_mbps.value, 4.0);
    assert_close(found.applications[1].btu_mbps.value, 15.0);
    assert_close(found.applications[0].seconds_for_32_mb, 8.0);
    assert_eq!(found.not_rankable_reasons, Vec::<String>::new());
    assert_eq!((found.complete_passes, found.complete, found.partial), (1, true, false));
    assert_eq!((found.runs.len(), found.cells.len(), found.activity_runs.len()), (8, 8, 1));
    assert!(found.runs.iter().all(|run| run.flags.is_empty()), "{:?}", found.runs);
}

/// Passes 1, 2, 4 times the first: logs 0, ln 2, 2 ln 2 about the second pass; t(0.975, 2) = 4.3027.
#[test]
fn three_passes_have_the_interval_of_their_composites() {
    let found = analyse(&passes(&[1, 2, 4]));
    let middle = 2.0 * 60.0_f64.sqrt();
    assert_close(found.btu_mbps.value, middle);
    let [low, high] = found.btu_mbps.ci95.unwrap();
    let half = 4.302_652_73 * 2.0_f64.ln() / 3.0_f64.sqrt();
    assert!((low / (middle * (-half).exp()) - 1.0).abs() < 1e-6);
    assert!((high / (middle * half.exp()) - 1.0).abs() < 1e-6);
    assert!(found.btu_mbps.bootstrap95.is_some());
    assert_eq!(found.penalty_percent.ci95.map(|ends| ends.map(f64::round)), Some([25.0, 25.0]));
    assert_eq!(found.pass_btu_mbps.len(), 3);
    // Passes that differ four times have the same share: what moves a pass moves both.
    let share = (60.0_f64 / 336.0).sqrt();
    assert_close(found.share_of_idle.value, share);
    for end in found.share_of_idle.ci95.unwrap() {
        assert_close(Some(end), share);
    }
    let cell = &found.cells[0];
    assert_eq!((cell.cell.id().as_str(), cell.n), ("SEND/telnet/cpu", 3));
    assert_close(Some(cell.goodput_mbps), 4.0);
    assert_close(Some(cell.seconds), 8.0);
    assert_eq!(
        cell.goodput_range.map(|mbps| format!("{mbps:.6}")),
        ["2.000000", "4.000000", "8.000000"]
    );
    // Position 1.9 of 2, 4, 8 by linear interpolation.
    assert_close(Some(cell.goodput_p95_mbps), 7.6);
    assert_close(cell.cv, (28.0_f64 / 3.0).sqrt() / (14.0 / 3.0));
    assert_close(Some(cell.robust_cv), 1.4826 * 2.0 / 4.0);
    assert_close(cell.slowdown, 1.25);
}

/// Ten passes and more have Student's t as well: the bootstrap stands beside it and is narrower.
#[test]
fn many_passes_have_the_same_interval_as_few() {
    let found = analyse(&passes(&[10, 11, 12, 10, 11, 12, 10, 11, 12, 10])).btu_mbps;
    let of_t = crate::stats::student_on_logs(
        &analyse(&passes(&[10, 11, 12, 10, 11, 12, 10, 11, 12, 10])).pass_btu_mbps,
    )
    .unwrap();
    assert_eq!(found.ci95, Some([of_t.low, of_t.high]));
    let [low, high] = found.bootstrap95.unwrap();
    assert!(of_t.low < low && high < of_t.high);
}

#[test]
fn two_passes_have_no_interval() {
    let found = analyse(&passes(&[1, 2]));
    assert_eq!(found.btu_mbps.ci95, None);
    assert_eq!(found.btu_mbps.ci95_reason.as_deref(), Some("2 passes, no interval"));
    assert_eq!(found.detectable_change, None);
}

//= maly1996#5 eq. 8
#[test]
fn the_base_of_a_slowdown_is_that_of_its_own_pass() {
    let mut journal = passes(&[1, 1]);
    journal.records.retain(|record| !matches!(record, Record::Alone(one) if one.pass == 2));
    journal.records.push(alone("cpu", 2, 320.0));
    let found = analyse(&journal);
    assert_close(found.cells[0].slowdown, 5.0_f64.sqrt());
    assert_close(found.penalty_percent.value, (5.0_f64.sqrt() - 1.0) * 100.0);
}

#[test]
fn without_bases_there_is_a_score_and_no_penalty() {
    let mut journal = passes(&[1]);
    journal.records.retain(|record| !matches!(record, Record::Alone(_)));
    let found = analyse(&journal);
    assert!(found.btu_mbps.value.is_some());
    assert_eq!(found.penalty_percent.value, None);
    assert!(found.penalty_percent.reason.is_some());
    assert!(found.penalty_classic_percent.reason.is_some());
    assert_reason(&found, "4 runs have no slowdown: cpu alone was not measured in pass 1");
    let mut journal = passes(&[1, 1]);
    journal.records.retain(|record| !matches!(record, Record::Alone(_)));
    assert_reason(
        &analyse(&journal),
        "8 runs have no slowdown: cpu alone was not measured in pass 1 (4 runs); cpu alone was not \
         measured in pass 2 (4 runs)",
    );
}

/// The connection of ftp is reset after an eighth of the window: its units so far stand over all of it.
#[test]
fn an_activity_that_failed_alone_is_no_base_and_says_why() {
    let mut journal = passes(&[1, 1]);
    journal.records.retain(|record| !matches!(record, Record::Alone(one) if one.pass == 2));
    let Record::Alone(mut failed) = alone("cpu", 2, 12.5) else { unreachable!() };
    failed.sample.failures.push("read 10.9.0.2:21: connection reset".into());
    journal.records.push(Record::Alone(failed));
    let found = analyse(&journal);
    assert_eq!(found.activity_runs.iter().map(|run| run.rate_per_s).next_back(), Some(None));
    let slowdown = |pass| found.runs.iter().find(|run| run.pass == pass).unwrap().slowdown;
    assert_eq!((slowdown(1), slowdown(2)), (Some(1.25), None));
    assert_close(found.penalty_percent.value, 25.0);
    assert_eq!((found.btu_mbps.n, found.penalty_percent.n), (2, 1));
    assert_reason(&found, "4 runs have no slowdown: cpu alone failed in pass 2");
    assert_reason(
        &found,
        "1 of 2 runs of an activity alone did not work as asked; the first is cpu, pass 2: read \
         10.9.0.2:21: connection reset",
    );
}

/// Work that met its cap was timed to there: its rate is one, and the result says what happened.
#[test]
fn fixed_work_that_met_its_cap_keeps_its_rate_and_is_not_rankable() {
    let mut journal = passes(&[1]);
    journal.plan.work = crate::run::plan::Work::Calibrated;
    let Some(Record::Alone(capped)) = journal.records.first_mut() else { unreachable!() };
    capped.sample.failures.push("200.0 of 400.0 units done at the cap".into());
    let found = analyse(&journal);
    assert_close(found.activity_runs[0].rate_per_s, 100.0);
    assert_close(found.penalty_percent.value, 25.0);
    assert_reason(&found, "the first is cpu, pass 1: 200.0 of 400.0 units done at the cap");
    assert!(!found.not_rankable_reasons.iter().any(|why| why.contains("no slowdown")));
}

#[test]
fn the_last_valid_attempt_counts() {
    let mut journal = passes(&[1]);
    first(&mut journal, "SEND/telnet/cpu").invalid.push("late".into());
    let mut second = run(&journal.plan, "SEND/telnet/cpu", 1, 32, 80.0);
    second.attempt = 2;
    journal.records.push(second.into());
    let found = analyse(&journal);
    assert_close(Some(found.cells[0].goodput_mbps), 32.0);
    assert_eq!(found.runs[0].attempts, 2);
    assert_eq!(found.not_rankable_reasons, Vec::<String>::new());
}

/// The first attempt was whole and only disturbed; its repeat could not connect.
#[test]
fn a_repeat_that_failed_does_not_replace_what_was_measured() {
    let mut journal = passes(&[1]);
    let mut second = run(&journal.plan, "SEND/telnet/cpu", 1, 32, 80.0);
    (second.attempt, second.comm) = (2, None);
    second.outcome = Outcome::Failed { reason: "connect 10.0.0.2: refused".into() };
    journal.records.push(second.clone().into());
    let found = analyse(&journal);
    assert_close(Some(found.cells[0].goodput_mbps), 2.0);
    assert_eq!((found.runs[0].attempt, found.runs[0].attempts), (1, 2));
    assert!(!found.runs[0].capped, "{:?}", found.runs[0].flags);
    assert_eq!(found.not_rankable_reasons, Vec::<String>::new());
    // Of two that measured nothing, the one that is not invalid says so with its cap.
    first(&mut journal, "SEND/telnet/cpu").invalid.push("late".into());
    assert!(analyse(&journal).runs[0].capped);
}

#[test]
fn two_invalid_attempts_count_flagged_and_are_not_rankable() {
    let mut journal = passes(&[1]);
    first(&mut journal, "SEND/telnet/cpu").invalid.push("p99 too late".into());
    let mut second = run(&journal.plan, "SEND/telnet/cpu", 1, 32, 80.0);
    (second.attempt, second.invalid) = (2, vec!["MTU changed".into()]);
    journal.records.push(second.into());
    let found = analyse(&journal);
    assert_close(Some(found.cells[0].goodput_mbps), 32.0);
    let flag = &found.runs[0].flags[0];
    assert_eq!(flag.name, "invalid");
    assert_eq!(flag.detail, "still invalid after 2 attempts: MTU changed");
    assert_reason(&found, "1 of 8 runs is invalid after its repeat; the first is SEND/telnet/cpu");
}

/// Whatever the emulator did meanwhile.
#[test]
fn a_run_in_which_the_program_stood_still_is_no_late_one() {
    let mut journal = passes(&[1]);
    let run = first(&mut journal, "SEND/telnet/cpu");
    run.emulation.push(DirectionSample::default());
    run.comm.as_mut().unwrap().connections[0].sender.stood_still_ns = Nanos::from_millis(300);
    run.invalid.extend(run.comm.as_ref().and_then(crate::run::verdict::standstill));
    let found = analyse(&journal);
    let flag = &found.runs[0].flags[0];
    assert_eq!(flag.name, "invalid");
    assert!(flag.detail.contains("stood still for 300 ms > 100 ms"), "{}", flag.detail);
}

#[test]
fn an_invalid_run_that_was_not_repeated_is_not_said_to_be() {
    let mut journal = passes(&[1]);
    first(&mut journal, "SEND/telnet/cpu").invalid.push("p99 too late".into());
    let found = analyse(&journal);
    assert_reason(&found, "1 of 8 runs is invalid and not repeated (the allowance was used");
    assert_eq!(found.runs[0].flags[0].detail, "invalid, and not repeated: p99 too late");
    let repeated = |reason: &String| {
        reason.contains("after its repeat") || reason.contains("after their repeat")
    };
    assert!(!found.not_rankable_reasons.iter().any(repeated), "{:?}", found.not_rankable_reasons);
}

/// What the conductor found on an emulated path keeps its name, even where the samples look well.
#[test]
fn an_invalid_run_on_an_emulated_path_is_late() {
    let mut journal = passes(&[1]);
    let run = first(&mut journal, "SEND/telnet/cpu");
    run.emulation.push(synthetic::direction("up"));
    run.invalid.push("the emulator did not answer".into());
    assert_eq!(analyse(&journal).runs[0].flags[0].name, "emulation-late");
    let mut of_a_black_box = journal.clone();
    let run = first(&mut of_a_black_box, "SEND/telnet/cpu");
    run.invalid = vec!["active: MTU 1500 -> 9000".into()];
    assert_eq!(analyse(&of_a_black_box).runs[0].flags[0].name, "invalid");
    first(&mut journal, "SEND/telnet/cpu").host.drift.push("MTU 1500 -> 9000".into());
    assert_eq!(analyse(&journal).runs[0].flags[0].name, "invalid");
}

/// The samples themselves are judged again: a clock step that the conductor did not see.
#[test]
fn an_emulation_that_failed_is_found_in_the_samples() {
    let mut journal = passes(&[1]);
    let stepped = DirectionSample { clock_steps: 2, ..synthetic::direction("up") };
    first(&mut journal, "SEND/telnet/cpu").emulation.push(stepped);
    let found = analyse(&journal);
    assert_eq!(found.runs[0].flags[0].name, "emulation-late");
    assert_reason(&found, "2 clock steps");
}

/// Window 1 s, drain 5 s: the time is 6 s, the amount what arrived (here 1.2 Mbit).
//= maly1996#5 eq. 4
#[test]
fn a_capped_cell_has_the_cap_as_its_time() {
    let mut journal = passes(&[1]);
    let capped = first(&mut journal, "SEND/video/none");
    capped.outcome = Outcome::Capped { reason: "no receipt".into() };
    capped.comm.as_mut().unwrap().bytes = Bytes::new(150_000);
    let found = analyse(&journal);
    let run = found.runs.iter().find(|run| run.cell.id() == "SEND/video/none").unwrap();
    assert_eq!((run.elapsed, run.bits), (Nanos::from_secs(6), 1_200_000));
    assert_close(Some(run.goodput_mbps), 0.2);
    assert!(run.capped && found.runs.iter().filter(|run| run.capped).count() == 1);
    assert_eq!(run.flags[0].name, "censored");
    assert_reason(&found, "1 of 8 runs is censored");
    assert_reason(&found, "SEND/video/none, pass 1: capped: no receipt");
}

/// Nothing arrived: one message of 100 bytes in 6 s, and the score is a number.
#[test]
fn a_failed_cell_counts_as_one_message_in_the_cap() {
    let mut journal = passes(&[1]);
    let failed = first(&mut journal, "SEND/telnet/none");
    failed.outcome = Outcome::Failed { reason: "connect 10.0.0.2: refused".into() };
    failed.comm = None;
    let found = analyse(&journal);
    let run = found.runs.iter().find(|run| run.cell.id() == "SEND/telnet/none").unwrap();
    assert_close(Some(run.goodput_mbps), 800.0 / 6e6);
    assert!(found.btu_idle_mbps.value.is_some());
    assert_reason(&found, "refused");
}

#[test]
fn another_congestion_control_than_the_plan_s_is_a_reason() {
    let mut journal = passes(&[1]);
    journal.plan.sockets.congestion = Some("cubic".to_owned());
    for (name, found) in [("SEND/telnet/none", "cubic"), ("SEND/video/none", "bbr")] {
        let comm = first(&mut journal, name).comm.as_mut().unwrap();
        comm.connections[0].sender.options.congestion = Some(found.to_owned());
    }
    let reason = "1 of 8 runs did not have congestion control cubic; \
                  the first is SEND/video/none, pass 1: bbr instead";
    assert_reason(&analyse(&journal), reason);
}

#[test]
fn an_activity_without_a_unit_is_a_bound_and_never_infinite() {
    let mut journal = passes(&[1]);
    first(&mut journal, "SEND/telnet/cpu").activity_sample.as_mut().unwrap().units = 0.0;
    let found = analyse(&journal);
    assert_close(found.cells[0].slowdown, 100.0);
    assert!(found.runs.iter().all(|run| !run.capped), "COMM itself is complete");
    assert_reason(
        &found,
        "1 of 8 runs has a slowdown that is a lower bound (no unit of the activity was finished, and \
         counts as one); the first is SEND/telnet/cpu, pass 1: cpu finished no unit of work in 1000 ms",
    );
    assert!(!found.not_rankable_reasons.iter().any(|why| why.contains("counts as time")));
    let flag = &found.runs[0].flags[0];
    let told = "cpu finished no unit of work in 1000 ms; counts as one unit: the slowdown is a lower \
                bound, the goodput is not";
    assert_eq!((flag.name.as_str(), flag.detail.as_str()), ("censored", told));
}

/// Pass 3 has one run, 1000 times as fast: it stands in the tables and in no composite.
#[test]
fn a_pass_cut_short_counts_for_no_composite() {
    let mut journal = passes(&[1, 1]);
    let stray = run(&journal.plan, "SEND/telnet/cpu", 3, 2000, 80.0);
    journal.records.push(stray.into());
    journal.events.push(event("interrupted"));
    let found = analyse(&journal);
    assert_close(found.btu_mbps.value, 60.0_f64.sqrt());
    assert_eq!((found.complete_passes, found.complete), (2, false));
    assert_eq!(found.runs.last().unwrap().flags[0].name, INCOMPLETE_PASS);
    assert_eq!(found.cells[0].n, 3);
    assert_reason(&found, "did not come to its end");
}

#[test]
fn a_result_without_a_complete_pass_is_partial_and_still_has_figures() {
    let mut journal = passes(&[1]);
    journal.records.truncate(4);
    let found = analyse(&journal);
    // telnet cpu GM(2, 8) = 4, video cpu SEND 9 alone: sqrt(36).
    assert_close(found.btu_mbps.value, 6.0);
    assert!(found.partial);
    assert_eq!(found.btu_idle_mbps.reason.as_deref(), Some("no baseline cells"));
    assert_eq!(found.share_of_idle.reason.as_deref(), Some("no pass is complete"));
    assert_eq!(
        found.btu_mbps.ci95_reason.as_deref(),
        Some("no complete pass: over some of the cells")
    );
    assert_reason(&found, "partial: 5 of 8 cells have no run");
    assert_reason(&found, "0 of 1 passes are complete");
}

#[test]
fn an_empty_journal_has_reasons_instead_of_figures() {
    let found = analyse(&journal(plan(1)));
    assert_eq!(found.btu_mbps.value, None);
    assert_eq!(found.btu_mbps.reason.as_deref(), Some("no loaded cells"));
    assert_eq!(found.penalty_classic_percent.reason.as_deref(), Some("no slowdown was measured"));
    assert!(found.applications.iter().all(|class| class.btu_mbps.reason.is_some()));
}

#[test]
fn what_must_not_be_ranked_says_why() {
    let mut debug = passes(&[1]);
    debug.hosts.tool.insert("profile".into(), Fact::known("debug"));
    assert_reason(&analyse(&debug), "debug build");
    debug.hosts.tool.clear();
    assert_reason(&analyse(&debug), "does not say how the program was built");
    for (preset, part) in [("quick", "preset quick"), ("custom", "a plan of the user's own")] {
        let mut journal = passes(&[1]);
        journal.plan.preset = preset.into();
        assert_reason(&analyse(&journal), part);
    }
    let mut few = passes(&[1]);
    few.plan.passes.min = 5;
    assert_reason(&analyse(&few), "1 of 5 passes are complete");
    let mut partial = passes(&[1]);
    partial.plan.partial = Some(true);
    assert_reason(&analyse(&partial), "smaller than the edition's");
    assert!(analyse(&partial).partial);
    partial.plan.partial = None;
    assert_reason(&analyse(&partial), "nothing says whether the matrix is the edition's");
    assert!(!analyse(&partial).partial);
    let mut memory = passes(&[1]);
    memory.hosts.placement.insert("io_in_memory".into(), Fact::known(true));
    assert_reason(&analyse(&memory), "in memory");
    let mut shared = passes(&[1]);
    shared.hosts.placement.insert("shared_active".into(), Fact::known(1));
    shared.hosts.placement.insert("shared_passive".into(), Fact::known(2));
    assert_reason(&analyse(&shared), "up to 2 conductors");
    let mut lying = passes(&[1]);
    let check = VerificationSample {
        when: "after".into(),
        link: "test-active".into(),
        mismatches: vec!["delay 9 ms instead of 5 ms".into()],
        ..VerificationSample::default()
    };
    lying.records.push(Record::Verification(check.clone()));
    assert_reason(&analyse(&lying), "test-active after the run: delay 9 ms");
    let good = VerificationSample { mismatches: Vec::new(), ..check.clone() };
    lying.records.push(Record::Verification(good.clone()));
    assert_reason(&analyse(&lying), "test-active after the run: delay 9 ms");
    let before = |check| VerificationSample { when: "before".into(), ..check };
    let mut patient = passes(&[1]);
    patient.records.push(Record::Verification(before(check)));
    assert_reason(&analyse(&patient), "test-active before the run: delay 9 ms");
    patient.records.push(Record::Verification(before(good)));
    assert_eq!(analyse(&patient).not_rankable_reasons, Vec::<String>::new());
    let mut unproved = passes(&[1]);
    let comm = first(&mut unproved, "SEND/telnet/cpu").comm.as_mut().unwrap();
    comm.connections[0].proof_failures.push("bytes_acked 10 < 20".into());
    assert_reason(&analyse(&unproved), "bytes_acked 10 < 20");
}

#[test]
fn a_black_box_at_its_limit_blocks_ranking_everywhere_but_on_one_machine() {
    let mut journal = passes(&[1]);
    let flag = Flag::new("blackbox-limited", "thread at 97 %");
    first(&mut journal, "SEND/telnet/cpu").flags.push(flag);
    assert_eq!(analyse(&journal).not_rankable_reasons, Vec::<String>::new());
    assert!(analyse(&journal).warnings.iter().any(|flag| flag.name == "local-testbed"));
    journal.plan.testbed_class = TestbedClass::Lab;
    let found = analyse(&journal);
    assert_reason(&found, "limited by a black box");
    assert!(found.warnings.is_empty());
}

#[test]
fn costs_are_those_of_each_side() {
    let found = analyse(&passes(&[1]));
    // SEND/telnet/cpu: 250 kB, 200 ms of CPU at the test host and 300 ms at the black box, 2500
    // writes, 250 segments.
    assert_close(found.cells[0].cpu_s_per_gb, 800.0);
    assert_close(found.cells[0].black_boxes_cpu_s_per_gb, 1200.0);
    let mut silent = passes(&[1]);
    let comm = first(&mut silent, "SEND/telnet/cpu").comm.as_mut().unwrap();
    comm.connections[0].receiver.cpu_ns = None;
    let half = &analyse(&silent).cells[0];
    assert_close(half.cpu_s_per_gb, 800.0);
    assert_eq!(half.black_boxes_cpu_s_per_gb, None);
    assert_close(found.cells[0].writes_per_segment, 10.0);
    assert_eq!(found.cells[0].retransmissions, Some(0));
}

#[test]
fn the_conductor_sees_the_score_and_its_width_grow() {
    let journal = passes(&[10, 10, 11]);
    let composites = pass_composites(&journal.plan, &journal.records);
    assert_eq!(composites, analyse(&journal).pass_btu_mbps);
    assert_eq!(composite_half_width(&composites[..2]), None);
    let half = 4.302_652_73 * 1.1_f64.ln() / 3.0_f64.sqrt() / 3.0_f64.sqrt();
    assert_close(composite_half_width(&composites).map(Ratio::share), half.exp_m1());
    assert!(!is_settled(&journal.plan, &journal.records));
    assert!(is_settled(&journal.plan, &passes(&[10, 10, 10]).records));
    assert!(!is_settled(&journal.plan, &passes(&[10, 10]).records));
    assert_eq!(running_score(&journal.plan, &[]), None);
    assert_close(running_score(&journal.plan, &journal.records[..3]), 40.0);
}

/// One settled composite, but half of the cells swing: two go up when two go down.
#[test]
fn a_calm_score_of_restless_cells_is_not_settled() {
    let mut journal = journal(plan(3));
    for (number, swing) in [(1, 10), (2, 20), (3, 10)] {
        for (name, _) in PASS {
            let up = name.starts_with("SEND");
            let mbps = if up { swing } else { 200 / swing };
            journal.records.push(run(&journal.plan, name, number, mbps, 80.0).into());
        }
    }
    let goal = journal.plan.passes.half_width;
    assert_eq!(settled_cells(&journal.plan, &journal.records, goal), Some(Ratio::ZERO));
    let width = composite_half_width(&pass_composites(&journal.plan, &journal.records)).unwrap();
    assert!(width.share() < 1e-9);
    assert!(!is_settled(&journal.plan, &journal.records));
}

/// The same rows through `btu score`: the same figures, incomplete pass and all.
#[test]
fn a_table_of_the_runs_has_the_same_score() {
    let mut journal = passes(&[1, 3, 2]);
    for number in [1, 3] {
        journal.records.push(alone("cpu", number, 40.0 * f64::from(number)));
    }
    journal.records.push(run(&journal.plan, "SEND/telnet/cpu", 4, 2000, 80.0).into());
    let found = analyse(&journal);
    let table = score_table(&as_table(&found)).unwrap();
    assert_close(table.btu_mbps, found.btu_mbps.value.unwrap());
    assert_close(table.btu_idle_mbps, found.btu_idle_mbps.value.unwrap());
    assert_close(table.penalty_percent, found.penalty_percent.value.unwrap());
    let classic = found.penalty_classic_percent.value;
    assert_eq!(table.penalty_classic_percent.is_some(), classic.is_some());
    assert_eq!(table.warnings, ["1 row of an incomplete pass left out"]);
}

fn as_table(analysis: &Analysis) -> String {
    let row = |run: &ScoredRun| {
        serde_json::json!({
            "case": run.cell.case.name(),
            "application": run.cell.application.name,
            "activity": run.cell.activity.as_str(),
            "repeat": run.pass,
            "bits": run.bits,
            "seconds": run.elapsed.seconds(),
            "goodput_mbps": run.goodput_mbps,
            "slowdown": run.slowdown,
            "activity_rate_per_s": run.activity_rate_per_s,
            "flags": run.flags.iter().map(|flag| flag.name.as_str()).collect::<Vec<_>>(),
        })
    };
    let alone = |run: &AloneRun| {
        serde_json::json!({"activity": run.activity.as_str(), "repeat": run.pass,
            "units": run.units, "seconds": run.elapsed.seconds(), "rate_per_s": run.rate_per_s})
    };
    serde_json::json!({
        "schema_version": "1.0.0",
        "activities": analysis.activity_runs.iter().map(alone).collect::<Vec<_>>(),
        "cells": analysis.runs.iter().map(row).collect::<Vec<_>>(),
    })
    .to_string()
}
