//! Hand-made and fuzzed super-packets; etherparse judges what comes out.

use etherparse::PacketBuilder;
use etherparse::SlicedPacket;
use etherparse::TransportSlice;
use proptest::prelude::*;

use std::ops::Range;

use super::*;

/// A super-packet as a sending kernel makes it.
#[derive(Clone, Debug)]
struct Sample {
    vnet: Vnet,
    frame: Vec<u8>,
    payload: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Tcp4,
    Tcp6,
    Udp4,
    Udp6,
}

const KINDS: [Kind; 4] = [Kind::Tcp4, Kind::Tcp6, Kind::Udp4, Kind::Udp6];

fn sample(kind: Kind, gso_size: u16, payload: Vec<u8>) -> Sample {
    let ethernet = PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]);
    let mut frame = Vec::new();
    let v4 = ([198, 18, 12, 1], [198, 18, 12, 2], 64);
    let v6 = ([1; 16], [2; 16], 64);
    match kind {
        Kind::Tcp4 => tcp(ethernet.ipv4(v4.0, v4.1, v4.2)).write(&mut frame, &payload),
        Kind::Tcp6 => tcp(ethernet.ipv6(v6.0, v6.1, v6.2)).write(&mut frame, &payload),
        Kind::Udp4 => ethernet.ipv4(v4.0, v4.1, v4.2).udp(5000, 6000).write(&mut frame, &payload),
        Kind::Udp6 => ethernet.ipv6(v6.0, v6.1, v6.2).udp(5000, 6000).write(&mut frame, &payload),
    }
    .unwrap();
    let gso = [vnet::GSO_TCPV4, vnet::GSO_TCPV6, vnet::GSO_UDP_L4, vnet::GSO_UDP_L4];
    let csum_start = match kind {
        Kind::Tcp4 | Kind::Udp4 => 34,
        Kind::Tcp6 | Kind::Udp6 => 54,
    };
    let csum_offset = if matches!(kind, Kind::Tcp4 | Kind::Tcp6) { 16 } else { 6 };
    let vnet = Vnet {
        flags: vnet::NEEDS_CSUM,
        gso_type: gso[kind as usize],
        hdr_len: csum_start,
        gso_size,
        csum_start,
        csum_offset,
    };
    Sample { vnet, frame, payload }
}

fn tcp(
    network: etherparse::PacketBuilderStep<etherparse::IpHeaders>,
) -> etherparse::PacketBuilderStep<etherparse::TcpHeader> {
    network
        .tcp(5000, 6000, 0xffff_ff00, 4000)
        .psh()
        .fin()
        .ack(77)
        .options(&[etherparse::TcpOptionElement::Timestamp(1, 2)])
        .unwrap()
}

impl Sample {
    fn shape(&self) -> Shape {
        match read(self.vnet, &self.frame) {
            Frame::Counted(shape) => shape,
            other => panic!("{other:?}"),
        }
    }

    fn part(&self, wire: Range<u32>) -> Self {
        let run = self.shape().run(self.vnet, &self.frame, wire);
        let payload = self.frame[run.payload()].to_vec();
        Self { vnet: run.vnet(), frame: run.to_frame(&self.frame), payload }
    }

    /// Each wire packet by itself, with its checksum completed, as it would be on the wire.
    fn wire_packets(&self) -> Vec<Vec<u8>> {
        (0..self.shape().count)
            .map(|index| {
                let Self { vnet, mut frame, .. } = self.part(index..index + 1);
                assert_eq!((vnet.gso_type, vnet.gso_size), (0, 0));
                corrupt::complete_checksum(vnet, &mut frame);
                frame
            })
            .collect()
    }
}

/// Panics on a wrong length or checksum; gives the sequence number (0 for UDP) and the payload.
fn judged(frame: &[u8]) -> (u32, Vec<u8>) {
    let packet = SlicedPacket::from_ethernet(frame).unwrap();
    let net = packet.net.clone().unwrap();
    if let Some(v4) = net.ipv4_ref() {
        let header = v4.header().to_header();
        assert_eq!(header.header_checksum, header.calc_header_checksum());
    }
    let headers = match &net {
        etherparse::NetSlice::Ipv4(ip) => etherparse::IpHeaders::Ipv4(
            ip.header().to_header(),
            etherparse::Ipv4Extensions::default(),
        ),
        etherparse::NetSlice::Ipv6(ip) => etherparse::IpHeaders::Ipv6(
            ip.header().to_header(),
            etherparse::Ipv6Extensions::default(),
        ),
        etherparse::NetSlice::Arp(arp) => panic!("{arp:?}"),
    };
    match packet.transport.unwrap() {
        TransportSlice::Tcp(tcp) => {
            let header = tcp.to_header();
            let sum = etherparse::TransportHeader::Tcp(header.clone());
            let due = transport_checksum(&headers, &sum, tcp.payload());
            // The kernel writes a sum of 0 as 0xffff, which is the same in ones' complement.
            assert!(header.checksum == due || (header.checksum, due) == (0xffff, 0));
            (header.sequence_number, tcp.payload().to_vec())
        }
        TransportSlice::Udp(udp) => {
            let header = udp.to_header();
            assert_eq!(usize::from(header.length), udp.payload().len() + 8);
            let sum = etherparse::TransportHeader::Udp(header.clone());
            assert_eq!(header.checksum, transport_checksum(&headers, &sum, udp.payload()));
            (0, udp.payload().to_vec())
        }
        other => panic!("{other:?}"),
    }
}

