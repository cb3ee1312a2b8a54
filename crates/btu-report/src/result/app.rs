//! `result.json` of parallel applications: every program over every layer, units in the keys.

mod job;

use std::collections::BTreeMap;

use btu_core::app::analysis::Analysis;
use btu_core::app::analysis::LayerFigures;
use btu_core::app::analysis::ProgramFigures;
use btu_core::app::analysis::Sameness;
use btu_core::app::journal::Journal;
use btu_core::app::oracle::Agreement;
use btu_core::journal::EventRecord;
use serde::Deserialize;
use serde::Serialize;

use super::host::fact_text;
use super::host_line;
use super::silence;
use super::silence::Reasons;
use super::version::APP_SCHEMA_VERSION;

pub use job::AppJobResult;
pub use job::AppRatioResult;
pub use job::AppSplitResult;
pub use job::AppTrafficResult;

/// The result of a measurement of applications.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AppDocument {
    /// Version of this shape, semantic; keys are only added within a major version.
    pub schema_version: String,
    /// `app`
    pub verb: String,
    /// Version of the program that measured; null where the journal does not say.
    pub tool_version: Option<String>,
    /// The host in one line.
    pub host: String,
    /// Where the ranks are: `loopback` or `direct`.
    pub path: String,
    /// How large the problems are: `S`, `W` or `A`.
    pub class: String,
    /// How a rank waits for a message: `block` or `spin`.
    pub wait: String,
    /// Seed of the order of the launches.
    pub seed: u64,
    /// When it began, UTC, RFC 3339.
    pub started_at: Option<String>,
    /// When it ended, UTC, RFC 3339; null where it was cut short.
    pub finished_at: Option<String>,
    /// False where it was cut short, a launch failed or was wrong, or launches differ in what never may.
    pub complete: bool,
    /// The layers over all programs, the fastest first.
    pub layers: Vec<AppLayerResult>,
    /// One entry per program, in the order of the plan.
    pub programs: Vec<AppProgramResult>,
    /// What was asked for and is not there, with the reason.
    pub missing: BTreeMap<String, String>,
}

/// A layer over all programs of several ranks that have times over every layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AppLayerResult {
    /// Which.
    pub layer: String,
    /// In how many programs it is the fastest.
    pub fastest_in: usize,
    /// Of so many that are compared.
    pub compared_programs: usize,
    /// By the fastest one: geometric mean of the programs; null for that one itself.
    pub ratio: Option<AppRatioResult>,
}

/// A kernel with a number of ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AppProgramResult {
    /// The kernel.
    pub kernel: String,
    /// How many ranks.
    pub ranks: u32,
    /// True where every launch found what the benchmark publishes.
    pub verified: bool,
    /// Whether every launch found the same bits; null where there are less than two to compare.
    pub outcomes_identical: Option<bool>,
    /// Whether every launch passed the same messages; null likewise.
    pub traffic_identical: Option<bool>,
    /// Whether it passed what the benchmark passes; null where no reference is known.
    pub traffic_as_published: Option<bool>,
    /// Over each layer, in the order of the plan.
    pub jobs: Vec<AppJobResult>,
}

/// The result of a measurement of applications, for programs.
pub fn app_result(journal: &Journal, analysis: &Analysis) -> AppDocument {
    let plan = &journal.plan;
    AppDocument {
        schema_version: APP_SCHEMA_VERSION.to_owned(),
        verb: "app".to_owned(),
        tool_version: fact_text(journal.hosts.tool.get("version")),
        host: host_line(&journal.hosts),
        path: plan.path.to_string(),
        class: plan.class.to_string(),
        wait: plan.wait.to_string(),
        seed: plan.seed,
        started_at: EventRecord::started_at(&journal.events).map(str::to_owned),
        finished_at: EventRecord::finished_at(&journal.events).map(str::to_owned),
        complete: analysis.complete,
        layers: analysis.layers.iter().map(layer).collect(),
        programs: analysis.programs.iter().map(program).collect(),
        missing: analysis.missing.iter().cloned().collect(),
    }
}

fn layer(found: &LayerFigures) -> AppLayerResult {
    AppLayerResult {
        layer: found.layer.clone(),
        fastest_in: found.fastest_in,
        compared_programs: found.programs,
        ratio: found.ratio.as_ref().map(job::ratio),
    }
}

fn program(found: &ProgramFigures) -> AppProgramResult {
    AppProgramResult {
        kernel: found.program.kernel.clone(),
        ranks: found.program.ranks,
        verified: found.is_verified(),
        outcomes_identical: is_same(found.outcomes),
        traffic_identical: is_same(found.traffic),
        traffic_as_published: match found.agreement {
            None | Some(Agreement::NoReference) => None,
            Some(Agreement::Differs(_)) => Some(false),
            Some(Agreement::Equal) => Some(true),
        },
        jobs: found.jobs.iter().map(job::job).collect(),
    }
}

const fn is_same(sameness: Sameness) -> Option<bool> {
    match sameness {
        Sameness::Different => Some(false),
        Sameness::Same(_) => Some(true),
        Sameness::Unknown => None,
    }
}

impl AppDocument {
    /// The document as its file: pretty JSON, a reason after each null, and a newline.
    pub fn to_json(&self) -> String {
        silence::to_json(self, REASONS)
    }
}

const ONE_LAUNCH: &str = "less than two launches came to their end";
const NO_TIME: &str = "no launch was verified";

/// Why each key may be null; `split` says it by itself.
const REASONS: &Reasons = &[
    ("tool_version", "the journal does not name the program"),
    ("started_at", "the journal has no beginning"),
    ("finished_at", "the measurement was cut short"),
    ("ratio", "it is the fastest layer itself, or no round has both times"),
    ("outcomes_identical", ONE_LAUNCH),
    ("traffic_identical", ONE_LAUNCH),
    ("traffic_as_published", "nobody published what this class passes with so many ranks"),
    ("elapsed_median_s", NO_TIME),
    ("elapsed_ci95_s", "an interval needs three verified launches"),
    ("ratio_ci95", "an interval needs three rounds with both times"),
    ("traffic", "no launch came to its end"),
    ("message_mean_bytes", "no message was sent from rank to rank"),
];

#[cfg(test)]
mod tests {
    use super::super::schema;
    use super::*;

    #[test]
    fn every_key_that_may_be_null_has_its_reason_and_no_other() {
        schema::tests::check::<AppDocument>(REASONS);
    }
}
