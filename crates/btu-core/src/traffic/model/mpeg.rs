//! MPEG video: a pattern of I, P and B frames, scenes, and a variant with a long memory.

use super::frames::LongMemory;
use super::prelude::*;
use crate::traffic::law::Interpolation;
use crate::traffic::law::Table;
use statrs::distribution::ContinuousCDF as _;
use statrs::distribution::Normal;

/// Krunz and Tripathi (1997): frames IBBPBBPBBPBB; an I frame is its scene's level plus an AR(2)
/// process, scenes last a geometric number of I frames with mean 10.5, P and B frames are
/// independent; lognormal sizes. `starwars` (Garrett and Willinger, 1994): one long-memory process,
/// H = 0.8, gamma sizes with a Pareto tail, mean 27.8 kB and deviation 6.25 kB, 24 frames/s.
pub(super) static MODEL: Model = Model {
    shape: Shape {
        name: "mpeg",
        about: "MPEG video: I, P and B frames in scenes; or one process with a long memory",
        parameters: &[choice("film", &["scenes", "starwars"], "which of the two"), DURATION],
    },
    source: "M. Krunz, S. Tripathi, SIGMETRICS 1997; M. Garrett, W. Willinger, SIGCOMM 1994",
    verified: Verified::No("sizes of frames and AR coefficients are ours"),
    variants: &[variant("scenes", ""), variant("starwars", "film=starwars")],
    rates: |call| {
        if is_starwars(call) {
            return [24.0 * film_size().mean().unwrap_or(0.0), 0.0];
        }
        let mean = |law: Law| law.mean().unwrap_or(0.0);
        [25.0 * (mean(level()) + 3.0 * mean(predicted()) + 8.0 * mean(between())) / 12.0, 0.0]
    },
    train: |call, streams| {
        if is_starwars(call) {
            return Train::Open(Box::new(Film::new(streams)));
        }
        Train::Open(Box::new(Scenes::new(streams)))
    },
    claims: |call| {
        if is_starwars(call) { claims_of_film() } else { claims_of_scenes() }
    },
};

fn claims_of_film() -> Vec<Claim> {
    vec![
        Claim {
            what: "long memory of the frames",
            says: Says::Hurst(0.8),
            values: |call, streams, n| observe::sizes(call, streams, Forward, n.max(1 << 14)),
        },
        // Within a film no two frames are independent: one of each of many.
        rounded("size of a frame", film_size(), |_, streams, n| {
            let sizes = film_size();
            let third = |part| {
                let stream = streams.part(part).stream("size");
                let mut film = Film { memory: LongMemory::new(0.8, stream), sizes: sizes.clone() };
                (0..3).map(|_| film.size()).last().unwrap_or_default()
            };
            (0..n as u64).map(third).collect()
        }),
    ]
}

fn claims_of_scenes() -> Vec<Claim> {
    vec![
        rounded("size of a P frame", predicted(), |_, streams, n| kind(streams, n, b'P')),
        rounded("size of a B frame", between(), |_, streams, n| kind(streams, n, b'B')),
        follows("I frames of a scene", length(), |_, streams, n| {
            let mut scenes = Scenes::new(streams);
            (0..n).map(|_| scenes.scene_length()).collect()
        }),
        follows("level of a scene", level(), |_, streams, n| {
            let mut scenes = Scenes::new(streams);
            let levels =
                std::iter::repeat_with(|| (scenes.left < 1.0, scenes.intra(), scenes.level));
            levels.filter_map(|(begins, _, level)| begins.then_some(level)).take(n).collect()
        }),
        // Every 50th: a millionth of the memory is left.
        follows("size of an I frame above its scene's level", wave(), |_, streams, n| {
            let mut scenes = Scenes::new(streams);
            let far = |_| (0..50).map(|_| scenes.above_level()).last().unwrap_or_default();
            (0..n).map(far).collect()
        }),
        Claim {
            what: "memory of I frames above the levels of their scenes",
            says: Says::Correlation(WAVE_MEMORY),
            values: |_, streams, n| {
                let mut scenes = Scenes::new(streams);
                (0..n.max(MANY)).map(|_| scenes.above_level()).collect()
            },
        },
        Claim {
            what: "memory of the size of I frames",
            says: Says::Correlation(memory()),
            values: |_, streams, n| kind(streams, n.max(MANY), b'I'),
        },
    ]
}

/// What an I frame adds to the level of its scene, in the long run of the AR(2) process (Box, Jenkins, "Time
/// Series Analysis", 3.2.4).
fn wave() -> Law {
    let [first, second] = WAVE;
    let gain = (1.0 - second) / ((1.0 + second) * ((1.0 - second).powi(2) - first * first));
    Law::of("normal", [0.0, NOISE * gain.sqrt(), 0.0])
}

/// The correlation of an I frame with the next: that of the process, and a level that stays while no scene
/// begins.
fn memory() -> f64 {
    let variance = |law: Law| law.variance().unwrap_or(0.0);
    let (level, wave) = (variance(level()), variance(wave()));
    ((1.0 - 1.0 / SCENE) * level + WAVE_MEMORY * wave) / (level + wave)
}

fn is_starwars(call: &Call) -> bool {
    call.word("film") == "starwars"
}

