//! T3: how the size of a write matters to a remote procedure call (CITI TR 92-2, section 2.3).

use super::Experiment;
use super::at_mtu;
use super::point;
use super::total;
use super::trial;
use crate::file::plan::Plan;
use crate::file::point::Figure;
use crate::file::point::Point;
use crate::file::round::KIB;
use crate::file::round::f64_of;
use crate::file::sample::Direction;
use crate::file::sample::Operation;
use crate::file::sample::Trial;
use crate::file::table::Column;
use crate::file::table::Curve;
use crate::file::table::Findings;
use crate::file::table::Fit;
use crate::file::table::Table;
use crate::file::table::Unit;
use crate::file::table::size_text;
use crate::pingpong::curve::Line;
use crate::units::Bytes;

/// Blocks of rising size from one host to the other.
#[derive(Debug)]
pub(super) struct RpcSweep;

impl Experiment for RpcSweep {
    fn name(&self) -> &'static str {
        "rpc-sweep"
    }

    fn title(&self) -> &'static str {
        "RPC write sweep"
    }

    fn about(&self) -> &'static str {
        "time and rate of remote procedure calls over the size of their block, with a fitted line"
    }

    fn needs_own_servers(&self) -> Option<&'static str> {
        Some("those of others answer no calls of ours")
    }

    /// There are many trials.
    fn warm_rounds(&self) -> u32 {
        1
    }

    fn trials(&self, plan: &Plan) -> Vec<Trial> {
        series(plan).iter().flat_map(|one| one.sizes.iter().map(|size| one.trial(*size))).collect()
    }

    fn findings(&self, plan: &Plan, points: &[Point]) -> Findings {
        let series = series(plan);
        let curves =
            series.chunk_by(|a, b| (&a.protocol, a.operation) == (&b.protocol, b.operation));
        Findings {
            tables: curves
                .map(|curve| table(curve, points))
                .filter(|one| !one.rows.is_empty())
                .collect(),
            curves: series
                .iter()
                .map(|one| one.curve(points))
                .filter(|one| !one.points.is_empty())
                .collect(),
            fits: series.iter().filter_map(|one| one.fit(points)).collect(),
            remarks: series
                .iter()
                .filter_map(Series::steps)
                .chain(series.iter().filter_map(|one| one.without_line(points)))
                .collect(),
            ..Findings::default()
        }
    }
}

/// All sizes at one MTU.
struct Series {
    protocol: String,
    operation: Operation,
    mtu: Option<Bytes>,
    sizes: Vec<Bytes>,
}

/// "1000 Rx writes" may be 1000 calls, or one call with 1000 writes: both are measured.
fn series(plan: &Plan) -> Vec<Series> {
    let mut sizes = plan.sizes_or(&SIZES.map(Bytes::new));
    sizes.sort_unstable();
    let mut all = Vec::new();
    for protocol in plan.protocols_or(&PROTOCOLS) {
        for operation in readings(&protocol) {
            for mtu in plan.mtus_or(&MTUS) {
                let (protocol, sizes) = (protocol.clone(), sizes.clone());
                all.push(Series { protocol, operation: *operation, mtu, sizes });
            }
        }
    }
    all
}

/// Rx has a protocol for each of the two.
fn readings(protocol: &str) -> &'static [Operation] {
    match protocol {
        RX_CALLS => &[Operation::Call],
        RX_STREAM => &[Operation::Stream],
        _ => &[Operation::Call, Operation::Stream],
    }
}

impl Series {
    fn trial(&self, size: Bytes) -> Trial {
        let mtu_bytes = self.mtu;
        let one = trial(&self.protocol, self.operation, Direction::AToB, size);
        Trial { mtu_bytes, count: count(size), ..one }
    }

    /// Rx counts its own datagrams.
    fn is_of_rx(&self) -> bool {
        [RX_CALLS, RX_STREAM].contains(&self.protocol.as_str())
    }

    /// Elapsed, throughput, and packets where the MTU is known or a library counted them.
    fn cells(&self, size: Bytes, points: &[Point]) -> Vec<Option<Figure>> {
        let found = point(points, &self.trial(size));
        let packets = if self.is_of_rx() {
            Some(found.and_then(|one| one.datagrams_per_block))
        } else {
            self.mtu.map(|mtu| found.map(|_| Figure::exact(packets(size, mtu))))
        };
        let cells = [found.and_then(|one| one.elapsed_s), found.and_then(|one| one.total)];
        cells.into_iter().chain(packets).collect()
    }

    fn columns(&self) -> Vec<Column> {
        let at = self.mtu.map_or_else(String::new, |mtu| format!("{}: ", mtu.count()));
        let column = |title, unit| Column::new(format!("{at}{title}"), unit);
        let packets = match self.mtu {
            _ if self.is_of_rx() => Some(column("Datagrams", Unit::Ratio)),
            mtu => mtu.map(|_| column("Packets", Unit::Count)),
        };
        let columns = [column("Elapsed", Unit::Seconds), column("Throughput", Unit::KibPerSecond)];
        columns.into_iter().chain(packets).collect()
    }

