//! The results of many nights: every figure in its course, and the nights at which it changed for good.

mod compose;

use btu_core::comparison::Outcome;
use btu_core::comparison::history::Course;
use btu_core::comparison::history::Night;
use btu_core::comparison::history::NightPoint;
use btu_core::comparison::history::Turn;
use btu_core::stats::ChangeRule;
use serde::Serialize;

use super::ConditionResult;
use super::FactResult;
use crate::format::Content;
use crate::format::UnknownFormat;
use crate::format::render_content;

/// A history, for programs. Keys are only added within a major version.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HistoryDocument {
    schema_version: &'static str,
    /// What all results have in common: verb, rules, host.
    setting: String,
    /// Largest p value of a change.
    p_limit: f64,
    /// Changes up to this are dropped, percent.
    magnitude_percent: f64,
    /// The results, in the order of their start.
    results: Vec<NightResult>,
    /// Each figure.
    figures: Vec<CourseResult>,
    /// Results that are no part of it, and why.
    left_out: Vec<LeftOut>,
    /// Conditions of `--fail-if`.
    conditions: Vec<ConditionResult>,
}

/// A result that is no part of a history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Where it lies.
    pub result: String,
    /// Why.
    pub reason: String,
}

/// A result of a history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct NightResult {
    name: String,
    started_at: String,
}

/// A figure of a history.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct CourseResult {
    figure: String,
    unit: &'static str,
    better: &'static str,
    points: Vec<PointResult>,
    changes: Vec<TurnResult>,
}

/// A figure of one result.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct PointResult {
    /// The place of the result, from 0.
    result: usize,
    value: f64,
    ci95: Option<[f64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ci95_reason: Option<&'static str>,
}

/// A change for good.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct TurnResult {
    /// The place of the first result of the new regime, from 0.
    result: usize,
    name: String,
    started_at: String,
    /// Geometric means of the regimes before and from here on.
    before: f64,
    after: f64,
    ratio: f64,
    change_percent: f64,
    ratio_ci95: Option<[f64; 2]>,
    ratio_ci95_reason: Option<String>,
    p: f64,
    worse: bool,
    /// True where the newest result shows it first.
    new: bool,
    disclosure: Vec<FactResult>,
}

impl HistoryDocument {
    /// The document of a history of these nights.
    pub fn of(
        setting: String,
        rule: ChangeRule,
        nights: &[Night],
        courses: &[Course],
        left_out: Vec<LeftOut>,
        outcomes: Vec<Outcome>,
    ) -> Self {
        Self {
            schema_version: "1.0.0",
            setting,
            p_limit: rule.p,
            magnitude_percent: rule.magnitude * 100.0,
            results: nights.iter().map(NightResult::of).collect(),
            figures: courses.iter().map(|course| CourseResult::of(nights, course)).collect(),
            left_out,
            conditions: outcomes.into_iter().map(Into::into).collect(),
        }
    }

    /// As its file: pretty JSON and a newline.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// The history in the format of this name or file ending.
    ///
    /// # Errors
    /// There is no such format.
    pub fn render(&self, format: &str) -> Result<Vec<u8>, UnknownFormat> {
        render_content(format, &compose::composed(self), Content::History(self))
    }

    /// One row per result: its time, its attributes, its metrics, as Apache Otava reads them.
    pub(crate) fn csv_rows(&self) -> Vec<Vec<String>> {
        let figures = self.figures.iter().map(|one| one.figure.clone());
        let heading = ["time", "result"].map(ToOwned::to_owned).into_iter().chain(figures);
        let row = |(at, night): (usize, &NightResult)| {
            let values = self.figures.iter().map(move |course| course.value(at));
            [night.started_at.clone(), night.name.clone()].into_iter().chain(values).collect()
        };
        let rows = self.results.iter().enumerate().map(row);
        std::iter::once(heading.collect()).chain(rows).collect()
    }

    /// Every change with its figure.
    fn changes(&self) -> impl Iterator<Item = (&CourseResult, &TurnResult)> {
        self.figures.iter().flat_map(|one| one.changes.iter().map(move |change| (one, change)))
    }
}

impl NightResult {
    fn of(night: &Night) -> Self {
        Self { name: night.name.clone(), started_at: night.started_at.clone() }
    }
}

impl CourseResult {
    fn of(nights: &[Night], course: &Course) -> Self {
        Self {
            figure: course.figure.clone(),
            unit: course.unit,
            better: course.better.name(),
            points: course.points.iter().map(PointResult::of).collect(),
            changes: course.turns.iter().map(|turn| TurnResult::of(nights, turn)).collect(),
        }
    }

    /// The value of a result; nothing where it has none.
    fn value(&self, result: usize) -> String {
        let point = self.points.iter().find(|point| point.result == result);
        point.map_or_else(String::new, |point| point.value.to_string())
    }
}

impl PointResult {
    fn of(point: &NightPoint) -> Self {
        let NightPoint { night, value, ci95 } = *point;
        let ci95_reason = ci95.is_none().then_some("an interval needs three rounds");
        Self { result: night, value, ci95, ci95_reason }
    }
}

impl TurnResult {
    fn of(nights: &[Night], turn: &Turn) -> Self {
        let NightResult { name, started_at } = NightResult::of(&nights[turn.night]);
        Self {
            result: turn.night,
            name,
            started_at,
            before: turn.change.before,
            after: turn.change.after,
            ratio: turn.change.ratio,
            change_percent: turn.change.percent(),
            ratio_ci95: turn.change.ci95,
            ratio_ci95_reason: turn.change.ci95_reason.clone(),
            p: turn.p,
            worse: turn.is_worse,
            new: turn.is_new,
            disclosure: turn.facts.iter().cloned().map(Into::into).collect(),
        }
    }
}
