//! The Internet checksum (RFC 1071): sums of 16-bit words in ones' complement.

/// An unfolded sum.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum(u64);

impl Sum {
    /// Adds bytes; an odd last one is the high byte of its word.
    pub(super) fn bytes(mut self, bytes: &[u8]) -> Self {
        let words = bytes.chunks_exact(2);
        if let [last] = words.remainder() {
            self.0 += u64::from(*last) << 8;
        }
        self.0 += words.map(|word| u64::from(u16::from_be_bytes([word[0], word[1]]))).sum::<u64>();
        self
    }

    /// Adds one number.
    pub(super) fn number(mut self, number: usize) -> Self {
        self.0 += u64::try_from(number).unwrap_or(u64::MAX);
        self
    }

    /// The sum as a 16-bit word, not complemented.
    pub(super) fn fold(self) -> u16 {
        let mut sum = self.0;
        while let Some(carry) = std::num::NonZeroU64::new(sum >> 16) {
            sum = (sum & 0xffff) + carry.get();
        }
        u16::try_from(sum).unwrap_or(u16::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_1071() {
        let sum = Sum::default().bytes(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        assert_eq!(sum.fold(), 0xddf2);
    }

    #[test]
    fn an_odd_byte_is_a_high_byte() {
        assert_eq!(Sum::default().bytes(&[1, 2, 3]).fold(), 0x0402);
    }
}
