//! What an experiment found, before it has a form: tables as those of the paper, fits, ratios, remarks.

use super::point::Figure;
use super::sample::Operation;
use crate::units::Bytes;

/// All that an experiment found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// Its tables, in reading order.
    pub tables: Vec<Table>,
    /// Lines through times over sizes.
    pub fits: Vec<Fit>,
    /// Both directions at once beside one alone.
    pub pairs: Vec<Pair>,
    /// More clients beside fewer.
    pub ratios: Vec<Ratio>,
    /// Rates over sizes.
    pub curves: Vec<Curve>,
    /// The number of the table whose first column is worth bars.
    pub drawn: Option<usize>,
    /// Sentences.
    pub remarks: Vec<String>,
}

/// Rates over sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Of which calls.
    pub label: String,
    /// The rate at each size.
    pub points: Vec<(Bytes, Figure)>,
}

/// Figures in rows and columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// What a row is.
    pub head: &'static str,
    /// The columns of figures.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Row>,
}

/// A column of figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its heading.
    pub title: String,
    /// Of all its figures.
    pub unit: Unit,
}

/// One row of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What it is about.
    pub label: String,
    /// A figure for each column; `None` where there is none.
    pub cells: Vec<Option<Figure>>,
}

/// What the figures of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A number of things.
    Count,
    /// CPU time for each 2^30 bytes.
    CpuSecondsPerGib,
    /// 1024 bytes in a second: the KB/s of the paper.
    KibPerSecond,
    /// For each 1024 bytes.
    PerKib,
    /// Each second.
    PerSecond,
    /// Hundredths.
    Percent,
    /// One figure over another.
    Ratio,
    /// Time.
    Seconds,
}

/// elapsed = t0 + size / `r_inf` (Hockney, Parallel Computing 17, 1991).
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The protocol.
    pub protocol: String,
    /// What a client did.
    pub operation: Operation,
    /// The MTU; `None` for the path's own.
    pub mtu_bytes: Option<Bytes>,
    /// The time of an empty block.
    pub t0_s: f64,
    /// The rate of endless blocks.
    pub r_inf_kib_s: f64,
    /// t0 x `r_inf`: the block that reaches half of it.
    pub half_size_kib: f64,
}

/// Both directions at once beside one alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// Of which transfers.
    pub label: String,
    /// Both together.
    pub sum_kib_s: f64,
    /// That over the mean of the two directions alone; `None` where other programs took CPUs from them.
    pub sum_over_unidirectional: Option<Figure>,
}

/// A number of clients beside the smallest one.
#[derive(Clone, Debug, PartialEq)]
pub struct Ratio {
    /// Of which reads.
    pub label: String,
    /// Of rates.
    pub rate: Option<f64>,
    /// Of CPU time of the server.
    pub server_cpu: Option<f64>,
    /// Of busy CPUs of the machine.
    pub host_cpu: Option<f64>,
    /// Of calls in a second.
    pub calls: Option<f64>,
}

impl Table {
    /// A table with these columns and no row yet.
    pub(super) fn new(title: impl Into<String>, head: &'static str, columns: Vec<Column>) -> Self {
        Self { title: title.into(), head, columns, rows: Vec::new() }
    }

    /// Adds a row, where any of its cells has a figure.
    pub(super) fn row(&mut self, label: impl Into<String>, cells: Vec<Option<Figure>>) {
        if cells.iter().any(Option::is_some) {
            self.rows.push(Row { label: label.into(), cells });
        }
    }
}

impl Column {
    /// A column of one unit.
    pub(super) fn new(title: impl Into<String>, unit: Unit) -> Self {
        Self { title: title.into(), unit }
    }
}

impl Unit {
    /// As it stands behind a figure.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Count | Self::Ratio => "",
            Self::CpuSecondsPerGib => "s/GB",
            Self::KibPerSecond => "KB/s",
            Self::PerKib => "/KB",
            Self::PerSecond => "/s",
            Self::Percent => "%",
            Self::Seconds => "s",
        }
    }
}

impl Figure {
    /// A figure that follows from others.
    pub(super) const fn exact(value: f64) -> Self {
        Self { value, interval: None }
    }
}

/// A size as the paper writes it, with a KB of 1024 bytes: `1.5 KB`, `11 MB`.
pub fn size_text(size: Bytes) -> String {
    let bytes = super::round::f64_of(size);
    let (value, unit) = match size.count() {
        0..1024 => (bytes, "B"),
        1024..1_048_576 => (bytes / 1024.0, "KB"),
        _ => (bytes / 1_048_576.0, "MB"),
    };
    let text = format!("{value:.1}");
    format!("{} {unit}", text.strip_suffix(".0").unwrap_or(&text))
}
