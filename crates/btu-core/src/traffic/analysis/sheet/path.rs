//! The lines of a sheet that are of the path itself: rates, the knee of delay, full streams, round trips.

use super::Seen;
use super::SheetLine;
use super::figure::apart;
use super::line_or;
use super::mean;
use crate::traffic::analysis::Estimate;
use crate::traffic::analysis::Measured;
use crate::traffic::analysis::Stream;
use crate::traffic::analysis::Totals;
use crate::traffic::analysis::delay_knees;
use crate::traffic::analysis::stream::told;
use crate::traffic::figures::delay_knee::DelayKnee;
use crate::traffic::findings::InPass;
use crate::traffic::plan::Group;
use crate::traffic::probe::CapacityFigures;
use crate::traffic::probe::ResponsivenessFigures;

/// Every one of them, whether it is known or not.
pub(super) fn lines(seen: &Seen<'_>) -> Vec<SheetLine> {
    let mut lines = Vec::from(seen.rates());
    lines.extend(seen.delay_knee());
    lines.extend(seen.streams());
    lines.extend(seen.round_trips());
    lines
}

/// A figure of a finding: its name, and why it is not there.
struct Part<T>(&'static str, fn(&T) -> Option<f64>, &'static str);

impl Seen<'_> {
    fn rates(&self) -> [SheetLine; 3] {
        let found = &self.analysis.findings.capacities;
        let of = |one: &InPass<CapacityFigures>| one.figures.capacity_bit_s;
        let capacity = mean(&found.iter().map(of).collect::<Vec<_>>());
        let at_least = found.iter().any(|one| one.figures.is_lower_bound);
        let knee = self.analysis.knee.map(|knee| Estimate {
            value: knee.knee,
            interval: knee.interval,
            passes: knee.passes,
        });
        let (streams, loads, searches) =
            (self.cells(Group::Capacity), self.loads(), self.cells(Group::Search));
        let why = |cells: &[u32], made| if cells.is_empty() { NOT_RUN } else { made };
        let no_mu = why(&streams, "no full stream carried anything");
        let no_knee = why(&loads, "most passes have no loads on both sides of a knee");
        let no_capacity = why(&searches, "nothing came of what the searches sent");
        [
            SheetLine { cells: streams, ..line_or("mu_bit_s", self.analysis.mu, no_mu) },
            SheetLine { cells: loads, ..line_or("knee_bit_s", knee, no_knee) },
            SheetLine {
                at_least,
                cells: searches,
                ..line_or("capacity_bit_s", capacity, no_capacity)
            },
        ]
    }

    /// W0 and where it has doubled: the mean of what each pass says by itself, so that its interval is about it; of
    /// all passes together where some do not say.
    fn delay_knee(&self) -> [SheetLine; 2] {
        let all = self.analysis.delay_knee;
        let knees = self.knees_of_passes();
        let made = |value: f64, of: fn(&DelayKnee) -> Option<f64>| {
            let values: Vec<f64> = knees.iter().filter_map(of).collect();
            let each = mean(&values).filter(|_| values.len() == knees.len());
            each.filter(|each| each.interval.is_some()).unwrap_or(Estimate {
                value,
                interval: None,
                passes: values.len(),
            })
        };
        let doubled = all.and_then(|all| all.doubled_at).map(|rho| made(rho, |one| one.doubled_at));
        let idle = all.map(|all| made(all.idle_s, |one| Some(one.idle_s)));
        let why = self.no_delay_knee();
        let not_doubled = if all.is_some() { "delay does not grow with the load" } else { &why };
        let bound_s = self.bound_of_loads();
        let own = |line| SheetLine { bound_s, cells: self.below_the_rate(), ..line };
        [
            own(line_or("idle_delay_s", idle, &why)),
            own(line_or("doubled_at_rho", doubled, not_doubled)),
        ]
    }

    fn knees_of_passes(&self) -> Vec<DelayKnee> {
        let loads: Vec<&Measured> = self.analysis.group(Group::Load).collect();
        let runs = loads.iter().flat_map(|one| &one.runs);
        self.analysis.rate().map_or_else(Vec::new, |rate| delay_knees(&runs, rate))
    }

    /// The loads that the curve of delay is fitted to: those below the rate in some pass.
    fn below_the_rate(&self) -> Vec<u32> {
        let rate = self.analysis.rate();
        let is_below = |run: &Totals| rate.is_none_or(|rate| run.arrival < rate);
        let loads = self.analysis.group(Group::Load);
        let mut cells: Vec<u32> =
            loads.filter(|load| load.runs.iter().any(is_below)).map(|load| load.cell.id).collect();
        cells.sort_unstable();
        cells
    }

    fn bound_of_loads(&self) -> Option<f64> {
        let bounds = self.analysis.group(Group::Load).filter_map(Measured::delay_bound_s);
        bounds.max_by(f64::total_cmp)
    }

    /// Why no curve is fitted to the delays of the loads.
    fn no_delay_knee(&self) -> String {
        let loads = || self.analysis.group(Group::Load);
        let mut runs = loads().flat_map(|one| &one.runs);
        let clocks = runs.find_map(|run| run.clocks_apart.as_deref());
        let is_hidden = loads().any(Measured::hides_window_delay);
        match (self.bound_of_loads().map(|bound| bound * 1e3), clocks) {
            _ if loads().next().is_none() => NOT_RUN.to_owned(),
            (_, Some(reason)) => apart(reason),
            (Some(bound), None) if is_hidden => format!(
                "the delay of a load is smaller in a pass than the clocks of both hosts are known to agree: {bound:.3} ms"
            ),
            (Some(bound), None) => format!(
                "there are too few loads below the knee of throughput, or the delay of the idle path is smaller than the \
                 clocks of both hosts are known to agree: {bound:.3} ms"
            ),
            (None, None) => "there are too few loads below the knee of throughput".to_owned(),
        }
    }

    /// What full streams say of TCP and of the queue on the way.
    fn streams(&self) -> Vec<SheetLine> {
        let is_full = |cell: u32| {
            self.journal.plan.cell(cell).is_some_and(|cell| cell.group == Group::Capacity)
        };
        let runs = self.journal.runs().filter(|run| is_full(run.cell));
        let streams: Vec<Stream> = runs.filter_map(|run| told(run.flows().next()?)).collect();
        let figures: [Part<Stream>; 4] = [
            Part("least_round_trip_s", |one| Some(one.least_rtt_s), UNTOLD),
            Part("stream_rpm", |one| one.loaded_rpm, NOT_SAMPLED),
            Part("efficiency_percent", |one| Some(one.efficiency_percent), UNTOLD),
            Part("buffer_delay_percent", |one| one.buffer_delay_percent, NOT_SAMPLED),
        ];
        of_each(&streams, &figures, &self.cells(Group::Capacity), UNTOLD)
    }

    fn round_trips(&self) -> Vec<SheetLine> {
        let found = &self.analysis.findings.responsiveness;
        let figures: [Part<InPass<ResponsivenessFigures>>; 2] = [
            Part("rpm", |one| Some(one.figures.rpm), NO_PROBE),
            Part("idle_rpm", |one| one.figures.idle_rpm, "no probe came back on the idle path"),
        ];
        of_each(found, &figures, &self.cells(Group::Working), NO_PROBE)
    }
}

/// A line for each figure; `none` says why there is nothing that could have one.
fn of_each<T>(found: &[T], figures: &[Part<T>], cells: &[u32], none: &str) -> Vec<SheetLine> {
    let lines = figures.iter().map(|Part(figure, of, why)| {
        let values: Vec<f64> = found.iter().filter_map(of).collect();
        let why = match (cells.is_empty(), found.is_empty()) {
            (true, _) => NOT_RUN,
            (false, true) => none,
            (false, false) => why,
        };
        SheetLine { cells: cells.to_vec(), ..line_or(figure, mean(&values), why) }
    });
    lines.collect()
}

const NOT_RUN: &str = "what it is found from was not run";
const NOT_SAMPLED: &str =
    "round trips of a full stream are sampled where both ends are on one host";
const UNTOLD: &str = "no kernel told round trips and acknowledged bytes of a full stream";
const NO_PROBE: &str = "no probe came back under load";
