//! Beside `NetPIPE` itself, by its own estimator and in its own order, on the same loopback, 1 B to 8 MiB:
//! octave by octave, each program in turn on one and the same, so that a machine that changes its speed from
//! minute to minute changes it for both. A paired ratio with its interval for each size.
//!
//! The same curve is one whose ratio's 95 % interval over the blocks holds 1 at nine tenths of the sizes or
//! more, as two curves of one path are the same (P6), where half of these intervals reach no further than a
//! tenth: wider ones would hold anything.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::time::Instant;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;
use serde_json::Value;

use super::compared;
use super::is_there;
use super::points;
use crate::bench::options::Options;
use crate::bench::paired::Chance;
use crate::bench::paired::Interval;
use crate::bench::paired::Shown;
use crate::bench::paired::Target;
use crate::bench::paired::median;
use crate::bench::process::End;
use crate::bench::verb::Verb;
use crate::bench::verb::judged;

/// One curve: bytes and T in microseconds, ascending.
type Curve = Vec<(u64, f64)>;

/// What each block measures.
#[derive(Debug, Default)]
struct Block {
    ours: Curve,
    theirs: Curve,
}

pub(super) fn netpipe(program: &Verb<'_>, options: &Options) -> Result<usize> {
    if !is_there("NPtcp", "netpipe-tcp") {
        return Ok(1);
    }
    let mut chance = Chance(options.seed);
    let blocks: Vec<Block> = (1..=options.blocks.min(MOST_BLOCKS))
        .map(|number| measure(program, number, &mut chance))
        .collect::<Result<_>>()?;
    let sizes = paired(&blocks);
    let mut missed = 0;
    for (bytes, size) in &sizes {
        if let Some(name) = size.lone {
            missed += judged(&format!("NetPIPE: {bytes} B: {name} alone measured it"), false);
        } else if let Some(ratio) = Interval::student(&size.ratios) {
            println!("NetPIPE: {bytes} B: T ours/theirs {ratio}");
        }
    }
    let first = sizes.get(&1).and_then(|size| Interval::of(&size.ratios, options.seed));
    let first = first.context("1 B was not measured by both")?;
    missed += compared("NetPIPE: T(1 B) ours/theirs", &first, Target::AtMost(1.03));
    Ok(missed + of_all(&sizes))
}

/// What the blocks say about one size.
#[derive(Debug, Default, PartialEq)]
struct Size {
    /// Ours over theirs, block by block.
    ratios: Vec<f64>,
    /// Who alone measured it, in some block.
    lone: Option<&'static str>,
}

/// Every size that either program measured.
fn paired(blocks: &[Block]) -> BTreeMap<u64, Size> {
    let mut sizes: BTreeMap<u64, Size> = BTreeMap::new();
    for block in blocks {
        let curves = [&block.ours, &block.theirs];
        let all: BTreeSet<u64> = curves.into_iter().flatten().map(|(bytes, _)| *bytes).collect();
        let [ours, theirs]: [BTreeMap<u64, f64>; 2] =
            curves.map(|curve| curve.iter().copied().collect());
        for bytes in all {
            let size = sizes.entry(bytes).or_default();
            match (ours.get(&bytes), theirs.get(&bytes)) {
                (Some(ours), Some(theirs)) => size.ratios.push(ours / theirs),
                (Some(_), None) => size.lone = Some("btu"),
                (None, _) => size.lone = Some("NPtcp"),
            }
        }
    }
    sizes
}

/// What is shown of the whole curve; 1 where it is shown to be another.
fn of_all(sizes: &BTreeMap<u64, Size>) -> usize {
    let ratios: Vec<Interval> =
        sizes.values().filter_map(|size| Interval::student(&size.ratios)).collect();
    let held = ratios.iter().filter(|ratio| ratio.holds(1.0)).count();
    let widths: Vec<f64> = ratios.iter().map(Interval::half_width).collect();
    let width = median(&widths).unwrap_or(f64::INFINITY);
    let shown = match (held * 10 >= sizes.len() * 9, width <= WIDEST) {
        (true, true) => Shown::Met,
        (true, false) => Shown::Not,
        // One block has no intervals, and shows nothing.
        (false, _) if ratios.is_empty() => Shown::Not,
        (false, _) => Shown::Missed,
    };
    println!(
        "{shown}: NetPIPE: in its own order the interval of T ours/theirs holds 1 at {held} of {} sizes \
         (at least nine tenths), {:.1} % to either side at the median (at most {:.0} %)",
        sizes.len(),
        100.0 * width,
        100.0 * WIDEST
    );
    usize::from(shown == Shown::Missed)
}

/// A block's two curves, with the time that they took.
fn measure(program: &Verb<'_>, number: u64, chance: &mut Chance) -> Result<Block> {
    let begun = Instant::now();
    let mut block = Block::default();
    for octave in octaves() {
        let mut turns = ["btu", "NPtcp"];
        chance.shuffle(&mut turns);
        for turn in turns {
            match turn {
                "btu" => block.ours.extend(ours(program, number, octave)?),
                _ => block.theirs.extend(theirs(program, octave)?),
            }
        }
    }
    let (sizes, seconds) = (block.theirs.len(), begun.elapsed().as_secs_f64());
    println!("NetPIPE: block {number}: {sizes} sizes in {seconds:.0} s");
    Ok(block)
}

/// Smallest and largest power of two of a piece of the curve.
type Octave = (u64, u64);

/// The whole curve in pieces. `NetPIPE` walks from any power of two as it does from 1 B, but for what is
/// perturbed below 64 B.
fn octaves() -> Vec<Octave> {
    let whole = (FIRST..LARGEST.ilog2()).map(|power| (1 << power, 1 << (power + 1)));
    std::iter::once((1, 1 << FIRST)).chain(whole).collect()
}

