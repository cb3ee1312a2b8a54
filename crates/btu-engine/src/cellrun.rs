//! One run of one cell: the host under test in this process, its black boxes here or elsewhere.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::role::Role;
use btu_core::run::cell::Direction;
use btu_core::run::cell::Flow;
use btu_core::sample::ActivitySample;
use btu_core::sample::CommSample;
use btu_core::sample::Outcome;
use btu_core::units::Nanos;

use crate::activity;
use crate::activity::Prepared;
use crate::activity::Running;
use crate::activity::Stint;
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
use crate::time::now;

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
    pub stint: Stint,
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

/// A black box as the host under test deals with it, wherever it is. One run at a time: `listen`,
/// then `cancel` where the run has failed, then `finish`.
pub trait BlackBox {
    /// Which one.
    fn role(&self) -> Role;

    /// Gets ready for connections of these directions (seen from the test host); gives the address of
    /// each. What was there of an earlier run is over.
    fn listen(
        &mut self,
        flows: &[Direction],
        terms: &Terms,
    ) -> Result<Vec<SocketAddr>, EngineError>;

    /// Ends every connection of the run.
    fn cancel(&mut self);

    /// Waits for the end of every connection: the account of each.
    fn finish(&mut self) -> Result<Vec<EndReport>, EngineError>;
}

/// A black box in this process.
#[derive(Debug)]
struct LocalBox<'a> {
    party: &'a Party,
    side: Option<FarSide>,
}

/// The black boxes of a run, listening.
struct BlackBoxes<'a, 'b> {
    all: &'a mut [&'b mut dyn BlackBox],
    /// For each flow of the case: the black box, its place in that one's job, and its address.
    seats: Vec<(usize, usize, SocketAddr)>,
}

/// Runs one cell; `None` where it was cancelled. What goes wrong is part of the result.
///
/// A steady activity is at full rate before COMM starts and until after it ends, and its work
/// counts only inside COMM's window: otherwise one would outlive the other and measure idleness.
pub fn run(order: &CellOrder<'_>) -> Option<CellRun> {
    let mut boxes: Vec<LocalBox<'_>> =
        order.fars.iter().map(|party| LocalBox { party, side: None }).collect();
    let mut boxes: Vec<&mut dyn BlackBox> =
        boxes.iter_mut().map(|one| -> &mut dyn BlackBox { one }).collect();
    run_among(order, &mut boxes)
}

/// The same with these black boxes instead of the order's own.
pub fn run_among(order: &CellOrder<'_>, boxes: &mut [&mut dyn BlackBox]) -> Option<CellRun> {
    let run = attempt(order, boxes).unwrap_or_else(|cause| CellRun {
        comm: None,
        activity: None,
        outcome: Outcome::Failed { reason: cause.sentence() },
    });
    (!order.terms.cancel.load(Relaxed)).then_some(run)
}

fn attempt(order: &CellOrder<'_>, boxes: &mut [&mut dyn BlackBox]) -> Result<CellRun, EngineError> {
    let mut boxes = BlackBoxes::listen(order, boxes)?;
    let run = measured(order, &mut boxes);
    if run.is_err() {
        boxes.cancel();
    }
    run
}

fn measured(order: &CellOrder<'_>, boxes: &mut BlackBoxes<'_, '_>) -> Result<CellRun, EngineError> {
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
    stint: Stint,
    since: Nanos,
}

impl Beside {
    /// Starts the threads; a steady activity begins to work, a fixed amount waits for COMM.
    fn start(load: Load<'_>, place: &Place) -> Result<Self, EngineError> {
        let units = match load.stint {
            Stint::Fixed { units } => Some(units),
            Stint::Steady { .. } => None,
        };
        let running = Running::start(load.activity, place, units)?;
        if units.is_none() {
            running.release();
        }
        Ok(Self { running, stint: load.stint, since: now() })
    }

    /// Lets the rest of the lead-in pass, or starts the fixed amount.
    fn lead_in(&self, cancel: &AtomicBool) {
        match self.stint {
            Stint::Fixed { .. } => self.running.release(),
            Stint::Steady { lead_in } => {
                let passed = now().since(self.since);
                let _ = activity::sleep(lead_in.since(passed), cancel);
            }
        }
    }

