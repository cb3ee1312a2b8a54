//! perftest (`ib_send_lat`, `ib_write_lat`, `raw_ethernet_lat`): the typical time, half a round trip.

use super::Format;
use super::ImportError;
use super::Reading;
use super::row::Rows;
use crate::pingpong::statistic::Statistic;

pub(super) const FORMAT: Format = Format {
    name: "perftest latency",
    about: "a latency test of perftest, with the column t_typical[usec]",
    fits: |text| text.lines().any(|line| line.contains(COLUMN) && line.contains("#bytes")),
    statistic: Statistic::Median,
    read,
};

fn read(rows: &Rows<'_>) -> Result<Reading, ImportError> {
    let titles = rows.text.lines().map(str::trim);
    let title = titles.clone().find(|line| line.ends_with("Latency Test")).unwrap_or("perftest");
    if ["Read", "Atomic"].iter().any(|kind| title.contains(kind)) {
        return Err(rows.unfit(&format!("\"{title}\" gives whole round trips")));
    }
    let mut reading = Reading { tool: Some(title.to_owned()), ..Reading::default() };
    let mut after_header = rows.all().skip_while(|row| !row.cells().contains(&COLUMN));
    let header = after_header.next();
    let at = header.and_then(|header| header.cells().iter().position(|cell| *cell == COLUMN));
    let at = at.ok_or_else(|| rows.unfit("no column t_typical[usec]"))?;
    let is_point = |cells: &[&str]| cells.first().is_some_and(|cell| !cell.starts_with('-'));
    for row in after_header.take_while(|row| is_point(row.cells())) {
        reading.points.push(row.time(row.number(at, "time")?.value)?);
    }
    let note = "half of the round trip, which is one way only where both ways are alike";
    reading.remarks.push(note.to_owned());
    Ok(reading)
}

const COLUMN: &str = "t_typical[usec]";
