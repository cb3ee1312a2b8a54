//! The workers of an agent: started, given orders, ended.

use std::io;
use std::net::IpAddr;
use std::net::Ipv4Addr;

use btu_control::agent::Event;
use btu_control::agent::WorkerId;
use btu_control::message::Answer;
use btu_control::message::Request;

use super::Server;
use crate::agent::workers::Allowed;
use crate::agent::workers::Worker;
use crate::output;

impl Server {
    /// A run over an emulated link is the business of the worker behind the emulator.
    pub(super) fn order(&mut self, id: WorkerId, request: &Request) {
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
        let of_run = request.which().is_some() && self.emulated.contains(&id);
        let workers = if of_run { &mut self.behind } else { &mut self.workers };
        if let Some(worker) = workers.get_mut(&id) {
            return worker.order(request);
        }
        let (seq, reason) = (request.seq().unwrap_or_default(), NO_EMULATOR.to_owned());
        self.happens(Event::Answered { worker: id, answer: Answer::Failed { seq, reason } });
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
        self.links.get(&conn).map(|held| held.from)
    }

    /// Ends a worker, and the one behind the emulator.
    pub(super) fn end(&mut self, id: WorkerId) {
        self.workers.remove(&id);
        self.parts.listener.forget(id);
        self.emulated.remove(&id);
        if self.tests.remove(&id)
            && let Some(bench) = &mut self.parts.bench
        {
            bench.end_test();
            self.state.clear_test();
        }
        if self.behind.remove(&id).is_some()
            && let Some(front) = &mut self.parts.front
        {
            front.end_worker();
        }
    }

    pub(super) fn start_behind(&mut self, id: WorkerId, allowed: Allowed) {
        let Some(front) = &mut self.parts.front else { return };
        let started = front.start_worker(allowed).and_then(Worker::of_another);
        match started
            .and_then(|worker| self.waiter.add(&worker).map(|()| worker).map_err(io::Error::other))
        {
            Ok(worker) => drop(self.behind.insert(id, worker)),
            Err(error) => output::message(&format!("start a worker behind the emulator: {error}")),
        }
    }

    /// Starts a worker whose data connections come in where its conductor's did.
    pub(super) fn start(&mut self, id: WorkerId, allowed: Allowed, test: bool) {
        self.served += 1;
        let address = self.agent.conductor(id).and_then(|conn| self.links.get(&conn));
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
            Err(error) => self.happens(Event::Ended { worker: id, how: error.to_string() }),
        }
    }
}

const NO_EMULATOR: &str = "no emulator is in front of this agent";
