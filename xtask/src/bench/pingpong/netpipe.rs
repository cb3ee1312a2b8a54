//! Beside `NetPIPE` itself, by its own estimator, on the same loopback: blocks in turn, paired ratios.

use std::process::Command;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;
use serde_json::Value;

use super::Program;
use super::judged;
use super::points;
use crate::bench::paired::Interval;
use crate::bench::paired::median;
use crate::bench::process::End;

pub(super) fn netpipe(program: &Program<'_>, blocks: u64) -> Result<usize> {
    if !Command::new("which").arg("NPtcp").output().context("run which")?.status.success() {
        println!("pingpong: NPtcp left out: install the package netpipe-tcp");
        return Ok(0);
    }
    let (mut latency, mut curve) = (Vec::new(), Vec::new());
    for block in 1..=blocks.min(MOST_BLOCKS) {
        let theirs = theirs(program)?;
        let ours = ours(program, block)?;
        let ratios: Vec<f64> = ours
            .iter()
            .filter_map(|(bytes, time)| {
                Some(time / theirs.iter().find(|(size, _)| size == bytes)?.1)
            })
            .collect();
        latency.extend(ratios.first());
        curve.extend(median(&ratios));
        println!(
            "NetPIPE: block {block}: {} sizes, T ours/theirs {:.3} at 1 B, {:.3} at the median",
            ratios.len(),
            ratios.first().unwrap_or(&f64::NAN),
            median(&ratios).unwrap_or(f64::NAN)
        );
    }
    let shown = |ratios: &[f64]| Interval::of(ratios, 1).context("no block was measured");
    let (latency, curve) = (shown(&latency)?, shown(&curve)?);
    Ok(judged(
        &format!("NetPIPE: T(1 B) ours/theirs {latency} (at most 1.03)"),
        latency.low <= 1.03,
    ) + judged(
        &format!("NetPIPE: T ours/theirs, median of sizes, {curve} (holds 1 within 5 %)"),
        curve.low <= 1.05 && curve.high >= 0.95,
    ))
}

/// Bytes and T in microseconds, by the smallest of three means.
fn ours(program: &Program<'_>, block: u64) -> Result<Vec<(u64, f64)>> {
    let result = program.measure(
        &format!("netpipe-{block}"),
        &[
            "tcp",
            "--on",
            "loopback",
            "--statistic",
            "netpipe",
            "--end",
            "64KiB",
            "--chasms",
            "off",
            "--reference",
            "off",
            "--cpus",
            "0/1",
        ],
    )?;
    let row = |point: &Value| Some((point["bytes"].as_u64()?, point["time_us"].as_f64()?));
    points(&result, "tcp")?.iter().map(|point| row(point).context("a point without time")).collect()
}

/// The same of `NPtcp`, its ends on the same CPUs as ours.
fn theirs(program: &Program<'_>) -> Result<Vec<(u64, f64)>> {
    let file = program.results.join("np.out");
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let far = End::start(1, &words("NPtcp"))?;
    far.listens(NETPIPE_PORT)?;
    let line = format!("NPtcp -h 127.0.0.1 -u 65536 -o {}", file.display());
    let mut near = End::start(0, &words(&line))?;
    near.succeeded()?;
    let text =
        std::fs::read_to_string(&file).with_context(|| format!("read {}", file.display()))?;
    let row = |line: &str| {
        let cells: Vec<&str> = line.split_whitespace().collect();
        Some((cells.first()?.parse().ok()?, cells.get(2)?.parse::<f64>().ok()? * 1e6))
    };
    let rows: Vec<(u64, f64)> = text.lines().filter_map(row).collect();
    if rows.is_empty() {
        bail!("NPtcp wrote no point");
    }
    Ok(rows)
}

const NETPIPE_PORT: u16 = 5002;
/// A block takes a minute.
const MOST_BLOCKS: u64 = 6;
