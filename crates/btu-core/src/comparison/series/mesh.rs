//! A mesh by round: what each direction of each pair brought, and what is usual. A mesh has one round.

use super::Better;
use super::ByRound;
use super::Series;
use super::part;
use crate::mesh::analysis::Analysis;
use crate::mesh::plan::Plan;

impl ByRound {
    /// A mesh; a direction that was not measured has no figure.
    pub fn of_mesh(plan: &Plan, analysis: &Analysis) -> Self {
        let Analysis { rates, effects, .. } = analysis;
        let name = |number: usize| part(&plan.hosts[number]);
        let rate =
            |figure, bit_s: f64| Series::of(figure, "Mb/s", Better::Higher, vec![bit_s / 1e6]);
        let usual =
            effects.as_ref().and_then(|found| rate("mesh.usual".to_owned(), found.level.exp()));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::Condition;
    use crate::comparison::paired;
    use crate::disclosure::Disclosure;
    use crate::mesh::Journal;
    use crate::mesh::analysis::analyse;
    use crate::mesh::sample::Line;
    use crate::mesh::sample::PairSample;
    use crate::mesh::sample::Part;
    use crate::mesh::sample::Way;
    use crate::units::Bytes;
    use crate::units::Nanos;

    /// Three hosts, of which the last one sends at this rate, all others at 800 Mb/s.
    fn by_round(last_mbps: u64) -> ByRound {
        let plan = Plan::new(["a", "b.lab", "c"].map(str::to_owned).to_vec(), 1);
        let way = |from: usize| {
            let bytes = Bytes::new(if from == 2 { last_mbps } else { 800 } * 125_000);
            Some(Way { bytes, elapsed_ns: Nanos::from_secs(1), retransmitted: None })
        };
        let line = |pair: (usize, usize)| {
            Line::MeshPair(Box::new(PairSample {
                part: Part::Mesh,
                round: 0,
                pair,
                started_at: String::new(),
                there: way(pair.0),
                back: way(pair.1),
                failure: None,
            }))
        };
        let lines = plan.rounds().into_iter().flatten().map(line).collect();
        let journal = Journal { plan, hosts: Disclosure::default(), lines, events: Vec::new() };
        ByRound::of_mesh(&journal.plan, &analyse(&journal))
    }

    #[test]
    fn two_meshes_are_compared_pair_by_pair_and_one_round_decides_a_condition_alone() {
        let found = paired(&by_round(800), &by_round(400));
        assert!(found.unpaired.is_empty());
        let all = &found.comparison.changes;
        let told: Vec<_> = all.iter().map(|one| (&*one.figure, one.percent().round())).collect();
        assert_eq!(told[0].0, "mesh.usual");
        let slower: Vec<_> = told[1..].iter().filter(|one| one.1 < 0.0).collect();
        assert_eq!(slower, [&("pair.c/a.rate", -50.0), &("pair.c/b_lab.rate", -50.0)]);
        assert_eq!(all.len(), 7);
        assert!(all.iter().all(|one| one.different.is_none()));
        let condition: Condition = "pair.*/*.rate<-20%".parse().unwrap();
        let outcome = condition.judge(&found.comparison).unwrap();
        assert!(outcome.met && outcome.said[0].contains("no interval"), "{outcome:?}");
    }
}
