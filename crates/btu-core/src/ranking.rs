//! Several results beside each other: who shares a rank with whom, and what predicts it.
//!
//! A rank is a range: a host stands behind those that are surely better and before those that are surely
//! worse. Neither price nor marks enter the order (maly1996, section 5.1: they do not predict it).

mod correlation;
mod price;
mod setting;

use crate::stats::LEAST_EFFECT;
use crate::stats::LEAST_PASSES;
use crate::stats::SIGNIFICANCE;
use crate::stats::holm;
use crate::stats::welch_on_logs;

pub use correlation::Correlation;
pub use correlation::correlation;
pub use price::Mark;
pub use price::Price;
pub use setting::Difference;
pub use setting::LINK_CLASS;
pub use setting::Setting;
pub use setting::differences;
pub use setting::different_cells;
pub use setting::measured_cells;

/// What the order of a result comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// The score, Mb/s.
    pub btu_mbps: f64,
    /// The score of each complete pass, Mb/s.
    pub passes: Vec<f64>,
}

/// The rank of one result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The best rank that it may have, from 1.
    pub first: usize,
    /// The worst.
    pub last: usize,
    /// True where fewer than 3 passes on a side left only the figures to go by.
    pub by_figure_alone: bool,
}

/// The rank of each result, in the order given.
///
/// Two results differ where Welch's test on the logs of their passes says so, after Holm's correction
/// over all pairs, and the effect exceeds 2 %. Where a side has fewer than 3 passes there is no test,
/// and an effect above 2 % decides, as it did in the paper.
//= maly1996#5 table 1
pub fn places(standings: &[Standing]) -> Vec<Place> {
    let pairs: Vec<Pair> = pairs(standings);
    let tested: Vec<f64> = pairs.iter().filter_map(|pair| pair.p).collect();
    let mut adjusted = holm(&tested).into_iter();
    let mut places: Vec<Place> = standings
        .iter()
        .map(|_| Place { first: 1, last: standings.len(), by_figure_alone: false })
        .collect();
    for pair in pairs {
        let sure = match pair.p {
            Some(_) => adjusted.next().is_some_and(|p| p < SIGNIFICANCE),
            None => true,
        };
        if pair.p.is_none() {
            places[pair.better].by_figure_alone = true;
            places[pair.worse].by_figure_alone = true;
        }
        if sure && pair.ratio > 1.0 + LEAST_EFFECT {
            places[pair.worse].first += 1;
            places[pair.better].last -= 1;
        }
    }
    places
}

impl Place {
    /// `2`, or `1-3` where the rank is shared.
    pub fn text(self) -> String {
        let mark = if self.by_figure_alone { "*" } else { "" };
        if self.first == self.last {
            format!("{}{mark}", self.first)
        } else {
            format!("{}-{}{mark}", self.first, self.last)
        }
    }
}

/// Two results, and how sure their order is.
#[derive(Debug)]
struct Pair {
    better: usize,
    worse: usize,
    ratio: f64,
    /// `None` where a side has too few passes for a test.
    p: Option<f64>,
}

fn pairs(standings: &[Standing]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (a, first) in standings.iter().enumerate() {
        for (b, second) in standings.iter().enumerate().skip(a + 1) {
            let first_wins = first.btu_mbps >= second.btu_mbps;
            let (better, worse) = if first_wins { (a, b) } else { (b, a) };
            let ratio = standings[better].btu_mbps / standings[worse].btu_mbps;
            let enough = first.passes.len().min(second.passes.len()) >= LEAST_PASSES;
            let test = enough.then(|| welch_on_logs(&first.passes, &second.passes)).flatten();
            pairs.push(Pair { better, worse, ratio, p: test.map(|test| test.p) });
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn standing(passes: &[f64]) -> Standing {
        let btu_mbps = crate::stats::geometric_mean(passes).unwrap();
        Standing { btu_mbps, passes: passes.to_vec() }
    }

    fn texts(standings: &[Standing]) -> Vec<String> {
        places(standings).into_iter().map(Place::text).collect()
    }

    //= maly1996#5 table 1
    #[test]
    fn the_paper_s_four_machines_rank_by_their_figures() {
        let machines = [2.87, 2.72, 2.45, 2.19].map(|btu| standing(&[btu]));
        assert_eq!(texts(&machines), ["1*", "2*", "3*", "4*"]);
    }

    #[test]
    fn hosts_that_cannot_be_told_apart_share_their_ranks() {
        let spread = |centre: f64| standing(&[-2.0, -1.0, 0.0, 1.0, 2.0].map(|d| centre + d));
        assert_eq!(texts(&[spread(100.0), spread(101.5), spread(150.0)]), ["2-3", "2-3", "1"]);
    }

    #[test]
    fn less_than_two_percent_is_shared_however_sure() {
        let tight = |centre: f64| standing(&[centre, centre * 1.0001, centre * 0.9999]);
        assert_eq!(texts(&[tight(100.0), tight(101.0), tight(110.0)]), ["2-3", "2-3", "1"]);
    }

    proptest! {
        /// A change of unit, or of the order in which results are given, changes no rank.
        #[test]
        fn ranks_know_no_unit_and_no_order(
            hosts in prop::collection::vec(prop::collection::vec(1.0..100.0_f64, 1..6), 1..6),
            unit in 0.001..1000.0_f64,
        ) {
            let given: Vec<Standing> = hosts.iter().map(|passes| standing(passes)).collect();
            let scaled: Vec<Standing> = hosts
                .iter()
                .map(|passes| standing(&passes.iter().map(|p| p * unit).collect::<Vec<_>>()))
                .collect();
            let mut mirrored: Vec<Standing> = given.clone();
            mirrored.reverse();
            let found = places(&given);
            let mut back = places(&mirrored);
            back.reverse();
            prop_assert_eq!(&found, &places(&scaled));
            prop_assert_eq!(&found, &back);
            prop_assert!(found.iter().all(|place| place.first <= place.last));
            prop_assert!(found.iter().any(|place| place.first == 1));
        }
    }
}
