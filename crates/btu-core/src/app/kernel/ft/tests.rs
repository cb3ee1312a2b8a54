use super::*;
use crate::app::ranks::Collective;
use crate::app::ranks::Count;
use crate::app::ranks::Tally;
use crate::app::testing::run;
use crate::app::testing::run_spoiled;
use crate::app::testing::total;

#[test]
fn k2_class_s_is_verified_and_every_rank_has_the_same_outcome() {
    for count in [1, 2, 4] {
        is_verified(ProblemClass::S, count);
    }
}

#[test]
fn k3_a_flipped_exponent_is_found() {
    let ended = run_spoiled(&Ft, ProblemClass::S, 2, flip_exponent_of_a_point);
    assert!(ended.iter().all(|(outcome, ..)| !outcome.is_verified()), "{ended:?}");
}

#[test]
fn a_number_of_ranks_is_a_power_of_two_that_leaves_a_plane_for_each() {
    let taken: Vec<_> = (0..100).filter(|ranks| Ft.takes(*ranks)).collect();
    assert_eq!(taken, [1, 2, 4, 8, 16, 32]);
}

#[test]
#[ignore = "a minute where it is not optimised"]
fn k2_class_w_is_verified_and_so_is_class_s_with_more_ranks() {
    is_verified(ProblemClass::W, 4);
    is_verified(ProblemClass::W, MOST_RANKS);
    is_verified(ProblemClass::S, 8);
    is_verified(ProblemClass::S, MOST_RANKS);
}

fn is_verified(class: ProblemClass, count: usize) {
    let ended = run(&Ft, class, count);
    let (outcome, ..) = &ended[0];
    assert!(outcome.is_verified(), "{count} ranks: {outcome:?}");
    assert!(ended.iter().all(|(other, ..)| other == outcome), "{count} ranks: {ended:?}");
    passes_what_the_oracle_says(&total(&ended), class, count as u64);
}

/// Section 2 of the oracle: with 4 ranks, 32 calls of all-to-all, and 24 of reduce with 384 B.
fn passes_what_the_oracle_says(tally: &Tally, class: ProblemClass, ranks: u64) {
    let all_to_all = Bytes::new(class.of([33_554_432, 67_108_864, 1_073_741_824]));
    let count = |count, bytes| Count { count, bytes };
    assert_eq!(tally.collective(Collective::AllToAll), count(8 * ranks, all_to_all));
    assert_eq!(tally.collective(Collective::Reduce), count(6 * ranks, Bytes::new(96) * ranks));
    assert_eq!(tally.collective(Collective::AllReduce), Count::default());
    assert_eq!(tally.messages, Count::default());
}

/// The top bit of the exponent of one part; checksums, which are shorter, pass as they are.
fn flip_exponent_of_a_point(message: &mut [u8]) {
    if message.len() > 1024 {
        message[7] ^= 0x40;
    }
}
