//! The history for people: what changed and when, a chart of each figure that did, then where every figure stands.

use btu_core::words::several;

use super::CourseResult;
use super::HistoryDocument;
use super::PointResult;
use super::TurnResult;
use crate::comparison::words;
use crate::document::Block;
use crate::document::Column;
use crate::document::CurveLine;
use crate::document::CurvePlace;
use crate::document::Document;
use crate::document::Level;
use crate::document::LineChart;
use crate::document::Origin;
use crate::document::Part;
use crate::document::Scale;
use crate::document::ScaleKind;
use crate::document::ShadedRange;
use crate::document::Table;
use crate::number;

/// The history before it has a form.
pub(super) fn composed(found: &HistoryDocument) -> Document {
    let part = |name, title, level, blocks| Part { name, title, level, blocks };
    let sections = vec![
        part("history", "History", Level::Headline, headline(found)),
        part("courses", "Figures that changed", Level::Applications, charts(found)),
        part("figures", "Every figure", Level::Cells, figures(found)),
        part("left-out", "Results that are left out", Level::Abnormal, left_out(found)),
    ];
    let document = Document {
        title: format!("History of {}", several(found.results.len(), "result")),
        caption: found.setting.clone(),
        sections: sections.into_iter().filter(|part| !part.blocks.is_empty()).collect(),
    };
    document.cleaned()
}

fn headline(found: &HistoryDocument) -> Vec<Block> {
    let ends = found.results.first().zip(found.results.last());
    let span = ends.map_or_else(String::new, |(first, last)| {
        format!(", {} to {}", first.started_at, last.started_at)
    });
    let results = several(found.results.len(), "result");
    let left_out = match found.left_out.len() {
        0 => String::new(),
        count => format!("; {} left out, named below", several(count, "result")),
    };
    let mut blocks =
        vec![Block::paragraph(format!("{results} of {}{span}{left_out}.", found.setting))];
    let told: Vec<String> = found.changes().map(|(figure, turn)| told(figure, turn)).collect();
    let none = "No figure changed for good.";
    blocks.push(words::listed(told).unwrap_or_else(|| Block::paragraph(none)));
    blocks.extend(words::conditions(&found.conditions, &[]));
    blocks.push(Block::paragraph(reading(found)));
    blocks
}

/// `btu, from n20 (2026-11-28T01:00:00Z) on: -3.0 % [-3.4, -2.6], worse; just then test.system.kernel: 6.18 -> 6.19`
fn told(figure: &CourseResult, turn: &TurnResult) -> String {
    let direction = if turn.worse { "worse" } else { "better" };
    let new = if turn.new { "NEW: " } else { "" };
    let facts: Vec<String> = turn.disclosure.iter().map(words::fact).collect();
    let facts = if facts.is_empty() {
        "; nothing that is disclosed changed just then".to_owned()
    } else {
        format!("; just then {}", facts.join("; "))
    };
    format!(
        "{new}{}, from {} ({}) on: {} % {}, {direction}{facts}",
        figure.figure,
        turn.name,
        turn.started_at,
        words::percent(turn.ratio),
        words::percents(turn.ratio_ci95)
    )
}

fn reading(found: &HistoryDocument) -> String {
    format!(
        "Change points by E-divisive with t tests, on logs: p below {}, change above {} %. The interval is Welch's over \
         the results of both regimes. NEW: the newest result shows it first.",
        found.p_limit, found.magnitude_percent
    )
}

fn charts(found: &HistoryDocument) -> Vec<Block> {
    let changed = found.figures.iter().filter(|one| !one.changes.is_empty());
    NAMES
        .into_iter()
        .zip(changed)
        .map(|(name, one)| Block::Lines(chart(name, found, one)))
        .collect()
}

fn chart(name: &'static str, found: &HistoryDocument, one: &CourseResult) -> LineChart {
    let place = |point: &PointResult| {
        let x = ordinal(point.result);
        CurvePlace { at: [x, point.value], interval: point.ci95.map(|ends| ends.map(|y| [x, y])) }
    };
    let scale = |title: &str| Scale { title: title.to_owned(), kind: ScaleKind::LinearWithin };
    let points = one.points.iter().map(place).collect();
    LineChart {
        name,
        title: format!("{}, {}", one.figure, one.unit),
        description: one.changes.iter().map(|turn| told(one, turn)).collect::<Vec<_>>().join(". "),
        x: scale("result, in the order of start"),
        y: scale(&format!("{}, {} is better", one.unit, one.better)),
        curves: vec![CurveLine { label: one.figure.clone(), origin: Origin::Own, points }],
        ranges: worse(one),
        reading: "Whiskers are the 95 % intervals of each result; shaded: a regime that is worse than the one before it."
            .to_owned(),
        table: values(found, one),
    }
}

/// The regimes that are worse than the one before each.
fn worse(one: &CourseResult) -> Vec<ShadedRange> {
    let last = one.points.last().map_or(0, |point| point.result);
    let end = |place: usize| one.changes.get(place + 1).map_or(last, |next| next.result);
    let range = |(place, turn): (usize, &TurnResult)| {
        let bounds = [turn.result, end(place)].map(ordinal);
        turn.worse
            .then(|| ShadedRange { bounds, label: format!("{} %", words::percent(turn.ratio)) })
    };
    one.changes.iter().enumerate().filter_map(range).collect()
}

fn values(found: &HistoryDocument, one: &CourseResult) -> Table {
    let row = |point: &PointResult| {
        let night = &found.results[point.result];
        let ci95 = number::interval(point.ci95, number::any_figure);
        vec![night.name.clone(), night.started_at.clone(), number::any_figure(point.value), ci95]
    };
    Table {
        title: String::new(),
        columns: vec![
            Column::left("result"),
            Column::left("start"),
            Column::right(one.unit),
            Column::right("95 % interval"),
        ],
        rows: one.points.iter().map(row).collect(),
        summary_rows: 0,
    }
}

fn figures(found: &HistoryDocument) -> Vec<Block> {
    let row = |one: &CourseResult| {
        let value = |point: Option<&PointResult>| {
            point.map_or_else(|| number::NONE.to_owned(), |one| number::any_figure(one.value))
        };
        vec![
            one.figure.clone(),
            one.unit.to_owned(),
            one.points.len().to_string(),
            value(one.points.first()),
            value(one.points.last()),
            one.changes.len().to_string(),
        ]
    };
    let columns = vec![
        Column::left("figure"),
        Column::left("unit"),
        Column::right("results"),
        Column::right("first"),
        Column::right("newest"),
        Column::right("changes"),
    ];
    let rows = found.figures.iter().map(row).collect();
    vec![Block::Table(Table { title: String::new(), columns, rows, summary_rows: 0 })]
}

fn left_out(found: &HistoryDocument) -> Vec<Block> {
    let told = found.left_out.iter().map(|one| format!("{}: {}", one.result, one.reason));
    words::listed(told.collect()).into_iter().collect()
}

/// The place of a result on the axis, from 1.
#[expect(clippy::cast_precision_loss, reason = "nobody has 2^53 results")]
fn ordinal(result: usize) -> f64 {
    (result + 1) as f64
}

/// The anchors of the charts. More of them nobody looks at: the table names every figure.
const NAMES: [&str; 8] = [
    "course-1", "course-2", "course-3", "course-4", "course-5", "course-6", "course-7", "course-8",
];
