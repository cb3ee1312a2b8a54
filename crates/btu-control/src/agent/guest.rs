//! Guests: a peer that drives a third host vouches for it by its identity, for a while. The guest
//! comes with its own key, may do what the peer may do with the agent's time, and nothing else.

use btu_core::units::Nanos;

use super::Action;
use super::Agent;
use super::ConnId;
use super::connection::Phase;
use crate::HostId;
use crate::invite::Rights;
use crate::message::Answer;
use crate::message::Request;

/// A host that a peer vouches for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guest {
    /// Who it is.
    id: HostId,
    /// The peer.
    host: HostId,
    /// When it is forgotten.
    pub(super) until: Nanos,
}

impl Agent {
    /// A peer vouches for another host, or takes its word back.
    pub(super) fn vouch(&mut self, now: Nanos, conn: ConnId, guest: &str, time: Nanos) {
        if let Err(reason) = self.invited(now, conn, guest, time) {
            self.audit_of("refused", conn, &reason);
            return self.refuse(conn, &reason);
        }
        self.audit_of("vouched", conn, &format!("{guest} for {time}"));
        self.send(conn, Answer::Vouched {});
    }

    fn invited(
        &mut self,
        now: Nanos,
        conn: ConnId,
        guest: &str,
        time: Nanos,
    ) -> Result<(), String> {
        let guest: HostId = guest.parse().map_err(|cause| format!("{cause}"))?;
        let host = self.connections.get(&conn).and_then(|one| one.peer);
        let peer = host.and_then(|host| self.roster.peers.get(&host));
        // A guest's own guests would be nobody's.
        let Some(host) = host.filter(|_| peer.is_some_and(|peer| peer.rights >= Rights::Runner))
        else {
            return Err("policy: this peer may not vouch for others".to_owned());
        };
        if !self.grant_of(conn).is_some_and(|grant| grant.guests) {
            return Err("policy: guests = false".to_owned());
        }
        let until = now.saturating_add(time.min(LONGEST));
        let word = |known: &Guest| (known.id, known.host) == (guest, host);
        if time == Nanos::ZERO {
            self.guests.retain(|known| !word(known));
        } else if let Some(known) = self.guests.iter_mut().find(|known| word(known)) {
            known.until = until;
        } else if self.guests.iter().filter(|known| known.host == host).count() >= MOST_GUESTS {
            return Err(format!("{MOST_GUESTS} guests of yours are known already"));
        } else {
            self.guests.push(Guest { id: guest, host, until });
        }
        Ok(())
    }

    /// The guest with this identity, while its host is welcome itself. Several may vouch for one: the first of
    /// them answers for it, and the others when that word is over. So a word that nobody takes back, because
    /// its conductor was killed, keeps no other from the same host.
    pub(super) fn guest(&self, id: HostId) -> Option<&Guest> {
        let known = |guest: &&Guest| self.roster.peers.contains_key(&guest.host);
        self.guests.iter().filter(|guest| guest.id == id).find(known)
    }

    /// Whose rights a peer has: its own, or those of the one that vouches for it.
    pub(super) fn answerable(&self, peer: HostId) -> HostId {
        if self.roster.peers.contains_key(&peer) {
            return peer;
        }
        self.guest(peer).map_or(peer, |guest| guest.host)
    }

    /// A sign of life: of the conductor of a test it is what keeps the test alive.
    pub(super) fn pinged(&mut self, now: Nanos, conn: ConnId) {
        let phase = self.connections.get(&conn).map(|one| &one.phase);
        if let Some(Phase::Working { worker }) = phase
            && let Some(job) = self.jobs.get_mut(worker)
            && job.heard(now)
        {
            // No step of a test begins before its conductor has heard of the last one.
            let (worker, request) = (*worker, Request::Ping {});
            self.actions.push(Action::Order { worker, request });
        }
        self.send(conn, Answer::Pong {});
    }
}

const MOST_GUESTS: usize = 8;
/// No test takes longer.
const LONGEST: Nanos = Nanos::from_secs(86_400);
