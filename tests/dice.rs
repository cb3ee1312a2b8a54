//! Chance that is the same for the same seed, and bytes that are damaged by it.
//!
//! A test crate includes this file beside `tests/skip.rs`.

/// xorshift64*.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % limit
    }

    /// True once in `many`.
    #[allow(dead_code, reason = "not every test crate needs it")]
    pub(crate) fn once_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }
}

/// The same bytes with a few changed, left out, doubled or replaced by absurd numbers.
pub(crate) fn mutated(whole: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    for _ in 0..=dice.below(6) {
        if bytes.is_empty() {
            return bytes;
        }
        let at = usize::try_from(dice.below(bytes.len() as u64)).unwrap();
        let byte = u8::try_from(dice.below(256)).unwrap();
        match dice.below(6) {
            0 => bytes[at] = byte,
            1 => bytes[at] ^= 1 << (byte % 8),
            2 => drop(bytes.drain(at..(at + usize::from(byte)).min(bytes.len() - 1).max(at))),
            3 => bytes.insert(at, byte),
            4 => drop(bytes.splice(at..at, b"18446744073709551616".iter().copied())),
            _ => bytes.truncate(at.max(1)),
        }
    }
    bytes
}
