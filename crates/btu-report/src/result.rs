//! `result.json`: the figures of one run for programs, every number with its unit in its key.
//!
//! Whatever does not exist is `null`, and a key of the same name with `_reason` says why: no key is
//! `null` without one, and none has a reason that is not `null` (a test walks whole documents).
//! Within a major `schema_version` keys are only added, and each addition raises the minor one.

mod app;
mod build;
mod cells;
mod file;
mod host;
mod mesh;
mod pingpong;
#[cfg(feature = "schema")]
mod schema;
mod silence;
pub(crate) mod traffic;
pub(crate) mod version;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;

pub use app::*;
pub use build::result;
pub use file::*;
pub use mesh::*;
pub use pingpong::*;
#[cfg(feature = "schema")]
pub use schema::*;
pub use traffic::*;
pub use version::APP_SCHEMA_VERSION;
pub use version::FILE_SCHEMA_VERSION;
pub use version::MESH_SCHEMA_VERSION;
pub use version::PINGPONG_SCHEMA_VERSION;
pub use version::SCHEMA_VERSION;
pub use version::SECOND_RUNS_SCHEMA_VERSION;
pub use version::TRAFFIC_SCHEMA_VERSION;

pub(crate) use host::host_line;

/// The result of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResultDocument {
    /// Version of this shape, semantic: added keys raise the minor version, keys that go or mean
    /// something else the major one.
    pub schema_version: String,
    /// Version of the program that measured; null where the journal does not say.
    pub tool_version: Option<String>,
    /// Why it is not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tool_version_reason: Option<String>,
    /// Edition of the benchmark: only results of one edition may be compared.
    pub edition: String,
    /// BLAKE3 of the edition's file, hexadecimal.
    pub edition_hash: String,
    /// `local`, `lab`, `cloud` or `wan`.
    pub testbed_class: String,
    /// `quick`, `official`, `faithful` or `custom`.
    pub preset: String,
    /// Seed of every random choice of the run.
    pub seed: u64,
    /// The host under test in one line.
    pub host: String,
    /// When the run began, UTC, RFC 3339.
    pub started_at: Option<String>,
    /// Why it is not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub started_at_reason: Option<String>,
    /// When the run ended, UTC, RFC 3339.
    pub finished_at: Option<String>,
    /// Why there is no such moment.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub finished_at_reason: Option<String>,
    /// Price of the host as its user gave it.
    pub price: Option<String>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub price_reason: Option<String>,
    /// Other figures of the host as its user gave them: NAME=VALUE@SOURCE.
    pub marks: Vec<String>,
    /// What its user noted (`--note`).
    #[serde(default)]
    pub note: Option<String>,
    /// Why there is no note.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub note_reason: Option<String>,
    /// Passes in which every cell was measured.
    pub passes: u32,
    /// False when the run was interrupted.
    pub complete: bool,
    /// True where the matrix is smaller than the edition's, or cells are missing.
    pub partial: bool,
    /// Whether the result may stand in a ranking.
    pub rankable: bool,
    /// Why it may not; empty for a rankable result.
    pub not_rankable_reasons: Vec<String>,

    /// The score: what the busy host delivers to its applications, Mb/s (maly1996, eq. 7).
    pub btu_mbps: Option<f64>,
    /// Why there is no score.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub btu_mbps_reason: Option<String>,
    /// 95 % interval of the score over passes, Mb/s.
    pub btu_ci95_mbps: Option<[f64; 2]>,
    /// Why there is no interval.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub btu_ci95_mbps_reason: Option<String>,
    /// 95 % whole-pass bootstrap beside the interval, Mb/s.
    pub btu_bootstrap95_mbps: Option<[f64; 2]>,
    /// Why there is no bootstrap.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub btu_bootstrap95_mbps_reason: Option<String>,
    /// The same formula over the baselines, Mb/s: what the idle host delivers.
    pub btu_idle_mbps: Option<f64>,
    /// Why there is no idle score.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub btu_idle_mbps_reason: Option<String>,
    /// The idle host, and what of it is left.
    #[serde(flatten)]
    pub beside_idle: BesideIdle,
    /// How much slower the host's own work runs beside the traffic, percent.
    pub penalty_percent: Option<f64>,
    /// Why there is no penalty.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub penalty_percent_reason: Option<String>,
    /// 95 % interval of the penalty over passes, percent.
    pub penalty_ci95_percent: Option<[f64; 2]>,
    /// Why there is no interval.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub penalty_ci95_percent_reason: Option<String>,
    /// The penalty by maly1996 eq. 9-11 to the letter, percent.
    pub penalty_classic_percent: Option<f64>,
    /// Why it is undefined.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub penalty_classic_percent_reason: Option<String>,
    /// The smallest relative change of the score that this run could have shown.
    pub detectable_change: Option<f64>,
    /// Why it is not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detectable_change_reason: Option<String>,

    /// One entry per application class.
    pub applications: Vec<ApplicationResult>,
    /// Every run that counts, loaded and baseline, in order of pass and position.
    pub cells: Vec<CellResult>,
    /// Every cell over its passes.
    pub cell_summaries: Vec<CellSummaryResult>,
    /// Every activity alone, once per pass.
    pub activities: Vec<ActivityResult>,
    /// Work units per second of each activity alone, geometric mean of the passes.
    pub activities_base: BTreeMap<String, f64>,
    /// Remarks on the run and on its cells, each with its sentence.
    pub remarks: Vec<Remark>,
}

