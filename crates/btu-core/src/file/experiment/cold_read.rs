//! T4: what a service delivers from its disk, and what that costs the server (CITI TR 92-2, section 2.4).

use super::Experiment;
use super::MB;
use super::limit;
use super::point;
use super::trial;
use crate::file::plan::Plan;
use crate::file::point::ClientFigures;
use crate::file::point::Figure;
use crate::file::point::Point;
use crate::file::point::ServerFigures;
use crate::file::sample::Direction;
use crate::file::sample::Held;
use crate::file::sample::Operation;
use crate::file::sample::Trial;
use crate::file::table::Column;
use crate::file::table::Findings;
use crate::file::table::Ratio;
use crate::file::table::Table;
use crate::file::table::Unit;
use crate::file::table::size_text;
use crate::units::Bytes;
use crate::words::several;

/// The same file for all clients, cold before each request.
#[derive(Debug)]
pub(super) struct ColdRead;

impl Experiment for ColdRead {
    fn name(&self) -> &'static str {
        "cold-read"
    }

    fn title(&self) -> &'static str {
        "Cold read"
    }

    fn about(&self) -> &'static str {
        "what one and two clients get of a file that is not in the cache, and what it costs the server"
    }

    fn needs_own_servers(&self) -> Option<&'static str> {
        Some("nobody here can empty the cache of another one, or see whether it is empty")
    }

    fn trials(&self, plan: &Plan) -> Vec<Trial> {
        setups(plan).iter().flat_map(Setup::trials).collect()
    }

    fn findings(&self, plan: &Plan, points: &[Point]) -> Findings {
        let setups = setups(plan);
        let ratios: Vec<Ratio> = setups.iter().flat_map(|one| one.ratios(points)).collect();
        let tables = setups.iter().map(|one| one.delivered(points));
        let tables = tables.chain([costs(&setups, points), compared(&ratios)]);
        let trials = self.trials(plan);
        let found = trials.iter().filter_map(|trial| point(points, trial));
        Findings {
            tables: tables.filter(|table| !table.rows.is_empty()).collect(),
            ratios,
            remarks: found.filter_map(|one| limit(plan, one)).collect(),
            ..Findings::default()
        }
    }
}

/// A protocol with all sizes and numbers of clients.
struct Setup {
    protocol: String,
    sizes: Vec<Bytes>,
    clients: Vec<u32>,
}

fn setups(plan: &Plan) -> Vec<Setup> {
    let setup = |protocol| Setup {
        protocol,
        sizes: plan.sizes_or(&[MB, Bytes::new(10 << 20)]),
        clients: plan.clients_or(&[1, 2]),
    };
    plan.protocols_or(&["ftp", "http"]).into_iter().map(setup).collect()
}

impl Setup {
    /// Clients on the test host, the server on the other one. A second file would be warm.
    fn trial(&self, clients: u32, size: Bytes) -> Trial {
        let one = trial(&self.protocol, Operation::Get, Direction::BToA, size);
        Trial { clients, count: 1, held: Held::Cold, ..one }
    }

    fn trials(&self) -> Vec<Trial> {
        let of = |clients: &u32| {
            let clients = *clients;
            self.sizes.iter().map(move |size| self.trial(clients, *size)).collect::<Vec<_>>()
        };
        self.clients.iter().flat_map(of).collect()
    }

    /// Elapsed and throughput of each client by size, with the total below.
    fn delivered(&self, points: &[Point]) -> Table {
        let title = format!("{} get of a file that was not in the cache (T4)", self.protocol);
        let columns = |size: &Bytes| {
            let size = size_text(*size);
            [("Elapsed", Unit::Seconds), ("Throughput", Unit::KibPerSecond)]
                .map(|(what, unit)| Column::new(format!("{size}: {what}"), unit))
        };
        let mut table = Table::new(title, "Client", self.sizes.iter().flat_map(columns).collect());
        for clients in &self.clients {
            self.rows(&mut table, *clients, points);
        }
        table
    }

