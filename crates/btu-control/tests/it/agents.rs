//! One agent and its conductors in virtual time: messages late, twice or never, parties that lie,
//! hang, die and come back. Whatever happens, everything ends, and nothing outlives its lease.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::net::IpAddr;

use btu_control::HostId;
use btu_control::Identity;
use btu_control::agent::Action;
use btu_control::agent::Agent;
use btu_control::agent::ConnId;
use btu_control::agent::Event;
use btu_control::agent::Measured;
use btu_control::agent::Peer;
use btu_control::agent::Roster;
use btu_control::agent::Setup;
use btu_control::agent::WorkerId;
use btu_control::client::Client;
use btu_control::client::ClientAction;
use btu_control::client::ClientEvent;
use btu_control::frame::Chunk;
use btu_control::invite::OpenInvite;
use btu_control::invite::Rights;
use btu_control::invite::Secret;
use btu_control::message::Answer;
use btu_control::message::Carried;
use btu_control::message::Offer;
use btu_control::message::Preparation;
use btu_control::message::Request;
use btu_control::message::Reservation;
use btu_control::message::RunOf;
use btu_control::message::Signing;
use btu_control::message::Which;
use btu_control::policy::Policy;
use btu_control::secret::Hex32;
use btu_core::manifest::RunLabel;
use btu_core::manifest::Statement;
use btu_core::placement::Placement;
use btu_core::role::Role;
use btu_core::run::calls::Calls;
use btu_core::run::cell::Direction;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

use crate::dice::Dice;

/// What arrives somewhere at some time.
enum Delivery {
    AgentLoses { epoch: u64, conn: ConnId },
    ClientLoses { conn: ConnId },
    FromAgent { conn: ConnId, answer: Answer },
    PieceFromAgent { conn: ConnId, chunk: Chunk },
    Restart,
    ToAgent { epoch: u64, conn: ConnId, request: Request },
    WorkerAnswers { epoch: u64, worker: WorkerId, answer: Answer },
    WorkerDies { epoch: u64, worker: WorkerId },
    WorkerPiece { epoch: u64, worker: WorkerId, chunk: Chunk },
}

/// A conductor that reserves, runs a few cells, releases, and tries again a few times when it fails.
struct Conductor {
    own: HostId,
    secret: Option<Secret>,
    conn: ConnId,
    client: Client,
    step: u32,
    seq: u64,
    tries: u32,
    over: bool,
    done: bool,
}

struct World {
    dice: Dice,
    now: Nanos,
    agent: Agent,
    id: HostId,
    roster: Roster,
    policy: Policy,
    measured: Measured,
    /// How many times the agent was started.
    epoch: u64,
    conductors: Vec<Conductor>,
    pending: BTreeMap<(Nanos, u64), Delivery>,
    order: u64,
    /// Connections where a message can be lost without a sign.
    deaf: BTreeSet<ConnId>,
    last_sent: BTreeMap<(ConnId, bool), Nanos>,
    running: BTreeSet<WorkerId>,
    prepared: BTreeSet<(u64, WorkerId, u64, u32)>,
    last_conn: u64,
    faults: bool,
}

fn from() -> IpAddr {
    IpAddr::from([10, 0, 0, 1])
}

pub(crate) fn peer(id: HostId) -> Peer {
    let (name, added) = ("peer".to_owned(), String::new());
    Peer { id: id.to_string(), name, rights: Rights::Runner, added }
}

/// Identities are costly; a handful serve all schedules.
struct Cast {
    agent: HostId,
    known: [HostId; 2],
    joins: HostId,
    secret: Secret,
}

impl Cast {
    fn new() -> Self {
        let id = || Identity::ephemeral().unwrap().id();
        Self { agent: id(), known: [id(), id()], joins: id(), secret: Secret::random().unwrap() }
    }
}

