//! Two results of a verb with a plan of its own beside each other: what was asked for otherwise, then every figure.

mod compose;

use btu_core::comparison::FactChange;
use btu_core::comparison::Outcome;
use btu_core::comparison::Paired;
use btu_core::comparison::Unpaired;
use btu_core::comparison::series::Better;
use btu_core::journal::EventRecord;
use serde::Serialize;

use super::ChangeResult;
use super::ConditionResult;
use super::FactResult;
use crate::document::Block;
use crate::document::Document;
use crate::document::Tone;
use crate::format::Content;
use crate::format::UnknownFormat;
use crate::format::render_content;
use crate::result::host_line;
use crate::section::DISTURBED;
use crate::stored::Stored;

/// A comparison of two results of one verb, for programs. Keys are only added within a major version.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairedDocument {
    schema_version: &'static str,
    /// Which verb left them.
    verb: &'static str,
    /// False where they are of different things: then nothing is judged.
    comparable: bool,
    /// In which rules they differ.
    differences: Vec<String>,
    /// The first result.
    before: PairedSide,
    /// The second.
    after: PairedSide,
    /// What of the plan is not the same.
    plan: Vec<FactResult>,
    /// What was disclosed otherwise.
    disclosure: Vec<FactResult>,
    /// Why a difference need not be of what was changed on purpose.
    doubts: Vec<String>,
    /// Each figure that both have.
    changes: Vec<PairedChange>,
    /// The others, and why they are not compared.
    not_compared: Vec<UnpairedResult>,
    /// Conditions of `--fail-if`.
    conditions: Vec<ConditionResult>,
}

/// One of the two results.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PairedSide {
    /// What it is called here.
    name: String,
    /// The host in one line.
    host: String,
    /// When it began, UTC; null where its journal does not say.
    started_at: Option<String>,
    /// Who stands for it.
    trust: String,
    /// Where it is not what was measured.
    altered: Vec<String>,
    /// The words beside its figures that are no praise: `INCOMPLETE`, `FAULTS` ...
    badges: Vec<String>,
    #[serde(skip)]
    is_unoptimised: bool,
}

/// One figure of both.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct PairedChange {
    #[serde(flatten)]
    change: ChangeResult,
    /// The unit of both values.
    unit: &'static str,
    /// Which change is a good one: `higher` or `lower`.
    better: &'static str,
    /// True for a difference for the worse; null where nothing differs, or nothing can be told.
    worse: Option<bool>,
}

/// A figure that is not compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct UnpairedResult {
    figure: String,
    reason: &'static str,
}

impl PairedSide {
    /// A result as it is called here. `trust` says who stands for it, `altered` where it is not as it was measured.
    pub fn of(name: &str, stored: &dyn Stored, trust: &str, altered: Vec<String>) -> Self {
        Self {
            name: name.to_owned(),
            host: host_line(stored.hosts()),
            started_at: EventRecord::started_at(stored.events()).map(str::to_owned),
            trust: trust.to_owned(),
            altered,
            badges: badges(&stored.document()),
            is_unoptimised: stored.hosts().build_profile() == Some("debug"),
        }
    }

    fn marked(&self) -> String {
        let Self { name, badges, .. } = self;
        if badges.is_empty() { name.clone() } else { format!("{name} ({})", badges.join(", ")) }
    }

    fn doubts(&self) -> impl Iterator<Item = String> {
        let altered = (!self.altered.is_empty()).then_some("was altered after it was measured");
        let debug = self.is_unoptimised.then_some("is of a debug build");
        let disturbed = self.badges.iter().filter(|word| DOUBTED.contains(&&***word));
        let disturbed = disturbed.map(|word| format!("{} is {word}", self.name));
        let own = altered.into_iter().chain(debug).map(|what| format!("{} {what}", self.name));
        own.chain(disturbed)
    }
}

/// Badges of what something else than was measured may have made.
const DOUBTED: [&str; 2] = [DISTURBED, "OVERSUBSCRIBED"];

/// The words of a report's headline that are no praise.
fn badges(document: &Document) -> Vec<String> {
    let blocks = document.sections.iter().flat_map(|part| &part.blocks);
    let cards = blocks.filter_map(|block| match block {
        Block::Card(card) => Some(card),
        _ => None,
    });
    let watched = cards.flat_map(|card| &card.badges).filter(|badge| badge.tone == Tone::Watch);
    watched.map(|badge| badge.word.to_owned()).collect()
}

impl PairedDocument {
    /// The document of a comparison. Without comparability nothing is called different.
    pub fn of(
        verb: &'static str,
        [before, after]: [PairedSide; 2],
        paired: &Paired,
        differences: Vec<String>,
        [plan, disclosure]: [Vec<FactChange>; 2],
        outcomes: Vec<Outcome>,
    ) -> Self {
        let comparable = differences.is_empty();
        let each = paired.comparison.changes.iter().zip(&paired.kinds);
        let changes = each.map(|(change, (unit, better))| {
            PairedChange::of(ChangeResult::of(change, comparable), unit, *better)
        });
        Self {
            schema_version: "1.0.0",
            verb,
            comparable,
            differences,
            doubts: before.doubts().chain(after.doubts()).collect(),
            changes: changes.collect(),
            before,
            after,
            plan: plan.into_iter().map(Into::into).collect(),
            disclosure: disclosure.into_iter().map(Into::into).collect(),
            not_compared: paired.unpaired.iter().map(Into::into).collect(),
            conditions: outcomes.into_iter().map(Into::into).collect(),
        }
    }

    /// As its file: pretty JSON and a newline.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// The comparison in the format of this name or file ending.
    ///
    /// # Errors
    /// There is no such format.
    pub fn render(&self, format: &str) -> Result<Vec<u8>, UnknownFormat> {
        render_content(format, &compose::composed(self), Content::Paired(self))
    }

    /// For spreadsheets: one row per figure; a field that is missing is empty.
    pub(crate) fn csv_rows(&self) -> Vec<Vec<String>> {
        let heading = COLUMNS.map(ToOwned::to_owned).to_vec();
        std::iter::once(heading).chain(self.changes.iter().map(PairedChange::row)).collect()
    }
}

const COLUMNS: [&str; 10] = [
    "figure",
    "unit",
    "better",
    "before",
    "after",
    "ratio",
    "ratio_low",
    "ratio_high",
    "different",
    "different_reason",
];

impl PairedChange {
    fn of(change: ChangeResult, unit: &'static str, better: Better) -> Self {
        let worse =
            change.different.filter(|different| *different).map(|_| better.is_worse(change.ratio));
        Self { change, unit, better: better.name(), worse }
    }

    fn row(&self) -> Vec<String> {
        let Self { change, unit, better, .. } = self;
        let [low, high] =
            change.ratio_ci95.map_or_else(Default::default, |ends| ends.map(|end| end.to_string()));
        let different = change.different.map_or_else(String::new, |one| one.to_string());
        let number = |value: f64| value.to_string();
        vec![
            change.figure.clone(),
            (*unit).to_owned(),
            (*better).to_owned(),
            number(change.before),
            number(change.after),
            number(change.ratio),
            low,
            high,
            different,
            change.different_reason.clone().unwrap_or_default(),
        ]
    }
}

impl From<&Unpaired> for UnpairedResult {
    fn from(one: &Unpaired) -> Self {
        Self { figure: one.figure.clone(), reason: one.reason }
    }
}
