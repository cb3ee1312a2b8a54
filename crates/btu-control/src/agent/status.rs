//! Questions and orders that concern the agent as a whole.

use btu_core::units::Nanos;

use super::Action;
use super::Agent;
use super::ConnId;
use crate::invite::Rights;
use crate::message::Answer;
use crate::message::Request;
use crate::message::Status;

impl Agent {
    /// A question or an order, from this host or from a peer.
    pub(super) fn command(&mut self, now: Nanos, conn: ConnId, request: &Request) {
        let is_local = self.connections.get(&conn).is_some_and(|one| one.from.is_none());
        let is_admin = is_local || self.rights(conn) == Some(Rights::Admin);
        match request {
            Request::Status {} => {}
            Request::StopAll {} if is_admin => self.stop_all(now),
            Request::Resume {} if is_admin => self.resume(now),
            Request::StopAll {} | Request::Resume {} => {
                self.audit_of("refused", conn, "stop-all or resume without the rights");
                return self.refuse(conn, "policy: only an admin stops and resumes");
            }
            _ => return self.garbage(now, conn, "no question that an agent answers here"),
        }
        let status = self.status(now);
        self.send(conn, Answer::Status(Box::new(status)));
    }

    /// Every worker is killed, every reservation ends, nobody waits.
    fn stop_all(&mut self, now: Nanos) {
        self.setup.stopped = true;
        self.actions.push(Action::KeepStopped(true));
        self.audit("stopped", None, "");
        let working = self.jobs.values().map(|job| job.conn);
        let all: Vec<ConnId> = working.chain(self.queue.iter().copied()).collect();
        for conn in all {
            self.bye(now, conn, "all work was stopped on the agent");
        }
    }

    fn resume(&mut self, now: Nanos) {
        self.setup.stopped = false;
        self.actions.push(Action::KeepStopped(false));
        self.audit("resumed", None, "");
        self.advance(now);
    }

    fn status(&mut self, now: Nanos) -> Status {
        let bytes_today = self.spent_of_day(now);
        let name = |conn: &ConnId| {
            let found = self.connections.get(conn);
            found.and_then(|one| one.peer_name(&self.roster)).unwrap_or_default()
        };
        Status {
            agent: self.setup.id.to_string(),
            build: self.setup.build.clone(),
            stopped: self.setup.stopped,
            working_for: self.jobs.values().map(|job| name(&job.conn)).collect(),
            waiting: self.queue.iter().map(name).collect(),
            connections: u32::try_from(self.connections.len()).unwrap_or(u32::MAX),
            shared: self.setup.policy.shared,
            bytes_today,
            last_refusals: self.refusals.iter().cloned().collect(),
            confinement: self.confinement.clone(),
        }
    }
}
