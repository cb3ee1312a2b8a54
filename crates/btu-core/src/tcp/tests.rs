//! Connections made by hand and by simulation: marks, counts, waits; and files that are damaged.

use super::simulated::Model;
use super::simulated::Place;
use super::*;
use crate::capture::LinkType;
use crate::capture::Packet;
use crate::units::Nanos;

/// The only connection of a simulated transfer.
fn follow(model: Model) -> Connection {
    let recorded = model.run();
    let mut analysis = analyse(&recorded.capture());
    assert_eq!(analysis.connections.len(), 1);
    analysis.connections.remove(0)
}

fn bytes(total: u64) -> Vec<(Nanos, u64)> {
    vec![(Nanos::ZERO, total)]
}

#[test]
fn a_plain_transfer_is_all_new() {
    let one = follow(Model { writes: bytes(1_000_000), ..Model::default() });
    let counts = one.up.counts;
    assert_eq!((counts.payload_bytes, counts.new_bytes), (1_000_000, 1_000_000));
    assert_eq!((counts.retransmissions, counts.out_of_order, counts.gaps), (0, 0, 0));
    assert_eq!((counts.duplicate_acks, counts.zero_windows, counts.unseen_acks), (0, 0, 0));
    assert_eq!(one.handshake, Some(Nanos::from_millis(4)));
    assert_eq!((one.up.mss_bytes, one.up.offer.window_scale), (1448, Some(7)));
    assert!(one.up.window_is_known && one.up.round_trips.len() > 100);
    let least = one.up.round_trips.iter().map(|trip| trip.time).min().unwrap();
    assert!(least >= Nanos::from_millis(4) && least < Nanos::from_micros(4100), "{least:?}");
}

#[test]
fn numbers_wrap_without_a_mark() {
    for first in [u32::MAX, u32::MAX - 700_000, 0, 1 << 31] {
        let one = follow(Model { writes: bytes(2_000_000), first, ..Model::default() });
        let counts = one.up.counts;
        assert_eq!((counts.new_bytes, counts.retransmissions, counts.outside), (2_000_000, 0, 0));
        assert_eq!(one.up.sent.last().unwrap().end, 2_000_001);
    }
}

#[test]
fn a_loss_is_a_fast_retransmission_on_both_sides_and_a_gap_on_one() {
    for (place, gaps) in [(Place::Sender, 0), (Place::Receiver, 1)] {
        let lost = [300].into();
        let one = follow(Model { writes: bytes(2_000_000), lost, place, ..Model::default() });
        let counts = one.up.counts;
        assert_eq!((counts.fast, counts.retransmissions, counts.gaps), (1, 1, gaps), "{place:?}");
        assert_eq!((counts.timeouts, counts.out_of_order, counts.duplicate_sacks), (0, 0, 0));
        assert!(counts.duplicate_acks >= 3 && !one.up.sacks.is_empty());
        assert_eq!(counts.new_bytes, 2_000_000);
    }
}

/// A sender captured at its own side that took 130 us for its part of the handshake and takes 60 us
/// for anything else. Rounds of two segments, 10 ms each: it waits for acknowledgements, for nothing else.
#[test]
fn a_sender_that_was_slow_once_is_not_far_away() {
    let ends = [1, 2].map(|port| Endpoint { port, ..Endpoint::default() });
    let [ack, syn] = [Flags::ACK.0, Flags::SYN.0];
    let packet = |us: u64, from: usize, flags: u8, numbers: [u32; 2], stamps, payload| Segment {
        at: Nanos::from_micros(us),
        from: ends[from],
        to: ends[1 - from],
        sequence: numbers[0],
        acknowledged: numbers[1],
        flags: Flags(flags),
        window: 60_000,
        payload,
        options: Options { mss: Some(1460), stamps: Some(stamps), ..Options::default() },
        ..Segment::default()
    };
    let mut segments = vec![
        packet(0, 0, syn, [99, 0], (1, 0), 0),
        packet(10_000, 1, syn | ack, [499, 100], (700, 1), 0),
        packet(10_130, 0, ack, [100, 500], (11, 700), 0),
    ];
    for round in 0..20_u32 {
        let (us, sequence) = (10_200 + u64::from(round) * 10_060, 100 + round * 2896);
        let (own, echo) = (11 + round * 10, 700 + round * 10);
        for place in 0..2 {
            let numbers = [sequence + place * 1448, 500];
            segments.push(packet(us, 0, ack, numbers, (own, echo), 1448));
        }
        let numbers = [500, sequence + 2896];
        segments.push(packet(us + 10_000, 1, ack, numbers, (echo + 10, own), 0));
    }
    let mut tracker = Tracker::new(&segments[0]);
    for segment in &segments {
        tracker.follow(segment, None);
    }
    let one = tracker.finish();
    assert_eq!(one.up.to_sender, Nanos::from_micros(60));
    assert_eq!(one.up.waited_for(Limit::CongestionWindow), Nanos::from_micros(19 * 10_060));
}