#[derive(Debug)]
struct Scenes {
    at: usize,
    left: f64,
    level: f64,
    /// The last two steps of the AR(2) process.
    wave: [f64; 2],
    streams: [Stream; 5],
}

impl Scenes {
    fn new(streams: &Streams) -> Self {
        let names = ["scene", "level", "wave", "P", "B"];
        let streams = names.map(|name| streams.stream(name));
        Self { at: 0, left: 0.0, level: 0.0, wave: [0.0; 2], streams }
    }

    fn scene_length(&mut self) -> f64 {
        length().sample(&mut self.streams[0])
    }

    fn intra(&mut self) -> f64 {
        if self.left < 1.0 {
            self.left = self.scene_length();
            self.level = level().sample(&mut self.streams[1]);
        }
        self.left -= 1.0;
        let step = WAVE[0] * self.wave[0] + WAVE[1] * self.wave[1];
        let next = step + NOISE * self.streams[2].normal();
        self.wave = [next, self.wave[0]];
        self.level + next
    }

    fn above_level(&mut self) -> f64 {
        let size = self.intra();
        size - self.level
    }

    /// The kind of the next frame, and its size.
    fn frame(&mut self) -> (u8, f64) {
        let kind = PATTERN[self.at % PATTERN.len()];
        self.at += 1;
        let size = match kind {
            b'I' => self.intra(),
            b'P' => predicted().sample(&mut self.streams[3]),
            _ => between().sample(&mut self.streams[4]),
        };
        (kind, size.round().max(1.0))
    }
}

impl Open for Scenes {
    fn next(&mut self) -> Option<Arrival> {
        let bytes = Bytes::new(whole(self.frame().1));
        Some(Arrival { gap: Nanos::from_millis(40), bytes, flow: 0, direction: Forward })
    }
}

/// Sizes of the frames of one kind.
fn kind(streams: &Streams, count: usize, wanted: u8) -> Vec<f64> {
    let mut scenes = Scenes::new(streams);
    let frames = std::iter::repeat_with(|| scenes.frame());
    frames.filter(|(kind, _)| *kind == wanted).map(|(_, size)| size).take(count).collect()
}

/// A whole film as one process: normal numbers with a long memory, turned into sizes.
#[derive(Debug)]
struct Film {
    memory: LongMemory,
    sizes: Law,
}

impl Film {
    fn new(streams: &Streams) -> Self {
        Self { memory: LongMemory::new(0.8, streams.stream("size")), sizes: film_size() }
    }

    fn size(&mut self) -> f64 {
        let share = Normal::standard().cdf(self.memory.next());
        self.sizes.quantile(share).round().max(1.0)
    }
}

impl Open for Film {
    fn next(&mut self) -> Option<Arrival> {
        let bytes = Bytes::new(whole(self.size()));
        let gap = Nanos::new(whole(1e9 / 24.0));
        Some(Arrival { gap, bytes, flow: 0, direction: Forward })
    }
}

/// Gamma up to the 97 % quantile, a Pareto tail above that joins its density, as a table.
fn film_size() -> Law {
    let (mean, sd) = (27_800.0_f64, 6_250.0_f64);
    let gamma = Law::of("gamma", [(mean / sd).powi(2), sd * sd / mean, 0.0]);
    let join = gamma.quantile(BODY);
    let density = (gamma.cdf(join * 1.0001) - gamma.cdf(join)) / (join * 0.0001);
    let alpha = density * join / (1.0 - BODY);
    let size = |share: f64| {
        if share <= BODY {
            gamma.quantile(share)
        } else {
            join * ((1.0 - BODY) / (1.0 - share)).powf(1.0 / alpha)
        }
    };
    let rows = (1..=1000).map(|row| {
        let share = f64::from(row) / 1000.0;
        (size(share.min(0.99999)), share)
    });
    Table::new("starwars", Interpolation::Linear, rows.collect())
        .map_or_else(|_| gamma.clone(), Law::Table)
}

fn length() -> Law {
    Law::of("geometric", [1.0 / SCENE, 0.0, 0.0])
}

fn level() -> Law {
    Law::of("lognormal", [20_000.0, 4_000.0, 0.0])
}

fn predicted() -> Law {
    Law::of("lognormal", [9_000.0, 4_000.0, 0.0])
}

fn between() -> Law {
    Law::of("lognormal", [3_500.0, 1_200.0, 0.0])
}

/// The sizes of all frames together, without pattern and scenes.
pub(in crate::traffic) fn frames() -> Law {
    Law::Mix(vec![(1.0, level()), (3.0, predicted()), (8.0, between())])
}

const PATTERN: &[u8; 12] = b"IBBPBBPBBPBB";
/// I frames of a scene on average.
const SCENE: f64 = 10.5;
const WAVE: [f64; 2] = [0.5, 0.2];
/// The correlation of neighbours of an AR(2) process (as above, 3.2.28).
const WAVE_MEMORY: f64 = WAVE[0] / (1.0 - WAVE[1]);
/// I frames whose correlation is known within 5 %.
const MANY: usize = 20_000;
/// The deviation of the process's steps, in bytes.
const NOISE: f64 = 1_500.0;
const BODY: f64 = 0.97;
