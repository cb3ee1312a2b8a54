//! Every distribution: what it draws, its quantiles, its mean and its text agree.

use crate::traffic::check::test;
use crate::traffic::*;

/// An expression of every kind, for sizes.
static EXPRESSIONS: &[&str] = &[
    "uniform(20 B, 200 B)",
    "exp(256258 B)",
    "normal(1000 B, 100 B)",
    "lognormal(10710 B, 25032 B)",
    "lognormal(mu=9.357, sigma=1.318)",
    "log2normal(mu=6.64, sigma=2.24)",
    "pareto(1000 B, 2.5)",
    "weibull(6950 B, 0.8099)",
    "gamma(3.05, 2725 B)",
    "beta(a=3, b=4, scale=10000 B)",
    "laplace(5000 B, 300 B)",
    "lev(500 B, 110 B)",
    "geometric(0.095)",
    "poisson(130)",
    "negbin(3.1, 0.02)",
    "zipf(1000, 1.2)",
    "mix(0.9: exp(100 B), 0.1: pareto(1000 B, 1.5))",
    "clamp(exp(256258 B), lo=8 B, hi=1048586 B)",
    "truncate(exp(256258 B), lo=8 B, hi=1048586 B)",
    "clamp(pareto(20 B, 2.5), hi=200 B)",
];

fn expression(text: &str) -> Variate {
    variate(text, Quantity::Bytes, Dialect::Btu).map_err(|e| format!("{text}: {e}")).unwrap()
}

/// The values of a claim about the law that is tested now.
fn drawn(call: &Call, streams: &Streams, count: usize) -> Vec<f64> {
    let law = call.variate("blocksize").law().clone();
    let mut stream = streams.stream("x");
    (0..count).map(|_| law.sample(&mut stream)).collect()
}

#[test]
fn what_is_drawn_follows_the_law() {
    for text in EXPRESSIONS {
        let files = |_: &str| Err("no files".to_owned());
        let (call, _) = call(&format!("full(blocksize={text})"), Dialect::Btu, &files).unwrap();
        let says = Says::Follows(expression(text).law().clone());
        let claim = Claim { what: "draws", says, values: drawn };
        for seed in 1..=3 {
            let checked = test(&claim, &call, &Streams::new(seed, "laws"), 3_000);
            assert!(checked.p > Some(1e-4), "{text}, seed {seed}: {checked:?}");
        }
    }
}

/// E[X] = integral of the quantile, over shares from 0 to 1; tails beyond 10^-4 are left to the bound.
#[test]
fn the_mean_is_that_of_the_quantiles() {
    for text in EXPRESSIONS {
        let law = expression(text).law().clone();
        let steps = 2_000_u32;
        let quantile = |i: u32| law.quantile((f64::from(i) + 0.5) / f64::from(steps));
        let sum: f64 = (0..steps).map(quantile).sum();
        let (found, mean) = (sum / f64::from(steps), law.mean().unwrap());
        let heavy = ["pareto", "lognormal", "log2normal", "zipf"].iter().any(|k| text.contains(k));
        let bound = if heavy { 0.15 } else { 0.005 };
        assert!((found / mean - 1.0).abs() < bound, "{text}: {found} for {mean}");
    }
}

#[test]
fn a_quantile_is_where_the_distribution_function_reaches_its_share() {
    for text in EXPRESSIONS {
        let law = expression(text).law().clone();
        for share in [0.01, 0.3, 0.5, 0.9, 0.999] {
            let value = law.quantile(share);
            let (below, at) = (law.cdf(value - value.abs() * 1e-6 - 1e-6), law.cdf(value));
            assert!(below <= share + 1e-6 && at >= share - 1e-6, "{text} at {share}: {value}");
        }
    }
}

#[test]
fn the_text_of_a_value_reads_back() {
    for text in EXPRESSIONS {
        let value = expression(text);
        assert_eq!(expression(&value.to_string()), value, "{text}: {value}");
    }
    let period =
        variate("exp(lambda=0.00001, min=1000)", Quantity::Time, Dialect::NetSpec).unwrap();
    let again = variate(&period.to_string(), Quantity::Time, Dialect::Btu);
    assert_eq!(again, Ok(period));
}

#[test]
fn what_is_no_value_says_what_would_be() {
    let said = |text| variate(text, Quantity::Bytes, Dialect::Btu).unwrap_err().to_string();
    for (text, part) in [
        ("12500", "1:1: 12500 has no unit; write one of B, kB, KiB"),
        ("exp(5 ms)", "1:5: unknown unit \"ms\""),
        ("gauss(1 B)", "unknown distribution \"gauss\"; write const, uniform"),
        ("pareto(8 B, 0.9)", "has no mean; write clamp(X, LO, HI)"),
        ("uniform(9 B, 8 B)", "FROM must be below TO"),
        ("clamp(exp(9 B), 9 B, 8 B)", "lower bound must be below"),
        ("truncate(uniform(1 B, 2 B), 8 B, 9 B)", "nearly no value"),
        ("exp(8 B", "1:8: found the end, wanted \",\" or \")\""),
        ("exp(8 B) 9", "wanted the end of the value"),
        ("mix(exp(8 B))", "weights above 0"),
        ("table(\"x.csv\", linear)", "files are not available here"),
        ("-5 B", "1:1: -5 B is negative; write 0 or more"),
        ("90000000 GB", "1:1: the mean of this value may be 9e16 B; write at most 16000000 GB"),
    ] {
        assert!(said(text).contains(part), "{text}: {}", said(text));
    }
}

/// What is wrong is told with what was written; a value that cannot be read is not missing, too.
#[test]
fn settings_are_told_with_their_values_and_once() {
    let told = |change: [&str; 2]| {
        let script = include_str!("../testdata/full-stream.ns");
        assert!(script.contains(change[0]), "{change:?}");
        let text = script.replacen(change[0], change[1], 1);
        let words = Vocabulary { files: &|_| Err("no files".to_owned()) };
        read_script("k.ns", &text, Dialect::NetSpec, &words).unwrap_err().to_string()
    };
    let port = ["peer = vasari:42001", "peer = vasari:99999"];
    assert_eq!(told(port), "k.ns:7:19: \"99999\" is no port; write 1 to 65535");
    let pace = ["peer = vasari:42001;", "peer = vasari:42001; pace = fast;"];
    assert_eq!(told(pace), "k.ns:7:33: pace = fast; write sleep, hybrid or spin");
    let nodelay = ["window=65536", "nodelay=maybe"];
    assert_eq!(told(nodelay), "k.ns:5:29: nodelay = maybe; write yes or no");
    let negative = ["duration=30", "duration=-30"];
    assert!(told(negative).ends_with(": -30 is negative; write 0 or more"), "{}", told(negative));
}
