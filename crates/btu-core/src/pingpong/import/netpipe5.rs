//! `np.out` of NetPIPE 5: bytes; average, least and most Gb/s; average time in microseconds.

use super::Format;
use super::ImportError;
use super::Reading;
use super::row::Rows;
use super::row::is_numeric;
use crate::pingpong::statistic::Statistic;

pub(super) const FORMAT: Format = Format {
    name: "NetPIPE 5 np.out",
    about: "five columns: bytes, average, least and most Gb/s, microseconds",
    fits,
    statistic: Statistic::Mean,
    read,
};

fn fits(text: &str) -> bool {
    let first =
        text.lines().map(str::split_whitespace).find(|cells| cells.clone().next().is_some());
    let cells: Vec<&str> = first.into_iter().flatten().collect();
    let integrity = cells.contains(&"failures") && cells.contains(&"times");
    integrity || (cells.len() >= 5 && is_numeric(&cells[..5]))
}

fn read(rows: &Rows<'_>) -> Result<Reading, ImportError> {
    let mut reading = Reading::default();
    for row in rows.data() {
        if row.cells().contains(&"failures") {
            return Err(rows.unfit("an integrity run, which has no times"));
        }
        let (rate, time) = (row.number(1, "rate")?, row.number(4, "time")?);
        reading.points.push(row.time(time.value)?);
        row.agree(time.times(1e-6), rate, &[1e9 / 8.0])?;
    }
    let doubled = "a bidirectional run has bytes and rate doubled: the file does not tell";
    reading.remarks.push(doubled.to_owned());
    Ok(reading)
}
