//! Workers and fronts come and go; what one lost is offered to nobody.

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
use btu_core::placement::Placement;
use btu_core::role::Role;
use btu_core::run::calls::Calls;
use btu_core::run::cell::Direction;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

use super::*;
use crate::agent::StateArgs;
use crate::agent::audit::Audit;
use crate::agent::listener::Listener;
use crate::agent::serve::Parts;
use crate::state::StateDir;
use btu_engine::time::now;

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
        calls: Calls::default(),
        placement: Placement::Split,
        first_cpu: 0,
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
    let peer = [10, 0, 0, 1].into();
    let allowed = Allowed { peer, ports: None, rate: None, longest_cut: LEASE, metered: false };
    server.start_behind(worker, allowed);
    assert_eq!(server.agent.workers().count(), 0, "its reservation goes on");
    let Offer::None(reason) = reserved(&mut server, ConnId(2)) else { panic!("it is offered") };
    assert!(reason.starts_with("the front of this agent has ended ("), "{reason}");
    assert!(reason.ends_with("start the agent there anew"), "{reason}");
    assert_eq!(server.no_emulator(), reason);
}
