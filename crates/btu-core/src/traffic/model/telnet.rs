//! Remote terminals: keys one by one, each echoed.

use super::prelude::*;
use super::tcplib;
use crate::traffic::train::Action;
use crate::traffic::train::Closed;
use crate::traffic::train::Event;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Paxson and Floyd (1995), Paxson (1994): sessions Poisson; keys per session log2-normal with
/// log2 100 and 2.24; gaps between keys by the table of tcplib (Danzig and Jamin, 1991), mean 1.1 s, 14 % above 1 s.
/// Each key is one byte and is echoed.
pub(super) static MODEL: Model = Model {
    shape: Shape {
        name: "telnet",
        about: "remote terminals: keys one by one, each echoed",
        parameters: &[time_between("interarrival", "exp(60 s)", "between two sessions"), DURATION],
    },
    source: "V. Paxson, S. Floyd, IEEE/ACM ToN 3(3), 1995; V. Paxson, ToN 2(4), 1994; tcplib, 1991",
    verified: Verified::No(
        "keys of a session recalled from the papers; gaps between keys are those of tcplib as ns-2.35 has it \
         (tcp/tcplib-telnet.cc of hbatmit/ns2.35), 66 of 10,000 quantiles, which keep all shares within 0.3 % and the \
         mean within 1 %",
    ),
    variants: PLAIN,
    rates: |call| {
        let keys = mean_keys() * 1e9 / call.number("interarrival");
        [keys, keys]
    },
    train: |call, streams| Train::Closed(Box::new(Terminals::new(call, streams))),
    claims: |call| {
        vec![
            follows("gap between keys", gaps(), typed),
            rounded("keys of a session", keys(), |call, streams, n| {
                let mut typing = Terminals::new(call, streams);
                (0..n).map(|_| float(typing.session().0)).collect()
            }),
            follows(
                "time between two sessions",
                call.variate("interarrival").law().clone(),
                |call, streams, n| {
                    let mut typing = Terminals::new(call, streams);
                    (0..n).map(|_| float(typing.session().1.count())).collect()
                },
            ),
            per_session(mean_keys() * 1e9 / call.number("interarrival"), |call, streams, n| {
                let mut typing = Terminals::new(call, streams);
                let pair = |(keys, gap): (u64, Nanos)| [float(keys), gap.seconds()];
                (0..n).flat_map(|_| pair(typing.session())).collect()
            }),
        ]
    },
};

/// The gaps between the keys of sessions one after another, as they are typed: of sessions side by side the
/// longest gaps would not be over at the end.
fn typed(call: &Call, streams: &Streams, count: usize) -> Vec<f64> {
    let mut train = Terminals::new(call, streams);
    let (mut found, mut actions) = (Vec::with_capacity(count), Vec::new());
    while found.len() < count {
        train.begin_sessions(train.next_session);
        let mut before: Option<Nanos> = None;
        while let Some(Reverse((due, _))) = train.due.peek().copied() {
            train.type_keys(due, &mut actions);
            let gap = before.replace(due).map(|before| float(due.since(before).count()));
            found.extend(gap);
            actions.clear();
        }
    }
    found.truncate(count);
    found
}

/// Sessions side by side; the flow is the session's place.
#[derive(Debug)]
struct Terminals {
    between: (Law, Stream),
    keys: (Law, Stream),
    gaps: (Law, Stream),
    /// Keys that are left of the session of each flow.
    left: Vec<u64>,
    /// When each flow types its next key.
    due: BinaryHeap<Reverse<(Nanos, u32)>>,
    next_session: Nanos,
}

impl Terminals {
    fn new(call: &Call, streams: &Streams) -> Self {
        Self {
            between: (call.variate("interarrival").law().clone(), streams.stream("interarrival")),
            keys: (keys(), streams.stream("keys")),
            gaps: (gaps(), streams.stream("gap")),
            left: Vec::new(),
            due: BinaryHeap::new(),
            next_session: Nanos::ZERO,
        }
    }

    /// The keys of the next session, and the time until another one begins.
    fn session(&mut self) -> (u64, Nanos) {
        let keys = whole(self.keys.0.sample(&mut self.keys.1)).max(1);
        let gap = whole(self.between.0.sample(&mut self.between.1)).max(1);
        (keys, Nanos::new(gap))
    }

