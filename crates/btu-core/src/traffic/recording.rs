//! Files that a scenario names, as the text that its types read: a capture becomes rows of its payloads.

use std::fmt::Write as _;

use crate::capture;
use crate::tcp;
use crate::units::Nanos;

/// The text of a file: of a capture (pcap, pcapng) a row `SECONDS,FLOW,WAY,BYTES` for each packet with payload that is
/// not sent again, of any other file what stands in it.
///
/// # Errors
/// It is neither, or a capture in which nothing carries anything.
pub fn text_of_file(bytes: Vec<u8>) -> Result<String, String> {
    let capture = match capture::read(&bytes) {
        Ok(capture) => capture,
        Err(cause) => return String::from_utf8(bytes).map_err(|_| cause.to_string()),
    };
    let payloads = tcp::payloads(&capture);
    let begin = payloads.iter().map(|one| one.at).min().ok_or("no packet of it has payload")?;
    let mut rows: Vec<(Nanos, String)> = Vec::with_capacity(payloads.len());
    for one in &payloads {
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
    Ok(text)
}

/// From who began.
pub(super) const FORWARD: &str = "forward";
/// Back.
pub(super) const BACKWARD: &str = "backward";

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
        let text = text_of_file(file.finish()).unwrap();
        let rows: Vec<&str> = text.lines().collect();
        let wanted =
            ["0.000000000,0,forward,160", "0.020000000,1,forward,40", "0.030000000,0,backward,33"];
        assert_eq!(rows, wanted);
    }

    #[test]
    fn other_files_are_text_and_what_is_neither_is_refused() {
        assert_eq!(text_of_file(b"350,12000,50\n".to_vec()), Ok("350,12000,50\n".to_owned()));
        assert!(text_of_file(vec![0xff, 0xfe, 0, 1, 2]).unwrap_err().contains("neither pcap"));
        let empty = PcapNg::new("test").finish();
        assert!(text_of_file(empty).is_err());
    }
}
