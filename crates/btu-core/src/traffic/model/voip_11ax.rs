//! Voice over Wi-Fi: speech frames, comfort noise in silence, jitter of the network before.

use super::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// IEEE 802.11-14/0571r12 by way of ns-3 tgax-voip-traffic.cc: active and silent Exp 1.25 s, 33 bytes per
/// 20 ms, 7 bytes per 160 ms, jitter Laplace 5.11 ms within +-80 ms, to which the bound is added so that it is
/// never negative. A state lasts for whole frames. A change with p = 0.016 per 20 ms makes the same 1.25 s;
/// ns-3 draws both, so that a state whose time is over begins again where no change was drawn.
pub(super) static MODEL: Model = Model {
    shape: Shape {
        name: "voip-11ax",
        about: "voice over Wi-Fi with comfort noise and jitter",
        parameters: &[DURATION],
    },
    source: "IEEE 802.11-14/0571r12, by way of ns-3 tgax-voip-traffic.cc",
    verified: Verified::Yes(
        "sizes, intervals, times of states and jitter with ns-3 (tgax-voip-traffic.cc), not with the text of \
         IEEE; there a state whose time is over may begin again, here the other one follows",
    ),
    rates: |_| {
        let [talk, silence] = frames_per_state();
        let time = talk * 0.020 + silence * 0.160;
        [(33.0 * talk + 7.0 * silence) / time, 0.0]
    },
    train: |_, streams| {
        let talk = Talk::new(streams);
        Train::Open(Box::new(Jittered {
            talk,
            jitter: (jitter(), streams.stream("jitter")),
            made: Nanos::ZERO,
            waiting: BinaryHeap::new(),
            order: 0,
            at: Nanos::ZERO,
        }))
    },
    claims: |_| {
        vec![
            follows("state", state(), |_, streams, n| {
                let mut talk = Talk::new(streams);
                (0..n).map(|_| talk.states.0.sample(&mut talk.states.1)).collect()
            }),
            follows("jitter", jitter(), |_, streams, n| {
                let mut stream = streams.stream("jitter");
                (0..n).map(|_| jitter().sample(&mut stream)).collect()
            }),
        ]
    },
};

/// Speech as the coder makes it, without jitter.
#[derive(Debug)]
struct Talk {
    states: (Law, Stream),
    active: bool,
    left: u64,
}

impl Talk {
    fn new(streams: &Streams) -> Self {
        Self { states: (state(), streams.stream("state")), active: false, left: 0 }
    }

    /// The next frame: its time and bytes.
    fn frame(&mut self) -> (Nanos, u64) {
        while self.left == 0 {
            self.active = !self.active;
            let time = self.states.0.sample(&mut self.states.1);
            self.left = whole((time / self.interval()).ceil());
        }
        self.left -= 1;
        (Nanos::new(whole(self.interval())), if self.active { 33 } else { 7 })
    }

    const fn interval(&self) -> f64 {
        if self.active { ms(20.0) } else { ms(160.0) }
    }
}

/// Frames that overtake each other.
#[derive(Debug)]
struct Jittered {
    talk: Talk,
    jitter: (Law, Stream),
    made: Nanos,
    waiting: BinaryHeap<Reverse<(Nanos, u64, u64)>>,
    order: u64,
    at: Nanos,
}

impl Open for Jittered {
    fn next(&mut self) -> Option<Arrival> {
        // No frame that is made later can come before the time at which it is made.
        while self.waiting.peek().is_none_or(|Reverse((due, ..))| *due >= self.made) {
            let (interval, bytes) = self.talk.frame();
            self.made = self.made.saturating_add(interval);
            let delay = whole(self.jitter.0.sample(&mut self.jitter.1) + BOUND);
            let due = self.made.saturating_add(Nanos::new(delay));
            self.waiting.push(Reverse((due, self.order, bytes)));
            self.order += 1;
        }
        let Reverse((due, _, bytes)) = self.waiting.pop()?;
        let gap = due.since(self.at);
        self.at = due;
        Some(Arrival { gap, bytes: Bytes::new(bytes), flow: 0, direction: Forward })
    }
}

fn state() -> Law {
    Law::of("exp", [s(1.25), 0.0, 0.0])
}

fn jitter() -> Law {
    let laplace = Law::of("laplace", [0.0, ms(5.11), 0.0]);
    Law::Truncate(Box::new(laplace), Some(-BOUND), Some(BOUND))
}

/// Mean whole frames of a state: 1 / (1 - exp(-interval / mean)).
fn frames_per_state() -> [f64; 2] {
    [0.020, 0.160].map(|interval: f64| 1.0 / -(-interval / 1.25).exp_m1())
}

const BOUND: f64 = ms(80.0);
