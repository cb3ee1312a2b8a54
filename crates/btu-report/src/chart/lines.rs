//! Curves with their intervals over two axes, overlaid, with a legend that tells them apart by colour
//! and by dash (snell1996, figures 8 to 11).

use super::WIDTH;
use super::coordinate;
use super::scale::Axis;
use super::svg::Anchor;
use super::svg::Svg;
use crate::document::CurveLine;
use crate::document::CurvePlace;
use crate::document::LineChart;
use crate::document::Origin;

/// The chart as an SVG element.
pub(crate) fn lines(chart: &LineChart, caption: &str) -> String {
    let rows = chart.curves.len().div_ceil(LEGEND_COLUMNS);
    let top = TOP + LEGEND_ROW * coordinate(rows);
    let bottom = top + PLOT_HEIGHT;
    let mut svg = Svg::new(chart.name, bottom + 82.0, &chart.title, &chart.description);
    svg.text("heading", [0.0, 26.0], Anchor::Start, &chart.title);
    legend(&mut svg, &chart.curves);
    let x = Axis::showing(chart.x.kind, values(chart, 0), [LEFT, RIGHT]);
    let y = Axis::showing(chart.y.kind, values(chart, 1), [bottom, top]);
    shade(&mut svg, chart, &x, [top, bottom]);
    scales(&mut svg, chart, [&x, &y], [top, bottom]);
    for (place, curve) in chart.curves.iter().enumerate().rev() {
        draw(&mut svg, curve, &style(place, curve), [&x, &y]);
    }
    svg.text("caption", [0.0, bottom + 72.0], Anchor::Start, caption);
    svg.finish()
}

const LEFT: f64 = 84.0;
const RIGHT: f64 = WIDTH - 16.0;
const TOP: f64 = 48.0;
const PLOT_HEIGHT: f64 = 380.0;
const LEGEND_ROW: f64 = 20.0;
const LEGEND_COLUMNS: usize = 3;
/// Curves with more points than this are drawn without dots.
const MOST_DOTS: usize = 400;

/// One coordinate of every point. An interval that leaves the frame ends there: one wide interval of a
/// disturbed point must not squeeze all curves together.
fn values(chart: &LineChart, axis: usize) -> impl Iterator<Item = f64> {
    let points = chart.curves.iter().flat_map(|curve| &curve.points);
    points.map(move |point| point.at[axis])
}

fn legend(svg: &mut Svg, curves: &[CurveLine]) {
    let width = WIDTH / coordinate(LEGEND_COLUMNS);
    for (place, curve) in curves.iter().enumerate() {
        let left = width * coordinate(place % LEGEND_COLUMNS);
        let y = TOP + LEGEND_ROW * coordinate(place / LEGEND_COLUMNS);
        let stroke = vec![[left, y - 4.0], [left + 34.0, y - 4.0]];
        svg.strokes(&format!("curve {}", style(place, curve)), &[stroke]);
        svg.text("legend", [left + 42.0, y], Anchor::Start, &shortened(&curve.label));
    }
}

/// What fits a column of the legend.
fn shortened(label: &str) -> String {
    const LONGEST: usize = 38;
    if label.chars().count() <= LONGEST {
        return label.to_owned();
    }
    label.chars().take(LONGEST - 1).chain(std::iter::once('…')).collect()
}

/// Colour and dash by place, dash by origin: after four solid curves come four with dashes, since eight colours
/// are more than everybody can tell apart.
fn style(place: usize, curve: &CurveLine) -> String {
    match curve.origin {
        Origin::Foreign => format!("c{} foreign", place % COLOURS),
        Origin::Own => format!("c{} d{}", place % COLOURS, place / SOLID % DASHES),
        Origin::Reference => "reference".to_owned(),
    }
}

const COLOURS: usize = 8;
/// Curves in a row with the same dash.
const SOLID: usize = 4;
const DASHES: usize = 3;

fn shade(svg: &mut Svg, chart: &LineChart, x: &Axis, [top, bottom]: [f64; 2]) {
    for (place, range) in chart.ranges.iter().enumerate() {
        let [from, to] = range.bounds.map(|bound| x.place(bound));
        svg.rect("chasm", [from, top], [(to - from).max(1.5), bottom - top]);
        let y = top + 16.0 + 16.0 * coordinate(place % 4);
        svg.text("label", [f64::midpoint(from, to), y], Anchor::Middle, &range.label);
    }
}

/// Grid, ticks, and the names of both axes.
fn scales(svg: &mut Svg, chart: &LineChart, [x, y]: [&Axis; 2], [top, bottom]: [f64; 2]) {
    for (tick, text) in x.ticks() {
        let at = x.place(tick);
        svg.line("grid", [at, top], [at, bottom]);
        svg.text("tick", [at, bottom + 18.0], Anchor::Middle, &text);
    }
    for (tick, text) in y.ticks() {
        let at = y.place(tick);
        svg.line("grid", [LEFT, at], [RIGHT, at]);
        svg.text("tick", [LEFT - 8.0, at + 4.5], Anchor::End, &text);
    }
    svg.line("zero", [LEFT, bottom], [RIGHT, bottom]);
    svg.line("zero", [LEFT, top], [LEFT, bottom]);
    let middle = f64::midpoint(LEFT, RIGHT);
    svg.text("axis", [middle, bottom + 42.0], Anchor::Middle, &chart.x.title);
    svg.upright_text("axis", [16.0, f64::midpoint(top, bottom)], &chart.y.title);
}

fn draw(svg: &mut Svg, curve: &CurveLine, style: &str, [x, y]: [&Axis; 2]) {
    let place = |at: [f64; 2]| [x.place(at[0]), y.place(at[1])];
    let points: Vec<[f64; 2]> = curve.points.iter().map(|point| place(point.at)).collect();
    let ends = |point: &CurvePlace| point.interval.map(|ends| ends.map(place).to_vec());
    let intervals: Vec<Vec<[f64; 2]>> = curve.points.iter().filter_map(ends).collect();
    if !intervals.is_empty() {
        svg.strokes(&format!("interval {style}"), &intervals);
    }
    if points.len() <= MOST_DOTS {
        svg.dots(&format!("dots {style}"), &points);
    }
    svg.strokes(&format!("curve {style}"), &[points]);
}
