//! The ping-pong against itself, against what its transports must cost, against a chasm that is there by
//! construction, and against qperf, sockperf and `NetPIPE`: the checks whose times mean nothing on a busy machine.

mod fixture;
mod latency;
mod netpipe;
mod order;
mod twice;

use anyhow::Context;
use anyhow::Result;
use serde_json::Value;

use super::Bench;
use super::options::Options;
use super::paired::Interval;
use super::paired::Shown;
use super::paired::Target;
use super::verb::Incomplete;
use super::verb::Verb;
use super::verb::counted;
use crate::chore::Verdict;
use crate::program::installed;
use crate::repo::Repo;

pub(super) const BENCH: Bench = Bench {
    name: "pingpong",
    about: "P3 (20 chasms), P6 (twice the same), P7 (order of transports), P11 (time), latency, NetPIPE; \
            --only P7 runs one",
    own_options: &["--only"],
    run,
};

type Part = (&'static str, fn(&Verb<'_>, &Options) -> Result<usize>);

/// Every part by the names of its checks; it gives how many bounds were missed.
const PARTS: &[Part] = &[
    ("P6,P11", |program, _| twice::twice(program)),
    ("P7", |program, _| order::order(program)),
    ("latency", latency::latency),
    ("P3", |program, options| fixture::fixture(program, 2 * options.blocks)),
    ("NetPIPE", netpipe::netpipe),
];

fn run(repo: &Repo, options: &Options) -> Result<Verdict> {
    let chosen = options.chosen(PARTS, |(names, _)| names)?;
    let program = Verb::new(repo, BENCH.name, Incomplete::Refused)?;
    let mut missed = 0;
    for (names, part) in chosen {
        missed += counted(names, part(&program, options));
    }
    println!("\npingpong: {missed} bounds missed");
    Ok(Verdict::of(missed == 0))
}

/// The points of the curve of this label.
fn points<'r>(result: &'r Value, label: &str) -> Result<&'r [Value]> {
    let curves = result["curves"].as_array().map_or(&[][..], Vec::as_slice);
    let curve = curves.iter().find(|curve| curve["label"] == label);
    let points = curve.and_then(|curve| curve["points"].as_array());
    points.map(Vec::as_slice).with_context(|| format!("no curve {label}"))
}

/// A figure of the point of this size.
fn at(points: &[Value], bytes: u64, figure: &str) -> Result<f64> {
    let point = points.iter().find(|point| point["bytes"] == bytes);
    let figure = point.and_then(|point| point[figure].as_f64());
    figure.with_context(|| format!("no point of {bytes} bytes"))
}

/// Prints a ratio with its interval and what it shows about its target; 1 where that is missed.
fn compared(what: &str, ratio: &Interval, target: Target) -> usize {
    let shown = ratio.against(target);
    println!("{shown}: {what}: {ratio} ({target})");
    usize::from(shown == Shown::Missed)
}

/// A peer that is not installed is a bound that nobody has seen held.
fn is_there(name: &str, package: &str) -> bool {
    let is_there = installed(name).is_some();
    if !is_there {
        println!("MISSED {name} is not here: install the package {package}");
    }
    is_there
}
