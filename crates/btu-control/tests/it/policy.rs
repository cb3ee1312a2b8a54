//! The policy of an agent: every limit at its value, beyond it, at nothing and at absurd values.

use btu_control::HostId;
use btu_control::Identity;
use btu_control::agent::Action;
use btu_control::agent::Agent;
use btu_control::agent::ConnId;
use btu_control::agent::Event;
use btu_control::agent::Measured;
use btu_control::agent::Roster;
use btu_control::agent::Setup;
use btu_control::agent::WorkerId;
use btu_control::message::Answer;
use btu_control::message::LinkOrder;
use btu_control::message::MAJOR;
use btu_control::message::MINOR;
use btu_control::message::Offer;
use btu_control::message::Preparation;
use btu_control::message::Request;
use btu_control::message::Reservation;
use btu_control::message::Which;
use btu_control::policy::Mechanism;
use btu_control::policy::Policy;
use btu_core::sample::CapturePoint;
use btu_core::units::BitRate;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

use crate::agents::peer;
use crate::agents::preparation;

fn policy(text: &str) -> Policy {
    Policy::parse("policy.toml", text).unwrap()
}

fn reservation(longest_s: u64, flows: u32, activities: &[&str]) -> Reservation {
    Reservation {
        plan: String::new(),
        longest_run_ns: Nanos::from_secs(longest_s),
        silence_ns: Nanos::ZERO,
        flows,
        activities: activities.iter().map(|name| (*name).to_owned()).collect(),
        emulation: false,
        services: Vec::new(),
        test: false,
    }
}

#[test]
fn each_limit_holds_at_its_value_and_not_beyond() {
    let text = "[[class]]\nmax_run = \"20s\"\nmax_flows = 2\nactivities = []\nemulation = false\n\
                max_bytes_per_day = \"1MB\"\n";
    let policy = policy(text);
    let grant = &policy.classes[0];
    for (longest_s, flows, allowed) in
        [(20, 2, true), (0, 0, true), (21, 2, false), (20, 3, false), (u64::MAX >> 31, 2, false)]
    {
        let refused = grant.refuses(&reservation(longest_s, flows, &[]));
        assert_eq!(refused.is_none(), allowed, "{longest_s} {flows}: {refused:?}");
    }
    let ftp = grant.refuses(&reservation(1, 1, &["ftp"])).unwrap();
    assert_eq!(ftp, "policy: the activity ftp is not allowed here");
    let order = preparation(Which::default());
    assert_eq!(grant.refuses_run(&order, Bytes::new(999_999)), None);
    let spent = grant.refuses_run(&order, Bytes::new(1_000_000)).unwrap();
    assert!(spent.contains("max_bytes_per_day"), "{spent}");
    let link = Some(LinkOrder { up: Vec::new(), down: Vec::new(), seed: 1 });
    let emulated = Preparation { link, ..order.clone() };
    assert!(grant.refuses_run(&emulated, Bytes::ZERO).unwrap().contains("emulation"));
    // Neither the conductor's word nor the far ends' own end may come later.
    let late = Nanos::from_secs(21);
    let capped = Preparation { cap_ns: late, ..order.clone() };
    for long in [Preparation { lease_ns: late, ..order }, capped] {
        assert!(grant.refuses_run(&long, Bytes::ZERO).unwrap().contains("max_run = 20s"));
    }
}

#[test]
fn a_class_wants_both_the_identity_and_the_network() {
    let [own, other] = [(), ()].map(|()| Identity::ephemeral().unwrap().id());
    let text = format!(
        "[[class]]\npeers = [\"id:{own}\", \"10.0.4.0/24\", \"fd00::/8\"]\nmax_flows = 1\n\
         [[class]]\npeers = [\"127.0.0.1\"]\nmax_flows = 2\n"
    );
    let policy = policy(&text);
    let flows = |peer, from: &str| policy.grant(peer, from.parse().unwrap()).map(|g| g.max_flows);
    assert_eq!(flows(own, "10.0.4.255"), Some(1));
    assert_eq!(flows(own, "::ffff:10.0.4.9"), Some(1));
    assert_eq!(flows(own, "fd00::7"), Some(1));
    assert_eq!(flows(own, "10.0.5.1"), None);
    assert_eq!(flows(other, "10.0.4.9"), None);
    assert_eq!(flows(other, "127.0.0.1"), Some(2));
    assert_eq!(
        Policy::default().grant(other, "192.0.2.1".parse().unwrap()).map(|g| g.max_flows),
        Some(64)
    );
}

