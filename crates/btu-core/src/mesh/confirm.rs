//! How a suspicion is retested: the suspect with good partners, in turn with good hosts among themselves.

use std::collections::BTreeSet;

use super::polish::Effects;
use super::schedule::Pair;
use super::suspect::Suspect;
use crate::stats::Comparison;
use crate::stats::welch_on_logs;

/// Directions, sender first, that are measured in turn, a round of all of them after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retest {
    /// Those that the suspect is in.
    pub suspected: Vec<Pair>,
    /// Those that it is not in.
    pub control: Vec<Pair>,
}

impl Retest {
    /// The pairs of its directions, each once: both of a pair's are measured with it.
    pub fn pairs(&self) -> Vec<Pair> {
        let ways = self.suspected.iter().chain(&self.control);
        let pairs: BTreeSet<Pair> = ways.map(|(a, b)| (*a.min(b), *a.max(b))).collect();
        pairs.into_iter().collect()
    }
}

/// What a retest showed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// The suspect is slower; its name is told.
    Confirmed(Comparison),
    /// It was slow once, and is not now.
    SeenOnce(Comparison),
}

/// How a suspect is retested among hosts of which those in `bad` are suspects themselves; `None` where no two good hosts are
/// left to compare with.
pub fn retest(
    suspect: Suspect,
    effects: &Effects,
    racks: &[usize],
    bad: &[usize],
) -> Option<Retest> {
    let came = |host: &usize| effects.tx[*host].is_some();
    let is_good = |host: &usize| !bad.contains(host) && came(host);
    let good: Vec<usize> = (0..effects.rest.hosts()).filter(is_good).collect();
    let is_in = |rack: usize| move |host: &usize| racks[*host] == rack;
    let in_rack = |rack: usize| (0..racks.len()).filter(is_in(rack)).filter(came);
    let good_in = |rack: usize| good.iter().copied().filter(is_in(rack));
    let out_of = |rack: usize| good.iter().copied().filter(move |host| racks[*host] != rack);
    let suspected: Vec<Pair> = match suspect {
        Suspect::Host(host) => both_ways(host, &good),
        Suspect::Sender(host) => partners(host, &good).map(|to| (host, to)).collect(),
        Suspect::Receiver(host) => partners(host, &good).map(|from| (from, host)).collect(),
        Suspect::RackOut(rack) => in_rack(rack).zip(out_of(rack)).take(PARTNERS).collect(),
        Suspect::RackIn(rack) => out_of(rack).zip(in_rack(rack)).take(PARTNERS).collect(),
        Suspect::Racks(from, to) => good_in(from).zip(good_in(to)).take(PARTNERS).collect(),
        Suspect::Path(from, to) => vec![(from, to)],
    };
    let is_free = |(from, to): &Pair| suspected.iter().all(|(a, b)| (a, b) != (from, to));
    let around = 1..good.len();
    let between = around.flat_map(|step| {
        let good = &good;
        (0..good.len()).map(move |at| (good[at], good[(at + step) % good.len()]))
    });
    let usual = |(from, to): &Pair| is_usual(effects, *from, *to);
    let control: Vec<Pair> = between.filter(is_free).filter(usual).take(PARTNERS).collect();
    (!suspected.is_empty() && !control.is_empty()).then_some(Retest { suspected, control })
}

/// What rates say that were measured in so many rounds; `None` below two of each.
pub fn verdict(suspected: &[f64], control: &[f64]) -> Option<Verdict> {
    let found = welch_on_logs(control, suspected)?;
    let is_slower = found.ratio < SLOWER && found.p < CHANCE;
    Some(if is_slower { Verdict::Confirmed(found) } else { Verdict::SeenOnce(found) })
}

/// Good hosts but this one.
fn partners(host: usize, good: &[usize]) -> impl Iterator<Item = usize> + '_ {
    good.iter().copied().filter(move |other| *other != host).take(PARTNERS)
}

fn both_ways(host: usize, good: &[usize]) -> Vec<Pair> {
    partners(host, good).flat_map(|other| [(host, other), (other, host)]).collect()
}

/// A pair whose own path is slow is no control.
fn is_usual(effects: &Effects, from: usize, to: usize) -> bool {
    effects.rest.get(from, to).is_some_and(|left| left > SLOWER.ln())
}

/// So many partners and controls, where there are as many.
const PARTNERS: usize = 4;

/// So often each is measured.
pub const ROUNDS: usize = 5;

/// Faster than this nobody is named.
const SLOWER: f64 = 0.97;

/// How likely chance may be to show as much: a mesh tries few suspects.
const CHANCE: f64 = 0.01;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::polish::Grid;
    use crate::mesh::polish::polish;

    fn even(hosts: usize) -> Effects {
        let mut rates = Grid::new(hosts);
        for from in 0..hosts {
            (0..hosts).for_each(|to| rates.set(from, to, Some(100.0)));
        }
        polish(&rates).unwrap()
    }

    #[test]
    fn a_sender_is_tried_with_good_partners_and_against_good_hosts_only() {
        let retest = retest(Suspect::Sender(2), &even(8), &[], &[2, 5]).unwrap();
        assert_eq!(retest.suspected, [(2, 0), (2, 1), (2, 3), (2, 4)]);
        assert_eq!(retest.control.len(), 4);
        assert!(
            retest.control.iter().all(|(from, to)| ![2, 5].contains(from) && ![2, 5].contains(to))
        );
    }

    #[test]
    fn what_leaves_a_rack_is_tried_across_its_border() {
        let racks = [0, 0, 0, 1, 1, 1];
        let retest = retest(Suspect::RackOut(0), &even(6), &racks, &[]).unwrap();
        assert_eq!(retest.suspected, [(0, 3), (1, 4), (2, 5)]);
        assert!(retest.control.iter().all(|pair| !retest.suspected.contains(pair)));
    }

    #[test]
    fn a_host_that_did_not_come_stands_for_no_rack_and_a_bad_one_not_for_what_joins_two() {
        let racks = [0, 0, 0, 1, 1, 1];
        let mut effects = even(6);
        (effects.tx[1], effects.rx[1]) = (None, None);
        let suspected = |suspect, bad: &[usize]| {
            retest(suspect, &effects, &racks, bad).map(|retest| retest.suspected).unwrap()
        };
        assert_eq!(suspected(Suspect::RackOut(0), &[]), [(0, 3), (2, 4)]);
        assert_eq!(suspected(Suspect::RackIn(0), &[]), [(3, 0), (4, 2)]);
        assert_eq!(suspected(Suspect::Racks(0, 1), &[3]), [(0, 4), (2, 5)]);
    }

    #[test]
    fn without_two_good_hosts_nothing_can_be_compared() {
        assert_eq!(retest(Suspect::Host(0), &even(2), &[], &[0]), None);
        assert_eq!(verdict(&[90.0], &[100.0]), None);
    }

    #[test]
    fn what_is_slow_again_is_confirmed_and_what_is_not_was_seen_once() {
        let control = [100.0, 101.0, 99.0, 100.5, 99.5];
        let slow = control.map(|rate| rate * 0.8);
        assert!(matches!(verdict(&slow, &control), Some(Verdict::Confirmed(_))));
        assert!(matches!(verdict(&control, &control), Some(Verdict::SeenOnce(_))));
        let barely = control.map(|rate| rate * 0.98);
        assert!(matches!(verdict(&barely, &control), Some(Verdict::SeenOnce(_))));
    }
}
