//! The loop around the agent's state machine: one thread, every socket without waiting.

mod staff;

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::io;
use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use btu_control::Purpose;
use btu_control::agent::Action;
use btu_control::agent::Agent;
use btu_control::agent::ConnId;
use btu_control::agent::Event;
use btu_control::agent::Joiner;
use btu_control::agent::LEASE_MARGIN;
use btu_control::agent::Roster;
use btu_control::agent::WorkerId;
use btu_control::frame;
use btu_control::frame::Frame;
use btu_control::message::Answer;
use btu_control::message::Bounded;
use btu_control::message::Request;
use btu_core::manifest::hex;
use btu_core::units::Nanos;
use btu_sys::wait::Waiter;
use rustls::ServerConfig;

use self::staff::HeldBack;
use super::audit::Audit;
use super::bench::Bench;
use super::front::Front;
use super::listener::Listener;
use super::start::STOPPED;
use super::workers::Allowed;
use super::workers::Word;
use super::workers::Worker;
use crate::agent::connection::Connection;
use crate::exit::Failure;
use crate::output;
use crate::state::StateDir;
use crate::state::unix_seconds;
use btu_engine::time::now;

/// An agent with its sockets and workers.
pub(super) struct Server {
    agent: Agent,
    listeners: Vec<TcpListener>,
    local: UnixListener,
    config: Arc<ServerConfig>,
    state: StateDir,
    audit: Audit,
    waiter: Waiter,
    connections: BTreeMap<ConnId, Held>,
    workers: BTreeMap<WorkerId, Worker>,
    parts: Parts,
    /// Workers that put this host under test.
    tests: BTreeSet<WorkerId>,
    /// The worker behind the emulator, of one reservation.
    behind: BTreeMap<WorkerId, Worker>,
    /// Whose last run goes through the emulator.
    emulated: BTreeSet<WorkerId>,
    /// Orders that wait for the end of what the other worker of their reservation does.
    held_back: BTreeMap<WorkerId, HeldBack>,
    roster: Roster,
    last_conn: u64,
    served: u64,
    /// After a failed accept: when the next one is tried.
    accept_again: Nanos,
}

/// Processes of the agent that were started while it had its rights.
pub(super) struct Parts {
    /// Where links can be emulated.
    pub(super) front: Option<Front>,
    /// Where tests of this host are started, if its policy allows any.
    pub(super) bench: Option<Bench>,
    /// What records packets on this host's own addresses.
    pub(super) listener: Listener,
}

/// A connection, the address at which it came in, and whose it is.
struct Held {
    connection: Connection,
    address: IpAddr,
    from: IpAddr,
}

impl Server {
    pub(super) fn new(
        agent: Agent,
        (listeners, local): (Vec<TcpListener>, UnixListener),
        parts: Parts,
        config: ServerConfig,
        state: StateDir,
        audit: Audit,
    ) -> Result<Self, Failure> {
        let waiter = Waiter::new().map_err(Failure::environment)?;
        let added = listeners.iter().try_for_each(|listener| waiter.add(listener));
        let added = added.and_then(|()| waiter.add(&local));
        added.and_then(|()| parts.listener.wakes(&waiter)).map_err(Failure::environment)?;
        Ok(Self {
            agent,
            listeners,
            local,
            config: Arc::new(config),
            state,
            audit,
            waiter,
            connections: BTreeMap::new(),
            workers: BTreeMap::new(),
            parts,
            tests: BTreeSet::new(),
            behind: BTreeMap::new(),
            emulated: BTreeSet::new(),
            held_back: BTreeMap::new(),
            roster: Roster::default(),
            last_conn: 0,
            served: 0,
            accept_again: Nanos::ZERO,
        })
    }

    /// Serves until `ended`; returns how many reservations were granted.
    pub(super) fn serve(&mut self, ended: &AtomicBool) -> Result<u64, Failure> {
        while !ended.load(Relaxed) {
            // A signal that comes just before the wait is seen when the wait is over.
            self.waiter.wait(Some(self.patience().count())).map_err(Failure::environment)?;
            self.accept();
            for conn in self.connections.keys().copied().collect::<Vec<_>>() {
                self.pump(conn);
            }
            for worker in self.workers.keys().copied().collect::<Vec<_>>() {
                self.hear(worker, false);
                self.hear(worker, true);
            }
            for event in self.parts.listener.hear() {
                self.happens(event);
            }
            self.give_up_on_ends();
            self.happens(Event::Tick);
            self.flush();
        }
        self.behind.clear();
        self.workers.clear();
        Ok(self.served)
    }

