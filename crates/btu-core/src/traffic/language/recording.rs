//! Files that a scenario names, as the text that its types read: a capture becomes rows of its payloads.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::capture;
use crate::capture::Capture;
use crate::capture::LinkType;
use crate::tcp;
use crate::tcp::Payload;
use crate::units::Nanos;

/// What stands in a file that a scenario names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileText {
    /// The text.
    pub text: String,
    /// What is not in it and should be, in sentences.
    pub lacks: Vec<String>,
}

impl From<String> for FileText {
    fn from(text: String) -> Self {
        Self { text, lacks: Vec::new() }
    }
}

/// The text of a file: of a capture (pcap, pcapng) a row `SECONDS,FLOW,WAY,BYTES` for each packet with payload that is
/// not sent again, of any other file what stands in it.
///
/// # Errors
/// It is neither, or a capture in which nothing carries anything, or one that lasts longer than a million seconds.
pub fn text_of_file(bytes: Vec<u8>) -> Result<FileText, String> {
    let capture = match capture::read(&bytes) {
        Ok(capture) => capture,
        Err(cause) => {
            let text = String::from_utf8(bytes).map_err(|other| {
                let place = other.utf8_error().valid_up_to() + 1;
                format!("neither a capture ({cause}) nor text in UTF-8 (byte {place} is none)")
            })?;
            return Ok(text.into());
        }
    };
    let payloads = tcp::payloads(&capture);
    let times = || payloads.iter().map(|one| one.at);
    let (begin, end) = times().min().zip(times().max()).ok_or_else(|| nothing(&capture))?;
    if end.since(begin) > LONGEST {
        return Err(format!(
            "payload passed from {:.0} s to {:.0} s after 1970, longer than {} s: if a clock was wrong, leave its \
             packets out; else cut the file (editcap -A START -B STOP)",
            begin.seconds(),
            end.seconds(),
            LONGEST.seconds()
        ));
    }
    Ok(FileText { text: rows(&payloads, begin), lacks: lacks(&capture) })
}

/// The payloads as rows, in the order of their times.
fn rows(payloads: &[Payload], begin: Nanos) -> String {
    let mut rows: Vec<(Nanos, String)> = Vec::with_capacity(payloads.len());
    for one in payloads {
        let at = one.at.since(begin);
        let way = if one.is_from_client { FORWARD } else { BACKWARD };
        let (seconds, rest) = (at.count() / 1_000_000_000, at.count() % 1_000_000_000);
        rows.push((at, format!("{seconds}.{rest:09},{},{way},{}", one.number, one.bytes)));
    }
    // Of several interfaces packets need not stand in the order of their times.
    rows.sort_by_key(|(at, _)| *at);
    let mut text = String::new();
    for (_, row) in rows {
        let _ = writeln!(text, "{row}");
    }
    text
}

/// What passed and is not in a capture, or in it and not understood.
fn lacks(capture: &Capture<'_>) -> Vec<String> {
    let missing = &capture.missing;
    let mut lacks = Vec::new();
    if missing.scattered() > 0 {
        lacks.push(format!("whoever captured lost {} packets", missing.scattered()));
    }
    if missing.full_since.is_some() {
        let behind = missing.behind;
        lacks.push(format!("its memory was full, and {behind} packets came later"));
    }
    lacks.extend(missing.notes.iter().cloned());
    let foreign = packets_by_link(capture).into_iter().filter(|(link, _)| !is_known(*link));
    lacks.extend(
        foreign.map(|(link, count)| format!("{count} packets of {} are left out", words(link))),
    );
    lacks.into_iter().map(|lack| format!("the capture is not whole: {lack}")).collect()
}

/// Why there is nothing to send.
fn nothing(capture: &Capture<'_>) -> String {
    let links = packets_by_link(capture);
    let seen: Vec<String> =
        links.iter().map(|(link, count)| format!("{count} of {}", words(*link))).collect();
    let seen = if seen.is_empty() { "none at all".to_owned() } else { seen.join(", ") };
    let cause = format!("no packet of it has payload of TCP or UDP; it has {seen}");
    if links.keys().all(|link| is_known(*link)) {
        return cause;
    }
    format!("{cause}; capture where packets are Ethernet or IP, as with tcpdump -i any")
}

