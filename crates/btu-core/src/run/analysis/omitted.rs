//! The cells that deserve a second run and have none: a reader must not take that for "nothing found".

use super::AbnormalCell;
use super::CellSummary;
use super::abnormal::abnormal_of;
use crate::journal::EventRecord;
use crate::journal::Journal;
use crate::run::cell::Cell;
use crate::run::plan::CaptureLimits;
use crate::run::plan::Captured;
use crate::sample::Flag;
use crate::units::Nanos;
use crate::words::shell_word;

/// A cell without a second run, though one was due.
#[derive(Clone, Debug, PartialEq)]
pub struct Omitted {
    /// The cell.
    pub cell: Cell,
    /// What makes it abnormal; empty for one that was only asked for.
    pub why: Vec<Flag>,
    /// Why it was not run again.
    pub reason: Reason,
}

/// Why a cell was not run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The run ended before.
    CutShort,
    /// Others have more findings, and no more than these are run again.
    MostFindings(usize),
    /// The time for second runs was over.
    OutOfTime(Nanos),
    /// The plan wants no second run.
    Unwanted,
    /// The result holds no second run of any cell and does not say why.
    NoneAtAll,
    /// The result does not say.
    Unknown,
}

impl Reason {
    /// In words.
    pub fn words(self) -> String {
        match self {
            Self::CutShort => "the run ended before".to_owned(),
            Self::MostFindings(cells) => {
                format!("only the {cells} cells with most findings are run again with this plan")
            }
            Self::OutOfTime(budget) => {
                format!("the {} s for second runs were over", budget.seconds())
            }
            Self::Unwanted => "the plan captures none".to_owned(),
            Self::NoneAtAll => "this result has no second runs and does not say why".to_owned(),
            Self::Unknown => "not known: the result does not say".to_owned(),
        }
    }
}

impl Omitted {
    /// How to run it again, on the same testbed; the result's directory is DIR.
    pub fn command(&self) -> String {
        let Cell { case, application, activity } = &self.cell;
        // Whoever names no activity gets all of the plan.
        let activity = if activity.is_none() { IDLE } else { activity.as_str() };
        format!(
            "btu run --plan DIR/plan.toml --cases {case} --applications {} --activities {} --capture all",
            shell_word(&application.name),
            shell_word(activity)
        )
    }
}

/// The activity that does nothing: with it only baselines carry load.
const IDLE: &str = "idle";

/// Those of a journal, in the order in which they would have been run.
pub(super) fn omitted(journal: &Journal, cells: &[CellSummary], complete: bool) -> Vec<Omitted> {
    let plan = &journal.plan;
    let mut due = abnormal_of(cells);
    if plan.captured == Captured::All {
        let others = plan.cells().into_iter();
        let others: Vec<Cell> =
            others.filter(|cell| due.iter().all(|one| one.cell != *cell)).collect();
        due.extend(others.into_iter().map(|cell| AbnormalCell { cell, why: Vec::new() }));
    }
    let known = Known::of(journal, complete);
    let captured = journal.captures();
    let is_missing =
        |(_, one): &(usize, AbnormalCell)| captured.iter().all(|run| run.run.cell != one.cell);
    let of = |(place, one): (usize, AbnormalCell)| {
        let reason = known.reason(place, &one.cell);
        Omitted { cell: one.cell, why: one.why, reason }
    };
    due.into_iter().enumerate().filter(is_missing).map(of).collect()
}

/// What a journal says of its second runs. The rules of today may call other cells abnormal than those
/// of the program that measured, so a reason is given only where the journal bears it out.
struct Known<'j> {
    choice: Captured,
    limits: CaptureLimits,
    complete: bool,
    /// Second runs in the journal.
    made: usize,
    /// The cells for which there was no time, as the conductor noted when it ended.
    late: Vec<&'j str>,
}

impl<'j> Known<'j> {
    fn of(journal: &'j Journal, complete: bool) -> Self {
        // Who resumes a run has its time for second runs anew.
        let events = EventRecord::last_part(&journal.events);
        let late = events.iter().filter(|one| one.event == EventRecord::NOT_RUN_AGAIN);
        Self {
            choice: journal.plan.captured,
            limits: journal.plan.capture_limits(),
            complete,
            made: journal.captures().len(),
            late: late.map(|one| one.detail.as_str()).collect(),
        }
    }

