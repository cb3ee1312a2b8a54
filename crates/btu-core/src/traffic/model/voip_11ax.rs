//! Voice over Wi-Fi: speech frames, comfort noise in silence, jitter of the network before.

use super::prelude::*;
use crate::traffic::train::Timeline;
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
    variants: PLAIN,
    rates: |_| {
        let [talk, silence] = frames_per_state();
        let time = talk * 0.020 + silence * 0.160;
        [(float(SPEECH) * talk + float(NOISE) * silence) / time, 0.0]
    },
    train: |_, streams| Train::Open(Box::new(Jittered::new(streams))),
    claims: |_| {
        let [talk, silence] =
            frames_per_state().map(|mean| Law::of("geometric", [1.0 / mean, 0.0, 0.0]));
        vec![
            follows("frames of talk", talk, |_, streams, n| states(streams, n, SPEECH)),
            follows("frames of silence", silence, |_, streams, n| states(streams, n, NOISE)),
            follows("jitter of frames of silence", jitter(), |_, streams, n| delays(streams, n)),
        ]
    },
};

/// How many frames so many states have, of speech or of comfort noise.
fn states(streams: &Streams, count: usize, wanted: u64) -> Vec<f64> {
    let mut talk = Talk::new(streams);
    let (mut found, mut frames, mut before) = (Vec::with_capacity(count), 0_u64, SPEECH);
    while found.len() < count {
        let (_, bytes) = talk.frame();
        if bytes != before {
            found.extend((before == wanted).then_some(float(frames)));
            (frames, before) = (0, bytes);
        }
        frames += 1;
    }
    found
}

/// The jitter of so many frames of silence, from when they come and when they were made: as far apart as the
/// jitter reaches, they do not overtake each other.
fn delays(streams: &Streams, count: usize) -> Vec<f64> {
    let (mut talk, mut made) = (Talk::new(streams), Nanos::ZERO);
    let made = std::iter::repeat_with(move || {
        let (interval, bytes) = talk.frame();
        made = made.saturating_add(interval);
        (made, bytes)
    });
    let come = Timeline::new(Box::new(Jittered::new(streams)));
    let come = come.filter(|(_, arrival)| arrival.bytes == Bytes::new(NOISE));
    let pairs = made.filter(|(_, bytes)| *bytes == NOISE).zip(come).take(count);
    pairs.map(|((made, _), (at, _))| float(at.count()) - float(made.count()) - BOUND).collect()
}

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
        (Nanos::new(whole(self.interval())), if self.active { SPEECH } else { NOISE })
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

impl Jittered {
    fn new(streams: &Streams) -> Self {
        Self {
            talk: Talk::new(streams),
            jitter: (jitter(), streams.stream("jitter")),
            made: Nanos::ZERO,
            waiting: BinaryHeap::new(),
            order: 0,
            at: Nanos::ZERO,
        }
    }
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
/// Bytes of a frame of speech, and of one of comfort noise.
const SPEECH: u64 = 33;
const NOISE: u64 = 7;
