//! The score of a table of cells that somebody else measured.
//!
//! The formulas can so be checked from outside: `{"activities_base": {"cpu": 812.5, ...},
//! "cells": [{"case", "application", "activity", "repeat", "bits", "seconds", "goodput_mbps"?,
//! "slowdown"?, "activity_rate_per_s"?}]}`. A `result.json` has these keys too, and is read as it is.

mod names;
mod object;
mod read;

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde::Serialize;

use super::ClassScore;
use super::Figure;
use super::Score;
use super::even_slowdowns;
use super::fold_repeats;
use super::missing_slowdowns;
use super::penalty_percent;
use super::score;
use crate::stats::Means;

pub use read::TableError;

/// What a table scores. A figure that the table cannot give is `null`, with its reason beside it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TableScore {
    /// eq. 7, Mb/s.
    pub btu_mbps: Option<f64>,
    /// Why there is no score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub btu_mbps_reason: Option<String>,
    /// The same over the baselines, Mb/s.
    pub btu_idle_mbps: Option<f64>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub btu_idle_mbps_reason: Option<String>,
    /// (GM of slowdowns - 1) x 100.
    pub penalty_percent: Option<f64>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub penalty_percent_reason: Option<String>,
    /// eq. 11.
    pub penalty_classic_percent: Option<f64>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub penalty_classic_percent_reason: Option<String>,
    /// One entry per application, by message size: of one that the table does not say, that of the editions. Those
    /// that nobody knows come last, in order of appearance.
    pub applications: Vec<ClassResult>,
    /// Arithmetic mean of the loaded cells' goodputs, Mb/s.
    pub goodput_am_mbps: Option<f64>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goodput_am_mbps_reason: Option<String>,
    /// Geometric mean.
    pub goodput_gm_mbps: Option<f64>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goodput_gm_mbps_reason: Option<String>,
    /// Harmonic mean.
    pub goodput_hm_mbps: Option<f64>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goodput_hm_mbps_reason: Option<String>,
    /// Cells, repeats folded.
    pub cells: usize,
    /// Rows that were read.
    pub rows: usize,
    /// True where not every case x application x activity of the table is there; a result says itself, too, what of
    /// its edition it lacks.
    pub partial: bool,
    /// What a reader should know of the table.
    pub warnings: Vec<String>,
}

/// The figures of one application class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassResult {
    /// The class y, as the table names it.
    pub name: String,
    /// Size of one message, where the table says it.
    pub message_bytes: Option<u64>,
    /// Why it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_bytes_reason: Option<String>,
    /// eq. 6, Mb/s.
    pub btu_mbps: Option<f64>,
    /// Why there is no score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub btu_mbps_reason: Option<String>,
    /// The same over the baselines, Mb/s.
    pub btu_idle_mbps: Option<f64>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub btu_idle_mbps_reason: Option<String>,
    /// (GM of slowdowns - 1) x 100.
    pub penalty_percent: Option<f64>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub penalty_percent_reason: Option<String>,
    /// eq. 10.
    pub penalty_classic_percent: Option<f64>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub penalty_classic_percent_reason: Option<String>,
}

/// The score of a table in JSON. Contradictions are errors that name the cell.
pub fn score_table(text: &str) -> Result<TableScore, TableError> {
    let table = read::table(text)?;
    let rows = table.runs.len();
    let without = without_slowdowns(&table.runs);
    let cells = fold_repeats(&even_slowdowns(table.runs));
    let result = score(&cells);
    let mut warnings = table.warnings;
    let lacking = match &table.result {
        Some(of_result) => of_result.lacks(&cells),
        None => names::holes(&cells),
    };
    let partial = lacking.is_some();
    warnings.extend(lacking);
    warnings.extend(without);
    if table.result.is_none() {
        warnings.extend(names::lacks(&cells));
        let classes = super::distinct(cells.iter().map(|cell| cell.application.as_str()));
        let silent = classes.iter().filter(|name| !table.message_bytes.contains_key(**name));
        warnings.extend(silent.filter_map(|name| names::unsized_class(name)));
    }
    Ok(TableScore { rows, partial, warnings, ..from_score(&result, &cells, &table.message_bytes) })
}

