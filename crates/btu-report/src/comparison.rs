//! Two results beside each other: what changed, in the figures and in the disclosure.

mod compose;
mod history;
mod paired;
mod rows;
mod words;

use btu_core::comparison;
use btu_core::comparison::Change;
use btu_core::comparison::FactChange;
use btu_core::comparison::Outcome;
use btu_core::comparison::Surrounding;
use btu_core::comparison::UNREAD;
use btu_core::journal::Journal;
use btu_core::run::analysis::Analysis;
use serde::Serialize;

use crate::document::Document;
use crate::document::Tone;
use crate::format::Content;
use crate::format::UnknownFormat;
use crate::format::render_content;
use crate::result::result;
use crate::section::DISTURBED;
use crate::section::badges;

pub use compose::compose_comparison;
pub use history::HistoryDocument;
pub use history::LeftOut;
pub use paired::PairedDocument;
pub use paired::PairedSide;

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
    /// What the test hosts were like meanwhile.
    pub surroundings: Vec<SurroundingResult>,
    /// Why a difference need not be of what was changed on purpose; empty where nothing says so.
    pub doubts: Vec<String>,
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
    /// The words beside its score: `INCOMPLETE`, `CENSORED` ...; empty for one that may be ranked.
    pub badges: Vec<String>,
    /// Why it may not be ranked.
    pub not_rankable_reasons: Vec<String>,
    /// True of a program that was built without optimisation: what it costs is not what users get.
    #[serde(skip)]
    pub is_unoptimised: bool,
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
    /// Why that cannot be told.
    pub different_reason: Option<String>,
}

/// A reading of the test host beside the runs that count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SurroundingResult {
    /// Its name, with its unit: `cpu_distance_ns`.
    pub name: &'static str,
    /// What it is.
    #[serde(skip)]
    pub about: &'static str,
    /// Before.
    pub before: Option<f64>,
    /// Why there is none.
    pub before_reason: Option<&'static str>,
    /// After.
    pub after: Option<f64>,
    /// Why there is none.
    pub after_reason: Option<&'static str>,
    /// True where it differs by more than what marks a run.
    pub moved: Option<bool>,
    /// Why that cannot be told.
    pub moved_reason: Option<&'static str>,
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
    /// True where it is not met, and a figure is a bound: whether that one meets it cannot be told.
    pub open: bool,
    /// Each figure beyond the limit, and whether that is sure; and each that is a bound.
    pub said: Vec<String>,
}

impl Side {
    /// A result as it is called here. `trust` says who stands for it, `altered` where it is not as it was measured.
    pub fn of(
        name: &str,
        (journal, analysis): (&Journal, &Analysis),
        trust: &str,
        altered: Vec<String>,
    ) -> Self {
        let result = result(journal, analysis);
        Self {
            name: name.to_owned(),
            host: result.host,
            started_at: result.started_at,
            passes: analysis.complete_passes,
            trust: trust.to_owned(),
            altered,
            badges: words(analysis),
            not_rankable_reasons: analysis.not_rankable_reasons.clone(),
            is_unoptimised: journal.hosts.build_profile() == Some("debug"),
        }
    }

    /// Its name with what makes its figures others than those of a whole result.
    fn marked(&self) -> String {
        let marks: Vec<&str> =
            self.badges.iter().map(String::as_str).filter(|word| *word != UNRANKED).collect();
        let name = &self.name;
        if marks.is_empty() { name.clone() } else { format!("{name} ({})", marks.join(", ")) }
    }

    /// True where something else than the host may have made its figures.
    fn is_disturbed(&self) -> bool {
        self.badges.iter().any(|word| word == DISTURBED)
    }
}

/// The words of the report beside a score that are no praise, and one for runs that are invalid.
fn words(analysis: &Analysis) -> Vec<String> {
    let is_invalid =
        analysis.runs.iter().flat_map(|run| &run.flags).any(|flag| INVALID.contains(&&*flag.name));
    let mut words: Vec<String> = badges(analysis)
        .into_iter()
        .filter(|badge| badge.tone == Tone::Watch)
        .map(|badge| badge.word.to_owned())
        .collect();
    let place = words.iter().position(|word| word == UNRANKED).unwrap_or(words.len());
    if is_invalid {
        words.insert(place, "INVALID RUNS".to_owned());
    }
    words
}

/// `b was altered after it was measured`, `a is of a debug build`, `b is DISTURBED`, `the machine was not the same`
fn doubts(sides: [&Side; 2], surroundings: &[Surrounding]) -> Vec<String> {
    let told = |is_so: fn(&Side) -> bool, what: &'static str| {
        sides
            .into_iter()
            .filter(move |side| is_so(side))
            .map(move |side| format!("{} {what}", side.name))
    };
    let is_moved = surroundings.iter().any(|one| one.moved == Some(true));
    told(|side| !side.altered.is_empty(), "was altered after it was measured")
        .chain(told(|side| side.is_unoptimised, "is of a debug build"))
        .chain(told(Side::is_disturbed, "is DISTURBED"))
        .chain(is_moved.then(|| "the machine was not the same".to_owned()))
        .collect()
}

