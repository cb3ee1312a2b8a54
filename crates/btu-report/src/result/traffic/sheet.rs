//! The lines of a sheet.

use btu_core::traffic::analysis::SheetLine;
use serde::Deserialize;
use serde::Serialize;

/// One figure of a sheet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SheetLineResult {
    /// What it is of: `path`, the label of a load around the knee (of mu where there is no knee), or an application class.
    pub of: String,
    /// Which figure, with its unit: `mu_bit_s`, `delay_p99_s`, `sessions`.
    pub figure: String,
    /// The mean over the passes, of the worst flow where there are several; of sessions the most that the path carries.
    pub value: Option<f64>,
    /// Why there is none: which of all that a sheet has is not available on this path, or was not run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub value_reason: Option<String>,
    /// 95 % over the passes; of sessions the most that were carried and one fewer than the least that were not.
    pub interval: Option<[f64; 2]>,
    /// True where it is a lower bound.
    pub at_least: bool,
    /// How far the delays of one way that it is, or is found from, may be off between two hosts, seconds; null where one
    /// clock measured them.
    pub delay_bound_s: Option<f64>,
    /// How many measurements it is the mean of; of what two clocks hide, how many there are.
    pub passes: u64,
    /// The numbers of the cells that it comes from.
    pub cells: Vec<u32>,
}

pub(super) fn line(line: &SheetLine) -> SheetLineResult {
    SheetLineResult {
        of: line.of.name().to_owned(),
        figure: line.figure.to_owned(),
        value: line.value,
        value_reason: line.missing.clone(),
        interval: line.interval.map(|bounds| [bounds.low, bounds.high]),
        at_least: line.at_least,
        delay_bound_s: line.bound_s,
        passes: u64::try_from(line.passes).unwrap_or(u64::MAX),
        cells: line.cells.clone(),
    }
}
