//! Charts as SVG: readable without scripts, styled by the page's classes, named for screen readers.

mod axis;
mod bars;
mod frame;
mod groups;
mod heatmap;
mod lines;
mod scale;
mod sequence;
mod stacks;
mod svg;

pub(crate) use bars::bars;
pub(crate) use groups::MOST_SERIES;
pub(crate) use groups::groups;
pub(crate) use heatmap::heatmap;
pub(crate) use lines::lines;
pub(crate) use sequence::sequence;
pub(crate) use stacks::stacks;

/// Width of every chart in its own units: text then has one size in all of them.
const WIDTH: f64 = 960.0;

/// A place among bars, rows or curves.
#[expect(clippy::cast_precision_loss, reason = "a chart has few of each")]
fn coordinate(place: usize) -> f64 {
    place as f64
}
