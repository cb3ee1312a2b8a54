//! The workers of an agent: started, given orders, ended.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::net::Ipv4Addr;

use btu_control::agent::Event;
use btu_control::agent::WorkerId;
use btu_control::message::Answer;
use btu_control::message::Offer;
use btu_control::message::Request;
use btu_core::units::Nanos;

use super::Server;
use super::now;
use crate::agent::bench::Bench;
use crate::agent::front::Front;
use crate::agent::workers::Allowed;
use crate::agent::workers::Worker;
use crate::output;

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
        self.links.get(&conn).map(|held| held.from)
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
        let moved_bytes = ended.into_iter().map(Worker::settled).fold(0, u64::saturating_add);
        if moved_bytes > 0 {
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
mod tests {
    use std::io::Read;
    use std::os::unix::net::UnixListener;
    use std::os::unix::net::UnixStream;
    use std::path::Path;
    use std::process::Command;

    use btu_control::Identity;
    use btu_control::agent::Action;
    use btu_control::agent::Agent;
    use btu_control::agent::ConnId;
    use btu_control::agent::Measured;
    use btu_control::agent::Peer;
    use btu_control::agent::Roster;
    use btu_control::agent::Setup;
    use btu_control::frame::Frame;
    use btu_control::frame::FrameLimits;
    use btu_control::frame::FrameReader;
    use btu_control::invite::Rights;
    use btu_control::message::Bounded;
    use btu_control::message::Carried;
    use btu_control::message::LinkOrder;
    use btu_control::message::MAJOR;
    use btu_control::message::MINOR;
    use btu_control::message::Preparation;
    use btu_control::message::Reservation;
    use btu_control::message::ServiceOrder;
    use btu_control::message::Which;
    use btu_control::policy::Policy;
    use btu_control::secret::Hex32;
    use btu_control::tls;
    use btu_core::cell::Direction;
    use btu_core::cell::Role;
    use btu_core::units::Bytes;
    use btu_core::units::Nanos;

    use super::*;
    use crate::agent::StateArgs;
    use crate::agent::audit::Audit;
    use crate::agent::listener::Listener;
    use crate::agent::serve::Parts;
    use crate::agent::state::StateDir;

    const ID: WorkerId = WorkerId(7);
    const LEASE: Nanos = Nanos::from_secs(20);

    /// One worker, and its own end of the channel.
    fn worker() -> (BTreeMap<WorkerId, Worker>, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        theirs.set_nonblocking(true).unwrap();
        ([(ID, Worker::of_another(ours).unwrap())].into(), theirs)
    }

    /// What a worker was told.
    fn told(mut channel: &UnixStream) -> Option<Request> {
        let (mut space, mut frames) = ([0; 4096], FrameReader::new(FrameLimits::REQUESTS));
        let count = channel.read(&mut space).ok()?;
        frames.push(&space[..count]);
        match frames.next_frame().unwrap()? {
            Frame::Message(text) => Some(Request::parse(&text).unwrap()),
            Frame::Chunk(chunk) => panic!("a chunk: {chunk:?}"),
        }
    }

    fn prepare(which: Which, link: Option<LinkOrder>) -> Request {
        Request::Prepare(Box::new(Preparation {
            which,
            role: Role::Active,
            flows: vec![Direction::Receive],
            message_bytes: Bytes::new(1024),
            amount: Carried::WindowNs(LEASE),
            cap_ns: LEASE,
            connect_ns: None,
            lease_ns: LEASE,
            buffer_bytes: None,
            window_clamp_bytes: None,
            secret: Hex32::new([7; 32]),
            link,
            of: None,
            record: false,
        }))
    }

    fn service(which: Which) -> Request {
        let (service, secret) = ("traffic".to_owned(), Hex32::new([9; 32]));
        let order = serde_json::Value::Null;
        let order = ServiceOrder { which, service, flows: 2, lease_ns: LEASE, secret, order };
        Request::Service(Box::new(order))
    }

    #[test]
    fn what_begins_on_one_side_of_the_emulator_ends_what_goes_on_on_the_other() {
        let (mut workers, direct) = worker();
        let (mut behind, emulated) = worker();
        let which = |seq| Which { run: seq, attempt: 1, seq };
        let link = || Some(LinkOrder { up: Vec::new(), down: Vec::new(), seed: 1 });
        let mut say = |request: &Request| {
            let awaited = end_elsewhere(request, ID, &mut workers, &mut behind);
            let told = [told(&direct), told(&emulated)];
            assert_eq!(awaited, told != [None, None], "what is told is awaited");
            told
        };
        let cancel = |seq| Some(Request::Cancel(which(seq)));
        assert_eq!(say(&prepare(which(1), link())), [cancel(1), None]);
        assert_eq!(say(&Request::Collect(which(1))), [None, None], "nothing begins");
        assert_eq!(say(&service(which(2))), [None, cancel(2)]);
        assert_eq!(say(&prepare(which(3), None)), [None, cancel(3)]);
    }

    /// An agent that nobody reaches, whose front is this script.
    fn server(folder: &Path, script: &str) -> Server {
        let state = StateDir::open(&StateArgs { state: Some(folder.to_owned()) }).unwrap();
        let identity = state.identity().unwrap();
        let policy = Policy::parse("policy.toml", "[[class]]\ncapture = false\n").unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(folder.join("orders"));
        let front = Some(Front::scripted(command, &folder.join("front.sock")));
        let listener = Listener::start(&policy).unwrap();
        let setup = Setup {
            id: identity.id(),
            build: String::new(),
            policy,
            emulation: Offer::At([10, 0, 0, 9].into()),
            stopped: false,
            measured: Measured::default(),
        };
        let local = UnixListener::bind(folder.join("agent.sock")).unwrap();
        local.set_nonblocking(true).unwrap();
        let config = tls::server_config(&identity).unwrap();
        let audit = Audit::open(folder.join("audit.ndjson"));
        let agent = Agent::new(setup, Roster::default());
        let parts = Parts { front, bench: None, listener };
        Server::new(agent, (Vec::new(), local), parts, config, state, audit).unwrap()
    }

    /// What a front does that carries out whatever it is told.
    const WILLING: &str = r#"while read order; do echo "$order" >> "$0"; echo '{"Ok":null}'; done"#;

    #[test]
    fn no_worker_is_started_behind_the_emulator_for_one_that_did_not_start() {
        let folder = tempfile::tempdir().unwrap();
        let mut server = server(folder.path(), WILLING);
        server.perform(Action::Start {
            worker: ID,
            peer: [10, 0, 0, 1].into(),
            ports: None,
            rate: None,
            longest_run: LEASE,
            metered: false,
            emulation: true,
            // Nothing here can be put under test.
            test: true,
        });
        assert!(server.workers.is_empty() && server.behind.is_empty());
        assert!(!folder.path().join("orders").exists(), "the front was told to start one");
    }

    /// The agent's time is granted to a host that it knows: what it says of its emulator. Nothing of that is performed.
    fn reserved(server: &mut Server, conn: ConnId) -> Offer {
        let id = Identity::ephemeral().unwrap().id();
        let (name, added) = ("peer".to_owned(), String::new());
        let peer = Peer { id: id.to_string(), name, rights: Rights::Runner, added };
        server.agent.set_roster(Roster { peers: [(id, peer)].into(), invites: Vec::new() });
        let reservation = Reservation {
            plan: "plan".to_owned(),
            longest_run_ns: Nanos::from_secs(5),
            silence_ns: Nanos::from_secs(5),
            flows: 2,
            activities: Vec::new(),
            emulation: false,
            services: Vec::new(),
            test: false,
        };
        let hello = Request::Hello { major: MAJOR, minor: MINOR, build: "1".to_owned() };
        let said = [
            Event::Accepted { conn, from: [10, 0, 0, 1].into() },
            Event::Secured { conn, peer: id, binding: [0; 32] },
            Event::Heard { conn, request: hello },
            Event::Heard { conn, request: Request::Reserve(reservation) },
        ];
        let actions = said.into_iter().flat_map(|event| server.agent.on(now(), event));
        let mut granted = actions.filter_map(|action| match action {
            Action::Send { answer: Answer::Granted { emulation, .. }, .. } => Some(emulation),
            _ => None,
        });
        granted.next().expect("a free agent grants its time")
    }

    #[test]
    fn a_front_that_was_killed_is_offered_to_nobody_and_its_reservation_ends() {
        let folder = tempfile::tempdir().unwrap();
        // It ends without an answer to the first order.
        let mut server = server(folder.path(), "read order");
        let at = Offer::At([10, 0, 0, 9].into());
        assert_eq!(reserved(&mut server, ConnId(1)), at);
        let worker = server.agent.workers().next().unwrap();
        let allowed = Allowed { ports: None, rate: None, longest_cut: LEASE, metered: false };
        server.start_behind(worker, allowed);
        assert_eq!(server.agent.workers().count(), 0, "its reservation goes on");
        let Offer::None(reason) = reserved(&mut server, ConnId(2)) else { panic!("it is offered") };
        assert!(reason.starts_with("the front of this agent has ended ("), "{reason}");
        assert!(reason.ends_with("start the agent there anew"), "{reason}");
        assert_eq!(server.no_emulator(), reason);
    }
}
