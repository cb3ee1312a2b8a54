//! The distributions that have parameters only: one entry each, with mean, quantile and sampler.

use rand_distr::Distribution as _;
use statrs::distribution::ContinuousCDF as _;
use statrs::distribution::Normal;
use statrs::function::beta::beta_reg;
use statrs::function::gamma::gamma;
use statrs::function::gamma::gamma_lr;
use statrs::function::gamma::gamma_ur;

use super::super::chance::Stream;
use super::numeric::invert;
use super::numeric::invert_whole;

/// Parameters in the order of the form; unused places are 0.
pub(in crate::traffic) type Values = [f64; 3];

/// A distribution.
pub struct Kind {
    /// The name in texts.
    pub name: &'static str,
    /// The legal text.
    pub form: &'static str,
    pub(in crate::traffic) parameters: &'static [Parameter],
    /// What the parameters must fulfil, with its sentence.
    pub(in crate::traffic) rule: (fn(Values) -> bool, &'static str),
    pub(in crate::traffic) grid: Grid,
    /// The mean, where there is one.
    pub(super) mean: fn(Values) -> Option<f64>,
    /// The share of all values that are at most `x`.
    pub(super) cdf: fn(f64, Values) -> f64,
    /// The least value that a share `u` of all values does not exceed.
    pub(super) quantile: fn(f64, Values) -> f64,
    pub(super) sample: fn(&mut Stream, &Self, Values) -> f64,
}

/// Whether values lie anywhere or on whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::traffic) enum Grid {
    Dense,
    Whole,
}

/// A parameter of a distribution.
#[derive(Clone, Copy, Debug)]
pub(in crate::traffic) struct Parameter {
    pub(in crate::traffic) name: &'static str,
    pub(in crate::traffic) measures: Measures,
}

/// What a parameter measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::traffic) enum Measures {
    /// What the value measures.
    Same,
    /// Nothing: a shape.
    Shape,
    /// The unit of a logarithm or a scale; 1 B or 1 s if left out.
    Unit,
}

const fn same(name: &'static str) -> Parameter {
    Parameter { name, measures: Measures::Same }
}
const fn shape(name: &'static str) -> Parameter {
    Parameter { name, measures: Measures::Shape }
}
const fn unit(name: &'static str) -> Parameter {
    Parameter { name, measures: Measures::Unit }
}

