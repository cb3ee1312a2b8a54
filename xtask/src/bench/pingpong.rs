//! The ping-pong against itself, against what its transports must cost, against a chasm that is there by
//! construction, and against qperf, sockperf and `NetPIPE`: the checks whose times mean nothing on a busy machine.

mod fixture;
mod latency;
mod netpipe;
mod order;
mod twice;

use std::path::Path;
use std::path::PathBuf;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;
use serde_json::Value;

use super::Bench;
use super::options::Options;
use super::paired::Interval;
use super::paired::Shown;
use super::paired::Target;
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

/// The program, and where its results go.
struct Program<'a> {
    repo: &'a Repo,
    results: PathBuf,
}

type Part = (&'static str, fn(&Program<'_>, &Options) -> Result<usize>);

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
    if !repo.step("cargo build --release --locked -p btu")? {
        bail!("btu did not build");
    }
    let results = repo.path("target/bench/pingpong");
    if results.exists() {
        std::fs::remove_dir_all(&results)
            .with_context(|| format!("remove {}", results.display()))?;
    }
    let program = Program { repo, results };
    let mut missed = 0;
    for (_, part) in chosen {
        missed += part(&program, options)?;
    }
    println!("\npingpong: {missed} bounds missed");
    Ok(Verdict::of(missed == 0))
}

impl Program<'_> {
    /// Measures into a folder of its own; gives `result.json`.
    fn measure(&self, name: &str, args: &[&str]) -> Result<Value> {
        let out = self.results.join(name);
        let mut command = self.repo.command(self.repo.path("target/release/btu"));
        command.arg("pingpong").args(args).arg("--quiet").arg("--out").arg(&out);
        let ended =
            command.output().with_context(|| format!("run btu pingpong {}", args.join(" ")))?;
        if !ended.status.success() {
            bail!("btu pingpong {}: {}", args.join(" "), String::from_utf8_lossy(&ended.stderr));
        }
        read(&out.join("result.json"))
    }
}

fn read(path: &Path) -> Result<Value> {
    let text = std::fs::read(path).with_context(|| format!("read {}", path.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("parse {}", path.display()))
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

/// Prints a bound and what became of it; 1 where it was missed.
fn judged(what: &str, met: bool) -> usize {
    println!("{} {what}", if met { "met   " } else { "MISSED" });
    usize::from(!met)
}
