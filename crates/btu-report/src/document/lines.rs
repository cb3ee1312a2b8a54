//! Curves over two axes, described.

use serde::Serialize;

use super::Table;

/// Curves over two axes, with intervals and shaded ranges.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LineChart {
    /// Stable name, usable as an anchor.
    pub name: &'static str,
    /// What is shown.
    pub title: String,
    /// What a reader who cannot see the picture should know.
    pub description: String,
    /// From left to right.
    pub x: Scale,
    /// From bottom to top.
    pub y: Scale,
    /// The curves; those that come first are drawn last, above the others.
    pub curves: Vec<CurveLine>,
    /// Ranges of the x axis that are shaded.
    pub ranges: Vec<ShadedRange>,
    /// How to read the chart.
    pub reading: String,
    /// The same numbers.
    pub table: Table,
}

/// An axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scale {
    /// Heading, with the unit.
    pub title: String,
    /// How values are laid out.
    pub kind: ScaleKind,
}

/// How values are laid out on an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ScaleKind {
    /// Equal steps, from zero.
    Linear,
    /// Equal steps, from the first value to the last.
    LinearWithin,
    /// Equal ratios, with powers of ten.
    Log,
    /// Equal ratios, with powers of two: sizes in bytes.
    LogBytes,
}

/// One curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CurveLine {
    /// What the legend calls it.
    pub label: String,
    /// Whose it is.
    pub origin: Origin,
    /// The points, in order.
    pub points: Vec<CurvePlace>,
}

/// Whose a curve is: decides how it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Measured elsewhere.
    Foreign,
    /// Measured here.
    Own,
    /// A limit to compare with.
    Reference,
}

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CurvePlace {
    /// x and y.
    pub at: [f64; 2],
    /// Both ends of its interval, each with x and y.
    pub interval: Option<[[f64; 2]; 2]>,
}

/// A part of the x axis that is shaded.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShadedRange {
    /// Where it begins and ends.
    pub bounds: [f64; 2],
    /// What it is.
    pub label: String,
}
