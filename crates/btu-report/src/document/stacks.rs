//! Bars that are divided into parts, group by group.

use serde::Serialize;

use super::Table;

/// A group of divided bars per label (hollingsworth1998, "NAS Results").
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StackedBars {
    /// Stable name, usable as an anchor.
    pub name: &'static str,
    /// What is shown.
    pub title: String,
    /// What a reader who cannot see the picture should know.
    pub description: String,
    /// Left axis.
    pub axis: String,
    /// What the parts are, from the foot of a bar to its top.
    pub parts: Vec<String>,
    /// The groups, from left to right.
    pub groups: Vec<StackGroup>,
    /// How to read the chart.
    pub reading: String,
    /// The same numbers.
    pub table: Table,
}

/// The bars over one label.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StackGroup {
    /// Below the bars.
    pub label: String,
    /// Below that, smaller.
    pub sublabel: String,
    /// From left to right.
    pub bars: Vec<Stack>,
}

/// One bar.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stack {
    /// Below the bar.
    pub label: String,
    /// The height of each part.
    pub parts: Vec<f64>,
}
