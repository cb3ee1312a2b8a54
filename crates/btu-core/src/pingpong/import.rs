//! Curves of other tools: read from their text, checked against themselves, with their provenance.
//!
//! To add a format, write `import/NAME.rs` with a `FORMAT` and name it in [`FORMATS`]. A file that
//! gives bytes, time and rate must agree with itself: the rate is checked and never imported.

mod imb;
mod netpipe3;
mod netpipe5;
mod osu;
mod perftest;
mod row;

use std::collections::BTreeSet;

use super::configuration::Mode;
use super::curve::Curve;
use super::curve::CurvePoint;
use super::statistic::Statistic;
use crate::units::Bytes;

use self::row::Rows;

pub use netpipe3::export as export_netpipe3;

/// Every format that can be read, the most particular first.
pub static FORMATS: &[&Format] =
    &[&imb::FORMAT, &osu::FORMAT, &perftest::FORMAT, &netpipe5::FORMAT, &netpipe3::FORMAT];

/// A text format of another tool.
#[derive(Debug)]
pub struct Format {
    /// The name for people.
    pub name: &'static str,
    /// What a file of it looks like, in one line.
    pub about: &'static str,
    /// The statistic that its times are.
    statistic: Statistic,
    /// True for a text that looks like it.
    fits: fn(&str) -> bool,
    /// Its title and points.
    read: fn(&Rows<'_>) -> Result<Reading, ImportError>,
}

/// A file of another tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The file's name, as given.
    pub file: String,
    /// The format.
    pub format: &'static str,
    /// The tool and its version, as the file has it; the format's name where it has none.
    pub tool: String,
    /// The statistic that its times are; `None` for a file of rates alone.
    pub statistic: Option<Statistic>,
    /// The points, by rising size.
    pub points: Vec<ImportedPoint>,
    /// What a reader should know.
    pub remarks: Vec<String>,
}

/// A point of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImportedPoint {
    /// The block.
    pub size: Bytes,
    /// What the file has of it.
    pub value: ImportedValue,
}

/// What a file has of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ImportedValue {
    /// T, one way, in microseconds.
    TimeUs(f64),
    /// Throughput alone, in Mb/s (10^6 bit), with many blocks under way: no T follows from it.
    RateMbps(f64),
}

/// Why a file is not imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// The text is of none of the formats.
    #[error("{file}: not in a known format; known are {known}")]
    Unknown {
        /// The file.
        file: String,
        /// The names of the formats.
        known: String,
    },
    /// The file says something else than times of blocks.
    #[error("{file}: {cause}")]
    Unfit {
        /// The file.
        file: String,
        /// What it holds instead.
        cause: String,
    },
    /// A line cannot be read.
    #[error("{file}:{line}: {cause}")]
    Line {
        /// The file.
        file: String,
        /// Its line, from 1.
        line: usize,
        /// What is wrong with it.
        cause: String,
    },
}

/// What a format reads.
#[derive(Debug, Default)]
struct Reading {
    tool: Option<String>,
    points: Vec<ImportedPoint>,
    remarks: Vec<String>,
}

/// Reads a file of any format.
pub fn import(file: &str, text: &str) -> Result<Imported, ImportError> {
    let format = FORMATS.iter().find(|format| (format.fits)(text)).ok_or_else(|| {
        let known: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        ImportError::Unknown { file: file.to_owned(), known: known.join(", ") }
    })?;
    let rows = Rows { file, text };
    let mut reading = (format.read)(&rows)?;
    if reading.points.is_empty() {
        return Err(rows.unfit("no point in it"));
    }
    if ends_in_a_number(text) {
        let cut = "the file ends without a newline: its last line may be cut";
        reading.remarks.push(cut.to_owned());
    }
    reading.points.sort_by_key(|point| point.size);
    let distinct: BTreeSet<Bytes> = reading.points.iter().map(|point| point.size).collect();
    if distinct.len() < reading.points.len() {
        return Err(rows.unfit("a size stands in it twice; give one run per file"));
    }
    let is_timed = |point: &ImportedPoint| matches!(point.value, ImportedValue::TimeUs(_));
    let is_timed = reading.points.iter().any(is_timed);
    Ok(Imported {
        statistic: is_timed.then_some(format.statistic),
        file: file.to_owned(),
        format: format.name,
        tool: reading.tool.unwrap_or_else(|| format.name.to_owned()),
        points: reading.points,
        remarks: reading.remarks,
    })
}

