//! What a journal of traffic says: each cell over its passes, and what the cells of a curve say together.

mod carrier;
mod connections;
mod rates;
mod sheet;
mod stream;
mod totals;
mod utilisation;
mod waiting;

use std::collections::BTreeMap;

use super::class;
use super::class::ClassLimits;
use super::course::KNEE_SERIES;
use super::findings::Findings;
use super::plan::Cell;
use super::plan::Group;
use super::plan::Plan;
use super::sample::FlowSample;
use super::sample::Journal;
use super::sample::RunSample;
use crate::stats;
use crate::stats::Interval;
use crate::stats::student_on_logs;
use crate::traffic::figures::delay_knee::DelayKnee;
use crate::traffic::figures::knee;
use crate::traffic::figures::knee::BEYOND;
use crate::traffic::figures::knee::Hinge;
use crate::traffic::figures::knee::Loaded;
use crate::traffic::figures::sessions;
use crate::traffic::figures::sessions::Scaling;
use utilisation::Place;
use utilisation::Rates;

pub use connections::Connection;
pub use connections::connections;
pub use sheet::Of;
pub use sheet::SheetLine;
pub use stream::Stream;
pub use totals::Totals;

/// Everything that a report says.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// True where every run was made and came to its end.
    pub complete: bool,
    /// The cells, by group and place on its axis; those without a run are left out.
    pub cells: Vec<Measured>,
    /// What one full stream gets, bit/s: of the cells that measure it, or of the clusters of a scenario that are
    /// one full stream alone, where all of these go one way.
    pub mu: Option<Estimate>,
    /// The same by way, for the utilisation of each flow.
    rates: Rates,
    /// The knee of throughput over offered load.
    pub knee: Option<Hinge>,
    /// The knee of delay over utilisation, from loads below the knee of throughput.
    pub delay_knee: Option<DelayKnee>,
    /// How the total of full streams depends on their number.
    pub scaling: Option<Scaling>,
    /// What the path carries of each application class.
    pub classes: Vec<Carried>,
    /// What one full stream says of TCP and of the queue on the way.
    pub stream: Option<Stream>,
    /// What standard methods found.
    pub findings: Findings,
    /// The lines of a sheet; none where the plan is no sheet.
    pub sheet: Vec<SheetLine>,
}

/// What a path carries of an application class.
#[derive(Clone, Debug, PartialEq)]
pub struct Carried {
    /// The class.
    pub class: String,
    /// What its sessions had to bear.
    pub limits: ClassLimits,
    /// The limits that nobody could judge, by the names that an option gives them.
    pub not_judged: Vec<&'static str>,
    /// The most sessions that met its limits in as many runs as there are passes, none of the fewer ones having
    /// failed.
    pub most: Option<u32>,
    /// The next number of sessions, which did not, and why.
    pub fails_at: Option<(u32, String)>,
    /// The cell of the most sessions, or of the fewest that were tried.
    pub at: Measured,
}

/// One cell over its passes.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The cell.
    pub cell: Cell,
    /// Its runs, in order.
    pub runs: Vec<Totals>,
    /// a, bit/s.
    pub arrival: Option<Estimate>,
    /// d, bit/s.
    pub departure: Option<Estimate>,
    /// d, and what was only under way at the end, bit/s; `None` in results that are older than this figure.
    pub carried: Option<Estimate>,
    /// a / d.
    pub offered_ratio: Option<Estimate>,
    /// What was acknowledged within the duration, bit/s; `None` for datagrams.
    pub transmitted: Option<Estimate>,
    /// a / mu, where all its flows have the same mu; `None` where one of them is a full stream.
    pub rho: Option<f64>,
    /// Little's delay over the duration, seconds; `None`, too, where two clocks hide it in a pass.
    pub window_delay: Option<Estimate>,
    /// The same until the queues were empty, seconds: of the runs in which they were.
    pub drained_delay: Option<Estimate>,
    /// Fairness between the flows.
    pub fairness: Option<Estimate>,
    /// CPU seconds of the sender per 10^9 bytes.
    pub sender_cpu_s_per_gb: Option<Estimate>,
    /// CPU seconds of the receiver per 10^9 bytes.
    pub receiver_cpu_s_per_gb: Option<Estimate>,
}

