//! Adaptive video: segments, a buffer, a choice of quality.

use super::prelude::*;
use crate::traffic::train::Conversation;
use crate::traffic::train::Noticed;
use crate::traffic::train::Script;
use crate::traffic::train::Step;
use std::collections::VecDeque;

/// Segments of one length, whose size is rate x length x lognormal with a deviation of 0.3; the
/// player fills its buffer, then asks for a segment whenever one fits. The quality is the highest
/// below 0.8 of the harmonic mean of the last three throughputs, or that of BOLA (Spiteri, Urgaonkar,
/// Sitaraman, 2016), which looks at the buffer alone.
pub(super) static MODEL: Model = Model {
    shape: Shape {
        name: "dash",
        about: "adaptive video: segments on demand, quality by throughput or buffer",
        parameters: &[
            choice("abr", &["throughput", "bola"], "what the quality follows"),
            fixed("segment", Quantity::Time, "4 s", "length of a segment").within(s(0.1), s(60.0)),
            fixed("buffer", Quantity::Time, "30 s", "what the player keeps")
                .at_least(START, "segment"),
            DURATION,
        ],
    },
    source: "ladder and sizes from the literature; BOLA: K. Spiteri et al., INFOCOM 2016",
    verified: Verified::No(
        "ladder, deviation and the choice by throughput are ours; the score of BOLA is that of BolaRule.js of dash.js, \
         which takes other constants",
    ),
    variants: &[variant("throughput", ""), variant("bola", "abr=bola")],
    rates: |call| {
        let segment = call.number("segment") / 1e9;
        [500.0 / segment, LADDER[LADDER.len() - 1] / 8.0]
    },
    train: |call, streams| {
        Train::Closed(Box::new(Conversation::new(Box::new(Player::new(call, streams)))))
    },
    claims: |_| vec![follows("size over rate", spread(), sizes)],
};

/// The sizes of so many segments by their rate and length, as a player asks for them over a line whose rate goes
/// through all qualities.
fn sizes(call: &Call, streams: &Streams, count: usize) -> Vec<f64> {
    let mut player = Player::new(call, streams);
    let (mut found, mut steps, mut elapsed) =
        (Vec::with_capacity(count), VecDeque::new(), Nanos::ZERO);
    while found.len() < count {
        player.more(elapsed, &mut steps);
        for step in steps.drain(..) {
            if let Step::Ask(asks) = &step {
                let bits: f64 = asks.iter().map(|ask| 8.0 * float(ask.2.count())).sum();
                let line = 1.5 * LADDER[found.len() / 8 % LADDER.len()];
                found.push(bits / (LADDER[player.rung] * player.segment));
                elapsed = Nanos::new(whole(1e9 * bits / line));
            } else if let Step::Think(time) = step {
                elapsed = time;
            }
        }
    }
    found
}

#[derive(Debug)]
struct Player {
    by_buffer: bool,
    segment: f64,
    target: f64,
    size: Stream,
    /// Seconds of video in the buffer, and whether it plays.
    buffer: f64,
    plays: bool,
    /// The segment that is under way, in bits; `None` while waiting.
    asked: Option<f64>,
    throughputs: VecDeque<f64>,
    rung: usize,
    /// For the outcome: rungs that were played, stalls, the time until now and until it played.
    rungs: Vec<usize>,
    stalled: f64,
    watched: f64,
    started: Option<f64>,
}

impl Player {
    fn new(call: &Call, streams: &Streams) -> Self {
        Self {
            by_buffer: call.word("abr") == "bola",
            segment: call.number("segment") / 1e9,
            target: call.number("buffer") / 1e9,
            size: streams.stream("size"),
            buffer: 0.0,
            plays: false,
            asked: None,
            throughputs: VecDeque::new(),
            rung: 0,
            rungs: Vec::new(),
            stalled: 0.0,
            watched: 0.0,
            started: None,
        }
    }

    /// Time passes; a player whose buffer runs empty stalls.
    fn pass(&mut self, seconds: f64) {
        self.stalled = self.stalled_after(seconds);
        self.watched += seconds;
        if self.plays {
            self.buffer = (self.buffer - seconds).max(0.0);
        }
    }

    /// For how long it will have stalled if nothing comes for so long.
    fn stalled_after(&self, seconds: f64) -> f64 {
        let more = if self.plays { (seconds - self.buffer).max(0.0) } else { 0.0 };
        self.stalled + more
    }

    fn arrived(&mut self, bits: f64, seconds: f64) {
        self.buffer += self.segment;
        if !self.plays && self.buffer >= START * self.segment {
            (self.plays, self.started) = (true, Some(self.watched));
        }
        self.throughputs.push_back(bits / seconds.max(1e-6));
        if self.throughputs.len() > 3 {
            self.throughputs.pop_front();
        }
    }

