//! Records of super-packets are those of their wire packets, and files can be read again.

use etherparse::PacketBuilder;

use super::*;
use crate::segment;
use crate::segment::Frame;

/// TCP over IPv4, `payload` bytes behind 54 bytes of headers, to be divided by `size`.
fn super_packet(sequence: u32, payload: usize, size: u16) -> (Vnet, Shape, Vec<u8>) {
    between([([198, 19, 12, 1], 5000), ([198, 19, 12, 2], 6000)], sequence, payload, size)
}

/// The same between two ends, from the first to the second.
fn between(
    [(from, from_port), (to, to_port)]: [([u8; 4], u16); 2],
    sequence: u32,
    payload: usize,
    size: u16,
) -> (Vnet, Shape, Vec<u8>) {
    let mut frame = Vec::new();
    PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2])
        .ipv4(from, to, 64)
        .tcp(from_port, to_port, sequence, 4000)
        .psh()
        .ack(77)
        .write(&mut frame, &vec![7; payload])
        .unwrap();
    let gso = if payload > usize::from(size) { (1, size) } else { (0, 0) };
    let vnet = Vnet {
        flags: 1,
        gso_type: gso.0,
        gso_size: gso.1,
        csum_start: 34,
        csum_offset: 16,
        hdr_len: 54,
    };
    match segment::read(vnet, &frame) {
        Frame::Counted(shape) => (vnet, shape, frame),
        other => panic!("{other:?}"),
    }
}

fn millis(count: u64) -> Nanos {
    Nanos::from_millis(count)
}

/// Three wire packets up at 1 ms, the second dropped, the others on at 6 ms; one down meanwhile.
fn capture() -> Capture {
    let mut up = Recorder::new(End::Near, 10);
    let (vnet, shape, frame) = super_packet(1000, 2500, 1000);
    let base = up.arrived(vnet, &shape, &frame, millis(1)).unwrap();
    up.released(base..base + 1, millis(6), false);
    up.released(base + 2..base + 3, millis(6), false);
    up.left(base..base + 3);
    let mut down = Recorder::new(End::Far, 10);
    let (vnet, shape, frame) = super_packet(77, 0, 1000);
    let base = down.arrived(vnet, &shape, &frame, millis(2)).unwrap();
    down.released(base..base + 1, millis(7), false);
    up.finish().joined(down.finish())
}

#[test]
fn a_record_has_48_bytes() {
    assert_eq!(size_of::<Record>(), 48);
}

#[test]
fn the_first_segment_has_the_mark_of_congestion_and_the_last_the_end() {
    let of = |index| flags_of(CWR | FIN_AND_PUSH | 0x10, index, 3);
    assert_eq!([0, 1, 2].map(of), [CWR | 0x10, 0x10, FIN_AND_PUSH | 0x10]);
    assert_eq!(flags_of(CWR | FIN_AND_PUSH, 0, 1), CWR | FIN_AND_PUSH);
}

/// Room for two packets up and four down; the third one up comes at 3 ms, and then no more is kept.
#[test]
fn a_capture_that_is_full_ends_in_both_directions_at_once() {
    let (mut up, mut down) = (Recorder::new(End::Near, 2), Recorder::new(End::Far, 4));
    for at in 1..=4 {
        for recorder in [&mut up, &mut down] {
            let (vnet, shape, frame) = super_packet(1000, 500, 1000);
            if let Some(base) = recorder.arrived(vnet, &shape, &frame, millis(at)) {
                recorder.released(base..base + 1, millis(at + 1), false);
            }
        }
    }
    let capture = up.finish().joined(down.finish());
    assert_eq!((capture.full_since, capture.lost, capture.behind), (Some(millis(3)), 4, 4));
    let seen = capture.seen_by(End::Near);
    assert!(seen.iter().all(|one| one.at < millis(3)) && seen.len() == 3, "{seen:?}");
    let mut file = Vec::new();
    assert_eq!(write_pcapng(&mut file, &[capture], End::Near).unwrap(), 3);
    let missing = btu_core::capture::read(&file).unwrap().missing;
    assert_eq!(missing.full_since, Some(millis(3)));
    assert_eq!((missing.dropped, missing.behind), (4, 4));
}