/// How the score stands beside that of the idle host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BesideIdle {
    /// 95 % interval of the idle score over passes, Mb/s.
    #[serde(default)]
    pub btu_idle_ci95_mbps: Option<[f64; 2]>,
    /// Why there is no interval.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub btu_idle_ci95_mbps_reason: Option<String>,
    /// The score over the idle score, pass by pass, percent: what is left of the idle host.
    #[serde(default)]
    pub share_of_idle_percent: Option<f64>,
    /// Why there is no share.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub share_of_idle_percent_reason: Option<String>,
    /// 95 % interval of the share over passes, percent.
    #[serde(default)]
    pub share_of_idle_ci95_percent: Option<[f64; 2]>,
    /// Why there is no interval.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub share_of_idle_ci95_percent_reason: Option<String>,
}

/// The score of one application class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApplicationResult {
    /// `telnet`, `ftp`, `audio`, `netscape`, `video`.
    pub name: String,
    /// Size of one message, one write each.
    pub message_bytes: u64,
    /// Score of the class, Mb/s (maly1996, eq. 6).
    pub btu_mbps: Option<f64>,
    /// Why there is no score.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub btu_mbps_reason: Option<String>,
    /// 95 % interval over passes, Mb/s.
    pub btu_ci95_mbps: Option<[f64; 2]>,
    /// Why there is no interval.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub btu_ci95_mbps_reason: Option<String>,
    /// The same over the baselines, Mb/s.
    pub btu_idle_mbps: Option<f64>,
    /// Why there is no idle score.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub btu_idle_mbps_reason: Option<String>,
    /// Penalty of the class, percent.
    pub penalty_percent: Option<f64>,
    /// Why there is no penalty.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub penalty_percent_reason: Option<String>,
    /// 95 % interval over passes, percent.
    pub penalty_ci95_percent: Option<[f64; 2]>,
    /// Why there is no interval.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub penalty_ci95_percent_reason: Option<String>,
    /// Penalty by maly1996 eq. 10 to the letter, percent.
    pub penalty_classic_percent: Option<f64>,
    /// Why it is undefined.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub penalty_classic_percent_reason: Option<String>,
    /// Seconds that the class needs for 32 Mb at its score.
    pub seconds_for_32_mb: Option<f64>,
    /// Why there is no time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub seconds_for_32_mb_reason: Option<String>,
}