    fn begin_sessions(&mut self, now: Nanos) {
        while self.next_session <= now {
            let (keys, gap) = self.session();
            let free = self.left.iter().position(|left| *left == 0);
            let place = free.unwrap_or_else(|| {
                self.left.push(0);
                self.left.len() - 1
            });
            self.left[place] = keys;
            self.due.push(Reverse((now, u32::try_from(place).unwrap_or(u32::MAX))));
            self.next_session = self.next_session.saturating_add(gap);
        }
    }

    fn type_keys(&mut self, now: Nanos, actions: &mut Vec<Action>) {
        while self.due.peek().is_some_and(|Reverse((due, _))| *due <= now) {
            let Some(Reverse((due, flow))) = self.due.pop() else { return };
            let key = Bytes::new(1);
            actions.push(Action::Ask { flow, request: key, answer: key });
            let Some(left) = self.left.get_mut(flow as usize) else { continue };
            *left -= 1;
            if *left == 0 {
                actions.push(Action::Close { flow });
            } else {
                let gap = whole(self.gaps.0.sample(&mut self.gaps.1));
                self.due.push(Reverse((due.saturating_add(Nanos::new(gap)), flow)));
            }
        }
    }
}

impl Closed for Terminals {
    fn on(&mut self, now: Nanos, event: Event, actions: &mut Vec<Action>) {
        if matches!(event, Event::Answered { .. }) {
            return;
        }
        self.begin_sessions(now);
        self.type_keys(now, actions);
        let next = self.due.peek().map_or(self.next_session, |Reverse((due, _))| *due);
        actions.push(Action::Wait { until: next.min(self.next_session) });
    }
}

fn keys() -> Law {
    Law::of("log2normal", [100_f64.log2(), 2.24, 1.0])
}

/// The mean of the keys after rounding to at least one.
fn mean_keys() -> f64 {
    let law = keys();
    let tail = |keys: u64| 1.0 - law.cdf(float(keys) + 0.5);
    let first: f64 = (1..2000).map(tail).sum();
    let above = law.mean().unwrap_or(0.0) - law.clone().clamped(0.0, 1999.5).mean().unwrap_or(0.0);
    1.0 + first + above
}

/// Gaps between keys.
fn gaps() -> Law {
    tcplib::gaps().clone()
}

/// Durations of sessions: geometric mean 240 s, geometric deviation 7.8.
pub(in crate::traffic) fn durations() -> Law {
    Law::log_normal(240_f64.ln(), 7.8_f64.ln(), 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::train::converse;

    /// What the rate rests on: sessions begin when they are drawn, and type every key that was.
    #[test]
    fn every_session_types_all_its_keys() {
        let call = Call::plain(&MODEL.shape);
        let streams = Streams::new(5, "telnet");
        let mut drawn = Terminals::new(&call, &streams);
        let mut wanted: Vec<u64> = Vec::new();
        let mut begins = Nanos::ZERO;
        while begins <= END {
            let (keys, gap) = drawn.session();
            wanted.push(keys);
            begins = begins.saturating_add(gap);
        }
        let mut train = Terminals::new(&call, &streams);
        let done = converse(&mut train, Nanos::ZERO, END, usize::MAX);
        let (mut open, mut typed) = (std::collections::BTreeMap::new(), Vec::new());
        for (_, action) in done {
            match action {
                Action::Ask { flow, .. } => *open.entry(flow).or_insert(0) += 1,
                Action::Close { flow } => typed.extend(open.remove(&flow)),
                Action::Done | Action::Wait { .. } => {}
            }
        }
        assert!(typed.len() > 100, "{}", typed.len());
        assert_eq!(typed.len() + open.len(), wanted.len());
        // A session that goes on has typed no more than it will.
        let left: u64 = train.left.iter().sum();
        let keys: u64 = typed.iter().chain(open.values()).sum();
        assert_eq!(keys + left, wanted.iter().sum::<u64>());
    }

    const END: Nanos = Nanos::from_secs(40_000);
}
