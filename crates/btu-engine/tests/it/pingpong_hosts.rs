//! A ping-pong whose far end belongs to another host, asked for word by word: the same visits, the
//! same faults, and nothing believed that the other host says.

use btu_core::pingpong::configuration::Configuration;
use btu_core::pingpong::configuration::Mode;
use btu_core::pingpong::configuration::Placement;
use btu_core::pingpong::sample::Ended;
use btu_core::pingpong::sample::Fault;
use btu_core::role::Role;
use btu_core::units::BitRate;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::EngineError;
use btu_engine::comm::Seat;
use btu_engine::pingpong::Opening;
use btu_engine::pingpong::Plant;
use btu_engine::pingpong::Session;
use btu_engine::pingpong::far::FarEnds;
use btu_engine::pingpong::far::Setting;
use btu_engine::pingpong::host::Account;
use btu_engine::pingpong::host::Host;
use btu_engine::pingpong::host::Meeting;
use btu_engine::pingpong::host::Talk;
use btu_engine::pingpong::host::Told;
use btu_engine::pingpong::host::Word;
use btu_engine::pingpong::transport;
use btu_engine::pingpong::transport::Reach;
use btu_engine::pingpong::transport::TRANSPORTS;
use btu_engine::pingpong::transport::Transport;

use crate::pingpong::PLANTS;
use crate::pingpong::assert_within;
use crate::pingpong::complete;
use crate::pingpong::free;
use crate::pingpong::met_by_cap;
use crate::pingpong::named_by_loss;
use crate::pingpong::party;
use crate::pingpong::visit;

/// A host in this process: what is said passes through text, as it would between two of them.
#[derive(Debug)]
struct Honest(FarEnds);

/// A host that answers one kind of word in its own way, and every other as it should.
#[derive(Debug)]
struct Lying {
    honest: Honest,
    lie: fn(&Word) -> Option<Told>,
}

/// A host that is lost as soon as a visit begins.
#[derive(Debug)]
struct Mortal(Honest);

/// A host that is gone with all of its ends once a visit has begun.
#[derive(Debug)]
struct Dying(Option<Honest>);

/// A host to which everything about a visit is said twice, the second time with another size.
#[derive(Debug)]
struct Twice(Honest);

fn seat() -> Seat {
    Seat { secret: [11; 32], run: 2, attempt: 0, flow: 0 }
}

impl Honest {
    fn new() -> Self {
        let party = party(Role::Active);
        Self(FarEnds::new(Setting { party, ports: None, seat: seat(), most: 2, rate: None }))
    }
}

impl Talk for Honest {
    fn say(&mut self, word: &Word, _: Nanos) -> Result<Told, EngineError> {
        let text = serde_json::to_string(word).unwrap();
        let told = self.0.hear(serde_json::from_str(&text).unwrap());
        Ok(serde_json::from_str(&serde_json::to_string(&told).unwrap()).unwrap())
    }

    fn seat(&self) -> Seat {
        seat()
    }

    fn lost(&self) -> Option<String> {
        None
    }
}

impl Talk for Lying {
    fn say(&mut self, word: &Word, within: Nanos) -> Result<Told, EngineError> {
        (self.lie)(word).map_or_else(|| self.honest.say(word, within), Ok)
    }

    fn seat(&self) -> Seat {
        seat()
    }

    fn lost(&self) -> Option<String> {
        None
    }
}

impl Talk for Mortal {
    fn say(&mut self, word: &Word, within: Nanos) -> Result<Told, EngineError> {
        match word {
            Word::Visit { .. } | Word::Over { .. } => {
                Err(EngineError::Refused("agent far: the connection is gone".to_owned()))
            }
            _ => self.0.say(word, within),
        }
    }

    fn seat(&self) -> Seat {
        seat()
    }

    fn lost(&self) -> Option<String> {
        Some("gone".to_owned())
    }
}

impl Talk for Dying {
    fn say(&mut self, word: &Word, within: Nanos) -> Result<Told, EngineError> {
        let gone = || EngineError::Refused("agent far: the connection is gone".to_owned());
        let told = self.0.as_mut().ok_or_else(gone)?.say(word, within);
        if matches!(word, Word::Visit { .. }) {
            self.0 = None;
        }
        told
    }

    fn seat(&self) -> Seat {
        seat()
    }

    fn lost(&self) -> Option<String> {
        self.0.is_none().then(|| "gone".to_owned())
    }
}

