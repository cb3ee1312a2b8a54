//! Which datagrams came, by number: one that comes again is none of those that are still missing.

/// The numbers that were seen.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// A bit for each.
    words: Vec<u64>,
    seen: u64,
    different: u64,
}

impl Numbers {
    /// With room for the first `count` of them.
    pub(super) fn with_room(count: usize) -> Self {
        Self { words: Vec::with_capacity(count / 64 + 1), ..Self::default() }
    }

    /// A datagram came.
    pub(super) fn see(&mut self, number: u64) {
        self.seen += 1;
        let word = usize::try_from(number / 64).unwrap_or(usize::MAX);
        if word >= self.words.len() {
            // Whatever stands in a datagram, memory is taken for what came: 32 bytes for each, and some.
            if number / 64 > FREE_WORDS.saturating_add(4 * self.seen) {
                return;
            }
            self.words.resize(word + 1, 0);
        }
        let bit = 1 << (number % 64);
        self.different += u64::from(self.words[word] & bit == 0);
        self.words[word] |= bit;
    }

    /// How many different ones came, at the least.
    pub(super) fn different(&self) -> u64 {
        self.different
    }
}

/// Half a megabyte, as many as a sender has in some seconds.
const FREE_WORDS: u64 = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_again_counts_once() {
        let mut numbers = Numbers::with_room(100);
        for number in [0, 1, 1, 64, 200, 64, 0, 63] {
            numbers.see(number);
        }
        assert_eq!(numbers.different(), 5);
    }

    #[test]
    fn a_number_from_nowhere_takes_no_memory() {
        let mut numbers = Numbers::default();
        for number in [u64::MAX, 1 << 40, 5] {
            numbers.see(number);
        }
        assert_eq!((numbers.different(), numbers.words.len()), (1, 1));
    }
}
