//! Level 3: every cell, one table per activity, with the means below (maly1996, eq. 5 and 9).

use btu_core::run::analysis::Analysis;
use btu_core::run::analysis::CellSummary;
use btu_core::run::analysis::REFERENCE_AMOUNT;
use btu_core::run::anomaly::FASTER_LOADED;
use btu_core::run::cell::ActivityName;
use btu_core::run::cell::Application;
use btu_core::run::cell::Case;
use btu_core::stats::arithmetic_mean;
use btu_core::stats::geometric_mean;
use btu_core::stats::harmonic_mean;

use super::Run;
use super::Section;
use crate::document::Block;
use crate::document::Column;
use crate::document::Level;
use crate::document::Table;
use crate::number;

/// Case by application, for each activity.
#[derive(Debug)]
pub(super) struct Tables;

impl Section for Tables {
    fn name(&self) -> &'static str {
        "cells"
    }

    fn title(&self) -> &'static str {
        "Every cell"
    }

    fn level(&self) -> Level {
        Level::Cells
    }

    fn compose(&self, run: &Run<'_>) -> Vec<Block> {
        if run.analysis.cells.is_empty() {
            return vec![Block::paragraph("No cell was measured.")];
        }
        let matrix = Matrix::of(run.analysis);
        let mut blocks = vec![Block::paragraph(explanation())];
        let loaded = matrix.activities.iter().filter(|activity| !activity.is_none());
        let goodputs = matrix.activities.iter().map(|z| Block::Table(matrix.table(z, &GOODPUT)));
        blocks.extend(goodputs);
        blocks.extend(loaded.map(|z| Block::Table(matrix.table(z, &SLOWDOWN))));
        blocks.extend(matrix.faster_than_idle().map(Block::paragraph));
        let times = matrix.activities.iter().map(|z| Block::Table(matrix.table(z, &TIME)));
        blocks.push(Block::details("Times of all cells", times.collect()));
        blocks.push(Block::details("All cells with their spread", vec![full(run.analysis)]));
        blocks
            .push(Block::details("What the traffic of all cells cost", vec![costs(run.analysis)]));
        blocks
    }
}

/// The three words of the matrix, each once, in the order of the cells.
pub(super) struct Matrix<'a> {
    pub(super) cells: &'a [CellSummary],
    pub(super) cases: Vec<Case>,
    pub(super) applications: Vec<&'a Application>,
    pub(super) activities: Vec<&'a ActivityName>,
}

/// A figure of a cell.
pub(super) struct CellFigure {
    /// Name with unit.
    title: &'static str,
    of: fn(&CellSummary) -> Option<f64>,
    form: fn(f64) -> String,
}

pub(super) const GOODPUT: CellFigure =
    CellFigure { title: "goodput, Mb/s", of: |cell| Some(cell.goodput_mbps), form: number::figure };

pub(super) const SLOWDOWN: CellFigure =
    CellFigure { title: "slowdown of the activity", of: |cell| cell.slowdown, form: number::ratio };

const TIME: CellFigure =
    CellFigure { title: "seconds for 32 Mb", of: |cell| Some(cell.seconds), form: number::figure };

impl<'a> Matrix<'a> {
    pub(super) fn of(analysis: &'a Analysis) -> Self {
        let mut matrix = Self {
            cells: &analysis.cells,
            cases: Vec::new(),
            applications: Vec::new(),
            activities: Vec::new(),
        };
        for summary in &analysis.cells {
            add_once(&mut matrix.cases, summary.cell.case);
            add_once(&mut matrix.applications, &summary.cell.application);
            add_once(&mut matrix.activities, &summary.cell.activity);
        }
        matrix.activities.sort_by_key(|activity| !activity.is_none());
        matrix
    }

