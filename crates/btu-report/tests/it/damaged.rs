//! 10,000 damaged captures of four kinds through everything that can be made of one: each ends, with an
//! error or with what is left of it.

use btu_core::capture;
use btu_core::capture::Interface;
use btu_core::capture::LinkType;
use btu_core::capture::Packet;
use btu_core::capture::PcapNg;
use btu_core::diagnosis::Evidence;
use btu_core::tcp::analyse;
use btu_report::compose_explained;
use btu_report::explain;
use btu_report::explained_html;
use btu_report::explained_json;
use btu_report::explained_text;
use btu_report::xplot;

use crate::dice::Dice;
use crate::dice::mutated;
use crate::explain::packets;
use crate::explain::record;

/// The classic format, with times in micro- or nanoseconds, packets behind `front`.
fn classic(magic: u32, link: u32, long: fn(u32) -> [u8; 4], front: &[u8]) -> Vec<u8> {
    let mut out = long(magic).to_vec();
    // Version 2.4: two numbers of two bytes in the order of the others.
    let version = if long(1)[0] == 1 { [2, 0, 4, 0] } else { [0, 2, 0, 4] };
    out.extend(version);
    out.extend([0, 0, 96, link].map(long).concat());
    for (micros, payload, data) in packets().iter().take(60) {
        let seconds = u32::try_from(micros / 1_000_000).unwrap();
        let fraction = u32::try_from(micros % 1_000_000).unwrap();
        let fraction = if magic == 0xa1b2_3c4d { fraction * 1000 } else { fraction };
        let kept = u32::try_from(front.len() + data.len()).unwrap();
        out.extend([seconds, fraction, kept, kept + u32::from(*payload)].map(long).concat());
        out.extend_from_slice(front);
        out.extend_from_slice(data);
    }
    out
}

fn blocks() -> Vec<u8> {
    let mut file = PcapNg::new("of a test");
    file.interface(&Interface::new("test", LinkType::Raw));
    packets().iter().take(60).for_each(|packet| file.packet(&record(packet)));
    file.full(0, btu_core::units::Nanos::from_secs(9), 1, 2);
    file.finish()
}

/// Ethernet and its type, Linux cooked of the second version.
fn seeds() -> [Vec<u8>; 4] {
    let ethernet = [&[0; 12][..], &[8, 0]].concat();
    let cooked = [&[8, 0][..], &[0; 18]].concat();
    [
        classic(0xa1b2_c3d4, 1, u32::to_le_bytes, &ethernet),
        classic(0xa1b2_3c4d, 276, u32::to_be_bytes, &cooked),
        classic(0xa1b2_3c4d, 101, u32::to_le_bytes, &[]),
        blocks(),
    ]
}

#[test]
fn every_seed_is_a_whole_capture() {
    for seed in seeds() {
        let read = capture::read(&seed).unwrap();
        let analysis = analyse(&read);
        assert_eq!((read.packets.len(), analysis.connections.len()), (60, 1));
        assert_eq!(analysis.traffic.segments, 60, "{:?}", analysis.traffic);
    }
}

#[test]
fn ten_thousand_damaged_captures_go_through_every_writer() {
    let seeds = seeds();
    let mut dice = Dice::new(23);
    let mut explained = 0;
    for number in 0..10_000 {
        let damaged = mutated(&seeds[number % 4], &mut dice);
        explained += usize::from(everything(&damaged, number / 4 % PAGE_EACH == 0));
    }
    assert!(explained > 5_000, "{explained}");
}

/// A page takes as long as all the rest together.
const PAGE_EACH: usize = 10;

/// What the verb makes of a capture; false where it is none any more.
fn everything(bytes: &[u8], with_page: bool) -> bool {
    let Ok(read) = capture::read(bytes) else { return false };
    let analysis = analyse(&read);
    let explained = explain("damaged", &analysis, &Evidence::default(), 10);
    let json = explained_json(&explained);
    assert!(json["connections"].is_array());
    for connection in &analysis.connections {
        let plot = xplot(connection);
        assert!(plot.starts_with("timeval unsigned\n") && plot.ends_with("go\n"));
    }
    let again = rewritten(&read);
    let packets = capture::read(&again).unwrap().packets;
    assert_eq!(packets.len(), read.packets.len());
    if with_page {
        let document = compose_explained(&explained);
        assert!(!explained_text(&document).is_empty());
        assert!(explained_html(&document).ends_with(b"</html>"));
    }
    true
}

fn rewritten(read: &capture::Capture<'_>) -> Vec<u8> {
    let mut file = PcapNg::new("headers only");
    for interface in &read.interfaces {
        file.interface(interface);
    }
    for packet in &read.packets {
        let data = packet.data.get(..118).unwrap_or(packet.data);
        file.packet(&Packet { data, ..*packet });
    }
    file.finish()
}