    /// Until the next thing that time alone brings about.
    fn patience(&self) -> Nanos {
        let unsent = self.connections.values().any(|held| held.connection.wants_write());
        let workers = self.workers.values().chain(self.behind.values());
        let unsent = unsent || workers.into_iter().any(Worker::wants_write);
        let unsent = unsent || self.parts.listener.wants_write();
        let due = self.agent.wake_at().into_iter().chain(self.ends_are_awaited_until()).min();
        let due = due.map_or(LONGEST_WAIT, |at| at.since(now()));
        due.min(if unsent { RETRY } else { LONGEST_WAIT })
    }

    fn accept(&mut self) {
        if now() < self.accept_again {
            return;
        }
        for index in 0..self.listeners.len() {
            for _ in 0..MOST_ACCEPTS {
                match self.listeners[index].accept() {
                    Ok((stream, from)) => {
                        let address = stream.local_addr().map_or(from.ip(), |own| own.ip());
                        let connection = Connection::tls(stream, &self.config);
                        let ends = [address, from.ip()];
                        self.enter(connection, ends, |conn| Event::Accepted {
                            conn,
                            from: from.ip(),
                        });
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(_) => self.accept_again = now().saturating_add(ACCEPT_PAUSE),
                }
            }
        }
        while let Ok((stream, _)) = self.local.accept() {
            let nowhere = Ipv4Addr::LOCALHOST.into();
            self.enter(Connection::local(stream), [nowhere; 2], |conn| Event::Local { conn });
        }
    }

    fn enter(
        &mut self,
        connection: io::Result<Connection>,
        [address, from]: [IpAddr; 2],
        event: impl FnOnce(ConnId) -> Event,
    ) {
        let Ok(connection) = connection else { return };
        if self.waiter.add(&connection).is_err() {
            return;
        }
        self.last_conn += 1;
        let conn = ConnId(self.last_conn);
        self.connections.insert(conn, Held { connection, address, from });
        self.happens(event(conn));
    }

    /// What a connection said.
    fn pump(&mut self, conn: ConnId) {
        let Some(held) = self.connections.get_mut(&conn) else { return };
        let said = held.connection.pump();
        if let Some((peer, binding)) = said.secured {
            self.happens(Event::Secured { conn, peer, binding });
        }
        for frame in said.frames {
            let event = match frame {
                Ok(Frame::Message(text)) => match Request::parse(&text) {
                    Ok(request) => Event::Heard { conn, request },
                    Err(error) => Event::Garbage { conn, reason: error.to_string() },
                },
                Ok(Frame::Chunk(_)) => Event::Garbage { conn, reason: "a chunk".to_owned() },
                Err(reason) => Event::Garbage { conn, reason },
            };
            self.learn(&event);
            self.happens(event);
        }
        if said.lost {
            self.happens(Event::Lost { conn });
            self.connections.remove(&conn);
        }
    }

    /// Who joins or greets meets the peers and invitations of this moment.
    fn learn(&mut self, event: &Event) {
        let Event::Heard { request: Request::Hello { .. } | Request::Join { .. }, .. } = event
        else {
            return;
        };
        match self.state.roster() {
            Ok(roster) => {
                self.roster = roster.clone();
                self.agent.set_roster(roster);
            }
            Err(failure) => output::failure(&failure),
        }
    }

    /// What a worker said.
    fn hear(&mut self, id: WorkerId, behind: bool) {
        let workers = if behind { &mut self.behind } else { &mut self.workers };
        let Some(worker) = workers.get_mut(&id) else { return };
        for word in worker.hear() {
            let event = match word {
                Word::Answer(answer) if self.is_nobodys(id, behind, &answer) => {
                    self.ended_elsewhere(id);
                    continue;
                }
                Word::Answer(answer) => match self.parts.listener.answered(id, answer) {
                    Some(answer) => Event::Answered { worker: id, answer },
                    None => continue,
                },
                Word::Piece(chunk) => Event::Piece { worker: id, chunk },
                Word::Ended(how) => Event::Ended { worker: id, how },
            };
            let ended = matches!(event, Event::Ended { .. });
            self.happens(event);
            if ended {
                self.end(id);
            }
        }
    }

    fn happens(&mut self, event: Event) {
        self.agent.set_wall_clock(unix_seconds());
        for action in self.agent.on(now(), event) {
            self.perform(action);
        }
    }

    fn perform(&mut self, action: Action) {
        match action {
            Action::Audit(entry) => self.audit.append(&entry),
            Action::Close { conn } => {
                if let Some(held) = self.connections.get_mut(&conn) {
                    held.connection.close();
                }
            }
            Action::KeepAccount(account) => tell(self.state.keep_account(&account)),
            Action::KeepInvites(left) => {
                let kept = self.state.keep_invites(&self.roster.invites, &left);
                tell(kept);
            }
            Action::KeepPeer(joiner) => {
                let kept = self.keep_peer(&joiner);
                self.happens(Event::Kept { joiner, kept });
            }
            Action::KeepStopped(stopped) => tell(self.state.write(STOPPED, &stopped)),
            Action::Kill { worker } => self.end(worker),
            Action::Order { worker, request } => self.order(worker, &request),
            Action::Pass { conn, chunk } => self.send(conn, &chunk.encode()),
            Action::Send { conn, answer } => self.say(conn, &answer),
            Action::Sign { worker, seq, statement } => {
                let answer = self.signed(seq, &statement);
                self.happens(Event::Answered { worker, answer });
            }
            Action::Start { worker, peer, ports, rate, longest_run, metered, emulation, test } => {
                let longest_cut = longest_run.saturating_add(LEASE_MARGIN);
                let allowed = Allowed { peer, ports, rate, longest_cut, metered };
                if self.start(worker, allowed, test) && emulation {
                    self.start_behind(worker, allowed);
                }
            }
        }
    }

    /// The spent invitation first: it is good once, whatever becomes of the peer.
    fn keep_peer(&self, joiner: &Joiner) -> Result<(), String> {
        let Joiner { id, name, rights, left, .. } = joiner;
        let spent = self.state.keep_invites(&self.roster.invites, left);
        let kept = spent.and_then(|()| self.state.keep_peer(*id, name, *rights));
        kept.map_err(|failure| {
            output::failure(&failure);
            format!("{:#}", failure.cause)
        })
    }

    /// This host's signature over what it measured.
    fn signed(&self, seq: u64, statement: &str) -> Answer {
        match self.state.identity() {
            Ok(identity) => Answer::Signed {
                seq,
                key: hex(&identity.public_key().spki()),
                signature: hex(&identity.sign(Purpose::Measurements, statement.as_bytes())),
            },
            Err(failure) => Answer::Failed { seq, reason: format!("{:#}", failure.cause) },
        }
    }

    fn say(&mut self, conn: ConnId, answer: &Answer) {
        if let Answer::Welcome { known: true, .. } | Answer::Joined {} = answer
            && let Some(held) = self.connections.get_mut(&conn)
        {
            held.connection.trust();
        }
        if let Ok(bytes) = frame::encode(answer) {
            self.send(conn, &bytes);
        }
    }

    fn send(&mut self, conn: ConnId, bytes: &[u8]) {
        if let Some(held) = self.connections.get_mut(&conn) {
            held.connection.send(bytes);
        }
    }

    /// Sends what can be sent; connections that are closed or gone are let go.
    fn flush(&mut self) {
        self.workers.values_mut().chain(self.behind.values_mut()).for_each(Worker::flush);
        self.parts.listener.flush();
        let now = now();
        let gone: Vec<ConnId> = self
            .connections
            .iter_mut()
            .filter_map(|(conn, held)| {
                let alive = held.connection.flush(now) && held.connection.is_open();
                (!alive).then_some(*conn)
            })
            .collect();
        for conn in gone {
            self.connections.remove(&conn);
            self.happens(Event::Lost { conn });
        }
    }
}

/// What cannot be kept is said; the agent goes on with what it knows.
fn tell(kept: Result<(), Failure>) {
    if let Err(failure) = kept {
        output::failure(&failure);
    }
}

const LONGEST_WAIT: Nanos = Nanos::from_secs(1);
/// Where a socket had no room.
const RETRY: Nanos = Nanos::from_millis(5);
/// Without a free descriptor nobody is accepted for a while.
const ACCEPT_PAUSE: Nanos = Nanos::from_secs(1);
const MOST_ACCEPTS: usize = 32;
