#![expect(clippy::cast_precision_loss, reason = "few ranks")]
#![expect(clippy::float_cmp, reason = "the same bits are what is tested")]

use super::*;
use crate::app::testing::each;
use crate::app::testing::total;

/// Numbers of ranks with and without a full tree.
const COUNTS: [usize; 6] = [1, 2, 3, 4, 7, 8];

#[test]
fn a_broadcast_reaches_every_rank_from_any_root() {
    for count in COUNTS {
        for root in [0, count / 2, count - 1] {
            let got = each(
                count,
                |_| (),
                |ranks| {
                    let mine = if ranks.rank() == root { 7.5 } else { 0.0 };
                    let mut values = [mine, -mine];
                    ranks.broadcast(root, &mut values).unwrap();
                    values
                },
            );
            assert_eq!(got, vec![[7.5, -7.5]; count], "{count} ranks, root {root}");
        }
    }
}

#[test]
fn a_reduction_leaves_the_sum_on_its_root_alone() {
    for count in COUNTS {
        let root = count - 1;
        let got = each(
            count,
            |_| (),
            |ranks| {
                let mut values = [i32::try_from(ranks.rank()).unwrap() + 1];
                ranks.reduce(root, &mut values).unwrap();
                values[0]
            },
        );
        for (rank, value) in got.iter().enumerate() {
            let own = i32::try_from(rank).unwrap() + 1;
            let sum = i32::try_from(count * (count + 1) / 2).unwrap();
            assert_eq!(*value, if rank == root { sum } else { own }, "{count} ranks");
        }
    }
}

#[test]
fn every_rank_gets_the_same_bits_of_a_sum() {
    for count in COUNTS {
        let got = each(
            count,
            |_| (),
            |ranks| {
                let mine = 0.1 * (ranks.rank() + 1) as f64;
                let (mut sum, mut most) = ([mine, 1e16 * mine], [mine, -mine]);
                ranks.all_reduce(&mut sum).unwrap();
                ranks.all_reduce_max(&mut most).unwrap();
                (sum.map(f64::to_bits), most)
            },
        );
        assert!(got.iter().all(|one| *one == got[0]), "{count} ranks");
        assert_eq!(got[0].1, [0.1 * count as f64, -0.1]);
    }
}

#[test]
fn parts_of_any_length_go_to_the_rank_that_they_are_for() {
    for count in COUNTS {
        // Rank r sends s + 1 values to rank s, all of them 100 r + s.
        let got = each(
            count,
            |_| (),
            |ranks| {
                let me = ranks.rank();
                let lengths: Vec<usize> = (1..=count).collect();
                let value = |to: usize| u64::try_from(100 * me + to).unwrap();
                let out: Vec<u64> = (0..count).flat_map(|to| vec![value(to); to + 1]).collect();
                let mut into = vec![0; count * (me + 1)];
                ranks.all_to_all_v(&out, &lengths, &mut into, &vec![me + 1; count]).unwrap();
                into
            },
        );
        for (rank, into) in got.iter().enumerate() {
            let value = |from: usize| u64::try_from(100 * from + rank).unwrap();
            let due: Vec<u64> = (0..count).flat_map(|from| vec![value(from); rank + 1]).collect();
            assert_eq!(*into, due, "{count} ranks");
        }
    }
}

#[test]
fn nobody_leaves_a_barrier_before_all_are_there() {
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering::SeqCst;
    let there = AtomicUsize::new(0);
    let seen = each(
        7,
        |_| (),
        |ranks| {
            there.fetch_add(1, SeqCst);
            ranks.barrier().unwrap();
            there.load(SeqCst)
        },
    );
    assert_eq!(seen, [7; 7]);
}

#[test]
fn what_a_rank_sends_is_counted_once_by_its_payload() {
    let tallies = each(
        2,
        |_| (),
        |ranks| {
            let (me, other) = (ranks.rank(), 1 - ranks.rank());
            let (mut space, mut own) = ([0.0; 3], [0.0; 1]);
            ranks.exchange((other, &[1.0, 2.0, 3.0]), (other, &mut space), 1).unwrap();
            ranks.exchange((me, &[4.0]), (me, &mut own), 1).unwrap();
            ranks.all_reduce(&mut [0_i32; 5]).unwrap();
            assert_eq!((space, own), ([1.0, 2.0, 3.0], [4.0]));
            (crate::app::kernel::Outcome::default(), ranks.tally().clone(), Timed::default())
        },
    );
    let total = total(&tallies);
    assert_eq!((total.messages.count, total.messages.bytes), (4, Bytes::new(64)));
    assert_eq!((total.own.count, total.own.bytes), (2, Bytes::new(16)));
    assert_eq!(total.sizes, [(8, 2), (24, 2)].into());
    let all = total.collective(Collective::AllReduce);
    assert_eq!((all.count, all.bytes), (2, Bytes::new(40)));
}

#[test]
fn a_message_to_itself_that_was_not_sent_or_is_longer_is_an_error() {
    let faults = each(
        1,
        |_| (),
        |ranks| {
            let nothing = ranks.receive(0, 1, &mut [0.0]).unwrap_err();
            ranks.send(0, 1, &[1.0, 2.0]).unwrap();
            let longer = ranks.receive(0, 1, &mut [0.0]).unwrap_err();
            [nothing, longer].map(|fault| fault.to_string())
        },
    );
    let [nothing, longer] = &faults[0];
    assert_eq!(nothing, "rank 0 waits for a message to itself, tag 1, that it did not send");
    assert_eq!(longer, "a message of 16 B from rank 0, tag 1, where 8 B were expected");
}
