//! P7: what transports and ways to wait must cost, against each other in one interleaved run.

use anyhow::Result;
use serde_json::Value;

use super::at;
use super::points;
use crate::bench::verb::Verb;
use crate::bench::verb::judged;

/// Slower ones come later; each by more than a fifth.
static AT_8_BYTES: [&str; 4] = ["shm spin", "raw spin", "tcp spin", "tcp block"];

pub(super) fn order(program: &Verb<'_>) -> Result<usize> {
    let result = program.measure(
        "p7",
        &["shm", "raw", "tcp", "--wait", "block,spin", "--sizes", "8B,64KiB", "--chasms", "off"],
    )?;
    println!("P7: sizes left out: {}", left_out(&result));
    let small = |label: &str| median(&result, label, 8);
    let mut missed = 0;
    for pair in AT_8_BYTES.windows(2) {
        let ratio = small(pair[1])? / small(pair[0])?;
        let what = format!("P7: {} over {} at 8 B: {ratio:.2} (above 1.2)", pair[1], pair[0]);
        missed += judged(&what, ratio > 1.2);
    }
    let large = median(&result, "raw block", 65_536)? / median(&result, "tcp block", 65_536)?;
    let what = format!("P7: raw block over tcp block at 64 KiB: {large:.2} (above 1.5)");
    Ok(missed + judged(&what, large > 1.5))
}

/// Sizes that a transport does not carry, and transports that are not there.
fn left_out(result: &Value) -> String {
    let curves = result["curves"].as_array().into_iter().flatten();
    let of_curve = |curve: &Value| {
        let sizes = curve["too_large_bytes"].as_array().filter(|sizes| !sizes.is_empty())?;
        Some(format!("{} {sizes:?}", curve["label"]))
    };
    let missing = result["missing"].as_object().into_iter().flatten();
    let missing = missing.map(|(name, reason)| format!("{name}: {reason}"));
    let all: Vec<String> = curves.filter_map(of_curve).chain(missing).collect();
    if all.is_empty() { "none".to_owned() } else { all.join(", ") }
}

fn median(result: &Value, label: &str, bytes: u64) -> Result<f64> {
    at(points(result, label)?, bytes, "median_us")
}
