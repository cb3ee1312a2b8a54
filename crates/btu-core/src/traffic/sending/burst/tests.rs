//! Queued bursts wait, unqueued ones are missed or interrupt; every block is accounted for.

use proptest::prelude::*;

use super::*;

const MS: u64 = 1_000_000;

fn every(period_ms: u64, size: u64, blocks: u64) -> Arc<[Block]> {
    let block = |k| Block { due: Nanos::from_millis(k * period_ms), size: Bytes::new(size) };
    (0..blocks).map(block).collect()
}

/// Carries a train over a transport that takes a byte each `ns_per_byte` and holds none.
fn carry(train: Arc<[Block]>, discipline: Discipline, ns_per_byte: u64) -> Vec<BlockRecord> {
    let mut bursts = Bursts::new(train, discipline, Limits::default());
    let mut now = Nanos::ZERO;
    loop {
        bursts.advance(now);
        let Some(left) = bursts.offer(now) else {
            match bursts.next_due() {
                Some(due) => now = due,
                None => return bursts.into_records(),
            }
            continue;
        };
        let done = now + Nanos::new(left.count() * ns_per_byte);
        if let Some(due) = bursts.next_due().filter(|due| *due < done) {
            let part = due.since(now).count() / ns_per_byte;
            bursts.took(due, Bytes::new(part));
            bursts.refused(now);
            now = due;
        } else {
            now = done;
            // A block that falls due at this instant finds the transport free.
            bursts.took(now, left);
        }
    }
}

fn counts(records: &[BlockRecord]) -> [usize; 3] {
    let of = |fate| records.iter().filter(|record| record.fate == fate).count();
    [of(Fate::Sent), of(Fate::Missed), of(Fate::Interrupted)]
}

/// A burst takes S = 10 ms. Above S all three are alike; below they differ.
#[test]
fn t9_unqueued_bursts_are_missed_or_interrupt_and_queued_ones_wait() {
    for (period, missing, interrupting) in [
        (20, [10, 0, 0], [10, 0, 0]),
        (11, [10, 0, 0], [10, 0, 0]),
        (9, [5, 5, 0], [1, 0, 9]),
        (5, [5, 5, 0], [1, 0, 9]),
    ] {
        let of = |discipline| carry(every(period, 1000, 10), discipline, 10_000);
        let [missed, interrupted, queued] =
            [of(Discipline::Miss), of(Discipline::Interrupt), of(Discipline::Queue)];
        assert_eq!(counts(&missed), missing, "period {period} ms, miss");
        assert_eq!(counts(&interrupted), interrupting, "period {period} ms, interrupt");
        assert_eq!(counts(&queued), [10, 0, 0], "period {period} ms, queue");
    }
}

#[test]
fn a_queued_burst_waits_for_the_one_before_it() {
    let records = carry(every(5, 1000, 3), Discipline::Queue, 10_000);
    let times: Vec<(u64, u64)> = records
        .iter()
        .map(|r| (r.start.unwrap().count() / MS, r.end.unwrap().count() / MS))
        .collect();
    assert_eq!(times, [(0, 10), (10, 20), (20, 30)]);
    let held: Vec<Option<Nanos>> = records.iter().map(|record| record.held_from).collect();
    assert_eq!(held, [None, Some(Nanos::ZERO), Some(Nanos::ZERO)]);
}

#[test]
fn nobody_is_held_before_the_transport_refuses_nor_after_the_queue_was_empty() {
    let mut bursts = Bursts::new(every(5, 1000, 6), Discipline::Queue, Limits::default());
    let mut send = |ms, taken: u64| {
        let now = Nanos::from_millis(ms);
        bursts.advance(now);
        assert!(bursts.offer(now).is_some());
        match taken {
            0 => bursts.refused(now),
            bytes => bursts.took(now, Bytes::new(bytes)),
        }
    };
    // The generator was held up until 12 ms: three wait, and the transport takes two of them.
    send(12, 1000);
    send(12, 1000);
    send(13, 0);
    send(16, 1000);
    send(16, 1000);
    // Nothing waited at 17 ms.
    send(20, 1000);
    send(31, 1000);
    let held: Vec<Option<u64>> =
        bursts.records().iter().map(|r| r.held_from.map(|at| at.count() / MS)).collect();
    assert_eq!(held, [None, None, None, Some(13), None, None]);
}

