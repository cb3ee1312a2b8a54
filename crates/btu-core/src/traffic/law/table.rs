//! Distributions given as a table of values with their cumulated shares.

use std::sync::Arc;

/// How values between two rows are distributed. It is part of the distribution's name, because
/// the mean depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// Evenly between two rows, the first starting at zero.
    Linear,
    /// The value of the next row.
    Step,
}

/// A distribution by rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The name of the file or of the workload.
    pub name: Arc<str>,
    /// How values between two rows are distributed.
    pub interpolation: Interpolation,
    /// Value and share of all values that are at most it, both rising; the last share is 1.
    rows: Arc<[(f64, f64)]>,
}

impl Table {
    /// A table whose rows are checked: rising, from a positive share to 1.
    pub fn new(
        name: &str,
        interpolation: Interpolation,
        rows: Vec<(f64, f64)>,
    ) -> Result<Self, String> {
        let rising = rows.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1);
        if !rising || rows.iter().any(|(value, share)| *value < 0.0 || *share < 0.0) {
            return Err(format!("{name}: values and shares must rise from row to row"));
        }
        if rows.last().is_none_or(|(_, share)| (share - 1.0).abs() > 1e-9) {
            return Err(format!("{name}: the last share must be 1 (or 100 for percent)"));
        }
        Ok(Self { name: name.into(), interpolation, rows: rows.into() })
    }

    /// Reads rows `VALUE,SHARE` in units of `scale`; shares up to 1, or up to 100.
    pub(in crate::traffic) fn read(
        name: &str,
        interpolation: Interpolation,
        text: &str,
        scale: f64,
    ) -> Result<Self, String> {
        let mut rows = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            rows.push(row(line).ok_or_else(|| {
                format!("{name}:{}: \"{line}\" is no row; write VALUE,SHARE", index + 1)
            })?);
        }
        let whole = if rows.last().is_some_and(|(_, share)| *share > 1.0) { 100.0 } else { 1.0 };
        let rows = rows.into_iter().map(|(value, share)| (value * scale, share / whole)).collect();
        Self::new(name, interpolation, rows)
    }

    /// The rows: value, cumulated share.
    pub fn rows(&self) -> &[(f64, f64)] {
        &self.rows
    }

    /// The mean, exact.
    pub(super) fn mean(&self) -> f64 {
        self.pieces().map(|((from, low), (to, high))| (high - low) * self.middle(from, to)).sum()
    }

    /// The share of all values that are at most `x`.
    pub(super) fn cdf(&self, x: f64) -> f64 {
        let reached = self.rows.partition_point(|(value, _)| *value <= x);
        let low = if reached == 0 { (0.0, 0.0) } else { self.rows[reached - 1] };
        match (self.interpolation, self.rows.get(reached)) {
            (Interpolation::Linear, Some(high)) if x > low.0 => {
                low.1 + (high.1 - low.1) * (x - low.0) / (high.0 - low.0)
            }
            _ => low.1,
        }
    }

    /// The value that a share `u` of all values does not exceed.
    pub(super) fn quantile(&self, u: f64) -> f64 {
        let at = self.rows.partition_point(|(_, share)| *share < u).min(self.rows.len() - 1);
        let high = self.rows[at];
        let low = if at == 0 { (0.0, 0.0) } else { self.rows[at - 1] };
        match self.interpolation {
            Interpolation::Linear if high.1 > low.1 => {
                low.0 + (high.0 - low.0) * (u - low.1) / (high.1 - low.1)
            }
            _ => high.0,
        }
    }

    fn middle(&self, from: f64, to: f64) -> f64 {
        match self.interpolation {
            Interpolation::Linear => f64::midpoint(from, to),
            Interpolation::Step => to,
        }
    }

    fn pieces(&self) -> impl Iterator<Item = ((f64, f64), (f64, f64))> {
        let before = std::iter::once((0.0, 0.0)).chain(self.rows.iter().copied());
        before.zip(self.rows.iter().copied())
    }
}

fn row(line: &str) -> Option<(f64, f64)> {
    let (value, share) = line.split_once([',', ';', '\t', ' '])?;
    let number = |text: &str| text.trim().parse().ok().filter(|n: &f64| n.is_finite());
    Some((number(value)?, number(share)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interpolation_decides_the_mean() {
        let text = "# bytes, percent\n100, 50\n300, 100\n";
        let linear = Table::read("t", Interpolation::Linear, text, 1.0).unwrap();
        let step = Table::read("t", Interpolation::Step, text, 1.0).unwrap();
        assert!((linear.mean() - 125.0).abs() < 1e-9 && (step.mean() - 200.0).abs() < 1e-9);
        assert!((linear.quantile(0.75) - 200.0).abs() < 1e-9);
        assert!((linear.cdf(200.0) - 0.75).abs() < 1e-9 && (step.cdf(299.0) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn a_torn_table_is_refused_with_its_line() {
        let read = |text| Table::read("t.csv", Interpolation::Step, text, 1.0).unwrap_err();
        assert!(read("1,0.5\nx\n").starts_with("t.csv:2:"));
        assert!(read("1,0.5\n2,0.9\n").contains("last share"));
        assert!(read("2,0.5\n1,1\n").contains("must rise"));
    }
}
