//! A night in virtual time.

use super::*;
use crate::file::experiment::by_name;
use crate::file::plan::Plan;
use crate::file::sample::TrialSample;
use crate::file::testing::sample;

const MINUTE: Nanos = Nanos::from_secs(60);

fn slots() -> Slots {
    Slots { first: Nanos::from_secs(1000), every: MINUTE * 30, count: 16 }
}

fn trial_of(round: u32) -> Line {
    let plan = Plan::new(vec!["client-load".into()], 1);
    let trial = by_name("client-load").unwrap().trials(&plan).remove(0);
    let seen = sample(&trial, trial.direction, &[1.0]);
    Line::FileTrial(Box::new(TrialSample { round, ..seen }))
}

/// A process with this journal, from `now` on, until it ends or begins the slot in which it is killed. A slot takes as long as
/// `takes` says. Returns when it was killed.
fn live(
    lines: &mut Vec<Line>,
    mut now: Nanos,
    takes: impl Fn(u32) -> Nanos,
    killed_in: Option<u32>,
) -> Option<Nanos> {
    let slots = slots();
    loop {
        match slots.step(now, next_slot(lines)) {
            Step::Over => return None,
            Step::Wait(until) => now = until,
            Step::Miss { slot, late } => {
                lines.push(Line::FileSlotMissed { slot, reason: format!("{late} late") });
            }
            Step::Begin(slot) => {
                assert!(now >= slots.due(slot) && now <= slots.due(slot) + MINUTE * 3);
                lines.push(trial_of(slot));
                now += takes(slot);
                if killed_in == Some(slot) {
                    return Some(now);
                }
            }
        }
    }
}

fn begun(lines: &[Line]) -> Vec<u32> {
    lines.iter().filter_map(Line::trial).map(|sample| sample.round).collect()
}

fn missed(lines: &[Line]) -> Vec<u32> {
    let slot = |line: &Line| match line {
        Line::FileSlotMissed { slot, .. } => Some(*slot),
        _ => None,
    };
    lines.iter().filter_map(slot).collect()
}

/// Sixteen slots, killed in the fifth, gone on with after the sixth was due: no slot is repeated, and one is missed.
#[test]
fn a_night_that_was_killed_goes_on_with_the_next_slot_and_repeats_none() {
    let mut lines = Vec::new();
    let minutes = |_| MINUTE * 4;
    let killed = live(&mut lines, Nanos::ZERO, minutes, Some(5)).unwrap();
    assert_eq!(begun(&lines), [1, 2, 3, 4, 5]);
    live(&mut lines, killed + MINUTE * 36, minutes, None);
    assert_eq!(begun(&lines), [1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
    assert_eq!(missed(&lines), [6]);
}

#[test]
fn a_slot_that_takes_too_long_costs_the_next_one_and_no_other() {
    let mut lines = Vec::new();
    live(&mut lines, Nanos::ZERO, |slot| if slot == 3 { MINUTE * 40 } else { MINUTE }, None);
    assert_eq!(missed(&lines), [4]);
    assert_eq!(begun(&lines).len(), 15);
    let mut lines = Vec::new();
    live(&mut lines, Nanos::ZERO, |_| MINUTE * 32, None);
    assert!(!missed(&lines).is_empty() && begun(&lines).len() + missed(&lines).len() == 16);
}

/// Deadlines are those of the first slot: what each takes moves none of the others.
#[test]
fn slots_are_due_as_the_first_one_was() {
    let slots = slots();
    assert_eq!(slots.step(Nanos::ZERO, 1), Step::Wait(slots.first));
    assert_eq!(slots.step(slots.first, 1), Step::Begin(1));
    assert_eq!(slots.due(16), slots.first + MINUTE * 450);
    assert_eq!(slots.step(slots.due(17), 17), Step::Over);
    let late = MINUTE * 3 + Nanos::new(1);
    assert_eq!(slots.step(slots.due(2) + late, 2), Step::Miss { slot: 2, late });
}

#[test]
fn a_time_of_the_day_is_today_or_tomorrow() {
    let time = |text: &str| text.parse::<TimeOfDay>().unwrap();
    assert_eq!(time("22:00").until(time("06:00")), MINUTE * 480);
    assert_eq!(time("06:00").until(time("22:00")), MINUTE * 960);
    assert_eq!(time("22:00").seconds_after(21 * 3600 + 1), 3599);
    assert_eq!(time("22:00").seconds_after(22 * 3600 + 1), 86_399);
    assert_eq!(String::from(time("06:05")), "06:05");
    for wrong in ["", "22", "24:00", "22:60", "2:00", "+2:00"] {
        assert!(wrong.parse::<TimeOfDay>().unwrap_err().contains("write 22:00"), "{wrong}");
    }
}
