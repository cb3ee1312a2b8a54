//! Frames and messages that nobody should send: ten thousand of them, and not one panic.

use btu_control::Identity;
use btu_control::agent::Agent;
use btu_control::agent::ConnId;
use btu_control::agent::Event;
use btu_control::agent::Measured;
use btu_control::agent::Roster;
use btu_control::agent::Setup;
use btu_control::frame::Frame;
use btu_control::frame::FrameLimits;
use btu_control::frame::FrameReader;
use btu_control::frame::encode;
use btu_control::message::Answer;
use btu_control::message::Bounded;
use btu_control::message::MAJOR;
use btu_control::message::MINOR;
use btu_control::message::Offer;
use btu_control::message::Request;
use btu_control::message::ServiceWord;
use btu_control::message::Signing;
use btu_control::message::Which;
use btu_control::policy::Policy;
use btu_control::secret::Hex32;
use btu_core::role::Role;
use btu_core::sample::CapturePoint;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

use crate::agents::preparation;
use crate::dice::Dice;
use crate::dice::mutated;
use crate::guests::test_order;
use crate::services::service;

/// A dialogue with every kind of message.
fn dialogue() -> Vec<u8> {
    let which = Which { run: 1, attempt: 1, seq: 2 };
    let text = |text: &str| text.to_owned();
    let requests = [
        Request::Hello { major: MAJOR, minor: MINOR, build: text("0.1.0") },
        Request::Join { proof: Hex32::new([3; 32]), name: text("lab") },
        Request::Ping {},
        Request::Facts { seq: 1 },
        Request::Serve { seq: 4, user: text("btu"), password: text("x") },
        Request::Prepare(Box::new(preparation(which))),
        Request::Service(Box::new(service(which))),
        Request::Word(Box::new(ServiceWord { which, lease_ns: Nanos::ZERO, word: 7.into() })),
        Request::Cancel(which),
        Request::Collect(which),
        Request::Packets { which, seen_at: CapturePoint::Test },
        Request::Sign(Box::new(Signing {
            seq: 8,
            role: Role::Active,
            seed: 7,
            runs: vec![(1, 2, 1)],
        })),
        Request::Vouch { guest: text("K3QF"), for_ns: Nanos::from_secs(60) },
        Request::Test(Box::new(test_order(8))),
        Request::Release { seq: 9 },
        Request::Status {},
        Request::StopAll {},
        Request::Resume {},
    ];
    let answers = [
        Answer::Welcome { major: MAJOR, minor: MINOR, build: text("0.1.0"), known: true },
        Answer::Granted { shared: 1, emulation: Offer::None(text("no")) },
        Answer::Prepared { which, addresses: vec![([10, 0, 0, 1], 7000).into()] },
        Answer::Connected {
            which,
            local: ([10, 0, 0, 1], 7000).into(),
            remote: ([10, 0, 0, 2], 999).into(),
        },
        Answer::Moved { moved_bytes: Bytes::new(9) },
        Answer::Said {
            which,
            said: serde_json::json!({"at": ["10.0.0.1:7000"]}),
            moved_bytes: Bytes::new(9),
        },
        Answer::Document { seq: 2, length: 77, moved_bytes: Bytes::new(1), account: None },
        Answer::Signed { seq: 8, key: text("00"), signature: text("11") },
        Answer::Vouched {},
        Answer::Progress {
            seq: 8,
            text: text("1/9 SEND/video/cpu"),
            moved_bytes: Bytes::new(9),
            kept_bytes: 0,
        },
        Answer::Bye { reason: text("enough") },
    ];
    let requests = requests.iter().map(|request| encode(request).unwrap());
    requests.chain(answers.iter().map(|answer| encode(answer).unwrap())).flatten().collect()
}

