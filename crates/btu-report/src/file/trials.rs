//! Every trial over all its rounds, in full.

use btu_core::file::plan::Plan;
use btu_core::file::point::Figure;
use btu_core::file::point::Point;

use super::Seen;
use crate::document::Block;
use crate::document::Column;
use crate::document::Table;
use crate::number;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    let points = &seen.analysis.points;
    if points.is_empty() {
        return Vec::new();
    }
    let columns = [
        "rounds",
        "failed",
        "path MTU",
        "offload",
        "elapsed (s)",
        "KB/s",
        "95 % interval",
        "server CPU (% of one)",
        "host CPU (%)",
        "other programs (%)",
    ];
    let columns = columns.map(Column::right).into_iter();
    vec![Block::Table(Table {
        title: "Every trial".to_owned(),
        columns: std::iter::once(Column::left("Trial")).chain(columns).collect(),
        rows: points.iter().map(|point| row(&seen.journal.plan, point)).collect(),
        summary_rows: 0,
    })]
}

fn row(plan: &Plan, point: &Point) -> Vec<String> {
    let value = |figure: Option<Figure>| number::figure_or_none(figure.map(|one| one.value));
    let interval = point.total.and_then(|total| total.interval);
    let none = || number::NONE.to_owned();
    let mtu = point.path_mtu_bytes.map_or_else(none, |mtu| mtu.count().to_string());
    let offload = match point.offload {
        Some(true) => "on".to_owned(),
        Some(false) => "off".to_owned(),
        None => none(),
    };
    let percent = |figure: Option<Figure>| number::percent_or_none(figure.map(|one| one.value));
    vec![
        plan.label(&point.trial),
        point.rounds.to_string(),
        point.failed.to_string(),
        mtu,
        offload,
        value(point.elapsed_s),
        value(point.total),
        number::interval(interval.map(|one| [one.low, one.high]), number::figure),
        percent(point.server.cpu_percent_of_one),
        percent(point.server.host_cpu_percent),
        percent(point.server.foreign_cpu_percent),
    ]
}
