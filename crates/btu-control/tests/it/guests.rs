//! A host under test that is driven from elsewhere: whom black boxes take for a guest and how long,
//! and when a test ends whose conductor says nothing any more.

use btu_control::HostId;
use btu_control::Identity;
use btu_control::agent::Action;
use btu_control::agent::Agent;
use btu_control::agent::ConnId;
use btu_control::agent::Event;
use btu_control::agent::Roster;
use btu_control::client::Fault;
use btu_control::frame::Chunk;
use btu_control::message::Answer;
use btu_control::message::BlackBox;
use btu_control::message::Limits;
use btu_control::message::MAJOR;
use btu_control::message::MINOR;
use btu_control::message::Offer;
use btu_control::message::Request;
use btu_control::message::Reservation;
use btu_control::message::TestOrder;
use btu_control::policy::NO_TEST;
use btu_control::policy::Policy;
use btu_core::role::Role;
use btu_core::units::BitRate;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

use crate::agents::peer;
use crate::agents::reservation;
use crate::agents::setup;

/// An agent with one peer, and a stranger.
struct Scene {
    agent: Agent,
    peer: HostId,
    stranger: HostId,
    last: u64,
}

impl Scene {
    fn new(policy: &Policy) -> Self {
        let [own, known, stranger] = [(), (), ()].map(|()| Identity::ephemeral().unwrap().id());
        let roster = Roster { peers: [(known, peer(known))].into(), invites: Vec::new() };
        Self { agent: Agent::new(setup(own, policy), roster), peer: known, stranger, last: 0 }
    }

    fn connect(&mut self, now: Nanos, who: HostId) -> (ConnId, Vec<Answer>) {
        self.last += 1;
        let conn = ConnId(self.last);
        self.agent.on(now, Event::Accepted { conn, from: [10, 0, 0, 1].into() });
        self.agent.on(now, Event::Secured { conn, peer: who, binding: [0; 32] });
        let hello = Request::Hello { major: MAJOR, minor: MINOR, build: "1".to_owned() };
        (conn, self.ask(now, conn, hello))
    }

    fn ask(&mut self, now: Nanos, conn: ConnId, request: Request) -> Vec<Answer> {
        answers(self.agent.on(now, Event::Heard { conn, request }))
    }

    fn vouch(&mut self, now: Nanos, by: HostId, guest: HostId, seconds: u64) -> Vec<Answer> {
        let (conn, _) = self.connect(now, by);
        let for_ns = Nanos::from_secs(seconds);
        self.ask(now, conn, Request::Vouch { guest: guest.to_string(), for_ns })
    }

    fn is_known(&mut self, now: Nanos, who: HostId) -> bool {
        let answers = self.connect(now, who).1;
        matches!(answers[..], [Answer::Welcome { known: true, .. }])
    }
}

fn answers(actions: Vec<Action>) -> Vec<Answer> {
    let said = |action| if let Action::Send { answer, .. } = action { Some(answer) } else { None };
    actions.into_iter().filter_map(said).collect()
}

fn refused(answers: &[Answer], why: &str) -> bool {
    matches!(answers, [Answer::Refused { reason }] if reason.contains(why))
}

/// Every field of an order.
pub(crate) fn test_order(seq: u64) -> TestOrder {
    let text = |text: &str| text.to_owned();
    TestOrder {
        seq,
        lease_ns: Nanos::from_secs(20),
        plan: text("seed = 7\n"),
        given: Some(text("seed = 7\n")),
        boxes: vec![BlackBox {
            role: Role::Active,
            id: text("K3QF"),
            address: text("10.0.0.2:7411"),
            name: text("lab1"),
        }],
        reconnect_s: 300,
        price: Some(text("2900USD")),
        marks: vec![text("SPECint=76.9")],
        note: None,
        service: Some(text("traffic")),
        limits: None,
        copies: false,
        goes_on: false,
    }
}

/// The order of a run.
fn of_a_run(seq: u64) -> Request {
    Request::Test(Box::new(TestOrder { service: None, ..test_order(seq) }))
}

fn at(seconds: u64) -> Nanos {
    Nanos::from_secs(seconds)
}

