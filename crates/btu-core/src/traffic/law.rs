//! Distributions: mean, distribution function, quantile, sampling.
//!
//! Values are plain numbers in the base unit of their quantity; [`super::Variate`] gives them one.

mod kinds;
mod numeric;
mod table;

use super::chance::Stream;

pub use kinds::KINDS;
pub use kinds::Kind;
pub use table::Interpolation;
pub use table::Table;

pub(super) use kinds::Grid;
pub(super) use kinds::Measures;
pub(super) use kinds::Values;
#[cfg(test)]
pub(super) use kinds::of_moments;

/// A distribution with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    /// One of [`KINDS`] with its parameters.
    Plain(&'static Kind, [f64; 3]),
    /// By rows.
    Table(Table),
    /// One of several, by weight.
    Mix(Vec<(f64, Self)>),
    /// Values outside the bounds are moved to the bound.
    Clamp(Box<Self>, Option<f64>, Option<f64>),
    /// Values outside the bounds are drawn again.
    Truncate(Box<Self>, Option<f64>, Option<f64>),
}

impl Law {
    /// The one of [`KINDS`] with this name, and its parameters in the base unit. For constants of
    /// the program: an unknown name is the constant of the first parameter.
    pub(super) fn of(name: &str, values: Values) -> Self {
        Self::Plain(KINDS.iter().find(|kind| kind.name == name).unwrap_or(&KINDS[0]), values)
    }

    /// The lognormal distribution with these moments of the logarithm of a value in `unit`.
    pub(super) fn log_normal(mu: f64, sigma: f64, unit: f64) -> Self {
        let named = |kind: &&Kind| kind.name == "lognormal" && kind.parameters.len() == 3;
        let kind = KINDS.iter().find(named).unwrap_or(&KINDS[0]);
        Self::Plain(kind, [mu, sigma, unit])
    }

    /// Moves values outside the bounds to the bound.
    pub(super) fn clamped(self, low: f64, high: f64) -> Self {
        Self::Clamp(Box::new(self), Some(low), Some(high))
    }

    /// The same, but what is beyond its 95th percentile is moved there.
    pub(super) fn below_tail(&self) -> Self {
        let most = self.quantile(BELOW_TAIL);
        Self::Clamp(Box::new(self.clone()), None, Some(most))
    }

    /// The value, where it is a constant.
    pub fn fixed(&self) -> Option<f64> {
        match self {
            Self::Plain(kind, [value, ..]) if kind.name == "const" => Some(*value),
            _ => None,
        }
    }

    /// The mean; `None` where the tail is too heavy to have one.
    pub fn mean(&self) -> Option<f64> {
        match self {
            Self::Plain(kind, values) => (kind.mean)(*values),
            Self::Table(table) => Some(table.mean()),
            Self::Mix(parts) => {
                let total: f64 = parts.iter().map(|(weight, _)| weight).sum();
                parts.iter().map(|(weight, law)| Some(weight / total * law.mean()?)).sum()
            }
            Self::Clamp(law, low, high) => law.mean_clamped(*low, *high),
            Self::Truncate(law, low, high) => law.mean_truncated(*low, *high),
        }
    }

    /// A bound of the mean's size, at once; `None` where there is no mean.
    pub(super) fn reach(&self) -> Option<f64> {
        match self {
            Self::Plain(kind, values) => (kind.mean)(*values).map(f64::abs),
            Self::Table(table) => Some(table.mean()),
            Self::Mix(parts) => {
                let reaches: Option<Vec<f64>> = parts.iter().map(|(_, law)| law.reach()).collect();
                reaches.map(|reaches| reaches.into_iter().fold(0.0, f64::max))
            }
            Self::Clamp(_, low, Some(high)) | Self::Truncate(_, low, Some(high)) => {
                Some(high.abs().max(low.unwrap_or(0.0).abs()))
            }
            Self::Clamp(law, low, None) | Self::Truncate(law, low, None) => {
                law.reach().map(|reach| reach.max(low.unwrap_or(0.0).abs()))
            }
        }
    }

    /// The share of all values that are at most `x`.
    pub fn cdf(&self, x: f64) -> f64 {
        match self {
            Self::Plain(kind, values) => (kind.cdf)(x, *values),
            Self::Table(table) => table.cdf(x),
            Self::Mix(parts) => {
                let total: f64 = parts.iter().map(|(weight, _)| weight).sum();
                parts.iter().map(|(weight, law)| weight / total * law.cdf(x)).sum()
            }
            Self::Clamp(..) if self.bounds().0.is_some_and(|low| x < low) => 0.0,
            Self::Clamp(..) if self.bounds().1.is_some_and(|high| x >= high) => 1.0,
            Self::Clamp(law, ..) => law.cdf(x),
            Self::Truncate(law, low, high) => {
                let (from, to) = law.shares(*low, *high);
                ((law.cdf(x) - from) / (to - from)).clamp(0.0, 1.0)
            }
        }
    }

    /// The least value that a share `u` of all values does not exceed.
    pub fn quantile(&self, u: f64) -> f64 {
        match self {
            Self::Plain(kind, values) => (kind.quantile)(u, *values),
            Self::Table(table) => table.quantile(u),
            Self::Mix(parts) => self.mixed_quantile(parts, u),
            Self::Clamp(law, low, high) => bounded(law.quantile(u), *low, *high),
            Self::Truncate(law, low, high) => {
                let (from, to) = law.shares(*low, *high);
                bounded(law.quantile(from + (to - from) * u), *low, *high)
            }
        }
    }

