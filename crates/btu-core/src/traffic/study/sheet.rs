//! The sheet of a path, line by line: each figure with its interval and the cells that it was found from.

mod tolerance;

use super::Analysis;
use super::Carried;
use super::Estimate;
use super::Measured;
use super::Stream;
use super::Totals;
use super::told;
use crate::stats::Interval;
use crate::stats::arithmetic_mean;
use crate::stats::student;
use crate::traffic::analysis::delay_knee::DelayKnee;
use crate::traffic::course::KNEE_SERIES;
use crate::traffic::findings::InPass;
use crate::traffic::plan::Group;
use crate::traffic::plan::Study;
use crate::traffic::probe::CapacityFigures;
use crate::traffic::probe::ResponsivenessFigures;
use crate::traffic::sample::Journal;

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
    /// 95 %, from three passes on; of sessions from the most that the path carried to one fewer than the least that it
    /// did not, where such were tried.
    pub interval: Option<Interval>,
    /// True where the path carries or bears at least that.
    pub at_least: bool,
    /// How far a delay of one way may be off, seconds; `None` where one clock measured it.
    pub bound_s: Option<f64>,
    /// How many measurements it is the mean of.
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
    let mut lines: Vec<SheetLine> = seen.rates().into_iter().flatten().collect();
    lines.extend(seen.delay_knee());
    lines.extend(seen.streams());
    lines.extend(seen.round_trips());
    lines.extend(seen.around_the_knee());
    lines.extend(analysis.classes.iter().flat_map(|carried| seen.class(carried)));
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
        own.map(|measured| measured.cell.id).collect()
    }

    fn rates(&self) -> [Option<SheetLine>; 3] {
        let found = &self.analysis.findings.capacities;
        let of = |one: &InPass<CapacityFigures>| one.figures.capacity_bit_s;
        let capacity = mean(&found.iter().map(of).collect::<Vec<_>>());
        let at_least = found.iter().any(|one| one.figures.is_lower_bound);
        [
            self.analysis
                .mu
                .map(|mu| SheetLine { cells: self.cells(Group::Capacity), ..line("mu_bit_s", mu) }),
            self.analysis.knee.map(|knee| SheetLine {
                cells: self.loads(),
                ..line(
                    "knee_bit_s",
                    Estimate { value: knee.knee, interval: knee.interval, passes: knee.passes },
                )
            }),
            capacity.map(|capacity| SheetLine {
                at_least,
                cells: self.cells(Group::Search),
                ..line("capacity_bit_s", capacity)
            }),
        ]
    }

    /// W0 and where it has doubled: the mean of what each pass says by itself, so that its interval is about it; of
    /// all passes together where some do not say.
    fn delay_knee(&self) -> Vec<SheetLine> {
        let analysis = self.analysis;
        let Some(all) = analysis.delay_knee else { return Vec::new() };
        let loads = || analysis.group(Group::Load);
        let runs = || loads().flat_map(|one| &one.runs);
        let most = runs().map(|run| run.pass).max().unwrap_or(0);
        let of_pass = |pass: u32| {
            let own = runs().filter(|run| run.pass == pass);
            let point = |run: &Totals| Some((analysis.rho(run.arrival)?, run.window_delay?));
            DelayKnee::of(&own.filter_map(point).collect::<Vec<_>>())
        };
        let knees: Vec<DelayKnee> = (1..=most).filter_map(of_pass).collect();
        let made = |value: f64, of: fn(&DelayKnee) -> Option<f64>| {
            let values: Vec<f64> = knees.iter().filter_map(of).collect();
            let each = mean(&values).filter(|_| values.len() == knees.len());
            each.filter(|each| each.interval.is_some()).unwrap_or(Estimate {
                value,
                interval: None,
                passes: values.len(),
            })
        };
        let doubled = all.doubled_at.map(|rho| ("doubled_at_rho", made(rho, |one| one.doubled_at)));
        let idle = ("idle_delay_s", made(all.idle_s, |one| Some(one.idle_s)));
        let lines = std::iter::once(idle).chain(doubled);
        lines
            .map(|(figure, found)| SheetLine {
                cells: self.cells(Group::Load),
                ..line(figure, found)
            })
            .collect()
    }

    /// What full streams say of TCP and of the queue on the way.
    fn streams(&self) -> Vec<SheetLine> {
        let is_full = |cell: u32| {
            self.journal.plan.cell(cell).is_some_and(|cell| cell.group == Group::Capacity)
        };
        let runs = self.journal.runs().filter(|run| is_full(run.cell));
        let streams: Vec<Stream> = runs.filter_map(|run| told(run.flows().next()?)).collect();
        let figures: [Part<Stream>; 4] = [
            Part("least_round_trip_s", |one| one.least_rtt_s),
            Part("stream_rpm", |one| one.loaded_rpm),
            Part("efficiency_percent", |one| one.efficiency_percent),
            Part("buffer_delay_percent", |one| one.buffer_delay_percent),
        ];
        let cells = self.cells(Group::Capacity);
        of_each(&streams, &figures, &cells)
    }

    fn round_trips(&self) -> Vec<SheetLine> {
        let found = &self.analysis.findings.responsiveness;
        let figures = [Part("rpm", |one: &InPass<ResponsivenessFigures>| one.figures.rpm)];
        let cells = self.cells(Group::Working);
        let mut lines = of_each(found, &figures, &cells);
        let idle: Vec<f64> = found.iter().filter_map(|one| one.figures.idle_rpm).collect();
        lines.extend(mean(&idle).map(|idle| SheetLine { cells, ..line("idle_rpm", idle) }));
        lines
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
        if carried.most.is_some() {
            lines.extend(borne(carried));
        }
        lines.extend(tolerance::lines(self.journal, self.analysis, carried));
        lines.into_iter().map(|line| SheetLine { of: of.clone(), ..line }).collect()
    }

    /// The cells of every number of sessions that was tried.
    fn tried(&self, carried: &Carried) -> Vec<u32> {
        let own = |one: &&Measured| one.cell.class.as_ref() == Some(&carried.class);
        self.analysis.cells.iter().filter(own).map(|one| one.cell.id).collect()
    }
}

