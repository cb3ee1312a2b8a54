//! Order statistics: quantiles of counted values, and the interval of a median without a model.

use statrs::distribution::Binomial;
use statrs::distribution::DiscreteCDF;

use super::count;

/// Values that occur more than once, ascending: a histogram as quantiles see it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counted {
    sorted: Vec<(f64, u64)>,
    n: u64,
}

impl Counted {
    /// Takes (value, how often) in any order.
    pub fn new(mut values: Vec<(f64, u64)>) -> Self {
        values.retain(|(_, times)| *times > 0);
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let n = values.iter().map(|(_, times)| *times).sum();
        Self { sorted: values, n }
    }

    /// How many values there are.
    pub const fn len(&self) -> u64 {
        self.n
    }

    /// True without values.
    pub const fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// The value at `rank` in ascending order, from 1.
    pub fn at_rank(&self, rank: u64) -> Option<f64> {
        let mut before = 0;
        let found = self.sorted.iter().find(|(_, times)| {
            before += times;
            before >= rank
        });
        found.filter(|_| rank > 0).map(|(value, _)| *value)
    }

    /// The quantile at `share`, as [`super::quantile`] of the values written out.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let last = usize::try_from(self.n.checked_sub(1)?).ok()?;
        let position = count(last) * share.clamp(0.0, 1.0);
        let low = super::quantile::floor(position);
        let at = |rank: usize| self.at_rank(u64::try_from(rank).unwrap_or(u64::MAX));
        let (from, to) = (at(low + 1)?, at((low + 2).min(last + 1))?);
        Some(from + (position - count(low)) * (to - from))
    }

    /// The 95 % interval of the median, by [`median_ranks`].
    pub fn median_interval(&self) -> Option<super::Interval> {
        let (low, high) = median_ranks(self.n)?;
        Some(super::Interval { low: self.at_rank(low)?, high: self.at_rank(high)? })
    }
}

/// The ranks, from 1, of the values that bound the median with at least 95 %, whatever the
/// distribution: exact binomial ranks below 70 values, else the normal approximation (Le Boudec,
/// "Performance Evaluation of Computer and Communication Systems", 2010, theorem 2.1 and appendix
/// A). `None` under 6 values: not even their extremes hold it with 95 %.
pub fn median_ranks(n: u64) -> Option<(u64, u64)> {
    if n < EXACT_BELOW {
        let coin = Binomial::new(0.5, n).ok()?;
        let low = (1..=n / 2).take_while(|rank| coin.cdf(rank - 1) <= 0.025).last()?;
        return Some((low, n - low + 1));
    }
    let (half, spread) = (float(n) / 2.0, 0.98 * float(n).sqrt());
    let low = super::quantile::floor(half - spread).max(1);
    let high = super::quantile::floor((1.0 + half + spread).ceil());
    Some((u64::try_from(low).ok()?, u64::try_from(high).ok()?.min(n)))
}

fn float(n: u64) -> f64 {
    count(usize::try_from(n).unwrap_or(usize::MAX))
}

/// Below so many values the binomial ranks are taken exactly.
const EXACT_BELOW: u64 = 70;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Bin(6, 1/2): P(0) = 1/64 = 1.6 %. Bin(10): P(<= 1) = 11/1024 = 1.1 %, P(<= 2) = 5.5 %.
    #[test]
    fn ranks_agree_with_the_binomial_table() {
        assert_eq!(median_ranks(5), None);
        assert_eq!(median_ranks(6), Some((1, 6)));
        assert_eq!(median_ranks(10), Some((2, 9)));
        assert_eq!(median_ranks(30), Some((10, 21)));
        assert_eq!(median_ranks(100), Some((40, 61)));
    }

    proptest! {
        #[test]
        fn counted_values_have_the_quantiles_of_the_values_written_out(
            values in prop::collection::vec((0..50_i32, 0..4_u64), 1..30),
            share in 0.0..1.0f64,
        ) {
            let pairs: Vec<(f64, u64)> =
                values.iter().map(|(value, times)| (f64::from(*value), *times)).collect();
            let written: Vec<f64> = pairs
                .iter()
                .flat_map(|(value, times)| {
                    std::iter::repeat_n(*value, usize::try_from(*times).unwrap())
                })
                .collect();
            let (found, want) =
                (Counted::new(pairs).quantile(share), super::super::quantile(&written, share));
            prop_assert_eq!(found.is_some(), want.is_some());
            let (found, want) = (found.unwrap_or(0.0), want.unwrap_or(0.0));
            prop_assert!((found - want).abs() < 1e-9);
        }
    }
}