/// Every distribution that has parameters only, in the order of the documentation.
pub static KINDS: &[Kind] = &[
    Kind {
        name: "const",
        form: "const(X)",
        parameters: &[same("value")],
        rule: (|_| true, ""),
        grid: Grid::Dense,
        mean: |[value, ..]| Some(value),
        cdf: |x, [value, ..]| if x < value { 0.0 } else { 1.0 },
        quantile: |_, [value, ..]| value,
        sample: by_quantile,
    },
    Kind {
        name: "uniform",
        form: "uniform(FROM, TO)",
        parameters: &[same("min"), same("max")],
        rule: (|[from, to, _]| from < to, "FROM must be below TO"),
        grid: Grid::Dense,
        mean: |[from, to, _]| Some(f64::midpoint(from, to)),
        cdf: |x, [from, to, _]| ((x - from) / (to - from)).clamp(0.0, 1.0),
        quantile: |u, [from, to, _]| from + (to - from) * u,
        sample: by_quantile,
    },
    Kind {
        name: "exp",
        form: "exp(MEAN) or exp(lambda=L)",
        parameters: &[same("mean")],
        rule: (|[mean, ..]| mean > 0.0, "MEAN must be above 0"),
        grid: Grid::Dense,
        mean: |[mean, ..]| Some(mean),
        cdf: |x, [mean, ..]| positive(x, |x| -(-x / mean).exp_m1()),
        quantile: |u, [mean, ..]| -mean * (-u).ln_1p(),
        sample: by_quantile,
    },
    Kind {
        name: "normal",
        form: "normal(MEAN, SD)",
        parameters: &[same("mean"), same("sd")],
        rule: (|[_, sd, _]| sd > 0.0, "SD must be above 0"),
        grid: Grid::Dense,
        mean: |[mean, ..]| Some(mean),
        cdf: |x, [mean, sd, _]| Normal::standard().cdf((x - mean) / sd),
        quantile: |u, [mean, sd, _]| mean + sd * z(u),
        sample: by_quantile,
    },
    Kind {
        name: "lognormal",
        form: "lognormal(MEAN, SD) or lognormal(mu=MU, sigma=SIGMA, unit=1 s)",
        parameters: &[same("mean"), same("sd")],
        rule: (|[mean, sd, _]| mean > 0.0 && sd > 0.0, "MEAN and SD must be above 0"),
        grid: Grid::Dense,
        mean: |[mean, ..]| Some(mean),
        cdf: |x, p| log_normal_cdf(x, of_moments(p)),
        quantile: |u, p| log_normal_quantile(u, of_moments(p)),
        sample: by_quantile,
    },
    Kind {
        name: "lognormal",
        form: "lognormal(mu=MU, sigma=SIGMA, unit=1 s)",
        parameters: &[shape("mu"), shape("sigma"), unit("unit")],
        rule: (|[_, sigma, unit]| sigma > 0.0 && unit > 0.0, "SIGMA must be above 0"),
        grid: Grid::Dense,
        mean: |[mu, sigma, unit]| Some(unit * (mu + sigma * sigma / 2.0).exp()),
        cdf: |x, [mu, sigma, unit]| log_normal_cdf(x / unit, (mu, sigma)),
        quantile: |u, [mu, sigma, unit]| unit * log_normal_quantile(u, (mu, sigma)),
        sample: by_quantile,
    },
    Kind {
        name: "log2normal",
        form: "log2normal(MU, SIGMA, unit=1 s)",
        parameters: &[shape("mu"), shape("sigma"), unit("unit")],
        rule: (|[_, sigma, unit]| sigma > 0.0 && unit > 0.0, "SIGMA must be above 0"),
        grid: Grid::Dense,
        mean: |[mu, sigma, unit]| {
            let (mu, sigma) = of_base_two(mu, sigma);
            Some(unit * (mu + sigma * sigma / 2.0).exp())
        },
        cdf: |x, [mu, sigma, unit]| log_normal_cdf(x / unit, of_base_two(mu, sigma)),
        quantile: |u, [mu, sigma, unit]| unit * log_normal_quantile(u, of_base_two(mu, sigma)),
        sample: by_quantile,
    },
    Kind {
        name: "pareto",
        form: "pareto(K, ALPHA)",
        parameters: &[same("k"), shape("alpha")],
        rule: (|[k, alpha, _]| k > 0.0 && alpha > 0.0, "K and ALPHA must be above 0"),
        grid: Grid::Dense,
        mean: |[k, alpha, _]| (alpha > 1.0).then(|| alpha * k / (alpha - 1.0)),
        cdf: |x, [k, alpha, _]| if x < k { 0.0 } else { 1.0 - (k / x).powf(alpha) },
        quantile: |u, [k, alpha, _]| k * (1.0 - u).powf(-1.0 / alpha),
        sample: by_quantile,
    },
    Kind {
        name: "weibull",
        form: "weibull(SCALE, SHAPE)",
        parameters: &[same("scale"), shape("shape")],
        rule: (|[scale, shape, _]| scale > 0.0 && shape > 0.0, "SCALE and SHAPE must be above 0"),
        grid: Grid::Dense,
        mean: |[scale, shape, _]| Some(scale * gamma(1.0 + 1.0 / shape)),
        cdf: |x, [scale, shape, _]| positive(x, |x| -(-(x / scale).powf(shape)).exp_m1()),
        quantile: |u, [scale, shape, _]| scale * (-(-u).ln_1p()).powf(1.0 / shape),
        sample: by_quantile,
    },
    Kind {
        name: "gamma",
        form: "gamma(SHAPE, SCALE)",
        parameters: &[shape("shape"), same("scale")],
        rule: (|[shape, scale, _]| scale > 0.0 && shape > 0.0, "SHAPE and SCALE must be above 0"),
        grid: Grid::Dense,
        mean: |[shape, scale, _]| Some(shape * scale),
        cdf: |x, [shape, scale, _]| positive(x, |x| gamma_lr(shape, x / scale)),
        quantile: |u, [shape, scale, _]| scale * invert(&|x| gamma_cdf(x, shape), u, shape),
        sample: |stream, kind, [shape, scale, zero]| match rand_distr::Gamma::new(shape, scale) {
            Ok(law) => law.sample(stream.generator()),
            Err(_) => by_quantile(stream, kind, [shape, scale, zero]),
        },
    },
    Kind {
        name: "beta",
        form: "beta(A, B, scale=1 s)",
        parameters: &[shape("a"), shape("b"), unit("scale")],
        rule: (|[a, b, scale]| a > 0.0 && b > 0.0 && scale > 0.0, "A and B must be above 0"),
        grid: Grid::Dense,
        mean: |[a, b, scale]| Some(scale * a / (a + b)),
        cdf: |x, [a, b, scale]| beta_reg(a, b, (x / scale).clamp(0.0, 1.0)),
        quantile: |u, [a, b, scale]| {
            scale * invert(&|x| beta_reg(a, b, x.clamp(0.0, 1.0)), u, 1.0).min(1.0)
        },
        sample: |stream, kind, [a, b, scale]| match rand_distr::Beta::new(a, b) {
            Ok(law) => scale * law.sample(stream.generator()),
            Err(_) => by_quantile(stream, kind, [a, b, scale]),
        },
    },
    Kind {
        name: "laplace",
        form: "laplace(MEAN, B)",
        parameters: &[same("mean"), same("b")],
        rule: (|[_, b, _]| b > 0.0, "B must be above 0"),
        grid: Grid::Dense,
        mean: |[mean, ..]| Some(mean),
        cdf: |x, [mean, b, _]| {
            let tail = (-(x - mean).abs() / b).exp() / 2.0;
            if x < mean { tail } else { 1.0 - tail }
        },
        quantile: |u, [mean, b, _]| {
            if u < 0.5 { mean + b * (2.0 * u).ln() } else { mean - b * (2.0 - 2.0 * u).ln() }
        },
        sample: by_quantile,
    },
    Kind {
        name: "lev",
        form: "lev(A, B)",
        parameters: &[same("a"), same("b")],
        rule: (|[_, b, _]| b > 0.0, "B must be above 0"),
        grid: Grid::Dense,
        mean: |[a, b, _]| Some(a + EULER * b),
        cdf: |x, [a, b, _]| (-(-(x - a) / b).exp()).exp(),
        quantile: |u, [a, b, _]| a - b * (-u.ln()).ln(),
        sample: by_quantile,
    },
    Kind {
        name: "geometric",
        form: "geometric(P)",
        parameters: &[shape("p")],
        rule: (|[p, ..]| p > 0.0 && p <= 1.0, "P must be above 0 and at most 1"),
        grid: Grid::Whole,
        mean: |[p, ..]| Some(1.0 / p),
        cdf: |x, [p, ..]| positive(x, |x| -(x.floor() * (-p).ln_1p()).exp_m1()),
        quantile: |u, [p, ..]| ((-u).ln_1p() / (-p).ln_1p()).ceil().max(1.0),
        sample: by_quantile,
    },
    Kind {
        name: "poisson",
        form: "poisson(MEAN)",
        parameters: &[shape("mean")],
        rule: (|[mean, ..]| mean > 0.0 && mean <= 1e9, "MEAN must be above 0 and at most 10^9"),
        grid: Grid::Whole,
        mean: |[mean, ..]| Some(mean),
        cdf: |x, [mean, ..]| if x < 0.0 { 0.0 } else { gamma_ur(x.floor() + 1.0, mean) },
        quantile: |u, [mean, ..]| invert_whole(&|x| gamma_ur(x.floor() + 1.0, mean), u, mean),
        sample: |stream, kind, values| match rand_distr::Poisson::new(values[0]) {
            Ok(law) => law.sample(stream.generator()),
            Err(_) => by_quantile(stream, kind, values),
        },
    },
    Kind {
        name: "negbin",
        form: "negbin(R, P)",
        parameters: &[shape("r"), shape("p")],
        rule: (|[r, p, _]| r > 0.0 && p > 0.0 && p < 1.0, "R must be above 0, P within 0 and 1"),
        grid: Grid::Whole,
        mean: |[r, p, _]| Some(r * (1.0 - p) / p),
        cdf: |x, [r, p, _]| if x < 0.0 { 0.0 } else { beta_reg(r, x.floor() + 1.0, p) },
        quantile: |u, [r, p, _]| invert_whole(&|x| beta_reg(r, x.floor() + 1.0, p), u, r / p),
        sample: by_quantile,
    },
    Kind {
        name: "zipf",
        form: "zipf(N, S)",
        parameters: &[shape("n"), shape("s")],
        rule: (
            |[n, s, _]| (1.0..=1e6).contains(&n) && n.fract() == 0.0 && (0.0..=20.0).contains(&s),
            "N must be a whole number from 1 to 1000000, S from 0 to 20",
        ),
        grid: Grid::Whole,
        mean: |[n, s, _]| Some(weights(n, s - 1.0) / weights(n, s)),
        cdf: |x, [n, s, _]| weights(x.floor().min(n), s) / weights(n, s),
        quantile: |u, [n, s, _]| {
            let all = weights(n, s);
            invert_whole(&|x| weights(x.floor().min(n), s) / all, u, 1.0).clamp(1.0, n)
        },
        sample: |stream, kind, [n, s, zero]| match rand_distr::Zipf::new(n, s) {
            Ok(law) => law.sample(stream.generator()),
            Err(_) => by_quantile(stream, kind, [n, s, zero]),
        },
    },
];

