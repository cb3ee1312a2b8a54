//! Services of an agent: told by whoever reserved it, once each, within their lease and the policy.

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
use btu_control::frame::Chunk;
use btu_control::invite::Rights;
use btu_control::message::Answer;
use btu_control::message::MAJOR;
use btu_control::message::MINOR;
use btu_control::message::Offer;
use btu_control::message::Request;
use btu_control::message::Reservation;
use btu_control::message::ServiceOrder;
use btu_control::message::ServiceWord;
use btu_control::message::Which;
use btu_control::policy::Policy;
use btu_control::secret::Hex32;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

use crate::agents::reservation;

pub(crate) fn service(which: Which) -> ServiceOrder {
    ServiceOrder {
        which,
        service: "echo".to_owned(),
        flows: 2,
        lease_ns: Nanos::from_secs(5),
        secret: Hex32::new([9; 32]),
        order: serde_json::json!({ "largest": 65536, "names": ["a", "b"] }),
    }
}

const CONN: ConnId = ConnId(1);
const WORKER: WorkerId = WorkerId(1);

/// An agent, and a conductor that has greeted it.
struct Scene {
    agent: Agent,
    peer: HostId,
    now: Nanos,
}

impl Scene {
    fn new(policy: &str) -> Self {
        let [own, peer] = [(), ()].map(|()| Identity::ephemeral().unwrap().id());
        let setup = Setup {
            id: own,
            build: "1".to_owned(),
            policy: Policy::parse("policy.toml", policy).unwrap(),
            emulation: Offer::None(String::new()),
            stopped: false,
            measured: Measured::default(),
        };
        let peers = [(peer, runner(peer))].into();
        let agent = Agent::new(setup, Roster { peers, invites: Vec::new() });
        let mut scene = Self { agent, peer, now: Nanos::from_secs(1) };
        scene.comes(CONN);
        scene
    }

    /// The peer connects and greets.
    fn comes(&mut self, conn: ConnId) -> Vec<Action> {
        self.on(Event::Accepted { conn, from: [10, 0, 0, 1].into() });
        self.on(Event::Secured { conn, peer: self.peer, binding: [0; 32] });
        let request = Request::Hello { major: MAJOR, minor: MINOR, build: "1".to_owned() };
        self.on(Event::Heard { conn, request })
    }

    fn on(&mut self, event: Event) -> Vec<Action> {
        self.agent.on(self.now, event)
    }

    fn says(&mut self, request: Request) -> Vec<Action> {
        self.on(Event::Heard { conn: CONN, request })
    }

    fn reserve(&mut self) -> Vec<Action> {
        let services = vec!["echo".to_owned()];
        self.says(Request::Reserve(Reservation { services, ..reservation() }))
    }

    /// The worker answers the order that it was given last.
    fn answers(&mut self, which: Which, said: u64, moved: u64) -> Vec<Action> {
        let answer = Answer::Said { which, said: said.into(), moved_bytes: Bytes::new(moved) };
        self.on(Event::Answered { worker: WORKER, answer })
    }
}

fn runner(id: HostId) -> Peer {
    let (id, name, added) = (id.to_string(), "host".to_owned(), String::new());
    Peer { id, name, rights: Rights::Runner, added }
}

fn begin(seq: u64) -> Request {
    Request::Service(Box::new(service(Which { run: 1, attempt: 1, seq })))
}

fn word(run: u64, seq: u64, lease: u64) -> Request {
    let which = Which { run, attempt: 1, seq };
    let (lease_ns, word) = (Nanos::from_secs(lease), serde_json::json!({ "size": 8 }));
    Request::Word(Box::new(ServiceWord { which, lease_ns, word }))
}

fn failed(actions: &[Action]) -> Option<&str> {
    actions.iter().find_map(|action| match action {
        Action::Send {
            answer: Answer::Failed { reason, .. } | Answer::Refused { reason }, ..
        } => Some(reason.as_str()),
        _ => None,
    })
}

fn ordered(actions: &[Action]) -> usize {
    actions.iter().filter(|action| matches!(action, Action::Order { .. })).count()
}

#[test]
fn a_word_is_told_once_and_answered_as_often_as_it_is_asked() {
    let mut scene = Scene::new("");
    assert!(scene.reserve().iter().any(|action| matches!(action, Action::Start { .. })));
    assert_eq!(ordered(&scene.says(begin(1))), 1);
    assert_eq!(ordered(&scene.says(begin(1))), 0, "it is being done");
    let which = Which { run: 1, attempt: 1, seq: 1 };
    scene.answers(which, 7, 0);
    assert_eq!(ordered(&scene.says(word(1, 2, 5))), 1);
    let second = Which { seq: 2, ..which };
    assert_eq!(scene.answers(second, 8, 10).len(), 1);
    let again = scene.says(word(1, 2, 5));
    let said = Answer::Said { which: second, said: 8.into(), moved_bytes: Bytes::new(10) };
    assert_eq!(again, [Action::Send { conn: CONN, answer: said }]);
    let old = scene.says(word(0, 3, 5));
    assert_eq!(old, [Action::Send { conn: CONN, answer: Answer::Stale { seq: 3 } }]);
}

#[test]
fn no_service_outlives_the_lease_of_its_last_word() {
    let mut scene = Scene::new("");
    scene.reserve();
    scene.says(begin(1));
    scene.answers(Which { run: 1, attempt: 1, seq: 1 }, 0, 0);
    scene.says(word(1, 2, 100));
    scene.answers(Which { run: 1, attempt: 1, seq: 2 }, 0, 0);
    let killed = |actions: Vec<Action>| actions.contains(&Action::Kill { worker: WORKER });
    scene.now = Nanos::from_secs(1 + 100);
    assert!(!killed(scene.on(Event::Tick)));
    scene.now = Nanos::from_secs(1 + 100 + 3);
    assert!(killed(scene.on(Event::Tick)));
}

