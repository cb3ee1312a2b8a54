//! Paired ratios: their median, its bootstrap interval, and what they show about a target.

use std::fmt;

const RESAMPLES: usize = 4000;

/// The 97.5 % quantile of Student's t, from one degree of freedom on.
const T_975: [f64; 10] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];

/// A target for the ratio ours / theirs.
#[derive(Clone, Copy)]
pub(super) enum Target {
    AtLeast(f64),
    AtMost(f64),
    /// Within this share of 1 to either side.
    Within(f64),
}

/// "Met" and "missed" want the whole interval on one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    Met,
    Missed,
    Not,
}

/// The median of paired ratios with its 95 % interval.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interval {
    pub(super) low: f64,
    pub(super) median: f64,
    pub(super) high: f64,
    /// How many ratios it is of.
    pairs: usize,
}

impl Interval {
    /// Percentile bootstrap over the pairs. `None` without pairs.
    pub(super) fn of(ratios: &[f64], seed: u64) -> Option<Self> {
        let mut chance = Chance(seed);
        let mut medians: Vec<f64> = (0..RESAMPLES)
            .map(|_| {
                let resample: Vec<f64> =
                    ratios.iter().map(|_| ratios[chance.below(ratios.len())]).collect();
                median(&resample)
            })
            .collect::<Option<_>>()?;
        medians.sort_by(f64::total_cmp);
        let tail = RESAMPLES * 25 / 1000;
        Some(Self {
            low: medians[tail],
            median: median(ratios)?,
            high: medians[RESAMPLES - 1 - tail],
            pairs: ratios.len(),
        })
    }

    /// The geometric mean of two to eleven ratios with Student's t on their logs, which holds what it
    /// promises of a few pairs already.
    pub(super) fn student(ratios: &[f64]) -> Option<Self> {
        let (pairs, t) = (ratios.len(), T_975.get(ratios.len().checked_sub(2)?)?);
        let n = f64::from(u32::try_from(pairs).ok()?);
        let mean = ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / n;
        let squares: f64 = ratios.iter().map(|ratio| (ratio.ln() - mean).powi(2)).sum();
        let half = t * (squares / (n - 1.0) / n).sqrt();
        let [low, median, high] = [mean - half, mean, mean + half].map(f64::exp);
        Some(Self { low, median, high, pairs })
    }

    /// True for a ratio inside, bounds included.
    pub(super) fn holds(&self, ratio: f64) -> bool {
        self.low <= ratio && ratio <= self.high
    }

    /// How far it reaches to either side, as a share.
    pub(super) fn half_width(&self) -> f64 {
        (self.high / self.low).sqrt() - 1.0
    }

    /// One pair has no interval, and shows nothing.
    pub(super) fn against(&self, target: Target) -> Shown {
        let [least, most] = target.bounds();
        let met = self.low >= least && self.high <= most;
        let missed = self.high < least || self.low > most;
        match (met, missed) {
            _ if self.pairs < 2 => Shown::Not,
            (true, _) => Shown::Met,
            (_, true) => Shown::Missed,
            _ => Shown::Not,
        }
    }
}

impl Target {
    const fn bounds(self) -> [f64; 2] {
        match self {
            Self::AtLeast(bound) => [bound, f64::INFINITY],
            Self::AtMost(bound) => [f64::NEG_INFINITY, bound],
            Self::Within(share) => [1.0 - share, 1.0 + share],
        }
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} [{:.3}, {:.3}]", self.median, self.low, self.high)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(bound) => write!(f, ">= {bound:.2}"),
            Self::AtMost(bound) => write!(f, "<= {bound:.2}"),
            Self::Within(share) => write!(f, "1 within {:.0} %", share * 100.0),
        }
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Met => "met",
            Self::Missed => "missed",
            Self::Not => "not shown at this n",
        })
    }
}

/// Middle value, or the mean of the two in the middle.
pub(super) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len() % 2 == 1 { Some(upper) } else { Some(f64::midpoint(sorted[middle - 1], upper)) }
}

/// `SplitMix64` (Steele, Lea, Flood 2014): small, and the same everywhere for one seed.
pub(super) struct Chance(pub(super) u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// An index below `n`. The bias of the remainder is below 2^-50 for these n.
    pub(super) fn below(&mut self, n: usize) -> usize {
        let n = u64::try_from(n.max(1)).unwrap_or(u64::MAX);
        usize::try_from(self.next() % n).unwrap_or(0)
    }

    /// Fisher-Yates.
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between_the_two_in_the_middle() {
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn a_verdict_wants_the_whole_interval_on_one_side() {
        let interval = Interval { low: 0.95, median: 1.0, high: 1.05, pairs: 5 };
        assert_eq!(interval.against(Target::AtLeast(0.9)), Shown::Met);
        assert_eq!(interval.against(Target::AtLeast(1.0)), Shown::Not);
        assert_eq!(interval.against(Target::AtLeast(1.1)), Shown::Missed);
        assert_eq!(interval.against(Target::AtMost(0.9)), Shown::Missed);
        assert_eq!(interval.against(Target::AtMost(1.1)), Shown::Met);
        assert_eq!(interval.against(Target::Within(0.06)), Shown::Met);
        assert_eq!(interval.against(Target::Within(0.04)), Shown::Not);
        for off in [0.2, -0.2] {
            let interval =
                Interval { low: interval.low + off, high: interval.high + off, ..interval };
            assert_eq!(interval.against(Target::Within(0.1)), Shown::Missed);
        }
    }

    /// Logs -0.1, 0 and 0.1: mean 0, sd 0.1, half of the interval 4.303 x 0.1 / sqrt(3) = 0.2484.
    #[test]
    fn three_ratios_have_an_interval_by_t() {
        let found = Interval::student(&[-0.1, 0.0, 0.1].map(f64::exp)).unwrap();
        assert!((found.half_width() - 0.2484_f64.exp_m1()).abs() < 1e-4, "{found}");
        assert!(found.holds(1.0) && !found.holds(1.3));
        assert!(Interval::student(&[1.0]).is_none());
    }

    #[test]
    fn one_pair_shows_nothing() {
        let shown = |ratios: &[f64]| Interval::of(ratios, 7).unwrap().against(Target::AtLeast(1.0));
        assert_eq!((shown(&[2.0]), shown(&[2.0, 2.0])), (Shown::Not, Shown::Met));
    }

    #[test]
    fn the_interval_holds_the_median_and_depends_on_the_seed_alone() {
        let ratios = [0.9, 1.1, 1.0, 0.97, 1.03, 0.99, 1.2, 1.01];
        let interval = Interval::of(&ratios, 7).unwrap();
        assert!(interval.low <= interval.median && interval.median <= interval.high);
        assert!(interval.low > 0.9 - 1e-9 && interval.high < 1.2 + 1e-9);
        assert_eq!(interval.to_string(), Interval::of(&ratios, 7).unwrap().to_string());
        assert!(Interval::of(&[], 7).is_none());
    }

    #[test]
    fn a_shuffle_is_a_permutation() {
        let mut items: Vec<u32> = (0..50).collect();
        Chance(3).shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
