//! One run of one cell with both sides in this process: the local form of the testbed.

use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::cell::Flow;
use btu_core::cell::Role;
use btu_core::sample::ActivitySample;
use btu_core::sample::CommSample;
use btu_core::sample::Outcome;
use btu_core::units::Nanos;
use btu_sys::clock;

use crate::activity;
use crate::activity::Pace;
use crate::activity::Prepared;
use crate::activity::Running;
use crate::comm;
use crate::comm::EndReport;
use crate::comm::FarFlow;
use crate::comm::FarJob;
use crate::comm::FarSide;
use crate::comm::NearFlow;
use crate::comm::NearJob;
use crate::comm::NearReport;
use crate::comm::NearSide;
use crate::comm::Terms;
use crate::error::EngineError;
use crate::place::Party;
use crate::place::Place;

/// What to run.
#[derive(Clone, Debug)]
pub struct CellOrder<'a> {
    /// The connections of the case, in its order.
    pub flows: &'a [Flow],
    /// What both sides agree on.
    pub terms: Terms,
    /// The host under test.
    pub near: &'a Party,
    /// The black boxes, in any order; each is reached at its address.
    pub fars: &'a [Party],
    /// What the host under test does meanwhile; `None` for a baseline.
    pub load: Option<Load<'a>>,
}

/// A host activity beside COMM.
#[derive(Clone, Copy, Debug)]
pub struct Load<'a> {
    /// The activity.
    pub activity: &'a dyn Prepared,
    /// How it accompanies COMM.
    pub pace: Pace,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct CellRun {
    /// The traffic; `None` where no connection came up.
    pub comm: Option<CommSample>,
    /// What the activity did inside COMM's window; `None` for a baseline.
    pub activity: Option<ActivitySample>,
    /// How it ended.
    pub outcome: Outcome,
}

/// The black boxes of a run, listening.
#[derive(Debug)]
struct BlackBoxes {
    sides: Vec<(Role, FarSide)>,
    /// For each flow of the case: the side, and the place in its job.
    seats: Vec<(usize, usize)>,
}

/// Runs one cell; `None` where it was cancelled. What goes wrong is part of the result.
///
/// A steady activity is at full rate before COMM starts and until after it ends, and its work
/// counts only inside COMM's window: otherwise one would outlive the other and measure idleness.
pub fn run(order: &CellOrder<'_>) -> Option<CellRun> {
    let run = attempt(order).unwrap_or_else(|cause| CellRun {
        comm: None,
        activity: None,
        outcome: Outcome::Failed { reason: cause.sentence() },
    });
    (!order.terms.cancel.load(Relaxed)).then_some(run)
}

fn attempt(order: &CellOrder<'_>) -> Result<CellRun, EngineError> {
    let boxes = BlackBoxes::listen(order)?;
    let beside = order.load.map(|load| Beside::start(load, &order.near.place)).transpose()?;
    let near = NearSide::connect(NearJob {
        flows: boxes.near_flows(order.flows),
        terms: order.terms.clone(),
        sockets: order.near.sockets.clone(),
        place: order.near.place.clone(),
    })?;
    if let Some(beside) = &beside {
        beside.lead_in(&order.terms.cancel);
    }
    let near = near.go()?;
    let activity = beside.map(|beside| beside.finish(&near, order));
    if near.ends.iter().any(|end| end.fault.is_some()) {
        boxes.cancel();
    }
    let (comm, ended) = comm::join(&near, &boxes.finish()?);
    let outcome = with_activity(ended, activity.as_ref());
    Ok(CellRun { comm: Some(comm), activity, outcome })
}

/// A run beside an activity that failed is not the run that was asked for.
fn with_activity(outcome: Outcome, activity: Option<&ActivitySample>) -> Outcome {
    let failures = activity.map(|sample| sample.failures.join("; ")).unwrap_or_default();
    if failures.is_empty() || !outcome.is_complete() {
        return outcome;
    }
    Outcome::Failed { reason: format!("activity: {failures}") }
}