/// Euler's constant, the mean of the standard largest extreme value.
pub(super) const EULER: f64 = 0.577_215_664_901_532_9;

impl std::fmt::Debug for Kind {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.form)
    }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.form == other.form
    }
}

/// Inverse transform: one number of the stream per value.
fn by_quantile(stream: &mut Stream, kind: &Kind, values: Values) -> f64 {
    (kind.quantile)(stream.unit(), values)
}

/// Zero for a value that is not positive.
fn positive(x: f64, cdf: impl Fn(f64) -> f64) -> f64 {
    if x > 0.0 { cdf(x) } else { 0.0 }
}

fn gamma_cdf(x: f64, shape: f64) -> f64 {
    positive(x, |x| gamma_lr(shape, x))
}

fn z(u: f64) -> f64 {
    Normal::standard().inverse_cdf(u)
}

fn log_normal_cdf(x: f64, (mu, sigma): (f64, f64)) -> f64 {
    positive(x, |x| Normal::standard().cdf((x.ln() - mu) / sigma))
}

fn log_normal_quantile(u: f64, (mu, sigma): (f64, f64)) -> f64 {
    (mu + sigma * z(u)).exp()
}

/// mu = ln mean - sigma^2/2, sigma^2 = ln(1 + (sd/mean)^2).
pub(in crate::traffic) fn of_moments([mean, sd, _]: Values) -> (f64, f64) {
    let variance = (sd / mean).powi(2).ln_1p();
    (mean.ln() - variance / 2.0, variance.sqrt())
}

