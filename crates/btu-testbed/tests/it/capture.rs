//! The test host's own view, rebuilt from the emulator's stamps, against tcpdump in its namespace.

use std::collections::BTreeMap;
use std::fs;
use std::fs::File;
use std::io::BufRead;
use std::io::BufReader;
use std::io::Read;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;

use btu_sys::packet::ReceiveForm;
use btu_testbed::backend::Emulator;
use btu_testbed::capture::End;
use btu_testbed::capture::write_pcapng;

use crate::isolated::isolated;
use crate::skip;
use crate::traffic::Ends;
use crate::traffic::inside;
use crate::traffic::round_trips;
use crate::traffic::tcp_transfer;
use crate::world::World;
use crate::world::is_root_outside;

/// Bytes of the TCP stream that were seen, by number of the first of each 1000, per direction.
type Coverage = BTreeMap<(u16, u32), u32>;

/// A running `tcpdump` in the near end's namespace.
struct Tcpdump {
    child: Child,
    said: BufReader<std::process::ChildStderr>,
    file: std::path::PathBuf,
}

impl Tcpdump {
    fn start(ends: Ends<'_>) -> Self {
        let file = std::env::temp_dir().join(format!("btu-e15-{}.pcap", std::process::id()));
        let mut child = inside(ends.near, || {
            Command::new("tcpdump")
                .args(["-i", "btu1", "-s", "96", "-B", "65536", "--immediate-mode", "-n"])
                .args(["--time-stamp-precision=nano", "-w"])
                .arg(&file)
                .arg("tcp")
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        });
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("listening on") {
            line.clear();
            assert!(said.read_line(&mut line).unwrap() > 0, "tcpdump ended");
        }
        Self { child, said, file }
    }

    /// Every TCP segment of the file: time, source port, sequence number, payload.
    fn segments(mut self) -> Vec<(u64, u16, u32, u32)> {
        let pid = self.child.id().to_string();
        Command::new("kill").args(["-INT", &pid]).status().unwrap();
        let mut said = String::new();
        self.said.read_to_string(&mut said).unwrap();
        self.child.wait().unwrap();
        assert!(said.lines().any(|line| line == "0 packets dropped by kernel"), "{said}");
        let bytes = fs::read(&self.file).unwrap();
        fs::remove_file(&self.file).unwrap();
        read_pcap(&bytes)
    }
}

/// The classic format with times in nanoseconds: 24 bytes, then 16 before each packet.
fn read_pcap(mut file: &[u8]) -> Vec<(u64, u16, u32, u32)> {
    let word = |bytes: &[u8], at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap());
    let network =
        |bytes: &[u8], at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!(word(file, 0), 0xa1b2_3c4d);
    let mut found = Vec::new();
    file = &file[24..];
    while file.len() >= 16 {
        let kept = usize::try_from(word(file, 8)).unwrap();
        let time = u64::from(word(file, 0)) * 1_000_000_000 + u64::from(word(file, 4));
        let packet = &file[16..16 + kept];
        let headers = 14 + 20 + u32::from(packet[46] >> 4) * 4;
        let port = u16::from_be_bytes([packet[34], packet[35]]);
        found.push((time, port, network(packet, 38), word(file, 12) - headers));
        file = &file[16 + kept..];
    }
    found
}

/// Adds up the bytes in each block of 1000 sequence numbers.
fn cover(coverage: &mut Coverage, port: u16, sequence: u32, payload: u32) {
    let mut rest = payload;
    while rest > 0 {
        let at = sequence.wrapping_add(payload - rest);
        let inside = rest.min(1000 - at % 1000);
        *coverage.entry((port, at / 1000)).or_default() += inside;
        rest -= inside;
    }
}

/// Check E15.
#[test]
fn the_rebuilt_view_is_what_tcpdump_sees_at_the_near_end() {
    isolated("capture::the_rebuilt_view_is_what_tcpdump_sees_at_the_near_end", || {
        if !is_root_outside() {
            skip!("not root: tcpdump wants to give up its rights, which a user namespace forbids");
        }
        if !skip::installed("tcpdump") {
            skip!("program missing: tcpdump");
        }
        let world = World::new(ReceiveForm::Ring);
        world.begin(&["drop 1@200,3@400/400", "delay 2ms"]);
        let tcpdump = Tcpdump::start(world.ends());
        world.relay.start_capture(100_000).unwrap();
        let (received, _) = tcp_transfer(world.ends(), 4 << 20);
        assert!(received > 3 << 20);
        let capture = world.relay.end_capture().unwrap().remove(0);
        let theirs = tcpdump.segments();
        assert_eq!(capture.lost, 0);
        let (mut expected, mut rebuilt) = (Coverage::new(), Coverage::new());
        for (_, port, sequence, payload) in &theirs {
            cover(&mut expected, *port, *sequence, *payload);
        }
        for seen in capture.seen_by(End::Near) {
            let headers = capture.headers(seen.record);
            let port = u16::from_be_bytes([headers[34], headers[35]]);
            cover(&mut rebuilt, port, seen.record.sequence, seen.record.payload);
        }
        assert!(expected.len() > 3000, "tcpdump saw {} blocks", expected.len());
        assert_eq!(rebuilt, expected, "bytes per block of sequence numbers");
        assert_times_agree(&capture, &theirs);
    });
}

/// The first segments of the connection, which nobody batches. A busy machine may come between the
/// emulator and tcpdump, but hardly each time, and lateness is recorded elsewhere.
fn assert_times_agree(capture: &btu_testbed::capture::Capture, theirs: &[(u64, u16, u32, u32)]) {
    let seen = capture.seen_by(End::Near);
    let wall = |index: usize| seen[index].at.count().saturating_add_signed(capture.wall_offset_ns);
    let first = theirs.iter().take(3).enumerate();
    let apart: Vec<u64> = first.map(|(index, (time, ..))| wall(index).abs_diff(*time)).collect();
    assert!(apart.iter().any(|apart| *apart < 20_000_000), "{apart:?} ns apart");
}

#[test]
fn tools_can_read_the_file() {
    isolated("capture::tools_can_read_the_file", || {
        if !is_root_outside() {
            skip!("not root: tcpdump wants to give up its rights, which a user namespace forbids");
        }
        if !skip::installed("tcpdump") {
            skip!("program missing: tcpdump");
        }
        let world = World::new(ReceiveForm::Ring);
        world.begin(&[]);
        world.relay.start_capture(1000).unwrap();
        round_trips(world.ends(), 5);
        let capture = world.relay.end_capture().unwrap().remove(0);
        let path = std::env::temp_dir().join(format!("btu-capture-{}.pcapng", std::process::id()));
        write_pcapng(&mut File::create(&path).unwrap(), &[capture], End::Near).unwrap();
        let read = Command::new("tcpdump").arg("-nr").arg(&path).output().unwrap();
        fs::remove_file(&path).unwrap();
        let text = String::from_utf8_lossy(&read.stdout);
        assert_eq!(
            text.lines().filter(|line| line.contains("UDP, length 1")).count(),
            10,
            "{text}"
        );
    });
}
