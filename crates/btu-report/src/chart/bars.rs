//! Bars with interval whiskers, a thin bar beside each for comparison, and a second axis
//! (maly1996, Figures 2 and 3).

use super::axis::Axis;
use super::coordinate;
use super::frame::LEFT;
use super::frame::right;
use super::frame::scales;
use super::svg::Anchor;
use super::svg::Svg;
use crate::document::Bar;
use crate::document::BarChart;

/// The chart as an SVG element.
pub(crate) fn bars(chart: &BarChart, caption: &str) -> String {
    let mut svg = Svg::new(chart.name, HEIGHT, &chart.title, &chart.description);
    let mark = format!("{}-mark", chart.name);
    svg.hatch(&mark, "mark");
    svg.text("heading", [0.0, 26.0], Anchor::Start, &chart.title);
    legend(&mut svg, chart, &mark);
    let axis = Axis::showing(values(chart), [BOTTOM, TOP]);
    let names = (chart.axis.as_str(), chart.second_axis.as_ref());
    let right = right(&axis, names.1);
    scales(&mut svg, &axis, names, ([TOP, BOTTOM], right));
    for (place, bar) in chart.bars.iter().enumerate() {
        draw(&mut svg, bar, &axis, middle(place, chart.bars.len(), right), &mark);
    }
    svg.line("zero", [LEFT, axis.place(0.0)], [right, axis.place(0.0)]);
    svg.text("caption", [0.0, HEIGHT - 10.0], Anchor::Start, caption);
    svg.finish()
}

const HEIGHT: f64 = 420.0;
const TOP: f64 = 84.0;
const BOTTOM: f64 = 338.0;
const BAR: f64 = 62.0;
const MARK: f64 = 22.0;

/// Everything that must fit the axis, with room for a label.
fn values(chart: &BarChart) -> impl Iterator<Item = f64> {
    let bars = chart.bars.iter().flat_map(|bar| {
        let ends = bar.interval.into_iter().flatten();
        let labelled = bar.value.into_iter().chain(ends).map(|value| 1.07 * value);
        labelled.chain(bar.mark)
    });
    bars.chain([chart.reach])
}

/// What a bar is, and what the thin one beside it.
fn legend(svg: &mut Svg, chart: &BarChart, mark: &str) {
    svg.rect("bar", [0.0, 42.0], [14.0, 14.0]);
    svg.text("legend", [21.0, 54.0], Anchor::Start, &chart.bar_legend);
    if let Some(text) = &chart.mark_legend {
        let x = 60.0 + 7.0 * coordinate(chart.bar_legend.chars().count());
        svg.filled_rect("mark-bar", Some(mark), [x, 42.0], [14.0, 14.0]);
        svg.text("legend", [x + 21.0, 54.0], Anchor::Start, text);
    }
}

/// The centre of a group, where the plot ends at `right`.
fn middle(place: usize, groups: usize, right: f64) -> f64 {
    let width = (right - LEFT) / coordinate(groups.max(1));
    LEFT + width * (coordinate(place) + 0.5)
}

fn draw(svg: &mut Svg, bar: &Bar, axis: &Axis, middle: f64, pattern: &str) {
    let width = BAR + if bar.mark.is_some() { MARK } else { 0.0 };
    let left = middle - width / 2.0;
    let centre = left + BAR / 2.0;
    if let Some(mark) = bar.mark {
        let (corner, size) = column(axis, mark, left + BAR + 3.0, MARK);
        svg.filled_rect("mark-bar", Some(pattern), corner, size);
    }
    if let Some(value) = bar.value {
        let (corner, size) = column(axis, value, left, BAR);
        svg.rect("bar", corner, size);
        whisker(svg, bar, axis, centre);
        svg.text("value", [centre, label_height(bar, axis, value)], Anchor::Middle, &bar.text);
    } else {
        svg.text("value", [centre, axis.place(0.0) - 8.0], Anchor::Middle, "no figure");
    }
    svg.text("label", [middle, BOTTOM + 22.0], Anchor::Middle, &bar.label);
    svg.text("sublabel", [middle, BOTTOM + 39.0], Anchor::Middle, &bar.sublabel);
}

/// Corner and size of a bar from zero to a value.
fn column(axis: &Axis, value: f64, left: f64, width: f64) -> ([f64; 2], [f64; 2]) {
    let (zero, end) = (axis.place(0.0), axis.place(value));
    ([left, zero.min(end)], [width, (zero - end).abs()])
}

fn whisker(svg: &mut Svg, bar: &Bar, axis: &Axis, x: f64) {
    let Some([low, high]) = bar.interval else { return };
    let (low, high) = (axis.place(low), axis.place(high));
    svg.line("whisker", [x, low], [x, high]);
    for end in [low, high] {
        svg.line("whisker", [x - 9.0, end], [x + 9.0, end]);
    }
}

/// Above the bar and its whisker; below both where the bar hangs down.
fn label_height(bar: &Bar, axis: &Axis, value: f64) -> f64 {
    let [low, high] = bar.interval.unwrap_or([value, value]);
    if value < 0.0 { axis.place(low.min(value)) + 18.0 } else { axis.place(high.max(value)) - 8.0 }
}
