//! Beside `NetPIPE` itself, by its own estimator, on the same loopback, 1 B to 8 MiB: blocks in random
//! order, a paired ratio with its interval for each size.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;
use serde_json::Value;

use super::Program;
use super::compared;
use super::is_there;
use super::judged;
use super::points;
use crate::bench::options::Options;
use crate::bench::paired::Chance;
use crate::bench::paired::Interval;
use crate::bench::paired::Target;
use crate::bench::process::End;

/// One curve: bytes and T in microseconds, ascending.
type Curve = Vec<(u64, f64)>;

pub(super) fn netpipe(program: &Program<'_>, options: &Options) -> Result<usize> {
    if !is_there("NPtcp", "netpipe-tcp") {
        return Ok(1);
    }
    let mut chance = Chance(options.seed);
    let mut ratios: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for block in 1..=options.blocks.min(MOST_BLOCKS) {
        let [ours, theirs] = both(program, block, &mut chance)?;
        let theirs: BTreeMap<u64, f64> = theirs.into_iter().collect();
        for (bytes, time) in ours {
            let ratio = theirs.get(&bytes).map(|other| time / other);
            ratios.entry(bytes).or_default().extend(ratio);
        }
    }
    let shown = ratios.values().map(|ratios| Interval::of(ratios, options.seed));
    let shown: Vec<Interval> = shown.collect::<Option<_>>().context("sizes that only one has")?;
    let first = shown.first().context("no size was measured")?;
    let holds = shown.iter().filter(|ratio| ratio.low <= 1.05 && ratio.high >= 0.95).count();
    for ((bytes, _), ratio) in ratios.iter().zip(&shown) {
        println!("NetPIPE: {bytes} B: T ours/theirs {ratio}");
    }
    let same = format!("NetPIPE: {holds} of {} ratios of T hold 1 within 5 % (90 %)", shown.len());
    Ok(compared("NetPIPE: T(1 B) ours/theirs", first, Target::AtMost(1.03))
        + judged(&same, holds * 10 >= shown.len() * 9))
}

/// Ours and theirs, in random order, with the time that each took.
fn both(program: &Program<'_>, block: u64, chance: &mut Chance) -> Result<[Curve; 2]> {
    let (mut curves, mut seconds) = ([Curve::new(), Curve::new()], [0.0; 2]);
    let first = chance.below(2);
    for turn in [first, 1 - first] {
        let begun = Instant::now();
        curves[turn] = if turn == 0 { ours(program, block)? } else { theirs(program)? };
        seconds[turn] = begun.elapsed().as_secs_f64();
    }
    println!(
        "NetPIPE: block {block}: {} sizes in {:.0} s, theirs {} in {:.0} s",
        curves[0].len(),
        seconds[0],
        curves[1].len(),
        seconds[1]
    );
    Ok(curves)
}

/// Bytes and T in microseconds, by the smallest of three means.
fn ours(program: &Program<'_>, block: u64) -> Result<Curve> {
    let result = program.measure(
        &format!("netpipe-{block}"),
        &[
            "tcp",
            "--on",
            "loopback",
            "--statistic",
            "netpipe",
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
fn theirs(program: &Program<'_>) -> Result<Curve> {
    let file = program.results.join("np.out");
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let far = End::start(1, &words("NPtcp"))?;
    far.listens(NETPIPE_PORT)?;
    let line = format!("NPtcp -h 127.0.0.1 -u 8388608 -o {}", file.display());
    let mut near = End::start(0, &words(&line))?;
    near.succeeded()?;
    let text =
        std::fs::read_to_string(&file).with_context(|| format!("read {}", file.display()))?;
    let row = |line: &str| {
        let cells: Vec<&str> = line.split_whitespace().collect();
        Some((cells.first()?.parse().ok()?, cells.get(2)?.parse::<f64>().ok()? * 1e6))
    };
    let rows: Curve = text.lines().filter_map(row).collect();
    if rows.is_empty() {
        bail!("NPtcp wrote no point");
    }
    Ok(rows)
}

const NETPIPE_PORT: u16 = 5002;
/// A block takes two minutes.
const MOST_BLOCKS: u64 = 6;