    fn rows(&self, table: &mut Table, clients: u32, points: &[Point]) {
        let found = |size: &Bytes| point(points, &self.trial(clients, *size));
        for client in 1..=clients {
            let of = |size: &Bytes| {
                let own = found(size).and_then(|point| of_client(point, client));
                [own.map(|one| one.elapsed_s), own.map(|one| one.rate_kib_s)]
            };
            let cells = self.sizes.iter().flat_map(of).collect();
            table.row(format!("{client} of {clients}"), cells);
        }
        let total = |size: &Bytes| [None, found(size).and_then(|point| point.total)];
        table.row(format!("total of {clients}"), self.sizes.iter().flat_map(total).collect());
    }

    /// Every number of clients beside the first one.
    fn ratios(&self, points: &[Point]) -> Vec<Ratio> {
        let Some((least, more)) = self.clients.split_first() else { return Vec::new() };
        let mut ratios = Vec::new();
        for size in &self.sizes {
            let Some(one) = point(points, &self.trial(*least, *size)) else { continue };
            let others = more.iter().filter_map(|n| point(points, &self.trial(*n, *size)));
            // What came from the cache says nothing beside what came from the disk.
            let alike = others.filter(|other| other.held == one.held);
            ratios.extend(alike.map(|other| ratio(&self.protocol, one, other)));
        }
        ratios
    }
}

fn of_client(point: &Point, client: u32) -> Option<&ClientFigures> {
    point.clients.iter().find(|one| one.client == client)
}

fn ratio(protocol: &str, one: &Point, other: &Point) -> Ratio {
    let over = |of: fn(&Point) -> Option<Figure>| {
        let (one, other) = (of(one)?.value, of(other)?.value);
        (one > 0.0).then(|| other / one)
    };
    let size = size_text(one.trial.size_bytes);
    Ratio {
        label: format!("{protocol} {size}, {}:{} clients", other.trial.clients, one.trial.clients),
        rate: over(|point| point.total),
        server_cpu: over(|point| point.server.cpu_percent_of_one),
        host_cpu: over(|point| point.server.host_cpu_percent),
        calls: over(|point| point.server.calls_per_s),
    }
}

/// What each trial cost.
fn costs(setups: &[Setup], points: &[Point]) -> Table {
    let columns = COSTS.iter().map(|(title, unit, _)| Column::new(*title, *unit)).collect();
    let mut table = Table::new("What it cost the server", "Read", columns);
    let trials = setups.iter().flat_map(Setup::trials);
    for one in trials.filter_map(|trial| point(points, &trial)) {
        let clients = several(one.trial.clients, "client");
        let (protocol, size) = (&one.trial.protocol, size_text(one.trial.size_bytes));
        let label = format!("{protocol} {size}, {clients}, {}", one.held.name());
        table.row(label, COSTS.iter().map(|(.., of)| of(&one.server)).collect());
    }
    table
}

fn compared(ratios: &[Ratio]) -> Table {
    let names = ["throughput", "server CPU", "host CPU", "calls/s"];
    let columns = names.map(|name| Column::new(name, Unit::Ratio)).to_vec();
    let mut table = Table::new("More clients over fewer", "Ratio", columns);
    for one in ratios {
        let cells = [one.rate, one.server_cpu, one.host_cpu, one.calls];
        table.row(&one.label, cells.map(|cell| cell.map(Figure::exact)).to_vec());
    }
    table
}

/// A column of costs: its heading, its unit, where it is.
type Cost = (&'static str, Unit, fn(&ServerFigures) -> Option<Figure>);

const COSTS: &[Cost] = &[
    ("server CPU, of one", Unit::Percent, |server| server.cpu_percent_of_one),
    ("server CPU, of all", Unit::Percent, |server| server.cpu_percent_of_all),
    ("host CPU, of all", Unit::Percent, |server| server.host_cpu_percent),
    ("calls", Unit::PerSecond, |server| server.calls_per_s),
    ("calls", Unit::PerKib, |server| server.calls_per_kib),
    ("CPU per GB", Unit::CpuSecondsPerGib, |server| server.cpu_s_per_gib),
    ("from disk / delivered", Unit::Ratio, |server| server.disk_per_delivered),
];
