//! The Intel MPI Benchmarks, test `PingPong`: the time is halved already.
//!
//! Older versions count megabytes of 2^20 and newer ones of 10^6 bytes under the same name, so the
//! rate is checked against both and T is all that is taken.

use super::Format;
use super::ImportError;
use super::Reading;
use super::row::Row;
use super::row::Rows;
use crate::pingpong::statistic::Statistic;

pub(super) const FORMAT: Format = Format {
    name: "Intel MPI Benchmarks",
    about: "the block # Benchmarking PingPong, with its columns named",
    fits: |text| text.lines().any(|line| line.trim_start().starts_with(BLOCK)),
    statistic: Statistic::Mean,
    read,
};

fn read(rows: &Rows<'_>) -> Result<Reading, ImportError> {
    let tool = rows.text.lines().find(|line| line.contains("MPI Benchmark"));
    let tool = tool.map(|line| line.trim_matches(['#', ' ', '\t']).to_owned());
    let mut reading = Reading { tool, ..Reading::default() };
    let mut block = rows.all().skip_while(|row| !is_ping_pong(row));
    let columns = block
        .find(|row| row.cells().first() == Some(&"#bytes"))
        .ok_or_else(|| rows.unfit("no block \"# Benchmarking PingPong\" with its columns"))?;
    let (time_at, rate_at) = (place(&columns, &TIMES)?, place(&columns, &["Mbytes/sec"])?);
    for row in block.take_while(|row| !row.cells().is_empty() && !row.cells()[0].starts_with('#')) {
        if row.size()?.is_empty() {
            reading.remarks.push("the empty message is left out".to_owned());
            continue;
        }
        let (time, rate) = (row.number(time_at, "time")?, row.number(rate_at, "rate")?);
        reading.points.push(row.time(time.value)?);
        row.agree(time.times(1e-6), rate, &[1e6, 1_048_576.0])?;
    }
    Ok(reading)
}

fn is_ping_pong(row: &Row<'_>) -> bool {
    row.cells().starts_with(&["#", "Benchmarking", "PingPong"])
}

/// The place of the first of `names` that the header has.
fn place(header: &Row<'_>, names: &[&str]) -> Result<usize, ImportError> {
    let at = |name: &&str| header.cells().iter().position(|cell| cell == name);
    let missing = || header.error(&format!("no column {}", names.join(" or ")));
    names.iter().find_map(at).ok_or_else(missing)
}

const BLOCK: &str = "# Benchmarking ";
/// Of several ranks, the mean over the ranks.
const TIMES: [&str; 2] = ["t[usec]", "t_avg[usec]"];
