//! COMM over loopback: every case, the proof of delivery, and every way in which a run can go wrong.

use btu_core::run::calls::Calls;
use btu_core::run::calls::ReadCall;
use btu_core::run::calls::WriteCall;
use btu_core::run::cell::Case;
use btu_core::run::cell::Direction;
use btu_core::sample::CommSample;
use btu_core::sample::EndSample;
use btu_core::sample::Hold;
use btu_core::sample::Outcome;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::comm::Amount;
use btu_engine::comm::Pinning;
use btu_engine::comm::Terms;

use crate::local;

/// The sample of a run that has to be complete and proved.
fn complete(case: Case, message: u64, amount: Amount) -> CommSample {
    complete_by(Calls::default(), case, message, amount)
}

/// The same with these calls.
fn complete_by(calls: Calls, case: Case, message: u64, amount: Amount) -> CommSample {
    let run = local::run(case, Terms { calls, ..local::terms(message, amount) });
    assert_eq!(run.outcome, Outcome::Complete, "{case} of {message} B");
    let comm = run.comm.unwrap();
    for connection in &comm.connections {
        assert_eq!(connection.proof_failures, Vec::<String>::new(), "{case} of {message} B");
    }
    comm
}

#[test]
fn every_case_carries_its_messages_over_its_connections() {
    for case in Case::ALL {
        let comm = complete(case, 1250, Amount::Messages(200));
        let seen: Vec<_> = comm.connections.iter().map(|c| (c.peer, c.direction)).collect();
        let due: Vec<_> = case.flows().iter().map(|flow| (flow.peer, flow.direction)).collect();
        assert_eq!(seen, due);
        assert_eq!(comm.bytes, Bytes::new(1250 * 200) * due.len() as u64);
        assert!(comm.connections.iter().all(|c| c.messages == 200 && c.sender.calls == 200));
    }
}

#[test]
fn every_bit_is_proved_from_one_byte_to_a_mebibyte_in_both_directions() {
    for message in [1, 2, 3, 100, 1024, 1250, 4096, 65_536, 100_000, 1 << 20] {
        for case in [Case::Send, Case::Recv] {
            let messages = (4 << 20) / message;
            let comm = complete(case, message, Amount::Messages(messages.min(3000)));
            assert_eq!(comm.bytes, Bytes::new(message) * messages.min(3000));
        }
    }
}

#[test]
fn every_bit_is_proved_whatever_call_writes_it_and_whatever_call_reads_it() {
    let sizes = [7, 100_000].map(|size| ReadCall::Size(Bytes::new(size)));
    let reads = ReadCall::WORDS.into_iter().map(|(_, read, _)| read).chain(sizes);
    for (write, black_box_read) in reads.flat_map(|read| WriteCall::ALL.map(|write| (write, read)))
    {
        let calls = Calls { write, black_box_read, ..Calls::default() };
        // No multiple of any read: the last one ends short.
        for (message, messages) in [(1, 1), (100, 999), (65_536, 21), (1 << 20, 3)] {
            let comm = complete_by(calls, Case::SendRecv, message, Amount::Messages(messages));
            assert_eq!(comm.bytes, Bytes::new(message * messages * 2), "{calls}, {message} B");
            for connection in &comm.connections {
                assert_eq!(connection.messages, messages, "{calls}");
                let ends = [&connection.sender, &connection.receiver];
                assert!(ends.iter().all(|end| end.write_call == write), "{calls}");
            }
        }
    }
}

#[test]
fn each_call_leaves_its_trace_at_the_ends_of_its_connection() {
    let by = |write, black_box_read| {
        let calls = Calls { write, black_box_read, ..Calls::default() };
        let mut comm = complete_by(calls, Case::Send, 100, Amount::Messages(2000));
        let connection = comm.connections.remove(0);
        (connection.sender, connection.receiver)
    };
    let (plain, reader) = by(WriteCall::Plain, ReadCall::Message);
    assert_eq!((plain.options.nodelay, reader.options.low_water_bytes), (Some(false), None));
    assert_eq!((plain.call_bytes, reader.call_bytes), (Bytes::new(100), Bytes::new(100)));
    let (hasty, patient) = by(WriteCall::NoDelay, ReadCall::LowWater);
    assert_eq!(hasty.options.nodelay, Some(true));
    assert_eq!(patient.options.low_water_bytes, Some(128 << 10));
    assert_eq!(patient.call_bytes, Bytes::new(256 << 10));
    assert!(patient.calls < reader.calls, "{} and {}", patient.calls, reader.calls);
    // 200,000 bytes in messages of 100, written into segments that are full.
    let (batched, _) = by(WriteCall::Batched, ReadCall::Message);
    let segments = |end: &EndSample| end.tcp_info.as_ref().and_then(|info| info.data_segs_out);
    assert!(segments(&batched).is_some_and(|count| count <= 20), "{:?}", segments(&batched));
}

