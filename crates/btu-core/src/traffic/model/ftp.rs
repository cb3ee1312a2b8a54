//! File transfers of the eighties: sessions of several files.

use super::prelude::*;
use crate::traffic::train::Sessions;

/// Paxson and Floyd (1995): sessions Poisson; within a session, files follow each other within 4 s
/// and form a burst whose bytes have a Pareto tail, alpha 0.9 to 1.4. Numbers and sizes of files are
/// tables of tcplib there; here they are fits: geometric with mean 5, Pareto with alpha 1.1 from
/// 1 kB, clamped at 16 MiB.
pub(super) static MODEL: Model = Model {
    shape: Shape {
        name: "ftp",
        about: "sessions of several files, sizes with a Pareto tail",
        parameters: &[time_between("interarrival", "exp(30 s)", "between two sessions"), DURATION],
    },
    source: "V. Paxson, S. Floyd, IEEE/ACM ToN 3(3), 1995; tcplib, 1991",
    verified: Verified::No("tcplib's tables are replaced by fits"),
    variants: PLAIN,
    rates: |call| {
        let mean = |law: Law| law.mean().unwrap_or(0.0);
        [mean(items()) * mean(size()) * 1e9 / call.number("interarrival"), 0.0]
    },
    train: |call, streams| Train::Open(Box::new(transfers(call, streams))),
    claims: |call| {
        let between = call.variate("interarrival").law().below_tail();
        let mean = |law: Law| law.mean().unwrap_or(0.0);
        let capped = mean(items()) * mean(size().below_tail()) * 1e9 / mean(between);
        vec![
            rounded("size of a file", size(), |call, streams, n| {
                observe::sizes(call, streams, Forward, n)
            }),
            follows("files of a session", items(), |_, streams, n| {
                let files = |part| {
                    let mut session = Session::new(&streams.part(part));
                    crate::stats::count(std::iter::from_fn(|| session.next()).count())
                };
                (0..n as u64).map(files).collect()
            }),
            follows("gap between two files of a session", gap(), |_, streams, n| {
                let gaps = |part| {
                    let mut session = Session::new(&streams.part(part));
                    let files: Vec<Arrival> = std::iter::from_fn(|| session.next()).collect();
                    files.into_iter().skip(1).map(|file| float(file.gap.count()))
                };
                (0..).flat_map(gaps).take(n).collect()
            }),
            follows(
                "time between two sessions",
                call.variate("interarrival").law().clone(),
                |call, streams, n| transfers(call, streams).gaps(n),
            ),
            below_tails(capped, sessions),
        ]
    },
};

fn transfers(call: &Call, streams: &Streams) -> Sessions {
    let make = |streams: &Streams| Box::new(Session::new(streams)) as Box<dyn Open>;
    Sessions::new(streams, call.variate("interarrival").law().clone(), Box::new(make))
}

/// So many sessions without the tails: bytes of all files, and seconds until the next one.
fn sessions(call: &Call, streams: &Streams, count: usize) -> Vec<f64> {
    let between = call.variate("interarrival").law().below_tail();
    let (most, mut gaps) = (size().quantile(BELOW_TAIL), streams.stream("interarrival"));
    let mut one = |part| {
        let mut session = Session::new(&streams.part(part));
        let files = std::iter::from_fn(|| session.next());
        let bytes: f64 = files.map(|file| float(file.bytes.count()).min(most)).sum();
        [bytes, between.sample(&mut gaps) / 1e9]
    };
    (0..count as u64).flat_map(&mut one).collect()
}

#[derive(Debug)]
struct Session {
    left: u64,
    begun: bool,
    size: Stream,
    gap: Stream,
}

impl Session {
    fn new(streams: &Streams) -> Self {
        let left = whole(items().sample(&mut streams.stream("items")));
        Self { left, begun: false, size: streams.stream("size"), gap: streams.stream("gap") }
    }
}

impl Open for Session {
    fn next(&mut self) -> Option<Arrival> {
        self.left = self.left.checked_sub(1)?;
        let gap = if self.begun { gap().sample(&mut self.gap) } else { 0.0 };
        self.begun = true;
        let bytes = Bytes::new(whole(size().sample(&mut self.size)).max(1));
        Some(Arrival { gap: Nanos::new(whole(gap)), bytes, flow: 0, direction: Forward })
    }
}

fn items() -> Law {
    Law::of("geometric", [0.2, 0.0, 0.0])
}

fn size() -> Law {
    Law::of("pareto", [1000.0, 1.1, 0.0]).clamped(1000.0, 16_777_216.0)
}

/// Within a burst at most 4 s.
fn gap() -> Law {
    let exp = Law::of("exp", [s(2.0), 0.0, 0.0]);
    Law::Truncate(Box::new(exp), None, Some(s(4.0)))
}