/// `NetPIPE`'s sizes of an octave, the last with its end: `None` where its walk is ours from 1 B.
fn sizes((from, to): Octave) -> Option<Vec<u64>> {
    let bases = [from, from + from / 2, LARGEST];
    let ends = if to == LARGEST { 3 } else { 2 };
    let around = |base: &u64| [base - PERTURBATION, *base, base + PERTURBATION];
    (from > 1).then(|| bases[..ends].iter().flat_map(around).collect())
}

/// The largest base of an octave that `NetPIPE` may reach.
fn last((_, to): Octave) -> u64 {
    if to == LARGEST { to } else { to - 1 }
}

/// Bytes and T in microseconds, by the smallest of three means, over one connection from the smallest block to
/// the largest.
fn ours(program: &Verb<'_>, block: u64, octave: Octave) -> Result<Curve> {
    let sizes = match sizes(octave) {
        Some(sizes) => {
            let words: Vec<String> = sizes.iter().map(|bytes| format!("{bytes}B")).collect();
            format!("--sizes={}", words.join(","))
        }
        None => format!("--end={}B", last(octave)),
    };
    let result = program.measure(
        &format!("netpipe-{block}-{}", octave.0),
        &[
            "tcp",
            "--on",
            "loopback",
            "--statistic",
            "netpipe",
            "--order",
            "rising",
            "--connections",
            "1",
            "--point-time",
            NETPIPE_TIME,
            "--chasms",
            "off",
            "--reference",
            "off",
            "--cpus",
            "0/1",
            "--offset",
            NETPIPE_OFFSET,
            &sizes,
        ],
    )?;
    let row = |point: &Value| Some((point["bytes"].as_u64()?, point["time_us"].as_f64()?));
    points(&result, "tcp")?.iter().map(|point| row(point).context("a point without time")).collect()
}

/// The same of `NPtcp`, its ends on the same CPUs as ours. Each end walks through the sizes by itself.
fn theirs(program: &Verb<'_>, octave: Octave) -> Result<Curve> {
    let file = program.results.join("np.out");
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let (from, to) = (octave.0, last(octave));
    let far = End::start(1, &words(&format!("NPtcp -l {from} -u {to}")))?;
    far.listens(NETPIPE_PORT)?;
    let line = format!("NPtcp -h 127.0.0.1 -l {from} -u {to} -o {}", file.display());
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

/// Where `malloc` puts the larger blocks of `NPtcp`: behind its own 16 B at the start of a page.
const NETPIPE_OFFSET: &str = "16B";
const NETPIPE_PORT: u16 = 5002;
/// What `NPtcp` spends on a size: three trials of an eighth of a second, as long as they were foreseen.
const NETPIPE_TIME: &str = "350ms";
/// Of the default curve.
const LARGEST: u64 = 8 << 20;
const PERTURBATION: u64 = 3;
/// Below this power of two not every size is perturbed.
const FIRST: u32 = 6;
/// A block takes a minute and a half.
const MOST_BLOCKS: u64 = 6;
/// What half of the intervals may reach to either side where holding 1 shall say something.
const WIDEST: f64 = 0.1;

#[cfg(test)]
mod tests {
    use super::*;

    fn block(ours: &[(u64, f64)], theirs: &[(u64, f64)]) -> Block {
        Block { ours: ours.to_vec(), theirs: theirs.to_vec() }
    }

    #[test]
    fn octaves_follow_one_another_over_the_whole_curve() {
        let octaves = octaves();
        assert_eq!(octaves[0], (1, 64));
        assert!(octaves.windows(2).all(|two| two[0].1 == two[1].0));
        assert_eq!(octaves.last().copied().map(last), Some(8 << 20));
        assert_eq!(sizes((64, 128)), Some(vec![61, 64, 67, 93, 96, 99]));
        let last: Vec<u64> = sizes((4 << 20, 8 << 20)).unwrap();
        assert_eq!((last.len(), last[8]), (9, (8 << 20) + 3));
    }

    #[test]
    fn a_size_that_one_program_lacks_names_the_other() {
        let blocks = [
            block(&[(1, 6.0), (2, 6.0), (8, 9.0)], &[(1, 5.0), (4, 7.0), (8, 9.0)]),
            block(&[(8, 9.0)], &[(8, 18.0)]),
        ];
        let sizes = paired(&blocks);
        let size = |ratios: &[f64], lone| Size { ratios: ratios.to_vec(), lone };
        assert_eq!(sizes[&1], size(&[1.2], None));
        assert_eq!((&sizes[&2], &sizes[&4]), (&size(&[], Some("btu")), &size(&[], Some("NPtcp"))));
        assert_eq!(sizes[&8], size(&[1.0, 0.5], None));
    }

    /// Two blocks: t(0.975, 1) = 12.7, so 0.999 and 1.001 make 1.3 %, and 0.98 and 1.02 make 29 %.
    #[test]
    fn a_curve_is_the_same_only_where_narrow_intervals_hold_one() {
        let sizes = |ratios: [f64; 2], others: u64| -> BTreeMap<u64, Size> {
            let size = |ratios: [f64; 2]| Size { ratios: ratios.to_vec(), lone: None };
            (0..10).map(|at| (at, size(if at < others { [1.5, 1.5001] } else { ratios }))).collect()
        };
        let near = [0.999, 1.001];
        assert_eq!((of_all(&sizes(near, 0)), of_all(&sizes(near, 1))), (0, 0));
        assert_eq!((of_all(&sizes([0.98, 1.02], 1)), of_all(&sizes(near, 2))), (0, 1));
        let one = (1..=10).map(|bytes| (bytes, Size { ratios: vec![1.5], lone: None }));
        assert_eq!(of_all(&one.collect()), 0);
    }
}
