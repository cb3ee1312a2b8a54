//! Segments, acknowledgements, windows, flight and round trips over time: a picture of all of it, and
//! the data that a script can zoom into.
//!
//! What is drawn and its words follow tcptrace. The picture has at most a few strokes per pixel.

mod legend;
mod pack;
mod signs;

use super::WIDTH;
use super::scale::Axis;
use super::svg::Anchor;
use super::svg::Svg;
use crate::document::ScaleKind;
use crate::document::SequenceChart;
use btu_core::tcp::SequenceData;

/// The chart as an SVG element with its data behind it.
pub(crate) fn sequence(chart: &SequenceChart, caption: &str) -> String {
    picture(chart, caption) + &pack::packed(&chart.data)
}

const LEFT: f64 = 92.0;
const RIGHT: f64 = WIDTH - 14.0;
/// The panel of the stream.
const STREAM: [f64; 2] = [70.0, 410.0];
/// What is below it: a panel, the line in the place of one that has nothing to show, the room above.
const PANEL: f64 = 90.0;
const LINE: f64 = 20.0;
const GAP: f64 = 32.0;

/// A point of a curve: time and lowest and highest value at its pixel.
type Column = [f64; 3];

/// What a panel below the stream shows, from zero on.
struct Curve {
    title: &'static str,
    class: &'static str,
    /// So many of what is counted make one of what is written at the axis.
    unit: f64,
    columns: Vec<Column>,
    /// What is said instead where there is nothing to draw.
    missing: String,
}

fn picture(chart: &SequenceChart, caption: &str) -> String {
    let data = &chart.data;
    let ends = [0.0, millis(data.end().max(1_000))];
    let x = Axis::showing(ScaleKind::LinearWithin, ends.into_iter(), [LEFT, RIGHT]);
    let curves = curves(chart, &x);
    let panels = panels(&curves);
    let lowest = panels[2][1];
    let mut svg = Svg::new(&chart.name, lowest + 76.0, &chart.title, &chart.description);
    svg.text("heading", [0.0, 26.0], Anchor::Start, &chart.title);
    legend::draw(&mut svg, data);
    shade(&mut svg, data, &x, lowest);
    stream(&mut svg, data, &x);
    for (curve, panel) in curves.iter().zip(panels) {
        below(&mut svg, curve, panel, &x);
    }
    let drawn = curves.iter().zip(panels).filter(|(curve, _)| !curve.columns.is_empty());
    let drawn: Vec<[f64; 2]> = [STREAM].into_iter().chain(drawn.map(|(_, panel)| panel)).collect();
    for (tick, text) in x.ticks() {
        let at = x.place(tick);
        for [top, bottom] in &drawn {
            svg.line("grid", [at, *top], [at, *bottom]);
        }
        svg.text("tick", [at, lowest + 18.0], Anchor::Middle, &text);
    }
    let middle = f64::midpoint(LEFT, RIGHT);
    svg.text("axis", [middle, lowest + 40.0], Anchor::Middle, "ms since the first segment");
    svg.text("caption", [0.0, lowest + 68.0], Anchor::Start, caption);
    svg.finish()
}

/// Bytes in flight, congestion window, round trips.
fn curves(chart: &SequenceChart, x: &Axis) -> [Curve; 3] {
    let data = &chart.data;
    let curve = |title, class, unit, columns, name: &str, why: &str| {
        let missing = format!("{name}: {why}");
        Curve { title, class, unit, columns, missing }
    };
    let flight = columns(data.segments.iter().map(|one| [one.at, one.flight, one.flight]), x);
    let windows = columns(data.windows.iter().map(|one| [one.0, one.1, one.1]), x);
    let trips = columns(data.trips.iter().map(|one| [one.0, one.1, one.1]), x);
    let (congestion, title) = ("congestion window", "kB of congestion window");
    [
        curve("kB in flight", "curve c0", 1e3, flight, "bytes in flight", NO_SEGMENTS),
        curve(title, "curve c2", 1e3, windows, congestion, &chart.congestion),
        curve("round trip, ms", "curve c3", 1e6, trips, "round trip", NO_TRIPS),
    ]
}

