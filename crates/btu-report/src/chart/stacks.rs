//! Bars that are divided into parts (hollingsworth1998, "NAS Results").

use super::WIDTH;
use super::axis::Axis;
use super::coordinate;
use super::frame::LEFT;
use super::frame::right;
use super::frame::scales;
use super::svg::Anchor;
use super::svg::Svg;
use crate::document::Stack;
use crate::document::StackGroup;
use crate::document::StackedBars;

/// The chart as an SVG element.
pub(crate) fn stacks(chart: &StackedBars, caption: &str) -> String {
    let bottom = TOP + PLOT;
    let mut svg = Svg::new(chart.name, bottom + 108.0, &chart.title, &chart.description);
    svg.text("heading", [0.0, 26.0], Anchor::Start, &chart.title);
    legend(&mut svg, &chart.parts);
    let bars = chart.groups.iter().flat_map(|group| &group.bars);
    let axis = Axis::showing(bars.map(|bar| bar.parts.iter().sum()), [bottom, TOP]);
    let right = right(&axis, None);
    scales(&mut svg, &axis, (&chart.axis, None), ([TOP, bottom], right));
    let width = (right - LEFT) / coordinate(chart.groups.len().max(1));
    for (place, group) in chart.groups.iter().enumerate() {
        draw(&mut svg, group, &axis, [LEFT + width * coordinate(place), width]);
    }
    svg.line("zero", [LEFT, axis.place(0.0)], [right, axis.place(0.0)]);
    svg.text("caption", [0.0, bottom + 98.0], Anchor::Start, caption);
    svg.finish()
}

const TOP: f64 = 76.0;
const PLOT: f64 = 260.0;
/// The share of a group's width that its bars fill.
const FILLED: f64 = 0.86;
const WIDEST: f64 = 48.0;
/// From one row of labels to the next.
const ROW: f64 = 15.0;
/// About what a letter of a label takes.
const LETTER: f64 = 7.0;

fn legend(svg: &mut Svg, parts: &[String]) {
    let width = WIDTH / coordinate(parts.len().max(1));
    for (place, part) in parts.iter().enumerate() {
        let left = width * coordinate(place);
        svg.rect(&colour(place), [left, 44.0], [14.0, 14.0]);
        svg.text("legend", [left + 21.0, 56.0], Anchor::Start, part);
    }
}

fn colour(place: usize) -> String {
    format!("host c{}", place % super::MOST_SERIES)
}

/// The bars of a group, centred in its width, each with its label.
fn draw(svg: &mut Svg, group: &StackGroup, axis: &Axis, [left, width]: [f64; 2]) {
    let foot = axis.place(0.0);
    let each = (FILLED * width / coordinate(group.bars.len().max(1))).min(WIDEST);
    let middle = left + width / 2.0;
    let start = middle - each * coordinate(group.bars.len()) / 2.0;
    let is_crowded = is_crowded(group, each);
    for (place, bar) in group.bars.iter().enumerate() {
        let x = start + each * coordinate(place);
        stack(svg, bar, axis, [x, (each - 3.0).max(1.0)]);
        let row = if is_crowded && place % 2 == 1 { 2.0 } else { 1.0 };
        let label = [x + each / 2.0, foot + ROW * row + 3.0];
        svg.text("sublabel", label, Anchor::Middle, &bar.label);
    }
    svg.text("label", [middle, foot + 50.0], Anchor::Middle, &group.label);
    svg.text("sublabel", [middle, foot + 66.0], Anchor::Middle, &group.sublabel);
}

/// True where labels side by side would run into each other: every second one then stands a row lower.
fn is_crowded(group: &StackGroup, each: f64) -> bool {
    let longest = group.bars.iter().map(|bar| bar.label.chars().count()).max();
    coordinate(longest.unwrap_or_default()) * LETTER > each
}

/// One part upon the other; one of no height is left out.
fn stack(svg: &mut Svg, bar: &Stack, axis: &Axis, [left, width]: [f64; 2]) {
    let mut below = 0.0;
    for (place, part) in bar.parts.iter().enumerate().filter(|(_, part)| **part > 0.0) {
        let (foot, top) = (axis.place(below), axis.place(below + part));
        svg.rect(&colour(place), [left, top], [width, foot - top]);
        below += part;
    }
}