#[test]
fn blocks_of_one_instant_are_one_burst() {
    let block = |due, size| Block { due: Nanos::from_millis(due), size: Bytes::new(size) };
    let train: Arc<[Block]> = [block(0, 10), block(0, 20), block(9, 10)].into();
    for discipline in [Discipline::Miss, Discipline::Interrupt, Discipline::Queue] {
        assert_eq!(counts(&carry(Arc::clone(&train), discipline, 1000)), [3, 0, 0]);
    }
}

#[test]
fn an_interrupted_block_keeps_what_was_taken_of_it() {
    let records = carry(every(9, 1000, 2), Discipline::Interrupt, 10_000);
    assert_eq!((records[0].fate, records[0].taken), (Fate::Interrupted, Bytes::new(900)));
    assert_eq!((records[1].start, records[1].fate), (Some(Nanos::from_millis(9)), Fate::Sent));
}

#[test]
fn a_limit_of_the_queue_or_of_time_is_told_with_its_figures() {
    let limits = Limits { queue: Some(Bytes::new(2500)), block_time: None };
    let mut bursts = Bursts::new(every(5, 1000, 9), Discipline::Queue, limits);
    bursts.advance(Nanos::from_millis(5));
    assert_eq!(bursts.overflow(Nanos::from_millis(5)), None);
    bursts.advance(Nanos::from_millis(10));
    let told = bursts.overflow(Nanos::from_millis(10)).unwrap();
    assert_eq!(told, "generator overflow: 3000 bytes wait, the limit is 2500B");
    let limits = Limits { queue: None, block_time: Some(Nanos::from_secs(1)) };
    let mut bursts = Bursts::new(every(5, 1000, 9), Discipline::Queue, limits);
    bursts.advance(Nanos::ZERO);
    assert_eq!(bursts.overflow(Nanos::from_secs(1)), None);
    assert!(bursts.overflow(Nanos::from_millis(1001)).unwrap().contains("1.001 s"));
}

#[test]
fn after_the_end_nothing_falls_due_and_what_is_due_can_be_finished() {
    let mut bursts = Bursts::new(every(5, 1000, 9), Discipline::Queue, Limits::default());
    bursts.advance(Nanos::from_millis(5));
    assert_eq!(bursts.offer(Nanos::from_millis(5)), Some(Bytes::new(1000)));
    bursts.stop();
    bursts.advance(Nanos::from_secs(9));
    assert_eq!((bursts.records().len(), bursts.next_due()), (2, None));
    assert_eq!((bursts.records()[0].fate, bursts.has_waiting()), (Fate::Unfinished, true));
    for now in [6, 7].map(Nanos::from_millis) {
        let left = bursts.offer(now).unwrap();
        bursts.took(now, left);
    }
    assert!(!bursts.has_waiting() && bursts.offer(Nanos::from_secs(9)).is_none());
}

proptest! {
    /// Whatever the train: every block has exactly one fate, queued bytes are all sent, and
    /// blocks start in order.
    #[test]
    fn no_block_is_lost_from_the_books(
        gaps in prop::collection::vec((0_u64..20, 1_u64..3000), 1..60),
        ns_per_byte in 1_u64..20_000,
    ) {
        let mut due = 0;
        let blocks = gaps.iter().map(|(gap, size)| {
            due += gap * MS;
            Block { due: Nanos::new(due), size: Bytes::new(*size) }
        });
        let train: Arc<[Block]> = blocks.collect();
        let asked: u64 = train.iter().map(|block| block.size.count()).sum();
        for discipline in [Discipline::Miss, Discipline::Interrupt, Discipline::Queue] {
            let records = carry(Arc::clone(&train), discipline, ns_per_byte);
            prop_assert_eq!(records.len(), train.len());
            prop_assert_eq!(counts(&records).iter().sum::<usize>(), train.len());
            prop_assert!(records.iter().filter_map(|r| r.start).is_sorted());
            let taken: u64 = records.iter().map(|record| record.taken.count()).sum();
            if discipline == Discipline::Queue {
                prop_assert_eq!(taken, asked);
            } else {
                prop_assert!(taken <= asked);
            }
        }
    }
}
