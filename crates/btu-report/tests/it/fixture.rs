//! A result that was never measured: three passes of the full matrix, by formula.

use btu_core::disclosure::Disclosure;
use btu_core::disclosure::Fact;
use btu_core::journal::AloneSample;
use btu_core::journal::EventRecord;
use btu_core::journal::Journal;
use btu_core::journal::Record;
use btu_core::run::cell::ActivityName;
use btu_core::run::cell::Application;
use btu_core::run::cell::Case;
use btu_core::run::cell::Cell;
use btu_core::run::cell::Impairment;
use btu_core::run::plan::Choices;
use btu_core::run::plan::Plan;
use btu_core::run::plan::Vocabulary;
use btu_core::sample::ActivitySample;
use btu_core::sample::CaptureFile;
use btu_core::sample::CapturePoint;
use btu_core::sample::CaptureSample;
use btu_core::sample::CaptureSource;
use btu_core::sample::CellSample;
use btu_core::sample::CommSample;
use btu_core::sample::ConnectionSample;
use btu_core::sample::DirectionSample;
use btu_core::sample::EndSample;
use btu_core::sample::Flag;
use btu_core::sample::HostSample;
use btu_core::sample::Negotiated;
use btu_core::sample::Outcome;
use btu_core::sample::Quantiles;
use btu_core::sample::SocketOptions;
use btu_core::sample::TcpInfo;
use btu_core::sample::VerificationSample;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

/// A quick run of btu-26 on the local testbed, with one flagged cell.
pub(crate) fn journal() -> Journal {
    journal_of(&Choices::default())
}

/// Two cases, two applications, one activity: small enough to read row by row.
pub(crate) fn small_journal() -> Journal {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    journal_of(&Choices {
        cases: Some(&names(&["SEND", "2SEND+DR"])),
        applications: Some(&names(&["telnet", "video"])),
        activities: Some(&names(&["io"])),
        ..Choices::default()
    })
}

fn journal_of(choices: &Choices<'_>) -> Journal {
    let plan = plan(choices);
    let mut records = vec![Record::Verification(verification("before"))];
    for pass in 1..=plan.passes.min {
        records.extend(alone(&plan, pass));
        records.extend(cells(&plan, pass));
    }
    records.push(Record::Verification(verification("after")));
    Journal { plan, hosts: hosts(), records, events: events() }
}

/// One case, one application, one activity.
pub(crate) fn tiny_journal() -> Journal {
    journal_of(&Choices {
        cases: Some(&["2SEND+DR".to_owned()]),
        applications: Some(&["telnet".to_owned()]),
        activities: Some(&["io".to_owned()]),
        ..Choices::default()
    })
}

/// The second run of a cell that one rule calls abnormal, its first connection between these ports.
pub(crate) fn second_run(cell: Cell, ports: [u16; 2]) -> Record {
    let mut run = cell_sample(cell, 0, 1);
    let elapsed = Nanos::from_secs(17);
    let comm = run.comm.as_mut().unwrap();
    comm.elapsed_ns = elapsed;
    for connection in &mut comm.connections {
        connection.elapsed_ns = elapsed;
        connection.bytes = Bytes::new(400_000);
    }
    let first = &mut comm.connections[0];
    (first.sender.port, first.receiver.port) = (Some(ports[0]), Some(ports[1]));
    let file = CaptureFile {
        path: CaptureFile::path_of(&run.cell),
        bytes: 1,
        blake3: String::new(),
        packets: 1206,
        lost: 0,
        source: CaptureSource::Emulator,
        seen_at: CapturePoint::Test,
    };
    Record::Capture(Box::new(CaptureSample {
        run,
        why: vec![Flag::new("stall", "nothing arrived for 500 ms > 200 ms")],
        black_boxes: Vec::new(),
        black_box_hosts: Vec::new(),
        file: Some(file),
        not_captured: String::new(),
    }))
}

/// A result that stopped before its first run.
pub(crate) fn empty_journal() -> Journal {
    Journal {
        plan: plan(&Choices::default()),
        hosts: Disclosure::default(),
        records: Vec::new(),
        events: Vec::new(),
    }
}

fn plan(choices: &Choices<'_>) -> Plan {
    let words = Vocabulary { activities: &["cpu", "ftp", "io"] };
    let choices = Choices { plan: Some(("fixture.toml", SETTINGS)), ..choices.clone() };
    Plan::resolve(&choices, &words, 42).unwrap()
}

/// Every setting, so that a change of an edition changes no expected report.
const SETTINGS: &str = r#"
[time]
window = "120ms"
work = "steady"
lead_in = "30ms"
alone = "500ms"
repeat_allowance = "5s"
[passes]
min = 3
max = 3
budget = "90s"
half_width = "2.5%"
[link]
delay = "5ms"
drop = "1@200,3@400/400"
[sockets]
congestion = "cubic"
[activity]
io_file = "4MiB"
ftp_transfer = "1MB"
"#;

