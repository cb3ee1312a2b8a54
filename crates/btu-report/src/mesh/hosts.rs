//! Level 3: what each host does to the rates that it is in.

use super::Mesh;
use super::words::change;
use crate::document::Block;
use crate::document::Column;
use crate::document::Table;
use crate::number;

pub(super) fn compose(mesh: &Mesh<'_>) -> Vec<Block> {
    let Some(effects) = &mesh.analysis.effects else { return Vec::new() };
    let (plan, rates) = (&mesh.journal.plan, &mesh.analysis.rates);
    let has_racks = !plan.racks.is_empty();
    let shown = |effect: Option<f64>| effect.map_or_else(|| number::NONE.to_owned(), change);
    let row = |host: usize| {
        let partners = rates.sent_by(host).len().max(rates.received_by(host).len());
        let mut row = vec![plan.hosts[host].clone()];
        row.extend(plan.racks.get(host).cloned());
        row.extend([partners.to_string(), shown(effects.tx[host]), shown(effects.rx[host])]);
        row
    };
    let mut columns = vec![Column::left("Host")];
    columns.extend(has_racks.then(|| Column::left("Rack")));
    columns.extend(["Partners", "Sends", "Receives"].map(Column::right));
    let table = Table {
        title: "What hosts do to a rate, beside what is usual".to_owned(),
        columns,
        rows: (0..plan.hosts.len()).map(row).collect(),
        summary_rows: 0,
    };
    vec![Block::Table(table)]
}