    /// The next value of a stream.
    pub fn sample(&self, stream: &mut Stream) -> f64 {
        match self {
            Self::Plain(kind, values) => (kind.sample)(stream, kind, *values),
            Self::Table(table) => table.quantile(stream.unit()),
            Self::Mix(parts) => pick(parts, stream.unit()).map_or(0.0, |law| law.sample(stream)),
            Self::Clamp(law, low, high) => bounded(law.sample(stream), *low, *high),
            Self::Truncate(law, low, high) => {
                let inside = |value: &f64| bounded(*value, *low, *high).total_cmp(value).is_eq();
                let drawn = (0..REDRAWS).map(|_| law.sample(stream)).find(inside);
                drawn.unwrap_or_else(|| self.quantile(stream.unit()))
            }
        }
    }

    /// True where all values are whole numbers.
    pub fn is_whole(&self) -> bool {
        match self {
            Self::Plain(kind, _) => kind.grid == Grid::Whole,
            Self::Table(_) => false,
            Self::Mix(parts) => parts.iter().all(|(_, law)| law.is_whole()),
            Self::Clamp(law, ..) | Self::Truncate(law, ..) => law.is_whole(),
        }
    }

    /// The variance; `None` where there is none.
    pub fn variance(&self) -> Option<f64> {
        let mean = self.mean()?;
        let (low, high) = (self.quantile(1e-12), self.quantile(1.0 - 1e-12));
        if low >= high {
            return Some(0.0);
        }
        // E[(X - m)^2] by parts, from the distribution function on both sides of the mean.
        let above = numeric::integral(&|x| 2.0 * (x - mean) * (1.0 - self.cdf(x)), mean, high);
        let below = numeric::integral(&|x| 2.0 * (mean - x) * self.cdf(x), low, mean);
        Some(above + below)
    }

    fn bounds(&self) -> (Option<f64>, Option<f64>) {
        match self {
            Self::Clamp(_, low, high) | Self::Truncate(_, low, high) => (*low, *high),
            _ => (None, None),
        }
    }

    /// The shares of values below `low` and up to `high`.
    pub(super) fn shares(&self, low: Option<f64>, high: Option<f64>) -> (f64, f64) {
        let from = low.map_or(0.0, |low| self.cdf(low.next_down()));
        (from, high.map_or(1.0, |high| self.cdf(high)))
    }

    /// `E[X]` = low + integral of the survival function between the bounds.
    fn mean_clamped(&self, low: Option<f64>, high: Option<f64>) -> Option<f64> {
        let least = self.quantile(LEAST);
        match (low, high) {
            (None, None) => self.mean(),
            (Some(low), None) => Some(self.mean()? + self.area(&|x| self.cdf(x), least, low)),
            (low, Some(high)) => {
                let from = low.unwrap_or(least);
                Some(from.min(high) + self.area(&|x| 1.0 - self.cdf(x), from, high))
            }
        }
    }

    fn mean_truncated(&self, low: Option<f64>, high: Option<f64>) -> Option<f64> {
        let (from, to) = self.shares(low, high);
        let start = low.unwrap_or_else(|| self.quantile(LEAST));
        if let Some(high) = high {
            return Some(start + self.area(&|x| to - self.cdf(x), start, high) / (to - from));
        }
        let below = self.area(&|x| self.cdf(x), self.quantile(LEAST), start);
        let tail = self.mean()? - start + below;
        Some(start + tail / (1.0 - from))
    }

    /// The area under a function of the distribution function: a sum where that has steps.
    fn area(&self, f: &dyn Fn(f64) -> f64, from: f64, to: f64) -> f64 {
        if !self.is_whole() || to - from > MOST_STEPS {
            return numeric::integral(f, from, to);
        }
        let (mut at, mut area) = (from, 0.0);
        while at < to {
            let next = (at.floor() + 1.0).min(to);
            area += (next - at) * f(at);
            at = next;
        }
        area
    }

    fn mixed_quantile(&self, parts: &[(f64, Self)], u: f64) -> f64 {
        let ends = || parts.iter().map(|(_, law)| law.quantile(u));
        let (mut low, mut high) =
            (ends().fold(f64::INFINITY, f64::min), ends().fold(f64::NEG_INFINITY, f64::max));
        for _ in 0..200 {
            let middle = f64::midpoint(low, high);
            if middle <= low || middle >= high {
                break;
            }
            if self.cdf(middle) < u { low = middle } else { high = middle }
        }
        high
    }
}

fn pick(parts: &[(f64, Law)], u: f64) -> Option<&Law> {
    let total: f64 = parts.iter().map(|(weight, _)| weight).sum();
    let mut left = u * total;
    let chosen = parts.iter().find(|(weight, _)| {
        left -= weight;
        left <= 0.0
    });
    chosen.or(parts.last()).map(|(_, law)| law)
}

fn bounded(value: f64, low: Option<f64>, high: Option<f64>) -> f64 {
    let value = low.map_or(value, |low| value.max(low));
    high.map_or(value, |high| value.min(high))
}

/// Below this share nothing is left of a distribution's mean.
const LEAST: f64 = 1e-15;
/// Where the tail of a law begins, for means that converge.
pub(super) const BELOW_TAIL: f64 = 0.95;
/// Draws after which a truncated value comes from the quantile instead.
const REDRAWS: u32 = 1000;
/// Steps of a sum over whole numbers.
const MOST_STEPS: f64 = 1e5;
