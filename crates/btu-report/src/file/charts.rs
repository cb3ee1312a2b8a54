//! Pictures of an experiment: rates over block sizes, bars of clients.

use btu_core::file::point::Figure;
use btu_core::file::table::Curve;
use btu_core::file::table::Findings;
use btu_core::file::table::Row;
use btu_core::file::table::Table as Found;
use btu_core::file::table::size_text;
use btu_core::units::Bytes;

use crate::document::Bar;
use crate::document::BarChart;
use crate::document::Block;
use crate::document::Column;
use crate::document::CurveLine;
use crate::document::CurvePlace;
use crate::document::LineChart;
use crate::document::Origin;
use crate::document::Scale;
use crate::document::ScaleKind;
use crate::document::Table;
use crate::number;

/// The pictures of what was found.
pub(super) fn of(findings: &Findings) -> Vec<Block> {
    let bars = findings.drawn.and_then(|number| findings.tables.get(number)).map(bars);
    let curves = (!findings.curves.is_empty()).then(|| curves(&findings.curves));
    bars.map(Block::Bars).into_iter().chain(curves.map(Block::Lines)).collect()
}

fn curves(curves: &[Curve]) -> LineChart {
    LineChart {
        name: "rate-over-size",
        title: "Throughput over block size".to_owned(),
        description: "The rate of calls over the size of their block, for each way to call and MTU.".to_owned(),
        x: Scale { title: "block in bytes".to_owned(), kind: ScaleKind::LogBytes },
        y: Scale { title: "KB/s (1024 bytes)".to_owned(), kind: ScaleKind::Log },
        curves: curves.iter().map(curve).collect(),
        ranges: Vec::new(),
        reading: "Where calls wait for their answer, small blocks pay the round trip again and again: the curve rises \
                  to r_inf, and half of it is reached at the half size. Strokes are 95 % intervals."
            .to_owned(),
        table: values(curves),
    }
}

fn curve(curve: &Curve) -> CurveLine {
    let place = |(size, figure): &(Bytes, Figure)| {
        let x = float(*size);
        let stroke = figure.interval.map(|bounds| [[x, bounds.low], [x, bounds.high]]);
        CurvePlace { at: [x, figure.value], interval: stroke }
    };
    let points = curve.points.iter().map(place).collect();
    CurveLine { label: curve.label.clone(), origin: Origin::Own, points }
}

fn values(curves: &[Curve]) -> Table {
    let row = |label: &str, (size, figure): &(Bytes, Figure)| {
        vec![label.to_owned(), size_text(*size), number::figure(figure.value)]
    };
    let rows = curves
        .iter()
        .flat_map(|curve| curve.points.iter().map(move |place| row(&curve.label, place)));
    Table {
        title: "Throughput over block size".to_owned(),
        columns: vec![Column::left("Calls"), Column::right("Block"), Column::right("KB/s")],
        rows: rows.collect(),
        summary_rows: 0,
    }
}

/// The first column of a table.
fn bars(found: &Found) -> BarChart {
    let column = found.columns.first();
    let unit = column.map_or("", |column| column.unit.symbol());
    let axis = column.map_or_else(String::new, |column| format!("{} ({unit})", column.title));
    let rows: Vec<(&Row, Figure)> =
        found.rows.iter().filter_map(|row| Some((row, (*row.cells.first()?)?))).collect();
    let told: Vec<String> = rows.iter().map(|(row, figure)| said(row, *figure, unit)).collect();
    BarChart {
        name: "bars-of-clients",
        title: found.title.clone(),
        description: told.join("; "),
        axis: axis.clone(),
        reach: 0.0,
        second_axis: None,
        bars: rows.iter().map(|(row, figure)| bar(row, *figure)).collect(),
        bar_legend: axis.clone(),
        mark_legend: None,
        reading: "Clients that are released together and fare alike have bars of one height: a tall one is a victim."
            .to_owned(),
        table: Table {
            title: found.title.clone(),
            columns: vec![Column::left(found.head), Column::right(axis)],
            rows: rows.iter().map(|(row, one)| vec![row.label.clone(), number::figure(one.value)]).collect(),
            summary_rows: 0,
        },
    }
}

fn said(row: &Row, figure: Figure, unit: &str) -> String {
    format!("{} {} {unit}", row.label, number::figure(figure.value))
}

fn bar(row: &Row, figure: Figure) -> Bar {
    Bar {
        label: row.label.clone(),
        sublabel: String::new(),
        value: Some(figure.value),
        interval: figure.interval.map(|bounds| [bounds.low, bounds.high]),
        mark: None,
        text: number::figure(figure.value),
    }
}

#[expect(clippy::cast_precision_loss, reason = "blocks are far smaller than 2^53 bytes")]
fn float(size: Bytes) -> f64 {
    size.count() as f64
}
