//! File transfers of the eighties: sessions of several files.

use super::prelude::*;
use super::tcplib;
use crate::traffic::train::Sessions;

/// Paxson and Floyd (1995): sessions are Poisson, and the files of one come in bursts. How many they are and how
/// large is that of tcplib (Danzig and Jamin, 1991), whose measurements are of the eighties. Files of a session
/// follow each other within 4 s, which the paper calls a burst.
pub(super) static MODEL: Model = Model {
    shape: Shape {
        name: "ftp",
        about: "sessions of several files, as tcplib measured them",
        parameters: &[time_between("interarrival", "exp(30 s)", "between two sessions"), DURATION],
    },
    source: "V. Paxson, S. Floyd, IEEE/ACM ToN 3(3), 1995; P. Danzig, S. Jamin, tcplib, 1991",
    verified: Verified::Yes(
        "numbers and sizes of files with tcplib as GloMoSim 2.02 has it (glomosim/tcplib/ftp.h of \
         deepak7514/Glomosim): every row of the numbers, 61 of 290 rows of the sizes, which keep all shares within \
         0.3 % and the mean within 1 %; Poisson sessions with the abstract of Paxson and Floyd; there a number \
         between two rows is cut off, which makes one file of two; the gaps within a session are ours",
    ),
    variants: PLAIN,
    rates: |call| {
        let mean = |law: &Law| law.mean().unwrap_or(0.0);
        let session = mean(tcplib::files()) * mean(tcplib::sizes());
        [session * 1e9 / call.number("interarrival"), 0.0]
    },
    train: |call, streams| Train::Open(Box::new(transfers(call, streams))),
    claims: |call| {
        let between = call.variate("interarrival").law().below_tail();
        let mean = |law: &Law| law.mean().unwrap_or(0.0);
        let [files, sizes] = [tcplib::files(), tcplib::sizes()].map(Law::below_tail);
        let session = mean(&files) * mean(&sizes);
        let capped = session * 1e9 / mean(&between);
        vec![
            rounded("size of a file", tcplib::sizes().clone(), |call, streams, n| {
                observe::sizes(call, streams, Forward, n)
            }),
            rounded("files of a session", tcplib::files().clone(), |_, streams, n| {
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
    let (most, mut gaps) = (tcplib::sizes().quantile(BELOW_TAIL), streams.stream("interarrival"));
    let most_files = whole(tcplib::files().quantile(BELOW_TAIL));
    let mut one = |part| {
        let mut session = Session::new(&streams.part(part));
        session.left = session.left.min(most_files);
        let files = std::iter::from_fn(|| session.next());
        let bytes: f64 = files.map(|file| float(file.bytes.count()).min(most)).sum();
        [bytes, between.sample(&mut gaps) / 1e9]
    };
    // Twice as many as others have: numbers and sizes of files spread wide, and sessions cost little.
    (0..2 * count as u64).flat_map(&mut one).collect()
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
        let left = whole(tcplib::files().sample(&mut streams.stream("items")));
        Self { left, begun: false, size: streams.stream("size"), gap: streams.stream("gap") }
    }
}

impl Open for Session {
    fn next(&mut self) -> Option<Arrival> {
        self.left = self.left.checked_sub(1)?;
        let gap = if self.begun { gap().sample(&mut self.gap) } else { 0.0 };
        self.begun = true;
        let bytes = Bytes::new(whole(tcplib::sizes().sample(&mut self.size)).max(1));
        Some(Arrival { gap: Nanos::new(whole(gap)), bytes, flow: 0, direction: Forward })
    }
}

/// Within a burst at most 4 s.
fn gap() -> Law {
    let exp = Law::of("exp", [s(2.0), 0.0, 0.0]);
    Law::Truncate(Box::new(exp), None, Some(s(4.0)))
}
