//! How long what was begun for a conductor may go on: until it was announced to be over, whatever else is
//! said meanwhile.

use btu_core::units::Bytes;
use btu_core::units::Nanos;

use super::Job;
use crate::agent::connection::IDLE;
use crate::agent::measured;
use crate::message::Answer;
use crate::message::Preparation;
use crate::message::Request;
use crate::message::Which;

/// How long a run that is prepared may go on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    /// From each of its data connections on.
    lease: Nanos,
    /// Whenever they come.
    end: Nanos,
}

impl Job {
    /// The conductor of a test is still there; true where its test waits for that. It has one lease for
    /// each step: words between two steps would make one step as long as it likes.
    pub(in crate::agent) fn heard(&mut self, now: Nanos) -> bool {
        let lease = self.lease.filter(|_| self.stepped);
        if let Some(lease) = lease {
            self.stepped = false;
            self.deadline = now.saturating_add(lease).saturating_add(LEASE_MARGIN);
        }
        lease.is_some()
    }

    /// A data connection of the run that is prepared: from now on its lease runs, and no cut of the
    /// network can bring another one.
    pub(super) fn connected(&mut self, now: Nanos, which: Which) {
        let is_of_run = (which.run, which.attempt) == (self.which.run, self.which.attempt);
        if let Some(cell) = self.cell.filter(|_| is_of_run) {
            let end = now.saturating_add(cell.lease).min(cell.end);
            self.deadline = end.saturating_add(LEASE_MARGIN);
        }
    }

    /// The conductor said something, or was told something: it may think about that.
    pub(super) fn renew(&mut self, now: Nanos) {
        if self.begun {
            return;
        }
        self.deadline = now.saturating_add(self.silence).saturating_add(IDLE);
    }

    /// What is allowed begins: until when it may go on, and what of it is left out.
    pub(super) fn allows(&mut self, now: Nanos, request: &mut Request, spent: Bytes) {
        if let (Some(which), Some(lease)) = (request.which(), lease(request)) {
            self.which = which;
            self.of = measured::run_of(request);
            self.test = self.of.as_ref().map(|(role, of)| (*role, of.seed)).or(self.test);
            (self.begun, self.cell) = (true, None);
            self.deadline = now.saturating_add(lease).saturating_add(LEASE_MARGIN);
        }
        match request {
            Request::Prepare(order) => {
                let end = now.saturating_add(lasting(order));
                self.cell = Some(Cell { lease: order.lease_ns, end });
                order.record &= self.grant.capture;
            }
            Request::Test(order) => {
                order.limits = Some(self.grant.limits(spent));
                (self.lease, self.stepped) = (Some(order.lease_ns.min(self.grant.max_run)), true);
                self.heard(now);
            }
            Request::Serve { .. } => self.serving = true,
            // What ends it may take its time; what connects meanwhile has no more than that.
            Request::Cancel(_) | Request::Collect(_) => {
                self.cell = None;
                self.deadline = self.deadline.max(now.saturating_add(IDLE));
            }
            _ => {}
        }
    }

    /// What was begun is over with some answers; the next command finds as much time as the first.
    pub(super) fn told(&mut self, now: Nanos, answer: &Answer) {
        let request = self.last.as_ref().map(|(request, _)| request);
        let failed = matches!(answer, Answer::Failed { .. });
        self.begun &= match request {
            Some(Request::Cancel(_) | Request::Collect(_)) => false,
            Some(Request::Prepare(_) | Request::Service(_)) => !failed,
            _ => true,
        };
        self.renew(now);
    }
}

/// How long the conductor announces to be silent, where it does: before a run until the first of its
/// data connections, but no longer than the run itself may take.
fn lease(request: &Request) -> Option<Nanos> {
    match request {
        Request::Prepare(order) => {
            Some(order.connect_ns.unwrap_or(order.lease_ns).min(order.lease_ns))
        }
        Request::Service(order) => Some(order.lease_ns),
        Request::Word(word) => Some(word.lease_ns),
        _ => None,
    }
}

/// How long a run may go on at the most: its connections are made, then the far ends themselves end it
/// with its cap, whatever words make its lease longer.
pub(super) fn lasting(order: &Preparation) -> Nanos {
    let run = order.lease_ns.max(order.cap_ns);
    order.connect_ns.unwrap_or_default().saturating_add(run)
}

/// What a lease is longer than the conductor's own account of the run.
pub const LEASE_MARGIN: Nanos = Nanos::from_secs(3);
