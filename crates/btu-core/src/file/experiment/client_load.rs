//! T5: what many clients see that ask for the same file at once (CITI TR 92-2, section 2.5).

use super::Experiment;
use super::MB;
use super::limit;
use super::of_target;
use super::point;
use super::trial;
use crate::file::plan::Plan;
use crate::file::point::Fairness;
use crate::file::point::Figure;
use crate::file::point::Point;
use crate::file::sample::Direction;
use crate::file::sample::Held;
use crate::file::sample::Operation;
use crate::file::sample::Trial;
use crate::file::table::Column;
use crate::file::table::Findings;
use crate::file::table::Table;
use crate::file::table::Unit;
use crate::file::table::size_text;

/// Clients that are released together.
#[derive(Debug)]
pub(super) struct ClientLoad;

impl Experiment for ClientLoad {
    fn name(&self) -> &'static str {
        "client-load"
    }

    fn title(&self) -> &'static str {
        "Client load"
    }

    fn about(&self) -> &'static str {
        "what fifteen clients at once see of one file, and how fairly they fare"
    }

    fn trials(&self, plan: &Plan) -> Vec<Trial> {
        let mut trials = Vec::new();
        for protocol in plan.protocols_or(&["ftp", "http"]) {
            for size in plan.sizes_or(&[MB]) {
                let one = trial(&protocol, Operation::Get, Direction::BToA, size);
                let one = of_target(plan, Trial { count: 1, held: Held::Warm, ..one });
                let clients = plan.clients_or(&[15]).into_iter();
                trials.extend(clients.map(|clients| Trial { clients, ..one.clone() }));
            }
        }
        trials
    }

    fn findings(&self, plan: &Plan, points: &[Point]) -> Findings {
        let trials = self.trials(plan);
        let found: Vec<&Point> = trials.iter().filter_map(|trial| point(points, trial)).collect();
        let tables = found.iter().map(|point| of_each(point)).chain([together(&found)]);
        let remarks = found.iter().flat_map(|point| [worst(point), limit(plan, point)]);
        Findings {
            tables: tables.filter(|table| !table.rows.is_empty()).collect(),
            drawn: (!found.is_empty()).then_some(0),
            remarks: remarks.flatten().collect(),
            ..Findings::default()
        }
    }
}

/// Elapsed of each client, with the average below.
fn of_each(point: &Point) -> Table {
    let columns =
        vec![Column::new("Elapsed", Unit::Seconds), Column::new("Throughput", Unit::KibPerSecond)];
    let mut table = Table::new(format!("{} (T5)", label(point)), "Client", columns);
    for one in &point.clients {
        table.row(one.client.to_string(), vec![Some(one.elapsed_s), Some(one.rate_kib_s)]);
    }
    table.row("average", vec![point.mean_elapsed_s().map(Figure::exact), None]);
    table
}

/// How alike they fared, a row for each number of clients.
fn together(found: &[&Point]) -> Table {
    let first = [Column::new("total", Unit::KibPerSecond)];
    let more = COLUMNS.iter().map(|(title, unit, _)| Column::new(*title, *unit));
    let mut table =
        Table::new("All clients together", "Clients", first.into_iter().chain(more).collect());
    for point in found {
        let of = |column: &Fair| point.fairness.as_ref().map(column.2);
        let cells = std::iter::once(point.total).chain(COLUMNS.iter().map(of));
        table.row(label(point), cells.collect());
    }
    table
}

fn worst(point: &Point) -> Option<String> {
    let fair = point.fairness.as_ref()?;
    let (client, times) = (fair.worst_client, fair.worst_over_median);
    Some(format!(
        "{}: client {client} was the slowest over all rounds, with {times:.2} times the median.",
        label(point)
    ))
}

fn label(point: &Point) -> String {
    let Trial { protocol, clients, size_bytes, .. } = &point.trial;
    format!("{protocol} get {}, {clients} at once", size_text(*size_bytes))
}

/// A column of how alike clients fared: its heading, its unit, where it is.
type Fair = (&'static str, Unit, fn(&Fairness) -> Figure);

const COLUMNS: &[Fair] = &[
    ("mean", Unit::Seconds, |fair| Figure::exact(fair.mean_s)),
    ("median", Unit::Seconds, |fair| Figure::exact(fair.median_s)),
    ("Jain", Unit::Ratio, |fair| fair.jain),
    ("slowest / median", Unit::Ratio, |fair| fair.slowest_over_median),
    ("least / most rate", Unit::Ratio, |fair| fair.least_over_most_rate),
    ("finish spread", Unit::Seconds, |fair| fair.finish_spread_s),
];
