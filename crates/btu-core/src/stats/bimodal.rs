//! Repeats that fall into two groups instead of one.

use super::arithmetic_mean;
use super::count;
use super::logs;
use super::median;

/// Where the sorted values part, and how wide the gap is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    /// Values in the lower group.
    pub lower: usize,
    /// Values in the upper group.
    pub upper: usize,
    /// Ratio of the geometric means of the groups.
    pub ratio: f64,
}

/// The bimodality coefficient (g^2 + 1) / (k + 3 (n - 1)^2 / ((n - 2)(n - 3))) with the sample
/// skewness g and excess kurtosis k (SAS/STAT, procedure CLUSTER). A uniform sample has 5/9; above
/// that, two groups are likely. `None` under 4 values or without spread.
///
/// An even split of fewer than 10 values stays below 5/9: use [`two_groups`] there.
pub fn bimodality_coefficient(values: &[f64]) -> Option<f64> {
    let n = count(values.len());
    let mean = arithmetic_mean(values).filter(|_| values.len() >= 4)?;
    let moment = |power| values.iter().map(|value| (value - mean).powi(power)).sum::<f64>() / n;
    let m2 = moment(2);
    if m2 <= 0.0 {
        return None;
    }
    let skewness = (n * (n - 1.0)).sqrt() / (n - 2.0) * moment(3) / m2.powf(1.5);
    let raw = moment(4) / (m2 * m2) - 3.0;
    let kurtosis = (n - 1.0) / ((n - 2.0) * (n - 3.0)) * ((n + 1.0) * raw + 6.0);
    let correction = 3.0 * (n - 1.0).powi(2) / ((n - 2.0) * (n - 3.0));
    Some((skewness * skewness + 1.0) / (kurtosis + correction))
}

/// The coefficient of the logarithms that holds without the value farthest from their median as well, and how many times
/// the others differ at the most. The coefficient grows with skewness: from 6 values on one alone, far from equal others,
/// has it above 5/9 (Pfister, Schwarz, Janczyk, Dale and Freeman, "Good things peak in pairs", Frontiers in Psychology 4,
/// 2013). `None` under 5 values or without spread.
pub fn lasting_bimodality(values: &[f64]) -> Option<(f64, f64)> {
    let mut logs = logs(values)?;
    let all = bimodality_coefficient(&logs)?;
    let middle = median(&logs)?;
    logs.sort_by(|a, b| (a - middle).abs().total_cmp(&(b - middle).abs()));
    logs.pop();
    let rest = bimodality_coefficient(&logs)?;
    logs.sort_by(f64::total_cmp);
    Some((all.min(rest), width(&logs).exp()))
}

/// The two groups of a small sample, if there are any: the widest gap between neighbours on the log
/// scale leaves at least two values on each side, is at least 3 times as wide as either group, and
/// parts them by at least `ratio`. (The bimodality coefficient cannot see groups in 5 values.)
pub fn two_groups(values: &[f64], ratio: f64) -> Option<Split> {
    let mut logs = logs(values)?;
    logs.sort_by(f64::total_cmp);
    let gap = |at: usize| logs[at] - logs[at - 1];
    let at = (2..logs.len().saturating_sub(1)).max_by(|a, b| gap(*a).total_cmp(&gap(*b)))?;
    let (lower, upper) = logs.split_at(at);
    let widest = width(lower).max(width(upper));
    let parted = arithmetic_mean(upper)? - arithmetic_mean(lower)?;
    let split = Split { lower: lower.len(), upper: upper.len(), ratio: parted.exp() };
    (gap(at) >= 3.0 * widest && parted >= ratio.ln() && gap(at) > 0.0).then_some(split)
}

fn width(sorted: &[f64]) -> f64 {
    sorted.last().zip(sorted.first()).map_or(0.0, |(last, first)| last - first)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten values, five of each: g = 0, k = 9/56 (11 x -2 + 6) = -18/7, correction 243/56;
    /// 1 / (243/56 - 144/56) = 56/99.
    #[test]
    fn an_even_split_of_ten() {
        let values = [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0];
        assert!((bimodality_coefficient(&values).unwrap() - 56.0 / 99.0).abs() < 1e-12);
    }

    #[test]
    fn one_group_is_below_five_ninths() {
        let values = [-2.0, -1.0, -1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 2.0];
        assert!(bimodality_coefficient(&values).unwrap() < 5.0 / 9.0);
        assert_eq!(bimodality_coefficient(&[1.0; 6]), None);
        assert_eq!(bimodality_coefficient(&[1.0, 2.0, 3.0]), None);
    }

    /// One of ten has 0.77 by itself (g^2 = 10, k = 10: 11 / (10 + 243/56)), and the others nothing.
    #[test]
    fn one_value_far_from_the_others_is_no_group() {
        let alone = [10.0, 10.0, 10.1, 10.1, 10.1, 10.2, 10.2, 10.2, 10.3, 5.0];
        assert!(bimodality_coefficient(&alone.map(f64::ln)).unwrap() > 0.7);
        let (coefficient, ratio) = lasting_bimodality(&alone).unwrap();
        assert!(coefficient < 5.0 / 9.0 && (ratio - 1.03).abs() < 1e-9, "{coefficient} {ratio}");
        let pair = [10.0, 10.0, 10.1, 10.1, 10.1, 10.2, 10.2, 10.3, 5.1, 5.0];
        let (coefficient, ratio) = lasting_bimodality(&pair).unwrap();
        assert!(coefficient > 5.0 / 9.0 && ratio > 2.0, "{coefficient} {ratio}");
        assert_eq!(lasting_bimodality(&[1.0, 2.0, 3.0, 4.0]), None);
        assert_eq!(lasting_bimodality(&[2.0; 9]), None);
    }

    #[test]
    fn five_repeats_at_two_levels_are_two_groups() {
        let split = two_groups(&[10.0, 20.2, 10.1, 20.0, 9.9], 1.15).unwrap();
        assert_eq!((split.lower, split.upper), (3, 2));
        assert!((split.ratio - 2.01).abs() < 0.01);
    }

    #[test]
    fn an_even_spread_and_a_lone_value_are_no_groups() {
        assert_eq!(two_groups(&[10.0, 11.0, 12.0, 13.0, 14.0], 1.15), None);
        assert_eq!(two_groups(&[10.0, 10.0, 10.0, 10.0, 30.0], 1.15), None);
        assert_eq!(two_groups(&[1.0, 2.0, 3.0], 1.15), None);
        assert_eq!(two_groups(&[10.0; 6], 1.15), None);
    }
}