#[test]
fn a_super_packet_is_recorded_as_its_wire_packets() {
    let capture = capture();
    let up: Vec<_> = capture.records()[..3]
        .iter()
        .map(|record| (record.sequence, record.payload, record.l3, record.flags, record.fate))
        .collect();
    let (ack, push) = (0x10, 0x08);
    assert_eq!(
        up,
        [
            (1000, 1000, 1040, ack, Fate::Passed),
            (2000, 1000, 1040, ack, Fate::Dropped),
            (3000, 500, 540, ack | push, Fate::Passed),
        ]
    );
}

#[test]
fn an_end_sees_what_it_sent_and_what_reached_it() {
    let capture = capture();
    let seen = |end| -> Vec<(Nanos, u32)> {
        capture.seen_by(end).iter().map(|seen| (seen.at, seen.record.sequence)).collect()
    };
    let sent = [(millis(1), 1000), (millis(1), 2000), (millis(1), 3000)];
    assert_eq!(seen(End::Near), [&sent[..], &[(millis(7), 77)]].concat());
    assert_eq!(seen(End::Far), [(millis(2), 77), (millis(6), 1000), (millis(6), 3000)]);
}

#[test]
fn what_finds_no_room_is_counted() {
    let mut recorder = Recorder::new(End::Near, 4);
    let (vnet, shape, frame) = super_packet(0, 2500, 1000);
    assert_eq!(recorder.arrived(vnet, &shape, &frame, millis(1)), Some(0));
    assert_eq!(recorder.arrived(vnet, &shape, &frame, millis(1)), None);
    let capture = recorder.finish();
    assert_eq!((capture.lost, capture.records().len()), (3, 3));
    assert!(capture.records().iter().all(|record| record.fate == Fate::Held));
}

#[test]
fn headers_are_those_of_the_wire_packet() {
    let capture = capture();
    let headers = capture.headers(&capture.records()[2]);
    assert_eq!(headers.len(), 54);
    assert_eq!(u16::from_be_bytes([headers[16], headers[17]]), 540, "total length");
    assert_eq!(u32::from_be_bytes(headers[38..42].try_into().unwrap()), 3000);
}

/// Type and body of each block; checks both lengths.
fn blocks(mut file: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let word = |bytes: &[u8], at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap());
    let mut found = Vec::new();
    while !file.is_empty() {
        let length = usize::try_from(word(file, 4)).unwrap();
        assert_eq!(usize::try_from(word(file, length - 4)).unwrap(), length);
        found.push((word(file, 0), file[8..length - 4].to_vec()));
        file = &file[length..];
    }
    found
}

#[test]
fn a_file_has_a_section_an_interface_and_a_block_per_packet() {
    let capture = Capture { link: "link".into(), wall_offset_ns: 5_000_000_000, ..capture() };
    let mut file = Vec::new();
    write_pcapng(&mut file, &[capture], End::Near).unwrap();
    let blocks = blocks(&file);
    let kinds: Vec<u32> = blocks.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, [0x0a0d_0d0a, 1, 6, 6, 6, 6]);
    let words: Vec<u32> =
        blocks[2].1.chunks(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap())).collect();
    let stamp = u64::from(words[1]) << 32 | u64::from(words[2]);
    assert_eq!(stamp, 5_001_000_000, "wall clock, nanoseconds");
    assert_eq!(words[3..5], [54, 1054], "kept and full length");
    let text = String::from_utf8_lossy(&blocks[3].1).into_owned();
    assert!(text.contains("dropped by the emulated link"));
}