    /// Of a cell without a second run, by its place in the order of findings.
    fn reason(&self, place: usize, cell: &Cell) -> Reason {
        let names = format!("{}: ", cell.id());
        let (cells, due) = (self.limits.cells, self.made + self.late.len());
        match self.choice {
            Captured::None => Reason::Unwanted,
            _ if !self.complete => Reason::CutShort,
            _ if self.late.iter().any(|late| late.starts_with(&names)) => {
                Reason::OutOfTime(self.limits.budget)
            }
            _ if place >= cells && due >= cells => Reason::MostFindings(cells),
            _ if due == 0 => Reason::NoneAtAll,
            _ => Reason::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::EventRecord;
    use crate::journal::Record;
    use crate::run::analysis::analyse;
    use crate::run::analysis::synthetic;
    use crate::sample::CaptureSample;

    /// Five passes in which SEND carries a tenth of what RECV does: all four SEND cells are abnormal.
    fn journal(captured: Captured) -> Journal {
        let mut plan = synthetic::plan(5);
        plan.captured = captured;
        let mut journal = synthetic::journal(plan.clone());
        for pass in 1..=5 {
            journal.records.push(synthetic::alone("cpu", pass, 10.0));
            for cell in plan.cells() {
                let mbps = if cell.case == crate::run::cell::Case::Send { 100 } else { 1000 };
                journal.records.push(synthetic::run(&plan, &cell.id(), pass, mbps, 5.0).into());
            }
        }
        journal
    }

    fn second(plan: &crate::run::plan::Plan, cell: &str) -> Record {
        Record::Capture(Box::new(CaptureSample {
            run: synthetic::run(plan, cell, 1, 100, 5.0),
            why: Vec::new(),
            black_boxes: Vec::new(),
            black_box_hosts: Vec::new(),
            file: None,
            not_captured: "not wanted here".to_owned(),
        }))
    }

    fn found(journal: &Journal) -> Vec<(String, usize, Reason)> {
        let of = |one: Omitted| (one.cell.id(), one.why.len(), one.reason);
        analyse(journal).omitted.into_iter().map(of).collect()
    }

    #[test]
    fn each_abnormal_cell_without_a_second_run_is_named_with_its_reason() {
        let mut journal = journal(Captured::Abnormal);
        let none = Reason::NoneAtAll;
        assert_eq!(found(&journal).len(), 4);
        assert!(found(&journal).iter().all(|(_, why, reason)| *why > 0 && *reason == none));
        let plan = journal.plan.clone();
        journal.records.push(second(&plan, "SEND/telnet/none"));
        // Cells with more findings come first.
        let names: Vec<String> = found(&journal).into_iter().map(|one| one.0).collect();
        assert_eq!(names, ["SEND/telnet/cpu", "SEND/video/cpu", "SEND/video/none"]);
        assert!(found(&journal).iter().all(|one| one.2 == Reason::Unknown));
        journal.plan.captured = Captured::None;
        assert!(found(&journal).iter().all(|one| one.2 == Reason::Unwanted));
        journal.plan.captured = Captured::Abnormal;
        journal.events.pop();
        assert!(found(&journal).iter().all(|one| one.2 == Reason::CutShort));
    }

    #[test]
    fn that_the_time_was_over_is_said_of_the_cells_that_the_conductor_named() {
        let mut journal = journal(Captured::Abnormal);
        let mut note = |event: &str, detail: &str| {
            let at = "2026-11-21T20:01:18Z".to_owned();
            let (event, detail) = (event.to_owned(), detail.to_owned());
            journal.events.insert(journal.events.len() - 1, EventRecord { at, event, detail });
            found(&journal).into_iter().map(|one| one.2).collect::<Vec<_>>()
        };
        let of_one = note(EventRecord::NOT_RUN_AGAIN, "SEND/video/cpu: the time was over");
        let out_of_time = Reason::OutOfTime(Nanos::from_secs(90));
        assert_eq!(of_one.iter().filter(|one| **one == out_of_time).count(), 1, "{of_one:?}");
        assert_eq!(of_one.iter().filter(|one| **one == Reason::Unknown).count(), 3, "{of_one:?}");
        // A run that went on had its time anew.
        assert!(note("resumed", "").iter().all(|one| *one == Reason::NoneAtAll));
    }

    #[test]
    fn whoever_asks_for_every_cell_is_told_of_each_that_is_missing() {
        let all = found(&journal(Captured::All));
        assert_eq!(all.len(), 8);
        assert_eq!(all.iter().filter(|one| one.1 == 0).count(), 4, "those that are normal");
        assert!(all.iter().all(|one| one.2 == Reason::NoneAtAll));
    }

    #[test]
    fn a_word_of_the_user_stays_one_word() {
        assert_eq!(shell_word("SEND+DL"), "SEND+DL");
        assert_eq!(shell_word("a b; rm 'x'"), r"'a b; rm '\''x'\'''");
    }

    #[test]
    fn the_command_names_the_cell() {
        let journal = journal(Captured::None);
        let commands: Vec<String> =
            analyse(&journal).omitted.iter().map(Omitted::command).collect();
        let start = "btu run --plan DIR/plan.toml --cases SEND --applications ";
        assert!(
            commands.contains(&format!("{start}telnet --activities idle --capture all")),
            "{commands:?}"
        );
        let loaded = format!("{start}video --activities cpu --capture all");
        assert!(commands.contains(&loaded), "{commands:?}");
    }
}
