//! `np.out` of NetPIPE 3: bytes, Mb/s of 2^20 bit, seconds. Read and written.

use std::fmt::Write as _;

use super::Format;
use super::ImportError;
use super::Reading;
use super::row::Rows;
use super::row::is_numeric;
use crate::pingpong::configuration::size_f64;
use crate::pingpong::curve::Curve;
use crate::pingpong::statistic::Statistic;

pub(super) const FORMAT: Format = Format {
    name: "NetPIPE 3 np.out",
    about: "three columns: bytes, Mb/s (2^20 bit), seconds",
    fits,
    statistic: Statistic::Netpipe,
    read,
};

fn fits(text: &str) -> bool {
    let first =
        text.lines().map(str::split_whitespace).find(|cells| cells.clone().next().is_some());
    let cells: Vec<&str> = first.into_iter().flatten().collect();
    cells.len() == 3 && is_numeric(&cells)
}

fn read(rows: &Rows<'_>) -> Result<Reading, ImportError> {
    let mut reading = Reading::default();
    for row in rows.data() {
        let (rate, time) = (row.number(1, "rate")?, row.number(2, "time")?);
        reading.points.push(row.time(time.value * 1e6)?);
        row.agree(time, rate, &[MEBIBIT / 8.0])?;
    }
    Ok(reading)
}

/// The curve as NetPIPE 3 writes it, for tools that read that.
pub fn export(curve: &Curve) -> String {
    let mut text = String::new();
    for point in &curve.points {
        let seconds = point.time_us / 1e6;
        let rate = size_f64(point.size) * 8.0 / seconds / MEBIBIT;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:8} {rate:.6} {seconds:12.8}", point.size.count());
    }
    text
}

/// What NetPIPE 3 calls a megabit.
const MEBIBIT: f64 = 1_048_576.0;
