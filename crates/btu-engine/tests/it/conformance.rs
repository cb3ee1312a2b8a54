//! What every transport has to do, held against each entry of the registry.

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use btu_core::units::Bytes;
use btu_engine::comm::stream::Cue;
use btu_engine::comm::stream::Incoming;
use btu_engine::comm::stream::Outgoing;
use btu_engine::comm::stream::Progress;
use btu_engine::comm::stream::Unobserved;
use btu_engine::transport;
use btu_engine::transport::Connection;
use btu_engine::transport::TRANSPORTS;
use btu_engine::transport::Transport;
use btu_sys::socket::Settings;

use crate::local::NOBODY;

/// Calls `check` with each transport that this machine has.
fn each(check: impl Fn(&dyn Transport)) {
    for transport in TRANSPORTS {
        if let Err(reason) = transport.available() {
            crate::skip::record(&format!("kernel lacks: {}: {reason}", transport.name()));
            continue;
        }
        check(*transport);
    }
}

/// Both ends of a connection.
pub(crate) fn pair(transport: &dyn Transport) -> (Box<dyn Connection>, Box<dyn Connection>) {
    let settings = Settings::default();
    let anywhere: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let listener = transport.listen(anywhere, &settings).unwrap();
    let address = listener.address().unwrap();
    let near = transport.connect(address, &settings, Duration::from_secs(5)).unwrap();
    (near, listener.accept().unwrap())
}

/// The sizes that have gone wrong somewhere, as far as the transport has them.
fn sizes(transport: &dyn Transport) -> impl Iterator<Item = usize> {
    let legal = transport.message_sizes();
    let all = (0..=20).flat_map(|power| [(1 << power) - 1, 1 << power, (1 << power) + 1]);
    let all = all.chain([100, 1250, 1448, 1460, 65_483]).filter(|size| *size <= 1 << 20);
    all.filter(move |size| legal.contains(&Bytes::new(*size as u64)))
}

/// Bytes that tell their place.
fn numbered(length: usize) -> Vec<u8> {
    (0..length).map(|place| u8::try_from(place % 251).unwrap()).collect()
}

#[test]
fn names_are_unique_and_lead_back() {
    for transport in TRANSPORTS {
        let found = transport::by_name(transport.name()).unwrap();
        assert_eq!(found.about(), transport.about());
    }
    assert!(transport::by_name("carrier pigeon").is_none());
}

#[test]
fn every_size_comes_back_as_it_was_sent() {
    each(|transport| {
        let (near, far) = pair(transport);
        let sizes: Vec<usize> = sizes(transport).collect();
        thread::scope(|scope| {
            scope.spawn(|| {
                for size in &sizes {
                    let mut space = vec![0; *size];
                    transport::recv_exact(&*far, &mut space).unwrap();
                    transport::send_exact(&*far, &space).unwrap();
                }
            });
            for size in &sizes {
                let (sent, mut back) = (numbered(*size), vec![0; *size]);
                transport::send_exact(&*near, &sent).unwrap();
                transport::recv_exact(&*near, &mut back).unwrap();
                assert!(sent == back, "{} changed {size} bytes", transport.name());
            }
        });
    });
}

#[test]
fn messages_arrive_in_order_and_the_end_is_seen_after_the_last() {
    each(|transport| {
        let (near, far) = pair(transport);
        thread::scope(|scope| {
            scope.spawn(|| {
                for index in 0..5000_u32 {
                    transport::send_exact(&*near, &index.to_be_bytes()).unwrap();
                }
                near.close_sending().unwrap();
            });
            for index in 0..5000_u32 {
                let mut space = [0; 4];
                transport::recv_exact(&*far, &mut space).unwrap();
                assert_eq!(u32::from_be_bytes(space), index, "{}", transport.name());
            }
            assert_eq!(far.recv(&mut [0; 4]).unwrap(), 0);
        });
    });
}

#[test]
fn the_timed_loops_move_what_they_say() {
    each(|transport| {
        let (near, far) = pair(transport);
        let (stop, out, inward) = (Cue::default(), Progress::default(), Progress::default());
        let block = numbered(1250);
        let (sent, received) = thread::scope(|scope| {
            let sender = scope.spawn(|| {
                let order = Outgoing {
                    block: &block,
                    messages: 800,
                    stop: &stop,
                    progress: &out,
                    observer: &Unobserved,
                };
                let sent = near.send_messages(&order).unwrap();
                near.close_sending().unwrap();
                sent
            });
            let order = Incoming {
                space: &mut [0; 1250],
                expected: 1_000_000,
                nearly_over: &Cue::default(),
                progress: &inward,
                observer: &Unobserved,
                first_ns: &std::sync::atomic::AtomicU64::new(0),
            };
            let received = far.receive_messages(order).unwrap();
            (sender.join().unwrap(), received)
        });
        assert_eq!((sent.messages, received.bytes), (800, 1_000_000));
        assert_eq!((out.bytes(), inward.bytes()), (1_000_000, 1_000_000));
        assert_eq!((out.calls(), inward.calls()), (sent.calls, received.calls));
        assert!(received.last_ns > 0);
    });
}

#[test]
fn a_cue_ends_a_sender_between_two_messages() {
    each(|transport| {
        let (near, far) = pair(transport);
        let (stop, progress) = (Cue::default(), Progress::default());
        thread::scope(|scope| {
            let sender = scope.spawn(|| {
                let block = [1; 64];
                let order = Outgoing {
                    block: &block,
                    messages: u64::MAX,
                    stop: &stop,
                    progress: &progress,
                    observer: &Unobserved,
                };
                let sent = near.send_messages(&order).unwrap();
                near.close_sending().unwrap();
                sent
            });
            transport::recv_exact(&*far, &mut [0; 640]).unwrap();
            stop.give();
            let (mut rest, mut space) = (0, [0; 4096]);
            loop {
                match far.recv(&mut space).unwrap() {
                    0 => break,
                    bytes => rest += bytes as u64,
                }
            }
            assert_eq!(sender.join().unwrap().messages * 64, 640 + rest);
        });
    });
}

#[test]
fn an_abort_ends_whatever_waits() {
    each(|transport| {
        let (near, _far) = pair(transport);
        thread::scope(|scope| {
            let reader = scope.spawn(|| near.recv(&mut [0; 16]));
            let writer = scope.spawn(|| {
                let block = vec![0; 65_536];
                while near.send(&block).is_ok() {}
            });
            near.abort();
            // The end of the stream or an error, but never a wait without end.
            assert!(matches!(reader.join().unwrap(), Ok(0) | Err(_)));
            writer.join().unwrap();
        });
    });
}

#[test]
fn nobody_waits_for_a_connection_for_ever() {
    each(|transport| {
        let anywhere: SocketAddr = "127.0.0.1:0".parse().unwrap();
        let listener = transport.listen(anywhere, &Settings::default()).unwrap();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| listener.accept().is_err());
            listener.abort();
            assert!(waiting.join().unwrap());
        });
    });
}

#[test]
fn a_connection_that_is_refused_is_named() {
    each(|transport| {
        let settings = Settings::default();
        let fault = transport.connect(NOBODY, &settings, Duration::from_secs(5)).unwrap_err();
        assert!(fault.to_string().contains(&NOBODY.to_string()), "{fault}");
    });
}
