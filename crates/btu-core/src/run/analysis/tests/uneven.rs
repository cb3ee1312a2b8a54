//! Penalties of passes that lack a slowdown.

use super::*;
use crate::comparison::compare;

/// Two passes of cpu and io, 100 units per second alone. Beside COMM cpu does 25; io 80 in the first pass
/// and 40 in the second: slowdowns 4, and 1.25 or 2.5.
fn two_activities() -> Journal {
    let mut journal = journal(plan(2));
    journal.plan.activities.push(ActivityName::new("io"));
    for pass in 1..=2 {
        for activity in ["cpu", "io"] {
            journal.records.push(alone(activity, pass, 100.0));
        }
        for cell in journal.plan.cells() {
            let beside = match cell.activity.as_str() {
                "cpu" => 25.0,
                _ => 80.0 / f64::from(pass),
            };
            let sample = run(&journal.plan, &cell.id(), pass, 4, beside);
            journal.records.push(sample.into());
        }
    }
    journal
}

fn without_base(journal: &mut Journal, activity: &str, pass: u32) {
    let is_it = |record: &Record| matches!(record, Record::Alone(one) if one.pass == pass && one.activity.as_str() == activity);
    journal.records.retain(|record| !is_it(record));
}

/// Every penalty of the analysis is what `btu score` makes of the same runs.
fn assert_table_agrees(found: &Analysis) -> Vec<String> {
    let table = score_table(&as_table(found)).unwrap();
    assert_close(table.penalty_percent, found.penalty_percent.value.unwrap());
    assert_close(table.penalty_classic_percent, found.penalty_classic_percent.value.unwrap());
    for (theirs, ours) in table.applications.iter().zip(&found.applications) {
        assert_close(theirs.penalty_percent, ours.penalty_percent.value.unwrap());
    }
    table.warnings
}

#[test]
fn a_pass_that_lacks_an_activity_is_in_no_penalty() {
    let mut journal = two_activities();
    without_base(&mut journal, "cpu", 2);
    let found = analyse(&journal);
    assert_close(found.penalty_percent.value, (5.0_f64.sqrt() - 1.0) * 100.0);
    assert_eq!(found.penalty_percent.ci95_reason.as_deref(), Some("1 pass, no interval"));
    assert_eq!(found.pass_btu_mbps.len(), 2, "the score is over both");
    assert_reason(&found, "4 runs have no slowdown: cpu alone was not measured in pass 2");
    assert_reason(&found, "the penalty is over 1 of 2 complete passes: the others lack a slowdown");
    assert_eq!(
        assert_table_agrees(&found),
        [
            "4 of 16 loaded rows have no slowdown, the first is SEND/telnet/cpu, repeat 2; the penalty \
          is over 1 of 2 repeats, which have them all"
        ]
    );
    let against_itself = compare(&found, &found);
    let penalty = against_itself.changes.iter().find(|change| change.figure == "penalty");
    assert_close(penalty.map(|change| change.before), 5.0_f64.sqrt());
}

/// cpu of the first pass alone, io of the second: 4 and 2.5.
#[test]
fn where_every_pass_lacks_one_the_penalty_is_over_what_there_is() {
    let mut journal = two_activities();
    without_base(&mut journal, "cpu", 2);
    without_base(&mut journal, "io", 1);
    let found = analyse(&journal);
    assert_close(found.penalty_percent.value, (10.0_f64.sqrt() - 1.0) * 100.0);
    let reason = found.penalty_percent.ci95_reason.as_deref();
    assert_eq!(reason, Some("no pass has all of it: over some of the cells"));
    assert_reason(&found, "the penalty is over unlike passes: each lacks a slowdown");
    assert_eq!(
        assert_table_agrees(&found),
        [
            "8 of 16 loaded rows have no slowdown, the first is SEND/telnet/io, repeat 1; the penalty is \
          over the others"
        ]
    );
}

#[test]
fn passes_with_every_slowdown_are_all_in_the_penalty() {
    let found = analyse(&two_activities());
    // Pass 1 sqrt(5), pass 2 sqrt(10).
    assert_close(found.penalty_percent.value, (50.0_f64.powf(0.25) - 1.0) * 100.0);
    assert_eq!(found.not_rankable_reasons, Vec::<String>::new());
    assert_eq!(assert_table_agrees(&found), Vec::<String>::new());
}