#[test]
fn malformed_frames_are_refused_and_nothing_breaks() {
    let dialogue = dialogue();
    let id = Identity::ephemeral().unwrap().id();
    let (mut messages, mut refused) = (0, 0);
    for seed in 0..10_000 {
        let mut dice = Dice::new(seed);
        let limits = [FrameLimits::STRANGER, FrameLimits::REQUESTS, FrameLimits::ANSWERS];
        let mut reader = FrameReader::new(limits[usize::try_from(dice.below(3)).unwrap()]);
        let emulation = Offer::None(String::new());
        let (build, policy) = (String::new(), Policy::default());
        let setup =
            Setup { id, build, policy, emulation, stopped: false, measured: Measured::default() };
        let mut agent = Agent::new(setup, Roster::default());
        let (now, conn) = (Nanos::from_secs(1), ConnId(1));
        agent.on(now, Event::Accepted { conn, from: [10, 0, 0, 1].into() });
        agent.on(now, Event::Secured { conn, peer: id, binding: [0; 32] });
        let step = usize::try_from(1 + dice.below(700)).unwrap();
        'stream: for piece in mutated(&dialogue, &mut dice).chunks(step) {
            reader.push(piece);
            loop {
                match reader.next_frame() {
                    Ok(Some(Frame::Message(text))) => {
                        // Whatever is no answer is refused; whatever is one is harmless.
                        let _ = Answer::parse(&text);
                        match Request::parse(&text) {
                            Ok(request) => {
                                messages += 1;
                                agent.on(now, Event::Heard { conn, request });
                            }
                            Err(error) => {
                                let reason = error.to_string();
                                agent.on(now, Event::Garbage { conn, reason });
                            }
                        }
                    }
                    Ok(Some(Frame::Chunk(_))) => {}
                    Ok(None) => break,
                    Err(_) => {
                        refused += 1;
                        break 'stream;
                    }
                }
            }
        }
        assert_eq!(agent.workers().count(), 0, "seed {seed}: a stranger got work done");
    }
    assert!(messages > 10_000 && refused > 1_000, "{messages} messages, {refused} refused streams");
}

/// Values at their limits and beyond.
#[test]
fn absurd_values_are_refused_by_name() {
    let which = Which { run: 1, attempt: 1, seq: 2 };
    let day = Nanos::from_secs(86_400);
    let mut order = preparation(which);
    order.lease_ns = day;
    let parsed = |request: &Request| {
        let text = serde_json::to_vec(request).unwrap();
        Request::parse(&text).map_err(|error| error.to_string())
    };
    let wrap =
        |order: &btu_control::message::Preparation| Request::Prepare(Box::new(order.clone()));
    assert_eq!(parsed(&wrap(&order)), Ok(wrap(&order)));
    order.lease_ns = day.saturating_add(Nanos::new(1));
    assert!(parsed(&wrap(&order)).unwrap_err().starts_with("lease_ns is 86400000000001"));
    order = preparation(which);
    order.flows = vec![order.flows[0]; 1025];
    assert!(parsed(&wrap(&order)).unwrap_err().starts_with("flows is 1025"));
    let build = "x".repeat(4097);
    let hello = Request::Hello { major: MAJOR, minor: MINOR, build };
    assert!(parsed(&hello).unwrap_err().starts_with("build is 4097"));
    assert!(Request::parse(br#"{"type":"facts"}"#).is_err());
    assert!(Request::parse(br#"{"type":"facts","seq":-1}"#).is_err());
    assert!(Request::parse(br#"{"type":"nothing"}"#).is_err());
    let deep = format!("{{\"type\":\"hello\",\"build\":{}1{}}}", "[".repeat(999), "]".repeat(999));
    assert!(Request::parse(deep.as_bytes()).is_err());
}

/// A unit is of this program alone: payload goes over the wire as the number of its bytes.
#[test]
fn payload_is_a_plain_number_on_the_wire() {
    let which = Which { run: 1, attempt: 1, seq: 2 };
    let nine = Bytes::new(9);
    let said = Answer::Said { which, said: serde_json::json!({}), moved_bytes: nine };
    let text = r#"{"type":"said","run":1,"attempt":1,"seq":2,"said":{},"moved_bytes":9}"#;
    for (answer, text) in
        [(Answer::Moved { moved_bytes: nine }, r#"{"type":"moved","moved_bytes":9}"#), (said, text)]
    {
        assert_eq!(serde_json::to_string(&answer).unwrap(), text);
        assert_eq!(serde_json::from_str::<Answer>(text).unwrap(), answer);
    }
    let untold = r#"{"type":"progress","seq":2,"text":"1/9"}"#;
    let step = serde_json::from_str::<Answer>(untold).unwrap();
    assert_eq!(step.moved_bytes(), Bytes::ZERO);
}