fn alone(plan: &Plan, pass: u32) -> impl Iterator<Item = Record> {
    plan.activities.iter().zip(1..).map(move |(activity, position)| {
        Record::Alone(AloneSample {
            activity: activity.clone(),
            pass,
            position,
            attempt: 1,
            started_at: moment(pass, position),
            sample: work(activity, 0.5, 1.0),
            host: None,
            invalid: Vec::new(),
            flags: Vec::new(),
        })
    })
}

fn cells(plan: &Plan, pass: u32) -> Vec<Record> {
    let mut records = Vec::new();
    let activities = std::iter::once(ActivityName::none()).chain(plan.activities.iter().cloned());
    for activity in activities {
        for application in &plan.applications {
            for case in &plan.cases {
                let cell = Cell {
                    case: *case,
                    application: application.clone(),
                    activity: activity.clone(),
                };
                let position = u32::try_from(records.len()).unwrap() + 4;
                records.push(Record::Cell(Box::new(cell_sample(cell, pass, position))));
            }
        }
    }
    records
}

fn cell_sample(cell: Cell, pass: u32, position: u32) -> CellSample {
    let seconds = 0.120 + 0.001 * f64::from(position % 7);
    let mbps = goodput(&cell, pass, position);
    let bytes = Bytes::new(whole(mbps * 1e6 * seconds / 8.0));
    let slow = slowdown(&cell, pass, position);
    CellSample {
        pass,
        position,
        attempt: 1,
        started_at: moment(pass, position),
        outcome: Outcome::Complete,
        comm: Some(comm(&cell, bytes, seconds)),
        activity_sample: (!cell.activity.is_none()).then(|| work(&cell.activity, seconds, slow)),
        emulation: emulation(&cell, pass, seconds),
        host: HostSample::default(),
        invalid: Vec::new(),
        flags: flags(&cell),
        cell,
    }
}

fn comm(cell: &Cell, bytes: Bytes, seconds: f64) -> CommSample {
    let flows = cell.case.flows();
    let share = Bytes::new(bytes.count() / u64::try_from(flows.len()).unwrap());
    let elapsed = Nanos::new(whole(seconds * 1e9));
    let connections = flows.iter().map(|flow| ConnectionSample {
        peer: flow.peer,
        direction: flow.direction,
        bytes: share,
        messages: share.count() / cell.application.message_bytes.count(),
        elapsed_ns: elapsed,
        receiver_elapsed_ns: elapsed,
        sender: end(btu_core::role::Role::Test, cell),
        receiver: end(flow.peer, cell),
        proof_failures: Vec::new(),
        longest_pause_ns: Some(Nanos::from_millis(2)),
    });
    CommSample { elapsed_ns: elapsed, bytes, connections: connections.collect() }
}

/// As two kernels of today have it of each other.
const NEGOTIATED: Negotiated = Negotiated {
    sack: true,
    timestamps: true,
    ecn: false,
    wscale_snd_bits: Some(7),
    wscale_rcv_bits: Some(10),
};

fn end(role: btu_core::role::Role, cell: &Cell) -> EndSample {
    let retransmitted = if cell.case.impairment() == Impairment::Drop { 4 } else { 0 };
    EndSample {
        role,
        calls: 1000,
        call_bytes: cell.application.message_bytes,
        write_call: btu_core::run::calls::WriteCall::Plain,
        message_file: None,
        stood_still_ns: Nanos::ZERO,
        cpu_ns: Some(Nanos::from_millis(80)),
        run_delay_ns: Some(Nanos::from_micros(300)),
        voluntary_switches: Some(10),
        involuntary_switches: Some(2),
        port: None,
        cpus: vec![0],
        hold: btu_core::sample::Hold::Pinned,
        ftp_session: None,
        options: SocketOptions {
            congestion: Some("cubic".into()),
            negotiated: Some(NEGOTIATED),
            ..SocketOptions::default()
        },
        tcp_info: Some(TcpInfo {
            total_retrans: Some(retransmitted),
            data_segs_out: Some(500),
            ..TcpInfo::default()
        }),
        series: None,
    }
}

fn work(activity: &ActivityName, seconds: f64, slowdown: f64) -> ActivitySample {
    let rate = match activity.as_str() {
        "cpu" => 8200.0,
        "io" => 640.0,
        _ => 310.0,
    };
    ActivitySample {
        units: rate / slowdown * seconds,
        elapsed_ns: Nanos::new(whole(seconds * 1e9)),
        threads: 1,
        cpu_ns: Some(Nanos::new(whole(seconds * 0.9e9))),
        unit: "1 MiB block read and written".into(),
        failures: Vec::new(),
    }
}