/// A mean over passes with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The geometric mean of the passes; the arithmetic one of shares, and where a value is zero.
    pub value: f64,
    /// 95 %, from three passes on.
    pub interval: Option<Interval>,
    /// Passes.
    pub passes: usize,
}

/// What the journal says.
pub fn analyse(journal: &Journal) -> Analysis {
    let mut runs: BTreeMap<u32, Vec<Totals>> = BTreeMap::new();
    for run in journal.runs() {
        runs.entry(run.cell).or_default().push(Totals::of(run));
    }
    let mut cells: Vec<Measured> = journal
        .plan
        .cells
        .iter()
        .filter_map(|cell| Some(Measured::of(cell, runs.remove(&cell.id)?)))
        .collect();
    cells.sort_by(|a, b| {
        (a.cell.group, a.cell.x)
            .partial_cmp(&(b.cell.group, b.cell.x))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let of = |group| cells.iter().filter(move |measured| measured.cell.group == group);
    let rates = Rates::of(journal);
    let mu = mu(of(Group::Capacity).flat_map(|measured| &measured.runs)).or_else(|| rates.only());
    let knee = knee::hinge(&loads(cells.iter().filter(|measured| measured.is_of_the_knee())));
    let sessions: Vec<(u32, f64)> = of(Group::Sessions)
        .flat_map(|measured| {
            let whole = measured.runs.iter().filter(|run| !run.is_partial);
            whole.map(|run| (measured.cell.sessions, run.departure))
        })
        .collect();
    let rate = mu.map(|mu| mu.value).or(knee.map(|knee| knee.knee));
    let delay_knee = delay_knee(of(Group::Period).chain(of(Group::Load)), rate);
    let analysis = Analysis {
        complete: journal.is_complete() && journal.runs().all(RunSample::is_complete),
        mu,
        rates,
        knee,
        delay_knee,
        scaling: sessions::scaling(&sessions),
        classes: classes(&journal.plan, &cells, mu.map(|mu| mu.value)),
        stream: stream::first(journal),
        findings: Findings::of(journal),
        sheet: Vec::new(),
        cells,
    };
    let analysis = analysis.with_utilisations(journal);
    Analysis { sheet: sheet::lines(journal, &analysis), ..analysis }
}

/// What one full stream gets, bit/s, from runs of such streams: those that got nothing say nothing of the path.
pub(super) fn mu<'a>(streams: impl Iterator<Item = &'a Totals>) -> Option<Estimate> {
    Estimate::of(&streams.filter_map(Totals::carried_at_all).collect::<Vec<_>>())
}

/// The knee of delay of loads, by what the path carries. `None`, too, where two clocks hide the delay of a load below
/// it: a fit to the others would be one to the longer delays. So it is where they hide that of the idle path, of all
/// passes together or of one.
fn delay_knee<'a>(
    loads: impl Iterator<Item = &'a Measured> + Clone,
    rate: Option<f64>,
) -> Option<DelayKnee> {
    let (mut points, mut bound_s) = (Vec::new(), None);
    for load in loads.clone() {
        let Some(rho) = load.arrival.zip(rate).map(|(arrival, rate)| arrival.value / rate) else {
            continue;
        };
        if rho < 1.0 && load.hides_window_delay() {
            return None;
        }
        bound_s = load.delay_bound_s().into_iter().chain(bound_s).max_by(f64::total_cmp);
        points.extend(load.window_delay.map(|delay| (rho, delay.value)));
    }
    let is_known = |knee: &DelayKnee| bound_s.is_none_or(|bound| knee.idle_s >= bound);
    let of_passes = delay_knees(&loads.flat_map(|load| &load.runs), rate?);
    DelayKnee::of(&points).filter(|knee| is_known(knee) && of_passes.iter().all(is_known))
}

/// The knee of delay of each pass by itself, of those that have one, by what the path carries.
fn delay_knees<'a>(runs: &(impl Iterator<Item = &'a Totals> + Clone), rate: f64) -> Vec<DelayKnee> {
    let most = runs.clone().map(|run| run.pass).max().unwrap_or(0);
    let of_pass = |pass: u32| {
        let own = runs.clone().filter(|run| run.pass == pass);
        let point = |run: &Totals| Some((run.arrival / rate, run.known(run.window_delay)?));
        DelayKnee::of(&own.filter_map(point).collect::<Vec<_>>())
    };
    (1..=most).filter_map(of_pass).collect()
}