    /// Stops it, and counts what it did while COMM ran, or until its fixed amount was done.
    fn finish(self, near: &NearReport, order: &CellOrder<'_>) -> ActivitySample {
        let started = near.started().unwrap_or(self.since);
        let Stint::Fixed { units } = self.stint else {
            return self.running.stop().over(started, started.saturating_add(near.elapsed()));
        };
        let deadline = started.saturating_add(order.terms.cap);
        activity::finish_fixed(self.running, units, deadline, &order.terms.cancel)
    }
}

impl<'a, 'b> BlackBoxes<'a, 'b> {
    /// Every black box listens for the connections that are meant for it.
    fn listen(
        order: &CellOrder<'_>,
        all: &'a mut [&'b mut dyn BlackBox],
    ) -> Result<Self, EngineError> {
        let mut seats = vec![None; order.flows.len()];
        for (number, one) in all.iter_mut().enumerate() {
            let role = one.role();
            let own = order.flows.iter().enumerate().filter(|(_, flow)| flow.peer == role);
            let (own, directions): (Vec<usize>, Vec<Direction>) =
                own.map(|(index, flow)| (index, flow.direction)).unzip();
            if own.is_empty() {
                continue;
            }
            let addresses = one.listen(&directions, &order.terms)?;
            for (place, (flow, address)) in own.into_iter().zip(addresses).enumerate() {
                seats[flow] = Some((number, place, address));
            }
        }
        let seats: Option<Vec<_>> = seats.iter().copied().collect();
        match seats {
            Some(seats) => Ok(Self { all, seats }),
            None => Err(missing(order.flows, &seats_of(all))),
        }
    }

    fn near_flows(&self, flows: &[Flow]) -> Vec<NearFlow> {
        let seated = flows.iter().zip(&self.seats);
        seated
            .map(|(flow, (_, _, address))| NearFlow {
                peer: flow.peer,
                direction: flow.direction,
                address: *address,
            })
            .collect()
    }

    /// True for one that has a part in this run.
    fn takes_part(&self, number: usize) -> bool {
        self.seats.iter().any(|seat| seat.0 == number)
    }

    /// Ends every connection of every black box.
    fn cancel(&mut self) {
        for number in 0..self.all.len() {
            if self.takes_part(number) {
                self.all[number].cancel();
            }
        }
    }

    /// The far ends, in the order of the case.
    fn finish(&mut self) -> Result<Vec<EndReport>, EngineError> {
        let mut reports = BTreeMap::new();
        for number in 0..self.all.len() {
            if self.takes_part(number) {
                reports.insert(number, self.all[number].finish()?);
            }
        }
        let seated = self.seats.iter();
        let ends = seated.map(|(one, place, _)| reports.get(one)?.get(*place).cloned());
        let ends: Option<Vec<EndReport>> = ends.collect();
        ends.ok_or_else(|| EngineError::Refused("a far end gave no account".to_owned()))
    }
}

fn seats_of(all: &[&mut dyn BlackBox]) -> Vec<Role> {
    all.iter().map(|one| one.role()).collect()
}

/// A case for which a black box is missing.
fn missing(flows: &[Flow], present: &[Role]) -> EngineError {
    let absent = flows.iter().find(|flow| !present.contains(&flow.peer));
    let peer = absent.map_or("answering".to_owned(), |flow| flow.peer.to_string());
    EngineError::Refused(format!("no {peer} host in this run"))
}

impl BlackBox for LocalBox<'_> {
    fn role(&self) -> Role {
        self.party.place.role
    }

    fn listen(
        &mut self,
        flows: &[Direction],
        terms: &Terms,
    ) -> Result<Vec<SocketAddr>, EngineError> {
        let flows = flows.iter().map(|direction| FarFlow::on(self.party, *direction)).collect();
        let (terms, sockets) = (terms.clone(), self.party.sockets.clone());
        let job = FarJob { flows, terms, sockets, place: self.party.place.clone() };
        let side = self.side.insert(FarSide::listen(job)?);
        Ok(side.addresses().to_vec())
    }

    fn cancel(&mut self) {
        if let Some(side) = &self.side {
            side.cancel();
        }
    }

    fn finish(&mut self) -> Result<Vec<EndReport>, EngineError> {
        let idle = || EngineError::Refused("a black box that does not listen".to_owned());
        self.side.take().ok_or_else(idle)?.finish()
    }
}

impl FarFlow {
    fn on(party: &Party, direction: Direction) -> Self {
        Self { direction, listen: SocketAddr::new(party.address, 0) }
    }
}
