//! The norms and the messages of BT, held against the published ones.

use super::*;
use crate::app::kernel::flow::testing::fails_where_spoiled;
use crate::app::kernel::flow::testing::passed_by_verified;
use crate::app::kernel::flow::testing::sizes;

const S: (ProblemClass, u64) = (ProblemClass::S, 60);
#[cfg(not(debug_assertions))]
const W: (ProblemClass, u64) = (ProblemClass::W, 200);

#[test]
fn k2_and_k4_class_s_is_verified_with_four_ranks_and_passes_what_npb_passes() {
    let tally = passed_by_verified(&Bt, S, 4);
    assert_eq!(tally.messages.bytes.count(), 14_328_480);
    assert_eq!(sizes(&tally), [(1960, 732), (2880, 1488), (11_760, 732)]);
}

#[test]
fn k2_class_s_is_verified_with_one_rank() {
    passed_by_verified(&Bt, S, 1);
}

#[test]
fn k3_a_flipped_exponent_is_found() {
    fails_where_spoiled(&Bt);
}

#[test]
fn a_number_of_ranks_is_a_square_whose_cells_have_three_points_in_class_s() {
    let taken: Vec<_> = (0..100).filter(|ranks| Bt.takes(*ranks)).collect();
    assert_eq!(taken, [1, 4, 9, 16]);
}

#[test]
#[cfg(not(debug_assertions))]
fn k2_and_k4_class_w_is_verified_with_four_ranks_and_passes_what_npb_passes() {
    let tally = passed_by_verified(&Bt, W, 4);
    assert_eq!(tally.messages.bytes.count(), 169_984_800);
}

#[test]
#[cfg(not(debug_assertions))]
fn k2_cells_with_neighbours_on_both_sides_are_verified() {
    passed_by_verified(&Bt, S, 9);
    passed_by_verified(&Bt, S, 16);
}
