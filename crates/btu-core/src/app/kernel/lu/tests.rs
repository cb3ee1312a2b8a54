//! The norms, the surface integral and the messages of LU, held against the published ones.

use super::piece::Side;
use super::*;
use crate::app::kernel::flow;
use crate::app::ranks::Collective;
use crate::app::ranks::Tally;
use crate::app::testing;

/// Runs it; every rank must have verified, and found the same.
fn verified(class: ProblemClass, ranks: usize) -> Tally {
    let ended = testing::run(&Lu, class, ranks);
    for (outcome, ..) in &ended {
        assert!(outcome.is_verified(), "{ranks} ranks: {outcome:#?}");
        assert_eq!(outcome, &ended[0].0, "{ranks} ranks");
    }
    testing::total(&ended)
}

fn messages(tally: &Tally) -> (u64, u64) {
    (tally.messages.count, tally.messages.bytes.count())
}

#[test]
fn class_s_verifies_on_1_and_2_ranks() {
    assert_eq!(messages(&verified(ProblemClass::S, 1)), (0, 0));
    verified(ProblemClass::S, 2);
}

#[test]
fn k4_four_ranks_pass_what_the_original_does_in_class_s() {
    let tally = verified(ProblemClass::S, 4);
    assert_eq!(messages(&tally), (4520, 3_305_152));
    assert_eq!(tally.own.count, 0);
    let sizes = [(96, 6), (128, 2), (200, 4080), (5760, 432)];
    assert_eq!(tally.sizes, sizes.into());
    let sums = tally.collective(Collective::AllReduce);
    assert_eq!((sums.count, sums.bytes.count()), (40, 960));
}

/// Flips the top bit of the exponent of a value behind the middle. At the ends of lines are values of the boundary of
/// the cube, which are passed, too, but which nobody asks for.
fn flip(payload: &mut [u8]) {
    let values = payload.len() / 8;
    payload[values * 11 / 20 * 8 + 7] ^= 0x40;
}

#[test]
fn k3_a_flipped_exponent_bit_is_seen_in_faces_pencils_and_the_surface_integral() {
    let [face, pencil, surface]: [fn(&mut [u8]); 3] = [
        |payload| {
            if payload.len() == 2 * 12 * 12 * 40 {
                flip(payload);
            }
        },
        |payload| {
            if payload.len() == 10 * 40 {
                flip(payload);
            }
        },
        |payload| {
            if payload.len() == 12 * 8 {
                flip(payload);
            }
        },
    ];
    for (what, spoil) in [("faces", face), ("pencils", pencil), ("surface", surface)] {
        for (outcome, ..) in testing::run_spoiled(&Lu, ProblemClass::S, 2, spoil) {
            assert!(!outcome.is_verified(), "{what}: {outcome:#?}");
        }
    }
}

#[test]
fn pieces_cover_the_cube_once_and_neighbours_know_each_other() {
    for ranks in [1, 2, 4, 8, 16] {
        let mesh = Mesh::new(POINTS[0]);
        let pieces: Vec<_> = (0..ranks).map(|rank| Piece::new(mesh, rank, ranks)).collect();
        let own = |piece: &Piece| (0..3).map(|axis| piece.block.size(axis)).product::<usize>();
        assert_eq!(pieces.iter().map(own).sum::<usize>(), 12 * 12 * 12, "{ranks} ranks");
        for (rank, piece) in pieces.iter().enumerate() {
            assert!((0..3).all(|axis| piece.block.size(axis) >= flow::HALO), "{ranks} ranks");
            for axis in [0, 1] {
                let Some(behind) = piece.neighbour(axis, Side::Behind) else { continue };
                assert_eq!(pieces[behind].neighbour(axis, Side::Before), Some(rank));
                let end = piece.block.first(axis) + piece.block.size(axis);
                assert_eq!(pieces[behind].block.first(axis), end, "{ranks} ranks");
            }
        }
    }
}

#[test]
#[cfg(not(debug_assertions))]
fn class_w_verifies_on_2_and_4_ranks_and_passes_what_the_original_does() {
    assert_eq!(messages(&verified(ProblemClass::W, 2)), (19_273, 76_110_928));
    let tally = verified(ProblemClass::W, 4);
    assert_eq!(messages(&tally), (77_088, 152_221_856));
    let sizes = [(600, 37_324), (640, 37_324), (42_240, 1216), (44_880, 1216)];
    for (size, count) in sizes {
        assert_eq!(tally.sizes.get(&size), Some(&count), "{size} B");
    }
    let sums = tally.collective(Collective::AllReduce);
    assert_eq!((sums.count, sums.bytes.count()), (40, 960));
}

#[test]
#[cfg(not(debug_assertions))]
fn class_s_verifies_on_8_and_16_ranks() {
    verified(ProblemClass::S, 8);
    verified(ProblemClass::S, 16);
}

#[test]
#[cfg(not(debug_assertions))]
fn class_a_passes_what_the_original_does() {
    assert_eq!(messages(&verified(ProblemClass::A, 4)), (126_536, 487_302_080));
}