/// How many packets there are by the number of their link type.
fn packets_by_link(capture: &Capture<'_>) -> BTreeMap<u16, usize> {
    let mut links = BTreeMap::new();
    for packet in &capture.packets {
        let interface = usize::try_from(packet.interface).unwrap_or(usize::MAX);
        if let Some(interface) = capture.interfaces.get(interface) {
            *links.entry(interface.link_type.number()).or_insert(0) += 1;
        }
    }
    links
}

fn is_known(link: u16) -> bool {
    !matches!(LinkType::from_number(link), LinkType::Other(_))
}

/// A link type with its name where it is a usual one (www.tcpdump.org/linktypes.html).
fn words(link: u16) -> String {
    let name = match (LinkType::from_number(link), link) {
        (LinkType::Ethernet, _) => " (Ethernet)",
        (LinkType::Loopback, _) => " (loopback)",
        (LinkType::LinuxCooked | LinkType::LinuxCooked2, _) => " (Linux cooked)",
        (LinkType::Raw, _) => " (IP)",
        (_, 9 | 50) => " (PPP)",
        (_, 51) => " (PPPoE)",
        (_, 105) => " (802.11)",
        (_, 127) => " (802.11 with radiotap)",
        (_, 195 | 230) => " (802.15.4)",
        (_, 189 | 220) => " (USB)",
        _ => "",
    };
    format!("link type {link}{name}")
}