    pub(super) fn cell(
        &self,
        case: Case,
        application: &Application,
        activity: &ActivityName,
    ) -> Option<&'a CellSummary> {
        self.cells.iter().find(|summary| {
            let cell = &summary.cell;
            cell.case == case && cell.application == *application && cell.activity == *activity
        })
    }

    /// Cases down, applications across, means below.
    pub(super) fn table(&self, activity: &ActivityName, figure: &CellFigure) -> Table {
        let columns: Vec<Vec<Option<f64>>> =
            self.applications.iter().map(|y| self.column(y, activity, figure)).collect();
        let mut rows: Vec<Vec<String>> = Vec::new();
        for (place, case) in self.cases.iter().enumerate() {
            let values = columns.iter().map(|column| text(column[place], figure));
            rows.push(std::iter::once(case.name().to_owned()).chain(values).collect());
        }
        rows.push(mean_row("AM", arithmetic_mean, &columns, figure));
        rows.push(mean_row("GM", geometric_mean, &columns, figure));
        rows.push(mean_row("HM", harmonic_mean, &columns, figure));
        Table {
            title: format!("{}: {}", activity_title(activity), figure.title),
            columns: self.headings(),
            rows,
            summary_rows: 3,
        }
    }

    /// How many loaded cells carry more than the same cells idle, and of how many that is no chance.
    fn faster_than_idle(&self) -> Option<String> {
        let idle = ActivityName::none();
        let loaded = self.cells.iter().filter(|summary| !summary.cell.activity.is_none());
        let is_faster = |summary: &&CellSummary| {
            let base = self.cell(summary.cell.case, &summary.cell.application, &idle);
            base.is_some_and(|base| summary.goodput_mbps > base.goodput_mbps)
        };
        let all = loaded.clone().count();
        let faster: Vec<&CellSummary> = loaded.filter(is_faster).collect();
        let flagged =
            |summary: &&&CellSummary| summary.flags.iter().any(|flag| flag.name == FASTER_LOADED);
        let sure = faster.iter().filter(flagged).count();
        (!faster.is_empty()).then(|| {
            let (count, verb) = (faster.len(), if faster.len() == 1 { "carries" } else { "carry" });
            format!(
                "{count} of the {all} loaded cells {verb} more than idle, {sure} of them beyond what \
                 the passes vary by: flag {FASTER_LOADED}, with what is seen of the reason."
            )
        })
    }

    fn column(
        &self,
        application: &Application,
        activity: &ActivityName,
        figure: &CellFigure,
    ) -> Vec<Option<f64>> {
        let value = |case: &Case| (figure.of)(self.cell(*case, application, activity)?);
        self.cases.iter().map(value).collect()
    }

    fn headings(&self) -> Vec<Column> {
        let applications = self.applications.iter();
        let names =
            applications.map(|y| Column::right(format!("{} {}", y.name, y.message_bytes.count())));
        std::iter::once(Column::left("case")).chain(names).collect()
    }
}

/// One mean of every column.
fn mean_row(
    name: &str,
    mean: fn(&[f64]) -> Option<f64>,
    columns: &[Vec<Option<f64>>],
    figure: &CellFigure,
) -> Vec<String> {
    let values = columns.iter().map(|column| text(mean(&present(column)), figure));
    std::iter::once(name.to_owned()).chain(values).collect()
}

/// `none` in words.
pub(super) fn activity_title(activity: &ActivityName) -> String {
    if activity.is_none() { "idle host".to_owned() } else { format!("beside {activity}") }
}

fn add_once<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

fn text(value: Option<f64>, figure: &CellFigure) -> String {
    value.map_or_else(|| number::NONE.to_owned(), figure.form)
}

fn present(column: &[Option<f64>]) -> Vec<f64> {
    column.iter().copied().flatten().collect()
}

fn explanation() -> String {
    let megabits = number::fixed(8.0 * 1e-6 * bytes_as_float(), 0);
    format!(
        "Rows are the cases of communication, columns the application classes with their message \
         size in bytes. Each figure is the geometric mean of the passes. AM, GM and HM are the \
         arithmetic, geometric and harmonic mean of the column; the score is built from GM. Times \
         are for {megabits} Mb."
    )
}

#[expect(clippy::cast_precision_loss, reason = "four million is exact")]
const fn bytes_as_float() -> f64 {
    REFERENCE_AMOUNT.count() as f64
}

/// One line per cell with everything a table cannot hold.
fn full(analysis: &Analysis) -> Block {
    let columns = vec![
        Column::left("cell"),
        Column::right("n"),
        Column::right("Mb/s"),
        Column::right("95 % interval"),
        Column::right("spread"),
        Column::right("slow"),
        Column::left("flags"),
    ];
    Block::Table(Table {
        title: "Goodput with interval, robust coefficient of variation in %, slowdown".to_owned(),
        columns,
        rows: analysis.cells.iter().map(full_row).collect(),
        summary_rows: 0,
    })
}

fn full_row(summary: &CellSummary) -> Vec<String> {
    let mut flags: Vec<&str> = summary.flags.iter().map(|flag| flag.name.as_str()).collect();
    flags.sort_unstable();
    flags.dedup();
    vec![
        summary.cell.id(),
        summary.n.to_string(),
        number::figure(summary.goodput_mbps),
        number::interval(summary.goodput_ci95, number::figure),
        number::percent(100.0 * summary.robust_cv),
        number::ratio_or_none(summary.slowdown),
        flags.join(", "),
    ]
}

/// What each cell's traffic cost: CPU on both sides, calls, retransmissions.
fn costs(analysis: &Analysis) -> Block {
    let row = |summary: &CellSummary| {
        vec![
            summary.cell.id(),
            number::figure_or_none(summary.cpu_s_per_gb),
            number::figure_or_none(summary.black_boxes_cpu_s_per_gb),
            number::figure_or_none(summary.writes_per_segment),
            summary.retransmissions.map_or_else(|| number::NONE.to_owned(), |n| n.to_string()),
        ]
    };
    Block::Table(Table {
        title:
            "CPU seconds per GB of the data threads, writes per segment (medians of the passes), \
                retransmitted segments (all passes)"
                .to_owned(),
        columns: vec![
            Column::left("cell"),
            Column::right("test host s/GB"),
            Column::right("black boxes s/GB"),
            Column::right("writes/seg"),
            Column::right("retrans"),
        ],
        rows: analysis.cells.iter().map(row).collect(),
        summary_rows: 0,
    })
}
