//! The sheet of a path, line by line: each figure with its interval and the cells that it was found from, or why it is
//! not known.

mod figure;
mod path;
mod tolerance;

use super::Analysis;
use super::Carried;
use super::Estimate;
use super::Measured;
use super::Totals;
use crate::stats::Interval;
use crate::stats::arithmetic_mean;
use crate::stats::student;
use crate::traffic::class;
use crate::traffic::class::Class;
use crate::traffic::course::KNEE_SERIES;
use crate::traffic::plan::Group;
use crate::traffic::plan::Study;
use crate::traffic::sample::Journal;
use crate::traffic::transport::Transport;

use figure::DELAYS;
use figure::SHARES;
use figure::WINDOW;

/// One figure of a sheet.
#[derive(Clone, Debug, PartialEq)]
pub struct SheetLine {
    /// What it is of.
    pub of: Of,
    /// Which figure, with its unit: `delay_p99_s`.
    pub figure: &'static str,
    /// The mean over passes; of sessions the most that the path carries. `None` where two clocks hide it, and where no
    /// number of sessions is known to be carried.
    pub value: Option<f64>,
    /// Why there is no value; `None` where there is one.
    pub missing: Option<String>,
    /// 95 %, from three passes on; of sessions from the most that the path carried to one fewer than the least that it
    /// did not, where such were tried.
    pub interval: Option<Interval>,
    /// True where the path carries or bears at least that.
    pub at_least: bool,
    /// How far the delays of one way that it is, or is found from, may be off, seconds; `None` where one clock measured
    /// them.
    pub bound_s: Option<f64>,
    /// How many measurements it is the mean of; of what two clocks hide, how many there are.
    pub passes: usize,
    /// The cells that it comes from.
    pub cells: Vec<u32>,
}

/// What a line of a sheet is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Of {
    /// An application class.
    Class(String),
    /// A load around the knee, by its label.
    Load(String),
    /// The path.
    Path,
}

impl Of {
    /// The name.
    pub fn name(&self) -> &str {
        match self {
            Self::Class(name) | Self::Load(name) => name,
            Self::Path => "path",
        }
    }
}

/// The lines of a sheet; none where the plan is no sheet.
pub(super) fn lines(journal: &Journal, analysis: &Analysis) -> Vec<SheetLine> {
    if journal.plan.study != Study::Qos {
        return Vec::new();
    }
    let seen = Seen { journal, analysis };
    let mut lines = path::lines(&seen);
    lines.extend(seen.around_the_knee());
    lines.extend(analysis.classes.iter().flat_map(|carried| seen.class(carried)));
    lines.extend(seen.classes_not_run());
    lines
}

struct Seen<'a> {
    journal: &'a Journal,
    analysis: &'a Analysis,
}

impl Seen<'_> {
    fn cells(&self, group: Group) -> Vec<u32> {
        let mut cells: Vec<u32> = self.analysis.group(group).map(|one| one.cell.id).collect();
        // A probe has runs, and no flows.
        let probes = self.journal.plan.cells.iter().filter(|cell| cell.group == group);
        cells.extend(probes.filter(|cell| cell.probe.is_some()).map(|cell| cell.id));
        cells.sort_unstable();
        cells.dedup();
        cells
    }

    /// The cells that the knee is found from.
    fn loads(&self) -> Vec<u32> {
        let own = self.analysis.cells.iter().filter(|measured| measured.is_of_the_knee());
        let mut cells: Vec<u32> = own.map(|measured| measured.cell.id).collect();
        cells.sort_unstable();
        cells
    }

    /// Delays at shares of the knee, each measured there.
    fn around_the_knee(&self) -> Vec<SheetLine> {
        let own = |one: &&Measured| one.cell.series.as_deref() == Some(KNEE_SERIES);
        let loads = self.analysis.group(Group::Load).filter(own);
        loads.flat_map(around).collect()
    }

    fn class(&self, carried: &Carried) -> Vec<SheetLine> {
        let of = Of::Class(carried.class.clone());
        let mut lines = vec![SheetLine { cells: self.tried(carried), ..sessions(carried) }];
        lines.extend(class::by_name(&carried.class).into_iter().flat_map(|c| borne(carried, c)));
        lines.extend(tolerance::lines(self.journal, self.analysis, carried));
        lines.into_iter().map(|line| SheetLine { of: of.clone(), ..line }).collect()
    }

    /// The cells of every number of sessions that was tried.
    fn tried(&self, carried: &Carried) -> Vec<u32> {
        let own = |one: &&Measured| one.cell.class.as_ref() == Some(&carried.class);
        self.analysis.cells.iter().filter(own).map(|one| one.cell.id).collect()
    }

    /// The classes of which nothing was run: what was cut short ended before them.
    fn classes_not_run(&self) -> Vec<SheetLine> {
        let is_run = |name: &str| self.analysis.classes.iter().any(|one| one.class == name);
        let all = self.journal.plan.course.iter().flat_map(|course| &course.classes);
        let absent = all.filter(|name| !is_run(name));
        absent
            .map(|name| SheetLine {
                of: Of::Class(name.clone()),
                ..without("sessions", "no sessions of it were run")
            })
            .collect()
    }
}