#[test]
fn a_guest_is_known_for_as_long_as_a_peer_vouches_for_it() {
    let mut scene = Scene::new(&Policy::default());
    let (peer, guest) = (scene.peer, scene.stranger);
    assert!(!scene.is_known(at(1), guest));
    assert_eq!(scene.vouch(at(2), peer, guest, 100), [Answer::Vouched {}]);
    assert!(scene.is_known(at(3), guest) && scene.is_known(at(101), guest));
    let (conn, _) = scene.connect(at(4), guest);
    let granted = scene.ask(at(4), conn, Request::Reserve(reservation()));
    assert!(granted.iter().any(|one| matches!(one, Answer::Granted { .. })), "{granted:?}");
    assert!(!scene.is_known(at(102), guest), "its time is over");
    // The word can be taken back, too.
    assert_eq!(scene.vouch(at(200), peer, guest, 100), [Answer::Vouched {}]);
    assert_eq!(scene.vouch(at(201), peer, guest, 0), [Answer::Vouched {}]);
    assert!(!scene.is_known(at(202), guest));
}

#[test]
fn a_guest_has_no_guests_and_goes_with_its_host() {
    let mut scene = Scene::new(&Policy::default());
    let (peer, guest) = (scene.peer, scene.stranger);
    assert_eq!(scene.vouch(at(1), peer, guest, 100), [Answer::Vouched {}]);
    let other = Identity::ephemeral().unwrap().id();
    assert!(refused(&scene.vouch(at(2), guest, other, 100), "may not vouch"));
    assert!(!scene.is_known(at(3), other));
    scene.agent.set_roster(Roster::default());
    assert!(!scene.is_known(at(4), guest), "nobody vouches for it any more");
}

/// A conductor that was killed takes no word back: the host that it drove is not locked for others by that.
#[test]
fn two_peers_may_vouch_for_one_host_and_the_word_of_one_does_not_end_that_of_the_other() {
    let mut scene = Scene::new(&Policy::default());
    let other = Identity::ephemeral().unwrap().id();
    let [first, guest] = [scene.peer, scene.stranger];
    let peers = |all: &[HostId]| Roster {
        peers: all.iter().map(|id| (*id, peer(*id))).collect(),
        invites: Vec::new(),
    };
    scene.agent.set_roster(peers(&[first, other]));
    assert_eq!(scene.vouch(at(1), first, guest, 1000), [Answer::Vouched {}]);
    assert_eq!(scene.vouch(at(2), other, guest, 100), [Answer::Vouched {}]);
    // Each takes back its own word alone.
    assert_eq!(scene.vouch(at(3), other, guest, 0), [Answer::Vouched {}]);
    assert!(scene.is_known(at(4), guest));
    assert_eq!(scene.vouch(at(5), other, guest, 100), [Answer::Vouched {}]);
    // The first goes, and its word with it.
    scene.agent.set_roster(peers(&[other]));
    assert!(scene.is_known(at(6), guest) && scene.is_known(at(104), guest));
    assert!(!scene.is_known(at(105), guest));
}

#[test]
fn the_policy_decides_on_guests_and_on_tests() {
    let policy = |text: &str| Policy::parse("p", &format!("[[class]]\n{text}\n")).unwrap();
    let mut scene = Scene::new(&policy("guests = false"));
    let (peer, guest) = (scene.peer, scene.stranger);
    assert!(refused(&scene.vouch(at(1), peer, guest, 100), "policy: guests = false"));
    let test = || Request::Reserve(Reservation { test: true, ..reservation() });
    let shared = Policy { shared: 2, ..policy("test = true") };
    let usual = Policy::default();
    for (policy, why) in [(usual, NO_TEST), (shared, "policy: shared")] {
        let mut scene = Scene::new(&policy);
        let (conn, _) = scene.connect(at(1), scene.peer);
        assert!(refused(&scene.ask(at(1), conn, test()), why), "{why}");
    }
}

/// Its process was killed, and nothing brings it back while the agent runs.
#[test]
fn what_an_agent_lost_it_offers_to_nobody() {
    let mut scene = Scene::new(&Policy::parse("p", "[[class]]\ntest = true\n").unwrap());
    let why = "the bench of this agent has ended";
    scene.agent.refuse_tests(why.to_owned());
    let (conn, _) = scene.connect(at(1), scene.peer);
    let test = Request::Reserve(Reservation { test: true, ..reservation() });
    assert!(refused(&scene.ask(at(1), conn, test), why));
    let gone = Offer::None("the front of this agent has ended".to_owned());
    scene.agent.set_emulation(gone.clone());
    let granted = scene.ask(at(1), conn, Request::Reserve(reservation()));
    assert_eq!(granted, [Answer::Granted { shared: 1, emulation: gone }]);
}

