//! The experiments of a file service: to add one, write a file and name it in [`EXPERIMENTS`].

mod baseline;
mod client_load;
mod cold_read;
mod rpc_sweep;
mod transfer;

use std::fmt;

use super::plan::Plan;
use super::point::Figure;
use super::point::Point;
use super::sample::Direction;
use super::sample::Held;
use super::sample::Operation;
use super::sample::Trial;
use super::table::Findings;
use crate::units::Bytes;

/// A question to a file service: which trials answer it, and how they read.
///
/// An experiment is a pure function of plan and points. Where the plan names protocols, sizes, clients or MTUs, these take
/// the place of its own. Trials that it does not find among the points were not measured: their cells are empty.
pub trait Experiment: fmt::Debug + Sync {
    /// The name on the command line.
    fn name(&self) -> &'static str;

    /// The heading of its section.
    fn title(&self) -> &'static str;

    /// One line for lists.
    fn about(&self) -> &'static str;

    /// Why it says nothing of a server that others run; `None` where it does.
    fn needs_own_servers(&self) -> Option<&'static str> {
        None
    }

    /// Rounds before those that count, where the plan does not say.
    fn warm_rounds(&self) -> u32 {
        5
    }

    /// The trials of one round.
    fn trials(&self, plan: &Plan) -> Vec<Trial>;

    /// What its trials say.
    fn findings(&self, plan: &Plan, points: &[Point]) -> Findings;
}

/// Every experiment, in the order of the paper's tables.
pub static EXPERIMENTS: &[&dyn Experiment] = &[
    &baseline::Baseline,
    &transfer::Transfer,
    &rpc_sweep::RpcSweep,
    &cold_read::ColdRead,
    &client_load::ClientLoad,
];

/// The experiment of this name.
pub fn by_name(name: &str) -> Option<&'static dyn Experiment> {
    EXPERIMENTS.iter().copied().find(|one| one.name() == name)
}

/// All names, for people.
pub fn names() -> String {
    EXPERIMENTS.iter().map(|one| one.name()).collect::<Vec<_>>().join(", ")
}

/// One client that passes files which are nowhere, as many as fill the amount.
fn trial(protocol: &str, operation: Operation, direction: Direction, size: Bytes) -> Trial {
    let fitting = AMOUNT.count() / size.count().max(1);
    Trial {
        protocol: protocol.to_owned(),
        operation,
        direction,
        size_bytes: size,
        count: u32::try_from(fitting.clamp(2, 64)).unwrap_or(2),
        clients: 1,
        mtu_bytes: None,
        held: Held::Nowhere,
    }
}

/// The same of the server that the plan names, where it names one of others: fewer files over a path that others use, too.
fn of_target(plan: &Plan, one: Trial) -> Trial {
    if plan.target.is_none() {
        return one;
    }
    let fitting = THEIR_AMOUNT.count() / one.size_bytes.count().max(1);
    let count = u32::try_from(fitting).unwrap_or(u32::MAX).clamp(1, one.count);
    Trial { held: Held::Unknown, count, ..one }
}

/// What was found of a trial.
fn point<'p>(points: &'p [Point], trial: &Trial) -> Option<&'p Point> {
    points.iter().find(|point| point.trial.is_like(trial) && point.rounds > 0)
}

/// The rate of a trial.
fn total(points: &[Point], trial: &Trial) -> Option<Figure> {
    point(points, trial)?.total
}

/// What its figures are held back by, where there is evidence.
fn limit(plan: &Plan, point: &Point) -> Option<String> {
    let busy = point.server.host_cpu_percent.filter(|busy| busy.value >= BUSY)?.value;
    let label = plan.label(&point.trial);
    let others = foreign(point)
        .map_or_else(String::new, |others| format!(", {others:.0} % with other programs"));
    Some(format!(
        "{label}: limited by the CPUs of the machine, which were {busy:.0} % busy{others}"
    ))
}

/// What other programs took of the CPUs, in percent, where that is more than a remark.
pub(super) fn foreign(point: &Point) -> Option<f64> {
    let taken = point.server.foreign_cpu_percent?.value;
    (taken >= FOREIGN).then_some(taken)
}

/// `, MTU 1500`
fn at_mtu(mtu: Option<Bytes>) -> String {
    mtu.map_or_else(String::new, |mtu| format!(", MTU {}", mtu.count()))
}

/// What a client passes in one trial: long enough to be timed, short enough to be repeated.
const AMOUNT: Bytes = Bytes::new(64 << 20);
/// The same of a server of others.
const THEIR_AMOUNT: Bytes = Bytes::new(16 << 20);
/// The file of the paper, a megabyte of 1024 KB.
const MB: Bytes = Bytes::new(1 << 20);
/// Percent of all CPUs from which nothing is left for anybody.
const BUSY: f64 = 95.0;
/// Percent of all CPUs from which other programs decide what a trial gets: the scheduler shares CPUs by thread, so that two
/// transfers get nearly twice the time of one.
pub(super) const FOREIGN: f64 = 10.0;

#[cfg(test)]
mod tests;
