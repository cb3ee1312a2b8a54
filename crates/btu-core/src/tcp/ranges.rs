//! Ranges of places in a stream: what was acknowledged selectively, what was never seen.

use std::collections::BTreeMap;

/// Ranges that do not touch each other, in order. Each step costs the logarithm of their number: how many there are is up to
/// whoever sent the packets.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    /// Ends by starts.
    ends: BTreeMap<i64, i64>,
}

impl Ranges {
    /// Adds `[start, end)`: how many of its places are new.
    pub(super) fn add(&mut self, start: i64, end: i64) -> i64 {
        if start >= end || self.holds(start, end) {
            return 0;
        }
        let (mut joined, mut before) = ([start, end], 0);
        while let Some([first, last]) = self.touching(start, end) {
            self.ends.remove(&first);
            before += last - first;
            joined = [joined[0].min(first), joined[1].max(last)];
        }
        self.ends.insert(joined[0], joined[1]);
        joined[1] - joined[0] - before
    }

    /// Takes `[start, end)` out.
    pub(super) fn remove(&mut self, start: i64, end: i64) {
        if start >= end {
            return;
        }
        while let Some([first, last]) = self.touching(start + 1, end - 1) {
            self.ends.remove(&first);
            let kept = [[first, start], [end, last]];
            self.ends
                .extend(kept.iter().filter(|range| range[0] < range[1]).map(|[a, b]| (*a, *b)));
        }
    }

    /// True where all of `[start, end)` is in one range.
    pub(super) fn holds(&self, start: i64, end: i64) -> bool {
        self.ends.range(..=start).next_back().is_some_and(|(_, last)| end <= *last)
    }

    /// Behind the last place.
    pub(super) fn end(&self) -> Option<i64> {
        self.ends.last_key_value().map(|(_, last)| *last)
    }

    /// The last range that overlaps `[start, end)` or ends where it begins, or begins where it ends.
    fn touching(&self, start: i64, end: i64) -> Option<[i64; 2]> {
        let (first, last) = self.ends.range(..=end).next_back()?;
        (*last >= start).then_some([*first, *last])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Each lies before all others: where those are moved for each, this takes the square of their number.
    #[test]
    fn ranges_in_falling_order_are_as_cheap_as_in_rising_order() {
        let mut ranges = Ranges::default();
        for place in (0..400_000).rev() {
            assert_eq!(ranges.add(place * 4, place * 4 + 2), 2);
        }
        assert!(ranges.holds(4, 6) && !ranges.holds(4, 7));
        ranges.remove(0, 1_600_000);
        assert_eq!(ranges.end(), None);
    }

    proptest! {
        #[test]
        fn ranges_hold_what_a_set_holds(
            steps in prop::collection::vec((any::<bool>(), 0_i64..60, 0_i64..20), 0..40)
        ) {
            let mut ranges = Ranges::default();
            let mut set = std::collections::BTreeSet::new();
            for (adds, start, length) in steps {
                let end = start + length;
                if adds {
                    let before = set.len();
                    set.extend(start..end);
                    let new = i64::try_from(set.len() - before).unwrap();
                    prop_assert_eq!(ranges.add(start, end), new);
                } else {
                    ranges.remove(start, end);
                    set.retain(|place| !(start..end).contains(place));
                }
            }
            for place in 0..80 {
                prop_assert_eq!(ranges.holds(place, place + 1), set.contains(&place));
            }
            prop_assert_eq!(ranges.end(), set.last().map(|last| last + 1));
            let all: Vec<_> = ranges.ends.iter().collect();
            prop_assert!(all.windows(2).all(|pair| pair[0].1 < pair[1].0));
        }
    }
}