#[test]
fn a_test_ends_when_its_conductor_is_silent_for_longer_than_the_lease() {
    let mut scene = Scene::new(&Policy::parse("p", "[[class]]\ntest = true\n").unwrap());
    let (conn, _) = scene.connect(at(1), scene.peer);
    scene.ask(at(1), conn, Request::Reserve(Reservation { test: true, ..reservation() }));
    let worker = scene.agent.workers().next().unwrap();
    scene.ask(at(2), conn, of_a_run(1));
    let progress = || Answer::Progress {
        seq: 1,
        text: "1/9".to_owned(),
        moved_bytes: Bytes::ZERO,
        kept_bytes: 0,
    };
    for second in [20, 40, 60] {
        let told = scene.agent.on(at(second), Event::Answered { worker, answer: progress() });
        assert_eq!(answers(told), [progress()]);
        assert_eq!(scene.ask(at(second), conn, Request::Ping {}), [Answer::Pong {}]);
    }
    // Its own progress does not make the lease longer: 20 s and 3 more after the last word.
    assert_eq!(
        answers(scene.agent.on(at(80), Event::Answered { worker, answer: progress() })),
        [progress()]
    );
    assert!(!scene.agent.on(at(82), Event::Tick).contains(&Action::Kill { worker }));
    assert!(scene.agent.on(at(83), Event::Tick).contains(&Action::Kill { worker }));
    assert_eq!(scene.agent.workers().count(), 0);
}

#[test]
fn what_a_test_adds_to_its_result_makes_no_step_longer() {
    let (mut scene, conn, _) = tested("", &[]);
    let worker = scene.agent.workers().next().unwrap();
    scene.ask(at(2), conn, of_a_run(1));
    let text = "1/9".to_owned();
    let step = Answer::Progress { seq: 1, text, moved_bytes: Bytes::ZERO, kept_bytes: 99 };
    scene.agent.on(at(3), Event::Answered { worker, answer: step });
    for offset in 0..20 {
        let chunk = Chunk { document: 1, offset, bytes: vec![7] };
        let passed = scene.agent.on(at(3 + offset), Event::Piece { worker, chunk: chunk.clone() });
        assert_eq!(passed, [Action::Pass { conn, chunk }]);
    }
    assert!(!scene.agent.on(at(24), Event::Tick).contains(&Action::Kill { worker }));
    // 20 s and 3 more from the order on: the step was not answered.
    assert!(scene.agent.on(at(25), Event::Tick).contains(&Action::Kill { worker }));
}

/// An agent whose policy says so much beside `test = true`, and a reservation of its time for a test that
/// uses these services.
fn tested(policy: &str, services: &[&str]) -> (Scene, ConnId, Vec<Answer>) {
    let policy = Policy::parse("p", &format!("[[class]]\ntest = true\n{policy}")).unwrap();
    let mut scene = Scene::new(&policy);
    let (conn, _) = scene.connect(at(1), scene.peer);
    let services = services.iter().map(|name| (*name).to_owned()).collect();
    let wanted = Reservation { test: true, services, flows: 4, ..reservation() };
    let answers = scene.ask(at(1), conn, Request::Reserve(wanted));
    (scene, conn, answers)
}

#[test]
fn a_conductor_that_says_much_makes_no_step_of_a_test_longer() {
    let (mut scene, conn, _) = tested("", &[]);
    let worker = scene.agent.workers().next().unwrap();
    scene.ask(at(2), conn, of_a_run(1));
    for second in 3..22 {
        assert_eq!(scene.ask(at(second), conn, Request::Ping {}), [Answer::Pong {}]);
    }
    assert!(!scene.agent.on(at(24), Event::Tick).contains(&Action::Kill { worker }));
    // 20 s and 3 more from the order on: no step was told since.
    assert!(scene.agent.on(at(25), Event::Tick).contains(&Action::Kill { worker }));
}

