//! `result.json` of a mesh: every direction of every pair, what hosts do to it, what is slow.

use btu_core::journal::EventRecord;
use btu_core::mesh::Journal;
use btu_core::mesh::analysis::Analysis;
use btu_core::mesh::analysis::Judged;
use btu_core::mesh::confirm::Verdict;
use serde::Deserialize;
use serde::Serialize;

use super::host::fact_text;
use super::silence;
use super::silence::Reasons;
use super::version::MESH_SCHEMA_VERSION;
use crate::mesh::suspect;

/// The result of a mesh.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeshDocument {
    /// Version of this shape, semantic; keys are only added within a major version.
    pub schema_version: String,
    /// `mesh`
    pub verb: String,
    /// Version of the program that measured; null where the journal does not say.
    pub tool_version: Option<String>,
    /// Seed of every random choice.
    pub seed: u64,
    /// When it began, UTC, RFC 3339.
    pub started_at: Option<String>,
    /// When it ended, UTC, RFC 3339; null where it was cut short.
    pub finished_at: Option<String>,
    /// False where it was cut short.
    pub complete: bool,
    /// What a pair has one way where nothing is slow.
    pub usual_mbps: Option<f64>,
    /// Each host.
    pub hosts: Vec<MeshHostResult>,
    /// Each direction that was measured.
    pub directions: Vec<MeshDirectionResult>,
    /// What is slow, the slowest first.
    pub suspects: Vec<MeshSuspectResult>,
    /// How much looked slow; more than `suspects` has where not all of it was retested.
    pub suspected: usize,
    /// Pairs that could not be measured.
    pub failures: Vec<MeshFailureResult>,
}

/// A host of a mesh.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeshHostResult {
    /// Its name.
    pub host: String,
    /// Its rack; null where nobody knows.
    pub rack: Option<String>,
    /// Why it did not come; null where it did.
    pub missing: Option<String>,
    /// What a rate has where it sends, over what is usual.
    pub send_ratio: Option<f64>,
    /// What a rate has where it receives, over what is usual.
    pub receive_ratio: Option<f64>,
}

/// A direction of a pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeshDirectionResult {
    /// Who sent.
    pub from: String,
    /// Who received.
    pub to: String,
    /// What the receiving application read.
    pub goodput_mbps: f64,
    /// That over what the model of the mesh expects.
    pub over_expected: f64,
}

/// What is slow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeshSuspectResult {
    /// In words: `h3 where it sends`.
    pub suspect: String,
    /// By numbers of hosts or racks, from 0: `host 3`, `sender 3`, `receiver 3`, `rack-out 1`, `rack-in 1`, `racks 0 1`, `path 3 5`.
    pub key: String,
    /// What it has over what is usual, in the mesh.
    pub ratio: f64,
    /// True where it was slow again beside good hosts.
    pub confirmed: bool,
    /// What it had beside good hosts.
    pub retest_ratio: Option<f64>,
    /// Its 95 % interval.
    pub retest_ci95: Option<[f64; 2]>,
    /// How likely chance shows as much.
    pub retest_p: Option<f64>,
}

/// A pair that could not be measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeshFailureResult {
    /// Its hosts.
    pub pair: [String; 2],
    /// Why.
    pub failure: String,
}

/// The result of a mesh, for programs.
pub fn mesh_result(journal: &Journal, analysis: &Analysis) -> MeshDocument {
    MeshDocument {
        schema_version: MESH_SCHEMA_VERSION.to_owned(),
        verb: "mesh".to_owned(),
        tool_version: fact_text(journal.hosts.tool.get("version")),
        seed: journal.plan.seed,
        started_at: EventRecord::started_at(&journal.events).map(str::to_owned),
        finished_at: EventRecord::finished_at(&journal.events).map(str::to_owned),
        complete: analysis.complete,
        usual_mbps: analysis.effects.as_ref().map(|effects| effects.level.exp() / 1e6),
        hosts: hosts(journal, analysis),
        directions: directions(journal, analysis),
        suspects: analysis.judged.iter().map(|one| judged(journal, one)).collect(),
        suspected: analysis.suspected,
        failures: failures(journal, analysis),
    }
}

fn hosts(journal: &Journal, analysis: &Analysis) -> Vec<MeshHostResult> {
    let effects = analysis.effects.as_ref();
    let host = |(number, name): (usize, &String)| MeshHostResult {
        host: name.clone(),
        rack: journal.plan.racks.get(number).cloned(),
        missing: analysis.missing.get(&number).cloned(),
        send_ratio: effects.and_then(|effects| effects.tx[number]).map(f64::exp),
        receive_ratio: effects.and_then(|effects| effects.rx[number]).map(f64::exp),
    };
    journal.plan.hosts.iter().enumerate().map(host).collect()
}

fn directions(journal: &Journal, analysis: &Analysis) -> Vec<MeshDirectionResult> {
    let name = |number: usize| journal.plan.hosts[number].clone();
    let rest = |from, to| analysis.effects.as_ref()?.rest.get(from, to);
    let direction = |(from, to, rate): (usize, usize, f64)| {
        Some(MeshDirectionResult {
            from: name(from),
            to: name(to),
            goodput_mbps: rate / 1e6,
            over_expected: rest(from, to)?.exp(),
        })
    };
    analysis.rates.figures().filter_map(direction).collect()
}

fn judged(journal: &Journal, one: &Judged) -> MeshSuspectResult {
    let found = one.verdict.map(|verdict| match verdict {
        Verdict::Confirmed(found) | Verdict::SeenOnce(found) => found,
    });
    MeshSuspectResult {
        suspect: suspect(&journal.plan, one.suspicion.suspect),
        key: one.suspicion.suspect.to_string(),
        ratio: one.suspicion.ratio,
        confirmed: one.is_confirmed(),
        retest_ratio: found.map(|found| found.ratio),
        retest_ci95: found.map(|found| [found.interval.low, found.interval.high]),
        retest_p: found.map(|found| found.p),
    }
}

fn failures(journal: &Journal, analysis: &Analysis) -> Vec<MeshFailureResult> {
    let name = |number: usize| journal.plan.hosts.get(number).cloned().unwrap_or_default();
    let failure = |((one, other), failure): (&(usize, usize), &String)| MeshFailureResult {
        pair: [name(*one), name(*other)],
        failure: failure.clone(),
    };
    analysis.failed.iter().map(failure).collect()
}

impl MeshDocument {
    /// The document as its file: pretty JSON, a reason after each null, and a newline.
    pub fn to_json(&self) -> String {
        silence::to_json(self, REASONS)
    }
}

const NOT_MET: &str = "it was measured with nobody";
const NOT_TRIED: &str = "it was not retested to the end, or no good hosts are left to compare with";

/// Why each key may be null.
const REASONS: &Reasons = &[
    ("tool_version", "the journal does not name the program"),
    ("started_at", "the journal has no beginning"),
    ("finished_at", "the measurement was cut short"),
    ("usual_mbps", "no pair was measured"),
    ("rack", "nobody said in which rack it is"),
    ("missing", "it came"),
    ("send_ratio", NOT_MET),
    ("receive_ratio", NOT_MET),
    ("retest_ratio", NOT_TRIED),
    ("retest_ci95", NOT_TRIED),
    ("retest_p", NOT_TRIED),
];
