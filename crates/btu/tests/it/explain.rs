//! `btu explain`: its counts beside those of tshark, its files, and what it refuses.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::commands::needs;
use crate::commands::run;
use crate::program::btu;
use crate::program::said;

/// A capture of iperf3 through a link with these options.
fn captured(folder: &Path, options: &[&str], bytes: &str) -> std::path::PathBuf {
    let file = folder.join("link.pcapng");
    let script = format!("iperf3 -n {bytes} -c $BTU_LINK_FAR");
    let mut command = btu();
    command.args(["link", "--capture"]).arg(&file).args(["--far", "iperf3 -s -1"]);
    run(command.args(options).args(["--", "sh", "-c", &script])).unwrap();
    file
}

fn explained(file: &Path) -> Value {
    let said = run(btu().arg("explain").arg(file).arg("--json")).unwrap();
    serde_json::from_str(&said).unwrap()
}

/// A count over all connections and directions.
fn counted(explained: &Value, name: &str) -> u64 {
    let connections = explained["connections"].as_array().unwrap().iter();
    let of = |stream: &Value| stream["counts"][name].as_u64().unwrap();
    connections.map(|one| of(&one["up"]) + of(&one["down"])).sum()
}

/// How many packets tshark gives any of these marks.
fn marked(file: &Path, marks: &[&str]) -> u64 {
    let marks: Vec<String> = marks.iter().map(|mark| format!("tcp.analysis.{mark}")).collect();
    let fields = ["-T", "fields", "-e", "frame.number"];
    let mut command = Command::new("tshark");
    command.arg("-nr").arg(file).args(["-Y", &marks.join(" || ")]).args(fields);
    run(&mut command).unwrap().lines().count() as u64
}

/// The bytes of payload that tshark finds, repetitions included.
fn payload(file: &Path) -> u64 {
    let mut command = Command::new("tshark");
    command.arg("-nr").arg(file).args(["-T", "fields", "-e", "tcp.len"]);
    run(&mut command).unwrap().lines().filter_map(|line| line.parse::<u64>().ok()).sum()
}

/// What differs and why: tshark calls a repetition that comes within the first round trip behind later
/// bytes out of order, we tell by time stamps; an acknowledgement that brings a new SACK and another
/// window is a window update there and a duplicate here; the answer to a repetition that was needless is
/// a duplicate there even when nothing is outstanding; a probe of a shut window that carries no byte
/// is a keep-alive there, and so is a repetition of a last segment of one byte. So sums are compared
/// where the parts may differ.
fn assert_agrees(file: &Path) -> Value {
    let ours = explained(file);
    let sum = |names: &[&str]| names.iter().map(|name| counted(&ours, name)).sum::<u64>();
    let repeated = ["retransmission", "fast_retransmission", "spurious_retransmission"];
    let probing = ["out_of_order", "keep_alive", "zero_window_probe"];
    let theirs = marked(file, &[&repeated[..], &probing].concat());
    let again = ["retransmissions", "out_of_order", "keep_alives", "window_probes"];
    assert_eq!(sum(&again), theirs, "{ours:#}");
    let theirs = marked(file, &["duplicate_ack", "window_update"]);
    let answers = ["duplicate_acks", "window_updates", "answers_to_needless"];
    assert_eq!(sum(&answers), theirs, "{ours:#}");
    assert_eq!(sum(&["zero_windows"]), marked(file, &["zero_window"]));
    assert_eq!(sum(&["gaps"]), marked(file, &["lost_segment"]));
    assert_eq!(sum(&["unseen_acks"]), marked(file, &["ack_lost_segment"]));
    assert_eq!(sum(&["payload_bytes"]), payload(file));
    ours
}