/// What the most sessions that the path carries met.
fn borne(carried: &Carried) -> Vec<SheetLine> {
    let figures = DELAYS.iter().chain(&SHARES);
    let mut lines: Vec<SheetLine> = figures.filter_map(|figure| figure.line(&carried.at)).collect();
    let rated: Vec<f64> =
        carried.at.runs.iter().filter_map(|run| run.worst_call).map(|call| call.r).collect();
    lines.extend(mean(&rated).filter(|_| carried.is_call()).map(|r| line("call_r", r)));
    let cells = || vec![carried.at.cell.id];
    lines.into_iter().map(|line| SheetLine { cells: cells(), ..line }).collect()
}

/// The most sessions, and how many more the next that failed leave open. Where no number is known to be carried there
/// is none, unless a single session failed.
fn sessions(carried: &Carried) -> SheetLine {
    let fails = carried.fails_at.as_ref().map(|(at, _)| at.saturating_sub(1));
    let most = carried.most.or(fails.filter(|fails| *fails == 0)).map(f64::from);
    let low = most.unwrap_or(0.0);
    let interval = fails.map(|high| Interval { low, high: f64::from(high).max(low) });
    let found = Estimate { value: low, interval, passes: carried.at.runs.len() };
    let at_least = most.is_some() && fails.is_none();
    SheetLine { value: most, at_least, ..line("sessions", found) }
}

fn around(load: &Measured) -> Vec<SheetLine> {
    let rate = load.arrival.map(|found| line("arrival_rate_bit_s", found));
    let figures = [&WINDOW].into_iter().chain(&DELAYS);
    let delays = figures.filter_map(|figure| figure.line(load));
    rate.into_iter()
        .chain(delays)
        .map(|line| SheetLine {
            of: Of::Load(load.cell.label.clone()),
            cells: vec![load.cell.id],
            ..line
        })
        .collect()
}

