//! Bars of several hosts side by side, told apart by colour and by place (maly1996, Figures 2 and 3).

use super::WIDTH;
use super::axis::Axis;
use super::coordinate;
use super::frame::LEFT;
use super::frame::right;
use super::frame::scales;
use super::svg::Anchor;
use super::svg::Svg;
use crate::document::GroupBar;
use crate::document::GroupedBars;

/// Hosts that one chart can tell apart.
pub(crate) const MOST_SERIES: usize = 8;

/// The chart as an SVG element.
pub(crate) fn groups(chart: &GroupedBars, caption: &str) -> String {
    let rows = chart.series.len().div_ceil(LEGEND_COLUMNS);
    let top = TOP + LEGEND_ROW * coordinate(rows);
    let bottom = top + PLOT;
    let mut svg = Svg::new(chart.name, bottom + 82.0, &chart.title, &chart.description);
    svg.text("heading", [0.0, 26.0], Anchor::Start, &chart.title);
    legend(&mut svg, chart);
    let axis = Axis::showing(values(chart), [bottom, top]);
    let names = (chart.axis.as_str(), chart.second_axis.as_ref());
    let right = right(&axis, names.1);
    scales(&mut svg, &axis, names, ([top, bottom], right));
    let width = (right - LEFT) / coordinate(chart.groups.len().max(1));
    for (place, group) in chart.groups.iter().enumerate() {
        let left = LEFT + width * coordinate(place);
        draw(&mut svg, &group.bars, &axis, [left, width]);
        let middle = left + width / 2.0;
        svg.text("label", [middle, bottom + 22.0], Anchor::Middle, &group.label);
        svg.text("sublabel", [middle, bottom + 39.0], Anchor::Middle, &group.sublabel);
    }
    svg.line("zero", [LEFT, axis.place(0.0)], [right, axis.place(0.0)]);
    svg.text("caption", [0.0, bottom + 72.0], Anchor::Start, caption);
    svg.finish()
}

const TOP: f64 = 56.0;
const PLOT: f64 = 260.0;
const LEGEND_ROW: f64 = 20.0;
const LEGEND_COLUMNS: usize = 3;
/// The share of a group's width that its bars fill.
const FILLED: f64 = 0.8;
const WIDEST: f64 = 48.0;

/// Everything that must fit the axis.
fn values(chart: &GroupedBars) -> impl Iterator<Item = f64> {
    let bars = chart.groups.iter().flat_map(|group| &group.bars);
    bars.flat_map(|bar| bar.value.into_iter().chain(bar.interval.into_iter().flatten()))
}

fn legend(svg: &mut Svg, chart: &GroupedBars) {
    let width = WIDTH / coordinate(LEGEND_COLUMNS);
    for (place, host) in chart.series.iter().enumerate() {
        let left = width * coordinate(place % LEGEND_COLUMNS);
        let y = TOP + LEGEND_ROW * coordinate(place / LEGEND_COLUMNS);
        svg.rect(&colour(place), [left, y - 12.0], [14.0, 14.0]);
        svg.text("legend", [left + 21.0, y], Anchor::Start, &shortened(host));
    }
}

/// What fits a column of the legend.
fn shortened(name: &str) -> String {
    const LONGEST: usize = 40;
    if name.chars().count() <= LONGEST {
        return name.to_owned();
    }
    name.chars().take(LONGEST - 1).chain(std::iter::once('…')).collect()
}

fn colour(place: usize) -> String {
    format!("host c{}", place % MOST_SERIES)
}

/// The bars of a group, centred in its width.
fn draw(svg: &mut Svg, bars: &[GroupBar], axis: &Axis, [left, width]: [f64; 2]) {
    let each = (FILLED * width / coordinate(bars.len().max(1))).min(WIDEST);
    let start = left + (width - each * coordinate(bars.len())) / 2.0;
    for (place, bar) in bars.iter().enumerate() {
        let Some(value) = bar.value else { continue };
        let x = start + each * coordinate(place);
        let (zero, end) = (axis.place(0.0), axis.place(value));
        let size = [(each - 1.5).max(1.0), (zero - end).abs()];
        svg.rect(&colour(place), [x, zero.min(end)], size);
        if let Some([low, high]) = bar.interval {
            let middle = x + size[0] / 2.0;
            svg.line("whisker", [middle, axis.place(low)], [middle, axis.place(high)]);
        }
    }
}
