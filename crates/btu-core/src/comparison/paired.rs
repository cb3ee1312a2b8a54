//! Two results of one verb, figure by figure: what both have is compared, what one has alone is named.

use std::collections::BTreeMap;

use super::Comparison;
use super::change::Change;
use super::change::correct_for_many;
use super::series::Better;
use super::series::ByRound;
use super::series::Series;

/// Two results, figure by figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Paired {
    /// What both have, all of it one family.
    pub comparison: Comparison,
    /// The unit of each of these figures, and which change of it is a good one, in the same order.
    pub kinds: Vec<(&'static str, Better)>,
    /// What is not compared.
    pub unpaired: Vec<Unpaired>,
}

/// A figure that is not compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unpaired {
    /// Its name.
    pub figure: String,
    /// Why.
    pub reason: &'static str,
}

/// Compares two results.
///
/// The unit is the round: Welch's test on the logs of the rounds of both, then Holm's correction over all figures, since
/// of a hundred equal ones some change by chance.
pub fn paired(before: &ByRound, after: &ByRound) -> Paired {
    let mut found = Paired {
        comparison: Comparison { changes: Vec::new(), cells: Vec::new(), legal: after.legal },
        kinds: Vec::new(),
        unpaired: Vec::new(),
    };
    let [earlier, later] = [before, after].map(by_name);
    for first in &before.series {
        found.pair(first, later.get(&*first.figure).copied());
    }
    let is_new = |second: &&Series| !earlier.contains_key(&*second.figure);
    let new = after.series.iter().filter(is_new);
    found.unpaired.extend(new.map(|second| Unpaired::new(second, ONLY_AFTER)));
    correct_for_many(&mut found.comparison.changes);
    found
}

/// The figures of a result by their names: a mesh of 512 hosts has 262 thousand.
fn by_name(result: &ByRound) -> BTreeMap<&str, &Series> {
    result.series.iter().map(|one| (&*one.figure, one)).collect()
}

impl Paired {
    fn pair(&mut self, first: &Series, second: Option<&Series>) {
        let Some(second) = second else {
            return self.unpaired.push(Unpaired::new(first, ONLY_BEFORE));
        };
        let rounds = [&first.rounds[..], &second.rounds[..]];
        match Change::of(first.figure.clone(), rounds, "rounds", true) {
            Some(change) => {
                self.comparison.changes.push(change);
                self.kinds.push((first.unit, first.better));
            }
            None => self.unpaired.push(Unpaired::new(first, NO_RATIO)),
        }
    }
}

impl Unpaired {
    fn new(series: &Series, reason: &'static str) -> Self {
        Self { figure: series.figure.clone(), reason }
    }
}

const ONLY_AFTER: &str = "only after";
const ONLY_BEFORE: &str = "only before";
const NO_RATIO: &str = "zero in a round: it has no ratio";

#[cfg(test)]
mod tests {
    use super::*;

    /// A result with these figures, times in seconds.
    fn result(figures: &[(&str, &[f64])]) -> ByRound {
        let series = |(figure, rounds): &(&str, &[f64])| Series {
            figure: (*figure).to_owned(),
            unit: "s",
            better: Better::Lower,
            rounds: rounds.to_vec(),
        };
        ByRound { series: figures.iter().map(series).collect(), rules: &[], legal: "job.NAME" }
    }

    #[test]
    fn what_both_have_is_compared_and_what_one_has_alone_is_named() {
        let before = result(&[("job.a", &[1.0, 1.01, 0.99]), ("job.b", &[1.0; 3])]);
        let after = result(&[
            ("job.c", &[1.0; 3]),
            ("job.a", &[2.0, 2.02, 1.98]),
            ("job.b", &[1.0, 0.0, 1.0]),
        ]);
        let found = paired(&before, &after);
        let [change] = &found.comparison.changes[..] else { panic!("{found:?}") };
        assert_eq!((&*change.figure, change.different), ("job.a", Some(true)));
        assert!((change.ratio - 2.0).abs() < 1e-9);
        let told: Vec<_> = found.unpaired.iter().map(|one| (&*one.figure, one.reason)).collect();
        assert_eq!(told, [("job.b", NO_RATIO), ("job.c", ONLY_AFTER)]);
        let back = paired(&after, &before);
        assert_eq!(back.unpaired[0].reason, ONLY_BEFORE);
    }

    #[test]
    fn two_rounds_have_a_ratio_and_no_verdict() {
        let found = paired(&result(&[("job.a", &[1.0; 2])]), &result(&[("job.a", &[2.0; 3])]));
        let change = &found.comparison.changes[0];
        assert_eq!((change.ci95, change.different), (None, None));
        let reason = "2 and 3 rounds, at least 3 each are needed";
        assert_eq!(change.ci95_reason.as_deref(), Some(reason));
    }

    /// Of 40 figures that p = 0.01 would each call different alone, Holm's correction calls none.
    #[test]
    fn all_figures_are_one_family() {
        let [low, high]: [&[f64]; 2] = [&[1.0, 1.02, 1.04, 1.06], &[1.08, 1.1, 1.12, 1.06]];
        let alone = paired(&result(&[("job.a", low)]), &result(&[("job.a", high)]));
        assert_eq!(alone.comparison.changes[0].different, Some(true));
        let names: Vec<String> = (0..40).map(|n| format!("job.{n}")).collect();
        let all = |values| names.iter().map(|name| (&**name, values)).collect::<Vec<_>>();
        let many = paired(&result(&all(low)), &result(&all(high)));
        assert!(many.comparison.changes.iter().all(|one| one.different == Some(false)));
    }
}