/// No row is later: who writes more meant another time than that since the first one.
pub(in crate::traffic) const LONGEST: Nanos = Nanos::from_secs(1_000_000);
/// From who began.
pub(in crate::traffic) const FORWARD: &str = "forward";
/// Back.
pub(in crate::traffic) const BACKWARD: &str = "backward";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::Interface;
    use crate::capture::LinkType;
    use crate::capture::Packet;
    use crate::capture::PcapNg;

    /// A packet of UDP over IPv4, headers only.
    fn udp(from: [u8; 4], to: [u8; 4], payload: u16) -> Vec<u8> {
        let mut out = vec![0x45, 0];
        out.extend((28 + payload).to_be_bytes());
        out.extend([0, 0, 0x40, 0, 64, 17, 0, 0]);
        out.extend([from, to].concat());
        // Port 5004 at both ends.
        out.extend([0x13, 0x8c, 0x13, 0x8c]);
        out.extend((8 + payload).to_be_bytes());
        out.extend([0, 0]);
        out
    }

    #[test]
    fn a_capture_becomes_rows_of_its_payloads_in_order_of_time() {
        let (near, far, other) = ([10, 0, 0, 1], [10, 0, 0, 2], [10, 0, 0, 3]);
        let mut file = PcapNg::new("test");
        file.interface(&Interface::new("eth0", LinkType::Raw));
        for (millis, from, to, payload) in [
            (5_000, near, far, 160),
            (5_030, far, near, 33),
            (5_020, other, far, 40),
            (5_040, near, far, 0),
        ] {
            let data = udp(from, to, payload);
            let original_bytes = u32::try_from(data.len()).unwrap() + u32::from(payload);
            let at = Nanos::from_millis(millis);
            let interface = 0;
            file.packet(&Packet {
                at,
                interface,
                heading: None,
                original_bytes,
                data: &data,
                comment: None,
            });
        }
        let FileText { text, lacks } = text_of_file(file.finish()).unwrap();
        assert_eq!(lacks, Vec::<String>::new());
        let rows: Vec<&str> = text.lines().collect();
        let wanted =
            ["0.000000000,0,forward,160", "0.020000000,1,forward,40", "0.030000000,0,backward,33"];
        assert_eq!(rows, wanted);
    }

    #[test]
    fn other_files_are_text_and_what_is_neither_is_refused() {
        let text = "350,12000,50\n".to_owned();
        assert_eq!(text_of_file(text.clone().into_bytes()), Ok(text.into()));
        assert!(text_of_file(vec![0xff, 0xfe, 0, 1, 2]).unwrap_err().contains("neither pcap"));
        // A table with a comment in Latin-1.
        assert_eq!(
            text_of_file(b"# Gr\xf6\xdfe,Anteil\n1,0.5\n".to_vec()).unwrap_err(),
            "neither a capture (the file begins with bytes 23 20 47 72: neither pcap (tcpdump -w) nor pcapng) nor text in \
             UTF-8 (byte 5 is none)"
        );
        let empty = PcapNg::new("test").finish();
        assert!(text_of_file(empty).unwrap_err().ends_with("it has none at all"));
    }

    /// A file with an interface of each link type, and so many packets of UDP with it.
    fn of_links(links: &[(LinkType, u64)]) -> PcapNg {
        let mut file = PcapNg::new("test");
        for (link, count) in links {
            let interface = file.interface(&Interface::new("eth0", *link));
            for at in 0..*count {
                packet(&mut file, interface, Nanos::from_millis(at));
            }
        }
        file
    }

    /// Adds a packet of UDP with 160 bytes.
    fn packet(file: &mut PcapNg, interface: u32, at: Nanos) {
        let data = &udp([10, 0, 0, 1], [10, 0, 0, 2], 160);
        let original_bytes = u32::try_from(data.len()).unwrap() + 160;
        let heading = None;
        file.packet(&Packet { at, interface, heading, original_bytes, data, comment: None });
    }

    #[test]
    fn a_capture_that_is_not_whole_says_what_it_lacks() {
        let lacks = |file: Vec<u8>| text_of_file(file).unwrap().lacks;
        let whole = of_links(&[(LinkType::Raw, 3)]).finish();
        assert_eq!(lacks(whole.clone()), Vec::<String>::new());
        let cut = lacks(whole[..whole.len() - 3].to_vec());
        assert!(cut.len() == 1 && cut[0].starts_with("the capture is not whole: "), "{cut:?}");
        let mut full = of_links(&[(LinkType::Raw, 3)]);
        full.full(0, Nanos::from_millis(5), 3, 40);
        let told = [
            "the capture is not whole: whoever captured lost 3 packets",
            "the capture is not whole: its memory was full, and 40 packets came later",
        ];
        assert_eq!(lacks(full.finish()), told);
        let two = of_links(&[(LinkType::Raw, 3), (LinkType::Other(127), 2)]).finish();
        let told = "the capture is not whole: 2 packets of link type 127 (802.11 with radiotap) are left out";
        assert_eq!(lacks(two), [told]);
    }

    /// One packet of a clock that was never set, then those of a day in 2023; and two that are as far apart as is legal.
    #[test]
    fn a_capture_that_lasts_too_long_is_refused_as_a_capture() {
        let of_times = |times: [u64; 2]| {
            let mut file = of_links(&[(LinkType::Raw, 0)]);
            for at in times {
                packet(&mut file, 0, Nanos::from_secs(at));
            }
            text_of_file(file.finish())
        };
        let refused = of_times([0, 1_700_000_000]).unwrap_err();
        let told = "payload passed from 0 s to 1700000000 s after 1970, longer than 1000000 s: if a clock was wrong";
        assert!(refused.starts_with(told), "{refused}");
        assert!(of_times([1_700_000_000, 1_701_000_001]).is_err());
        assert!(of_times([1_700_000_000, 1_701_000_000]).is_ok());
    }

    #[test]
    fn a_capture_without_payload_names_its_link_types() {
        let refused =
            |links: &[(LinkType, u64)]| text_of_file(of_links(links).finish()).unwrap_err();
        assert_eq!(
            refused(&[(LinkType::Other(9), 2)]),
            "no packet of it has payload of TCP or UDP; it has 2 of link type 9 (PPP); capture where packets are \
             Ethernet or IP, as with tcpdump -i any"
        );
        assert_eq!(
            refused(&[(LinkType::Ethernet, 4)]),
            "no packet of it has payload of TCP or UDP; it has 4 of link type 1 (Ethernet)"
        );
    }
}
