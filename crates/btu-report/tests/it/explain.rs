//! A capture on a page: structure, charts with and without scripts, hostile names.

use btu_core::capture::Capture;
use btu_core::capture::Interface;
use btu_core::capture::LinkType;
use btu_core::capture::Packet;
use btu_core::diagnosis::Evidence;
use btu_core::tcp::analyse;
use btu_core::units::Nanos;
use btu_report::compose_explained;
use btu_report::explain;
use btu_report::explained_html;
use btu_report::explained_text;

use crate::page::assert_structure;

/// IPv4 and TCP headers: from which end, numbers, flags, length.
fn headers(from: u8, numbers: [u32; 2], flags: u8, window: u16, payload: u16) -> Vec<u8> {
    let syn = flags & 2 != 0;
    let options: &[u8] = if syn { &[2, 4, 5, 180, 1, 3, 3, 7] } else { &[] };
    let header = 20 + u16::try_from(options.len()).unwrap();
    let mut out = vec![0x45, 0];
    out.extend((20 + header + payload).to_be_bytes());
    out.extend([0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, from, 10, 0, 0, 3 - from]);
    let port = |end: u8| 5000 + u16::from(end);
    out.extend([port(from), port(3 - from)].map(u16::to_be_bytes).concat());
    out.extend(numbers.map(u32::to_be_bytes).concat());
    out.extend([u8::try_from(header / 4).unwrap() << 4, flags]);
    out.extend(window.to_be_bytes());
    out.extend([0; 4]);
    out.extend(options);
    out
}

/// A transfer with a loss, a pause of half a second and a shut window.
pub(crate) fn packets() -> Vec<(u64, u16, Vec<u8>)> {
    let mut out = vec![
        (0, 0, headers(1, [99, 0], 2, 60_000, 0)),
        (10_000, 0, headers(2, [499, 100], 18, 60_000, 0)),
        (10_050, 0, headers(1, [100, 500], 16, 60_000, 0)),
    ];
    let mut now = 20_000;
    for number in 0..400_u32 {
        let sequence = 100 + number * 1000;
        out.push((now, 1000, headers(1, [sequence, 500], 16, 512, 1000)));
        if number == 150 {
            for _ in 0..4 {
                out.push((now + 5_000, 0, headers(2, [500, sequence], 16, 400, 0)));
            }
            out.push((now + 6_000, 1000, headers(1, [sequence, 500], 16, 512, 1000)));
        }
        let window = if number == 300 { 0 } else { 400 };
        out.push((now + 10_000, 0, headers(2, [500, sequence + 1000], 16, window, 0)));
        if number == 300 {
            out.push((now + 40_000, 0, headers(2, [500, sequence + 1000], 16, 400, 0)));
        }
        now += if number == 200 { 500_000 } else { 41_000 };
    }
    out.sort_by_key(|packet| packet.0);
    out
}

pub(crate) fn page(name: &str) -> String {
    let page = page_of(name, &packets());
    let text = "application (confidence high";
    assert!(page.contains(text), "{page}");
    page
}

/// More segments than a picture has columns of pixels, some of them lost, all in one burst each.
pub(crate) fn crowded() -> String {
    let mut out = packets()[..3].to_vec();
    let mut now = 20_000;
    for number in 0..20_000_u32 {
        let sequence = 100 + number * 1000;
        out.push((now, 1000, headers(1, [sequence, 500], 16, 512, 1000)));
        if number % 500 == 499 {
            out.push((now + 300, 1000, headers(1, [sequence, 500], 16, 512, 1000)));
            now += 20_000;
        }
        out.push((now + 50, 0, headers(2, [500, sequence + 1000], 16, 400, 0)));
        now += 60;
    }
    out.sort_by_key(|packet| packet.0);
    page_of("crowd.pcap", &out)
}

/// A packet as a file has it.
pub(crate) fn record((micros, payload, data): &(u64, u16, Vec<u8>)) -> Packet<'_> {
    Packet {
        at: Nanos::from_micros(*micros),
        interface: 0,
        heading: None,
        original_bytes: u32::try_from(data.len()).unwrap() + u32::from(*payload),
        data,
        comment: None,
    }
}

fn page_of(name: &str, packets: &[(u64, u16, Vec<u8>)]) -> String {
    let capture = Capture {
        interfaces: vec![Interface::new("test", LinkType::Raw)],
        packets: packets.iter().map(record).collect(),
        ..Capture::default()
    };
    let analysis = analyse(&capture);
    let explained = explain(name, &analysis, &Evidence::default(), 10);
    let document = compose_explained(&explained);
    let text = explained_text(&document);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    String::from_utf8(explained_html(&document)).unwrap()
}

#[test]
fn the_page_of_a_capture_is_well_formed_and_has_its_picture_without_scripts() {
    let page = page("slow.pcap");
    assert_structure(&page, 1);
    let not_carried = ">congestion window: not available: a capture does not carry it</text>";
    let marks = ["class=\"chasm\"", "class=\"shut\"", "application", "curve c2", "dots c7"];
    for word in marks.into_iter().chain([not_carried]) {
        assert!(page.contains(word), "{word}");
    }
    assert!(!page.contains("kB of congestion window"), "an axis without anything beside it");
    assert_eq!(page.matches("script-src 'sha256-").count(), 1);
    assert!(!page.contains("http://") || page.matches("http://").count() == 1);
}

#[test]
fn a_hostile_name_of_a_capture_stays_text() {
    let page = page("</script><script>alert(1)</script>\u{1b}[31m");
    assert!(!page.contains("<script>alert") && !page.contains('\u{1b}'));
}
