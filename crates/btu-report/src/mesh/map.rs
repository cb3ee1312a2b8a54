//! Level 3: every pair, in colours and in figures.

use btu_core::mesh::suspect::Suspect;

use super::Mesh;
use crate::document::Block;
use crate::document::Column;
use crate::document::Heatmap;
use crate::document::HeatmapGroup;
use crate::document::Palette;
use crate::document::Table;
use crate::document::Tile;
use crate::number;

/// More columns have no room for their figures: their table is left.
const MOST_TILES: usize = 24;

pub(super) fn compose(mesh: &Mesh<'_>) -> Vec<Block> {
    let Some(level) = mesh.analysis.effects.as_ref().map(|effects| effects.level.exp()) else {
        return Vec::new();
    };
    let table = table(mesh);
    if mesh.journal.plan.hosts.len() > MOST_TILES {
        return vec![Block::details("Rates of every pair, Mb/s", vec![Block::Table(table)])];
    }
    let hosts = &mesh.journal.plan.hosts;
    vec![Block::Heatmap(Heatmap {
        name: "mesh-map",
        title: "Rate from each host to each other, Mb/s".to_owned(),
        description: "A matrix of hosts: who sends stands in the row, who receives in the column.".to_owned(),
        rows: hosts.clone(),
        columns: hosts.clone(),
        groups: vec![HeatmapGroup { title: "to".to_owned(), tiles: tiles(mesh, level) }],
        legend: STEPS.iter().map(|(_, legend)| (*legend).to_owned()).collect(),
        palette: Palette::Goodput,
        reading: "A row that is pale is a host that sends slowly, a pale column one that receives slowly, a single pale \
                  field the path of that pair. A field of a confirmed path is marked."
            .to_owned(),
        table,
    })]
}

fn tiles(mesh: &Mesh<'_>, level: f64) -> Vec<Vec<Tile>> {
    let (rates, hosts) = (&mesh.analysis.rates, mesh.journal.plan.hosts.len());
    let tile = |from: usize, to: usize| {
        let rate = rates.get(from, to);
        let path = Suspect::Path(from, to);
        let flagged = mesh
            .analysis
            .judged
            .iter()
            .any(|one| one.is_confirmed() && one.suspicion.suspect == path);
        Tile { step: rate.map(|rate| step(rate / level)), text: megabits(rate), flagged }
    };
    (0..hosts).map(|from| (0..hosts).map(|to| tile(from, to)).collect()).collect()
}

/// The number of the colour of a rate, as its share of what is usual.
fn step(share: f64) -> usize {
    STEPS.iter().rposition(|(least, _)| share >= *least).unwrap_or(0)
}

fn table(mesh: &Mesh<'_>) -> Table {
    let (hosts, rates) = (&mesh.journal.plan.hosts, &mesh.analysis.rates);
    let row = |from: usize| {
        let figures = (0..hosts.len()).map(|to| megabits(rates.get(from, to)));
        std::iter::once(hosts[from].clone()).chain(figures).collect()
    };
    Table {
        title: "Rates of every pair, Mb/s: from the host of the row to that of the column"
            .to_owned(),
        columns: std::iter::once(Column::left("from"))
            .chain(hosts.iter().map(Column::right))
            .collect(),
        rows: (0..hosts.len()).map(row).collect(),
        summary_rows: 0,
    }
}

fn megabits(bit_s: Option<f64>) -> String {
    number::figure_or_none(bit_s.map(|rate| rate / 1e6))
}

/// Each colour begins at such a share of what is usual.
const STEPS: [(f64, &str); 5] = [
    (0.0, "below 50 % of what is usual"),
    (0.5, "50 to 80 %"),
    (0.8, "80 to 90 %"),
    (0.9, "90 to 97 %"),
    (0.97, "97 % and more"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_begins_at_its_share() {
        assert_eq!([0.0, 0.49, 0.5, 0.85, 0.9, 0.97, 1.5].map(step), [0, 0, 1, 2, 3, 4, 4]);
    }
}
