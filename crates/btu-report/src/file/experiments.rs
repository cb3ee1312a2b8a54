//! An experiment: its tables as the paper prints them, then in full, with a chart where it says more.

use btu_core::file::analysis::Outcome;
use btu_core::file::point::Figure;
use btu_core::file::table::Fit;
use btu_core::file::table::Row;
use btu_core::file::table::Table as Found;
use btu_core::file::table::Unit;

use super::charts;
use crate::document::Block;
use crate::document::Column;
use crate::document::Level;
use crate::document::Part;
use crate::document::Table;
use crate::number;

pub(super) fn part(outcome: &Outcome) -> Part {
    Part {
        name: outcome.experiment.name(),
        title: outcome.experiment.title(),
        level: Level::Applications,
        blocks: blocks(outcome),
    }
}

fn blocks(outcome: &Outcome) -> Vec<Block> {
    let findings = &outcome.findings;
    let tables: Vec<&Found> = findings.tables.iter().filter(|one| !one.rows.is_empty()).collect();
    if tables.is_empty() {
        return Vec::new();
    }
    let about = format!("The question: {}.", outcome.experiment.about());
    let mut blocks = vec![Block::paragraph(about)];
    blocks.extend(tables.iter().map(|table| Block::Table(printed(table, as_printed))));
    blocks.extend(fits(&findings.fits).map(Block::Table));
    blocks.extend(charts::of(findings));
    if !findings.remarks.is_empty() {
        blocks.push(Block::List { items: findings.remarks.clone() });
    }
    let full = tables.iter().map(|table| Block::Table(printed(table, in_full))).collect();
    blocks.push(Block::details("The same figures in full, with 95 % intervals", full));
    blocks
}

/// A table with each figure in one form.
fn printed(found: &Found, form: fn(Figure, Unit) -> String) -> Table {
    let columns = found.columns.iter().map(|column| {
        let unit = column.unit.symbol();
        let unit = if unit.is_empty() { String::new() } else { format!(" ({unit})") };
        Column::right(format!("{}{unit}", column.title))
    });
    let cell = |(cell, unit): (&Option<Figure>, Unit)| {
        cell.map_or_else(|| number::NONE.to_owned(), |figure| form(figure, unit))
    };
    let row = |row: &Row| {
        let units = found.columns.iter().map(|column| column.unit);
        let cells = row.cells.iter().zip(units).map(cell);
        std::iter::once(row.label.clone()).chain(cells).collect()
    };
    Table {
        title: found.title.clone(),
        columns: std::iter::once(Column::left(found.head)).chain(columns).collect(),
        rows: found.rows.iter().map(row).collect(),
        summary_rows: 0,
    }
}

/// Two significant figures, as the paper has them; a ratio of them needs three.
fn as_printed(figure: Figure, unit: Unit) -> String {
    match unit {
        Unit::Count => number::fixed(figure.value, 0),
        Unit::Ratio => number::ratio(figure.value),
        _ => rounded(figure.value),
    }
}

/// Every digit that means something, with the interval.
fn in_full(figure: Figure, unit: Unit) -> String {
    let text = match unit {
        Unit::Count => number::fixed(figure.value, 0),
        _ => number::figure(figure.value),
    };
    match figure.interval {
        Some(bounds) => {
            format!("{text} {}", number::interval(Some([bounds.low, bounds.high]), number::figure))
        }
        None => text,
    }
}

/// 263 is 260, and 0.0123 is 0.012.
pub(super) fn rounded(value: f64) -> String {
    number::significant(value, 2)
}

/// The lines elapsed = t0 + size / `r_inf`.
fn fits(fits: &[Fit]) -> Option<Table> {
    let row = |fit: &Fit| {
        let mtu =
            fit.mtu_bytes.map_or_else(|| number::NONE.to_owned(), |mtu| mtu.count().to_string());
        vec![
            format!("{} {}", fit.protocol, fit.operation.name()),
            mtu,
            number::figure(fit.t0_s * 1e6),
            number::figure(fit.r_inf_kib_s),
            number::figure(fit.half_size_kib),
        ]
    };
    let columns = vec![
        Column::left("Calls"),
        Column::right("MTU"),
        Column::right("t0 (us)"),
        Column::right("r_inf (KB/s)"),
        Column::right("half size (KB)"),
    ];
    let title = "Fitted line: elapsed = t0 + size / r_inf".to_owned();
    let table = Table { title, columns, rows: fits.iter().map(row).collect(), summary_rows: 0 };
    (!fits.is_empty()).then_some(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CITI TR 92-2, table 3: 263 is printed as 260, 1111 as 1100.
    #[test]
    fn a_table_as_printed_has_two_significant_figures() {
        let shown = [263.16, 1111.1, 5.7, 86.4, 0.0123].map(rounded);
        assert_eq!(shown, ["260", "1100", "5.7", "86", "0.012"]);
    }
}
