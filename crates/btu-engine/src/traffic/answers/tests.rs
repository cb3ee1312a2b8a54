//! Who answers what, and what becomes of answers that do not come or were not asked for.

use std::io;

use btu_core::traffic::Drain;
use btu_core::units::BitRate;
use btu_sys::socket::Settings;

use super::*;
use crate::door::Seat;

/// Blocks of these sizes, written a hundred bytes at a time.
fn flow(carrier: Carrier, sizes: &[u64]) -> Flow {
    let offer = Offer::queued(sizes.iter().map(|size| (Nanos::ZERO, *size)));
    let write = Bytes::new(100);
    Flow { write, drain: Drain::Yes, has_receipts: true, ..Flow::of_a_test(carrier, offer) }
}

fn tcp() -> Carrier {
    Carrier::Tcp(Settings::default())
}

fn mark() -> Mark {
    Mark::of(&Seat { secret: [7; 32], run: 1, attempt: 1, flow: 0 })
}

#[test]
fn nobody_answers_who_was_not_asked_to() {
    for carrier in [tcp(), Carrier::Udp] {
        let asked = flow(carrier, &[10]);
        assert!(
            Answering::of(&asked, None, None).is_some() && Awaiting::of(&asked, None).is_some()
        );
        let unasked = Flow { has_receipts: false, ..asked };
        assert!(Answering::of(&unasked, None, None).is_none());
        assert!(Awaiting::of(&unasked, None).is_none());
    }
}

/// Where reads end says nothing of where blocks do.
#[test]
fn each_block_of_a_stream_is_answered_once_when_its_last_byte_was_read() {
    let mut answering = Answering::of(&flow(tcp(), &[3, 1, 4]), None, None).unwrap();
    let mut sent = Vec::new();
    for (data, owed) in [(&[0, 0][..], 0), (&[LAST, LAST, 0], 2), (&[0, 0], 0), (&[LAST], 1)] {
        answering.saw(data);
        assert_eq!(answering.owes(), owed > 0);
        let paid = answering.pay(|data| {
            sent.extend_from_slice(data);
            Ok(data.len())
        });
        assert_eq!(paid, owed);
    }
    assert_eq!(sent.len(), 3);
    // There are no more blocks, whatever a stream says.
    answering.saw(&[LAST; 100]);
    assert!(!answering.owes());
}

#[test]
fn what_a_transport_does_not_take_is_owed_until_it_does() {
    let mut answering = Answering::of(&flow(tcp(), &[1; 600]), None, None).unwrap();
    answering.saw(&[LAST; 600]);
    let mut room = 300;
    let mut send = |data: &[u8]| {
        let taken = data.len().min(room);
        room -= taken;
        if taken > 0 { Ok(taken) } else { Err(io::ErrorKind::WouldBlock.into()) }
    };
    assert_eq!((answering.pay(&mut send), answering.owes()), (300, true));
    assert_eq!((answering.pay(|data| Ok(data.len())), answering.owes()), (300, false));
    answering.left = 5;
    answering.saw(&[LAST; 5]);
    let gone = |_: &[u8]| Err(io::ErrorKind::BrokenPipe.into());
    assert_eq!((answering.pay(gone), answering.owes()), (0, false));
}

/// Blocks of 3, 1 and 2 datagrams.
#[test]
fn a_block_of_datagrams_is_answered_with_the_last_of_them_that_comes() {
    let flow = flow(Carrier::Udp, &[250, 100, 101]);
    let mut answering = Answering::of(&flow, Some(mark()), None).unwrap();
    let mut answered = |number| {
        let receipt = answering.came(Nanos::ZERO, number);
        receipt.map(|receipt| mark().block(&receipt).unwrap())
    };
    let order = [2, 3, 0, 5, 1, 99, u64::MAX, 4];
    let said: Vec<Option<u32>> = order.into_iter().map(&mut answered).collect();
    assert_eq!(said, [None, Some(1), None, None, Some(0), None, None, Some(2)]);
    // Nothing of it is left: another one of the same numbers changes nothing.
    assert_eq!(answered(1), None);
}

