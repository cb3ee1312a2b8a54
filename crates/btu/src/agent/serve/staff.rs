//! Which worker does what an agent has been asked for, and who hears of its end.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::net::Ipv4Addr;

use btu_control::agent::Event;
use btu_control::agent::WorkerId;
use btu_control::message::Answer;
use btu_control::message::Offer;
use btu_control::message::Request;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

use super::Server;
use crate::agent::bench::Bench;
use crate::agent::front::Front;
use crate::agent::workers::Allowed;
use crate::agent::workers::Worker;
use crate::output;
use btu_engine::time::now;

impl Server {
    /// A run over an emulated link is the business of the worker behind the emulator.
    pub(super) fn order(&mut self, id: WorkerId, request: &Request) {
        let awaited = end_elsewhere(request, id, &mut self.workers, &mut self.behind);
        if let Request::Prepare(order) = request {
            if order.link.is_some() {
                self.emulated.insert(id);
            } else {
                self.emulated.remove(&id);
            }
            self.parts.listener.forget(id);
            if order.record && order.link.is_none() {
                self.parts.listener.expect(id, order.which, self.peer_of(id));
            }
        }
        if let Request::Packets { which, .. } = request
            && !self.emulated.contains(&id)
        {
            return self.hand(id, which.seq);
        }
        // Services are done on the host's own address.
        if matches!(request, Request::Service(_)) {
            self.emulated.remove(&id);
            self.parts.listener.forget(id);
        }
        if awaited {
            let until = now().saturating_add(ENDING);
            self.held_back.insert(id, HeldBack { request: request.clone(), until });
            return;
        }
        self.hand_on(id, request);
    }

    /// Why there is no emulator for a worker.
    fn no_emulator(&self) -> String {
        match self.parts.front.as_ref().map(Front::offer) {
            Some(Offer::None(reason)) => reason,
            _ => NO_EMULATOR.to_owned(),
        }
    }

    /// What a process of the agent that was killed did is offered to nobody any more.
    fn tell_of_parts(&mut self) {
        if let Some(front) = &self.parts.front {
            self.agent.set_emulation(front.offer());
        }
        if let Some(ended) = self.parts.bench.as_ref().and_then(Bench::ended) {
            self.agent.refuse_tests(ended);
        }
    }

    /// To the worker whose business it is.
    fn hand_on(&mut self, id: WorkerId, request: &Request) {
        let of_run = request.which().is_some() && self.emulated.contains(&id);
        let workers = if of_run { &mut self.behind } else { &mut self.workers };
        if let Some(worker) = workers.get_mut(&id) {
            return worker.order(request);
        }
        let (seq, reason) = (request.seq().unwrap_or_default(), self.no_emulator());
        self.happens(Event::Answered { worker: id, answer: Answer::Failed { seq, reason } });
    }

    /// What the other worker of a reservation did is over: what waited for that begins.
    pub(super) fn ended_elsewhere(&mut self, id: WorkerId) {
        if let Some(held) = self.held_back.remove(&id) {
            self.hand_on(id, &held.request);
        }
    }

    /// A worker that does not end what it did takes its reservation with it, and all of its traffic.
    pub(super) fn give_up_on_ends(&mut self) {
        let now = now();
        let late = self.held_back.iter().find(|(_, held)| held.until <= now);
        if let Some(id) = late.map(|(id, _)| *id) {
            let how = format!("what it did before was not over after {} s", ENDING.seconds());
            self.happens(Event::Ended { worker: id, how });
            self.end(id);
        }
    }

    /// When the first of those is given up.
    pub(super) fn ends_are_awaited_until(&self) -> Option<Nanos> {
        self.held_back.values().map(|held| held.until).min()
    }

    /// True for the answer to an order of [`end_elsewhere`], which no conductor waits for: its own
    /// orders are answered by the worker that does what was begun last.
    pub(super) fn is_nobodys(&self, id: WorkerId, behind: bool, answer: &Answer) -> bool {
        matches!(answer, Answer::Cancelled { .. }) && behind != self.emulated.contains(&id)
    }

    /// The packets of an unimpaired run are the listener's.
    fn hand(&mut self, id: WorkerId, seq: u64) {
        if let Err(reason) = self.parts.listener.hand(id, seq) {
            let answer = Answer::Failed { seq, reason };
            self.happens(Event::Answered { worker: id, answer });
        }
    }

