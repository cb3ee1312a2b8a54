//! A time-sequence chart of one direction of a TCP connection, described.

use btu_core::tcp::SequenceData;
use serde::Serialize;

use super::Table;

/// Everything that the chart shows; a page can zoom into all of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SequenceChart {
    /// Usable as an anchor, one per page.
    pub name: String,
    /// What is shown.
    pub title: String,
    /// What a reader who cannot see the picture should know.
    pub description: String,
    /// How to read the chart.
    pub reading: String,
    /// The figures of the direction.
    pub table: Table,
    /// Why no congestion window is drawn; empty where one is.
    pub congestion: String,
    /// What is drawn.
    #[serde(skip)]
    pub data: SequenceData,
}