#[test]
fn a_window_that_is_lost_whole_is_a_timeout() {
    let lost = (100..140).collect();
    let model = Model { writes: bytes(400_000), most_flight: 30_000, lost, ..Model::default() };
    let counts = follow(model).up.counts;
    assert!(counts.timeouts >= 1 && counts.after_timeout > 0, "{counts:?}");
}

#[test]
fn an_overtaken_segment_is_no_retransmission() {
    let late = [500].into();
    let place = Place::Receiver;
    let model = Model { writes: bytes(2_000_000), late, place, ..Model::default() };
    let one = follow(Model { lateness: Nanos::from_micros(15), ..model });
    let counts = one.up.counts;
    assert_eq!((counts.out_of_order, counts.retransmissions, counts.gaps), (1, 0, 1));
}

#[test]
fn a_slow_reader_shuts_the_window_for_as_long_as_it_does() {
    let reading = Some(crate::units::BitRate::new(8_000_000));
    let model =
        Model { reading, receive_buffer: 50_000, writes: bytes(500_000), ..Model::default() };
    let one = follow(model);
    assert!(one.up.counts.zero_windows > 3 && one.up.counts.window_updates > 3);
    // 500 kB at 1 MB/s are 500 ms: the window is too small, or shut, for most of them.
    let small = one.up.squeezed();
    assert!(small > Nanos::from_millis(200) && small < Nanos::from_millis(500), "{small:?}");
    assert!(one.up.waited_for(Limit::ReceiverWindow) > one.up.waited_for(Limit::Application));
}

#[test]
fn a_capture_that_begins_late_has_no_known_window_and_no_false_marks() {
    let recorded = Model { writes: bytes(2_000_000), ..Model::default() }.run();
    let mut capture = recorded.capture();
    capture.packets.drain(..200);
    let analysis = analyse(&capture);
    let one = &analysis.connections[0];
    let stream = one.streams()[0];
    assert!(!stream.window_is_known && one.handshake.is_none());
    assert_eq!((stream.counts.retransmissions, stream.counts.window_full), (0, 0));
}

#[test]
fn the_same_ends_may_connect_again() {
    let recorded = Model { writes: bytes(20_000), ..Model::default() }.run();
    let again = Model { writes: bytes(30_000), first: 900_000, ..Model::default() }.run();
    let mut capture = recorded.capture();
    let later = again.capture();
    let moved = later
        .packets
        .iter()
        .map(|packet| Packet { at: packet.at + Nanos::from_secs(60), ..*packet });
    capture.packets.extend(moved);
    let analysis = analyse(&capture);
    let sizes: Vec<u64> = analysis.connections.iter().map(|one| one.up.counts.new_bytes).collect();
    assert_eq!(sizes, [20_000, 30_000]);
}

/// An Ethernet frame with a VLAN tag and IPv6, by hand: 20 bytes of TCP header, 5 of payload.
fn tagged() -> Vec<u8> {
    let mut frame = vec![0; 12];
    frame.extend([0x81, 0, 0, 7, 0x86, 0xdd]);
    frame.extend([0x60, 0, 0, 0, 0, 25, 6, 64]);
    frame.extend([0; 15]);
    frame.push(1);
    frame.extend([0; 15]);
    frame.push(2);
    frame.extend([0x12, 0x34, 0, 80, 0, 0, 0, 9, 0, 0, 0, 3, 0x50, 0x18, 1, 0, 0, 0, 0, 0]);
    frame
}

