//! P6 and P11: the full default curve on loopback TCP, twice in turn in one run and twice one after the
//! other: its time, its half widths, and whether both say the same.

use std::time::Instant;

use anyhow::Context;
use anyhow::Result;
use serde_json::Value;

use super::points;
use crate::bench::paired::median;
use crate::bench::verb::Verb;
use crate::bench::verb::judged;

/// Every verdict is the program's own.
pub(super) fn twice(program: &Verb<'_>) -> Result<usize> {
    Ok(one_after_the_other(program)? + in_turn(program)?)
}

/// The first with copies of memory beside, as by default; the second lies over the first.
fn one_after_the_other(program: &Verb<'_>) -> Result<usize> {
    let begun = Instant::now();
    let first = program.measure(FIRST, &ARGS)?;
    let seconds = begun.elapsed().as_secs_f64();
    let over = program.results.join(FIRST).display().to_string();
    let beside = ["tcp", "--reference", "off", "--import", &over];
    let second = program.measure("p6-second", &[&ARGS[..], &beside].concat())?;
    let points = points(&first, "tcp")?;
    let time = format!("P11: {} sizes in {seconds:.1} s (at most 31)", points.len());
    let widths: Vec<f64> = points.iter().filter_map(half_width).collect();
    let narrow = widths.iter().filter(|half| **half <= 0.02).count();
    // Told, not judged: rounds differ by what else the machine does, so a bound would be one of it.
    println!(
        "P11: half width {:.1} % at the median, at most 2 % at {narrow} of {} sizes",
        100.0 * median(&widths).unwrap_or(f64::NAN),
        widths.len()
    );
    Ok(judged(&time, seconds <= 31.0) + same("one after the other", &second)?)
}

/// Both in every round: what the machine does meanwhile it does to both.
fn in_turn(program: &Verb<'_>) -> Result<usize> {
    let twin = ["tcp", "tcp", "--reference", "off"];
    same("in turn", &program.measure("p6-in-turn", &[&ARGS[..], &twin].concat())?)
}

/// The program's verdict on the two curves of a result; 1 where it is another than "no difference".
fn same(how: &str, result: &Value) -> Result<usize> {
    let found = result["comparisons"].get(0).context("the two were not compared")?;
    let sentence = found["sentence"].as_str().unwrap_or_default();
    Ok(judged(&format!("P6: {how}: {sentence}"), found["verdict"] == "no_difference"))
}

fn bounds(point: &Value) -> Option<[f64; 2]> {
    Some([point["ci95_us"][0].as_f64()?, point["ci95_us"][1].as_f64()?])
}

fn half_width(point: &Value) -> Option<f64> {
    bounds(point).map(|[low, high]| (high / low).sqrt() - 1.0)
}

const FIRST: &str = "p6-first";
/// TCP unless others are named behind.
const ARGS: [&str; 4] = ["--on", "loopback", "--chasms", "off"];
