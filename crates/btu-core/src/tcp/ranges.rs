//! Ranges of places in a stream: what was acknowledged selectively, what was never seen.

/// Ranges that do not touch each other, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    ranges: Vec<[i64; 2]>,
}

impl Ranges {
    /// Adds `[start, end)`: how many of its places are new.
    pub(super) fn add(&mut self, start: i64, end: i64) -> i64 {
        if start >= end || self.holds(start, end) {
            return 0;
        }
        let first = self.ranges.partition_point(|range| range[1] < start);
        let after = self.ranges.partition_point(|range| range[0] <= end);
        let joined = self.ranges[first..after]
            .iter()
            .fold([start, end], |all, range| [all[0].min(range[0]), all[1].max(range[1])]);
        let before: i64 = self.ranges[first..after].iter().map(|range| range[1] - range[0]).sum();
        self.ranges.splice(first..after, [joined]);
        joined[1] - joined[0] - before
    }

    /// Takes `[start, end)` out.
    pub(super) fn remove(&mut self, start: i64, end: i64) {
        let first = self.ranges.partition_point(|range| range[1] <= start);
        let after = self.ranges.partition_point(|range| range[0] < end);
        if start >= end || first >= after {
            return;
        }
        let left = [self.ranges[first][0], start];
        let right = [end, self.ranges[after - 1][1]];
        let kept = [left, right].into_iter().filter(|range| range[0] < range[1]);
        self.ranges.splice(first..after, kept.collect::<Vec<_>>());
    }

    /// True where all of `[start, end)` is in one range.
    pub(super) fn holds(&self, start: i64, end: i64) -> bool {
        let place = self.ranges.partition_point(|range| range[1] < end);
        self.ranges.get(place).is_some_and(|range| range[0] <= start && end <= range[1])
    }

    /// Behind the last place.
    pub(super) fn end(&self) -> Option<i64> {
        self.ranges.last().map(|range| range[1])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
            prop_assert!(ranges.ranges.windows(2).all(|pair| pair[0][1] < pair[1][0]));
        }
    }
}