#[test]
fn what_a_full_queue_dropped_was_not_asked_for() {
    needs!("iperf3");
    let folder = TempDir::new().unwrap();
    let queue = ["--rtt", "40ms", "--rate", "10Mbit/s", "--queue", "20pkt"];
    let explained = explained(&captured(folder.path(), &queue, "5M"));
    let full = counted(&explained, "queue_full");
    assert!(full > 0 && full == counted(&explained, "dropped"), "{explained:#}");
    let text = explained["connections"].to_string();
    assert!(text.contains("small-queue") && !text.contains("emulator-pattern"), "{text}");
}

#[test]
fn the_counts_agree_with_tsharks_and_the_pattern_is_named() {
    needs!("iperf3", "tshark");
    let folder = TempDir::new().unwrap();
    let file = captured(folder.path(), &["--delay", "5ms", "--up", "drop 1@200/400"], "4M");
    let ours = assert_agrees(&file);
    let dropped = counted(&ours, "dropped");
    // A drop may hit what needs no repetition, or a repetition.
    let again = counted(&ours, "retransmissions");
    assert!(dropped >= 3 && again * 2 >= dropped, "{again} again, {dropped} dropped");
    let connections = ours["connections"].as_array().unwrap();
    let causes = connections.iter().flat_map(|one| one["diagnoses"].as_array().unwrap());
    let names: Vec<&str> = causes.map(|one| one["cause"].as_str().unwrap()).collect();
    assert!(names.contains(&"emulator-pattern"), "{names:?}");
}

#[test]
fn the_counts_agree_with_tsharks_without_losses() {
    needs!("iperf3", "tshark");
    let folder = TempDir::new().unwrap();
    let file = captured(folder.path(), &["--delay", "1ms"], "4M");
    let ours = assert_agrees(&file);
    // How much of the 4 MB arrives is iperf3's choice: its server resets what it has no use for.
    let bytes = counted(&ours, "new_bytes");
    assert!(bytes > 100_000, "{ours:#}");
}

/// The headers alone tell the same, and tshark reads them without a complaint.
#[test]
fn headers_that_were_written_tell_the_same() {
    needs!("iperf3", "tshark");
    let folder = TempDir::new().unwrap();
    let file = captured(folder.path(), &["--delay", "1ms"], "1M");
    let path = |name: &str| folder.path().join(name);
    let mut command = btu();
    command.arg("explain").arg(&file).arg("--pcapng").arg(path("heads.pcapng"));
    command.arg("--xplot").arg(path("plot.xpl")).arg("--html").arg(path("page.html"));
    let said = run(&mut command).unwrap();
    assert!(said.contains("What senders waited for"), "{said}");
    let (whole, heads) = (explained(&file), explained(&path("heads.pcapng")));
    assert_eq!(whole["connections"], heads["connections"]);
    let read = Command::new("tshark").arg("-nr").arg(path("heads.pcapng")).output().unwrap();
    let lines = String::from_utf8_lossy(&read.stdout).lines().count() as u64;
    assert_eq!(Some(lines), whole["traffic"]["packets"].as_u64());
    assert!(read.status.success());
    let plot = std::fs::read_to_string(path("plot.xpl")).unwrap();
    assert!(plot.starts_with("timeval unsigned\ntitle\n") && plot.ends_with("go\n"));
    let page = std::fs::read_to_string(path("page.html")).unwrap();
    assert!(page.contains("application/octet-stream") && !page.contains("https://"));
}