#[test]
fn the_tag_of_a_vlan_is_a_part_of_what_is_kept_and_of_the_full_length() {
    let (vnet, _, frame) = super_packet(1, 2500, 1000);
    let tagged = [&frame[..12], &[0x81, 0, 0, 7], &frame[12..]].concat();
    let vnet = Vnet { csum_start: vnet.csum_start + 4, ..vnet };
    let Frame::Counted(shape) = segment::read(vnet, &tagged) else { panic!("it is counted") };
    let mut recorder = Recorder::new(End::Near, 10);
    recorder.arrived(vnet, &shape, &tagged, millis(1)).unwrap();
    let mut file = Vec::new();
    write_pcapng(&mut file, &[recorder.finish()], End::Near).unwrap();
    let packets = btu_core::capture::read(&file).unwrap().packets;
    let lengths: Vec<_> = packets.iter().map(|one| (one.data.len(), one.original_bytes)).collect();
    assert_eq!(lengths, [(58, 1058), (58, 1058), (58, 558)]);
}

/// Whatever passed beside them: of others not even a header is left in the file.
#[test]
fn a_file_holds_the_connections_of_the_test_and_no_byte_of_another_one() {
    let (own, far) = (([198, 19, 12, 1], 5000), ([198, 19, 12, 2], 6000));
    let others = [
        [([198, 19, 12, 3], 5000), far],
        [own, ([198, 19, 12, 4], 6000)],
        [([198, 19, 12, 1], 5001), far],
        [own, ([198, 19, 12, 2], 22)],
    ];
    let mut recorder = Recorder::new(End::Near, 100);
    for ends in [[own, far], [far, own]].into_iter().chain(others) {
        let (vnet, shape, frame) = between(ends, 1, 2500, 1000);
        let base = recorder.arrived(vnet, &shape, &frame, millis(1)).unwrap();
        recorder.released(base..base + 3, millis(1), false);
    }
    let whole = recorder.finish();
    assert_eq!(whole.records().len(), 18);
    let connection = Connection { local: far.into(), remote: own.into() };
    let mut file = Vec::new();
    let packets = write_pcapng(&mut file, &[whole.of_connections(&[connection])], End::Far);
    assert_eq!(packets.unwrap(), 6);
    for other in [3, 4] {
        let address = [198, 19, 12, other];
        assert!(!file.windows(4).any(|bytes| bytes == address), "{address:?}");
    }
    let read = btu_core::capture::read(&file).unwrap();
    assert!(read.packets.iter().all(|packet| packet.data.len() == 54), "headers only");
    let found = btu_core::tcp::analyse(&read);
    assert_eq!((found.connections.len(), found.traffic.segments), (1, 6));
    let none: &[Connection] = &[];
    assert_eq!(capture().of_connections(none).records(), []);
}

/// Sent once at 1 ms, it came at 6 ms, and its copy with a flipped bit at 8 ms.
#[test]
fn a_copy_reaches_the_receiver_alone_and_a_flipped_bit_is_remarked() {
    let mut up = Recorder::new(End::Near, 2);
    let (vnet, shape, frame) = super_packet(1000, 500, 1000);
    let base = up.arrived(vnet, &shape, &frame, millis(1)).unwrap();
    up.released(base..base + 1, millis(6), false);
    up.released(base..base + 1, millis(8), true);
    up.released(base..base + 1, millis(9), false);
    up.left(base..base + 1);
    let capture = up.finish().joined(Capture::default());
    assert_eq!(capture.lost, 1, "there was room for two");
    let times = |end| -> Vec<Nanos> { capture.seen_by(end).iter().map(|seen| seen.at).collect() };
    assert_eq!(times(End::Near), [millis(1)]);
    assert_eq!(times(End::Far), [millis(6), millis(8)]);
    let mut file = Vec::new();
    write_pcapng(&mut file, &[capture], End::Far).unwrap();
    let text = String::from_utf8_lossy(&file);
    assert_eq!(text.matches("a bit flipped by the emulated link").count(), 1);
}
