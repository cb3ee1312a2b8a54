//! Curves beside each other: those of elsewhere, and what each pair comes to.

use btu_core::pingpong::analysis::Compared;
use btu_core::pingpong::analysis::Overlaid;
use btu_core::pingpong::curve::Verdict;
use btu_core::units::Bytes;
use serde::Deserialize;
use serde::Serialize;

/// A curve that was measured elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OverlaidResult {
    /// What legends call it.
    pub label: String,
    /// File, tool and version.
    pub provenance: String,
    /// How it differs, or that nobody knows.
    pub warnings: Vec<String>,
    /// Bytes and Mb/s of each point.
    pub throughput: Vec<(u64, f64)>,
}

/// Two curves at the sizes that both have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparisonResult {
    /// The curve that the ratio counts from.
    pub first: String,
    /// The other one.
    pub second: String,
    /// `no_difference` where the intervals overlap at nine tenths of the sizes or more, `different`
    /// where they do not; null where no size has two intervals, or they overlap and are too wide to tell.
    pub verdict: Option<String>,
    /// Sizes that both have.
    pub common_sizes: u64,
    /// Sizes at which both have an interval.
    pub judged_sizes: u64,
    /// Sizes at which the intervals overlap.
    pub overlapping_sizes: u64,
    /// Sizes at which they would overlap if the second were as fast as the first on the whole.
    pub overlapping_sizes_moved: u64,
    /// Sizes whose intervals do not overlap.
    pub apart_bytes: Vec<u64>,
    /// Sizes at which Welch's test finds a difference with all sizes tested at once (Holm).
    pub significant_bytes: Vec<u64>,
    /// Geometric mean of T of the second over T of the first.
    pub time_ratio: Option<f64>,
    /// All of it in a sentence.
    pub sentence: String,
}

pub(super) fn overlaid(other: &Overlaid) -> OverlaidResult {
    OverlaidResult {
        label: other.label.clone(),
        provenance: other.provenance.clone(),
        warnings: other.warnings.clone(),
        throughput: other.throughput.iter().map(|(size, rate)| (size.count(), *rate)).collect(),
    }
}

pub(super) fn comparison(pair: &Compared) -> ComparisonResult {
    let found = &pair.found;
    let whole = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
    let (judged, overlapping) = found.judged();
    let verdict = match found.verdict() {
        Verdict::Different => Some("different"),
        Verdict::Same => Some("no_difference"),
        Verdict::TooWide | Verdict::Unknown => None,
    };
    ComparisonResult {
        first: pair.first.clone(),
        second: pair.second.clone(),
        verdict: verdict.map(str::to_owned),
        common_sizes: whole(found.sizes.len()),
        judged_sizes: whole(judged),
        overlapping_sizes: whole(overlapping),
        overlapping_sizes_moved: whole(found.overlapping_moved()),
        apart_bytes: found.apart().map(Bytes::count).collect(),
        significant_bytes: found.differing().map(|size| size.size.count()).collect(),
        time_ratio: found.ratio,
        sentence: found.to_string(),
    }
}
