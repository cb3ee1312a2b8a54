use super::*;
use crate::app::ranks::Collective;
use crate::app::ranks::Count;
use crate::app::ranks::Tally;
use crate::app::testing::run;
use crate::app::testing::run_spoiled;
use crate::app::testing::total;

#[test]
fn k2_class_s_is_verified_and_every_rank_has_the_same_outcome() {
    for count in [1, 2, 4, 8] {
        is_verified(ProblemClass::S, count);
    }
}

#[test]
fn k3_a_flipped_bit_of_a_key_is_found() {
    for count in [2, 4] {
        let ended = run_spoiled(&Is, ProblemClass::S, count, flip_bit_10_of_a_key);
        assert!(ended.iter().all(|(outcome, ..)| !outcome.is_verified()), "{ended:?}");
    }
}

#[test]
fn a_number_of_ranks_is_a_power_of_two_that_leaves_keys_for_each() {
    let taken: Vec<_> = (0..300).filter(|ranks| Is.takes(*ranks)).collect();
    assert_eq!(taken, [1, 2, 4, 8, 16, 32, 64, 128]);
}

#[test]
#[ignore = "a minute where it is not optimised"]
fn k2_class_w_is_verified_and_so_is_class_s_with_most_ranks() {
    is_verified(ProblemClass::W, 4);
    is_verified(ProblemClass::S, MOST_RANKS);
}

fn is_verified(class: ProblemClass, count: usize) {
    let ended = run(&Is, class, count);
    let (outcome, ..) = &ended[0];
    assert!(outcome.is_verified(), "{count} ranks: {outcome:?}");
    assert!(ended.iter().all(|(other, ..)| other == outcome), "{count} ranks: {ended:?}");
    passes_what_the_oracle_says(&total(&ended), class, count as u64);
    if (class, count) == (ProblemClass::S, 4) {
        is_the_row_of_class_s(&total(&ended));
    }
}

/// Section 2 of the oracle, as a formula.
fn passes_what_the_oracle_says(tally: &Tally, class: ProblemClass, ranks: u64) {
    let size = Size::of(class);
    let calls = |bytes| Count { count: 11 * ranks, bytes: Bytes::new(11 * ranks * bytes) };
    let counts = 4 * (size.buckets + TESTS) as u64;
    assert_eq!(tally.collective(Collective::AllReduce), calls(counts));
    assert_eq!(tally.collective(Collective::AllToAll), calls(4 * ranks));
    assert_eq!(tally.collective(Collective::AllToAllV), calls(4 * size.keys as u64 / ranks));
    assert_eq!(tally.messages, Count { count: ranks - 1, bytes: Bytes::new(4 * (ranks - 1)) });
    assert_eq!(tally.own, Count::default());
}

/// The same row, as NPB 3.4.2 has it.
fn is_the_row_of_class_s(tally: &Tally) {
    let bytes = |collective| tally.collective(collective).bytes.count();
    assert_eq!(bytes(Collective::AllReduce), 90_992);
    assert_eq!(bytes(Collective::AllToAll), 704);
    assert_eq!(bytes(Collective::AllToAllV), 2_883_584);
}

/// Only keys travel in messages so long. What is flipped is the highest bit of a key of class S.
fn flip_bit_10_of_a_key(message: &mut [u8]) {
    if message.len() > 4096 {
        message[1] ^= 1 << 2;
    }
}