/// What asks for facts, or is refused, is a word of the conductor, too: but none that the policy was asked
/// for, and none that the service ends with.
#[test]
fn no_other_command_makes_the_lease_of_a_service_longer() {
    let mut scene = Scene::new("[[class]]\nmax_run = \"100s\"\n");
    scene.reserve();
    scene.says(begin(1));
    let which = |seq| Which { run: 1, attempt: 1, seq };
    scene.answers(which(1), 0, 0);
    scene.says(word(1, 2, 60));
    scene.answers(which(2), 0, 0);
    let end = Nanos::from_secs(1 + 60 + 3);
    assert_eq!(scene.agent.wake_at(), Some(end));
    scene.now = Nanos::from_secs(30);
    assert!(failed(&scene.says(word(1, 3, 101))).unwrap().contains("max_run"));
    assert_eq!(scene.agent.wake_at(), Some(end), "a word that is refused");
    assert_eq!(ordered(&scene.says(Request::Facts { seq: 4 })), 1);
    let facts = Answer::Document { seq: 4, length: 1, moved_bytes: Bytes::ZERO, account: None };
    scene.on(Event::Answered { worker: WORKER, answer: facts });
    let chunk = Chunk { document: 4, offset: 0, bytes: vec![b'0'] };
    scene.on(Event::Piece { worker: WORKER, chunk });
    assert_eq!(scene.agent.wake_at(), Some(end), "a question for something else");
    // What ends the service may take its time; then there is time to think as before.
    scene.now = Nanos::from_secs(60);
    scene.says(Request::Cancel(which(5)));
    assert_eq!(scene.agent.wake_at(), Some(Nanos::from_secs(60 + 60)));
    scene.on(Event::Answered { worker: WORKER, answer: Answer::Cancelled { seq: 5 } });
    assert!(scene.agent.wake_at() > Some(Nanos::from_secs(60 + 60)));
}

#[test]
fn the_policy_names_services_and_bounds_them() {
    let mut none = Scene::new("[[class]]\nservices = [\"other\"]\n");
    let refused = none.reserve();
    assert_eq!(failed(&refused), Some("policy: the service echo is not allowed here"));

    let mut other = Scene::new("");
    other.says(Request::Reserve(reservation()));
    let refused = other.says(begin(1));
    assert_eq!(failed(&refused), Some("policy: the service echo was not reserved"));

    let mut few =
        Scene::new("[[class]]\nmax_flows = 2\nmax_run = \"60s\"\nmax_bytes_per_day = \"1kB\"\n");
    few.reserve();
    let many = ServiceOrder { flows: 3, ..service(Which { run: 1, attempt: 1, seq: 1 }) };
    let refused = few.says(Request::Service(Box::new(many)));
    assert_eq!(failed(&refused), Some("policy: 3 flows asked for, max_flows = 2"));
    assert_eq!(ordered(&few.says(begin(2))), 1);
    few.answers(Which { run: 1, attempt: 1, seq: 2 }, 0, 999);
    let refused = few.says(word(1, 3, 61));
    assert!(failed(&refused).unwrap().contains("max_run = 60s"), "{refused:?}");
    assert_eq!(ordered(&few.says(word(1, 4, 60))), 1);
    few.answers(Which { run: 1, attempt: 1, seq: 4 }, 0, 1);
    let refused = few.says(word(1, 5, 1));
    let spent = format!("policy: max_bytes_per_day = {} is spent", Bytes::new(1000));
    assert_eq!(failed(&refused), Some(spent.as_str()));
}

#[test]
fn payload_counts_for_a_day_however_often_it_is_told() {
    let mut scene = Scene::new("[[class]]\nmax_run = \"60s\"\nmax_bytes_per_day = \"1kB\"\n");
    scene.reserve();
    scene.says(begin(1));
    scene.answers(Which { run: 1, attempt: 1, seq: 1 }, 0, 0);
    for seq in 2..=101 {
        scene.now = scene.now.saturating_add(Nanos::from_secs(1));
        assert_eq!(ordered(&scene.says(word(1, seq, 60))), 1, "{seq}");
        scene.answers(Which { run: 1, attempt: 1, seq }, 0, 10);
    }
    let refused = scene.says(word(1, 102, 1));
    assert!(failed(&refused).unwrap().contains("is spent"), "{refused:?}");
    // The first tenth of it is a day old, but not all that was told beside it.
    for (seconds, is_spent) in [(86_400, true), (86_400 + 102, false)] {
        scene.now = Nanos::from_secs(1 + seconds);
        scene.on(Event::Tick);
        scene.comes(CONN);
        scene.reserve();
        let begun = scene.says(begin(1));
        assert_eq!(failed(&begun).is_some(), is_spent, "{begun:?}");
    }
}

#[test]
fn one_peer_does_not_take_the_connections_of_all_others() {
    let mut scene = Scene::new("");
    let is_bye = |actions: &[Action]| {
        let bye = |action: &Action| {
            matches!(action, Action::Send { answer: Answer::Bye { reason }, .. }
                if reason == "16 connections of yours are open already")
        };
        actions.iter().any(bye)
    };
    for conn in 2..=16 {
        assert!(!is_bye(&scene.comes(ConnId(conn))), "{conn}");
    }
    assert!(is_bye(&scene.comes(ConnId(17))));
    scene.on(Event::Lost { conn: ConnId(5) });
    assert!(!is_bye(&scene.comes(ConnId(18))));
    assert_eq!(scene.agent.connections(), 16);
}