/// The activity of a run in progress.
#[derive(Debug)]
struct Beside {
    running: Running,
    pace: Pace,
    since: Nanos,
}

impl Beside {
    /// Starts the threads; a steady activity begins to work, a fixed amount waits for COMM.
    fn start(load: Load<'_>, place: &Place) -> Result<Self, EngineError> {
        let units = match load.pace {
            Pace::Fixed { units } => Some(units),
            Pace::Steady { .. } => None,
        };
        let running = Running::start(load.activity, place, units)?;
        if units.is_none() {
            running.release();
        }
        Ok(Self { running, pace: load.pace, since: Nanos::new(clock::monotonic_ns()) })
    }

    /// Lets the rest of the lead-in pass, or starts the fixed amount.
    fn lead_in(&self, cancel: &AtomicBool) {
        match self.pace {
            Pace::Fixed { .. } => self.running.release(),
            Pace::Steady { lead_in } => {
                let passed = Nanos::new(clock::monotonic_ns()).since(self.since);
                activity::sleep(lead_in.since(passed), cancel);
            }
        }
    }

    /// Stops it, and counts what it did while COMM ran, or until its fixed amount was done.
    fn finish(self, near: &NearReport, order: &CellOrder<'_>) -> ActivitySample {
        let started = near.started().unwrap_or(self.since);
        let Pace::Fixed { units } = self.pace else {
            return self.running.stop().over(started, started.saturating_add(near.elapsed()));
        };
        let deadline = started.saturating_add(order.terms.cap);
        activity::finish_fixed(self.running, units, deadline, &order.terms.cancel)
    }
}

impl BlackBoxes {
    /// Every black box listens for the connections that are meant for it.
    fn listen(order: &CellOrder<'_>) -> Result<Self, EngineError> {
        let mut boxes = Self { sides: Vec::new(), seats: vec![(0, 0); order.flows.len()] };
        for party in order.fars {
            let role = party.place.role;
            let own = order.flows.iter().enumerate().filter(|(_, flow)| flow.peer == role);
            let (own, flows): (Vec<usize>, Vec<FarFlow>) =
                own.map(|(index, flow)| (index, FarFlow::on(party, *flow))).unzip();
            if own.is_empty() {
                continue;
            }
            for (place, flow) in own.into_iter().enumerate() {
                boxes.seats[flow] = (boxes.sides.len(), place);
            }
            let (terms, sockets) = (order.terms.clone(), party.sockets.clone());
            let job = FarJob { flows, terms, sockets, place: party.place.clone() };
            boxes.sides.push((role, FarSide::listen(job)?));
        }
        boxes.complete(order.flows)
    }

    /// Refuses a case for which a black box is missing.
    fn complete(self, flows: &[Flow]) -> Result<Self, EngineError> {
        let present = |role| self.sides.iter().any(|(side, _)| *side == role);
        match flows.iter().find(|flow| !present(flow.peer)) {
            Some(flow) => Err(EngineError::Refused(format!("no {} host in this run", flow.peer))),
            None => Ok(self),
        }
    }

    fn near_flows(&self, flows: &[Flow]) -> Vec<NearFlow> {
        let seated = flows.iter().zip(&self.seats);
        seated
            .map(|(flow, (side, place))| NearFlow {
                peer: flow.peer,
                direction: flow.direction,
                address: self.sides[*side].1.addresses()[*place],
            })
            .collect()
    }

    /// Ends every connection of every black box.
    fn cancel(&self) {
        for (_, side) in &self.sides {
            side.cancel();
        }
    }

    /// The far ends, in the order of the case.
    fn finish(self) -> Result<Vec<EndReport>, EngineError> {
        let reports: Result<Vec<_>, _> =
            self.sides.into_iter().map(|(_, side)| side.finish()).collect();
        let reports = reports?;
        Ok(self.seats.iter().map(|(side, place)| reports[*side][*place].clone()).collect())
    }
}

impl FarFlow {
    fn on(party: &Party, flow: Flow) -> Self {
        Self { direction: flow.direction, listen: SocketAddr::new(party.address, 0) }
    }
}
