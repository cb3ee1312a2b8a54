//! Samples for tests, and those of the paper's tables.

use std::collections::BTreeMap;

use super::Journal;
use super::plan::Plan;
use super::sample::ClientSample;
use super::sample::Direction;
use super::sample::Line;
use super::sample::Phases;
use super::sample::ServerSample;
use super::sample::Trial;
use super::sample::TrialSample;
use crate::disclosure::Disclosure;
use crate::disclosure::Fact;
use crate::journal::EventRecord;
use crate::units::Bytes;
use crate::units::Nanos;

/// A trial whose clients took so many seconds each, from the moment of their release.
pub(super) fn sample(trial: &Trial, direction: Direction, elapsed_s: &[f64]) -> TrialSample {
    let clients = (1..).zip(elapsed_s).map(|(n, s)| client(trial, n, direction, [0.0, *s]));
    TrialSample {
        trial: trial.clone(),
        round: 1,
        position: 1,
        warm_up: false,
        started_at: String::new(),
        clients: clients.collect(),
        servers: Vec::new(),
        host: None,
        path_mtu_bytes: None,
        offload: None,
        flags: Vec::new(),
    }
}

/// A client that worked from one second to another, each file as long as the next.
pub(super) fn client(
    trial: &Trial,
    client: u32,
    direction: Direction,
    [from, to]: [f64; 2],
) -> ClientSample {
    let each = nanos((to - from) / f64::from(trial.count));
    ClientSample {
        client,
        direction,
        bytes: trial.size_bytes * u64::from(trial.count),
        phases: Phases {
            request_ns: Some(nanos(from)),
            commit_ns: Some(nanos(to)),
            ..Phases::default()
        },
        took_ns: vec![each; usize::try_from(trial.count).unwrap()],
        sent: None,
        failure: None,
    }
}

/// A server that used so much CPU time and made so many calls in so long.
pub(super) fn server(elapsed_s: f64, cpu_s: f64, calls: u64, disk_read: u64) -> ServerSample {
    ServerSample {
        host: "b".into(),
        elapsed_ns: nanos(elapsed_s),
        cpu_ns: Some(nanos(cpu_s)),
        calls: Some(calls),
        disk_read: Some(Bytes::new(disk_read)),
        ..ServerSample::default()
    }
}

/// A finished journal of these samples.
pub(super) fn journal(plan: Plan, samples: Vec<TrialSample>) -> Journal {
    let event = |event: &str| EventRecord {
        at: "2026-11-21T00:00:00.000Z".into(),
        event: event.into(),
        detail: String::new(),
    };
    let cpu = BTreeMap::from([("online".to_owned(), Fact::known("0-1"))]);
    let test = BTreeMap::from([("cpu".to_owned(), cpu)]);
    Journal {
        plan,
        hosts: Disclosure {
            hosts: BTreeMap::from([("test".to_owned(), test)]),
            ..Disclosure::default()
        },
        lines: samples.into_iter().map(|sample| Line::FileTrial(Box::new(sample))).collect(),
        events: vec![event(EventRecord::STARTED), event(EventRecord::FINISHED)],
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times of tests are short and positive"
)]
pub(super) fn nanos(seconds: f64) -> Nanos {
    Nanos::new((seconds * 1e9).round() as u64)
}
