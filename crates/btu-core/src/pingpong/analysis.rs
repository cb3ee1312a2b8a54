//! What a journal of a ping-pong says: curves with their figures, chasms, faults, and curves of others.
//!
//! A pure function of the journal. The chasm finder is run again over the answers that it had.

mod compared;
mod faults;
mod foreign;
mod search;

use std::collections::BTreeMap;

use super::chasm::Finding;
use super::configuration::Configuration;
use super::configuration::REFERENCE;
use super::configuration::labels;
use super::curve::Curve;
use super::curve::Figures;
use super::journal::Journal;
use super::point::PointSummary;
use super::point::intervals;
use super::point::summarize;
use super::sample::ConfigurationId;
use super::sample::Line;
use super::sample::VisitSample;
use super::schedule::Stop;
use super::statistic::Statistic;
use crate::sample::SocketOptions;
use crate::units::Bytes;

pub use compared::Compared;
pub use faults::Fault;
pub use foreign::Overlaid;
pub use search::finder;

/// What a journal says.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// The curves, in the order of the plan.
    pub curves: Vec<Measured>,
    /// Copies of memory, where they were measured.
    pub reference: Option<Measured>,
    /// Curves of other tools and results.
    pub overlaid: Vec<Overlaid>,
    /// Transports that were asked for and are not there, with the reason.
    pub missing: Vec<(String, String)>,
    /// False where the measurement was cut short, or a size has a fault in the place of a result.
    pub complete: bool,
}

/// One configuration and what was seen of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Its number in the journal.
    pub id: ConfigurationId,
    /// What legends call it.
    pub label: String,
    /// How it was measured.
    pub configuration: Configuration,
    /// Socket options as they were read back.
    pub options: Option<SocketOptions>,
    /// Every point with a time.
    pub points: Vec<PointSummary>,
    /// The curve of the plan's statistic.
    pub curve: Curve,
    /// That curve in a few numbers.
    pub figures: Figures,
    /// What became of each range of sizes that looked like a chasm; `None` where nobody looked.
    pub findings: Option<Vec<Finding>>,
    /// Rounds that were asked for.
    pub asked_rounds: u32,
    /// Why each size that got fewer was stopped.
    pub stops: BTreeMap<Bytes, Stop>,
    /// Visits that broke off.
    pub faults: Vec<Fault>,
    /// Sizes that were asked for and are larger than what the transport carries.
    pub too_large: Vec<Bytes>,
    /// The largest block that the transport carries.
    pub largest: Bytes,
    /// Exchanges whose every byte was checked, by size.
    pub verified: Vec<(Bytes, u64)>,
    /// What a reader should know, each once.
    pub remarks: Vec<String>,
}

/// What a journal says.
pub fn analyse(journal: &Journal) -> Analysis {
    let declared = declared(&journal.lines);
    let configurations: Vec<Configuration> =
        declared.iter().map(|(_, configuration, _)| configuration.clone()).collect();
    let samples = samples(&journal.lines);
    let mut curves: Vec<Measured> = declared
        .into_iter()
        .zip(labels(&configurations))
        .map(|((id, configuration, largest), label)| {
            let of = |sample: &&VisitSample| sample.configuration == id;
            let own: Vec<VisitSample> = samples.iter().copied().filter(of).cloned().collect();
            Reading { journal, own: &own }.measured(id, configuration, largest, label)
        })
        .collect();
    let at = curves.iter().position(|curve| curve.configuration.transport == REFERENCE);
    let reference = at.map(|at| curves.remove(at));
    let overlaid = foreign::overlaid(journal, &curves);
    let missing = journal.lines.iter().filter_map(|line| match line {
        Line::PingPongMissing { transport, reason } => Some((transport.clone(), reason.clone())),
        _ => None,
    });
    let mut analysis =
        Analysis { reference, overlaid, missing: missing.collect(), complete: false, curves };
    analysis.complete = journal.is_complete() && !analysis.has_faults();
    analysis
}

/// The visits of one configuration.
struct Reading<'j> {
    journal: &'j Journal,
    own: &'j [VisitSample],
}