/// Each class with the most sessions that the path carries.
fn classes(plan: &Plan, cells: &[Measured], mu: Option<f64>) -> Vec<Carried> {
    let mut names: Vec<&str> = cells.iter().filter_map(|c| c.cell.class.as_deref()).collect();
    names.sort_unstable();
    names.dedup();
    let set = plan.course.as_ref().map(|course| course.limits.clone()).unwrap_or_default();
    let limits = |name: &str| Some(set.of(class::by_name(name)?));
    let carried = |name| {
        let own = cells.iter().filter(|c| c.cell.class.as_deref() == Some(name)).collect();
        carried(plan, own, (name, limits(name)?), mu)
    };
    names.into_iter().filter_map(carried).collect()
}

fn carried(
    plan: &Plan,
    mut own: Vec<&Measured>,
    (name, limits): (&str, ClassLimits),
    mu: Option<f64>,
) -> Option<Carried> {
    own.sort_by_key(|measured| measured.cell.sessions);
    let tried =
        |measured: &Measured| limits.tried(measured.runs.iter(), measured.cell.sessions, mu);
    let failing = own.iter().position(|measured| tried(measured).missed.is_some());
    let fails_at = failing.and_then(|at| Some((own[at].cell.sessions, tried(own[at]).missed?)));
    let below = &own[..failing.unwrap_or(own.len())];
    let is_carried = |measured: &Measured| tried(measured).met >= plan.passes_of(&measured.cell);
    let met = below.iter().rfind(|measured| is_carried(measured));
    let mut at = (*met.or(own.first())?).clone();
    if met.is_some() {
        at.runs.retain(|run| !limits.is_void(run, at.cell.sessions, mu));
    }
    let most = met.map(|measured| measured.cell.sessions);
    let not_judged = limits.not_judged(&at.runs, mu);
    Some(Carried { class: name.to_owned(), limits, not_judged, most, fails_at, at })
}

fn loads<'a>(cells: impl Iterator<Item = &'a Measured>) -> Vec<Loaded> {
    let of = |measured: &'a Measured| {
        measured.runs.iter().filter_map(|run| run.loaded(measured.cell.id))
    };
    cells.flat_map(of).collect()
}

impl Analysis {
    /// The cells of a curve, along its axis.
    pub fn group(&self, group: Group) -> impl Iterator<Item = &Measured> {
        self.cells.iter().filter(move |measured| measured.cell.group == group)
    }

    /// The largest of several loads, bit/s as it arrived, and its cell, where the path carried it.
    pub fn largest_if_carried(&self) -> Option<(f64, &Measured)> {
        let loads = self.group(Group::Period).chain(self.group(Group::Load));
        let both = |cell: &Measured| Some((cell.arrival?.value, cell.carried()?.value));
        let rates: Vec<_> = loads.filter_map(|cell| Some((both(cell)?, cell))).collect();
        let ((arrival, carried), cell) = *rates.iter().max_by(|a, b| a.0.0.total_cmp(&b.0.0))?;
        (rates.len() > 1 && carried * BEYOND >= arrival).then_some((arrival, cell))
    }

    /// a / mu of a rate of the loads of the plan: the true utilisation.
    pub fn rho(&self, arrival: f64) -> Option<f64> {
        Some(arrival / self.rate()?)
    }

    /// What the path carries: mu, or the rate at the knee, bit/s.
    fn rate(&self) -> Option<f64> {
        self.mu.map(|mu| mu.value).or(self.knee.map(|knee| knee.knee))
    }

    /// a / mu of a flow of a cluster of a cell, by the full streams that went its way; `None` for these themselves.
    pub fn rho_of(
        &self,
        journal: &Journal,
        cell: u32,
        (cluster, flow): (&str, &FlowSample),
    ) -> Option<f64> {
        let mu = self.mu_of(Place { journal, cell, cluster, flow })?;
        Some(flow.figures.arrival_rate_bit_s / mu)
    }

    fn mu_of(&self, place: Place<'_>) -> Option<f64> {
        if place.flow.is_full() {
            return None;
        }
        let knee = || self.knee.filter(|_| self.rates.has_the_knee(place)).map(|knee| knee.knee);
        self.rates.along(place).or_else(knee)
    }