impl Talk for Twice {
    fn say(&mut self, word: &Word, within: Nanos) -> Result<Told, EngineError> {
        let told = self.0.say(word, within);
        let (again, reason) = match word.clone() {
            Word::Visit { connection, verify_from, .. } => {
                let size_bytes = Bytes::new(1);
                let again = Word::Visit { connection, size_bytes, verify_from };
                (again, "the visit before is not over")
            }
            Word::Over { .. } => (word.clone(), "no visit was begun"),
            _ => return told,
        };
        let refused = Told::Refused { reason: reason.to_owned() };
        assert_eq!(self.0.say(&again, within).unwrap(), refused);
        told
    }

    fn seat(&self) -> Seat {
        seat()
    }

    fn lost(&self) -> Option<String> {
        None
    }
}

/// Between this host and another one.
fn opening(
    transport: &'static dyn Transport,
    wanted: Configuration,
    talk: impl Talk + 'static,
) -> Opening {
    let mut wanted = wanted;
    transport.name().clone_into(&mut wanted.transport);
    let near = party(Role::Test);
    Opening {
        host: Some(Host::new(talk)),
        patience: Nanos::from_secs(60),
        ..Opening::new(transport, wanted, near.clone(), near)
    }
}

/// True for a transport that reaches another host.
fn reaches(transport: &dyn Transport) -> bool {
    transport.properties().reach == Reach::Network
}