/// Why nothing is said of a figure that a run with a cap went into.
const BOUND: &str =
    "a run met its cap, or failed, or its activity finished nothing: a side is a bound";
/// What every result of a short preset is, and what changes none of its figures.
const UNRANKED: &str = "NOT RANKABLE";
/// Flags of runs that count although they are not valid.
const INVALID: [&str; 2] = ["emulation-late", "invalid"];

impl ComparisonDocument {
    /// The document of a comparison. Without comparability nothing is called different.
    pub fn of(
        [before, after]: [Side; 2],
        comparison: &comparison::Comparison,
        differences: Vec<String>,
        (surroundings, facts): (Vec<Surrounding>, Vec<FactChange>),
        outcomes: Vec<Outcome>,
    ) -> Self {
        let comparable = differences.is_empty();
        let doubts = doubts([&before, &after], &surroundings);
        let shown = |changes: &[Change]| {
            changes.iter().map(|change| ChangeResult::of(change, comparable)).collect()
        };
        Self {
            schema_version: "2.1.0",
            comparable,
            differences,
            before,
            after,
            changes: shown(&comparison.changes),
            cells: shown(&comparison.cells),
            doubts,
            surroundings: surroundings.into_iter().map(Into::into).collect(),
            disclosure: facts.into_iter().map(Into::into).collect(),
            conditions: outcomes.into_iter().map(Into::into).collect(),
        }
    }

    /// What of the machine was not the same.
    fn moved(&self) -> impl Iterator<Item = &SurroundingResult> {
        self.surroundings.iter().filter(|one| one.moved == Some(true))
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
            figure: change.figure.clone(),
            before: change.before,
            after: change.after,
            ratio: change.ratio,
            change_percent: change.percent(),
            ratio_ci95: change.ci95,
            ratio_ci95_reason: change.ci95_reason.clone(),
            different: change.different.filter(|_| judged),
            different_reason: Self::untold(change, judged),
        }
    }

    /// True where it is compared, and a side of it is a bound.
    fn is_bound(&self) -> bool {
        self.different_reason.as_deref() == Some(BOUND)
    }

    fn untold(change: &Change, judged: bool) -> Option<String> {
        let rules = || "measured under different rules".to_owned();
        let bound = || BOUND.to_owned();
        (!judged)
            .then(rules)
            .or_else(|| change.is_bound.then(bound))
            .or_else(|| change.ci95_reason.clone())
    }
}

impl From<Surrounding> for SurroundingResult {
    fn from(found: Surrounding) -> Self {
        let Surrounding { name, about, before, after, moved, moved_reason } = found;
        let why = |is_missing: bool| is_missing.then_some(UNREAD);
        Self {
            name,
            about,
            before,
            before_reason: why(before.is_none()),
            after,
            after_reason: why(after.is_none()),
            moved,
            moved_reason,
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
        let Outcome { condition, met, is_open, said } = outcome;
        Self { condition, met, open: is_open, said }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_else_the_machine_did_is_a_doubt_and_a_few_late_runs_are_none() {
        let side = |name: &str, badge: &str| Side {
            name: name.to_owned(),
            badges: vec![badge.to_owned()],
            ..Side::default()
        };
        let moved = |moved| Surrounding {
            name: "cpu_distance_ns",
            about: "apart",
            before: Some(80.0),
            after: Some(400.0),
            moved,
            moved_reason: None,
        };
        let (calm, busy) = (side("a", "INVALID RUNS"), side("b", DISTURBED));
        assert_eq!(doubts([&calm, &busy], &[]), ["b is DISTURBED"]);
        assert_eq!(doubts([&calm, &calm], &[moved(Some(true))]), ["the machine was not the same"]);
        assert!(doubts([&calm, &calm], &[moved(None), moved(Some(false))]).is_empty());
    }

    #[test]
    fn a_debug_build_and_an_altered_result_are_doubts() {
        let calm = Side { name: "a".to_owned(), ..Side::default() };
        let debug = Side { is_unoptimised: true, ..calm.clone() };
        let altered = Side {
            name: "b".to_owned(),
            altered: vec!["altered: samples.jsonl:7".to_owned()],
            ..Side::default()
        };
        let expected = ["b was altered after it was measured", "a is of a debug build"];
        assert_eq!(doubts([&debug, &altered], &[]), expected);
        assert!(doubts([&calm, &calm], &[]).is_empty());
    }
}
