//! Beside `NetPIPE` itself, by its own estimator, on the same loopback, 1 B to 8 MiB: blocks in random
//! order, a paired ratio with its interval for each size.

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
use crate::bench::process::End;
use crate::bench::verb::Verb;
use crate::bench::verb::judged;

/// One curve: bytes and T in microseconds, ascending.
type Curve = Vec<(u64, f64)>;

pub(super) fn netpipe(program: &Verb<'_>, options: &Options) -> Result<usize> {
    if !is_there("NPtcp", "netpipe-tcp") {
        return Ok(1);
    }
    let mut chance = Chance(options.seed);
    let blocks =
        (1..=options.blocks.min(MOST_BLOCKS)).map(|block| both(program, block, &mut chance));
    let sizes = paired(&blocks.collect::<Result<Vec<_>>>()?);
    let mut shown = Vec::new();
    let mut missed = 0;
    for (bytes, size) in &sizes {
        if let Some(name) = size.lone {
            missed += judged(&format!("NetPIPE: {bytes} B: {name} alone measured it"), false);
        } else if let Some(ratio) = Interval::of(&size.ratios, options.seed) {
            shown.push(ratio.against(SAME));
            println!("{}: NetPIPE: {bytes} B: T ours/theirs {ratio} ({SAME})", ratio.against(SAME));
        }
    }
    let first = sizes.get(&1).and_then(|size| Interval::of(&size.ratios, options.seed));
    let first = first.context("1 B was not measured by both")?;
    missed += compared("NetPIPE: T(1 B) ours/theirs", &first, Target::AtMost(1.03));
    Ok(missed + of_all(&shown, sizes.len()))
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
fn paired(blocks: &[[Curve; 2]]) -> BTreeMap<u64, Size> {
    let mut sizes: BTreeMap<u64, Size> = BTreeMap::new();
    for curves in blocks {
        let all: BTreeSet<u64> = curves.iter().flatten().map(|(bytes, _)| *bytes).collect();
        let [ours, theirs]: [BTreeMap<u64, f64>; 2] =
            curves.each_ref().map(|curve| curve.iter().copied().collect());
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

/// Nine of ten sizes must be the same; 1 where they are shown not to be.
fn of_all(shown: &[Shown], sizes: usize) -> usize {
    let count = |wanted| shown.iter().filter(|one| **one == wanted).count();
    let (met, missed, open) = (count(Shown::Met), count(Shown::Missed), count(Shown::Not));
    let is_most = |count: usize| count * 10 >= sizes * 9;
    let all = match (is_most(met), is_most(met + open)) {
        (true, _) => Shown::Met,
        (false, true) => Shown::Not,
        (false, false) => Shown::Missed,
    };
    println!(
        "{all}: NetPIPE: T is the same ({SAME}) at {met} of {sizes} sizes, another at {missed}, not \
         shown at {open} (the same at 90 %)"
    );
    usize::from(all == Shown::Missed)
}

/// Ours and theirs, in random order, with the time that each took.
fn both(program: &Verb<'_>, block: u64, chance: &mut Chance) -> Result<[Curve; 2]> {
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
fn ours(program: &Verb<'_>, block: u64) -> Result<Curve> {
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
            "--offset",
            NETPIPE_OFFSET,
        ],
    )?;
    let row = |point: &Value| Some((point["bytes"].as_u64()?, point["time_us"].as_f64()?));
    points(&result, "tcp")?.iter().map(|point| row(point).context("a point without time")).collect()
}

/// The same of `NPtcp`, its ends on the same CPUs as ours.
fn theirs(program: &Verb<'_>) -> Result<Curve> {
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

/// Where `malloc` puts the larger blocks of `NPtcp`: behind its own 16 B at the start of a page.
const NETPIPE_OFFSET: &str = "16B";
const NETPIPE_PORT: u16 = 5002;
/// A block takes two minutes.
const MOST_BLOCKS: u64 = 6;
/// What no user would see.
const SAME: Target = Target::Within(0.05);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_that_one_program_lacks_names_the_other() {
        let [ours, theirs] =
            [vec![(1, 6.0), (2, 6.0), (8, 9.0)], vec![(1, 5.0), (4, 7.0), (8, 9.0)]];
        let sizes = paired(&[[ours, theirs], [vec![(8, 9.0)], vec![(8, 18.0)]]]);
        let size = |ratios: &[f64], lone| Size { ratios: ratios.to_vec(), lone };
        assert_eq!(sizes[&1], size(&[1.2], None));
        assert_eq!((&sizes[&2], &sizes[&4]), (&size(&[], Some("btu")), &size(&[], Some("NPtcp"))));
        assert_eq!(sizes[&8], size(&[1.0, 0.5], None));
    }

    #[test]
    fn most_sizes_are_the_same_only_where_that_is_shown_of_them() {
        let of = |met, missed, open| {
            let shown =
                [vec![Shown::Met; met], vec![Shown::Missed; missed], vec![Shown::Not; open]];
            of_all(&shown.concat(), met + missed + open)
        };
        assert_eq!((of(9, 1, 0), of(8, 1, 1), of(0, 0, 10)), (0, 0, 0));
        assert_eq!((of(8, 2, 0), of(0, 2, 8)), (1, 1));
    }
}
