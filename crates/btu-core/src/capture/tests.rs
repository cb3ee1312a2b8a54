//! Files that were written are read again, and files that are damaged give what is left of them.

use proptest::prelude::*;

use super::*;

fn packet(at: u64, data: &[u8]) -> Packet<'_> {
    let original_bytes = u32::try_from(data.len()).unwrap() + 1000;
    Packet { at: Nanos::new(at), interface: 0, heading: None, original_bytes, data, comment: None }
}

/// Three packets on two interfaces, one of them with everything that can be said of it.
fn file() -> Vec<u8> {
    let mut file = PcapNg::new("of a test");
    file.interface(&Interface::new("btu0", LinkType::Ethernet));
    let second = file.interface(&Interface::new("lo", LinkType::Raw));
    file.packet(&packet(1_700_000_000_123_456_789, b"abcde"));
    file.packet(&Packet {
        interface: second,
        heading: Some(Heading::Outbound),
        comment: Some("dropped"),
        ..packet(u64::from(u32::MAX) + 7, b"xyz")
    });
    file.packet(&packet(0, b""));
    file.lost(0, Nanos::new(9), 17);
    file.finish()
}

/// The classic format by hand, in both byte orders.
fn classic(magic: u32, big: bool, records: &[[u32; 4]]) -> Vec<u8> {
    let long = |number: u32| if big { number.to_be_bytes() } else { number.to_le_bytes() };
    let word = |number: u16| if big { number.to_be_bytes() } else { number.to_le_bytes() };
    let mut out = long(magic).to_vec();
    out.extend([word(2), word(4)].concat());
    out.extend([0, 0, 96, 1].map(long).concat());
    for record in records {
        out.extend(record.map(long).concat());
        out.resize(out.len() + place(record[2]), 7);
    }
    out
}

fn place(count: u32) -> usize {
    usize::try_from(count).unwrap()
}

#[test]
fn what_was_written_is_read_again() {
    let file = file();
    let read = read(&file).unwrap();
    assert_eq!(read.interfaces[1], Interface::new("lo", LinkType::Raw));
    assert_eq!(read.packets[0], packet(1_700_000_000_123_456_789, b"abcde"));
    let second = &read.packets[1];
    assert_eq!((second.interface, second.heading), (1, Some(Heading::Outbound)));
    assert_eq!((second.comment, second.at.count()), (Some("dropped"), u64::from(u32::MAX) + 7));
    assert_eq!((read.packets.len(), read.missing.dropped), (3, 17));
    assert!(read.missing.notes.is_empty());
}

#[test]
fn a_capture_whose_memory_was_full_says_since_when() {
    let mut file = PcapNg::new("");
    let interface = file.interface(&Interface::new("btu0", LinkType::Ethernet));
    file.packet(&packet(5, b"abc"));
    file.full(interface, Nanos::new(1_700_000_000_123_456_789), 3, 40);
    let file = file.finish();
    let missing = read(&file).unwrap().missing;
    assert_eq!(missing.full_since, Some(Nanos::new(1_700_000_000_123_456_789)));
    assert_eq!((missing.dropped, missing.behind, missing.scattered()), (43, 40, 3));
}

/// Every capture of dumpcap says when it ended and what the system dropped, from its beginning on.
#[test]
fn what_the_system_dropped_from_a_capture_of_others_is_scattered() {
    let mut file = PcapNg::new("");
    let interface = file.interface(&Interface::new("eth0", LinkType::Ethernet));
    file.packet(&packet(5, b"abc"));
    file.full(interface, Nanos::new(9), 3, 40);
    let mut file = file.finish();
    // The same block with another remark: end and drops stay.
    let mark = file.windows(5).position(|five| five == b"btu: ").unwrap();
    file[mark..mark + 5].copy_from_slice(b"user:");
    let missing = read(&file).unwrap().missing;
    assert_eq!((missing.full_since, missing.dropped), (None, 43));
    assert_eq!((missing.behind, missing.scattered()), (0, 43));
}

#[test]
fn the_classic_format_is_read_in_both_orders_and_units() {
    for big in [false, true] {
        let micros = classic(0xa1b2_c3d4, big, &[[5, 250_000, 3, 60], [6, 1, 0, 60]]);
        let read_ = read(&micros).unwrap();
        assert_eq!(read_.interfaces[0].link_type, LinkType::Ethernet);
        assert_eq!(read_.packets[0].at, Nanos::new(5_250_000_000));
        assert_eq!((read_.packets[0].data, read_.packets[0].original_bytes), (&[7; 3][..], 60));
        let nanos = classic(0xa1b2_3c4d, big, &[[5, 250_000, 0, 60]]);
        assert_eq!(read(&nanos).unwrap().packets[0].at, Nanos::new(5_000_250_000));
    }
}

#[test]
fn a_file_that_ends_early_gives_what_is_there_and_says_what_is_not() {
    let whole = classic(0xa1b2_c3d4, false, &[[5, 0, 3, 60], [6, 0, 40, 60]]);
    let cut = &whole[..whole.len() - 1];
    let found = read(cut).unwrap();
    assert_eq!((found.packets.len(), found.missing.unread_bytes), (1, 55));
    assert!(found.missing.notes[0].contains("inside packet 2"), "{:?}", found.missing);
    let whole = file();
    let found = read(&whole[..whole.len() - 2]).unwrap();
    assert_eq!(found.packets.len(), 3);
    assert!(found.missing.unread_bytes > 0);
}

#[test]
fn what_is_no_capture_is_named() {
    let said = |file: &[u8]| read(file).unwrap_err().to_string();
    assert!(said(b"").contains("empty"));
    assert!(said(b"{\"a\": 1}").contains("JSON"));
    assert!(said(&[0x1f, 0x8b, 8, 0]).contains("gzip"));
    assert!(said(b"abcdefgh").contains("text"));
    assert!(said(b"\x01bcdefgh").contains("01 62 63 64"));
    assert!(said(&classic(0xa1b2_c3d4, true, &[])[..5]).contains("5 bytes"));
    let mut other = file();
    other[12] = 9;
    assert!(said(&other).contains("version 9"));
}

#[test]
fn times_count_in_powers_of_ten_and_of_two() {
    // `if_tsresol` stands in the first interface block behind its name.
    let file = file();
    let place = file.windows(5).position(|five| five == [9, 0, 1, 0, 9]).unwrap() + 4;
    for (resolution, ticks, nanos) in [(6, 5, 5000), (12, 5000, 5), (0x80, 2, 2_000_000_000)] {
        let mut out = PcapNg::new("");
        out.interface(&Interface::new("btu0", LinkType::Ethernet));
        out.packet(&packet(ticks, b""));
        let mut out = out.finish();
        let here = out.windows(5).position(|five| five == [9, 0, 1, 0, 9]).unwrap() + 4;
        out[here] = resolution;
        assert_eq!(read(&out).unwrap().packets[0].at, Nanos::new(nanos), "{resolution} {place}");
    }
}

proptest! {
    /// No byte of a file can make its reader fail: it ends, with what it found.
    #[test]
    fn damaged_files_end(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut file = file();
        for (place, byte) in changes {
            let place = place.index(file.len());
            file[place] = byte;
        }
        if let Ok(found) = read(&file) {
            prop_assert!(found.packets.len() <= 3 * file.len());
        }
    }
}
