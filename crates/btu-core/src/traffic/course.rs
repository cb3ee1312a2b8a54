//! What is measured next where that depends on what was measured: a pure function of plan and journal, so
//! that a measurement that was cut short goes on as if nothing had happened.

mod knee;
mod sheet;

use super::method;
use super::plan::Cell;
use super::plan::Course;
use super::plan::Plan;
use super::plan::Probe;
use super::plan::place;
use super::sample::Line;
use super::sample::RunSample;
use crate::traffic::analysis::Totals;
use crate::units::Nanos;

pub(super) use sheet::KNEE as KNEE_SERIES;
pub(super) use sheet::methods as methods_of_sheet;

/// The run that is made next.
#[derive(Clone, Debug, PartialEq)]
pub struct Next {
    /// The number of the pass.
    pub pass: u32,
    /// What is run.
    pub cell: Cell,
    /// True where the plan does not have the cell and the journal must be told.
    pub decided: bool,
}

/// What was measured so far.
#[derive(Debug)]
pub(super) struct SoFar<'a> {
    pub(super) plan: &'a Plan,
    pub(super) course: &'a Course,
    cells: Vec<&'a Cell>,
    made: Vec<Made<'a>>,
}

/// One run.
#[derive(Debug)]
pub(super) struct Made<'a> {
    pub(super) cell: &'a Cell,
    pub(super) run: &'a RunSample,
    pub(super) totals: Totals,
}

impl Plan {
    /// The run after those of a journal; `None` where nothing is left.
    pub fn next_run(&self, lines: &[Line]) -> Option<Next> {
        let Some(course) = &self.course else { return self.next_fixed(lines) };
        let seen = SoFar::of(self, course, lines);
        let draft = match course.name.as_str() {
            KNEE => knee::next(&seen),
            QOS => sheet::next(&seen),
            name => method::find(name).and_then(|method| (method.next)(&seen)),
        }?;
        let known = seen.cells.iter().find(|cell| same(cell, &draft));
        let Some(cell) = known else {
            let id = seen.cells.iter().map(|cell| cell.id).max().unwrap_or(0) + 1;
            return Some(Next { pass: 1, cell: Cell { id, ..draft }, decided: true });
        };
        let passes = seen.made.iter().filter(|made| made.cell.id == cell.id).count();
        let pass = u32::try_from(passes + 1).unwrap_or(u32::MAX);
        Some(Next { pass, cell: (*cell).clone(), decided: false })
    }

    fn next_fixed(&self, lines: &[Line]) -> Option<Next> {
        let is_made = |pass: u32, cell: &Cell| {
            lines.iter().filter_map(Line::run).any(|run| (run.cell, run.pass) == (cell.id, pass))
        };
        let left = self.runs().into_iter().find(|(pass, cell)| !is_made(*pass, cell))?;
        Some(Next { pass: left.0, cell: left.1.clone(), decided: false })
    }
}

impl<'a> SoFar<'a> {
    fn of(plan: &'a Plan, course: &'a Course, lines: &'a [Line]) -> Self {
        let cells: Vec<&Cell> = lines.iter().filter_map(Line::cell).collect();
        let made = lines.iter().filter_map(Line::run).filter_map(|run| {
            let cell = cells.iter().find(|cell| cell.id == run.cell)?;
            Some(Made { cell, run, totals: Totals::of(run) })
        });
        let made = made.collect();
        Self { plan, course, cells, made }
    }

    /// Every run, in order.
    pub(super) fn made(&self) -> impl Iterator<Item = &Made<'a>> {
        self.made.iter()
    }

    /// How often a draft was run.
    pub(super) fn times(&self, draft: &Cell) -> usize {
        self.made().filter(|made| same(made.cell, draft)).count()
    }

    /// The draft, until it was run so often.
    pub(super) fn until(&self, draft: Cell, times: u32) -> Option<Cell> {
        (self.times(&draft) < usize::try_from(times).unwrap_or(usize::MAX)).then_some(draft)
    }

    /// The next of several cells, pass by pass, each pass in a random order of its own.
    pub(super) fn round(&self, drafts: Vec<Cell>, passes: u32) -> Option<Cell> {
        let done = |draft: &Cell| u32::try_from(self.times(draft)).unwrap_or(u32::MAX);
        let fewest = drafts.iter().map(done).min().filter(|fewest| *fewest < passes)?;
        let order = |at: usize| place(self.plan.seed, fewest, u32::try_from(at).unwrap_or(0));
        let open = drafts.into_iter().enumerate().filter(|(_, draft)| done(draft) == fewest);
        open.min_by_key(|(at, _)| order(*at)).map(|(_, draft)| draft)
    }
}

/// True for the same cell, whatever its number.
fn same(cell: &Cell, draft: &Cell) -> bool {
    *cell == Cell { id: cell.id, ..draft.clone() }
}

impl Course {
    /// The longest time in which nothing is said: that of a search, of round trips under load, or of sessions of
    /// a class.
    pub fn longest_run(&self) -> Nanos {
        let least = match self.name.as_str() {
            KNEE => sheet::LEAST_STREAM,
            name if name == method::rfc6349::METHOD.name => self.time_ns,
            QOS => sheet::longest_class(self),
            _ => Nanos::ZERO,
        };
        let all = match self.name.as_str() {
            QOS => sheet::probes(self),
            name if name == method::responsiveness::METHOD.name => {
                vec![method::responsiveness::probe(self)]
            }
            name if name == method::rfc6349::METHOD.name => vec![method::rfc6349::probe(self)],
            _ => Vec::new(),
        };
        all.iter().map(Probe::longest).max().unwrap_or(self.time_ns).max(least)
    }
}

impl Probe {
    /// How long it may take.
    pub fn longest(&self) -> Nanos {
        match self {
            Self::Capacity { time_ns, .. } => *time_ns,
            Self::PathMtu { timer_ns } => {
                timer_ns.saturating_mul(TIMERS_OF_A_SEARCH).saturating_add(LONGEST_ANSWERS)
            }
            // Those that wait long for an answer take longer than their time.
            Self::Responsiveness { interval_ns, intervals } => {
                *interval_ns * u64::from(*intervals) * LONGER
            }
        }
    }
}

/// The course of a sweep that looks for the knee.
pub const KNEE: &str = "knee";
/// The course of a sheet of the quality of service.
pub const QOS: &str = "qos";
/// A search takes as long as so many loads of a sheet: 10 s of RFC 9097 where a load takes 2 s.
pub const SEARCH_TIMES: u64 = 5;
/// What a trial may take. A capacity search is as long at the most: memory is kept for its reports.
pub const LONGEST_TRIAL: Nanos = Nanos::from_secs(3600);
/// What a load of a sheet may take.
pub const LONGEST_LOAD: Nanos = Nanos::new(LONGEST_TRIAL.count() / SEARCH_TIMES);
/// What a search for a path MTU has at the most: ten sizes that are too large, with three probes each, and the answers
/// of a slow path.
const TIMERS_OF_A_SEARCH: u64 = 30;
const LONGEST_ANSWERS: Nanos = Nanos::from_secs(30);
/// How much longer than its intervals a probe of round trips may take.
const LONGER: u64 = 2;

#[cfg(test)]
pub(super) mod tests;
