//! Chance as an argument: each parameter of each test draws from a random stream of its own.

use rand::Rng as _;
use rand::SeedableRng as _;
use rand_chacha::ChaCha12Rng;
use statrs::distribution::ContinuousCDF as _;
use statrs::distribution::Normal;

use super::trace::float;
use crate::link::chance::unit_interval;
use crate::stats;
use crate::units::Nanos;

/// What the streams of one test are derived from: the same seed and names give the same train,
/// whatever other tests and parameters draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Streams([u8; 32]);

/// The random numbers of one parameter.
#[derive(Debug)]
pub struct Stream(ChaCha12Rng);

impl Streams {
    /// The streams of the test of this name in a plan with this seed.
    pub fn new(seed: u64, test: &str) -> Self {
        let mut hash = blake3::Hasher::new_derive_key("btu traffic streams 1");
        hash.update(&seed.to_le_bytes());
        hash.update(test.as_bytes());
        Self(hash.finalize().into())
    }

    /// The streams of one part of the test, such as one of many sources.
    #[must_use]
    pub fn part(&self, index: u64) -> Self {
        let mut hash = blake3::Hasher::new_keyed(&self.0);
        hash.update(b"part");
        hash.update(&index.to_le_bytes());
        Self(hash.finalize().into())
    }

    /// The stream of a parameter, from its beginning.
    pub fn stream(&self, parameter: &str) -> Stream {
        let mut hash = blake3::Hasher::new_keyed(&self.0);
        hash.update(b"parameter");
        hash.update(parameter.as_bytes());
        Stream(ChaCha12Rng::from_seed(hash.finalize().into()))
    }
}

impl Stream {
    /// A number in the open interval (0, 1).
    pub fn unit(&mut self) -> f64 {
        unit_interval(self.0.next_u64())
    }

    /// A part of a span, from nothing to less than all of it.
    pub fn part(&mut self, of: Nanos) -> Nanos {
        let part = stats::floor(self.unit() * float(of.count()));
        Nanos::new(u64::try_from(part).unwrap_or(u64::MAX))
    }

    /// A number of the standard normal distribution, by its quantile.
    pub fn normal(&mut self) -> f64 {
        Normal::standard().inverse_cdf(self.unit())
    }

    /// The generator, for samplers that take more than one number.
    pub(super) const fn generator(&mut self) -> &mut ChaCha12Rng {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_names_give_the_same_numbers_and_others_do_not() {
        let draw = |seed, test: &str, parameter: &str| {
            Streams::new(seed, test).stream(parameter).unit().to_bits()
        };
        assert_eq!(draw(1, "vbr", "period"), draw(1, "vbr", "period"));
        for other in [draw(2, "vbr", "period"), draw(1, "a", "period"), draw(1, "vbr", "size")] {
            assert_ne!(draw(1, "vbr", "period"), other);
        }
        let streams = Streams::new(1, "vbr");
        assert_ne!(streams.part(0), streams.part(1));
    }
}
