//! What must hold of any bytes whatsoever, one function per parser of what others wrote.
//!
//! The fuzz targets call these, and so does the test that replays the corpora.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::collections::VecDeque;
use std::io;
use std::io::Read;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use btu_control::HostId;
use btu_control::agent::Action;
use btu_control::agent::Agent;
use btu_control::agent::ConnId;
use btu_control::agent::Event;
use btu_control::agent::Measured;
use btu_control::agent::Roster;
use btu_control::agent::Setup;
use btu_control::frame::Frame;
use btu_control::frame::FrameLimits;
use btu_control::frame::FrameReader;
use btu_control::invite::Invite;
use btu_control::invite::OpenInvite;
use btu_control::invite::Rights;
use btu_control::invite::Secret;
use btu_control::line;
use btu_control::line::LONGEST_LINE;
use btu_control::line::LineError;
use btu_control::message::Answer;
use btu_control::message::Bounded;
use btu_control::message::LinkOrder;
use btu_control::message::LinkWish;
use btu_control::message::Offer;
use btu_control::message::Request;
use btu_control::policy::Policy;
use btu_core::capture;
use btu_core::capture::PcapNg;
use btu_core::diagnosis::Evidence;
use btu_core::journal::Record;
use btu_core::journal::codec;
use btu_core::link::ChainSpec;
use btu_core::link::Reader;
use btu_core::run::plan::Choices;
use btu_core::run::plan::Plan;
use btu_core::run::plan::Vocabulary;
use btu_core::sample::DirectionSample;
use btu_core::tcp::SequenceData;
use btu_core::traffic;
use btu_core::traffic::Dialect;
use btu_core::traffic::Scenario;
use btu_core::traffic::Timeline;
use btu_core::traffic::Train;
use btu_core::traffic::plan::Plan as TrafficPlan;
use btu_core::units::BitRate;
use btu_core::units::Nanos;
use btu_engine::door::Awaited;
use btu_engine::door::Seat;
use btu_engine::door::first_known;
use btu_sys::socket;

/// A parser, and what its input must never do.
pub(crate) struct Property {
    /// The name of its target and of its corpus.
    pub(crate) name: &'static str,
    /// Panics where something does not hold.
    pub(crate) holds: fn(&[u8]),
}

/// Every parser of what others wrote.
pub(crate) static PROPERTIES: [Property; 13] = [
    Property { name: "bundle", holds: bundle },
    Property { name: "capture", holds: capture },
    Property { name: "chart", holds: chart },
    Property { name: "frame", holds: frame },
    Property { name: "invite", holds: invite },
    Property { name: "join", holds: join },
    Property { name: "journal", holds: journal },
    Property { name: "keeper", holds: keeper },
    Property { name: "link_order", holds: link_order },
    Property { name: "plan", holds: plan },
    Property { name: "policy", holds: policy },
    Property { name: "preamble", holds: preamble },
    Property { name: "scenario", holds: scenario },
];

/// Frames do not depend on how the stream was cut, none is longer than allowed, and a message that
/// was understood is the same when it is said again.
pub(crate) fn frame(bytes: &[u8]) {
    for limits in [FrameLimits::STRANGER, FrameLimits::REQUESTS, FrameLimits::ANSWERS] {
        let whole = frames(bytes.chunks(bytes.len().max(1)), limits);
        let pieces = frames(bytes.chunks(7), limits);
        assert_eq!(whole, pieces, "frames differ by where the stream was cut");
        for frame in whole {
            let Frame::Message(text) = frame else { continue };
            assert!(text.len() <= limits.message);
            if let Ok(request) = Request::parse(&text) {
                let again = serde_json::to_vec(&request).expect("a request is JSON");
                assert_eq!(Request::parse(&again).ok(), Some(request));
            }
            if let Ok(answer) = Answer::parse(&text) {
                let again = serde_json::to_vec(&answer).expect("an answer is JSON");
                assert_eq!(Answer::parse(&again).ok(), Some(answer));
            }
        }
    }
}

fn frames<'b>(pieces: impl Iterator<Item = &'b [u8]>, limits: FrameLimits) -> Vec<Frame> {
    let mut reader = FrameReader::new(limits);
    let mut found = Vec::new();
    for piece in pieces {
        reader.push(piece);
        loop {
            match reader.next_frame() {
                Ok(Some(frame)) => found.push(frame),
                Ok(None) => break,
                Err(_) => return found,
            }
        }
    }
    found
}