fn transport_checksum(
    ip: &etherparse::IpHeaders,
    transport: &etherparse::TransportHeader,
    payload: &[u8],
) -> u16 {
    let mut header = transport.clone();
    match ip {
        etherparse::IpHeaders::Ipv4(ip, _) => header.update_checksum_ipv4(ip, payload).unwrap(),
        etherparse::IpHeaders::Ipv6(ip, _) => header.update_checksum_ipv6(ip, payload).unwrap(),
    }
    match header {
        etherparse::TransportHeader::Tcp(tcp) => tcp.checksum,
        etherparse::TransportHeader::Udp(udp) => udp.checksum,
        other => panic!("{other:?}"),
    }
}

fn numbered(length: usize) -> Vec<u8> {
    (0..length).map(|index| u8::try_from(index % 251).unwrap()).collect()
}

#[test]
fn a_super_packet_divides_by_its_segment_size() {
    let shape = sample(Kind::Tcp4, 1448, numbered(64_000)).shape();
    assert_eq!(shape.count, 45);
    assert_eq!(shape.l3_full, 1500);
    assert_eq!(shape.l3_last, 52 + 64_000 - 44 * 1448);
    assert_eq!(shape.l3_of(43), 1500);
    assert_eq!(shape.l3_of(44), shape.l3_last);
}

#[test]
fn sequence_numbers_wrap_and_flags_stay_where_they_belong() {
    let whole = sample(Kind::Tcp4, 1000, numbered(2500));
    let frames = whole.wire_packets();
    let numbers: Vec<u32> = frames.iter().map(|frame| judged(frame).0).collect();
    assert_eq!(numbers, [0xffff_ff00, 744, 1744]);
    let flags: Vec<u8> = frames.iter().map(|frame| frame[34 + 13] & 0x09).collect();
    assert_eq!(flags, [0, 0, 9], "PSH and FIN only on the last");
    let ids: Vec<u16> = frames.iter().map(|frame| be16(frame, 18).unwrap()).collect();
    assert_eq!([ids[1] - ids[0], ids[2] - ids[1]], [1, 1]);
}

#[test]
fn congestion_window_reduced_stays_on_the_first() {
    let mut whole = sample(Kind::Tcp4, 1000, numbered(2500));
    whole.vnet.gso_type |= vnet::GSO_ECN;
    whole.frame[34 + 13] |= 0x80;
    let (head, tail) = (whole.part(0..2), whole.part(1..3));
    assert_eq!((head.frame[34 + 13] & 0x80, head.vnet.gso_type), (0x80, 0x81));
    assert_eq!((tail.frame[34 + 13] & 0x80, tail.vnet.gso_type), (0, 1));
}

#[test]
fn what_is_not_unicast_ip_is_not_counted() {
    let udp = sample(Kind::Udp4, 1000, numbered(100));
    let plain = Vnet::default();
    let changed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut frame = udp.frame.clone();
        change(&mut frame);
        read(plain, &frame)
    };
    assert!(matches!(changed(&|_| {}), Frame::Counted(_)));
    assert_eq!(changed(&|frame| frame[12..14].copy_from_slice(&[8, 6])), Frame::Uncounted);
    assert_eq!(changed(&|frame| frame[0] = 0x33), Frame::Uncounted);
    assert_eq!(changed(&|frame| frame[30] = 224), Frame::Uncounted);
    assert_eq!(read(plain, &[]), Frame::Uncounted);
    let mut solicitation = sample(Kind::Udp6, 1000, numbered(100)).frame;
    (solicitation[20], solicitation[54]) = (58, 135);
    assert_eq!(read(plain, &solicitation), Frame::Uncounted);
    (solicitation[20], solicitation[54]) = (58, 128);
    assert!(matches!(read(plain, &solicitation), Frame::Counted(_)), "ping is counted");
}

#[test]
fn a_super_packet_that_is_not_understood_is_opaque() {
    let whole = sample(Kind::Tcp4, 1448, numbered(5000));
    for gso_type in [vnet::GSO_TCPV6, 3, vnet::GSO_UDP_L4, 7] {
        let vnet = Vnet { gso_type, ..whole.vnet };
        assert_eq!(read(vnet, &whole.frame), Frame::Opaque { l3: 5052 });
    }
    let zero = Vnet { gso_size: 0, ..whole.vnet };
    assert_eq!(read(zero, &whole.frame), Frame::Opaque { l3: 5052 });
    let mut fragment = whole.frame.clone();
    fragment[20] = 0x20;
    assert!(matches!(read(whole.vnet, &fragment), Frame::Opaque { .. }));
    assert!(matches!(read(Vnet::default(), &fragment), Frame::Counted(shape) if shape.count == 1));
}

