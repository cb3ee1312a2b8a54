//! Bars of several hosts beside each other, group by group.

use serde::Serialize;

use super::SecondAxis;
use super::Table;

/// One group of bars per label, one bar per host (maly1996, figures 2 and 3).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupedBars {
    /// Stable name, usable as an anchor.
    pub name: &'static str,
    /// What is shown.
    pub title: String,
    /// What a reader who cannot see the picture should know.
    pub description: String,
    /// Left axis.
    pub axis: String,
    /// Right axis.
    pub second_axis: Option<SecondAxis>,
    /// The hosts, in the order of their bars.
    pub series: Vec<String>,
    /// The groups, from left to right.
    pub groups: Vec<BarGroup>,
    /// How to read the chart.
    pub reading: String,
    /// The same numbers.
    pub table: Table,
}

/// The bars over one label.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BarGroup {
    /// Below the bars.
    pub label: String,
    /// Below that, smaller.
    pub sublabel: String,
    /// One per host; without a value there is no bar.
    pub bars: Vec<GroupBar>,
}

/// One bar of a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GroupBar {
    /// Height.
    pub value: Option<f64>,
    /// Whisker.
    pub interval: Option<[f64; 2]>,
}