    fn choose(&self) -> usize {
        if self.by_buffer { self.bola() } else { self.below_throughput() }
    }

    fn below_throughput(&self) -> usize {
        let inverse: f64 = self.throughputs.iter().map(|rate| 1.0 / rate).sum();
        let mean = crate::stats::count(self.throughputs.len()) / inverse.max(1e-12);
        LADDER.iter().rposition(|rate| *rate <= 0.8 * mean).unwrap_or(0)
    }

    /// The rung with the largest (V (ln(S/S1) + gp) - Q) / S, with gp = 5 and the buffer as bound.
    fn bola(&self) -> usize {
        let value = |rate: f64| (rate / LADDER[0]).ln() + 5.0;
        let most = self.target / self.segment;
        let weight = (most - 1.0) / value(LADDER[LADDER.len() - 1]);
        let queue = self.buffer / self.segment;
        let score = |rung: &usize| (weight * value(LADDER[*rung]) - queue) / LADDER[*rung];
        let best = (0..LADDER.len()).max_by(|a, b| score(a).total_cmp(&score(b)));
        best.unwrap_or(0)
    }

    fn ask(&mut self, steps: &mut VecDeque<Step>) {
        self.rung = self.choose();
        self.rungs.push(self.rung);
        let bits = LADDER[self.rung] * self.segment * spread().sample(&mut self.size);
        let bytes = whole(bits / 8.0).max(1);
        self.asked = Some(8.0 * float(bytes));
        steps.push_back(Step::Ask(vec![(0, Bytes::new(500), Bytes::new(bytes))]));
    }
}

impl Script for Player {
    fn more(&mut self, elapsed: Nanos, steps: &mut VecDeque<Step>) {
        let seconds = elapsed.seconds();
        self.pass(seconds);
        if let Some(bits) = self.asked.take() {
            self.arrived(bits, seconds);
        }
        let full = self.buffer + self.segment - self.target;
        if full > 1e-9 && self.plays {
            steps.push_back(Step::Think(Nanos::new(whole(full * 1e9).max(1))));
        } else {
            self.ask(steps);
        }
    }

    fn noticed(&self, elapsed: Nanos) -> Vec<Noticed> {
        let since = elapsed.seconds();
        let segments = crate::stats::count(self.rungs.len()).max(1.0);
        let rate: f64 = self.rungs.iter().map(|rung| LADDER[*rung]).sum::<f64>() / segments;
        let switches = self.rungs.windows(2).filter(|pair| pair[0] != pair[1]).count();
        let start = match self.started {
            Some(after) => Noticed { name: "began to play after, s", value: after },
            None => Noticed { name: "did not play for, s", value: self.watched + since },
        };
        vec![
            start,
            Noticed { name: "stalled, s", value: self.stalled_after(since) },
            Noticed { name: "mean quality, Mb/s", value: rate / 1e6 },
            Noticed { name: "switches of quality", value: crate::stats::count(switches) },
        ]
    }
}

fn spread() -> Law {
    Law::of("lognormal", [1.0, 0.3, 0.0])
}

/// Bits per second of the qualities.
const LADDER: [f64; 9] = [0.4e6, 0.8e6, 1.5e6, 2.5e6, 4e6, 6e6, 8e6, 12e6, 16e6];
/// Segments in the buffer before it plays.
const START: f64 = 2.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// A player of segments of 4 s that takes `times` for its first ones; what its user noticed after so long.
    fn noticed(times: &[u64], last: u64) -> Vec<(&'static str, f64)> {
        let call = Call::plain(&MODEL.shape);
        let mut player = Player::new(&call, &Streams::new(1, "dash"));
        let mut steps = VecDeque::new();
        player.more(Nanos::ZERO, &mut steps);
        for time in times {
            player.more(Nanos::from_secs(*time), &mut steps);
        }
        let noticed = player.noticed(Nanos::from_secs(last));
        noticed.into_iter().take(2).map(|one| (one.name, one.value)).collect()
    }

    #[test]
    fn what_has_not_come_yet_stalls_a_player() {
        // 12 s came within 6 s, of which 4 were played.
        let fails = noticed(&[1, 1, 4], 30);
        assert_eq!(fails, [("began to play after, s", 2.0), ("stalled, s", 22.0)]);
        assert_eq!(noticed(&[1, 1, 4], 5)[1], ("stalled, s", 0.0));
        let never = noticed(&[32], 28);
        assert_eq!(never, [("did not play for, s", 60.0), ("stalled, s", 0.0)]);
    }
}