/// Calls `check` with each transport of the registry that reaches another host and that is here.
fn each(mut check: impl FnMut(&'static dyn Transport)) {
    for transport in TRANSPORTS.iter().filter(|one| reaches(**one)) {
        match transport.available() {
            Ok(()) => check(*transport),
            Err(reason) => {
                let (name, reason) = (transport.name(), reason.sentence());
                let built = !reason.starts_with("this build");
                let kind = if built { "kernel lacks" } else { "not built" };
                crate::skip::record(&format!("{kind}: {name}: {reason}"));
            }
        }
    }
}

/// What may leave before a connection is held back.
const BURST: Bytes = Bytes::new(700_000);

fn failed(ended: &Ended) -> (Fault, &str) {
    match ended {
        Ended::Failed { fault, detail } => (*fault, detail),
        other => panic!("not a failure: {other:?}"),
    }
}

#[test]
fn every_transport_of_a_network_reaches_another_host() {
    each(|transport| {
        let name = transport.name();
        for verify in [true, false] {
            let wanted = Configuration { verify, ..free() };
            let mut session = Session::open(&opening(transport, wanted, Honest::new())).unwrap();
            for size in [1, 17, 1_448, 65_507] {
                let sample = session.visit(&visit(size, 5));
                assert!(complete(&sample), "{name} {sample:?}");
                let counted = if verify { sample.verified } else { sample.times.n };
                assert_eq!(counted, 5, "{name}");
                assert!(sample.host.cpu_ns.is_some(), "both ends tell what they used");
            }
        }
        for mode in [Mode::Streaming, Mode::Bidirectional] {
            let wanted = Configuration { mode, ..free() };
            let mut session = Session::open(&opening(transport, wanted, Honest::new())).unwrap();
            let sample = session.visit(&visit(5_000, 20));
            assert!(complete(&sample), "{name} {mode} {sample:?}");
        }
    });
}

/// Each end has all of the rate while it is visited, one after the other: an answer takes at the least
/// what the rate leaves, whatever carries it and whoever was visited before.
#[test]
fn answers_keep_to_the_rate_of_a_policy_over_every_transport_that_can() {
    let rate = BitRate::new(400_000_000);
    let mut party = party(Role::Active);
    party.sockets.pacing_byte_s = Some(rate.bit_per_second() / 8);
    let setting = Setting { party, ports: None, seat: seat(), most: 9, rate: Some(rate) };
    let host = Host::new(Honest(FarEnds::new(setting)));
    let mut open = Vec::new();
    each(|transport| {
        if transport.is_paced() {
            let opening =
                Opening { host: Some(host.clone()), ..opening(transport, free(), Honest::new()) };
            open.push((transport.name(), Session::open(&opening).unwrap()));
        }
    });
    for _ in 0..2 {
        for (name, session) in &mut open {
            let bounded = transport::by_name(name).unwrap().properties().bounded;
            let (size, count) = if bounded { (60_000, 40) } else { (1 << 20, 3) };
            let sample = session.visit(&visit(size, count));
            assert!(complete(&sample), "{name} {sample:?}");
            let least = rate.time_for(Bytes::new(size * u64::from(count)).saturating_sub(BURST));
            assert!(sample.elapsed_ns >= least, "{name}: {}, not {least}", sample.elapsed_ns);
        }
    }
}

#[test]
fn what_needs_one_host_is_refused_with_the_reason() {
    for transport in TRANSPORTS.iter().filter(|one| !reaches(**one)) {
        let refused = Session::open(&opening(*transport, free(), Honest::new()));
        let reason = refused.unwrap_err().sentence();
        let why = transport.properties().reach.ends_here().unwrap();
        assert!(reason.ends_with(why) || transport.available().is_err(), "{reason}");
        let mut ends = Honest::new().0;
        let told = ends.hear(listen(1, transport.name()));
        let Told::Refused { reason } = told else { panic!("not refused: {told:?}") };
        assert_eq!(reason, format!("{}: {why}", transport.name()));
    }
    let tcp = transport::by_name("tcp").unwrap();
    let same = Configuration { placement: Placement::Same, ..free() };
    let reason = Session::open(&opening(tcp, same, Honest::new())).unwrap_err().sentence();
    assert_eq!(reason, "tcp: two hosts have no CPU in common");
}

#[test]
fn a_fault_on_the_other_host_is_caught_and_named_over_every_transport() {
    each(|transport| {
        for (plant, fault) in PLANTS {
            let wanted = Configuration { verify: true, ..free() };
            let mut opening = opening(transport, wanted, Honest::new());
            opening.plant = Some(plant);
            let mut one = visit(2_000, 20);
            if met_by_cap(transport, plant) {
                (opening.patience, one.limit.time) = (Nanos::from_secs(1), Nanos::ZERO);
            }
            let mut session = Session::open(&opening).unwrap();
            let sample = session.visit(&one);
            let (found, detail) = failed(&sample.ended);
            let found = named_by_loss(transport, plant, found);
            assert_eq!(found, fault, "{}: {plant:?}: {detail}", transport.name());
            assert_within(&sample, &one, opening.patience);
            assert!(session.is_broken());
        }
    });
}

/// The first visit is kept whatever becomes of the second, in which the other host says nothing.
#[test]
fn a_host_that_stalls_ends_the_visit_within_its_cap_over_every_transport() {
    each(|transport| {
        let lie = |word: &Word| match word {
            Word::Visit { size_bytes, .. } if size_bytes.count() == 65 => Some(Told::Ready {}),
            _ => None,
        };
        let mut opening = opening(transport, free(), Lying { honest: Honest::new(), lie });
        opening.patience = Nanos::from_secs(1);
        let mut session = Session::open(&opening).unwrap();
        let name = transport.name();
        let whole = session.visit(&visit(64, 5));
        assert!(whole.counts(), "{name}: {whole:?}");
        let mut silent = visit(65, 5);
        silent.limit.time = Nanos::ZERO;
        let sample = session.visit(&silent);
        assert_eq!(failed(&sample.ended).0, Fault::Stalled, "{name}: {:?}", sample.ended);
        assert_within(&sample, &silent, opening.patience);
    });
}

#[test]
fn a_host_that_is_lost_ends_the_visit_with_the_reason_over_every_transport() {
    each(|transport| {
        let opening = opening(transport, free(), Mortal(Honest::new()));
        let mut session = Session::open(&opening).unwrap();
        let sample = session.visit(&visit(64, 5));
        let gone = (Fault::PeerGone, "far end: agent far: the connection is gone");
        assert_eq!(failed(&sample.ended), gone, "{}", transport.name());
        assert!(session.is_broken());
        assert_eq!(opening.host.unwrap().lost().as_deref(), Some("gone"));
    });
}

/// It begins the visit, and then it and all of its ends are gone.
#[test]
fn a_host_that_dies_in_a_visit_ends_it_within_its_cap_over_every_transport() {
    each(|transport| {
        let mut opening = opening(transport, free(), Dying(Some(Honest::new())));
        opening.patience = Nanos::from_secs(1);
        let mut session = Session::open(&opening).unwrap();
        let mut one = visit(64, 1_000_000);
        one.limit.time = Nanos::from_secs(1);
        let sample = session.visit(&one);
        let (fault, name) = (failed(&sample.ended).0, transport.name());
        assert!(matches!(fault, Fault::PeerGone | Fault::Stalled), "{name}: {:?}", sample.ended);
        assert_within(&sample, &one, opening.patience);
        assert!(session.is_broken());
    });
}

/// What a visit moved is counted by its size: no word changes that meanwhile.
#[test]
fn a_visit_is_begun_and_over_once() {
    let tcp = transport::by_name("tcp").unwrap();
    let mut session = Session::open(&opening(tcp, free(), Twice(Honest::new()))).unwrap();
    for size in [64, 4096] {
        let sample = session.visit(&visit(size, 5));
        assert!(sample.counts(), "{sample:?}");
    }
}

#[test]
fn a_host_that_lies_is_not_believed() {
    let tcp = transport::by_name("tcp").unwrap();
    let opened = |lie| {
        let honest = Honest::new();
        let mut opening = opening(tcp, free(), Lying { honest, lie });
        opening.patience = Nanos::from_secs(1);
        Session::open(&opening)
    };
    // A place where nobody with the token is, and an answer to another question.
    let nowhere = |word: &Word| match word {
        Word::Listen { .. } => {
            Some(Told::Listening { at: Meeting::At(([127, 0, 0, 1], 9).into()) })
        }
        _ => None,
    };
    let reason = opened(nowhere).unwrap_err().sentence();
    assert!(reason.starts_with("connect to 127.0.0.1:9"), "{reason}");
    let other = |word: &Word| matches!(word, Word::Opened { .. }).then_some(Told::Ready {});
    let reason = opened(other).unwrap_err().sentence();
    assert!(reason.starts_with("far end: an answer that does not fit (Ready"), "{reason}");
    // A visit that it says it began, and an account of something else.
    let idle = |word: &Word| matches!(word, Word::Visit { .. }).then_some(Told::Ready {});
    let mut one = visit(64, 5);
    one.limit.time = Nanos::ZERO;
    let sample = opened(idle).unwrap().visit(&one);
    assert_eq!(failed(&sample.ended).0, Fault::Stalled);
    let closed = |word: &Word| matches!(word, Word::Over { .. }).then_some(Told::Closed {});
    let sample = opened(closed).unwrap().visit(&one);
    assert!(failed(&sample.ended).1.starts_with("far end: far end: an answer that does not fit"));
    // Impossible figures stay what they are said to be: the other host's.
    let absurd = |word: &Word| {
        let account = Account { cpu_ns: u64::MAX, verified: u64::MAX, ..Account::default() };
        matches!(word, Word::Over { .. }).then_some(Told::Over { account })
    };
    let sample = opened(absurd).unwrap().visit(&one);
    assert!(sample.counts() && sample.verified == 0, "{sample:?}");
}

/// A wish for an end, without any bound.
fn listen(connection: u32, name: &str) -> Word {
    Word::Listen {
        connection,
        configuration: Box::new(Configuration { transport: name.to_owned(), ..free() }),
        patience_ns: Nanos::new(u64::MAX),
        cpus: None,
        plant: Some(Plant::Close),
    }
}

/// What a conductor may ask of the ends here is bounded, whatever it says.
#[test]
fn absurd_words_are_refused() {
    let mut ends = Honest::new().0;
    let refused = |told: Told| match told {
        Told::Refused { reason } => reason,
        other => panic!("not refused: {other:?}"),
    };
    assert_eq!(refused(ends.hear(listen(1, "pigeon"))), "no transport is called \"pigeon\"");
    assert!(refused(ends.hear(listen(1, "unix"))).contains("on one host"));
    assert_eq!(refused(ends.hear(Word::Opened { connection: 7 })), "there is no connection 7");
    for connection in [1, 2] {
        assert!(matches!(ends.hear(listen(connection, "tcp")), Told::Listening { .. }));
    }
    let again = refused(ends.hear(listen(2, "tcp")));
    assert_eq!(again, "there is a connection 2 already; close it first");
    let third = refused(ends.hear(listen(3, "tcp")));
    assert_eq!(third, "connection 3 is one too many: 2 may be open at once");
    let visit =
        |size| Word::Visit { connection: 1, size_bytes: Bytes::new(size), verify_from: None };
    assert!(refused(ends.hear(visit(1 << 40))).starts_with("a block of "));
    assert_eq!(refused(ends.hear(visit(8))), "the connection does not stand yet");
}
