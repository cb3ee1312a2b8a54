//! The OSU micro-benchmarks `osu_latency` and `osu_bw`: names of the columns in the last comment.

use super::Format;
use super::ImportError;
use super::ImportedPoint;
use super::ImportedValue;
use super::Reading;
use super::row::Row;
use super::row::Rows;
use crate::pingpong::statistic::Statistic;

pub(super) const FORMAT: Format = Format {
    name: "OSU micro-benchmark",
    about: "# OSU MPI Latency Test or Bandwidth Test, then size and value",
    fits: |text| text.lines().any(|line| line.starts_with(TITLE)),
    statistic: Statistic::Mean,
    read,
};

fn read(rows: &Rows<'_>) -> Result<Reading, ImportError> {
    let title = rows.text.lines().find_map(|line| line.strip_prefix(TITLE)).unwrap_or_default();
    let column = column(rows)?;
    let words: Vec<&str> = title.split_whitespace().collect();
    let two_sided = words.first().is_some_and(|mpi| mpi.starts_with("MPI") && !mpi.contains('_'));
    let point: fn(&Row<'_>) -> Result<ImportedPoint, ImportError> =
        match (words.get(1..3), column.as_str()) {
            (Some(["Latency", "Test"]), "Latency") if two_sided => latency,
            (Some(["Bandwidth", "Test"]), "Bandwidth") if two_sided => bandwidth,
            _ => return Err(rows.unfit(&format!("\"OSU {title}\" is no two-sided ping-pong"))),
        };
    let mut reading = Reading { tool: Some(format!("OSU {title}")), ..Reading::default() };
    for row in rows.data() {
        if row.size()?.is_empty() {
            reading.remarks.push("the empty message is left out".to_owned());
        } else {
            reading.points.push(point(&row)?);
        }
    }
    Ok(reading)
}

/// The first column after the size, without "Avg" and unit, from the last comment that names one.
fn column(rows: &Rows<'_>) -> Result<String, ImportError> {
    let names = rows.text.lines().filter_map(|line| line.strip_prefix('#')).map(str::trim_start);
    let header = names.filter_map(|line| line.strip_prefix("Size")).next_back();
    let mut words = header.unwrap_or_default().split_whitespace().filter(|word| *word != "Avg");
    let name = words.next().unwrap_or_default().split('(').next().unwrap_or_default();
    let none = || rows.unfit("no comment names the columns (# Size ...)");
    if header.is_none() { Err(none()) } else { Ok(name.to_owned()) }
}

/// One way already.
fn latency(row: &Row<'_>) -> Result<ImportedPoint, ImportError> {
    row.time(row.number(1, "latency")?.value)
}

/// 64 messages under way: a rate, and no time.
fn bandwidth(row: &Row<'_>) -> Result<ImportedPoint, ImportError> {
    let rate = row.number(1, "bandwidth")?.value * 8.0;
    Ok(ImportedPoint { size: row.size()?, value: ImportedValue::RateMbps(rate) })
}

const TITLE: &str = "# OSU ";