const NO_SEGMENTS: &str = "not available: no segment carries data";
const NO_TRIPS: &str = "not available: no acknowledgement here tells one";

/// Top and bottom of each.
fn panels(curves: &[Curve; 3]) -> [[f64; 2]; 3] {
    let mut above = STREAM[1];
    curves.each_ref().map(|curve| {
        let top = above + GAP;
        above = top + if curve.columns.is_empty() { LINE } else { PANEL };
        [top, above]
    })
}

/// Pauses with their names, shut windows above them.
fn shade(svg: &mut Svg, data: &SequenceData, x: &Axis, bottom: f64) {
    let [top, _] = STREAM;
    for (number, (from, to, _, words)) in data.pauses.iter().enumerate() {
        let [from, to] = [*from, *to].map(|at| x.place(millis(at)));
        svg.rect("chasm", [from, top], [(to - from).max(1.5), bottom - top]);
        if number < MOST_NAMES && to - from > 24.0 {
            let row = [32.0, 48.0, 64.0, 80.0][number % 4];
            let text = format!("{} {words}", number + 1);
            svg.text("sublabel", [from + 4.0, top + row], Anchor::Start, &text);
        }
    }
    for (from, to) in data.shut.iter().take(MOST_MARKS) {
        let [from, to] = [*from, *to].map(|at| x.place(millis(at)));
        svg.rect("shut", [from, top], [(to - from).max(1.5), 4.0]);
    }
}

const MOST_NAMES: usize = 24;
const MOST_MARKS: usize = 2_000;

/// The panel of tcptrace: bytes over time.
fn stream(svg: &mut Svg, data: &SequenceData, x: &Axis) {
    let segments = columns(data.segments.iter().map(|one| [one.at, one.from, one.to]), x);
    let acks = columns(data.answers.iter().map(|one| [one.0, one.1, one.1]), x);
    let edges = data.answers.iter().filter_map(|one| Some([one.0, one.2?, one.2?]));
    let edges = columns(edges, x);
    let values = segments.iter().chain(&acks).chain(&edges);
    let values = values.flat_map(|[_, low, high]| [low / 1e3, high / 1e3]);
    let [top, bottom] = STREAM;
    let y = Axis::showing(ScaleKind::LinearWithin, values, [bottom, top]);
    frame(svg, &y, STREAM, "kB of the stream");
    let place = |at: f64, value: f64| [x.place(at), y.place(value / 1e3)];
    let line = |columns: &[Column]| {
        let both = columns.iter().flat_map(|[at, low, high]| [place(*at, *low), place(*at, *high)]);
        both.collect::<Vec<_>>()
    };
    svg.strokes("curve c4", &[line(&edges)]);
    let ticks = segments.iter().map(|[at, low, high]| {
        let [x, y] = place(*at, *low);
        vec![[x, y], [x, place(*at, *high)[1].min(y - 1.0)]]
    });
    svg.strokes("curve c0", &ticks.collect::<Vec<_>>());
    svg.strokes("curve c2", &[line(&acks)]);
    let sacks = columns(data.sacks.iter().copied().map(|(at, from, to)| [at, from, to]), x);
    let sacks = sacks.iter().map(|[at, low, high]| vec![place(*at, *low), place(*at, *high)]);
    svg.strokes("curve c3", &sacks.collect::<Vec<_>>());
    signs::marks(svg, data, x, &place);
    signs::letters(svg, data, x, &place);
}

/// A panel with one curve, or why there is none.
fn below(svg: &mut Svg, curve: &Curve, [top, bottom]: [f64; 2], x: &Axis) {
    let Curve { title, class, unit, columns, missing } = curve;
    if columns.is_empty() {
        return svg.text("sublabel missing", [LEFT + 6.0, top + 14.0], Anchor::Start, missing);
    }
    let values = columns.iter().map(|[_, _, high]| high / unit);
    let y = Axis::showing(ScaleKind::Linear, values, [bottom, top]);
    frame(svg, &y, [top, bottom], title);
    let points = columns
        .iter()
        .flat_map(|[at, low, high]| [low, high].map(|value| [x.place(*at), y.place(value / unit)]));
    svg.strokes(class, &[points.collect::<Vec<_>>()]);
}