/// A plan that is legal is the same plan when its canonical text is read, and its error names the file.
pub(crate) fn plan(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let words = Vocabulary { activities: &["cpu", "ftp", "idle", "io"] };
    let read = |text: &str| {
        let choices = Choices { plan: Some(("given.toml", text)), ..Choices::default() };
        Plan::resolve(&choices, &words, 7)
    };
    match read(text) {
        Ok(plan) => {
            let canonical = plan.to_toml();
            let again = Plan::stored("plan.toml", &canonical).expect("a canonical plan is legal");
            assert_eq!(again.to_toml(), canonical);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    drop(Plan::stored("stored.toml", text));
    if let Ok(plan) = TrafficPlan::stored("stored.toml", text) {
        let canonical = plan.to_toml();
        let again = TrafficPlan::stored("plan.toml", &canonical).expect("a written plan is legal");
        assert_eq!(again.to_toml(), canonical);
        // No value that is legal overflows what is made of it.
        drop(plan.next_run(&[]));
        let _ = plan.course.map(|course| course.longest_run());
    }
}

/// A scenario that is legal, in whatever form, is the same one when its TOML form is read, and draws its
/// trains; an error names the file.
pub(crate) fn scenario(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let none = |_: &str| Err("no files here".to_owned());
    let words = traffic::Vocabulary { files: &none };
    let readings = [
        traffic::read_script("given", text, Dialect::NetSpec, &words),
        traffic::read_script("given", text, Dialect::Btu, &words),
        traffic::read_toml("given", text, &words),
    ];
    for reading in readings {
        match reading {
            Ok(reading) => {
                let told = traffic::to_toml(&reading.scenario);
                let again =
                    traffic::read_toml("told", &told, &words).expect("its own form is legal");
                assert_eq!(again.scenario, reading.scenario, "{told}");
                draw(&reading.scenario);
            }
            Err(error) => assert!(error.to_string().starts_with("given"), "{error}"),
        }
    }
}

/// The first blocks of every test.
fn draw(scenario: &Scenario) {
    for cluster in scenario.clusters() {
        for test in &cluster.tests {
            let train = test.traffic.train(&test.streams(&cluster.name, 7));
            if let Some(Train::Open(train)) = train {
                assert!(Timeline::new(train).take(50).map(|(due, _)| due).is_sorted());
            }
        }
    }
}

/// Whatever somebody pastes is an invitation that reads back, or is told what one looks like without being
/// repeated: it may be one with a fault in it.
pub(crate) fn invite(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match text.parse::<Invite>() {
        Ok(invite) => assert_eq!(invite.to_string().parse(), Ok(invite)),
        Err(error) => {
            let told = error.to_string();
            assert!(told.starts_with("not an invitation ("), "{told}");
            assert!(text.len() < 32 || !told.contains(text), "{told}");
        }
    }
}

/// A stranger who hears no, whatever it says, leaves an agent as it found it: it is a peer when, and only
/// when, it proved an invitation that was still open, and before that nothing is done for it.
pub(crate) fn join(bytes: &[u8]) {
    let mut agent = Agent::new(invited(), Roster { peers: BTreeMap::new(), invites: open() });
    let (now, conn) = (Nanos::from_secs(1), ConnId(1));
    let peer = host("B");
    agent.on(now, Event::Accepted { conn, from: [10, 0, 0, 1].into() });
    agent.on(now, Event::Secured { conn, peer, binding: BINDING });
    let (mut greeted, mut proved, mut over) = (false, false, false);
    for frame in frames(bytes.chunks(bytes.len().max(1)), FrameLimits::STRANGER) {
        let event = match &frame {
            Frame::Chunk(_) => Event::Garbage { conn, reason: "a chunk".to_owned() },
            Frame::Message(text) => match Request::parse(text) {
                Ok(request) => Event::Heard { conn, request },
                Err(error) => Event::Garbage { conn, reason: error.to_string() },
            },
        };
        let knows = |request: &Request| {
            matches!(request, Request::Join { proof, .. }
            if open().iter().any(|one| one.secret.is_proved(&BINDING, proof)))
        };
        let is_proof = matches!(&event, Event::Heard { request, .. } if knows(request));
        let is_next = greeted && !proved && !over && is_proof;
        let is_peer = proved || is_next;
        let mut actions = VecDeque::from(agent.on(now, event));
        while let Some(action) = actions.pop_front() {
            match action {
                Action::KeepPeer(joiner) => {
                    assert!(is_next && joiner.id == peer, "a peer without a proof");
                    assert!(joiner.left.len() < open().len(), "its invitation is not spent");
                    proved = true;
                    actions.extend(agent.on(now, Event::Kept { joiner, kept: Ok(()) }));
                }
                Action::Close { .. } => over = true,
                Action::Send { answer: Answer::Welcome { known, .. }, .. } => {
                    assert!(!known, "a stranger is known");
                    greeted = true;
                }
                Action::Order { .. } | Action::Pass { .. } | Action::Start { .. } => {
                    assert!(proved && !over, "work for a stranger");
                }
                Action::KeepInvites(left) => {
                    assert!(left.len() <= open().len());
                    assert!(left.iter().all(|one| one.tries <= TRIES));
                }
                _ => {}
            }
        }
        assert_eq!(proved, is_peer, "a proof was not heard");
    }
}

/// An agent that nobody is paired with.
fn invited() -> Setup {
    Setup {
        id: host("A"),
        build: "1".to_owned(),
        policy: Policy::default(),
        emulation: Offer::None("none".to_owned()),
        stopped: false,
        measured: Measured::default(),
    }
}

/// The identity that begins with this letter.
fn host(letter: &str) -> HostId {
    format!("{letter}{}", "A".repeat(51)).parse().expect("52 letters are an identity")
}

/// Its invitations: those that the corpus proves, and that it does not.
fn open() -> Vec<OpenInvite> {
    let invite = |digit: &str| OpenInvite {
        secret: Secret::try_from(digit.repeat(32)).expect("32 digits are a secret"),
        rights: Rights::Runner,
        expires_unix_s: u64::MAX,
        tries: TRIES,
    };
    ["7", "9"].map(invite).into()
}

const BINDING: [u8; 32] = [4; 32];
const TRIES: u32 = 5;

/// What a worker asks of the emulator before it is refused by name, or is a chain of elements that reads
/// back.
pub(crate) fn link_order(bytes: &[u8]) {
    let Ok(order) = serde_json::from_slice::<LinkOrder>(bytes) else { return };
    for texts in [&order.up, &order.down] {
        match ChainSpec::as_given(texts, &Reader::PLAN) {
            Ok(chain) => {
                let told = chain.texts();
                let again = ChainSpec::as_given(&told, &Reader::PLAN).expect("its own words");
                assert_eq!(again, chain, "{told:?}");
                assert!(chain.constant_delay().is_none_or(|delay| delay <= LONGEST_DELAY));
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

/// What the keeper of a link hears, and what its front hears of it, are words of their own kind, however
/// the channel cuts them, and none is longer than a line may be; what netem is then told are numbers that
/// the kernel has, or the elements are refused by name.
pub(crate) fn keeper(bytes: &[u8]) {
    let wishes = heard::<LinkWish>(bytes, bytes.len().max(1));
    assert_eq!(wishes, heard::<LinkWish>(bytes, 7), "wishes differ by where they were cut");
    for wish in wishes.iter().flatten() {
        let mut told = Vec::new();
        line::say(&mut told, wish).expect("what was a line is a line again");
        assert!(told.len() <= LONGEST_LINE + 1);
        assert_eq!(&line::hear::<LinkWish>(&mut &told[..]).expect("its own word"), wish);
        if let LinkWish::Configure { link } = wish {
            told_to_netem(&link.up);
            told_to_netem(&link.down);
        }
    }
    let answers = |piece| heard::<Result<Vec<DirectionSample>, String>>(bytes, piece);
    assert_eq!(answers(1), answers(64), "answers differ by where they were cut");
}

/// The words of a channel that hands over so many bytes at once; `None` for a line that is none.
fn heard<T: serde::de::DeserializeOwned>(bytes: &[u8], piece: usize) -> Vec<Option<T>> {
    let mut from = io::BufReader::with_capacity(piece, bytes);
    let mut words = Vec::new();
    loop {
        match line::hear::<T>(&mut from) {
            Ok(word) => words.push(Some(word)),
            Err(LineError::NoWord { length, .. }) => {
                assert!(length <= LONGEST_LINE);
                words.push(None);
            }
            Err(_) => return words,
        }
    }
}

fn told_to_netem(texts: &[String]) {
    let Ok(chain) = ChainSpec::as_given(texts, &Reader::PLAN) else { return };
    match chain.netem() {
        Ok(spec) => {
            assert!(spec.delay <= LONGEST_DELAY);
            assert!(spec.limit(BitRate::new(u64::MAX)) >= spec.limit(BitRate::new(128_000)));
            assert_eq!(spec.loss_of_u32() > 0 || spec.line.is_some(), spec.wants_wire_packets());
            drop(spec.line(btu_core::link::Wire::Ethernet));
        }
        Err(refused) => assert!(refused.to_string().contains("netem does not do exactly")),
    }
}

/// No link holds a packet for longer.
const LONGEST_DELAY: Nanos = Nanos::from_secs(3600);

/// The first words of a data connection let in whoever knows the secret of this run, attempt and connection,
/// however they are cut; whoever does not hears nothing.
pub(crate) fn preamble(bytes: &[u8]) {
    let seat = Seat { secret: [7; 32], run: 3, attempt: 1, flow: 0 };
    let nonce = bytes.get(20..32).and_then(|nonce| nonce.try_into().ok());
    let right = nonce.map(|nonce| seat.words(nonce));
    let is_right = right.is_some_and(|right| bytes.starts_with(&right));
    // What follows the words is not heard at the door.
    let bytes = &bytes[..bytes.len().min(128)];
    for piece in [1, 7, 64] {
        let heard = at_the_door(&seat, bytes.chunks(piece));
        assert_eq!(heard, (is_right, if is_right { 32 } else { 0 }));
    }
}

/// Whether one is let in that says these pieces and nothing more, and how much it hears.
fn at_the_door(seat: &Seat, mut pieces: std::slice::Chunks<'_, u8>) -> (bool, usize) {
    let pair = || UnixStream::pair().expect("descriptors are left");
    let ((door, mut knocking), (mut near, far)) = (pair(), pair());
    // Somebody stands at the door all the time: no look at it waits.
    knocking.write_all(b"k").expect("room for a byte");
    let (mut far, looks) = (Some(far), Cell::new(pieces.len() + 3));
    let is_wanted = || looks.replace(looks.get().saturating_sub(1)) > 0;
    let next = || {
        // It may have been closed: nothing more is heard then.
        let _ = pieces.next().map(|piece| socket::send(near.as_fd(), piece));
        Ok(far.take())
    };
    let patience = Duration::from_mins(1);
    let awaited = Awaited { seat, at: &"the door", patience, is_wanted: &is_wanted };
    let let_in = first_known(&door, &awaited, next);
    near.set_nonblocking(true).expect("a socket");
    (let_in.is_ok(), near.read(&mut [0; 64]).unwrap_or(0))
}

/// A policy grants only what can be granted, and its error begins with its name.
pub(crate) fn policy(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Policy::parse("policy.toml", text) {
        Ok(policy) => {
            assert!((1..=64).contains(&policy.shared) && !policy.classes.is_empty());
            for class in &policy.classes {
                assert!(
                    class.data_ports.is_none_or(|(first, last)| 1024 <= first && first <= last)
                );
                assert!(class.max_rate.is_none_or(|rate| rate.bit_per_second() >= 128_000));
            }
        }
        Err(error) => assert!(error.to_string().starts_with("policy.toml:"), "{error}"),
    }
}

/// A journal that can be read loses nothing when it is salvaged, and is the same when it is written
/// again; what is torn lies behind everything that is whole.
pub(crate) fn journal(bytes: &[u8]) {
    let salvaged = codec::salvage::<Record>(bytes);
    let Ok(read) = codec::read::<Record>("samples.jsonl", bytes) else { return };
    assert_eq!((&salvaged.records, &salvaged.torn), (&read.records, &read.torn));
    if let Some(torn) = &read.torn {
        assert_eq!(&bytes[torn.offset..], torn.bytes);
    }
    let lines: String =
        read.records.iter().map(|record| codec::line(record).expect("a record is JSON")).collect();
    let again = codec::read::<Record>("samples.jsonl", lines.as_bytes()).expect("our own lines");
    let text = |records: &[Record]| format!("{records:?}");
    assert_eq!(text(&again.records), text(&read.records));
}

/// A bundle that unpacks has one form only.
pub(crate) fn bundle(bytes: &[u8]) {
    if let Ok(files) = btu_report::unpack(bytes) {
        let again = btu_report::pack(&files).and_then(|bundle| btu_report::unpack(&bundle));
        assert_eq!(again, Ok(files));
    }
}

/// A capture, however damaged, can be analysed, told, drawn and written again; what is written holds
/// as many packets.
pub(crate) fn capture(bytes: &[u8]) {
    let Ok(read) = capture::read(bytes) else { return };
    let analysis = btu_core::tcp::analyse(&read);
    let explained = btu_report::explain("fuzzed", &analysis, &Evidence::default(), 10);
    drop(btu_report::explained_json(&explained));
    let document = btu_report::compose_explained(&explained);
    assert!(!btu_report::explained_text(&document).is_empty());
    assert!(btu_report::explained_html(&document).ends_with(b"</html>"));
    for connection in &analysis.connections {
        assert!(btu_report::xplot(connection).ends_with("go\n"));
    }
    let mut file = PcapNg::new("");
    for interface in &read.interfaces {
        file.interface(interface);
    }
    read.packets.iter().for_each(|packet| file.packet(packet));
    let again = file.finish();
    assert_eq!(capture::read(&again).expect("our own file").packets.len(), read.packets.len());
}

/// What the extract of a capture holds of a chart is read as far as it is one, and drawn.
pub(crate) fn chart(bytes: &[u8]) {
    let Some(data) = SequenceData::decoded(bytes) else { return };
    assert!(data.thinned(125).segments.len() <= data.segments.len());
    let again = SequenceData::decoded(&data.encoded());
    assert!(again.as_ref() == Some(&data), "it reads back");
}