fn of_base_two(mu: f64, sigma: f64) -> (f64, f64) {
    (mu * std::f64::consts::LN_2, sigma * std::f64::consts::LN_2)
}

/// The sum of k^-s over the first `n` ranks: term by term to rank 32, from there by Euler and
/// Maclaurin, whose first term that is left out is below 10^-9 of the sum.
fn weights(n: f64, s: f64) -> f64 {
    let term = |k: f64| k.powf(-s);
    let few = (1..=RANKS).map(f64::from).take_while(|k| *k <= n).map(term).sum();
    let from = f64::from(RANKS);
    if n <= from {
        return few;
    }
    let area = if (s - 1.0).abs() < 1e-9 {
        (n / from).ln()
    } else {
        (n.powf(1.0 - s) - from.powf(1.0 - s)) / (1.0 - s)
    };
    let slope = |k: f64| -s * k.powf(-s - 1.0);
    let third = |k: f64| -s * (s + 1.0) * (s + 2.0) * k.powf(-s - 3.0);
    few + area + (term(n) - term(from)) / 2.0 + (slope(n) - slope(from)) / 12.0
        - (third(n) - third(from)) / 720.0
}

const RANKS: u32 = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_of_ranks_are_their_sum() {
        for (n, s) in [(31_u32, 1.0), (1_000, 0.0), (1_000, 0.8), (50_000, 1.0), (1_000, 2.5)] {
            let sum: f64 = (1..=n).map(|k| f64::from(k).powf(-s)).sum();
            assert!((weights(f64::from(n), s) / sum - 1.0).abs() < 1e-9, "{n}, {s}");
        }
    }
}