#[test]
fn what_is_not_legal_is_named_with_what_is() {
    let cases = [
        ("lissen = []", "policy.toml:1:1: unknown field `lissen`"),
        ("[[class]]\nmax_rum = \"1s\"", "policy.toml:2:1: unknown field `max_rum`"),
        (
            "[[class]]\nmax_rate = 1",
            "policy.toml:2:12: invalid type: integer `1`, expected a string",
        ),
        (
            "[[class]]\nmax_rate = \"1Mb\"",
            "class 1: max_rate = \"1Mb\": unknown unit \"Mb\"; write bit/s",
        ),
        ("[[class]]\nmax_rate = \"9bit/s\"", "class 1: max_rate: write 128kbit/s or more"),
        ("[[class]]\n[[class]]\nhours = \"22-6\"", "class 2: hours = \"22-6\": write two times"),
        ("[[class]]\nmax_run = \"1\"", "max_run = \"1\": \"1\" has no unit"),
        ("shared = 0", "shared = 0: write a number from 1 to 64"),
        ("scratch = \"io\"", "scratch = \"io\": write /var/lib/btu-io"),
        ("on_excess = \"clamp\"", "policy.toml:1:1: unknown field `on_excess`"),
        ("listen = [\"lab\"]", "listen = \"lab\": write an address and a port"),
        ("[[class]]\npeers = [\"lab\"]", "peers = \"lab\": write id:"),
        ("[[class]]\npeers = [\"10.0.0.0/33\"]", "peers = \"10.0.0.0/33\": write id:"),
        ("[[class]]\ndata_ports = [80, 90]", "data_ports = [80, 90]: write [first, last]"),
        ("[[class]]\ndata_ports = [9000, 8000]", "data_ports = [9000, 8000]: write"),
        ("[front]\ndevice = \"eth0\"\naddress = \"x\"", "front.address = \"x\": write 10.0.4.8/24"),
        (
            "[front]\ndevice = \"eth0\"\naddress = \"10.0.4.8/24\"\nmechanism = \"tc\"",
            "front.mechanism = \"tc\": write relay or netem",
        ),
    ];
    for (text, message) in cases {
        let error = Policy::parse("policy.toml", text).unwrap_err().to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
}

#[test]
fn who_owns_an_agent_chooses_what_emulates_its_links() {
    let front = |more: &str| {
        let text = format!("[front]\ndevice = \"eth0\"\naddress = \"10.0.4.8/24\"\n{more}");
        Policy::parse("policy.toml", &text).unwrap().front.unwrap().mechanism
    };
    assert_eq!(front(""), Mechanism::Relay);
    assert_eq!(front("mechanism = \"relay\""), Mechanism::Relay);
    assert_eq!(front("mechanism = \"netem\""), Mechanism::Netem);
}

/// One agent, and one peer of it whose turn it is.
struct Turn {
    agent: Agent,
    now: Nanos,
}

const CONN: ConnId = ConnId(1);
/// 23:00:00 UTC of some day.
const LATE: u64 = 20_000 * 86_400 + 23 * 3600;

impl Turn {
    fn begin(policy: Policy, wall_clock_s: u64, activities: &[&str]) -> (Self, Vec<Action>) {
        let id: HostId = Identity::ephemeral().unwrap().id();
        let emulation = Offer::None(String::new());
        let (build, measured) = ("1".to_owned(), Measured::default());
        let setup = Setup { id, build, policy, emulation, stopped: false, measured };
        let roster = Roster { peers: [(id, peer(id))].into(), invites: Vec::new() };
        let mut turn = Self { agent: Agent::new(setup, roster), now: Nanos::from_secs(1) };
        turn.agent.set_wall_clock(wall_clock_s);
        let granted = turn.reserve(CONN, id, activities);
        (turn, granted)
    }

    fn reserve(&mut self, conn: ConnId, id: HostId, activities: &[&str]) -> Vec<Action> {
        self.on(Event::Accepted { conn, from: [10, 0, 0, 1].into() });
        self.on(Event::Secured { conn, peer: id, binding: [0; 32] });
        let hello = Request::Hello { major: MAJOR, minor: MINOR, build: String::new() };
        self.on(Event::Heard { conn, request: hello });
        let request = Request::Reserve(reservation(1, 2, activities));
        self.on(Event::Heard { conn, request })
    }

    fn on(&mut self, event: Event) -> Vec<Action> {
        self.agent.on(self.now, event)
    }

    fn ask(&mut self, request: Request) -> Vec<Action> {
        self.on(Event::Heard { conn: CONN, request })
    }

    fn prepare(&mut self, run: u64, lease: Nanos) -> Vec<Action> {
        let which = Which { run, attempt: 1, seq: run };
        let order = Preparation { lease_ns: lease, ..preparation(which) };
        self.ask(Request::Prepare(Box::new(order)))
    }
}

/// What an answer refuses, if it does.
fn refusal(actions: &[Action]) -> Option<&str> {
    actions.iter().find_map(|action| match action {
        Action::Send {
            answer: Answer::Refused { reason } | Answer::Failed { reason, .. }, ..
        } => Some(reason.as_str()),
        _ => None,
    })
}

#[test]
fn outside_of_its_hours_an_agent_does_nothing() {
    let night = || policy("[[class]]\nhours = \"22:00-06:00\"\n");
    let (_, refused) = Turn::begin(night(), LATE - 2 * 3600, &[]);
    assert!(refusal(&refused).unwrap().contains("hours = \"22:00-06:00\" (UTC)"), "{refused:?}");
    let (mut turn, granted) = Turn::begin(night(), LATE, &[]);
    assert_eq!(refusal(&granted), None);
    // The hours end at 06:00: a run that would go on longer does not begin.
    turn.agent.set_wall_clock(LATE + 7 * 3600 - 20);
    assert!(refusal(&turn.prepare(1, Nanos::from_secs(21))).unwrap().contains("hours"));
    assert_eq!(refusal(&turn.prepare(2, Nanos::from_secs(20))), None);
}

/// The far ends go on until their cap, whatever the lease says, and connections come one after the other.
#[test]
fn a_run_leaves_the_hours_neither_by_its_cap_nor_by_its_connections() {
    let night = policy("[[class]]\nhours = \"22:00-06:00\"\n");
    let (mut turn, _) = Turn::begin(night, LATE, &[]);
    turn.agent.set_wall_clock(LATE + 7 * 3600 - 20);
    let order = |run, cap| Preparation {
        lease_ns: Nanos::from_secs(1),
        cap_ns: Nanos::from_secs(cap),
        connect_ns: Some(Nanos::from_secs(2)),
        ..preparation(Which { run, attempt: 1, seq: run })
    };
    let prepare = |order| Request::Prepare(Box::new(order));
    assert!(refusal(&turn.ask(prepare(order(1, 19)))).unwrap().contains("hours"));
    assert_eq!(refusal(&turn.ask(prepare(order(2, 18)))), None);
    let last = turn.now.saturating_add(Nanos::from_secs(20 + 3));
    let [local, remote] = [7420, 999].map(|port| ([10, 0, 0, 1], port).into());
    for _connection in 0..30 {
        turn.now = turn.now.saturating_add(Nanos::from_millis(900));
        let which = Which { run: 2, attempt: 1, seq: 2 };
        let answer = Answer::Connected { which, local, remote };
        turn.on(Event::Answered { worker: WorkerId(1), answer });
        assert!(turn.agent.wake_at().unwrap_or_default() <= last, "{}", turn.now);
    }
    assert_eq!(turn.agent.connections(), 0, "it has ended");
}

/// Leases are times on the monotonic clock: the wall clock may go where it wants.
#[test]
fn a_step_of_the_wall_clock_moves_no_deadline() {
    for step_to in [0, LATE - 1, LATE + 10 * 365 * 86_400] {
        let night = policy("[[class]]\nhours = \"22:00-06:00\"\n");
        let (mut turn, _) = Turn::begin(night, LATE, &[]);
        turn.prepare(1, Nanos::from_secs(20));
        let end = turn.agent.wake_at().unwrap();
        assert_eq!(end, turn.now.saturating_add(Nanos::from_secs(23)), "lease and 3 s");
        turn.agent.set_wall_clock(step_to);
        assert_eq!((turn.on(Event::Tick), turn.agent.wake_at()), (Vec::new(), Some(end)));
        turn.now = Nanos::new(end.count() - 1);
        assert_eq!(turn.on(Event::Tick), Vec::new(), "{step_to}");
        turn.now = end;
        let ended = turn.on(Event::Tick);
        assert!(ended.iter().any(|action| matches!(action, Action::Kill { .. })), "{ended:?}");
    }
}

/// The network is cut without a sign: whatever the conductor did before, all traffic has ended by the
/// time that it announced for the run and 3 s.
#[test]
fn the_lease_of_a_run_begins_anew_with_each_of_its_data_connections() {
    let (mut turn, _) = Turn::begin(Policy::default(), LATE, &[]);
    let which = Which { run: 1, attempt: 1, seq: 1 };
    let (connect_ns, lease_ns) = (Some(Nanos::from_secs(15)), Nanos::from_secs(6));
    let order = Preparation { connect_ns, lease_ns, ..preparation(which) };
    turn.ask(Request::Prepare(Box::new(order)));
    let longest = Nanos::from_secs(9);
    let end = |turn: &Turn| turn.agent.wake_at().unwrap().since(turn.now);
    assert_eq!(end(&turn), longest, "to connect takes no longer than the run");
    let [local, remote] = [7420, 999].map(|port| ([10, 0, 0, 1], port).into());
    let connected = |run| {
        let which = Which { run, ..which };
        let answer = Answer::Connected { which, local, remote };
        Event::Answered { worker: WorkerId(1), answer }
    };
    for _connection in 0..2 {
        turn.now = turn.now.saturating_add(Nanos::from_secs(4));
        assert_eq!(turn.on(connected(1)), Vec::new(), "a word that goes no further");
        assert_eq!(end(&turn), longest);
    }
    turn.now = turn.now.saturating_add(Nanos::from_secs(4));
    turn.on(connected(0));
    assert_eq!(end(&turn), Nanos::from_secs(5), "a connection of another run");
    turn.now = turn.now.saturating_add(Nanos::from_secs(5));
    let ended = turn.on(Event::Tick);
    assert!(ended.iter().any(|action| matches!(action, Action::Kill { .. })), "{ended:?}");
}

#[test]
fn packets_are_recorded_and_handed_over_only_where_the_policy_allows_it() {
    for (text, allowed) in [("[[class]]\ncapture = false\n", false), ("", true)] {
        let (mut turn, _) = Turn::begin(policy(text), LATE, &[]);
        let which = |seq| Which { run: 1, attempt: 1, seq };
        let order = Preparation { record: true, ..preparation(which(1)) };
        let done = turn.ask(Request::Prepare(Box::new(order)));
        let recorded = done.iter().find_map(|action| match action {
            Action::Order { request: Request::Prepare(order), .. } => Some(order.record),
            _ => None,
        });
        assert_eq!(recorded, Some(allowed), "the run is made all the same");
        let addresses = vec![([10, 0, 0, 2], 7420).into(); 2];
        let answer = Answer::Prepared { which: which(1), addresses };
        turn.on(Event::Answered { worker: WorkerId(1), answer });
        let seen_at = CapturePoint::BlackBox;
        let asked = turn.ask(Request::Packets { which: which(2), seen_at });
        if allowed {
            assert!(matches!(asked[..], [Action::Order { .. }]), "{asked:?}");
        } else {
            assert_eq!(refusal(&asked), Some("policy: capture = false"));
        }
    }
}

#[test]
fn what_was_not_reserved_is_not_done() {
    let serve = || Request::Serve { seq: 1, user: "btu".to_owned(), password: "secret".to_owned() };
    let (mut turn, _) = Turn::begin(Policy::default(), LATE, &[]);
    assert_eq!(refusal(&turn.ask(serve())), Some("policy: the activity ftp was not reserved"));
    let (mut turn, _) = Turn::begin(Policy::default(), LATE, &["ftp"]);
    let done = turn.ask(serve());
    assert!(matches!(done[..], [Action::Order { .. }]), "{done:?}");
}

/// It sends without a run that anybody asks for.
#[test]
fn an_ftp_server_ends_with_the_hours_and_does_not_begin_when_the_bytes_are_spent() {
    let serve = |seq| Request::Serve { seq, user: "btu".to_owned(), password: "secret".to_owned() };
    let text = "[[class]]\nhours = \"22:00-06:00\"\nmax_bytes_per_day = \"1kB\"\n";
    let (mut turn, _) = Turn::begin(policy(text), LATE, &["ftp"]);
    let done = turn.ask(serve(1));
    assert!(matches!(done[..], [Action::Order { .. }]), "{done:?}");
    turn.agent.set_wall_clock(LATE + 7 * 3600 - 1);
    assert_eq!(turn.on(Event::Tick), []);
    turn.agent.set_wall_clock(LATE + 7 * 3600);
    let ended = turn.on(Event::Tick);
    let is_bye = |action: &Action| matches!(action, Action::Send { answer: Answer::Bye { reason }, .. } if reason.contains("hours"));
    assert!(ended.iter().any(is_bye), "{ended:?}");
    assert!(ended.contains(&Action::Kill { worker: WorkerId(1) }), "{ended:?}");
    // Without a server the reservation stays; none begins.
    let (mut turn, _) = Turn::begin(policy(text), LATE, &["ftp"]);
    turn.agent.set_wall_clock(LATE + 7 * 3600);
    assert_eq!(turn.on(Event::Tick), []);
    assert!(refusal(&turn.ask(serve(1))).unwrap().contains("hours"));
    let (mut turn, _) = Turn::begin(policy(text), LATE, &["ftp"]);
    let which = Which { run: 1, attempt: 1, seq: 1 };
    turn.ask(Request::Prepare(Box::new(preparation(which))));
    let document = Answer::Failed { seq: 1, reason: String::new() };
    turn.on(Event::Answered { worker: WorkerId(1), answer: document });
    turn.on(Event::Settled { moved_bytes: Bytes::new(1000) });
    assert!(refusal(&turn.ask(serve(2))).unwrap().contains("max_bytes_per_day"));
}

#[test]
fn a_service_is_served_where_a_rate_is_set_too() {
    let wanted = Reservation { services: vec!["pingpong".to_owned()], ..reservation(1, 1, &[]) };
    let refused = |text: &str| policy(text).classes[0].refuses(&wanted);
    assert_eq!(refused("[[class]]\nmax_rate = \"100Mbit/s\"\n"), None);
    assert_eq!(
        refused("[[class]]\nmax_rate = \"100Mbit/s\"\nservices = [\"traffic\"]\n").unwrap(),
        "policy: the service pingpong is not allowed here"
    );
}

/// An FTP server and data connections together send what the policy allows; so does a service, and so do
/// all reservations that share the agent's time.
#[test]
fn a_rate_goes_to_the_workers_in_parts() {
    for (shared, activities, mbit_s) in
        [(1, &[][..], 100), (1, &["ftp"][..], 50), (2, &[][..], 50), (2, &["ftp"][..], 25)]
    {
        let text = format!("shared = {shared}\n[[class]]\nmax_rate = \"100Mbit/s\"\n");
        let (mut turn, mut done) = Turn::begin(policy(&text), LATE, activities);
        let other = Identity::ephemeral().unwrap().id();
        turn.agent.set_roster(Roster { peers: [(other, peer(other))].into(), invites: Vec::new() });
        done.extend(turn.reserve(ConnId(2), other, activities));
        let rates = done.iter().filter_map(|action| match action {
            Action::Start { rate, .. } => *rate,
            _ => None,
        });
        let rates: Vec<BitRate> = rates.collect();
        assert_eq!(rates, vec![BitRate::new(mbit_s * 1_000_000); shared]);
    }
}

/// What people copy has to be read, but for identities, which the page shortens.
#[test]
fn the_policy_of_the_page_is_one() {
    let page = include_str!("../../../../docs/agent.md");
    let after = page.split("## The agent's policy").nth(1).unwrap();
    let example = after.split("```toml").nth(1).and_then(|text| text.split("```").next()).unwrap();
    let refused = Policy::parse("docs/agent.md", example).unwrap_err().to_string();
    assert!(refused.contains("NNNJ-N3N3-..."), "{refused}");
    let whole = example.replace("\"id:NNNJ-N3N3-...\", ", "");
    let policy = Policy::parse("docs/agent.md", &whole);
    assert!(policy.is_ok(), "{policy:?}");
}
