//! Two results beside each other: what changed, in the figures and in the disclosure.

mod compose;
mod rows;

use btu_core::comparison;
use btu_core::comparison::Change;
use btu_core::comparison::FactChange;
use btu_core::comparison::Outcome;
use serde::Serialize;

use crate::document::Document;
use crate::format::Content;
use crate::format::UnknownFormat;
use crate::format::render_content;

pub use compose::compose_comparison;

pub(crate) use rows::csv_rows;

/// A comparison, for programs. Keys are only added within a major version.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparisonDocument {
    /// Version of this shape, semantic.
    pub schema_version: &'static str,
    /// False where the results were measured under different rules: then nothing is judged.
    pub comparable: bool,
    /// In which rules they differ: `preset: quick (before); official (after)`.
    pub differences: Vec<String>,
    /// The first result.
    pub before: Side,
    /// The second.
    pub after: Side,
    /// Figures of the whole, of each application class, case and host activity.
    pub changes: Vec<ChangeResult>,
    /// The goodput of each cell.
    pub cells: Vec<ChangeResult>,
    /// What changed in the disclosure.
    pub disclosure: Vec<FactResult>,
    /// Conditions of `--fail-if`.
    pub conditions: Vec<ConditionResult>,
}

/// One of the two results.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Side {
    /// What it is called here.
    pub name: String,
    /// The host in one line.
    pub host: String,
    /// When it began, UTC.
    pub started_at: Option<String>,
    /// Complete passes.
    pub passes: u32,
    /// Who stands for it.
    pub trust: String,
    /// Where it is not what was measured.
    pub altered: Vec<String>,
}

/// One figure of both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangeResult {
    /// The name by which conditions know it: `btu`, `case.SEND.idle`, `cell.SEND/video/cpu`.
    pub figure: String,
    /// Before: Mb/s; of a penalty the slowdown of the host's own work.
    pub before: f64,
    /// After.
    pub after: f64,
    /// After over before.
    pub ratio: f64,
    /// The change in percent.
    pub change_percent: f64,
    /// 95 % interval of the ratio.
    pub ratio_ci95: Option<[f64; 2]>,
    /// Why there is none.
    pub ratio_ci95_reason: Option<String>,
    /// True where the change is sure and exceeds 2 %; null where that cannot be told.
    pub different: Option<bool>,
}

/// A fact that is not the same in both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FactResult {
    /// Its full name.
    pub name: String,
    /// Before.
    pub before: String,
    /// After.
    pub after: String,
}

/// What became of a condition.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConditionResult {
    /// As it was written.
    pub condition: String,
    /// True where it is met: the comparison fails.
    pub met: bool,
    /// Each figure beyond the limit, and whether that is sure.
    pub said: Vec<String>,
}

impl ComparisonDocument {
    /// The document of a comparison. Without comparability nothing is called different.
    pub fn of(
        [before, after]: [Side; 2],
        comparison: &comparison::Comparison,
        differences: Vec<String>,
        facts: Vec<FactChange>,
        outcomes: Vec<Outcome>,
    ) -> Self {
        let comparable = differences.is_empty();
        let shown = |changes: &[Change]| {
            changes.iter().map(|change| ChangeResult::of(change, comparable)).collect()
        };
        Self {
            schema_version: "1.0.0",
            comparable,
            differences,
            before,
            after,
            changes: shown(&comparison.changes),
            cells: shown(&comparison.cells),
            disclosure: facts.into_iter().map(Into::into).collect(),
            conditions: outcomes.into_iter().map(Into::into).collect(),
        }
    }

    /// As its file: pretty JSON and a newline.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

impl ChangeResult {
    fn of(change: &Change, judged: bool) -> Self {
        Self {
            figure: change.name(),
            before: change.before,
            after: change.after,
            ratio: change.ratio,
            change_percent: change.percent(),
            ratio_ci95: change.ci95,
            ratio_ci95_reason: change.ci95_reason.clone(),
            different: change.different.filter(|_| judged),
        }
    }
}

impl From<FactChange> for FactResult {
    fn from(change: FactChange) -> Self {
        Self { name: change.name, before: change.before, after: change.after }
    }
}

impl From<Outcome> for ConditionResult {
    fn from(outcome: Outcome) -> Self {
        Self { condition: outcome.condition, met: outcome.met, said: outcome.said }
    }
}

/// The comparison in the format of this name or file ending.
///
/// # Errors
/// There is no such format.
pub fn render_comparison(
    format: &str,
    document: &Document,
    comparison: &ComparisonDocument,
) -> Result<Vec<u8>, UnknownFormat> {
    render_content(format, document, Content::Comparison(comparison))
}
