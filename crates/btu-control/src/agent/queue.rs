//! Whose turn it is: one conductor at a time unless the policy says otherwise, the first first.

use btu_core::units::BitRate;
use btu_core::units::Nanos;

use super::Action;
use super::Agent;
use super::ConnId;
use super::WorkerId;
use super::connection::Phase;
use super::job::Job;
use crate::invite::Rights;
use crate::message::Answer;
use crate::message::Offer;
use crate::message::Reservation;
use crate::policy::Grant;

impl Agent {
    /// A peer asks for the agent's time.
    pub(super) fn reserve(&mut self, now: Nanos, conn: ConnId, wanted: Reservation) {
        if let Some(reason) = self.unwelcome(conn, &wanted) {
            self.audit_of("refused", conn, &reason);
            return self.refuse(conn, &reason);
        }
        let Some(found) = self.connections.get_mut(&conn) else { return };
        found.enter(Phase::Waiting { wanted: Box::new(wanted), told: now }, now);
        self.queue.push_back(conn);
        self.advance(now);
        self.tell_place(now, conn);
    }

    /// Why a reservation is refused.
    fn unwelcome(&self, conn: ConnId, wanted: &Reservation) -> Option<String> {
        if self.setup.stopped {
            return Some(
                "all work was stopped here; btu agent resume, there, allows it".to_owned(),
            );
        }
        if let Some(reason) = self.unwelcome_now(conn) {
            return Some(reason);
        }
        let grant = self.grant_of(conn)?;
        let peer = self.connections.get(&conn).and_then(|one| one.peer);
        let own = self.queue.iter().filter(|other| self.connections[other].peer == peer).count();
        if self.queue.len() >= MOST_WAITING || own >= MOST_WAITING_OF_PEER {
            return Some(format!("busy: {} wait already, {own} of them yours", self.queue.len()));
        }
        if wanted.test && self.setup.policy.shared > 1 {
            return Some("policy: shared; a host under test works for one at a time".to_owned());
        }
        let no_tests = || self.no_tests.clone().filter(|_| wanted.test);
        grant
            .refuses(wanted)
            .or_else(no_tests)
            .or_else(|| grant.refuses_time(self.wall_clock_s, Nanos::ZERO))
    }

    /// Why a peer may not use the agent's time at all. Who was welcome when it began to wait, or to work,
    /// may be a guest whose host does not vouch for it any more.
    pub(super) fn unwelcome_now(&self, conn: ConnId) -> Option<String> {
        if self.rights(conn).is_none_or(|rights| rights < Rights::Runner) {
            return Some("policy: this peer may not use the agent's time".to_owned());
        }
        let none = || "policy: no class is for this peer and its network".to_owned();
        self.grant_of(conn).is_none().then(none)
    }

    /// What the policy grants the peer of a connection.
    pub(super) fn grant_of(&self, conn: ConnId) -> Option<&Grant> {
        let one = self.connections.get(&conn)?;
        self.setup.policy.grant(self.answerable(one.peer?), one.from?)
    }

    pub(super) fn refuse(&mut self, conn: ConnId, reason: &str) {
        self.note_refusal(reason);
        self.send(conn, Answer::Refused { reason: reason.to_owned() });
    }

    /// Keeps what was refused last, for whoever asks.
    pub(super) fn note_refusal(&mut self, reason: &str) {
        self.refusals.push_back(reason.to_owned());
        if self.refusals.len() > MOST_REFUSALS {
            self.refusals.pop_front();
        }
    }

    /// Whoever is next gets its turn while there is room; the others learn that they moved up.
    pub(super) fn advance(&mut self, now: Nanos) {
        let room = usize::try_from(self.setup.policy.shared).unwrap_or(1);
        let mut moved = false;
        while self.jobs.len() < room && !self.setup.stopped {
            let Some(conn) = self.queue.pop_front() else { break };
            self.begin(now, conn);
            moved = true;
        }
        if moved {
            for conn in self.queue.clone() {
                self.tell_place(now, conn);
            }
        }
    }

    fn begin(&mut self, now: Nanos, conn: ConnId) {
        if let Some(reason) = self.unwelcome_now(conn) {
            return self.turn_away(now, conn, &reason);
        }
        let Some(grant) = self.grant_of(conn).cloned() else { return };
        let Some(found) = self.connections.get_mut(&conn) else { return };
        let Some(peer) = found.from else { return };
        self.last_worker += 1;
        let worker = WorkerId(self.last_worker);
        let before = std::mem::replace(&mut found.phase, Phase::Working { worker });
        found.since = now;
        let Phase::Waiting { wanted, .. } = before else { return };
        let emulation = match (grant.emulation, self.setup.policy.shared) {
            (false, _) => Offer::None("the agent's policy does not allow it".to_owned()),
            (true, 1) => self.setup.emulation.clone(),
            (true, _) => Offer::None("the agent's time is shared".to_owned()),
        };
        let ports = grant.data_ports;
        let rate = grant.max_rate.map(|rate| self.part(rate, &wanted));
        let metered = grant.is_metered();
        let detail = format!("plan {}", wanted.plan);
        self.jobs.insert(worker, Job::new(conn, &wanted, grant, now));
        let test = wanted.test;
        let emulation_wanted = wanted.emulation && !test;
        let offered = emulation.address().is_some() && emulation_wanted;
        self.actions.push(Action::Start {
            worker,
            peer,
            ports,
            rate,
            longest_run: wanted.longest_run_ns,
            metered,
            emulation: offered,
            test,
        });
        self.audit_of("granted", conn, &detail);
        let shared = self.setup.policy.shared;
        self.send(conn, Answer::Granted { shared, emulation });
    }

    /// One that waited and may not work any more is told so.
    fn turn_away(&mut self, now: Nanos, conn: ConnId, reason: &str) {
        if let Some(found) = self.connections.get_mut(&conn) {
            found.enter(Phase::Idle, now);
        }
        self.audit_of("refused", conn, reason);
        self.refuse(conn, reason);
    }

    /// What one worker may send on data connections: as many reservations as share the agent's time send
    /// side by side, and in each an FTP server beside the data connections.
    fn part(&self, rate: BitRate, wanted: &Reservation) -> BitRate {
        let servers = if wanted.activities.is_empty() { 1 } else { 2 };
        BitRate::new(rate.bit_per_second() / u64::from(self.setup.policy.shared.max(1)) / servers)
    }

    /// Tells one that waits its place.
    fn tell_place(&mut self, now: Nanos, conn: ConnId) {
        let Some(place) = self.queue.iter().position(|waiting| *waiting == conn) else { return };
        if let Some(Phase::Waiting { told, .. }) =
            self.connections.get_mut(&conn).map(|one| &mut one.phase)
        {
            *told = now;
        }
        let position = u32::try_from(place + 1).unwrap_or(u32::MAX);
        self.send(conn, Answer::Queued { position });
    }

    /// Tells those that were not told for a while.
    pub(super) fn remind(&mut self, now: Nanos) {
        let due = |conn: &&ConnId| self.connections[conn].reminder().is_some_and(|at| at <= now);
        let due: Vec<ConnId> = self.queue.iter().filter(due).copied().collect();
        for conn in due {
            self.tell_place(now, conn);
        }
    }
}

const MOST_WAITING: usize = 32;
const MOST_WAITING_OF_PEER: usize = 2;
const MOST_REFUSALS: usize = 8;