impl Reading<'_> {
    fn measured(
        &self,
        id: ConfigurationId,
        configuration: Configuration,
        largest: Bytes,
        label: String,
    ) -> Measured {
        let points = summarize(self.own, id, configuration.mode);
        let statistic = self.journal.plan.statistic;
        let intervals = intervals(self.own, id, configuration.mode, statistic);
        let curve = Curve::new(&label, configuration.mode, statistic, &points);
        let curve = curve.with_intervals(&intervals);
        let options = self.own.iter().find_map(|sample| sample.options.clone());
        let typical = Curve::new(&label, configuration.mode, Statistic::Typical, &points);
        let findings =
            search::findings(self.journal, id, &configuration, options.as_ref(), &typical);
        let asked = self.journal.plan.points();
        Measured {
            id,
            figures: curve.figures(),
            asked_rounds: self.journal.plan.rounds,
            stops: stops(&self.journal.lines, id),
            faults: faults::faults(self.own, &points),
            too_large: asked.into_iter().filter(|size| *size > largest).collect(),
            verified: self.verified(),
            remarks: self.remarks(),
            label,
            configuration,
            options,
            points,
            curve,
            findings,
            largest,
        }
    }

    fn verified(&self) -> Vec<(Bytes, u64)> {
        let mut sums = BTreeMap::<Bytes, u64>::new();
        for sample in self.own.iter().filter(|sample| sample.verified > 0) {
            *sums.entry(sample.size_bytes).or_default() += sample.verified;
        }
        sums.into_iter().collect()
    }

    fn remarks(&self) -> Vec<String> {
        let details = self.own.iter().flat_map(|sample| &sample.flags).map(|flag| &flag.detail);
        let distinct: std::collections::BTreeSet<&String> = details.collect();
        distinct.into_iter().cloned().collect()
    }
}

impl Measured {
    /// Sizes that were asked for and never visited, with the reason.
    pub fn left_out(&self) -> impl Iterator<Item = (Bytes, Stop)> {
        let has_time = |size: &Bytes| {
            let checked = || self.verified.iter().any(|(checked, _)| checked == size);
            self.points.iter().any(|point| point.size == *size) || checked()
        };
        let failed = |size: &Bytes| self.faults.iter().any(|fault| fault.size == *size);
        let stops = self.stops.iter().map(|(size, stop)| (*size, *stop));
        stops.filter(move |(size, _)| !has_time(size) && !failed(size))
    }
}

impl Analysis {
    /// Every point that was asked for and has no time, or was found wrong: the result is not whole.
    pub fn has_faults(&self) -> bool {
        self.curves.iter().any(|curve| curve.faults.iter().any(|fault| fault.is_lasting))
    }

    /// The curve that costs are counted from: the named one, else the first.
    pub fn base(&self, name: Option<&str>) -> Option<&Measured> {
        let named = |curve: &&Measured| {
            name.is_some_and(|name| curve.label == name || curve.configuration.transport == name)
        };
        self.curves.iter().find(named).or_else(|| self.curves.first())
    }

    /// Curves that were timed.
    pub fn timed(&self) -> impl Iterator<Item = &Measured> {
        self.curves.iter().filter(|curve| !curve.points.is_empty())
    }
}

fn declared(lines: &[Line]) -> Vec<(ConfigurationId, Configuration, Bytes)> {
    let mut declared: Vec<(ConfigurationId, Configuration, Bytes)> = Vec::new();
    for line in lines {
        let Line::PingPongConfiguration { id, configuration, largest_bytes } = line else {
            continue;
        };
        if declared.iter().all(|(known, ..)| known != id) {
            declared.push((*id, configuration.clone(), *largest_bytes));
        }
    }
    declared
}

fn stops(lines: &[Line], of: ConfigurationId) -> BTreeMap<Bytes, Stop> {
    let told = lines.iter().filter_map(|line| match line {
        Line::PingPongStops { id, stops } if *id == of => Some(stops),
        _ => None,
    });
    told.flatten().map(|stopped| (stopped.size_bytes, stopped.cause)).collect()
}

fn samples(lines: &[Line]) -> Vec<&VisitSample> {
    let visits = lines.iter().filter_map(|line| match line {
        Line::PingPongVisit(sample) => Some(&**sample),
        _ => None,
    });
    visits.collect()
}

#[cfg(test)]
mod tests;
