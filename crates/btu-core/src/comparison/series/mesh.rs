//! A mesh by round: what each direction of each pair brought, and what is usual. A mesh has one round.

use super::Better;
use super::ByRound;
use super::Series;
use super::part;
use crate::mesh::Journal;
use crate::mesh::analysis;
use crate::mesh::analysis::Analysis;

impl ByRound {
    /// A mesh; a direction that was not measured has no figure.
    pub fn of_mesh(journal: &Journal) -> Self {
        let Analysis { rates, effects, .. } = analysis::analyse(journal);
        let name = |number: usize| part(&journal.plan.hosts[number]);
        let rate =
            |figure, bit_s: f64| Series::of(figure, "Mb/s", Better::Higher, vec![bit_s / 1e6]);
        let usual = effects.and_then(|found| rate("mesh.usual".to_owned(), found.level.exp()));
        let pair = |(from, to, bit_s): (usize, usize, f64)| {
            rate(format!("pair.{}/{}.rate", name(from), name(to)), bit_s)
        };
        Self {
            series: usual.into_iter().chain(rates.figures().filter_map(pair)).collect(),
            rules: &["hosts", "time_ns", "flows"],
            legal: "mesh.usual, pair.FROM/TO.rate",
        }
    }
}
