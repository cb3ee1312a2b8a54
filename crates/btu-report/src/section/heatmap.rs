//! Level 3 at a glance: goodput and slowdown of every cell as colours.

use btu_core::run::analysis::CellSummary;
use btu_core::run::cell::ActivityName;

use super::Run;
use super::Section;
use super::tables::GOODPUT;
use super::tables::Matrix;
use super::tables::SLOWDOWN;
use super::tables::activity_title;
use crate::document::Block;
use crate::document::Heatmap;
use crate::document::HeatmapGroup;
use crate::document::Level;
use crate::document::Palette;
use crate::document::Table;
use crate::document::Tile;
use crate::flags::Flags;
use crate::number;

/// The matrix as colours.
#[derive(Debug)]
pub(super) struct Heatmaps;

impl Section for Heatmaps {
    fn name(&self) -> &'static str {
        "heatmap"
    }

    fn title(&self) -> &'static str {
        "The matrix at a glance"
    }

    fn level(&self) -> Level {
        Level::Cells
    }

    fn compose(&self, run: &Run<'_>) -> Vec<Block> {
        let matrix = Matrix::of(run.analysis);
        let loaded: Vec<_> = matrix.activities.iter().copied().filter(|z| !z.is_none()).collect();
        let mut blocks = Vec::new();
        if !matrix.cells.is_empty() {
            blocks.push(Block::Heatmap(goodput_map(&matrix)));
        }
        if !loaded.is_empty() {
            blocks.push(Block::Heatmap(slowdown_map(&matrix, &loaded)));
        }
        blocks
    }
}

/// Number of colours of each palette.
pub(crate) const STEPS: usize = 7;

/// Upper ends of the steps of slowdown; the last step is open.
const SLOWDOWN_ENDS: [f64; STEPS - 1] = [1.05, 1.25, 1.5, 2.0, 3.0, 5.0];

fn goodput_map(matrix: &Matrix<'_>) -> Heatmap {
    let ends = goodput_ends(matrix.cells);
    let flags = Flags::of(matrix.cells);
    let tile = |cell: &CellSummary| Tile {
        step: Some(step(cell.goodput_mbps, &ends)),
        text: short(cell.goodput_mbps),
        flagged: flags.mark(cell),
    };
    Heatmap {
        name: "goodput-of-cells",
        title: "Goodput of every cell, Mb/s".to_owned(),
        description: "Goodput by case (rows) and application class (columns), for the idle host \
                      and beside each activity; the table below holds the same figures."
            .to_owned(),
        legend: legend(&ends, number::figure),
        palette: Palette::Goodput,
        reading: "The stronger the colour, the faster; colours are steps of equal ratio between \
                  the slowest and the fastest cell. Compare a field with the same field of the \
                  idle host. A corner mark means a flag that few cells have, see below."
            .to_owned(),
        table: wide_table(matrix, &matrix.activities, &GOODPUT),
        ..frame(matrix, &matrix.activities, &tile)
    }
}

fn slowdown_map(matrix: &Matrix<'_>, loaded: &[&ActivityName]) -> Heatmap {
    let flags = Flags::of(matrix.cells);
    let tile = |cell: &CellSummary| Tile {
        step: cell.slowdown.map(|slowdown| step(slowdown, &SLOWDOWN_ENDS)),
        text: number::ratio_or_none(cell.slowdown),
        flagged: flags.mark(cell),
    };
    Heatmap {
        name: "slowdown-of-activities",
        title: "Slowdown of the host's own work in every cell".to_owned(),
        description: "Rate of the activity alone over its rate beside the traffic, by case (rows) \
                      and application class (columns); the table below holds the same figures."
            .to_owned(),
        legend: legend(&SLOWDOWN_ENDS, number::ratio),
        palette: Palette::Slowdown,
        reading: "1 means that the traffic did not slow the work at all, 2 that the work took \
                  twice as long. A column that stands out is a message size that costs the host \
                  more than its siblings."
            .to_owned(),
        table: wide_table(matrix, loaded, &SLOWDOWN),
        ..frame(matrix, loaded, &tile)
    }
}

/// Rows, columns and tiles, without the words.
fn frame(
    matrix: &Matrix<'_>,
    activities: &[&ActivityName],
    tile: &dyn Fn(&CellSummary) -> Tile,
) -> Heatmap {
    let group = |activity: &&ActivityName| HeatmapGroup {
        title: activity_title(activity),
        tiles: tiles(matrix, activity, tile),
    };
    Heatmap {
        name: "",
        title: String::new(),
        description: String::new(),
        rows: matrix.cases.iter().map(|case| case.name().to_owned()).collect(),
        columns: matrix.applications.iter().map(|y| y.name.clone()).collect(),
        groups: activities.iter().map(group).collect(),
        legend: Vec::new(),
        palette: Palette::Goodput,
        reading: String::new(),
        table: Table::default(),
    }
}

fn tiles(
    matrix: &Matrix<'_>,
    activity: &ActivityName,
    tile: &dyn Fn(&CellSummary) -> Tile,
) -> Vec<Vec<Tile>> {
    let missing = || Tile { step: None, text: number::NONE.to_owned(), flagged: false };
    let row = |case| {
        let cells = matrix.applications.iter().map(|y| matrix.cell(case, y, activity));
        cells.map(|cell| cell.map_or_else(missing, tile)).collect()
    };
    matrix.cases.iter().copied().map(row).collect()
}

/// The tables of all activities below each other, without means.
fn wide_table(
    matrix: &Matrix<'_>,
    activities: &[&ActivityName],
    figure: &super::tables::CellFigure,
) -> Table {
    let mut whole = Table::default();
    for activity in activities {
        let part = matrix.table(activity, figure);
        let measured = part.rows.len() - part.summary_rows;
        whole.columns = part.columns;
        whole.rows.extend(part.rows.into_iter().take(measured).map(|mut row| {
            row[0] = format!("{}, {}", row[0], activity_title(activity));
            row
        }));
    }
    whole
}

/// Ends of steps of equal ratio between the slowest and the fastest cell.
fn goodput_ends(cells: &[CellSummary]) -> [f64; STEPS - 1] {
    let positive = cells.iter().map(|cell| cell.goodput_mbps).filter(|v| *v > 0.0);
    let (lo, hi) = positive.fold((f64::INFINITY, 0.0_f64), |(lo, hi), v| (lo.min(v), hi.max(v)));
    let (lo, hi) = if hi > 0.0 { (lo, hi) } else { (1.0, 1.0) };
    let ratio = (hi / lo).powf(1.0 / 7.0);
    [1, 2, 3, 4, 5, 6].map(|power| lo * ratio.powi(power))
}

fn step(value: f64, ends: &[f64]) -> usize {
    ends.iter().position(|end| value < *end).unwrap_or(ends.len())
}

/// What each step holds, in words.
fn legend(ends: &[f64; STEPS - 1], form: fn(f64) -> String) -> Vec<String> {
    let first = std::iter::once(format!("< {}", form(ends[0])));
    let inner = ends.windows(2).map(|pair| format!("{}-{}", form(pair[0]), form(pair[1])));
    let last = std::iter::once(format!(">= {}", form(ends[STEPS - 2])));
    first.chain(inner).chain(last).collect()
}

/// A figure that fits a tile.
fn short(mbps: f64) -> String {
    if mbps >= 9_999.5 {
        format!("{}k", number::fixed(mbps / 1e3, 1))
    } else {
        number::figure(mbps)
    }
}