#[test]
fn a_window_ends_with_the_receipt_of_everything_that_was_written() {
    let window = Nanos::from_millis(60);
    for case in [Case::Send, Case::Recv, Case::SendRecv] {
        let comm = complete(case, 1024, Amount::Window(window));
        for connection in &comm.connections {
            assert_eq!(connection.bytes, Bytes::new(1024) * connection.messages);
            assert!(connection.elapsed_ns <= comm.elapsed_ns);
            assert!(connection.messages > 0);
        }
        assert!(comm.elapsed_ns >= window - Nanos::from_millis(2), "{}", comm.elapsed_ns);
    }
}

/// The shortest of some, since a busy machine ends any of them late.
#[test]
fn a_short_window_ends_when_it_is_over() {
    let window = Nanos::from_millis(20);
    for case in [Case::Send, Case::Recv] {
        let times = (0..8).map(|_| complete(case, 4096, Amount::Window(window)).elapsed_ns);
        let shortest = times.min().unwrap();
        assert!(shortest < window * 3, "{case}: {shortest}");
    }
}

//= maly1996#5 eq. 4
#[test]
fn the_run_lasts_as_long_as_its_later_connection() {
    let comm = complete(Case::SendRecv, 4096, Amount::Messages(500));
    let later = comm.connections.iter().map(|c| c.elapsed_ns).max();
    assert_eq!(later, Some(comm.elapsed_ns));
}

#[test]
fn both_ends_account_for_their_thread_and_their_socket() {
    let comm = complete(Case::Send, 4096, Amount::Window(Nanos::from_millis(300)));
    let connection = &comm.connections[0];
    for end in [&connection.sender, &connection.receiver] {
        assert_eq!(end.call_bytes, Bytes::new(4096));
        assert!(end.cpu_ns.is_some_and(|cpu| cpu > Nanos::ZERO));
        assert_eq!(end.cpus.len(), 1, "a pinned thread was seen on {:?}", end.cpus);
        assert_eq!(end.hold, Hold::Pinned);
        assert!(end.options.congestion.is_some());
        assert!(end.options.send_buffer_bytes.is_some_and(|size| size > 0));
        assert_eq!(end.options.not_sent_low_water_bytes, None, "nobody set it");
        assert!(end.tcp_info.as_ref().is_some_and(|info| info.cwnd_segments.is_some()));
        let series = end.series.as_ref().unwrap();
        let lengths = [&series.t_ns, &series.user_bytes, &series.rtt_us].map(Vec::len);
        assert!(lengths.iter().all(|length| *length == lengths[0] && *length > 1), "{lengths:?}");
        assert!(series.t_ns.iter().all(|step| *step >= 0));
    }
    let ends = [&connection.sender, &connection.receiver];
    let [near, far] = ends.map(|end| end.options.negotiated.expect("a handshake was made"));
    assert_eq!((near.sack, near.timestamps, near.ecn), (far.sack, far.timestamps, far.ecn));
    assert_eq!(near.wscale_snd_bits, far.wscale_rcv_bits);
    assert!(connection.longest_pause_ns.is_some());
    assert!(connection.receiver.calls > 0);
    assert!(connection.receiver_elapsed_ns > Nanos::ZERO);
    assert!(connection.receiver_elapsed_ns <= connection.elapsed_ns);
}

#[test]
fn directions_are_those_of_the_test_host() {
    let comm = complete(Case::SendRecv, 100, Amount::Messages(50));
    let roles = |direction| {
        let connection = comm.connections.iter().find(|c| c.direction == direction).unwrap();
        (connection.sender.role.name(), connection.receiver.role.name())
    };
    assert_eq!(roles(Direction::Send), ("test", "active"));
    assert_eq!(roles(Direction::Receive), ("active", "test"));
}

#[test]
fn a_thread_that_may_move_is_seen_on_cpus_of_its_place() {
    let allowed = btu_sys::cpu::allowed().unwrap();
    let mut terms = local::terms(1024, Amount::Window(Nanos::from_millis(60)));
    terms.pinning = Pinning::WholePlace;
    let comm = local::run(Case::Send, terms).comm.unwrap();
    for end in [&comm.connections[0].sender, &comm.connections[0].receiver] {
        assert!(!end.cpus.is_empty() && end.cpus.is_sorted());
        assert_eq!(end.hold, Hold::Free);
        assert!(end.cpus.iter().all(|cpu| allowed.contains(*cpu)), "{:?}", end.cpus);
    }
}

#[test]
fn two_black_boxes_with_the_same_cpus_send_from_different_ones() {
    let allowed = btu_sys::cpu::allowed().unwrap();
    let comm = complete(Case::TwoRecvDelayed, 1024, Amount::Window(Nanos::from_millis(60)));
    let senders: Vec<_> = comm.connections.iter().map(|one| one.sender.cpus.clone()).collect();
    let [first, second] = &senders[..] else { panic!("{senders:?}") };
    assert_eq!(first != second, allowed.len() > 1, "{senders:?}");
}
