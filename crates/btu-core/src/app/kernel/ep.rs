//! EP: pairs of random numbers become normal deviates, and the ranks meet only to add up.
//!
//! Source: NASA report NAS-95-020, the embarrassingly parallel benchmark, by the polar method. The sums are those
//! of NPB 3.4.2: of absolute values.

#[cfg(test)]
mod tests;

use std::ops::Range;

use super::Check;
use super::Kernel;
use super::Outcome;
use crate::app::class::ProblemClass;
use crate::app::endpoint::LayerError;
use crate::app::random::Random;
use crate::app::ranks::Ranks;
use crate::units::Bytes;

/// "Embarrassingly parallel": arithmetic without messages.
#[derive(Debug)]
pub(super) struct Ep;

impl Kernel for Ep {
    fn name(&self) -> &'static str {
        "ep"
    }

    fn about(&self) -> &'static str {
        "normal deviates from random pairs; next to no messages"
    }

    fn takes(&self, ranks: usize) -> bool {
        ranks > 0
    }

    fn legal(&self) -> &'static str {
        "any number"
    }

    fn memory(&self, _: ProblemClass, ranks: usize) -> Bytes {
        Bytes::new((ranks * size_of::<Deviates>()) as u64)
    }

    fn run(&self, class: ProblemClass, ranks: &mut Ranks<'_>) -> Result<Outcome, LayerError> {
        ranks.start()?;
        let mut deviates = Deviates::default();
        for batch in share_of(ranks, class.of(BATCHES)) {
            deviates.add_batch(batch);
        }
        deviates.add_up(ranks)?;
        ranks.stop();
        pass_slowest_time(ranks)?;
        Ok(deviates.verify(class))
    }
}

/// What is kept of the deviates, without their signs: the sums, and how many fell into each square ring around 0.
#[derive(Debug, Default)]
struct Deviates {
    sum_x: f64,
    sum_y: f64,
    rings: [f64; RINGS],
}

impl Deviates {
    fn add_batch(&mut self, batch: u64) {
        let mut random = Random::new(SEED).after(batch * 2 * PAIRS);
        for _ in 0..PAIRS {
            let x = 2.0 * random.draw() - 1.0;
            let y = 2.0 * random.draw() - 1.0;
            let square = x * x + y * y;
            if square <= 1.0 {
                let factor = (-2.0 * square.ln() / square).sqrt();
                self.add((x * factor).abs(), (y * factor).abs());
            }
        }
    }

    /// A deviate beyond the last ring is in none: then the count of pairs shows it.
    #[inline]
    fn add(&mut self, x: f64, y: f64) {
        let ring = x.max(y) as usize;
        if let Some(count) = self.rings.get_mut(ring) {
            *count += 1.0;
        }
        self.sum_x += x;
        self.sum_y += y;
    }

    /// Gives every rank what all have, in the three calls that the benchmark makes.
    fn add_up(&mut self, ranks: &mut Ranks<'_>) -> Result<(), LayerError> {
        ranks.all_reduce(std::slice::from_mut(&mut self.sum_x))?;
        ranks.all_reduce(std::slice::from_mut(&mut self.sum_y))?;
        ranks.all_reduce(&mut self.rings)
    }

    fn verify(&self, class: ProblemClass) -> Outcome {
        let Reference { sum_x, sum_y, accepted } = class.of(REFERENCES);
        let pairs: f64 = self.rings.iter().sum();
        let checks = vec![
            Check::new("sum of x", self.sum_x, sum_x, TOLERANCE),
            Check::new("sum of y", self.sum_y, sum_y, TOLERANCE),
            Check::new("accepted pairs", pairs, accepted, 0.0),
        ];
        Outcome { checks }
    }
}

/// The batches of this rank: as many as any other has, or one more.
fn share_of(ranks: &Ranks<'_>, batches: u64) -> Range<u64> {
    let (me, all) = (ranks.rank() as u64, ranks.size() as u64);
    me * batches / all..(me + 1) * batches / all
}

/// The benchmark's last message: the time of the slowest rank, which nobody here needs.
fn pass_slowest_time(ranks: &mut Ranks<'_>) -> Result<(), LayerError> {
    let seconds = ranks.timed().map_or(0.0, |timed| timed.elapsed.seconds());
    ranks.all_reduce_max(&mut [seconds])
}

/// What a class must give.
#[derive(Debug)]
struct Reference {
    sum_x: f64,
    sum_y: f64,
    /// Pairs inside the unit circle.
    accepted: f64,
}

const REFERENCES: [Reference; 3] = [
    Reference {
        sum_x: 1.051_299_420_395_306e7,
        sum_y: 1.051_517_131_857_535e7,
        accepted: 13_176_389.0,
    },
    Reference {
        sum_x: 2.102_505_525_182_392e7,
        sum_y: 2.103_162_209_578_822e7,
        accepted: 26_354_769.0,
    },
    Reference {
        sum_x: 1.682_235_632_304_711e8,
        sum_y: 1.682_195_123_368_299e8,
        accepted: 210_832_767.0,
    },
];

const SEED: u64 = 271_828_183;
/// Pairs of a batch, and batches of the classes: 2^24, 2^25 and 2^28 pairs.
const PAIRS: u64 = 1 << 16;
const BATCHES: [u64; 3] = [1 << 8, 1 << 9, 1 << 12];
const RINGS: usize = 10;
const TOLERANCE: f64 = 1e-8;
