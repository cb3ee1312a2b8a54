//! Curves beside each other: those of elsewhere, and what each pair comes to.

use btu_core::pingpong::analysis::Compared;
use btu_core::pingpong::analysis::Overlaid;
use btu_core::pingpong::curve::OverheadRow;
use btu_core::pingpong::curve::Verdict;
use btu_core::stats::Interval;
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

/// What a curve costs above the base at one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CostResult {
    /// The curve that costs are counted from.
    pub base: String,
    /// The other one.
    pub curve: String,
    /// The size that was asked for: 8, 1400, 65536 or 1048576.
    pub wanted_bytes: u64,
    /// The nearest one that both have.
    pub bytes: u64,
    /// T of the base, microseconds.
    pub base_us: f64,
    /// T of the other, microseconds.
    pub time_us: f64,
    /// The second less the first, microseconds.
    pub difference_us: f64,
    /// Its 95 % interval (Welch); null without rounds.
    pub difference_ci95_us: Option<[f64; 2]>,
    /// The second over the first.
    pub ratio: f64,
    /// Its 95 % interval (Welch, on logs); null without rounds.
    pub ratio_ci95: Option<[f64; 2]>,
}

pub(super) fn cost(base: &str, (label, row): &(String, OverheadRow)) -> CostResult {
    let bounds = |interval: Interval| [interval.low, interval.high];
    CostResult {
        base: base.to_owned(),
        curve: label.clone(),
        wanted_bytes: row.wanted.count(),
        bytes: row.size.count(),
        base_us: row.lower_us,
        time_us: row.upper_us,
        difference_us: row.upper_us - row.lower_us,
        difference_ci95_us: row.difference_us.map(bounds),
        ratio: row.upper_us / row.lower_us,
        ratio_ci95: row.ratio.map(bounds),
    }
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