impl World {
    fn new(cast: &Cast, seed: u64, faults: bool) -> Self {
        let mut dice = Dice::new(seed);
        let invite = OpenInvite {
            secret: cast.secret,
            rights: Rights::Runner,
            expires_unix_s: u64::MAX,
            tries: 5,
        };
        let peers = cast.known.iter().map(|id| (*id, peer(*id))).collect();
        let roster = Roster { peers, invites: vec![invite] };
        let shared = 1 + u32::try_from(dice.below(2)).unwrap();
        let policy = Policy { shared, ..Policy::default() };
        let agent = Agent::new(setup(cast.agent, &policy), roster.clone());
        let mut world = Self {
            dice,
            now: Nanos::from_secs(1),
            agent,
            id: cast.agent,
            roster,
            policy,
            measured: Measured::default(),
            epoch: 0,
            conductors: Vec::new(),
            pending: BTreeMap::new(),
            order: 0,
            deaf: BTreeSet::new(),
            last_sent: BTreeMap::new(),
            running: BTreeSet::new(),
            prepared: BTreeSet::new(),
            last_conn: 0,
            faults,
        };
        let parties =
            [(cast.known[0], None), (cast.known[1], None), (cast.joins, Some(cast.secret))];
        for (own, secret) in parties {
            let conn = ConnId(0);
            let client = Client::new(cast.agent, None, String::new(), world.now);
            let [over, done] = [true, false];
            let new =
                Conductor { own, secret, conn, client, step: 0, seq: 0, tries: 0, over, done };
            world.conductors.push(new);
            let index = world.conductors.len() - 1;
            world.connect(index);
        }
        if world.faults && world.dice.once_in(3) {
            let at = Nanos::from_millis(world.dice.below(20_000));
            world.schedule(at, Delivery::Restart);
        }
        world
    }

    fn schedule(&mut self, after: Nanos, delivery: Delivery) {
        self.order += 1;
        self.pending.insert((self.now.saturating_add(after), self.order), delivery);
    }

    /// A message of a connection: in order, late, and in a bad world lost, doubled or cut off.
    fn carry(&mut self, conn: ConnId, to_agent: bool, make: impl Fn() -> Delivery) {
        if self.deaf.contains(&conn) {
            return;
        }
        if self.faults && self.dice.once_in(150) {
            // A silent cut: nothing arrives any more, and nobody is told.
            self.deaf.insert(conn);
            return;
        }
        if self.faults && self.dice.once_in(150) {
            let (after, epoch) = (Nanos::from_millis(self.dice.below(1000)), self.epoch);
            self.schedule(after, Delivery::AgentLoses { epoch, conn });
            self.schedule(after, Delivery::ClientLoses { conn });
        }
        let slow = if self.faults && self.dice.once_in(30) { 30_000 } else { 5 };
        let travel = Nanos::from_micros(50 + self.dice.below(slow * 1000));
        let last = self.last_sent.get(&(conn, to_agent)).copied().unwrap_or(Nanos::ZERO);
        let at = self.now.saturating_add(travel).max(last);
        self.last_sent.insert((conn, to_agent), at);
        let copies = if self.faults && self.dice.once_in(25) { 2 } else { 1 };
        for _ in 0..copies {
            self.schedule(at.since(self.now), make());
        }
    }

    fn connect(&mut self, index: usize) {
        self.last_conn += 1;
        let conn = ConnId(self.last_conn);
        let one = &mut self.conductors[index];
        let join = one.secret.map(|secret| (secret, "late".to_owned()));
        one.client = Client::new(self.id, join, "1".to_owned(), self.now);
        (one.conn, one.step, one.seq, one.over) = (conn, 0, 0, false);
        one.tries += 1;
        let own = one.own;
        self.happens(Event::Accepted { conn, from: from() });
        if self.faults && self.dice.once_in(40) {
            self.deaf.insert(conn);
            return;
        }
        let binding = [u8::try_from(conn.0 % 251).unwrap(); 32];
        self.happens(Event::Secured { conn, peer: own, binding });
        self.told(index, ClientEvent::Secured { agent: self.id, binding });
    }

    fn happens(&mut self, event: Event) {
        let actions = self.agent.on(self.now, event);
        for action in actions {
            self.perform(action);
        }
        self.check();
    }