/// A pcap of a typed line, a name that was asked for, and an ARP question, all on Ethernet.
fn with_secrets() -> Vec<u8> {
    let ethernet = |protocol: [u8; 2], rest: &[u8]| [&[2; 12], &protocol[..], rest].concat();
    let ip = |protocol: u8, carried: &[u8]| {
        let length = u8::try_from(20 + carried.len()).unwrap();
        let mut packet = vec![0x45, 0, 0, length, 0, 0, 0, 0, 64, protocol, 0, 0];
        packet.extend([192, 0, 2, 7, 192, 0, 2, 9]);
        packet.extend(carried);
        ethernet([8, 0], &packet)
    };
    let mut tcp = vec![0x12, 0x34, 0, 23, 0, 0, 0, 1, 0, 0, 0, 1, 0x80, 0x18, 1, 0, 0, 0, 0, 0];
    tcp.extend([1, 1, 8, 10, 0, 0, 0, 9, 0, 0, 0, 9]);
    tcp.extend(b"password: open sesame at once\n");
    let udp = [&[0x12, 0x34, 0, 53, 0, 29, 0, 0][..], b"who is secret.example"].concat();
    let mut file = [&[0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0][..], &[0; 8], &[0, 0, 4, 0]].concat();
    file.extend([1, 0, 0, 0]);
    for frame in [ip(6, &tcp), ip(17, &udp), ethernet([8, 6], b"sesame: who has it?")] {
        let length = u32::try_from(frame.len()).unwrap().to_le_bytes();
        file.extend([&[0; 8][..], &length, &length, &frame].concat());
    }
    file
}

#[test]
fn headers_that_were_written_hold_nothing_that_was_sent() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("whole.pcap"), with_secrets()).unwrap();
    let mut command = btu();
    command.arg("explain").arg(path("whole.pcap")).arg("--pcapng").arg(path("heads.pcapng"));
    run(&mut command).unwrap();
    let heads = std::fs::read(path("heads.pcapng")).unwrap();
    for secret in [&b"password"[..], b"sesame", b"secret", b"who"] {
        assert!(!heads.windows(secret.len()).any(|found| found == secret), "{heads:02x?}");
    }
    let (whole, heads) = (explained(&path("whole.pcap")), explained(&path("heads.pcapng")));
    assert_eq!(counted(&heads, "payload_bytes"), 30);
    assert_eq!(whole["connections"], heads["connections"]);
    assert_eq!(whole["traffic"], heads["traffic"]);
}

/// One line that names the place and the value, and exit code 2.
fn refused(arguments: &[&str]) -> String {
    let ended = btu().arg("explain").args(arguments).output().unwrap();
    let said = said(&ended);
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(ended.stdout.is_empty());
    said
}

#[test]
fn what_is_no_capture_is_refused_by_name() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    assert!(refused(&[&path("none.pcap")]).contains("none.pcap: No such file"));
    assert!(refused(&[&path("")]).contains("not a result: it has no plan.toml"));
    std::fs::write(path("text"), "hello, world").unwrap();
    assert!(refused(&[&path("text")]).contains("begins with text: neither pcap"));
    std::fs::write(path("plan.toml"), "[matrix]\ncases = [\"SEND\"]\n").unwrap();
    assert!(refused(&[&path("plan.toml")]).contains("begins with text: neither pcap"));
    let files = [("plan.toml".to_owned(), b"seed = 7\n".to_vec())].into();
    std::fs::write(path("own.btu"), btu_report::pack(&files).unwrap()).unwrap();
    assert!(refused(&[&path("own.btu")]).contains("hint: it is the bundle of a result"));
    let empty = [&[0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0][..], &[0; 12], &[1, 0, 0, 0]].concat();
    std::fs::write(path("empty.pcap"), empty).unwrap();
    let said = run(btu().args(["explain", &path("empty.pcap")])).unwrap();
    assert!(said.contains("no TCP connection"), "{said}");
    let said = refused(&[&path("empty.pcap"), "--pcapng", &path("./empty.pcap")]);
    assert!(said.contains("is the capture itself"), "{said}");
    assert!(refused(&[&path("empty.pcap"), "--most", "0"]).contains("'--most <N>'"));
    let said = refused(&[&path("empty.pcap"), "--connection", "3"]);
    assert!(said.contains("--connection 3") && said.contains("has 0 TCP connections"), "{said}");
    let said = refused(&[&path("empty.pcap"), "--xplot", &path("plot")]);
    assert!(said.contains("no TCP connection"), "{said}");
}