    fn with_utilisations(mut self, journal: &Journal) -> Self {
        let rho: Vec<_> = self.cells.iter().map(|one| self.rho_of_cell(journal, one)).collect();
        self.cells.iter_mut().zip(rho).for_each(|(measured, rho)| measured.rho = rho);
        self
    }

    /// The same of a cell; what sends nothing goes no way.
    fn rho_of_cell(&self, journal: &Journal, measured: &Measured) -> Option<f64> {
        let cell = measured.cell.id;
        let runs = journal.runs().filter(|run| run.cell == cell);
        let flows = runs.flat_map(RunSample::flows_by_cluster);
        let mut rates = flows
            .filter(|(_, flow)| !flow.is_silent())
            .map(|(cluster, flow)| self.mu_of(Place { journal, cell, cluster, flow }));
        let mu = rates.next()??;
        let is_same = rates.all(|other| other.is_some_and(|other| other.to_bits() == mu.to_bits()));
        Some(measured.arrival?.value / mu).filter(|_| is_same)
    }
}

impl Carried {
    /// Whether its sessions are telephone calls.
    pub fn is_call(&self) -> bool {
        class::by_name(&self.class).is_some_and(|class| class.is_call)
    }
}

impl Measured {
    /// What the path carried, bit/s, as well as a result tells: d in those that are older than the figure.
    pub fn carried(&self) -> Option<Estimate> {
        self.carried.or(self.departure)
    }

    /// Whether the knee is found from it. Loads at shares of the knee are not: what they are called by would be another
    /// knee than the one beside them.
    fn is_of_the_knee(&self) -> bool {
        matches!(self.cell.group, Group::Load | Group::Period)
            && self.cell.series.as_deref() != Some(KNEE_SERIES)
    }

    /// What its runs say.
    pub(super) fn of(cell: &Cell, runs: Vec<Totals>) -> Self {
        let estimate = |value: fn(&Totals) -> Option<f64>| {
            let values: Vec<f64> = runs.iter().filter_map(value).collect();
            Estimate::of(&values)
        };
        // What a part of the flows had is no rate of the cell.
        let rate = |value: fn(&Totals) -> Option<f64>| {
            let whole = runs.iter().filter(|run| !run.is_partial);
            Estimate::of(&whole.filter_map(value).collect::<Vec<f64>>())
        };
        let made = Self {
            cell: cell.clone(),
            arrival: rate(|run| Some(run.arrival)),
            departure: rate(|run| Some(run.departure)),
            carried: rate(|run| run.carried),
            offered_ratio: rate(|run| (run.departure > 0.0).then(|| run.arrival / run.departure)),
            transmitted: rate(|run| run.transmitted),
            rho: None,
            window_delay: None,
            drained_delay: None,
            fairness: estimate(|run| run.fairness),
            sender_cpu_s_per_gb: estimate(|run| run.cpu_s_per_gb.map(|cpu| cpu.0)),
            receiver_cpu_s_per_gb: estimate(|run| run.cpu_s_per_gb.map(|cpu| cpu.1)),
            runs,
        };
        Self {
            window_delay: made.delay(|run| run.window_delay),
            drained_delay: made.delay(|run| run.drained_delay),
            ..made
        }
    }
}

impl Estimate {
    /// The mean of a value of each pass; `None` without one.
    pub fn of(values: &[f64]) -> Option<Self> {
        let value = stats::geometric_mean(values).or_else(|| stats::arithmetic_mean(values))?;
        let interval = student_on_logs(values).filter(|_| values.len() >= 3);
        Some(Self { value, interval, passes: values.len() })
    }

    /// The arithmetic mean of a share of each pass, such as of what was lost: a pass without any counts as much as the
    /// others, and does not change which mean it is.
    pub fn of_shares(values: &[f64]) -> Option<Self> {
        let value = stats::arithmetic_mean(values)?;
        let within =
            |found: Interval| Interval { low: found.low.max(0.0), high: found.high.min(1.0) };
        let interval = stats::student(values).filter(|_| values.len() >= 3).map(within);
        Some(Self { value, interval, passes: values.len() })
    }
}

#[cfg(test)]
mod tests;