#[test]
fn what_a_test_may_send_is_said_by_its_own_agent_and_counted() {
    let policy = "max_rate = \"1Gbit/s\"\nmax_flows = 5\nmax_run = \"500s\"\n\
                  max_bytes_per_day = \"1kB\"\n";
    let (mut scene, conn, _) = tested(policy, &["traffic"]);
    let worker = scene.agent.workers().next().unwrap();
    let limits = |spent| Limits {
        max_rate: Some(BitRate::new(1_000_000_000)),
        max_run: at(500),
        max_flows: 5,
        max_bytes_per_day: Bytes::new(1000),
        spent: Bytes::new(spent),
        hours: None,
    };
    let lie = || Limits { max_rate: None, ..limits(0) };
    let order = |seq| TestOrder { limits: Some(lie()), ..test_order(seq) };
    let told = |scene: &mut Scene, seq| {
        let request = Request::Test(Box::new(order(seq)));
        let actions = scene.agent.on(at(2), Event::Heard { conn, request });
        actions.into_iter().find_map(|action| match action {
            Action::Order { request: Request::Test(order), .. } => order.limits,
            _ => None,
        })
    };
    assert_eq!(told(&mut scene, 1), Some(limits(0)));
    let over = Answer::Failed { seq: 1, reason: "over".to_owned() };
    let step = Answer::Progress {
        seq: 1,
        text: "1/2".to_owned(),
        moved_bytes: Bytes::new(600),
        kept_bytes: 0,
    };
    for answer in [step, over] {
        scene.agent.on(at(2), Event::Answered { worker, answer });
    }
    // What a broken test has sent is spent.
    assert_eq!(told(&mut scene, 2), Some(limits(600)));
    let over = Answer::Document { seq: 2, length: 0, moved_bytes: Bytes::new(400), account: None };
    scene.agent.on(at(2), Event::Answered { worker, answer: over });
    let refused = scene.ask(at(2), conn, Request::Test(Box::new(order(3))));
    let spent = "policy: max_bytes_per_day = 1kB is spent";
    assert_eq!(refused, [Answer::Failed { seq: 3, reason: spent.to_owned() }]);
}

#[test]
fn a_test_that_is_broken_off_costs_what_its_process_told_and_its_worst_look_once_more() {
    let (mut scene, conn, _) = tested("max_bytes_per_day = \"1kB\"\n", &["traffic"]);
    let spent = |scene: &mut Scene, conn| {
        let answers = scene.ask(at(2), conn, Request::Status {});
        let [Answer::Status(status)] = &answers[..] else { panic!("{answers:?}") };
        status.bytes_today.count()
    };
    let worker = scene.agent.workers().next().unwrap();
    scene.ask(at(2), conn, Request::Test(Box::new(test_order(1))));
    for moved_bytes in [300, 20].map(Bytes::new) {
        let told = Event::Answered { worker, answer: Answer::Moved { moved_bytes } };
        assert_eq!(scene.agent.on(at(2), told), [], "nobody else hears of it");
    }
    assert_eq!(spent(&mut scene, conn), 320);
    assert!(scene.agent.on(at(2), Event::Lost { conn }).contains(&Action::Kill { worker }));
    // What it had said before it was killed, and the agent had not heard.
    scene.agent.on(at(2), Event::Settled { moved_bytes: Bytes::new(80) });
    let (conn, _) = scene.connect(at(2), scene.peer);
    assert_eq!(spent(&mut scene, conn), 320 + 300 + 80);
}

#[test]
fn a_conductor_is_cut_off_with_the_last_byte_that_its_policy_allows() {
    let (mut scene, conn, _) = tested("max_bytes_per_day = \"1kB\"\n", &["traffic"]);
    let worker = scene.agent.workers().next().unwrap();
    scene.ask(at(2), conn, Request::Test(Box::new(test_order(1))));
    let mut told = |moved_bytes| {
        let moved = Event::Answered { worker, answer: Answer::Moved { moved_bytes } };
        scene.agent.on(at(2), moved)
    };
    assert_eq!(told(Bytes::new(999)), []);
    let ended = told(Bytes::new(1));
    let reason = "policy: max_bytes_per_day = 1kB is spent".to_owned();
    let bye = Action::Send { conn, answer: Answer::Bye { reason: reason.clone() } };
    assert!(ended.contains(&bye) && ended.contains(&Action::Kill { worker }), "{ended:?}");
    assert!(Fault::Bye(reason).is_by_policy());
    assert!(!Fault::Bye("all work was stopped on the agent".to_owned()).is_by_policy());
}

