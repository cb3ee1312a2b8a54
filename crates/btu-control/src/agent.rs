//! The agent of a black box as a pure state machine: who may connect, whose turn it is, what is
//! done for whom, and when it must have ended. Time is an argument, and no state is without a
//! deadline.
//!
//! Whoever drives it accepts connections, speaks TLS, starts the processes that do the work, and
//! keeps what is to be kept; all decisions are made here.

mod connection;
mod event;
mod greeting;
mod guest;
mod job;
mod looks;
mod measured;
mod queue;
mod status;

use std::collections::BTreeMap;
use std::collections::VecDeque;

use btu_core::disclosure::Fact;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use serde::Deserialize;
use serde::Serialize;

use crate::HostId;
use crate::invite::OpenInvite;
use crate::invite::Rights;
use crate::message::Answer;
use crate::message::Offer;
use crate::message::Request;
use crate::policy::Policy;

use connection::Connection;
use connection::Phase;
use guest::Guest;
use job::Job;

pub use event::Action;
pub use event::ConnId;
pub use event::Entry;
pub use event::Event;
pub use event::Joiner;
pub use event::WorkerId;
pub use job::LEASE_MARGIN;
pub use measured::Account;
pub use measured::Measured;

/// A peer that is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    /// Who it is.
    pub id: String,
    /// How people call it.
    pub name: String,
    /// What it may do.
    pub rights: Rights,
    /// When it joined, UTC.
    pub added: String,
}

/// Who is known, and who was invited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roster {
    /// The peers.
    pub peers: BTreeMap<HostId, Peer>,
    /// Invitations that still hold.
    pub invites: Vec<OpenInvite>,
}

/// What an agent is, as long as it runs.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Its own identity.
    pub id: HostId,
    /// Its version, for people.
    pub build: String,
    /// What it may do for whom.
    pub policy: Policy,
    /// Whether links can be emulated in front of it.
    pub emulation: Offer,
    /// True where all work was stopped before it was restarted.
    pub stopped: bool,
    /// What it measured before it was restarted.
    pub measured: Measured,
}

/// The agent.
#[derive(Debug)]
pub struct Agent {
    setup: Setup,
    roster: Roster,
    /// Invitations that somebody has tried here, and how often they may still be.
    tried: Vec<OpenInvite>,
    connections: BTreeMap<ConnId, Connection>,
    /// Those that wait, the first to be served first.
    queue: VecDeque<ConnId>,
    jobs: BTreeMap<WorkerId, Job>,
    /// Hosts that peers vouch for, the oldest word first.
    guests: Vec<Guest>,
    last_worker: u64,
    /// When payload was moved, and how much.
    spent: VecDeque<(Nanos, Bytes)>,
    refusals: VecDeque<String>,
    /// Why this host is not put under test, whatever its policy says.
    no_tests: Option<String>,
    confinement: BTreeMap<String, Fact>,
    /// Seconds since 1970, for the hours of the policy alone.
    wall_clock_s: u64,
    actions: Vec<Action>,
}

impl Agent {
    /// An agent without connections.
    pub const fn new(setup: Setup, roster: Roster) -> Self {
        Self {
            setup,
            roster,
            tried: Vec::new(),
            connections: BTreeMap::new(),
            queue: VecDeque::new(),
            jobs: BTreeMap::new(),
            guests: Vec::new(),
            last_worker: 0,
            spent: VecDeque::new(),
            refusals: VecDeque::new(),
            no_tests: None,
            confinement: BTreeMap::new(),
            wall_clock_s: 0,
            actions: Vec::new(),
        }
    }

    /// From now on these are known and invited. What was tried here counts, whether it could be kept or not.
    pub fn set_roster(&mut self, roster: Roster) {
        self.roster = roster;
        let kept = &self.roster.invites;
        self.tried.retain(|known| kept.iter().any(|open| open.secret == known.secret));
        self.hold_to_tries();
    }

    /// Whether links are emulated from now on.
    pub fn set_emulation(&mut self, offer: Offer) {
        self.setup.emulation = offer;
    }

    /// From now on this host is not put under test, for this reason.
    pub fn refuse_tests(&mut self, reason: String) {
        self.no_tests = Some(reason);
    }

    /// What bounds the process that drives this, for whoever asks.
    pub fn set_confinement(&mut self, confinement: BTreeMap<String, Fact>) {
        self.confinement = confinement;
    }

    /// What the wall clock says. It decides whether the hours of the policy hold, and nothing else:
    /// it may step, and every deadline is a time on the monotonic clock.
    pub const fn set_wall_clock(&mut self, unix_s: u64) {
        self.wall_clock_s = unix_s;
    }

