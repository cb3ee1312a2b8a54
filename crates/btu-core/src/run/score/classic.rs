//! The penalty as maly1996 writes it: a geometric mean of percentages, where it exists.

use std::fmt;

/// The penalty of eq. 9 to 11.
///
/// A geometric mean needs positive terms, and a host with an idle core often slows an activity by
/// nothing or less. Then it is undefined, and is never clamped. It also depends on the base that
/// the percentages are taken of, which a mean of ratios does not; so the ratio is the headline.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Classic {
    /// Terms z, y that were measured.
    terms: usize,
    /// Of these, terms that are not positive.
    not_positive: usize,
    /// Sum of the logarithms of the class penalties, and how many.
    log_sum: f64,
    classes: usize,
}

impl Classic {
    /// The class penalty of eq. 10, from the slowdowns of its activities over the cases.
    //= maly1996#5 eq. 9
    //= maly1996#5 eq. 10
    pub fn of_slowdowns(slowdowns: &[f64]) -> Self {
        let terms: Vec<f64> = slowdowns.iter().map(|s| super::penalty_percent(*s)).collect();
        let not_positive = terms.iter().filter(|term| **term <= 0.0).count();
        let mean = super::geometric_mean(&terms);
        Self {
            terms: terms.len(),
            not_positive,
            log_sum: mean.map_or(0.0, f64::ln),
            classes: usize::from(!terms.is_empty()),
        }
    }

    /// The penalty of eq. 11, from those of the classes.
    pub fn fold(classes: impl Iterator<Item = Self>) -> Self {
        classes.fold(Self::default(), |sum, class| Self {
            terms: sum.terms + class.terms,
            not_positive: sum.not_positive + class.not_positive,
            log_sum: sum.log_sum + class.log_sum,
            classes: sum.classes + class.classes,
        })
    }

    /// The penalty in percent, where it is defined.
    pub fn percent(self) -> Option<f64> {
        let defined = self.classes > 0 && self.not_positive == 0;
        defined.then(|| (self.log_sum / crate::stats::count(self.classes)).exp())
    }

    /// Why there is no penalty; `None` where there is one.
    pub fn reason(self) -> Option<String> {
        self.percent().is_none().then(|| self.to_string())
    }
}

impl fmt::Display for Classic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.percent() {
            Some(percent) => write!(out, "{percent:.1} %"),
            None if self.terms == 0 => out.write_str("no slowdown was measured"),
            None => write!(out, "undefined ({} of {} terms <= 0)", self.not_positive, self.terms),
        }
    }
}