#[test]
fn headers_are_found_behind_every_link_layer() {
    let ip = &tagged()[18..];
    let behind = |front: &[u8]| [front, ip].concat();
    let cooked = behind(&[&[0; 14][..], &[0x86, 0xdd]].concat());
    let cooked2 = behind(&[&[0x86, 0xdd][..], &[0; 18]].concat());
    for (link_type, data) in [
        (LinkType::Ethernet, tagged()),
        (LinkType::Raw, ip.to_vec()),
        (LinkType::Loopback, behind(&[2, 0, 0, 0])),
        (LinkType::LinuxCooked, cooked),
        (LinkType::LinuxCooked2, cooked2),
    ] {
        let packet = Packet {
            at: Nanos::new(5),
            interface: 0,
            heading: None,
            original_bytes: 200,
            data: &data,
            comment: None,
        };
        let segment = headers::segment(link_type, &packet).unwrap();
        assert_eq!((segment.payload, segment.sequence, segment.from.port), (5, 9, 0x1234));
        assert_eq!(segment.to.to_string(), "[::2]:80");
        let cut = Packet { data: &data[..data.len() - 10], ..packet };
        assert_eq!(headers::segment(link_type, &cut), Err(Unusable::Damaged), "{link_type:?}");
    }
}

/// An IPv4 packet of a protocol behind an Ethernet header.
fn ethernet(protocol: u8, fragment: u8, carried: &[u8]) -> Vec<u8> {
    let mut frame = vec![0; 12];
    frame.extend([8, 0, 0x46, 0, 0, 60, 0, 0, 0, fragment, 64, protocol]);
    frame.extend([0, 0, 192, 0, 2, 7, 192, 0, 2, 9, 1, 1, 1, 0]);
    frame.extend(carried);
    frame
}

#[test]
fn headers_end_where_payload_begins() {
    let tcp = |offset: u8| [&[0; 12][..], &[offset << 4], &[0; 47]].concat();
    let arp = [&[0; 12][..], &[8, 6], &[9; 28]].concat();
    let short = [&[0; 12][..], &[8]].concat();
    let link = 14 + 24;
    for (data, end, what) in [
        (ethernet(6, 0, &tcp(5)), link + 20, "TCP"),
        (ethernet(6, 0, &tcp(8)), link + 32, "TCP with time stamps"),
        (ethernet(6, 0, &tcp(15)[..30]), link + 30, "TCP, cut off in its options"),
        (ethernet(6, 0, &tcp(4)), link, "no TCP"),
        (ethernet(6, 9, &tcp(5)), link, "a later fragment"),
        (ethernet(17, 0, &[7; 40]), link + 8, "UDP"),
        (ethernet(1, 0, &[7; 40]), link + 8, "ICMP"),
        (ethernet(50, 0, &[7; 40]), link, "what is not understood"),
        (ethernet(17, 0, &[]), link, "nothing behind IP"),
        (tagged(), 18 + 40 + 20, "IPv6 behind a VLAN tag"),
        (arp, 14, "ARP"),
        (short, 13, "cut off in the link layer"),
    ] {
        assert_eq!(headers_end(LinkType::Ethernet, &data), end, "{what}");
    }
    let bare = &ethernet(17, 0, &[7; 40])[14..];
    assert_eq!(headers_end(LinkType::Raw, bare), 24 + 8);
    assert_eq!(headers_end(LinkType::Raw, &[0xff; 99]), 0);
    assert_eq!(headers_end(LinkType::Loopback, &[0xff; 99]), 4);
    assert_eq!(headers_end(LinkType::Other(147), bare), 0);
}

proptest::proptest! {
    /// What is left says the same of a packet as all of it.
    #[test]
    fn a_packet_without_payload_is_the_same_segment(
        data in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..140),
        protocol in 0_u8..80,
        offset in 0_u8..16,
    ) {
        let mut carried = data;
        if let Some(byte) = carried.get_mut(12) {
            *byte = offset << 4;
        }
        let frame = ethernet(protocol, 0, &carried);
        let at = Nanos::new(5);
        let whole = Packet {
            at,
            interface: 0,
            heading: None,
            original_bytes: 200,
            data: &frame,
            comment: None,
        };
        let end = headers_end(LinkType::Ethernet, &frame);
        let cut = Packet { data: &frame[..end], ..whole };
        proptest::prop_assert_eq!(
            headers::segment(LinkType::Ethernet, &cut),
            headers::segment(LinkType::Ethernet, &whole)
        );
    }
}
