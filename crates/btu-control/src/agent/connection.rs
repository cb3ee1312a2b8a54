//! A connection to the agent: what it is about to do, and until when it may.

use std::net::IpAddr;

use btu_core::units::Nanos;

use super::Action;
use super::Agent;
use super::ConnId;
use super::Roster;
use super::WorkerId;
use crate::HostId;
use crate::invite::Rights;
use crate::message::Reservation;

/// One connection.
#[derive(Debug)]
pub(super) struct Connection {
    /// From where; `None` for this host's own.
    pub(super) from: Option<IpAddr>,
    pub(super) phase: Phase,
    /// When its phase began.
    pub(super) since: Nanos,
    /// When its peer was heard last.
    pub(super) heard: Nanos,
    /// Who it is, once that is proved.
    pub(super) peer: Option<HostId>,
    pub(super) binding: [u8; 32],
    /// Messages that were none.
    pub(super) errors: u32,
}

/// What a connection is about to do.
#[derive(Debug)]
pub(super) enum Phase {
    /// To become secure.
    Securing,
    /// To say hello.
    Greeting,
    /// To prove that it was invited.
    Joining,
    /// Nothing: it is paired.
    Idle,
    /// To get its turn.
    Waiting { wanted: Box<Reservation>, told: Nanos },
    /// To use its turn.
    Working { worker: WorkerId },
    /// To ask something from this host.
    Local,
}

impl Connection {
    pub(super) const fn new(from: Option<IpAddr>, phase: Phase, now: Nanos) -> Self {
        Self { from, phase, since: now, heard: now, peer: None, binding: [0; 32], errors: 0 }
    }

    pub(super) fn enter(&mut self, phase: Phase, now: Nanos) {
        self.phase = phase;
        self.since = now;
    }

    pub(super) const fn is_stranger(&self) -> bool {
        matches!(self.phase, Phase::Securing | Phase::Greeting | Phase::Joining)
    }

    /// When one that waits is told its place again.
    pub(super) const fn reminder(&self) -> Option<Nanos> {
        match &self.phase {
            Phase::Waiting { told, .. } => Some(told.saturating_add(REMINDER)),
            _ => None,
        }
    }

    /// How people call the peer.
    pub(super) fn peer_name(&self, roster: &Roster) -> Option<String> {
        let id = self.peer?;
        Some(roster.peers.get(&id).map_or_else(|| id.to_string(), |peer| peer.name.clone()))
    }
}

impl Agent {
    /// A stranger; the oldest strangers make room for it.
    pub(super) fn accepted(&mut self, now: Nanos, conn: ConnId, from: IpAddr) {
        self.connections.insert(conn, Connection::new(Some(from), Phase::Securing, now));
        let from_there = |one: &Connection| one.from == Some(from);
        self.make_room(now, MOST_STRANGERS_OF_ADDRESS, from_there);
        self.make_room(now, MOST_STRANGERS, |_| true);
    }

    fn make_room(&mut self, now: Nanos, most: usize, counts: impl Fn(&Connection) -> bool) {
        let strangers = self.connections.iter().filter(|(_, one)| one.is_stranger() && counts(one));
        let mut strangers: Vec<(Nanos, ConnId)> =
            strangers.map(|(conn, one)| (one.since, *conn)).collect();
        strangers.sort_unstable();
        let surplus = strangers.len().saturating_sub(most);
        for (_, conn) in strangers.into_iter().take(surplus) {
            self.close(now, conn);
        }
    }

    pub(super) fn local(&mut self, now: Nanos, conn: ConnId) {
        self.connections.insert(conn, Connection::new(None, Phase::Local, now));
    }

    /// Closes without a word.
    pub(super) fn close(&mut self, now: Nanos, conn: ConnId) {
        self.actions.push(Action::Close { conn });
        self.lost(now, conn, "closed");
    }

    /// Something that is no message: a stranger's is its last, a peer's may be a slip.
    pub(super) fn garbage(&mut self, now: Nanos, conn: ConnId, reason: &str) {
        let Some(found) = self.connections.get_mut(&conn) else { return };
        found.errors += 1;
        if found.is_stranger() {
            self.close(now, conn);
        } else if found.errors >= MOST_ERRORS {
            self.bye(now, conn, &format!("{MOST_ERRORS} faulty messages, the last: {reason}"));
        } else {
            self.refuse(conn, reason);
        }
    }

    /// Until when a connection may stay as it is.
    pub(super) fn deadline(&self, one: &Connection) -> Nanos {
        match &one.phase {
            Phase::Securing => one.since.saturating_add(SECURING),
            Phase::Greeting | Phase::Joining => one.since.saturating_add(GREETING),
            Phase::Idle | Phase::Waiting { .. } => one.heard.saturating_add(IDLE),
            Phase::Local => one.heard.saturating_add(SECURING),
            Phase::Working { worker } => {
                self.jobs.get(worker).map_or(one.since, |job| job.deadline)
            }
        }
    }

    /// Ends whatever has outlived its time.
    pub(super) fn expire(&mut self, now: Nanos) {
        let overdue = |one: &Connection| self.deadline(one) <= now;
        let gone: Vec<ConnId> = self
            .connections
            .iter()
            .filter(|(_, one)| overdue(one))
            .map(|(conn, _)| *conn)
            .collect();
        for conn in gone {
            match self.connections.get(&conn).map(|one| &one.phase) {
                Some(Phase::Working { .. }) => self.bye(now, conn, "the lease expired"),
                Some(Phase::Idle | Phase::Waiting { .. }) => {
                    self.bye(now, conn, "silent for 60 s");
                }
                Some(_) => self.close(now, conn),
                None => {}
            }
        }
    }

    /// What a peer may do; nothing for one that is not known any more.
    pub(super) fn rights(&self, conn: ConnId) -> Option<Rights> {
        let peer = self.connections.get(&conn)?.peer?;
        let known = self.roster.peers.get(&peer).map(|peer| peer.rights);
        known.or_else(|| self.guest(peer).map(|_| Rights::Runner))
    }
}

/// From the first packet to a secure channel.
const SECURING: Nanos = Nanos::from_secs(10);
/// For each word of a greeting.
const GREETING: Nanos = Nanos::from_secs(5);
/// Without a word of a peer.
pub(super) const IDLE: Nanos = Nanos::from_secs(60);
/// How often one that waits is told its place.
const REMINDER: Nanos = Nanos::from_secs(5);
const MOST_STRANGERS: usize = 64;
const MOST_STRANGERS_OF_ADDRESS: usize = 8;
const MOST_ERRORS: u32 = 3;
