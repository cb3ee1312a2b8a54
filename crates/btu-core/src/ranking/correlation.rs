//! Whether another figure of the hosts predicts their BTU.

use crate::stats::spearman;
use crate::stats::spearman_interval;
use crate::stats::spearman_p;
use crate::words::several;

/// How the order by another figure agrees with the order by BTU.
#[derive(Clone, Debug, PartialEq)]
pub struct Correlation {
    /// The other figure: `price`, or the name of a mark.
    pub with: String,
    /// Hosts that have both.
    pub n: usize,
    /// Spearman's rho; `None` with the reason beside it.
    pub rho: Option<f64>,
    /// Why there is no rho.
    pub rho_reason: Option<String>,
    /// Its 95 % interval.
    pub ci95: Option<[f64; 2]>,
    /// Why there is no interval.
    pub ci95_reason: Option<String>,
    /// Two-sided p value of "no relation".
    pub p: Option<f64>,
    /// Why there is no p value.
    pub p_reason: Option<String>,
}

/// The correlation of BTU with a figure, over the hosts that have both: pairs (BTU, figure).
pub fn correlation(with: &str, pairs: &[(f64, f64)], seed: u64) -> Correlation {
    let (btu, other): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let n = pairs.len();
    let rho = spearman(&btu, &other);
    let interval = rho.and_then(|rho| spearman_interval(rho, n));
    let p = spearman_p(&btu, &other, seed);
    let few = |least: usize, why: &str| {
        if n < least {
            format!("{}, at least {least} are needed", several(n, "host"))
        } else {
            why.to_owned()
        }
    };
    Correlation {
        with: with.to_owned(),
        n,
        rho,
        rho_reason: rho.is_none().then(|| few(3, SAME)),
        ci95: interval.map(|interval| [interval.low, interval.high]),
        ci95_reason: interval.is_none().then(|| few(10, ENDS)),
        p,
        p_reason: p.is_none().then(|| few(4, SAME)),
    }
}

impl Correlation {
    /// A correlation that does not exist, and why.
    pub fn unavailable(with: &str, n: usize, reason: &str) -> Self {
        let reason = Some(reason.to_owned());
        Self {
            with: with.to_owned(),
            n,
            rho: None,
            rho_reason: reason.clone(),
            ci95: None,
            ci95_reason: reason.clone(),
            p: None,
            p_reason: reason,
        }
    }
}

/// Nothing can be said where nothing varies.
const SAME: &str = "all values of one side are equal";
/// Nor is there an interval at the very ends of the scale.
const ENDS: &str = "all values of one side are equal, or all are in perfect order";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_has_its_reason() {
        let two = correlation("price", &[(1.0, 2.0), (2.0, 1.0)], 1);
        assert_eq!(two.rho_reason.as_deref(), Some("2 hosts, at least 3 are needed"));
        let three = correlation("price", &[(1.0, 2.0), (2.0, 1.0), (3.0, 4.0)], 1);
        assert_eq!((three.rho, three.rho_reason), (Some(0.5), None));
        assert_eq!(three.p_reason.as_deref(), Some("3 hosts, at least 4 are needed"));
        assert_eq!(three.ci95_reason.as_deref(), Some("3 hosts, at least 10 are needed"));
        let one_price: Vec<(f64, f64)> = (0..12).map(|btu| (f64::from(btu), 7.0)).collect();
        let equal = correlation("price", &one_price, 1);
        assert_eq!((equal.rho, equal.p), (None, None));
        for reason in [equal.rho_reason, equal.p_reason] {
            assert_eq!(reason.as_deref(), Some("all values of one side are equal"));
        }
    }
}