#[test]
fn a_test_hears_that_its_conductor_has_heard_of_a_step_and_of_nothing_else() {
    let (mut scene, conn, _) = tested("", &["traffic"]);
    let worker = scene.agent.workers().next().unwrap();
    scene.ask(at(2), conn, Request::Test(Box::new(test_order(1))));
    let ping = |scene: &mut Scene| {
        let said = scene.agent.on(at(3), Event::Heard { conn, request: Request::Ping {} });
        let go_on = Action::Order { worker, request: Request::Ping {} };
        said.iter().filter(|action| **action == go_on).count()
    };
    assert_eq!(ping(&mut scene), 0, "no step was told");
    let step = Answer::Progress {
        seq: 1,
        text: "1/2".to_owned(),
        moved_bytes: Bytes::ZERO,
        kept_bytes: 0,
    };
    scene.agent.on(at(3), Event::Answered { worker, answer: step });
    assert_eq!((ping(&mut scene), ping(&mut scene)), (1, 0));
}

#[test]
fn a_test_that_ends_costs_what_was_told_and_no_more() {
    let (mut scene, conn, _) = tested("max_bytes_per_day = \"1kB\"\n", &["traffic"]);
    let worker = scene.agent.workers().next().unwrap();
    scene.ask(at(2), conn, Request::Test(Box::new(test_order(1))));
    let over = Answer::Document { seq: 1, length: 0, moved_bytes: Bytes::new(20), account: None };
    for answer in [Answer::Moved { moved_bytes: Bytes::new(300) }, over] {
        scene.agent.on(at(2), Event::Answered { worker, answer });
    }
    scene.ask(at(2), conn, Request::Release { seq: 2 });
    let answers = scene.ask(at(2), conn, Request::Status {});
    assert!(matches!(&answers[..], [Answer::Status(status)] if status.bytes_today.count() == 320));
}

#[test]
fn a_worker_tells_what_it_moves_where_the_policy_bounds_that() {
    for (policy, bounded) in [("", false), ("max_bytes_per_day = \"1kB\"\n", true)] {
        let policy = Policy::parse("p", &format!("[[class]]\n{policy}")).unwrap();
        let mut scene = Scene::new(&policy);
        let (conn, _) = scene.connect(at(1), scene.peer);
        let request = Request::Reserve(reservation());
        let started = scene.agent.on(at(1), Event::Heard { conn, request });
        let is_metered = |action: &Action| match action {
            Action::Start { metered, .. } => Some(*metered),
            _ => None,
        };
        assert_eq!(started.iter().find_map(is_metered), Some(bounded));
    }
}

/// A peer that has its turn, and a guest of it.
fn beside_its_host(scene: &mut Scene) -> (ConnId, ConnId) {
    let (peer, guest) = (scene.peer, scene.stranger);
    assert_eq!(scene.vouch(at(1), peer, guest, 40), [Answer::Vouched {}]);
    (scene.connect(at(1), peer).0, scene.connect(at(1), guest).0)
}

#[test]
fn a_guest_whose_time_is_over_while_it_waits_is_told_so_when_its_turn_comes() {
    let mut scene = Scene::new(&Policy::default());
    let (host, guest) = beside_its_host(&mut scene);
    scene.ask(at(2), host, Request::Reserve(reservation()));
    let waits = scene.ask(at(2), guest, Request::Reserve(reservation()));
    assert_eq!(waits, [Answer::Queued { position: 1 }]);
    let told = scene.ask(at(42), host, Request::Release { seq: 1 });
    let refused =
        |one: &Answer| matches!(one, Answer::Refused { reason } if reason.contains("may not use"));
    assert!(told.iter().any(refused), "{told:?}");
    assert_eq!(scene.agent.workers().count(), 0, "it has no turn");
}

#[test]
fn a_guest_at_work_ends_with_the_word_of_its_host() {
    let mut scene = Scene::new(&Policy::default());
    let (_, guest) = beside_its_host(&mut scene);
    scene.ask(at(2), guest, Request::Reserve(reservation()));
    let worker = scene.agent.workers().next().unwrap();
    let (peer, who) = (scene.peer, scene.stranger);
    assert_eq!(scene.vouch(at(3), peer, who, 0), [Answer::Vouched {}]);
    let request = Request::Facts { seq: 1 };
    let ended = scene.agent.on(at(4), Event::Heard { conn: guest, request });
    assert!(ended.contains(&Action::Kill { worker }), "{ended:?}");
}

