//! Captures that tcpdump made, of each kind of link layer: all of it is read, as tshark reads it.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::commands::needs;
use crate::commands::run;
use crate::program::btu;

/// Starts one tcpdump for each kind, has something to listen to, and ends them. A tcpdump that may not
/// listen is said with status 9; one that ends before it is told to, or does not see the last packet in a
/// minute though it is sent again and again, with 1 and what it said.
const SCRIPT: &str = r#"
cd "$1"
device=$(awk -F: 'NR > 2 { gsub(" ", "", $1); if ($1 != "lo") { print $1; exit } }' /proc/net/dev)
listen() {
    name=$1; shift
    tcpdump -Z root -U --immediate-mode -w "$name.pcap" "$@" 2>"$name.log" &
    ends="$ends $!"
    eval "end_of_$name=$!"
    until grep -q 'listening on' "$name.log"; do
        kill -0 $! 2>/dev/null || { cat "$name.log" >&2; exit 9; }
        sleep 0.05
    done
}
listen ethernet -i "$device"
listen cut -i "$device" -s 80
listen any -i any -y LINUX_SLL
listen any2 -i any -y LINUX_SLL2
iperf3 -n 300K -c "$BTU_LINK_FAR" >&2
fail() {
    { echo "tcpdump of $name: $1"; cat "$name.log"; } >&2
    kill $ends 2>/dev/null
    exit 1
}
# What came before it is in every file as soon as this is.
for name in ethernet cut any any2; do
    tries=0
    until grep -q the-last-packet "$name.pcap"; do
        eval "kill -0 \$end_of_$name" 2>/dev/null || fail "it ended early"
        [ $tries -lt 1200 ] || fail "the last packet is not there"
        [ $((tries % 20)) -ne 0 ] || bash -c 'echo the-last-packet > "/dev/udp/$BTU_LINK_FAR/9"'
        tries=$((tries + 1))
        sleep 0.05
    done
done
kill -INT $ends
wait $ends
"#;

#[test]
fn captures_of_tcpdump_are_read_whatever_they_begin_with() {
    needs!("iperf3", "tshark", "tcpdump", "bash");
    let folder = TempDir::new().unwrap();
    let script = folder.path().join("script");
    std::fs::write(&script, SCRIPT).unwrap();
    let mut command = btu();
    command.args(["link", "--delay", "1ms", "--far", "iperf3 -s -1", "--", "sh"]).arg(&script);
    let ended = command.arg(folder.path()).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    if ended.status.code() == Some(9) {
        skip!("kernel lacks: packet sockets for tcpdump here: {said}");
    }
    assert!(ended.status.success(), "{said}");
    for kind in ["ethernet", "cut", "any", "any2"] {
        assert_read(&folder.path().join(format!("{kind}.pcap")));
    }
}

/// Every packet is one of TCP, and the payload is what tshark finds.
fn assert_read(file: &Path) {
    let said = run(btu().arg("explain").arg(file).arg("--json")).unwrap();
    let said: Value = serde_json::from_str(&said).unwrap();
    let mut tshark = Command::new("tshark");
    tshark.arg("-nr").arg(file).args(["-T", "fields", "-e", "tcp.len", "-e", "frame.cap_len"]);
    let rows = run(&mut tshark).unwrap();
    let lengths = rows.lines().filter_map(|row| row.split('\t').next()?.parse::<u64>().ok());
    let (segments, payload) =
        lengths.fold((0, 0), |(count, sum), length| (count + 1, sum + length));
    let name = file.display();
    assert!(payload > 0, "{name}: nothing");
    assert_eq!(said["traffic"]["packets"], rows.lines().count(), "{name}");
    assert_eq!(said["traffic"]["segments"], segments, "{name}");
    assert_eq!((&said["traffic"]["damaged"], &said["missing"]["skipped"]), (&0.into(), &0.into()));
    let connections = said["connections"].as_array().unwrap();
    let of = |one: &Value, way: &str| one[way]["counts"]["payload_bytes"].as_u64().unwrap();
    let ours: u64 = connections.iter().map(|one| of(one, "up") + of(one, "down")).sum();
    assert_eq!(ours, payload, "{name}");
    assert!(connections.iter().any(|one| one["up"]["window_bytes"].is_array()), "{name}: windows");
}
