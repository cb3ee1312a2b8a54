//! T1: what the IP stack of a host sustains by itself, over its loopback (CITI TR 92-2, section 2.1).

use super::Experiment;
use super::MB;
use super::total;
use super::trial;
use crate::file::plan::Path;
use crate::file::plan::Plan;
use crate::file::point::Point;
use crate::file::sample::Direction;
use crate::file::sample::Operation;
use crate::file::table::Column;
use crate::file::table::Findings;
use crate::file::table::Table;
use crate::file::table::Unit;
use crate::file::table::size_text;
use crate::units::Bytes;

/// Files over the loopback of each host.
#[derive(Debug)]
pub(super) struct Baseline;

impl Experiment for Baseline {
    fn name(&self) -> &'static str {
        "baseline"
    }

    fn title(&self) -> &'static str {
        "Baseline"
    }

    fn about(&self) -> &'static str {
        "what each host sustains over its own loopback, get and put apart"
    }

    fn needs_own_servers(&self) -> Option<&'static str> {
        Some("it is about the loopback of each host")
    }

    fn trials(&self, plan: &Plan) -> Vec<crate::file::sample::Trial> {
        let sizes = plan.sizes_or(&SIZES);
        let of_row = |(protocol, operation, host): (String, Operation, Direction)| {
            let of_size = |size: &Bytes| trial(&protocol, operation, host, *size);
            sizes.iter().map(of_size).collect::<Vec<_>>()
        };
        rows(plan).into_iter().flat_map(of_row).collect()
    }

    fn findings(&self, plan: &Plan, points: &[Point]) -> Findings {
        let sizes = plan.sizes_or(&SIZES);
        let columns = sizes.iter().map(|size| Column::new(size_text(*size), Unit::KibPerSecond));
        let mut table = Table::new("Baseline measurements (T1)", "Test", columns.collect());
        for (protocol, operation, host) in rows(plan) {
            let cell = |size: &Bytes| total(points, &trial(&protocol, operation, host, *size));
            let label = format!("{} loopback {protocol} {}", letter(host), operation.name());
            table.row(label, sizes.iter().map(cell).collect());
        }
        Findings { tables: vec![table], ..Findings::default() }
    }
}

/// Each host by protocol by what a client does.
fn rows(plan: &Plan) -> Vec<(String, Operation, Direction)> {
    let hosts = match plan.path {
        Path::Direct => &[Direction::WithinA, Direction::WithinB][..],
        // Both hosts are this one.
        Path::Loopback | Path::Target => &[Direction::WithinA],
    };
    let mut rows = Vec::new();
    for host in hosts {
        for protocol in plan.protocols_or(&["ftp", "http", "tcp-rpc"]) {
            rows.push((protocol.clone(), Operation::Get, *host));
            rows.push((protocol, Operation::Put, *host));
        }
    }
    rows
}

const fn letter(host: Direction) -> &'static str {
    if matches!(host, Direction::WithinB) { "B" } else { "A" }
}

/// The file of the paper is called 1 MB in its text and about 1.3 MB in its footnote 4.
const SIZES: [Bytes; 2] = [MB, Bytes::new(1331 * 1024)];
