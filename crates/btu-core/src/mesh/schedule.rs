//! Rounds of disjoint pairs: nobody is measured twice at once, and each pair once.
//!
//! The circle method: one host stays, the others go round it (E. Lucas, Récréations mathématiques, 1883).

use rand_chacha::ChaCha12Rng;

use crate::run::schedule::shuffle;

/// Two hosts by their numbers.
pub type Pair = (usize, usize);

/// Pairs that are measured at the same time.
pub type Round = Vec<Pair>;

/// Every pair of `hosts` once: one round fewer than hosts where their number is even, as many where it is odd.
pub fn full(hosts: usize) -> Vec<Round> {
    let turning = hosts.next_multiple_of(2).saturating_sub(1);
    (0..turning).map(|round| circle(hosts, turning, round)).collect()
}

/// The pairs of a round: whoever meets the one that is not there rests.
fn circle(hosts: usize, turning: usize, round: usize) -> Round {
    let facing = |step: usize| ((round + step) % turning, (round + turning - step) % turning);
    let around = (1..=turning / 2).map(facing);
    let all = std::iter::once((round, turning)).chain(around);
    all.filter(|(one, other)| *one < hosts && *other < hosts).collect()
}

/// Rounds in which each host meets as many others as asked for, or all of them: where the number of hosts is odd, some meet
/// one fewer.
pub fn quick(hosts: usize, partners: usize, chance: &mut ChaCha12Rng) -> Vec<Round> {
    let rounds = full(hosts).into_iter().take(partners).collect();
    relabelled(rounds, hosts, chance)
}

/// The same rounds, with hosts in the place of others: neighbours in time are neighbours in a rack by chance alone.
pub fn relabelled(rounds: Vec<Round>, hosts: usize, chance: &mut ChaCha12Rng) -> Vec<Round> {
    let mut label: Vec<usize> = (0..hosts).collect();
    shuffle(&mut label, chance);
    let pair = |(one, other): Pair| (label[one], label[other]);
    rounds.into_iter().map(|round| round.into_iter().map(pair).collect()).collect()
}

/// Every pair once, racks apart first: rounds within racks, all racks at once, come before rounds between them, so that what is
/// seen in the first has nothing to do with what joins racks.
pub fn by_rack(racks: &[Vec<usize>]) -> Vec<Round> {
    let width = racks.iter().map(Vec::len).max().unwrap_or(0);
    let within = full(width).into_iter().map(|round| {
        racks.iter().flat_map(|rack| round.iter().filter_map(|pair| in_rack(rack, *pair))).collect()
    });
    let between = full(racks.len()).into_iter().flat_map(|pairs| rotations(racks, pairs, width));
    within.chain(between).filter(|round: &Round| !round.is_empty()).collect()
}

fn in_rack(rack: &[usize], (one, other): Pair) -> Option<Pair> {
    Some((*rack.get(one)?, *rack.get(other)?))
}

/// As many rounds as a rack has hosts: in each, every host of a rack meets another one of the rack that its own is paired with.
fn rotations(racks: &[Vec<usize>], pairs: Round, width: usize) -> impl Iterator<Item = Round> {
    let meeting = move |turn: usize, (one, other): Pair| {
        let seat =
            move |at: usize| Some((*racks[one].get(at)?, *racks[other].get((at + turn) % width)?));
        (0..width).filter_map(seat)
    };
    (0..width).map(move |turn| pairs.iter().flat_map(|pair| meeting(turn, *pair)).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::collections::BTreeSet;

    use rand::SeedableRng;

    use super::*;

    /// How often each pair is there, whichever host is named first; fails where a host is in a round twice.
    fn met(rounds: &[Round]) -> BTreeMap<Pair, usize> {
        let mut met = BTreeMap::new();
        for round in rounds {
            let hosts: BTreeSet<usize> = round.iter().flat_map(|(a, b)| [*a, *b]).collect();
            assert_eq!(hosts.len(), round.len() * 2, "{round:?}");
            for (one, other) in round {
                *met.entry((*one.min(other), *one.max(other))).or_default() += 1;
            }
        }
        met
    }

    fn is_every_pair_once(rounds: &[Round], hosts: usize) {
        let met = met(rounds);
        assert_eq!(met.len(), hosts * (hosts - 1) / 2, "{hosts} hosts");
        assert!(met.values().all(|times| *times == 1), "{hosts} hosts");
    }

    #[test]
    fn every_pair_meets_once_and_nobody_twice_in_a_round() {
        for hosts in 2..=65 {
            let rounds = full(hosts);
            is_every_pair_once(&rounds, hosts);
            assert_eq!(rounds.len(), hosts - 1 + hosts % 2);
        }
        is_every_pair_once(&full(257), 257);
        assert!(full(0).iter().chain(&full(1)).all(Vec::is_empty));
    }

    #[test]
    fn in_a_quick_mesh_each_host_meets_as_many_others_as_asked_for() {
        let mut chance = ChaCha12Rng::seed_from_u64(1);
        let met = met(&quick(64, 8, &mut chance));
        assert!(met.values().all(|times| *times == 1));
        let partners = |host| met.keys().filter(|(a, b)| *a == host || *b == host).count();
        assert!((0..64).all(|host| partners(host) == 8));
        is_every_pair_once(&quick(6, 100, &mut chance), 6);
    }

    #[test]
    fn racks_are_measured_within_before_between() {
        let racks: Vec<Vec<usize>> =
            (0..4).map(|rack| (rack * 4..rack * 4 + 4).collect()).collect();
        let rounds = by_rack(&racks);
        is_every_pair_once(&rounds, 16);
        assert_eq!(rounds.len(), 15);
        let is_within = |round: &Round| round.iter().all(|(one, other)| one / 4 == other / 4);
        assert!(rounds[..3].iter().all(is_within));
        assert!(!rounds[3..].iter().any(is_within));
    }

    #[test]
    fn unequal_racks_miss_no_pair_and_take_few_rounds_more() {
        for sizes in [vec![3, 5, 2], vec![1, 1, 1], vec![7], vec![4, 4, 4], vec![0, 2]] {
            let mut next = 0..;
            let racks: Vec<Vec<usize>> =
                sizes.iter().map(|size| next.by_ref().take(*size).collect()).collect();
            let hosts: usize = sizes.iter().sum();
            let rounds = by_rack(&racks);
            is_every_pair_once(&rounds, hosts);
            let padded = sizes.len() * sizes.iter().max().unwrap();
            assert!(rounds.len() <= padded + 2 * sizes.iter().max().unwrap(), "{sizes:?}");
        }
    }
}
