//! Which datagrams have come: one with a smaller number than the last is late, or came again.

/// The numbers that came, as far back as one may be late.
#[derive(Debug)]
pub(super) struct Numbers {
    expected: u64,
    /// The last one that came, where that was too far ahead to be believed.
    far: Option<u64>,
    /// A bit for each of the last [`REMEMBERED`] numbers, at its place modulo that.
    came: Vec<u64>,
}

/// What one more datagram is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// It was there before, or is later than anybody remembers: it stays lost.
    Again,
    /// It is too far ahead to be believed before another one beside it has come: it stays lost.
    Far,
    /// It was missing until now.
    Late,
    /// It is the newest; so many before it are missing.
    Newest { missing: u64 },
}

impl Numbers {
    /// The number after the newest that came.
    pub(super) fn expected(&self) -> u64 {
        self.expected
    }

    /// This one came. A single one that is far ahead of the others was made up or damaged, and would make every later
    /// one older than anybody remembers: two in a row are believed (RFC 3550, A.1, where a source is heard again).
    pub(super) fn record(&mut self, number: u64) -> Arrival {
        let before = self.far.take();
        if number < self.expected {
            return self.record_old(number);
        }
        let is_beside = |far: u64| far != number && far.abs_diff(number) < REMEMBERED;
        if number - self.expected >= REMEMBERED && !before.is_some_and(is_beside) {
            self.far = Some(number);
            return Arrival::Far;
        }
        self.record_newest(number)
    }

    fn record_newest(&mut self, number: u64) -> Arrival {
        let missing = number - self.expected;
        if missing >= REMEMBERED {
            self.came.fill(0);
        } else {
            (self.expected..number).for_each(|skipped| self.forget(skipped));
        }
        self.expected = number + 1;
        let (word, bit) = place(number);
        self.came[word] |= bit;
        Arrival::Newest { missing }
    }

    fn record_old(&mut self, number: u64) -> Arrival {
        let (word, bit) = place(number);
        if self.expected - number > REMEMBERED || self.came[word] & bit != 0 {
            return Arrival::Again;
        }
        self.came[word] |= bit;
        Arrival::Late
    }

    fn forget(&mut self, number: u64) {
        let (word, bit) = place(number);
        self.came[word] &= !bit;
    }
}

impl Default for Numbers {
    fn default() -> Self {
        Self { expected: 0, far: None, came: vec![0; WORDS] }
    }
}

/// The word of a number, and its bit there.
fn place(number: u64) -> (usize, u64) {
    let word = usize::try_from(number / WORD).unwrap_or(usize::MAX) % WORDS;
    (word, 1 << (number % WORD))
}

/// Numbers that a sender may reach: larger ones are none of its own.
pub(super) const MOST: u64 = 1 << 40;
/// Bits of a word.
const WORD: u64 = 64;
/// 8 KiB of them.
const WORDS: usize = 1 << 10;
/// At 10 Gb/s as many datagrams come in 65 ms.
const REMEMBERED: u64 = WORD << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_late_is_told_from_what_comes_again() {
        let mut numbers = Numbers::default();
        let said = [0, 3, 1, 1, 3, 2, 4].map(|number| numbers.record(number));
        let newest = |missing| Arrival::Newest { missing };
        let want = [newest(0), newest(2), Arrival::Late, Arrival::Again, Arrival::Again];
        assert_eq!(said, [&want[..], &[Arrival::Late, newest(0)]].concat()[..]);
        assert_eq!(numbers.expected(), 5);
    }

    /// A number has the place of an earlier one: what that one left there says nothing of it.
    #[test]
    fn numbers_are_remembered_for_as_long_as_there_are_bits() {
        let mut numbers = Numbers::default();
        (0..REMEMBERED).for_each(|number| assert_ne!(numbers.record(number), Arrival::Late));
        assert_eq!(numbers.record(REMEMBERED + 10), Arrival::Newest { missing: 10 });
        assert_eq!(numbers.record(REMEMBERED + 9), Arrival::Late);
        assert_eq!(numbers.record(REMEMBERED + 9), Arrival::Again);
        assert_eq!(numbers.record(11), Arrival::Again, "it came");
        assert_eq!(numbers.record(5), Arrival::Again, "nobody remembers it");
        let far = 9 * REMEMBERED;
        assert_eq!(numbers.record(far - 7), Arrival::Far);
        assert_eq!(numbers.record(far), Arrival::Newest { missing: far - REMEMBERED - 11 });
        assert_eq!(numbers.record(far - REMEMBERED), Arrival::Again, "just out of sight");
        for late in [far - REMEMBERED + 1, far - 1] {
            assert_eq!([0; 2].map(|_| numbers.record(late)), [Arrival::Late, Arrival::Again]);
        }
    }

    /// Else all that come later would be too old, and a receiver would hear of nothing any more.
    #[test]
    fn one_number_from_far_ahead_makes_no_later_one_old() {
        let mut numbers = Numbers::default();
        let newest = |missing| Arrival::Newest { missing };
        assert_eq!([0, 1, 2].map(|number| numbers.record(number)), [newest(0); 3]);
        for ahead in [1 << 39, REMEMBERED, MOST - 100] {
            let far = numbers.expected() + ahead;
            // The same again is no other one, and those between two far ones make them two single ones.
            assert_eq!([far, far].map(|number| numbers.record(number)), [Arrival::Far; 2], "{far}");
            let next = numbers.expected();
            assert_eq!(numbers.record(next), newest(0), "{far}");
            assert_eq!(numbers.record(far + 1), Arrival::Far, "{far}");
            assert_eq!(numbers.record(next + 2), newest(1), "{far}");
        }
        // Whatever was sent meanwhile was lost, and two in a row say so, in whatever order.
        let (expected, far) = (numbers.expected(), 1 << 30);
        assert_eq!(numbers.record(far + 1), Arrival::Far);
        assert_eq!(numbers.record(far), newest(far - expected));
        assert_eq!(numbers.record(far + 2), newest(1));
    }
}