/// What the most sessions that the path carries met: every figure that sessions of the class can have.
fn borne(carried: &Carried, class: &Class) -> Vec<SheetLine> {
    // A full stream has no blocks that wait, and a stream loses nothing.
    let delays = DELAYS.iter().filter(|_| class.bit_s > 0.0);
    let shares = SHARES.iter().filter(|_| class.transport == Transport::Udp);
    let mut lines: Vec<SheetLine> =
        delays.chain(shares).map(|figure| figure.line(&carried.at)).collect();
    lines.extend(class.is_call.then(|| call(&carried.at)));
    let own = |line: SheetLine| match (carried.most, &carried.fails_at) {
        (Some(_), _) => SheetLine { cells: vec![carried.at.cell.id], ..line },
        (None, Some((1, _))) => without(line.figure, "not a single session is carried"),
        (None, _) => without(line.figure, "no number of sessions is known to be carried"),
    };
    lines.into_iter().map(own).collect()
}

/// What the worst call would be worth, over the passes.
fn call(at: &Measured) -> SheetLine {
    let rated: Vec<f64> = at.runs.iter().filter_map(|run| Some(run.worst_call?.r)).collect();
    let clocks = at.runs.iter().find_map(|run| run.clocks_apart.as_deref());
    let why = clocks.map_or_else(|| "no datagram came".to_owned(), figure::apart);
    let bound_s = at.delay_bound_s();
    let made = SheetLine { bound_s, ..line_or("call_r", mean(&rated), &why) };
    match bound_s.filter(|_| at.hides_call()) {
        Some(bound) => {
            let is_rated = |run: &&Totals| run.worst_call.is_some() || run.hides_call;
            SheetLine { passes: at.runs.iter().filter(is_rated).count(), ..made.hidden(bound) }
        }
        None => made,
    }
}

/// The most sessions, and how many more the next that failed leave open. Where no number is known to be carried there
/// is none, unless a single session failed.
fn sessions(carried: &Carried) -> SheetLine {
    let fails = carried.fails_at.as_ref().map(|(at, _)| at.saturating_sub(1));
    let most = carried.most.or(fails.filter(|fails| *fails == 0)).map(f64::from);
    let low = most.unwrap_or(0.0);
    let interval = fails.map(|high| Interval { low, high: f64::from(high).max(low) });
    let passes = carried.at.runs.len();
    let found = most.map(|value| Estimate { value, interval, passes });
    let at_least = most.is_some() && fails.is_none();
    let line = SheetLine { at_least, ..line_or("sessions", found, NOT_CARRIED) };
    SheetLine { interval, passes, ..line }
}

fn around(load: &Measured) -> Vec<SheetLine> {
    let rate = line_or("arrival_rate_bit_s", load.arrival, "in no pass all of it could be run");
    let figures = [&WINDOW].into_iter().chain(&DELAYS);
    let delays = figures.map(|figure| figure.line(load));
    std::iter::once(rate)
        .chain(delays)
        .map(|line| SheetLine {
            of: Of::Load(load.cell.label.clone()),
            cells: vec![load.cell.id],
            ..line
        })
        .collect()
}

/// The mean with its interval: on logarithms where it can be, else as it is.
pub(super) fn mean(values: &[f64]) -> Option<Estimate> {
    let made = Estimate::of(values)?;
    if values.iter().all(|value| *value > 0.0) {
        return Some(made);
    }
    let interval = student(values).filter(|_| values.len() >= 3);
    // What cannot be negative has no bound below nothing.
    let least = if values.iter().all(|value| *value >= 0.0) { 0.0 } else { f64::NEG_INFINITY };
    let interval = interval.map(|found| Interval { low: found.low.max(least), ..found });
    Some(Estimate { value: arithmetic_mean(values)?, interval, passes: values.len() })
}

/// A line of the path from no cells.
fn line(figure: &'static str, found: Estimate) -> SheetLine {
    SheetLine {
        value: Some(found.value),
        missing: None,
        interval: found.interval,
        passes: found.passes,
        ..without(figure, String::new())
    }
}

/// The same of what may be missing, and why it is then.
fn line_or(figure: &'static str, found: Option<Estimate>, why: &str) -> SheetLine {
    found.map_or_else(|| without(figure, why), |found| line(figure, found))
}

/// A line without a value, and why.
fn without(figure: &'static str, why: impl Into<String>) -> SheetLine {
    SheetLine {
        of: Of::Path,
        figure,
        value: None,
        missing: Some(why.into()),
        interval: None,
        at_least: false,
        bound_s: None,
        passes: 0,
        cells: Vec::new(),
    }
}

const NOT_CARRIED: &str = "no number of sessions is known to be carried: of those that were tried not every pass was made, or \
                           the generator fell behind";
