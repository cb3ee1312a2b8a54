//! Reads of both kinds, and what follows from them.

use super::*;
use crate::traffic::sending::burst::Fate;

fn ms(count: u64) -> Nanos {
    Nanos::from_millis(count)
}

fn block(due: u64, size: u64) -> BlockRecord {
    BlockRecord {
        due: ms(due),
        size: Bytes::new(size),
        start: Some(ms(due)),
        end: Some(ms(due)),
        taken: Bytes::new(size),
        held_from: None,
        is_untimed: false,
        fate: Fate::Sent,
    }
}

fn trace(blocks: Vec<BlockRecord>) -> Trace {
    Trace { duration: ms(100), blocks, ..Trace::default() }
}

fn read(at: u64, total: u64) -> Read {
    Read { at: ms(at), total: Bytes::new(total) }
}

#[test]
fn a_block_of_a_stream_is_read_with_its_last_byte() {
    let reads = vec![read(5, 6), read(7, 10), read(9, 25), read(12, 30)];
    let trace =
        trace(vec![block(0, 10), block(1, 10), block(2, 10), block(3, 10)]).of_stream(reads);
    let last: Vec<Option<Nanos>> =
        trace.read_times.iter().map(|read| read.map(|read| read.last)).collect();
    assert_eq!(last, [Some(ms(7)), Some(ms(9)), Some(ms(12)), None]);
    let first: Vec<Option<Nanos>> =
        trace.read_times.iter().map(|read| read.map(|read| read.first)).collect();
    assert_eq!(first, [Some(ms(5)), Some(ms(9)), Some(ms(9)), None]);
    assert_eq!(trace.least_delay(), ms(5));
    let mean = trace.read_times[0].unwrap().mean_ns;
    assert!((mean - (6.0 * 5.0 + 4.0 * 7.0) / 10.0 * 1e6).abs() < 1.0, "{mean}");
    assert_eq!(trace.read_by(ms(8)), Bytes::new(10));
    assert_eq!(trace.read_by(ms(4)), Bytes::ZERO);
}

/// 10 bytes each 10 ms for 100 ms over a path of 25 ms. A reader that comes 35 ms late finds what waited for it.
#[test]
fn a_full_stream_carries_as_much_for_a_reader_that_comes_late() {
    let carried = |late: u64| {
        let reads = (0..20).map(|k| read((25 + 10 * k).max(25 + late), 10 * (k + 1)));
        Trace { endless: true, ..trace(Vec::new()) }.of_stream(reads.collect()).carried()
    };
    assert_eq!([0, 9, 35].map(carried), [Bytes::new(100); 3]);
    let of_one = Trace { endless: true, ..trace(Vec::new()) }.of_stream(vec![read(25, 10)]);
    assert_eq!(of_one.carried(), Bytes::ZERO);
}

#[test]
fn a_block_of_datagrams_is_read_with_the_last_of_them_or_never() {
    let came = |number, at, size| Arrived { at: ms(at), number, size: Bytes::new(size) };
    // Three blocks of 15 bytes go out as 10 + 5 each; number 3 is lost, 1 comes twice.
    let arrived = [
        came(1, 4, 5),
        came(0, 5, 10),
        came(1, 6, 5),
        came(2, 7, 10),
        came(5, 9, 5),
        came(4, 8, 10),
    ];
    let trace = trace(vec![block(0, 15), block(1, 15), block(2, 15)]).of_datagrams(
        &arrived,
        Bytes::new(10),
        6,
    );
    let last: Vec<Option<Nanos>> =
        trace.read_times.iter().map(|read| read.map(|read| read.last)).collect();
    assert_eq!(last, [Some(ms(5)), None, Some(ms(9))]);
    let counts = trace.datagrams.unwrap();
    assert_eq!((counts.sent, counts.received, counts.duplicated, counts.reordered), (6, 5, 1, 2));
    assert_eq!(trace.reads.last().unwrap().total, Bytes::new(40));
    // Delays 5 and 7: one change of 2 ms.
    assert_eq!(counts.jitter, (ms(2), 1));
}

#[test]
fn what_was_said_to_be_sent_takes_no_memory_and_no_time_overflows() {
    let far = |number| Arrived { at: Nanos::new(1 << 62), number, size: Bytes::new(10) };
    let blocks = (0..4).map(|k| BlockRecord { taken: Bytes::new(u64::MAX), ..block(k, 10) });
    let arrived = [far(0), far(1 << 40), far(u64::MAX)];
    let trace = trace(blocks.collect()).of_datagrams(&arrived, Bytes::new(10), 1 << 44);
    let counts = trace.datagrams.unwrap();
    assert_eq!((counts.sent, counts.received), (1 << 44, 2));
    assert_eq!(trace.read_times, [None; 4]);
    let late = |at: u64| ReadTime { first: Nanos::new(at), last: Nanos::new(at), mean_ns: 0.0 };
    let read: Vec<Option<ReadTime>> = (0..5).map(|k| Some(late((k % 2) << 62))).collect();
    let blocks = vec![block(0, 10); 5];
    assert_eq!(jitter(&blocks, &read), (Nanos::MAX, 4));
}

#[test]
fn queued_blocks_arrive_when_due_and_unqueued_ones_when_they_start() {
    let late = BlockRecord { start: Some(ms(50)), taken: Bytes::new(3), ..block(10, 7) };
    let queued = trace(vec![late]);
    assert_eq!(queued.arrived_by(ms(10)), Bytes::new(7));
    let unqueued = Trace { discipline: Discipline::Miss, ..queued };
    assert_eq!(unqueued.arrived_by(ms(49)), Bytes::ZERO);
    assert_eq!(unqueued.arrived_by(ms(50)), Bytes::new(3));
}