    /// The rate over the size of the block.
    fn curve(&self, points: &[Point]) -> Curve {
        let place = |size: &Bytes| Some((*size, total(points, &self.trial(*size))?));
        Curve {
            label: format!("{} {}{}", self.protocol, self.operation.name(), at_mtu(self.mtu)),
            points: self.sizes.iter().filter_map(place).collect(),
        }
    }

    /// The line through the times of one block, where it is one that a block can have.
    fn fit(&self, points: &[Point]) -> Option<Fit> {
        let line = self.line(points).filter(|line| line.per_byte > 0.0 && line.fixed >= 0.0)?;
        Some(Fit {
            protocol: self.protocol.clone(),
            operation: self.operation,
            mtu_bytes: self.mtu,
            t0_s: line.fixed,
            r_inf_kib_s: line.per_byte.recip(),
            half_size_kib: line.fixed / line.per_byte,
        })
    }

    /// Why there is no line where there are times enough.
    fn without_line(&self, points: &[Point]) -> Option<String> {
        let line = self.line(points).filter(|_| self.fit(points).is_none())?;
        let what = if line.per_byte > 0.0 {
            "an empty block less than no time"
        } else {
            "larger blocks less time"
        };
        let (protocol, operation, at) = (&self.protocol, self.operation.name(), at_mtu(self.mtu));
        Some(format!(
            "{protocol} {operation}{at}: no fitted line: it would give {what}; the times scatter too much."
        ))
    }

    fn line(&self, points: &[Point]) -> Option<Line> {
        let place = |size: &Bytes| {
            let found = point(points, &self.trial(*size))?;
            let each = found.elapsed_s?.value / f64::from(found.trial.count);
            Some((f64_of(*size) / KIB, each))
        };
        let places: Vec<(f64, f64)> = self.sizes.iter().filter_map(place).collect();
        Line::through(&places).filter(|_| places.len() > 2)
    }

    /// Neighbouring sizes that take as many packets: their times differ by bytes alone.
    fn steps(&self) -> Option<String> {
        let is_of_tcp = self.operation == Operation::Call && !self.is_of_rx();
        let mtu = self.mtu.filter(|_| is_of_tcp)?;
        let alike = |pair: &&[Bytes]| same(packets(pair[0], mtu), packets(pair[1], mtu));
        let pairs = self.sizes.windows(2).filter(alike);
        let told: Vec<String> = pairs
            .map(|pair| format!("{} and {}", size_text(pair[0]), size_text(pair[1])))
            .collect();
        let at = at_mtu(self.mtu);
        let (protocol, told) =
            (&self.protocol, Some(told.join("; ")).filter(|told| !told.is_empty())?);
        Some(format!(
            "{protocol}{at}: as many packets each: {told}; from every other size to the next the count changes."
        ))
    }
}

fn table(curve: &[Series], points: &[Point]) -> Table {
    let first = &curve[0];
    let title = format!("{} {} (T3)", first.protocol, first.operation.name());
    let columns = curve.iter().flat_map(Series::columns).collect();
    let mut table = Table::new(title, "Buffer size", columns);
    for size in &first.sizes {
        let found = point(points, &first.trial(*size));
        let count = found.map_or_else(|| count(*size), |found| found.trial.count);
        let label = format!("{} x {count}", size_text(*size));
        table.row(label, curve.iter().flat_map(|one| one.cells(*size, points)).collect());
    }
    table
}

/// Blocks of one trial: the 1000 of the paper, or fewer large ones.
fn count(size: Bytes) -> u32 {
    let fitting = AMOUNT.count() / size.count().max(1);
    u32::try_from(fitting.clamp(16, 1000)).unwrap_or(16)
}

/// Packets of a block over TCP, each full but the last.
fn packets(size: Bytes, mtu: Bytes) -> f64 {
    let payload = mtu.saturating_sub(HEADERS).count().max(1);
    f64_of(Bytes::new(size.count().div_ceil(payload)))
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() < 0.5
}

const RX_CALLS: &str = "rx-rpc";
const RX_STREAM: &str = "rx-stream";
/// The paper's own, and its twin without Rx.
const PROTOCOLS: [&str; 3] = ["tcp-rpc", RX_CALLS, RX_STREAM];
/// In a trial.
const AMOUNT: Bytes = Bytes::new(32 << 20);
/// IPv4 without options, TCP with time stamps (RFC 7323).
const HEADERS: Bytes = Bytes::new(20 + 32);
/// 1.5 to 96 K of the paper, and two at which its test hung.
const SIZES: [u64; 10] =
    [1536, 3 << 10, 4 << 10, 6 << 10, 12 << 10, 24 << 10, 48 << 10, 96 << 10, 192 << 10, 1 << 20];
/// Of the device's driver, and its largest.
const MTUS: [Bytes; 2] = [Bytes::new(4144), Bytes::new(32_767)];