fn frame(svg: &mut Svg, y: &Axis, [top, bottom]: [f64; 2], title: &str) {
    let most = if bottom - top > 200.0 { 20 } else { 4 };
    let ticks = y.ticks();
    let step = ticks.len().div_ceil(most).max(1);
    for (tick, text) in ticks.into_iter().step_by(step) {
        let at = y.place(tick);
        svg.line("grid", [LEFT, at], [RIGHT, at]);
        svg.text("tick", [LEFT - 8.0, at + 4.5], Anchor::End, &text);
    }
    svg.text("sublabel", [LEFT + 6.0, top + 14.0], Anchor::Start, title);
}

/// One column per half pixel, with the lowest and the highest value in it.
fn columns(points: impl Iterator<Item = [i64; 3]>, x: &Axis) -> Vec<Column> {
    let mut found: Vec<Column> = Vec::new();
    let mut before = f64::NEG_INFINITY;
    for [at, low, high] in points {
        let (at, low, high) = (millis(at), float(low), float(high));
        let place = (x.place(at) * 2.0).floor();
        match found.last_mut() {
            Some(last) if place <= before => {
                (last[1], last[2]) = (last[1].min(low), last[2].max(high));
            }
            _ => {
                found.push([at, low, high]);
                before = place;
            }
        }
    }
    found
}

fn millis(nanos: i64) -> f64 {
    float(nanos) / 1e6
}

#[expect(clippy::cast_precision_loss, reason = "places of a picture; 53 bits are enough")]
fn float(value: i64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use btu_core::tcp::Mark;

    use super::*;
    use crate::document::Table;
    use btu_core::tcp::SegmentPoint;

    fn chart(windows: Vec<(i64, i64)>, why: &str) -> SequenceChart {
        let text = String::new;
        let table = Table { title: text(), columns: vec![], rows: vec![], summary_rows: 0 };
        let segments = [(0, 0), (30_000_000, 1000)].map(|(at, from)| SegmentPoint {
            at,
            from,
            to: from + 1000,
            mark: Mark::New,
            is_pushed: false,
            flight: 1000,
        });
        let segments = segments.to_vec();
        let data = SequenceData { segments, windows, ..SequenceData::default() };
        let [name, title, description, reading] = [text(), text(), text(), text()];
        SequenceChart { name, title, description, reading, table, congestion: why.to_owned(), data }
    }

    #[test]
    fn the_congestion_window_has_its_panel_or_a_reason_and_no_axis() {
        let drawn = sequence(&chart(vec![(10_000_000, 14_480), (20_000_000, 28_960)], ""), "");
        assert!(drawn.contains("kB of congestion window"), "{drawn}");
        let absent = sequence(&chart(Vec::new(), "not <available>"), "");
        assert!(absent.contains(">congestion window: not &lt;available&gt;</text>"), "{absent}");
        assert!(!absent.contains("kB of congestion window"), "{absent}");
        let count = |svg: &str, word: &str| svg.matches(word).count();
        let strokes = |svg: &str| count(svg, "class=\"curve c2\" d=\"M");
        assert_eq!(strokes(&drawn), strokes(&absent) + 1);
        // Nothing in this chart has a round trip: what both pictures have is of the other panels.
        let ticks = |svg: &str| count(svg, "class=\"tick\"");
        assert_eq!(ticks(&drawn), ticks(&absent) + 4, "0, 10, 20, 30 kB");
        assert_eq!([&drawn, &absent].map(|svg| count(svg, "sublabel missing")), [1, 2]);
    }

    #[test]
    fn a_million_segments_make_a_picture_of_a_few_thousand_strokes() {
        let x = Axis::showing(ScaleKind::LinearWithin, [0.0, 1e6].into_iter(), [LEFT, RIGHT]);
        let points = (0..1_000_000_i64).map(|at| [at * 1_000_000, at * 1448, at * 1448 + 1448]);
        let columns = columns(points, &x);
        assert!(columns.len() < 2_000 && columns.len() > 1_000, "{}", columns.len());
        assert!((columns.last().unwrap()[2] - 1448e6).abs() < 1.0);
    }
}
