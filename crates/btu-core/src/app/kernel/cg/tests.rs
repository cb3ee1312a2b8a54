use super::*;
use crate::app::testing;
use crate::app::testing::Ended;

const CG: &dyn Kernel = &Cg;

/// Flips the top bit of the exponent of the first number of each vector; sums of one or two arrive as they are.
fn spoil(message: &mut [u8]) {
    if message.len() > 16 {
        message[7] ^= 0x40;
    }
}

fn assert_verified(ended: &[Ended]) {
    for (outcome, ..) in ended {
        assert!(outcome.is_verified(), "{outcome:?}");
        assert_eq!(*outcome, ended[0].0);
    }
}

/// Messages of all ranks: p (it + 1) (79 l + 26), where l is log2 of the columns of the grid.
fn messages(ranks: u64, log_columns: u64) -> u64 {
    ranks * 16 * (79 * log_columns + 26)
}

#[test]
fn k2_one_rank_verifies_without_a_message() {
    let ended = testing::run(CG, ProblemClass::S, 1);
    assert_verified(&ended);
    assert_eq!(testing::total(&ended).messages.count, 0);
}

#[test]
fn k4_four_ranks_pass_what_the_reference_program_passes() {
    let ended = testing::run(CG, ProblemClass::S, 4);
    assert_verified(&ended);
    let tally = testing::total(&ended);
    assert_eq!((tally.messages.count, tally.messages.bytes), (6_720, Bytes::new(18_664_448)));
    assert_eq!((tally.own.count, tally.own.bytes), (832, Bytes::new(4_659_200)));
    assert_eq!(tally.sizes, [(8, 3_328), (16, 64), (5_600, 3_328)].into());
    assert_eq!(tally.messages.count, messages(4, 1));
}

#[test]
fn k2_oblong_grids_verify() {
    for (ranks, log_columns) in [(2, 1), (8, 2)] {
        let ended = testing::run(CG, ProblemClass::S, ranks);
        assert_verified(&ended);
        assert_eq!(testing::total(&ended).messages.count, messages(ranks as u64, log_columns));
    }
}

#[test]
fn k3_a_flipped_exponent_does_not_pass() {
    for (outcome, ..) in testing::run_spoiled(CG, ProblemClass::S, 2, spoil) {
        assert!(!outcome.is_verified(), "{outcome:?}");
    }
}

#[test]
#[ignore = "a minute where it is not optimised"]
fn k2_class_w_verifies() {
    let two = testing::run(CG, ProblemClass::W, 2);
    assert_verified(&two);
    let two = testing::total(&two).messages;
    assert_eq!((two.count, two.bytes), (3_360, Bytes::new(46_605_824)));
    let four = testing::run(CG, ProblemClass::W, 4);
    assert_verified(&four);
    let (all, own) = (testing::total(&four).messages, testing::total(&four).own);
    assert_eq!((all.count, all.bytes), (6_720, Bytes::new(93_211_648)));
    assert_eq!((own.count, own.bytes), (832, Bytes::new(23_296_000)));
}