/// Check E5.
#[test]
fn a_tagged_frame_divides_behind_its_tag() {
    let whole = sample(Kind::Tcp4, 1000, numbered(2500));
    let mut tagged = whole.frame[..12].to_vec();
    tagged.extend([0x81, 0, 0, 7]);
    tagged.extend(&whole.frame[12..]);
    let vnet = Vnet { csum_start: whole.vnet.csum_start + 4, ..whole.vnet };
    let tagged = Sample { vnet, frame: tagged, payload: whole.payload.clone() };
    let payloads: Vec<u8> =
        tagged.wire_packets().iter().flat_map(|frame| judged(frame).1).collect();
    assert_eq!(payloads, whole.payload);
}

#[test]
fn a_flipped_bit_breaks_the_completed_checksum() {
    for kind in KINDS {
        for bit in [8 * 48, 8 * 200 + 3, 8 * 700 + 7] {
            let mut one = sample(kind, 1000, numbered(999)).part(0..1);
            corrupt::complete_checksum(one.vnet, &mut one.frame);
            let clean = one.frame.clone();
            let vnet = corrupted(one.vnet, &mut one.frame, bit);
            assert_eq!(vnet.flags & vnet::NEEDS_CSUM, 0);
            let place = usize::try_from(bit / 8).unwrap() + 14;
            assert_eq!(one.frame[place] ^ clean[place], 0x80 >> (bit % 8));
            assert!(std::panic::catch_unwind(|| judged(&one.frame)).is_err(), "{kind:?} {bit}");
        }
    }
}

#[test]
fn packets_of_a_flow_have_its_number_and_others_do_not() {
    let number = |sample: &Sample| sample.shape().flow(&sample.frame);
    let one = sample(Kind::Tcp4, 1000, numbered(999));
    let mut other = one.clone();
    other.frame[35] ^= 1;
    assert_eq!(number(&one), number(&sample(Kind::Tcp4, 500, numbered(3000))));
    assert_ne!(number(&one), number(&other));
}

#[test]
fn the_virtio_header_round_trips() {
    let vnet = sample(Kind::Tcp6, 1428, numbered(3000)).vnet;
    assert_eq!(Vnet::from_bytes(vnet.to_bytes()), vnet);
}

fn any_sample() -> impl Strategy<Value = Sample> {
    (0..4_usize, 1..3000_u16, 1..20_000_usize).prop_map(|(kind, gso_size, length)| {
        // At most 400 wire packets, so that a case stays fast.
        let gso_size = gso_size.max(u16::try_from(length / 400 + 1).unwrap());
        sample(KINDS[kind], gso_size, numbered(length))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_byte_arrives_once_and_every_checksum_is_right(whole in any_sample()) {
        let payload: Vec<u8> =
            whole.wire_packets().iter().flat_map(|frame| judged(frame).1).collect();
        prop_assert_eq!(payload, whole.payload);
    }

    #[test]
    fn splitting_twice_is_splitting_once(whole in any_sample(), at in 0.0..1.0) {
        let count = whole.shape().count;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below count")]
        let middle = (f64::from(count) * at) as u32;
        let mut twice = Vec::new();
        for part in [0..middle, middle..count] {
            if !part.is_empty() {
                let part = whole.part(part.clone());
                twice.extend(if part.vnet.gso_type == 0 {
                    let mut frame = part.frame.clone();
                    corrupt::complete_checksum(part.vnet, &mut frame);
                    vec![frame]
                } else {
                    part.wire_packets()
                });
            }
        }
        prop_assert_eq!(twice, whole.wire_packets());
    }

    #[test]
    fn the_sizes_of_the_wire_packets_are_those_of_the_shape(whole in any_sample()) {
        let shape = whole.shape();
        for (index, frame) in (0..).zip(whole.wire_packets()) {
            prop_assert_eq!(frame.len() - 14, usize::try_from(shape.l3_of(index)).unwrap());
        }
    }

    #[test]
    fn no_frame_makes_it_panic(
        header in any::<[u8; VNET_LEN]>(),
        mut frame in proptest::collection::vec(any::<u8>(), 0..300),
        ethertype in prop_oneof![Just([8_u8, 0]), Just([0x86, 0xdd]), Just([0x81, 0])],
        version in prop_oneof![Just(0x45_u8), Just(0x60), any::<u8>()],
        protocol in prop_oneof![Just(6_u8), Just(17), Just(0), Just(44), any::<u8>()],
        choice in any::<u32>(),
    ) {
        if frame.len() > 40 {
            frame[0] &= 0xfe;
            frame[12..14].copy_from_slice(&ethertype);
            frame[14] = version;
            frame[if version == 0x60 { 20 } else { 23 }] = protocol;
        }
        let mut vnet = Vnet::from_bytes(header);
        vnet.gso_type %= 6;
        if let Frame::Counted(shape) = read(vnet, &frame) {
            prop_assert!(shape.count >= 1);
            for index in 0..shape.count.min(20) {
                let run = shape.run(vnet, &frame, index..index + 1);
                prop_assert!(run.to_frame(&frame).len() <= frame.len());
            }
        }
        corrupted(vnet, &mut frame, choice);
    }
}