fn emulation(cell: &Cell, pass: u32, seconds: f64) -> Vec<DirectionSample> {
    let delayed = cell.case.impairment() == Impairment::Delay;
    if cell.case.impairment() == Impairment::None {
        return Vec::new();
    }
    let error = Quantiles { n: 4000, mean: 6.0, p50: 4.0 + f64::from(pass), p99: 31.5, max: 72.0 };
    let sample = |link: &str, direction: &str| DirectionSample {
        link: link.into(),
        direction: direction.into(),
        packets: 4000,
        bytes: 5_900_000,
        dropped: if delayed { 0 } else { 40 },
        pattern_drops: (!delayed).then_some(40),
        delay_asked_us: delayed.then_some(5000.0),
        delay_error_us: delayed.then_some(error),
        lateness_us: delayed.then_some(error),
        elapsed_ns: Nanos::new(whole((seconds + 0.05) * 1e9)),
        late: u64::from(delayed),
        ..DirectionSample::default()
    };
    vec![sample("test-active", "up"), sample("test-active", "down")]
}

fn flags(cell: &Cell) -> Vec<Flag> {
    let flagged = cell.case == Case::TwoSendDropped && cell.activity.as_str() == "io";
    let few = "3 work units in the window, fewer than 5";
    flagged.then(|| Flag::new("few-units", few)).into_iter().collect()
}

/// A rate that grows with the message size and falls with load, delay and drops.
fn goodput(cell: &Cell, pass: u32, position: u32) -> f64 {
    let full = match cell.case.impairment() {
        Impairment::None => 14_000.0,
        Impairment::Delay => 420.0,
        Impairment::Drop => 1_300.0,
    };
    let size = bytes(&cell.application);
    let load = match cell.activity.as_str() {
        "none" => 1.0,
        "cpu" => 0.58,
        "ftp" => 0.66,
        _ => 0.81,
    };
    full * load * size / (size + 1500.0) * wobble(pass, position)
}

fn slowdown(cell: &Cell, pass: u32, position: u32) -> f64 {
    let base = match cell.activity.as_str() {
        "cpu" => 1.72,
        "ftp" => 1.44,
        _ => 1.08,
    };
    let idle_link = if cell.case.impairment() == Impairment::None { 1.0 } else { 0.7 };
    1.0 + (base - 1.0)
        * idle_link
        * (1.0 + 0.05 * f64::from((position + pass) % 5) + 0.02 * f64::from(pass))
}

/// A few percent up and down, the same in every build of the fixture.
fn wobble(pass: u32, position: u32) -> f64 {
    1.0 + 0.01 * f64::from((pass * 37 + position * 11) % 7) - 0.03 + 0.02 * f64::from(pass)
}

fn verification(when: &str) -> VerificationSample {
    let around =
        |p50: f64| Some(Quantiles { n: 50, mean: p50, p50, p99: p50 * 1.3, max: p50 * 2.0 });
    VerificationSample {
        when: when.into(),
        link: "test-active".into(),
        direct_rtt_us: around(38.0),
        emulated_rtt_us: around(91.0),
        delayed_rtt_us: around(10_094.0),
        delay_asked_us: 5000.0,
        pattern_packets: 4000,
        pattern_expected: 40,
        pattern_dropped: 40,
        bulk_bit_s: Some(6.2e9),
        not_foretold: Vec::new(),
        mismatches: Vec::new(),
    }
}

fn hosts() -> Disclosure {
    let group = |facts: &[(&str, Fact)]| {
        facts.iter().map(|(name, fact)| ((*name).to_owned(), fact.clone())).collect()
    };
    let test = [
        (
            "cpu".to_owned(),
            group(&[
                ("model", Fact::known("Example CPU 9000 2.4 GHz")),
                ("online", Fact::known("0-1")),
                ("microcode", Fact::unavailable("ENOENT: no such file")),
            ]),
        ),
        ("memory".to_owned(), group(&[("total", Fact::known("24684092 kB"))])),
        ("system".to_owned(), group(&[("kernel", Fact::known("6.18.0"))])),
    ];
    Disclosure {
        hosts: [("test".to_owned(), test.into_iter().collect())].into_iter().collect(),
        tool: group(&[("version", Fact::known("0.1.0")), ("profile", Fact::known("release"))]),
        price: Some("2900USD@2026-11".into()),
        marks: vec!["SPECint=32.2@vendor".into()],
        note: Some("a synthetic run".into()),
        placement: group(&[
            ("test", Fact::known("CPU 0")),
            ("black boxes", Fact::known("CPU 1, shared with the emulator")),
        ]),
    }
}

fn events() -> Vec<EventRecord> {
    let event = |at: &str, event: &str| EventRecord {
        at: at.into(),
        event: event.into(),
        detail: String::new(),
    };
    vec![event("2026-11-21T20:00:00Z", "started"), event("2026-11-21T20:01:18Z", "finished")]
}

fn moment(pass: u32, position: u32) -> String {
    format!("2026-11-21T20:{pass:02}:{:02}.{position:03}Z", position % 60)
}

#[expect(clippy::cast_precision_loss, reason = "message sizes are small")]
fn bytes(application: &Application) -> f64 {
    application.message_bytes.count() as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and positive")]
fn whole(value: f64) -> u64 {
    value.round() as u64
}
