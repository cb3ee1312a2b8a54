//! What is measured next: the mesh, what failed in it once more, then each suspicion.
//!
//! A pure function of plan and journal: a measurement that was cut off goes on where it was.

use std::collections::BTreeSet;

use super::analysis;
use super::analysis::Judged;
use super::confirm;
use super::plan::Plan;
use super::sample::Line;
use super::sample::PairSample;
use super::sample::Part;
use super::schedule::Pair;
use crate::run::schedule::shuffle;

/// Pairs that are measured at the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Why.
    pub part: Part,
    /// Number of the round of that part.
    pub round: usize,
    /// Disjoint ones.
    pub pairs: Vec<Pair>,
}

/// The next pairs; `None` where all is done.
pub fn next(plan: &Plan, lines: &[Line]) -> Option<Batch> {
    of_mesh(plan, lines).or_else(|| again(lines)).or_else(|| of_retests(plan, lines))
}

/// How many batches a mesh has before anything is suspected.
pub fn rounds(plan: &Plan) -> usize {
    plan.rounds().len()
}

fn of_mesh(plan: &Plan, lines: &[Line]) -> Option<Batch> {
    let missing: BTreeSet<usize> = analysis::missing(lines).into_keys().collect();
    let is_there = |(one, other): &Pair| !missing.contains(one) && !missing.contains(other);
    let done = done(lines, Part::Mesh);
    plan.rounds().into_iter().enumerate().find_map(|(round, pairs)| {
        let is_next = |pair: &Pair| is_there(pair) && !done.contains(&(round, *pair));
        let pairs: Vec<Pair> = pairs.into_iter().filter(is_next).collect();
        (!pairs.is_empty()).then_some(Batch { part: Part::Mesh, round, pairs })
    })
}

/// Pairs that failed in the mesh, as many at once as have no host in common.
fn again(lines: &[Line]) -> Option<Batch> {
    let tried = samples(lines, Part::Again).map(|one| one.pair).collect::<BTreeSet<_>>();
    let failed = samples(lines, Part::Mesh).filter(|one| one.failure.is_some());
    let (mut busy, mut pairs) = (BTreeSet::new(), Vec::new());
    for pair in failed.map(|one| one.pair).filter(|pair| !tried.contains(pair)) {
        if !busy.contains(&pair.0) && !busy.contains(&pair.1) {
            busy.extend([pair.0, pair.1]);
            pairs.push(pair);
        }
    }
    let round = samples(lines, Part::Again).map(|one| one.round + 1).max().unwrap_or(0);
    (!pairs.is_empty()).then_some(Batch { part: Part::Again, round, pairs })
}

/// Pairs of a retest one by one, in a new random order in every round.
fn of_retests(plan: &Plan, lines: &[Line]) -> Option<Batch> {
    let judged = analysis::judged(plan, lines);
    judged.iter().enumerate().find_map(|(number, one)| {
        let part = Part::Retest(number);
        let done = done(lines, part);
        (0..confirm::ROUNDS)
            .flat_map(|round| turns(plan, one, number, round))
            .find(|turn| !done.contains(turn))
            .map(|(round, pair)| Batch { part, round, pairs: vec![pair] })
    })
}

fn turns(plan: &Plan, one: &Judged, number: usize, round: usize) -> Vec<(usize, Pair)> {
    let Some(retest) = &one.retest else { return Vec::new() };
    let mut pairs = retest.pairs();
    let turn = (number * confirm::ROUNDS + round) as u64;
    shuffle(&mut pairs, &mut plan.chance("retest", turn));
    pairs.into_iter().map(|pair| (round, pair)).collect()
}

/// The rounds and pairs of a part that the journal holds, gathered once: 512 hosts have 131 thousand.
fn done(lines: &[Line], part: Part) -> BTreeSet<(usize, Pair)> {
    samples(lines, part).map(|one| (one.round, one.pair)).collect()
}

pub(super) fn samples(lines: &[Line], part: Part) -> impl Iterator<Item = &PairSample> {
    lines.iter().filter_map(move |line| match line {
        Line::MeshPair(sample) if sample.part == part => Some(&**sample),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::sample::Way;
    use crate::units::Bytes;
    use crate::units::Nanos;

    /// Measures a mesh to its end, with these rates in Mb/s; a pair without any fails.
    fn measured(plan: &Plan, rate: impl Fn(usize, usize, Part) -> Option<u64>) -> Vec<Line> {
        let mut lines = Vec::new();
        while let Some(batch) = next(plan, &lines) {
            assert!(lines.len() < 10_000, "it does not end");
            for pair in batch.pairs {
                let way = |from, to| {
                    let bytes = Bytes::new(rate(from, to, batch.part)? * 125_000);
                    Some(Way { bytes, elapsed_ns: Nanos::from_secs(1), retransmitted: None })
                };
                let (there, back) = (way(pair.0, pair.1), way(pair.1, pair.0));
                let failure = there.is_none().then(|| "refused".to_owned());
                let (part, round, started_at) = (batch.part, batch.round, String::new());
                lines.push(Line::MeshPair(Box::new(PairSample {
                    part,
                    round,
                    pair,
                    started_at,
                    there,
                    back,
                    failure,
                })));
            }
        }
        lines
    }

    fn plan(hosts: usize) -> Plan {
        Plan::new((0..hosts).map(|host| format!("h{host}")).collect(), 9)
    }

    #[test]
    fn an_even_mesh_is_measured_once_and_nobody_is_tried() {
        let lines = measured(&plan(6), |_, _, _| Some(100));
        assert_eq!(lines.len(), 15);
    }

    #[test]
    fn a_slow_sender_is_tried_until_it_is_known_and_a_mesh_that_was_cut_off_goes_on() {
        let plan = plan(8);
        let slow = |from, _, _| Some(if from == 3 { 60 } else { 100 });
        let lines = measured(&plan, slow);
        let tried = samples(&lines, Part::Retest(0)).count();
        assert_eq!(tried, 8 * confirm::ROUNDS);
        let cut = &lines[..lines.len() - 3];
        assert_eq!(next(&plan, cut).map(|batch| batch.part), Some(Part::Retest(0)));
        let found = analysis::judged(&plan, &lines);
        assert!(matches!(found[0].verdict, Some(confirm::Verdict::Confirmed(_))), "{found:?}");
    }

    #[test]
    fn what_failed_is_tried_once_more_and_then_left() {
        let lines = measured(&plan(4), |from, to, _| ((from, to) != (0, 1)).then_some(100));
        let failed = |part| samples(&lines, part).filter(|one| one.failure.is_some()).count();
        assert!(failed(Part::Mesh) <= 1);
        assert_eq!(failed(Part::Mesh), failed(Part::Again));
    }

    #[test]
    fn pairs_of_hosts_that_did_not_come_are_left_out() {
        let plan = plan(4);
        let gone = Line::MeshMissing { host: 2, reason: "refused".to_owned() };
        let (mut lines, mut pairs) = (vec![gone], 0);
        while let Some(Batch { part: Part::Mesh, round, pairs: some }) = next(&plan, &lines) {
            for pair in some {
                assert!(pair.0 != 2 && pair.1 != 2);
                pairs += 1;
                let failure = Some("x".to_owned());
                let (part, started_at) = (Part::Mesh, String::new());
                let sample =
                    PairSample { part, round, pair, started_at, there: None, back: None, failure };
                lines.push(Line::MeshPair(Box::new(sample)));
            }
        }
        assert_eq!(pairs, 3);
    }
}
