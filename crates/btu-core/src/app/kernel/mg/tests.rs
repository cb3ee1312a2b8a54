use super::*;
use crate::app::ranks::Collective;
use crate::app::testing;
use crate::app::testing::Ended;

const MG: &dyn Kernel = &Mg;

/// Flips the top bit of the exponent of the first number of each plane; what the ranks agree on arrives as it is.
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

#[test]
fn k2_one_or_two_ranks_verify() {
    let alone = testing::run(MG, ProblemClass::S, 1);
    assert_verified(&alone);
    assert_eq!(testing::total(&alone).messages.count, 0);
    assert_verified(&testing::run(MG, ProblemClass::S, 2));
}

#[test]
fn k4_four_ranks_pass_what_the_reference_program_passes() {
    let ended = testing::run(MG, ProblemClass::S, 4);
    assert_verified(&ended);
    let tally = testing::total(&ended);
    assert_eq!((tally.messages.count, tally.messages.bytes), (1_776, Bytes::new(2_250_112)));
    assert_eq!((tally.own.count, tally.own.bytes), (592, Bytes::new(392_576)));
    assert_eq!((tally.sizes[&8], tally.sizes[&4_896]), (80, 152));
    let agreed = tally.collective(Collective::AllReduce);
    assert_eq!((agreed.count, agreed.bytes), (352, Bytes::new(4_096)));
}

#[test]
fn k2_ranks_that_fall_idle_on_coarse_grids_verify() {
    let ended = testing::run(MG, ProblemClass::S, 16);
    assert_verified(&ended);
}

#[test]
fn k3_a_flipped_exponent_does_not_pass() {
    for (outcome, ..) in testing::run_spoiled(MG, ProblemClass::S, 2, spoil) {
        assert!(!outcome.is_verified(), "{outcome:?}");
    }
}

#[test]
#[ignore = "a minute where it is not optimised"]
fn k2_class_w_verifies() {
    let two = testing::run(MG, ProblemClass::W, 2);
    assert_verified(&two);
    let two = testing::total(&two).messages;
    assert_eq!((two.count, two.bytes), (1_248, Bytes::new(25_866_496)));
    let four = testing::run(MG, ProblemClass::W, 4);
    assert_verified(&four);
    let (all, own) = (testing::total(&four).messages, testing::total(&four).own);
    assert_eq!((all.count, all.bytes), (2_496, Bytes::new(32_584_576)));
    assert_eq!((own.count, own.bytes), (832, Bytes::new(6_290_816)));
    let agreed = testing::total(&four).collective(Collective::AllReduce);
    assert_eq!((agreed.count, agreed.bytes), (352, Bytes::new(4_096)));
}