fn from_score(result: &Score, cells: &[Figure], sizes: &BTreeMap<String, u64>) -> TableScore {
    let of_class = |class| class_result(class, sizes.get(&class.application).copied());
    let mut applications: Vec<ClassResult> = result.applications.iter().map(of_class).collect();
    // Stable: equal sizes, and those that nobody knows, stay as they appear.
    applications.sort_by_key(|class| {
        class.message_bytes.or_else(|| names::size_of(&class.name)).unwrap_or(u64::MAX)
    });
    let loaded: Vec<f64> =
        cells.iter().filter(|cell| cell.activity != "none").map(|cell| cell.goodput_mbps).collect();
    let means = Means::of(&loaded);
    TableScore {
        btu_mbps: result.btu_mbps,
        btu_mbps_reason: because(result.btu_mbps, NO_LOADED),
        btu_idle_mbps: result.btu_idle_mbps,
        btu_idle_mbps_reason: because(result.btu_idle_mbps, NO_BASELINES),
        penalty_percent: result.slowdown.map(penalty_percent),
        penalty_percent_reason: because(result.slowdown, NO_SLOWDOWN),
        penalty_classic_percent: result.classic.percent(),
        penalty_classic_percent_reason: result.classic.reason(),
        applications,
        goodput_am_mbps: means.map(|means| means.am),
        goodput_am_mbps_reason: because(means.as_ref(), NO_LOADED),
        goodput_gm_mbps: means.map(|means| means.gm),
        goodput_gm_mbps_reason: because(means.as_ref(), NO_LOADED),
        goodput_hm_mbps: means.map(|means| means.hm),
        goodput_hm_mbps_reason: because(means.as_ref(), NO_LOADED),
        cells: cells.len(),
        rows: 0,
        partial: false,
        warnings: Vec::new(),
    }
}

fn class_result(class: &ClassScore, message_bytes: Option<u64>) -> ClassResult {
    ClassResult {
        name: class.application.clone(),
        message_bytes,
        message_bytes_reason: because(message_bytes, "the table does not say"),
        btu_mbps: class.btu_mbps,
        btu_mbps_reason: because(class.btu_mbps, NO_LOADED),
        btu_idle_mbps: class.btu_idle_mbps,
        btu_idle_mbps_reason: because(class.btu_idle_mbps, NO_BASELINES),
        penalty_percent: class.slowdown.map(penalty_percent),
        penalty_percent_reason: because(class.slowdown, NO_SLOWDOWN),
        penalty_classic_percent: class.classic.percent(),
        penalty_classic_percent_reason: class.classic.reason(),
    }
}

/// The reason beside a figure that is missing.
fn because<T: Copy>(figure: Option<T>, why: &str) -> Option<String> {
    figure.is_none().then(|| why.to_owned())
}

const NO_LOADED: &str = "no loaded cells";

const NO_BASELINES: &str = "no cells with activity none";

const NO_SLOWDOWN: &str = "no loaded cell gives its slowdown";

/// What becomes of the penalty where some loaded cells have a slowdown in a repeat and others have none, or no row.
fn without_slowdowns(rows: &[Figure]) -> Option<String> {
    let missing = missing_slowdowns(rows);
    let (repeat, [case, application, activity]) = missing.first()?;
    let loaded: Vec<&Figure> = rows.iter().filter(|row| row.is_loaded()).collect();
    let with = loaded.iter().filter(|row| row.slowdown.is_some()).count();
    if with == 0 {
        return None;
    }
    let lacking: BTreeSet<u64> = missing.iter().map(|(repeat, _)| *repeat).collect();
    let repeats: BTreeSet<u64> = loaded.iter().map(|row| row.repeat).collect();
    let lack = if missing.len() + with > loaded.len() {
        "have no slowdown, or are missing"
    } else {
        "have no slowdown"
    };
    let over = match repeats.len() - lacking.len() {
        0 => "the others".to_owned(),
        whole => format!("{whole} of {} repeats, which have them all", repeats.len()),
    };
    Some(format!(
        "{} of {} loaded rows {lack}, the first is {case}/{application}/{activity}, repeat {repeat}; the penalty is over \
         {over}",
        missing.len(),
        missing.len() + with
    ))
}

#[cfg(test)]
mod tests;