/// What the points of a file need of its text: the lines without which it would be read otherwise. Comments name hosts,
/// accounts and directories. Nothing where finding out would take too long.
pub fn essence(file: &str, text: &str) -> String {
    essence_within(MOST_LOOKED_AT, file, text)
}

fn essence_within(bytes: usize, file: &str, text: &str) -> String {
    let Ok(whole) = import(file, text) else { return String::new() };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let of = |stays: &[bool]| -> String {
        let kept = lines.iter().zip(stays).filter(|(_, stays)| **stays);
        kept.map(|(line, _)| *line).collect()
    };
    let mut looks = bytes / text.len().max(1);
    let mut reads_alike = |stays: &[bool]| {
        looks = looks.saturating_sub(1);
        looks > 0 && import(file, &of(stays)).as_ref() == Ok(&whole)
    };
    let others: Vec<usize> = (0..lines.len()).filter(|at| !has_numbers_alone(lines[*at])).collect();
    let mut stays = vec![true; lines.len()];
    thin(&mut stays, &others, &mut reads_alike);
    if looks > 0 { of(&stays) } else { String::new() }
}

/// Takes out what is not needed of `block`, by halves.
fn thin(stays: &mut [bool], block: &[usize], reads_alike: &mut dyn FnMut(&[bool]) -> bool) {
    set(stays, block, false);
    if block.is_empty() || reads_alike(stays) {
        return;
    }
    set(stays, block, true);
    if block.len() > 1 {
        let (first, second) = block.split_at(block.len() / 2);
        thin(stays, first, reads_alike);
        thin(stays, second, reads_alike);
    }
}

fn set(stays: &mut [bool], block: &[usize], wanted: bool) {
    for at in block {
        stays[*at] = wanted;
    }
}

/// Bytes that are read, all looks together: a second or two.
const MOST_LOOKED_AT: usize = 100 << 20;

fn has_numbers_alone(line: &str) -> bool {
    line.split_ascii_whitespace().all(|word| word.parse::<f64>().is_ok_and(f64::is_finite))
        && !line.trim().is_empty()
}

/// True for a text whose last line is one of numbers and has no end, as every tool writes it: digits may
/// be missing of the last one.
fn ends_in_a_number(text: &str) -> bool {
    let last = text.rsplit('\n').next().unwrap_or_default();
    last.trim_start().starts_with(|first: char| first.is_ascii_digit())
}

impl Imported {
    /// The points that have a time, as a curve; `None` for a file of rates alone.
    pub fn curve(&self) -> Option<Curve> {
        let point = |point: &ImportedPoint| match point.value {
            ImportedValue::RateMbps(_) => None,
            ImportedValue::TimeUs(time_us) => Some(CurvePoint {
                size: point.size,
                time_us,
                interval_us: None,
                rounds_us: Vec::new(),
            }),
        };
        let statistic = self.statistic?;
        let points: Vec<CurvePoint> = self.points.iter().filter_map(point).collect();
        let label = format!("{} ({})", self.file, self.tool);
        Some(Curve { label, mode: Mode::PingPong, statistic, points })
    }

    /// The throughput graph: (block size, Mb/s).
    pub fn throughput(&self) -> Vec<(Bytes, f64)> {
        let rate = |point: &ImportedPoint| match point.value {
            ImportedValue::RateMbps(rate) => rate,
            ImportedValue::TimeUs(time) => Mode::PingPong.rate_mbps(point.size, time),
        };
        self.points.iter().map(|point| (point.size, rate(point))).collect()
    }
}

#[cfg(test)]
mod tests;
