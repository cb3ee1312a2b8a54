//! P6 and P11: the full default curve on loopback TCP, twice: its time, its half widths, and whether
//! both say the same.

use std::time::Instant;

use anyhow::Result;
use serde_json::Value;

use super::points;
use crate::bench::paired::median;
use crate::bench::verb::Verb;
use crate::bench::verb::judged;

pub(super) fn twice(program: &Verb<'_>) -> Result<usize> {
    let args = ["tcp", "--on", "loopback", "--chasms", "off", "--reference", "off"];
    let begun = Instant::now();
    let first = program.measure("p6-first", &args)?;
    let seconds = begun.elapsed().as_secs_f64();
    let second = program.measure("p6-second", &args)?;
    let (first, second) = (points(&first, "tcp")?, points(&second, "tcp")?);
    let narrow = share(first, |point| half_width(point).is_some_and(|half| half <= 0.02));
    let overlap = share(first, |point| overlaps(point, second));
    let time = format!("P11: {} sizes in {seconds:.1} s (at most 31)", first.len());
    let same = format!("P6: intervals overlap at {:.0} % of sizes (at least 90)", 100.0 * overlap);
    let half = median(&first.iter().filter_map(half_width).collect::<Vec<_>>());
    // Told, not judged: rounds differ by what else the machine does, so a bound would be one of it.
    println!(
        "P11: half width {:.1} % at the median, at most 2 % at {:.0} % of sizes",
        100.0 * half.unwrap_or(f64::NAN),
        100.0 * narrow
    );
    Ok(judged(&time, seconds <= 31.0) + judged(&same, overlap >= 0.9))
}

fn bounds(point: &Value) -> Option<[f64; 2]> {
    Some([point["ci95_us"][0].as_f64()?, point["ci95_us"][1].as_f64()?])
}

fn half_width(point: &Value) -> Option<f64> {
    bounds(point).map(|[low, high]| (high / low).sqrt() - 1.0)
}

fn overlaps(point: &Value, others: &[Value]) -> bool {
    let other = others.iter().find(|other| other["bytes"] == point["bytes"]).and_then(bounds);
    let both = bounds(point).zip(other);
    both.is_some_and(|([low, high], [other_low, other_high])| {
        low <= other_high && other_low <= high
    })
}

fn share(points: &[Value], holds: impl Fn(&Value) -> bool) -> f64 {
    let holding = points.iter().filter(|point| holds(point)).count();
    f64::from(u32::try_from(holding).unwrap_or(0))
        / f64::from(u32::try_from(points.len()).unwrap_or(1).max(1))
}