/// One run of one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellResult {
    /// The case: `SEND`, `RECV`, `SEND+DL`, `SEND_RECV`, `2RECV+DL`, `2SEND+DR`.
    pub case: String,
    /// The application class.
    pub application: String,
    /// The host activity; `none` for a baseline.
    pub activity: String,
    /// Number of the pass, from 1.
    pub repeat: u32,
    /// Bits that the receiving users read.
    pub bits: u64,
    /// Time of the traffic by the test host's clock; the cap where the run was capped.
    pub seconds: f64,
    /// bits / seconds, Mb/s.
    pub goodput_mbps: f64,
    /// Rate of the activity alone over its rate in this run; null for baselines.
    pub slowdown: Option<f64>,
    /// Why there is no slowdown.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slowdown_reason: Option<String>,
    /// Work units per second of the activity in this run; null for baselines.
    pub activity_rate_per_s: Option<f64>,
    /// Why there is no rate.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub activity_rate_per_s_reason: Option<String>,
    /// Attempts made, invalid ones included.
    pub attempts: u32,
    /// Names of the remarks on this run.
    pub flags: Vec<String>,
}

/// A cell over its passes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellSummaryResult {
    /// The case.
    pub case: String,
    /// The application class.
    pub application: String,
    /// The host activity; `none` for a baseline.
    pub activity: String,
    /// Passes measured.
    pub n: u32,
    /// Seconds for 32 Mb, geometric mean of the passes.
    pub seconds: f64,
    /// Geometric mean of the passes, Mb/s.
    pub goodput_mbps: f64,
    /// 95 % interval of the goodput, Mb/s; null under three passes.
    pub goodput_ci95_mbps: Option<[f64; 2]>,
    /// Why there is no interval.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub goodput_ci95_mbps_reason: Option<String>,
    /// Smallest goodput of the passes, Mb/s.
    pub goodput_min_mbps: f64,
    /// Median goodput of the passes, Mb/s.
    pub goodput_median_mbps: f64,
    /// Goodput that 95 of 100 passes stay below, by linear interpolation, Mb/s.
    pub goodput_p95_mbps: f64,
    /// Largest goodput of the passes, Mb/s.
    pub goodput_max_mbps: f64,
    /// Coefficient of variation of the goodputs: standard deviation over mean.
    #[serde(default)]
    pub cv: Option<f64>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cv_reason: Option<String>,
    /// Robust coefficient of variation of the goodputs.
    pub robust_cv: f64,
    /// Geometric mean of the slowdowns; null for baselines.
    pub slowdown: Option<f64>,
    /// Why there is no slowdown.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slowdown_reason: Option<String>,
    /// Retransmitted segments, all passes.
    pub retransmissions: Option<u64>,
    /// Why it is not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub retransmissions_reason: Option<String>,
    /// Writes per segment, median.
    pub writes_per_segment: Option<f64>,
    /// Why it is not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub writes_per_segment_reason: Option<String>,
    /// CPU seconds per GB of the test host's data threads, median.
    pub cpu_s_per_gb: Option<f64>,
    /// Why it is not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu_s_per_gb_reason: Option<String>,
    /// CPU seconds per GB of the black boxes' data threads, both boxes together, median.
    #[serde(default)]
    pub black_boxes_cpu_s_per_gb: Option<f64>,
    /// Why it is not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub black_boxes_cpu_s_per_gb_reason: Option<String>,
    /// Names of the remarks on this cell and its runs.
    pub flags: Vec<String>,
}

/// One activity alone, in one pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ActivityResult {
    /// The activity.
    pub activity: String,
    /// Number of the pass, from 1.
    pub repeat: u32,
    /// Work units done.
    pub units: f64,
    /// Length of the window.
    pub seconds: f64,
    /// Work units per second; null for no time, and where it failed.
    pub rate_per_s: Option<f64>,
    /// Why there is no rate.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rate_per_s_reason: Option<String>,
}

/// A remark with its sentence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Remark {
    /// The cell as `CASE/APPLICATION/ACTIVITY`; null for a remark on the run as a whole.
    pub cell: Option<String>,
    /// Why it names no cell.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cell_reason: Option<String>,
    /// Kebab case, stable.
    pub name: String,
    /// What was seen, with its number and its limit.
    pub detail: String,
}

impl ResultDocument {
    /// The document as its file: pretty JSON and a newline.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}
