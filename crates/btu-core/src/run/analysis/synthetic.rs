//! Journals made by hand, for tests: a small plan, and runs with the figures that a test wants.

use crate::disclosure::Disclosure;
use crate::disclosure::Fact;
use crate::journal::AloneSample;
use crate::journal::EventRecord;
use crate::journal::Journal;
use crate::journal::Record;
use crate::run::cell::ActivityName;
use crate::run::cell::Case;
use crate::run::cell::Cell;
use crate::run::plan::Amount;
use crate::run::plan::Choices;
use crate::run::plan::Plan;
use crate::run::plan::Vocabulary;
use crate::sample::ActivitySample;
use crate::sample::CellSample;
use crate::sample::CommSample;
use crate::sample::ConnectionSample;
use crate::sample::DirectionSample;
use crate::sample::EndSample;
use crate::sample::HostSample;
use crate::sample::Outcome;
use crate::sample::SocketOptions;
use crate::sample::TcpInfo;
use crate::units::Bytes;
use crate::units::Nanos;

/// An official plan of two direct cases, two applications and one activity, windows of 1 s.
pub(crate) fn plan(min_passes: u32) -> Plan {
    let choices = Choices { seed: Some(7), ..Choices::default() };
    let words = Vocabulary { activities: &["cpu", "ftp", "io"] };
    let mut plan = Plan::resolve(&choices, &words, 7).unwrap();
    plan.preset = "official".into();
    plan.cases = vec![Case::Send, Case::Recv];
    plan.applications.retain(|y| ["telnet", "video"].contains(&y.name.as_str()));
    plan.activities = vec![ActivityName::new("cpu")];
    plan.amount = Amount::Window(Nanos::from_secs(1));
    plan.passes.min = min_passes;
    plan
}

/// A finished journal of a release build, without runs.
pub(crate) fn journal(plan: Plan) -> Journal {
    let mut hosts = Disclosure::default();
    hosts.tool.insert("profile".into(), Fact::known("release"));
    let events = vec![event("started"), event("finished")];
    Journal { plan, hosts, records: Vec::new(), events }
}

pub(crate) fn event(name: &str) -> EventRecord {
    EventRecord { at: STARTED.into(), event: name.into(), detail: format!("{name} at noon") }
}

/// An activity alone for 2 s.
pub(crate) fn alone(activity: &str, pass: u32, rate_per_s: f64) -> Record {
    Record::Alone(AloneSample {
        activity: ActivityName::new(activity),
        pass,
        position: 1,
        attempt: 1,
        started_at: STARTED.into(),
        sample: work(rate_per_s, Nanos::from_secs(2)),
        host: None,
        invalid: Vec::new(),
        flags: Vec::new(),
    })
}

/// A run of 1 s at `mbps`, whole and calm; `rate_per_s` is the activity's beside it.
pub(crate) fn run(plan: &Plan, name: &str, pass: u32, mbps: u64, rate_per_s: f64) -> CellSample {
    let cell = plan.cells().into_iter().find(|cell| cell.id() == name).unwrap();
    let position = plan.cells().iter().position(|other| *other == cell).unwrap();
    let window = Nanos::from_secs(1);
    let bytes = Bytes::new(mbps * 125_000);
    CellSample {
        comm: Some(traffic(&cell, bytes, window)),
        activity_sample: (!cell.activity.is_none()).then(|| work(rate_per_s, window)),
        cell,
        pass,
        position: u32::try_from(position).unwrap() + 1,
        attempt: 1,
        started_at: STARTED.into(),
        outcome: Outcome::Complete,
        emulation: Vec::new(),
        host: HostSample { elapsed_ns: window, ..HostSample::default() },
        invalid: Vec::new(),
        flags: Vec::new(),
    }
}

/// A record of a direction that did what it was asked, for runs of impaired cases.
pub(crate) fn direction(name: &str) -> DirectionSample {
    DirectionSample {
        link: "test-active".into(),
        direction: name.into(),
        packets: 1000,
        elapsed_ns: Nanos::from_millis(1010),
        ..DirectionSample::default()
    }
}

impl From<CellSample> for Record {
    fn from(sample: CellSample) -> Self {
        Self::Cell(Box::new(sample))
    }
}

fn work(rate_per_s: f64, window: Nanos) -> ActivitySample {
    ActivitySample {
        units: rate_per_s * window.seconds(),
        elapsed_ns: window,
        threads: 2,
        ..ActivitySample::default()
    }
}

/// The connections of the case; the bytes are shared equally.
fn traffic(cell: &Cell, bytes: Bytes, window: Nanos) -> CommSample {
    let flows = cell.case.flows();
    let each = Bytes::new(bytes.count() / u64::try_from(flows.len()).unwrap());
    let connections = flows.iter().map(|flow| {
        let end = |role, cpu: u64| EndSample {
            stood_still_ns: Nanos::ZERO,
            role,
            calls: each.count().div_ceil(cell.application.message_bytes.count()),
            call_bytes: cell.application.message_bytes,
            write_call: crate::run::calls::WriteCall::Plain,
            message_file: None,
            cpu_ns: Some(Nanos::from_millis(cpu)),
            run_delay_ns: Some(Nanos::ZERO),
            voluntary_switches: None,
            involuntary_switches: None,
            port: None,
            cpus: vec![0],
            hold: crate::sample::Hold::Pinned,
            ftp_session: None,
            options: SocketOptions::default(),
            tcp_info: Some(TcpInfo {
                data_segs_out: Some(each.count().div_ceil(1000)),
                total_retrans: Some(0),
                rtt_us: Some(100),
                ..TcpInfo::default()
            }),
            series: None,
        };
        let test = end(crate::role::Role::Test, 200);
        let black_box = end(flow.peer, 300);
        let sends = flow.direction == crate::run::cell::Direction::Send;
        let (sender, receiver) = if sends { (test, black_box) } else { (black_box, test) };
        ConnectionSample {
            peer: flow.peer,
            direction: flow.direction,
            bytes: each,
            messages: sender.calls,
            elapsed_ns: window,
            receiver_elapsed_ns: window,
            sender,
            receiver,
            proof_failures: Vec::new(),
            longest_pause_ns: Some(Nanos::from_millis(10)),
        }
    });
    CommSample { elapsed_ns: window, bytes, connections: connections.collect() }
}

const STARTED: &str = "2026-11-21T12:00:00Z";
