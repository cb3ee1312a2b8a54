//! The random numbers of the NAS Parallel Benchmarks: x <- a x mod 2^46.
//!
//! Source: NASA report NAS-95-020, section 2.3.
#![expect(clippy::cast_precision_loss, reason = "46 bits are exact")]

/// The multiplier, 5^13.
const MULTIPLIER: u64 = 1_220_703_125;
const MASK: u64 = (1 << 46) - 1;
/// 2^-46: exact in an `f64`, and so is every value.
const UNIT: f64 = 1.0 / (MASK + 1) as f64;

/// A place in the sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Random(u64);

impl Random {
    /// The sequence that begins behind `seed`.
    pub const fn new(seed: u64) -> Self {
        Self(seed & MASK)
    }

    /// The next value, in (0, 1).
    #[inline]
    pub fn draw(&mut self) -> f64 {
        self.0 = times(self.0, MULTIPLIER);
        self.0 as f64 * UNIT
    }

    /// The sequence `steps` values farther on.
    #[must_use]
    pub const fn after(self, steps: u64) -> Self {
        let (mut state, mut power, mut left) = (self.0, MULTIPLIER, steps);
        while left > 0 {
            if left & 1 == 1 {
                state = times(state, power);
            }
            power = times(power, power);
            left >>= 1;
        }
        Self(state)
    }
}

/// The product modulo 2^46: what overflows 64 bits is a multiple of 2^46, too.
#[inline]
const fn times(left: u64, right: u64) -> u64 {
    left.wrapping_mul(right) & MASK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k1_a_jump_is_that_many_steps() {
        for number in 0..1000 {
            // Of a sequence of its own, so that no step is a multiple of another.
            let steps = Random::new(271_828_183).after(number).0 % 5000;
            let from = Random::new(314_159_265 + number);
            let mut walked = from;
            for _ in 0..steps {
                walked.draw();
            }
            assert_eq!(from.after(steps), walked, "{steps} steps");
        }
    }

    #[test]
    fn k1_values_are_those_of_arithmetic_in_128_bits() {
        let mut random = Random::new(314_159_265);
        let mut state: u128 = 314_159_265;
        for _ in 0..10_000 {
            state = state * 1_220_703_125 % (1 << 46);
            let exact = state as f64 / (1_u128 << 46) as f64;
            assert!(random.draw().to_bits() == exact.to_bits());
        }
    }
}