/// A receipt is 40 bytes on the wire, of which 100 kbit/s are 312 in a second.
#[test]
fn receipts_of_datagrams_keep_to_the_rate_of_their_flow() {
    let blocks = vec![1; 10_000];
    let flow = flow(Carrier::Udp, &blocks);
    let ration = Ration::new(BitRate::new(100_000), OF_BLOCK, "127.0.0.1:1".parse().ok());
    let mut answering = Answering::of(&flow, None, Some(ration)).unwrap();
    let times = (0..10_000).map(|number| (Nanos::from_micros(100) * number, number));
    let sent = times.filter_map(|(now, number)| answering.came(now, number)).count();
    assert!((300..400).contains(&sent), "{sent}");
}

fn record(fate: Fate, taken: u64) -> BlockRecord {
    BlockRecord { fate, taken: Bytes::new(taken), ..BlockRecord::default() }
}

fn ms(count: u64) -> Nanos {
    Nanos::from_millis(count)
}

/// Of six blocks one was missed, one interrupted, and one is unfinished.
#[test]
fn receipts_of_a_stream_are_those_of_the_blocks_that_were_sent_whole_in_their_order() {
    let mut awaiting = Awaiting::of(&flow(tcp(), &[10; 6]), None).unwrap();
    let blocks = [
        record(Fate::Sent, 10),
        record(Fate::Missed, 0),
        record(Fate::Interrupted, 4),
        record(Fate::Sent, 10),
        record(Fate::Sent, 10),
        record(Fate::Unfinished, 9),
    ];
    awaiting.more(ms(1), ms(1), 2);
    awaiting.all_sent(ms(2), &blocks);
    assert!(awaiting.waits(ms(1 << 40), ms(1)), "what was read is answered sooner or later");
    awaiting.more(ms(3), ms(3), 1);
    assert!(!awaiting.waits(ms(3), ms(1)));
    // More than there can be is no block's.
    awaiting.more(ms(4), ms(4), 1000);
    let found = awaiting.by_block(&blocks);
    assert_eq!(found, [Some(ms(1)), None, None, Some(ms(1)), Some(ms(3)), None]);
}

#[test]
fn a_stream_that_ended_there_is_not_waited_for() {
    let mut awaiting = Awaiting::of(&flow(tcp(), &[10; 2]), None).unwrap();
    awaiting.all_sent(ms(2), &[record(Fate::Sent, 10), record(Fate::Sent, 10)]);
    assert!(awaiting.waits(ms(2), ms(1)));
    awaiting.close();
    assert!(!awaiting.waits(ms(2), ms(1)));
}

/// One of four is lost, one comes twice, and some are of nobody.
#[test]
fn a_lost_receipt_of_datagrams_is_missed_after_the_time_there_and_back() {
    let mut awaiting = Awaiting::of(&flow(Carrier::Udp, &[10; 5]), Some(mark())).unwrap();
    let mut blocks = vec![record(Fate::Sent, 10); 4];
    // What was begun and not taken had no datagram.
    blocks.insert(1, record(Fate::Interrupted, 0));
    let mut hears = |at: u64, block| awaiting.hears(ms(at), ms(at), &mark().of_block(block));
    assert!(hears(1, 0) && hears(2, 3) && hears(3, 3) && hears(4, 1) && hears(5, 70_000));
    let said = Mark::default().of_block(2);
    assert!(!awaiting.hears(ms(6), ms(6), &said) && !awaiting.hears(ms(6), ms(6), &[]));
    awaiting.all_sent(ms(100), &blocks);
    assert!(awaiting.waits(ms(140), ms(20)));
    assert!(!awaiting.waits(ms(141), ms(20)));
    let found = awaiting.by_block(&blocks);
    assert_eq!(found, [Some(ms(1)), None, Some(ms(4)), None, Some(ms(2))]);
}
