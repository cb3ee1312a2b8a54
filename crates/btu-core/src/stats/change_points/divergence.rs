//! How far apart two parts of a series are, and where they are farthest apart.

/// The place at which an interval divides best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Division {
    /// The first value of the right part.
    pub(super) at: usize,
    /// The energy statistic Q of the two parts.
    pub(super) q: f64,
}

/// Sums of distances between the values of a window.
#[derive(Debug)]
pub(super) struct Distances {
    start: usize,
    /// Of each value the sums of its distances to the first 0, 1, 2 ... values of the window.
    sums: Vec<Vec<f64>>,
}

impl Distances {
    pub(super) fn of(values: &[f64], start: usize, end: usize) -> Self {
        let window = &values[start..end];
        let sums = |value: &f64| {
            let mut sum = 0.0;
            let mut sums = vec![0.0];
            sums.extend(window.iter().map(|other| {
                sum += (other - value).abs();
                sum
            }));
            sums
        };
        Self { start, sums: window.iter().map(sums).collect() }
    }

    /// Where the interval from `from` to `to` divides best: X = Z[s..t), Y = Z[t..k) with the greatest Q over all s < t < k <= e,
    /// of equals the first in the order of t, then of k.
    pub(super) fn best(&self, from: usize, to: usize) -> Option<Division> {
        let (from, to) = (from - self.start, to - self.start);
        let mut best: Option<Division> = None;
        let mut within_left = 0.0;
        for at in from + 1..to {
            within_left += self.to_part(at - 1, from, at - 1);
            let (mut across, mut within_right) = (0.0, 0.0);
            for last in at..to {
                across += self.to_part(last, from, at);
                within_right += self.to_part(last, at, last);
                let q = energy([at - from, last + 1 - at], across, [within_left, within_right]);
                if best.is_none_or(|best| q > best.q) {
                    best = Some(Division { at: at + self.start, q });
                }
            }
        }
        best
    }

    /// The distances of a value to those of a part, together.
    fn to_part(&self, value: usize, from: usize, to: usize) -> f64 {
        self.sums[value][to] - self.sums[value][from]
    }
}

/// Q = 2 / (m + n) sum |x - y| - 2 m / ((m + n)(n - 1)) sum |xi - xj| - 2 n / ((m + n)(m - 1)) sum |yi - yj|, each pair once
/// (Matteson and James, 2014, equations 5 to 7, with the exponent 1); a part of one value has no distances within.
fn energy(counts: [usize; 2], across: f64, within: [f64; 2]) -> f64 {
    let [n, m] = counts.map(super::super::count);
    let inner = |size: f64, other: f64, sum: f64| {
        if size < 2.0 { 0.0 } else { 2.0 * other / ((m + n) * (size - 1.0)) * sum }
    };
    2.0 / (m + n) * across - inner(n, m, within[0]) - inner(m, n, within[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 2 | 11: across 10 + 9, within the left part 1: 2/3 x 19 - 2 x 1 / (3 x 1) x 1 = 12.
    #[test]
    fn the_best_division_is_the_one_with_the_greatest_energy() {
        let best = Distances::of(&[1.0, 2.0, 11.0], 0, 3).best(0, 3).unwrap();
        assert_eq!(best.at, 2);
        assert!((best.q - 12.0).abs() < 1e-12, "{best:?}");
    }

    #[test]
    fn a_window_begins_anywhere_and_one_value_does_not_divide() {
        let values = [9.0, 9.0, 1.0, 2.0, 11.0];
        assert_eq!(Distances::of(&values, 2, 5).best(2, 5).unwrap().at, 4);
        assert_eq!(Distances::of(&values, 2, 5).best(3, 4), None);
    }
}
