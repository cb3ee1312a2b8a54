use super::*;
use crate::app::ranks::Collective;
use crate::app::ranks::Count;
use crate::app::ranks::Tally;
use crate::app::testing::run;
use crate::app::testing::run_spoiled;
use crate::app::testing::total;

#[test]
fn k2_class_s_is_verified_and_every_rank_has_the_same_outcome() {
    for count in [1, 4] {
        is_verified(ProblemClass::S, count);
    }
}

#[test]
fn k3_a_flipped_exponent_is_found() {
    let ended = run_spoiled(&Ep, ProblemClass::S, 2, flip_exponent);
    assert!(ended.iter().all(|(outcome, ..)| !outcome.is_verified()), "{ended:?}");
}

#[test]
#[ignore = "a minute where it is not optimised"]
fn k2_class_w_is_verified_and_so_are_shares_of_unequal_size() {
    is_verified(ProblemClass::W, 4);
    for count in [2, 3, 8, 300] {
        is_verified(ProblemClass::S, count);
    }
}

fn is_verified(class: ProblemClass, count: usize) {
    let ended = run(&Ep, class, count);
    let (outcome, ..) = &ended[0];
    assert!(outcome.is_verified(), "{count} ranks: {outcome:?}");
    assert!(ended.iter().all(|(other, ..)| other == outcome), "{count} ranks: {ended:?}");
    only_all_reduce_passes(&total(&ended), count as u64);
}

/// Section 2 of the oracle, which is the same for all classes: 16 calls and 416 B with 4 ranks.
fn only_all_reduce_passes(tally: &Tally, ranks: u64) {
    let all_reduce = Count { count: 4 * ranks, bytes: Bytes::new((8 + 8 + 80 + 8) * ranks) };
    assert_eq!(tally.collective(Collective::AllReduce), all_reduce);
    assert_eq!(tally.messages, Count::default());
}

/// The top bit of the exponent of the first `f64`; a barrier has none.
fn flip_exponent(message: &mut [u8]) {
    if let Some(top) = message.get_mut(7) {
        *top ^= 0x40;
    }
}