    fn perform(&mut self, action: Action) {
        let epoch = self.epoch;
        match action {
            Action::Send { conn, answer } => {
                let answer = self.maybe_a_lie(answer);
                self.carry(conn, false, || Delivery::FromAgent { conn, answer: answer.clone() });
            }
            Action::Pass { conn, chunk } => {
                self.carry(conn, false, || Delivery::PieceFromAgent { conn, chunk: chunk.clone() });
            }
            Action::Close { conn } => {
                self.carry(conn, false, || Delivery::ClientLoses { conn });
            }
            Action::Start { worker, .. } => {
                assert!(self.running.insert(worker));
                if self.faults && self.dice.once_in(40) {
                    let after = Nanos::from_millis(self.dice.below(5000));
                    self.schedule(after, Delivery::WorkerDies { epoch, worker });
                }
            }
            Action::Kill { worker } => {
                assert!(self.running.remove(&worker), "killed twice");
            }
            Action::Order { worker, request } => self.order(worker, &request),
            Action::KeepPeer(joiner) => {
                self.roster.peers.insert(joiner.id, peer(joiner.id));
                self.roster.invites.clone_from(&joiner.left);
                self.happens(Event::Kept { joiner, kept: Ok(()) });
            }
            Action::KeepInvites(left) => self.roster.invites = left,
            Action::KeepAccount(account) => self.measured.keep(&account),
            Action::Sign { worker, seq, statement: signed } => {
                assert_eq!(signed, statement(), "only what was accounted for is signed");
                let [key, signature] = ["00", "11"].map(str::to_owned);
                let answer = Answer::Signed { seq, key, signature };
                self.happens(Event::Answered { worker, answer });
            }
            Action::Audit(_) | Action::KeepStopped(_) => {}
        }
    }

    /// In a bad world an agent may say what is not so.
    fn maybe_a_lie(&mut self, answer: Answer) -> Answer {
        if !self.faults || !self.dice.once_in(150) {
            return answer;
        }
        let seq = self.dice.below(9);
        match self.dice.below(4) {
            0 => Answer::Document {
                seq,
                length: self.dice.below(1 << 30),
                moved_bytes: Bytes::new(u64::MAX),
                account: None,
            },
            1 => Answer::Prepared { which: Which::default(), addresses: Vec::new() },
            2 => Answer::Stale { seq },
            _ => Answer::Queued { position: u32::MAX },
        }
    }

    /// A worker does what it is told after a while; in a bad world it may never answer.
    fn order(&mut self, worker: WorkerId, request: &Request) {
        assert!(self.running.contains(&worker), "an order for nobody");
        let epoch = self.epoch;
        let seq = request.seq().unwrap();
        let answer = match request {
            Request::Prepare(order) => {
                let run = (epoch, worker, order.which.run, order.which.attempt);
                assert!(self.prepared.insert(run), "a run was prepared twice");
                let addresses = vec![([10, 0, 0, 2], 7000).into(); order.flows.len()];
                Answer::Prepared { which: order.which, addresses }
            }
            Request::Cancel(_) => Answer::Cancelled { seq },
            _ => Answer::Document {
                seq,
                length: 7,
                moved_bytes: Bytes::new(1000),
                account: Some(Hex32::new(HASH)),
            },
        };
        if self.faults && self.dice.once_in(80) {
            return;
        }
        let after = Nanos::from_millis(1 + self.dice.below(200));
        let is_document = matches!(answer, Answer::Document { .. });
        self.schedule(after, Delivery::WorkerAnswers { epoch, worker, answer });
        if is_document {
            let chunk = Chunk { document: seq, offset: 0, bytes: b"account".to_vec() };
            self.schedule(after, Delivery::WorkerPiece { epoch, worker, chunk });
        }
    }

    fn told(&mut self, index: usize, event: ClientEvent) {
        if self.conductors[index].over {
            return;
        }
        for action in self.conductors[index].client.on(self.now, event) {
            match action {
                ClientAction::Send(request) => {
                    let (conn, epoch) = (self.conductors[index].conn, self.epoch);
                    self.carry(conn, true, || Delivery::ToAgent {
                        epoch,
                        conn,
                        request: request.clone(),
                    });
                }
                ClientAction::Kept(_) | ClientAction::Queued(_) | ClientAction::Progress(_) => {}
                ClientAction::Done(reply) => self.go_on(index, &reply.answer),
                ClientAction::Failed(_) => self.failed(index),
            }
        }
    }

