//! One run of one cell with both sides in this process: the local form of the testbed.

use std::net::SocketAddr;

use btu_core::cell::Flow;
use btu_core::cell::Role;
use btu_core::sample::CommSample;
use btu_core::sample::Outcome;

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
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct CellRun {
    /// The traffic; `None` where no connection came up.
    pub comm: Option<CommSample>,
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

/// Runs one cell. Never fails as a call: what went wrong is part of the result.
pub fn run(order: &CellOrder<'_>) -> CellRun {
    match connect(order) {
        Ok((boxes, near)) => finish(boxes, near.go()),
        Err(cause) => failed(&cause),
    }
}

fn connect(order: &CellOrder<'_>) -> Result<(BlackBoxes, NearSide), EngineError> {
    let boxes = BlackBoxes::listen(order)?;
    let near = NearSide::connect(NearJob {
        flows: boxes.near_flows(order.flows),
        terms: order.terms.clone(),
        sockets: order.near.sockets.clone(),
        place: order.near.place.clone(),
    })?;
    Ok((boxes, near))
}

fn finish(boxes: BlackBoxes, near: Result<NearReport, EngineError>) -> CellRun {
    let complete =
        near.as_ref().is_ok_and(|report| report.ends.iter().all(|end| end.fault.is_none()));
    if !complete {
        boxes.sides.iter().for_each(|(_, side)| side.cancel());
    }
    let joined = near.and_then(|near| Ok(comm::join(&near, &boxes.finish()?)));
    match joined {
        Ok((comm, outcome)) => CellRun { comm: Some(comm), outcome },
        Err(cause) => failed(&cause),
    }
}

fn failed(cause: &EngineError) -> CellRun {
    CellRun { comm: None, outcome: Outcome::Failed { reason: cause.sentence() } }
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