    /// The host whose conductor a worker works for.
    fn peer_of(&self, id: WorkerId) -> Option<IpAddr> {
        let conn = self.agent.conductor(id)?;
        self.connections.get(&conn).map(|held| held.from)
    }

    /// Ends a worker, and the one behind the emulator.
    pub(super) fn end(&mut self, id: WorkerId) {
        let mut ended: Vec<Worker> = self.workers.remove(&id).into_iter().collect();
        ended.iter_mut().for_each(Worker::kill);
        self.parts.listener.forget(id);
        self.emulated.remove(&id);
        self.held_back.remove(&id);
        if self.tests.remove(&id)
            && let Some(bench) = &mut self.parts.bench
        {
            bench.end_test();
            self.state.clear_test();
        }
        if let Some(behind) = self.behind.remove(&id)
            && let Some(front) = &mut self.parts.front
        {
            front.end_worker();
            ended.push(behind);
        }
        self.tell_of_parts();
        // All of them are killed now, and what they said before is all that they will ever say.
        let moved_bytes =
            ended.into_iter().map(Worker::settled).fold(Bytes::ZERO, Bytes::saturating_add);
        if !moved_bytes.is_empty() {
            self.happens(Event::Settled { moved_bytes });
        }
    }

    pub(super) fn start_behind(&mut self, id: WorkerId, allowed: Allowed) {
        let Some(front) = &mut self.parts.front else { return };
        let started = front.start_worker(allowed).and_then(Worker::of_another);
        match started
            .and_then(|worker| self.waiter.add(&worker).map(|()| worker).map_err(io::Error::other))
        {
            Ok(worker) => drop(self.behind.insert(id, worker)),
            Err(error) => {
                // Its conductor was promised an emulator.
                let how = format!("start a worker behind the emulator: {error}");
                output::message(&how);
                self.tell_of_parts();
                self.happens(Event::Ended { worker: id, how });
            }
        }
    }

    /// Starts a worker whose data connections come in where its conductor's did. False where there is none:
    /// its reservation has ended then.
    pub(super) fn start(&mut self, id: WorkerId, allowed: Allowed, test: bool) -> bool {
        self.served += 1;
        let address = self.agent.conductor(id).and_then(|conn| self.connections.get(&conn));
        let address = address.map_or(Ipv4Addr::LOCALHOST.into(), |held| held.address);
        if test {
            self.tests.insert(id);
        }
        let started = match &mut self.parts.bench {
            Some(bench) if test => bench.start_test().and_then(Worker::of_another),
            None if test => Err(io::Error::other("nothing here can be put under test")),
            _ => Worker::start(address, allowed),
        };
        let started = started
            .and_then(|worker| self.waiter.add(&worker).map(|()| worker).map_err(io::Error::other));
        match started {
            Ok(worker) => drop(self.workers.insert(id, worker)),
            Err(error) => {
                self.tell_of_parts();
                self.happens(Event::Ended { worker: id, how: error.to_string() });
            }
        }
        self.workers.contains_key(&id)
    }
}

/// An order that waits until the other worker of the reservation has ended what it did.
pub(super) struct HeldBack {
    request: Request,
    /// How long.
    until: Nanos,
}

/// What begins in one worker of a reservation ends what goes on in its other one, behind the emulator or
/// before it: the rate and the lease are those of one. True where that end is to be awaited.
fn end_elsewhere(
    request: &Request,
    id: WorkerId,
    workers: &mut BTreeMap<WorkerId, Worker>,
    behind: &mut BTreeMap<WorkerId, Worker>,
) -> bool {
    let others = match request {
        Request::Prepare(order) if order.link.is_some() => workers,
        Request::Prepare(_) | Request::Service(_) => behind,
        _ => return false,
    };
    let (Some(other), Some(which)) = (others.get_mut(&id), request.which()) else { return false };
    other.order(&Request::Cancel(which));
    true
}

/// For the end of what a worker does: much longer than that takes.
const ENDING: Nanos = Nanos::from_secs(3);

const NO_EMULATOR: &str = "no emulator is in front of this agent";

#[cfg(test)]
mod tests;