/// A figure of a finding, by its name.
struct Part<T>(&'static str, fn(&T) -> f64);

/// A figure of every run of a cell.
struct Figure {
    name: &'static str,
    of: fn(&Totals) -> Option<f64>,
    kind: Kind,
}

/// What its mean is, and whether two clocks may hide it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Of two delays over the same way: what clocks differ by is in both.
    Difference,
    /// A delay that is read on two clocks.
    OneWay,
    /// Of a whole.
    Share,
}

impl Figure {
    fn line(&self, cell: &Measured) -> Option<SheetLine> {
        let bound = |run: &Totals| run.delay_bound.filter(|_| self.kind == Kind::OneWay);
        let found: Vec<(&Totals, f64)> =
            cell.runs.iter().filter_map(|run| Some((run, (self.of)(run)?))).collect();
        let values: Vec<f64> = found.iter().map(|(_, value)| *value).collect();
        let found_mean = match self.kind {
            Kind::Share => Estimate::of_shares(&values),
            Kind::Difference | Kind::OneWay => mean(&values),
        }?;
        let is_known = |(run, value): &(&Totals, f64)| {
            self.kind != Kind::OneWay || run.known(Some(*value)).is_some()
        };
        let line = SheetLine {
            bound_s: cell.runs.iter().filter_map(bound).max_by(f64::total_cmp),
            ..line(self.name, found_mean)
        };
        Some(if found.iter().all(is_known) {
            line
        } else {
            SheetLine { value: None, interval: None, ..line }
        })
    }
}

impl Measured {
    /// A delay of one way over the passes; `None` where no run has it, or two clocks hide it in one.
    pub fn delay(&self, of: fn(&Totals) -> Option<f64>) -> Option<Estimate> {
        let line = Figure { name: "", of, kind: Kind::OneWay }.line(self)?;
        Some(Estimate { value: line.value?, interval: line.interval, passes: line.passes })
    }

    /// A figure over the passes that no clock hides.
    pub fn over_passes(&self, of: fn(&Totals) -> Option<f64>) -> Option<Estimate> {
        mean(&self.runs.iter().filter_map(of).collect::<Vec<_>>())
    }

    /// How far its delays may be off, seconds.
    pub fn delay_bound_s(&self) -> Option<f64> {
        self.runs.iter().filter_map(|run| run.delay_bound).max_by(f64::total_cmp)
    }
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

fn of_each<T>(found: &[T], figures: &[Part<T>], cells: &[u32]) -> Vec<SheetLine> {
    let lines = figures.iter().filter_map(|Part(figure, of)| {
        let found = mean(&found.iter().map(of).collect::<Vec<_>>())?;
        Some(SheetLine { cells: cells.to_vec(), ..line(figure, found) })
    });
    lines.collect()
}

/// A line of the path from no cells.
fn line(figure: &'static str, found: Estimate) -> SheetLine {
    SheetLine {
        of: Of::Path,
        figure,
        value: Some(found.value),
        interval: found.interval,
        at_least: false,
        bound_s: None,
        passes: found.passes,
        cells: Vec::new(),
    }
}

const WINDOW: Figure =
    Figure { name: "window_delay_s", of: |run| run.window_delay, kind: Kind::OneWay };
const DELAYS: [Figure; 6] = [
    Figure { name: "delay_p50_s", of: |run| run.delay_p50, kind: Kind::OneWay },
    Figure { name: "delay_p95_s", of: |run| run.delay_p95, kind: Kind::OneWay },
    Figure { name: "delay_p99_s", of: |run| run.delay_p99, kind: Kind::OneWay },
    Figure { name: "delay_p99_at_least_s", of: |run| run.delay_p99_at_least, kind: Kind::OneWay },
    Figure { name: "delay_p999_s", of: |run| run.delay_p999, kind: Kind::OneWay },
    Figure { name: "pdv_p99_s", of: |run| run.pdv_p99, kind: Kind::Difference },
];
const SHARES: [Figure; 2] = [
    Figure { name: "lost_share", of: |run| run.worst_loss, kind: Kind::Share },
    Figure { name: "reordered_share", of: |run| run.reordered, kind: Kind::Share },
];