    /// The connection is closed here; the agent learns it, if anything still travels.
    fn failed(&mut self, index: usize) {
        let (conn, epoch) = (self.conductors[index].conn, self.epoch);
        self.conductors[index].over = true;
        if !self.deaf.contains(&conn) {
            let after = Nanos::from_millis(self.dice.below(300));
            self.schedule(after, Delivery::AgentLoses { epoch, conn });
        }
        if self.conductors[index].tries < 3 && !self.conductors[index].done {
            self.connect(index);
        }
    }

    /// The next question of a conductor.
    fn go_on(&mut self, index: usize, answer: &Answer) {
        if matches!(answer, Answer::Refused { .. } | Answer::Failed { .. } | Answer::Stale { .. }) {
            return self.failed(index);
        }
        let one = &mut self.conductors[index];
        one.step += 1;
        one.seq += 1;
        let (seq, run) = (one.seq, u64::from(one.step / 2));
        let which = Which { run, attempt: 1, seq };
        let request = match one.step {
            1 => Request::Reserve(reservation()),
            2 => Request::Facts { seq },
            3 | 5 => {
                let of = Some(run_of(run));
                Request::Prepare(Box::new(Preparation { of, ..preparation(which) }))
            }
            4 | 6 => Request::Collect(Which { run: run - 1, ..which }),
            7 => {
                let runs = vec![(1, 1, 1), (2, 1, 1)];
                Request::Sign(Box::new(Signing { seq, role: Role::Active, seed: SEED, runs }))
            }
            8 => Request::Release { seq },
            _ => {
                one.done = true;
                return self.failed(index);
            }
        };
        let patience = Nanos::from_secs(30);
        self.told(index, ClientEvent::Ask { request, patience, longest: None });
    }

    fn deliver(&mut self, delivery: Delivery) {
        let now_epoch = self.epoch;
        let index_of =
            |world: &Self, conn| world.conductors.iter().position(|one| one.conn == conn);
        match delivery {
            Delivery::ToAgent { epoch, conn, request } if epoch == now_epoch => {
                self.happens(Event::Heard { conn, request });
            }
            Delivery::AgentLoses { epoch, conn } if epoch == now_epoch => {
                self.happens(Event::Lost { conn });
            }
            Delivery::WorkerAnswers { epoch, worker, answer } if epoch == now_epoch => {
                self.happens(Event::Answered { worker, answer });
            }
            Delivery::WorkerPiece { epoch, worker, chunk } if epoch == now_epoch => {
                self.happens(Event::Piece { worker, chunk });
            }
            Delivery::WorkerDies { epoch, worker }
                if epoch == now_epoch && self.running.contains(&worker) =>
            {
                self.happens(Event::Ended { worker, how: "signal: 9".to_owned() });
            }
            Delivery::FromAgent { conn, answer } => {
                if let Some(index) = index_of(self, conn) {
                    self.told(index, ClientEvent::Heard(answer));
                }
            }
            Delivery::PieceFromAgent { conn, chunk } => {
                if let Some(index) = index_of(self, conn) {
                    self.told(index, ClientEvent::Piece(chunk));
                }
            }
            Delivery::ClientLoses { conn } => {
                if let Some(index) = index_of(self, conn) {
                    self.told(index, ClientEvent::Lost("reset".to_owned()));
                }
            }
            Delivery::Restart => self.restart(),
            _ => {}
        }
    }

    /// The agent dies with its workers and comes back with what it kept.
    fn restart(&mut self) {
        self.epoch += 1;
        self.running.clear();
        let setup = Setup { measured: self.measured.clone(), ..setup(self.id, &self.policy) };
        self.agent = Agent::new(setup, self.roster.clone());
        let conns: Vec<ConnId> = self.conductors.iter().map(|one| one.conn).collect();
        for conn in conns.into_iter().filter(|conn| !self.deaf.contains(conn)).collect::<Vec<_>>() {
            self.schedule(Nanos::from_millis(1), Delivery::ClientLoses { conn });
        }
    }

    /// What holds at every moment.
    fn check(&self) {
        let same = self.agent.workers().eq(self.running.iter().copied());
        assert!(same, "a worker that nobody works for, or the other way round");
        assert!(self.running.len() <= usize::try_from(self.policy.shared).unwrap());
        let wake = self.agent.wake_at();
        assert_eq!(wake.is_some(), self.agent.connections() > 0, "a state without a deadline");
    }