    /// Takes what happened and says what to do.
    pub fn on(&mut self, now: Nanos, event: Event) -> Vec<Action> {
        self.guests.retain(|guest| guest.until > now);
        match event {
            Event::Accepted { conn, from } => self.accepted(now, conn, from),
            Event::Local { conn } => self.local(now, conn),
            Event::Secured { conn, peer, binding } => self.secured(now, conn, peer, binding),
            Event::Heard { conn, request } => self.heard(now, conn, request),
            Event::Kept { joiner, kept } => self.kept(now, joiner, kept),
            Event::Garbage { conn, reason } => self.garbage(now, conn, &reason),
            Event::Lost { conn } => self.lost(now, conn, "the connection is gone"),
            Event::Answered { worker, answer } => self.answered(now, worker, answer),
            Event::Piece { worker, chunk } => self.piece(now, worker, chunk),
            Event::Settled { moved_bytes } => self.spend(now, moved_bytes),
            Event::Ended { worker, how } => self.worker_ended(now, worker, &how),
            Event::Tick => {}
        }
        self.close_servers(now);
        self.expire(now);
        self.remind(now);
        std::mem::take(&mut self.actions)
    }

    /// When [`Event::Tick`] is due; `None` where nothing can happen by time alone.
    pub fn wake_at(&self) -> Option<Nanos> {
        let deadlines = self.connections.values().map(|one| self.deadline(one));
        let reminders = self.queue.iter().filter_map(|conn| self.connections[conn].reminder());
        deadlines.chain(reminders).min()
    }

    /// Workers that were started and neither ended nor were killed.
    pub fn workers(&self) -> impl Iterator<Item = WorkerId> {
        self.jobs.keys().copied()
    }

    /// The connection of the conductor that a worker works for.
    pub fn conductor(&self, worker: WorkerId) -> Option<ConnId> {
        self.jobs.get(&worker).map(|job| job.conn)
    }

    /// Connections that were not closed.
    pub fn connections(&self) -> usize {
        self.connections.len()
    }

    /// What a message means in the phase of its connection.
    fn heard(&mut self, now: Nanos, conn: ConnId, request: Request) {
        let Some(found) = self.connections.get_mut(&conn) else { return };
        found.heard = now;
        match (&found.phase, request) {
            (Phase::Greeting, Request::Hello { major, build, .. }) => {
                self.hello(now, conn, major, &build);
            }
            (Phase::Joining, Request::Join { proof, name }) => self.join(now, conn, &proof, &name),
            (Phase::Local, request) => self.command(now, conn, &request),
            (Phase::Securing | Phase::Greeting | Phase::Joining, _) => {
                self.bye(now, conn, "not now: a greeting comes first");
            }
            (_, Request::Ping {}) => self.pinged(now, conn),
            (Phase::Idle, Request::Vouch { guest, for_ns }) => {
                self.vouch(now, conn, &guest, for_ns);
            }
            (Phase::Idle, Request::Reserve(wanted)) => self.reserve(now, conn, wanted),
            (_, request @ (Request::Status {} | Request::StopAll {} | Request::Resume {})) => {
                self.command(now, conn, &request);
            }
            (Phase::Working { worker }, request) => {
                let worker = *worker;
                self.work(now, conn, worker, request);
            }
            (_, _) => self.garbage(now, conn, "not now: no reservation"),
        }
    }

    fn send(&mut self, conn: ConnId, answer: Answer) {
        self.actions.push(Action::Send { conn, answer });
    }

    /// Last words on a connection, and the end of all that was done for it.
    fn bye(&mut self, now: Nanos, conn: ConnId, reason: &str) {
        self.send(conn, Answer::Bye { reason: reason.to_owned() });
        self.actions.push(Action::Close { conn });
        self.lost(now, conn, reason);
    }

    /// Whatever depended on a connection ends with it.
    fn lost(&mut self, now: Nanos, conn: ConnId, reason: &str) {
        let Some(gone) = self.connections.remove(&conn) else { return };
        self.queue.retain(|waiting| *waiting != conn);
        if let Phase::Working { worker } = gone.phase {
            self.close_job(now, worker);
            self.audit("ended", Some(&gone), reason);
        }
        self.advance(now);
    }

    fn audit(&mut self, event: &'static str, about: Option<&Connection>, detail: &str) {
        let detail = detail.chars().take(LONGEST_DETAIL).collect();
        let peer = about.and_then(|one| one.peer_name(&self.roster));
        let from = about.and_then(|one| one.from);
        self.actions.push(Action::Audit(Entry { event, peer, from, detail }));
    }
}

/// Of what the audit log says of one event.
const LONGEST_DETAIL: usize = 600;