#[test]
fn an_order_that_comes_again_starts_no_second_test() {
    let (mut scene, conn, _) = tested("max_rate = \"1Gbit/s\"\n", &["traffic"]);
    let worker = scene.agent.workers().next().unwrap();
    let request = || Request::Test(Box::new(test_order(1)));
    scene.ask(at(2), conn, request());
    assert_eq!(scene.ask(at(3), conn, request()), [], "it is under way");
    let answer = Answer::Document { seq: 1, length: 0, moved_bytes: Bytes::ZERO, account: None };
    scene.agent.on(at(4), Event::Answered { worker, answer });
    let again = scene.agent.on(at(5), Event::Heard { conn, request: request() });
    assert!(!again.iter().any(|one| matches!(one, Action::Order { .. })), "{again:?}");
    assert!(again.contains(&Action::Kill { worker }), "{again:?}");
}

#[test]
fn a_test_that_uses_a_service_is_refused_what_the_service_would_be() {
    for (policy, services, why) in [
        ("services = []", &["traffic"][..], "policy: the service traffic is not allowed here"),
        ("max_flows = 3", &["traffic"], "policy: 4 flows asked for, max_flows = 3"),
    ] {
        let (_, _, answers) = tested(policy, services);
        assert!(refused(&answers, why), "{answers:?}");
    }
    let (mut scene, conn, _) = tested("", &[]);
    let unreserved = scene.ask(at(2), conn, Request::Test(Box::new(test_order(1))));
    let why = "policy: the service traffic was not reserved".to_owned();
    assert_eq!(unreserved, [Answer::Failed { seq: 1, reason: why }]);
}

#[test]
fn every_limit_of_a_test_refuses_the_step_that_goes_beyond_it() {
    let limits = Limits {
        max_rate: None,
        max_run: at(100),
        max_flows: 2,
        max_bytes_per_day: Bytes::new(1000),
        spent: Bytes::new(600),
        hours: Some("09:00-17:00".to_owned()),
    };
    let morning = 9 * 3600;
    let refuses = |lasting, connections, moved, unix_s| {
        limits.refuses(at(lasting), connections, Bytes::new(moved), unix_s)
    };
    assert_eq!(refuses(100, 2, 399, morning), None);
    for (step, word) in [
        (refuses(101, 2, 399, morning), "max_run = 100s"),
        (refuses(100, 3, 399, morning), "max_flows = 2"),
        (refuses(100, 2, 400, morning), "max_bytes_per_day = 1kB is spent"),
        (refuses(100, 2, 399, morning - 1), "hours = \"09:00-17:00\""),
        (refuses(100, 2, 399, 17 * 3600 - 99), "hours = \"09:00-17:00\""),
    ] {
        assert!(step.as_ref().is_some_and(|why| why.contains(word)), "{word}: {step:?}");
    }
}

/// A conductor brings back what it was told, and the agent passes each piece on, once.
#[test]
fn pieces_of_a_result_are_for_the_test_and_for_nobody_without_a_reservation() {
    let (mut scene, conn, _) = tested("", &[]);
    let given = |seq| Request::Given { seq, offset: 0, piece: "00".to_owned() };
    let worker = scene.agent.workers().next().unwrap();
    let mut passed = |seq| {
        let told = scene.agent.on(at(2), Event::Heard { conn, request: given(seq) });
        told.contains(&Action::Order { worker, request: given(seq) })
    };
    assert!(passed(1));
    assert!(!passed(1), "it is passed on already");
    let answer = Answer::Taken { seq: 1 };
    let told = scene.agent.on(at(2), Event::Answered { worker, answer });
    assert!(matches!(answers(told)[..], [Answer::Taken { seq: 1 }]));
    let again = scene.ask(at(2), conn, given(1));
    assert!(matches!(again[..], [Answer::Taken { seq: 1 }]), "it is answered again");
    let (idle, _) = scene.connect(at(3), scene.peer);
    let refused = scene.agent.on(at(3), Event::Heard { conn: idle, request: given(1) });
    assert!(!refused.iter().any(|action| matches!(action, Action::Order { .. })), "{refused:?}");
}