    /// Runs until nothing can happen any more.
    fn run(&mut self) {
        for _ in 0..20_000 {
            let next = self.pending.keys().next().map(|(at, _)| *at);
            let waiting = self.conductors.iter().filter(|one| !one.over);
            let client = waiting.filter_map(|one| one.client.wake_at()).min();
            let Some(at) = [next, client, self.agent.wake_at()].into_iter().flatten().min() else {
                return;
            };
            assert!(at >= self.now || next != Some(at), "time runs backwards");
            self.now = self.now.max(at);
            if next == Some(at) {
                let (_, delivery) = self.pending.pop_first().unwrap();
                self.deliver(delivery);
                continue;
            }
            self.happens(Event::Tick);
            for index in 0..self.conductors.len() {
                self.told(index, ClientEvent::Tick);
            }
            let after = self.agent.wake_at();
            assert!(
                after.is_none_or(|after| after > self.now),
                "a deadline that does not end anything"
            );
        }
        panic!("it goes on for ever");
    }
}

pub(crate) fn setup(id: HostId, policy: &Policy) -> Setup {
    let emulation = Offer::None("none".to_owned());
    Setup {
        id,
        build: "1".to_owned(),
        policy: policy.clone(),
        emulation,
        stopped: false,
        measured: Measured::default(),
    }
}

pub(crate) fn reservation() -> Reservation {
    Reservation {
        plan: "plan".to_owned(),
        longest_run_ns: Nanos::from_secs(5),
        silence_ns: Nanos::from_secs(5),
        flows: 2,
        activities: Vec::new(),
        emulation: false,
        services: Vec::new(),
        test: false,
    }
}

pub(crate) fn preparation(which: Which) -> Preparation {
    Preparation {
        which,
        role: Role::Active,
        flows: vec![Direction::Send, Direction::Receive],
        message_bytes: Bytes::new(1024),
        calls: Calls::default(),
        placement: Placement::Split,
        first_cpu: 0,
        amount: Carried::WindowNs(Nanos::from_secs(1)),
        cap_ns: Nanos::from_secs(5),
        connect_ns: None,
        lease_ns: Nanos::from_secs(20),
        buffer_bytes: None,
        window_clamp_bytes: None,
        secret: Hex32::new([7; 32]),
        link: None,
        of: None,
        record: false,
    }
}

/// What the account of a run is signed as.
fn run_of(run: u64) -> RunOf {
    let pass = u32::try_from(run).unwrap();
    let label = RunLabel { pass, position: 1, attempt: 1, cell: "SEND/video/none".to_owned() };
    RunOf { seed: SEED, label }
}

/// What an agent has to sign for a conductor that ran two runs.
fn statement() -> String {
    let accounts = [1, 2].map(|run| (run_of(run).label, HASH));
    Statement::over(Role::Active, SEED, &accounts.into()).text()
}

const SEED: u64 = 9;
const HASH: [u8; 32] = [7; 32];

#[test]
fn in_a_good_world_every_conductor_gets_its_turn() {
    let cast = Cast::new();
    for seed in 0..200 {
        let mut world = World::new(&cast, seed, false);
        world.run();
        let done = world.conductors.iter().filter(|one| one.done && one.tries == 1).count();
        assert_eq!(done, 3, "seed {seed}");
        assert_eq!((world.agent.connections(), world.running.len()), (0, 0), "seed {seed}");
        assert!(world.roster.invites.is_empty() && world.roster.peers.len() == 3);
    }
}

#[test]
fn in_a_bad_world_everything_ends_and_nothing_runs_twice() {
    let cast = Cast::new();
    let mut done = 0;
    for seed in 0..10_000 {
        let mut world = World::new(&cast, seed, true);
        world.run();
        assert_eq!((world.agent.connections(), world.running.len()), (0, 0), "seed {seed}");
        assert!(world.conductors.iter().all(|one| one.over), "seed {seed}");
        // Every wait is bounded: three tries of some steps of half a minute, and a lease at the end.
        assert!(world.now < Nanos::from_secs(3600), "seed {seed}: {}", world.now);
        done += world.conductors.iter().filter(|one| one.done).count();
    }
    assert!(
        done > 10_000,
        "a world in which hardly anybody gets anything done tests little: {done}"
    );
}
