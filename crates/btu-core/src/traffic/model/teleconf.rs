//! Video of a teleconference: frames of gamma sizes with a long memory.

use super::prelude::*;

/// Heyman, Tabatabai, Lakshman (1992): DAR(1), a frame repeats the size of the one before with
/// probability 0.985, else it is drawn anew: gamma with mean 130 and variance 5536 cells of 64
/// bytes, 25 frames/s. Heyman (1997): GBAR(1), X' = A X + B with A beta, B gamma, the same gamma
/// sizes and correlation, moving in small steps.
pub(super) static MODEL: Model = Model {
    shape: Shape {
        name: "teleconf",
        about: "video of a teleconference: 25 frames/s with a long memory",
        parameters: &[
            choice("memory", &["dar", "gbar"], "repeated sizes, or small steps"),
            DURATION,
        ],
    },
    source: "D. Heyman, A. Tabatabai, T. Lakshman, IEEE CSVT 2(1), 1992; D. Heyman, 1997",
    verified: Verified::No("parameters recalled from the papers"),
    variants: &[variant("dar", ""), variant("gbar", "memory=gbar")],
    rates: |_| [CELL * MEAN * 25.0, 0.0],
    train: |call, streams| Train::Open(Box::new(Video::new(call, streams))),
    claims: |_| {
        vec![
            // Within a video no two frames are independent: one of each of many, where a tenth of the memory of
            // the first frame is left. Fewer than 100 have too few bins.
            rounded("size of a frame", size(), |call, streams, n| {
                let far = |part| {
                    let mut video = Video::new(call, &streams.part(part));
                    (0..150).map(|_| video.size()).last().unwrap_or_default().round()
                };
                (0..(n / 10).max(100) as u64).map(far).collect()
            }),
            Claim {
                what: "memory of the size",
                says: Says::Correlation(MEMORY),
                values: |call, streams, n| observe::sizes(call, streams, Forward, n),
            },
        ]
    },
};

#[derive(Debug)]
struct Video {
    gradual: bool,
    now: f64,
    fresh: Stream,
    keep: Stream,
}

impl Video {
    fn new(call: &Call, streams: &Streams) -> Self {
        let mut fresh = streams.stream("size");
        let now = size().sample(&mut fresh);
        Self { gradual: call.word("memory") == "gbar", now, fresh, keep: streams.stream("keep") }
    }

    fn size(&mut self) -> f64 {
        let now = self.now;
        let (shape, scale) = gamma();
        if self.gradual {
            let kept = Law::of("beta", [MEMORY * shape, (1.0 - MEMORY) * shape, 1.0]);
            let added = Law::of("gamma", [(1.0 - MEMORY) * shape, scale, 0.0]);
            self.now = now * kept.sample(&mut self.keep) + added.sample(&mut self.fresh);
        } else if self.keep.unit() >= MEMORY {
            self.now = size().sample(&mut self.fresh);
        }
        now
    }
}

impl Open for Video {
    fn next(&mut self) -> Option<Arrival> {
        let bytes = Bytes::new(whole(self.size()).max(1));
        Some(Arrival { gap: Nanos::from_millis(40), bytes, flow: 0, direction: Forward })
    }
}

/// Shape, and scale in bytes.
const fn gamma() -> (f64, f64) {
    (MEAN * MEAN / VARIANCE, VARIANCE / MEAN * CELL)
}

fn size() -> Law {
    let (shape, scale) = gamma();
    Law::of("gamma", [shape, scale, 0.0])
}

const CELL: f64 = 64.0;
const MEAN: f64 = 130.0;
const VARIANCE: f64 = 5536.0;
const MEMORY: f64 = 0.985;
