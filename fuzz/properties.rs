//! What must hold of any bytes whatsoever, one function per parser of what others wrote.
//!
//! The fuzz targets call these, and so does the test that replays the corpora.

use btu_control::frame::Frame;
use btu_control::frame::FrameLimits;
use btu_control::frame::FrameReader;
use btu_control::invite::Invite;
use btu_control::message::Answer;
use btu_control::message::Bounded;
use btu_control::message::Request;
use btu_control::policy::Policy;
use btu_core::capture;
use btu_core::capture::PcapNg;
use btu_core::diagnosis::Evidence;
use btu_core::journal::Record;
use btu_core::journal::codec;
use btu_core::plan::Choices;
use btu_core::plan::Plan;
use btu_core::plan::Vocabulary;
use btu_core::traffic;
use btu_core::traffic::Dialect;
use btu_core::traffic::Scenario;
use btu_core::traffic::Timeline;
use btu_core::traffic::Train;
use btu_core::traffic::plan::Plan as TrafficPlan;

/// A parser, and what its input must never do.
pub(crate) struct Property {
    /// The name of its target and of its corpus.
    pub(crate) name: &'static str,
    /// Panics where something does not hold.
    pub(crate) holds: fn(&[u8]),
}

/// Every parser of what others wrote.
pub(crate) static PROPERTIES: [Property; 8] = [
    Property { name: "bundle", holds: bundle },
    Property { name: "capture", holds: capture },
    Property { name: "frame", holds: frame },
    Property { name: "invite", holds: invite },
    Property { name: "journal", holds: journal },
    Property { name: "plan", holds: plan },
    Property { name: "policy", holds: policy },
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
    let words = traffic::Vocabulary { transports: &["tcp", "udp"], files: &none };
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
        assert_eq!(btu_report::unpack(&btu_report::pack(&files)).ok(), Some(files));
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
