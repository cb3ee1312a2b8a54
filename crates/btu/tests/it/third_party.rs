//! Programs of others through `btu link`, with answers that are known beforehand.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::commands::needs;
use crate::commands::run;
use crate::program::btu;
use crate::program::read_json;

/// A link with these options around a shell script, and where its statistics go.
fn link(options: &[&str], stats: &Path, script: &str) -> Command {
    let mut command = btu();
    command.args(["link", "--stats"]).arg(stats).args(options).args(["--", "sh", "-c", script]);
    command
}

#[test]
fn ping_loses_exactly_the_packets_of_the_pattern_in_each_direction() {
    needs!("ping");
    let folder = TempDir::new().unwrap();
    let stats = folder.path().join("stats.json");
    // For the last answer ping waits no longer than for two of those before it, or one interval.
    let script = "ping -n -c 20 -i 0.05 -W 1 $BTU_LINK_FAR; true";
    let said = run(&mut link(&["--drop", "2@3/5"], &stats, script)).unwrap();

    // Of 20 requests 3, 4, 8, 9, 13, 14, 18, 19 are lost; of the 12 replies 3, 4, 8, 9.
    let stats = read_json(&stats);
    assert_eq!(stats["up"]["packets"], 20, "{said}");
    assert_eq!(stats["up"]["drop_positions"], serde_json::json!([3, 4, 8, 9, 13, 14, 18, 19]));
    assert_eq!(stats["down"]["packets"], 12);
    assert_eq!(stats["down"]["drop_positions"], serde_json::json!([3, 4, 8, 9]));
    assert_eq!((&stats["up"]["dropped"], &stats["down"]["dropped"]), (&8.into(), &4.into()));

    // Reply k answers the k-th request that came through: 1 2 5 6 7 10 11 12 15 16 17 20.
    let answered: Vec<&str> =
        said.split("icmp_seq=").skip(1).filter_map(|rest| rest.split(' ').next()).collect();
    assert_eq!(answered, ["1", "2", "7", "10", "11", "16", "17", "20"], "{said}");
}

#[test]
fn tshark_reads_the_capture_as_the_commands_end_saw_it() {
    needs!("ping");
    needs!("tshark");
    let folder = TempDir::new().unwrap();
    let (stats, file) = (folder.path().join("stats.json"), folder.path().join("ping.pcapng"));
    let options = ["--delay", "2ms", "--drop", "2@3/5", "--capture", file.to_str().unwrap()];
    run(&mut link(&options, &stats, "ping -n -c 10 -i 0.01 -W 1 $BTU_LINK_FAR; true")).unwrap();

    let fields = ["-T", "fields", "-e", "icmp.type", "-e", "icmp.seq", "-e", "frame.comment"];
    let said = run(Command::new("tshark").arg("-nr").arg(&file).args(fields)).unwrap();
    let count = |wanted: &dyn Fn(&str) -> bool| said.lines().filter(|line| wanted(line)).count();
    // Of 10 requests 3, 4, 8, 9 are dropped; of the 6 replies 3 and 4 never reach the command.
    assert_eq!(count(&|line| line.starts_with('8')), 10, "{said}");
    assert_eq!(count(&|line| line.starts_with('0')), 4, "{said}");
    assert_eq!(count(&|line| line.ends_with("dropped by the emulated link")), 4, "{said}");
}

#[test]
fn iperf3_gets_the_payload_share_of_the_asked_rate() {
    needs!("iperf3");
    // On a busy machine the line idles now and then, and its receiver may catch up on what came
    // before its clock started: one transfer of a few has to come through undisturbed.
    let shares = (0..5).map(|_| share_of_20_mbit());
    let mut seen = Vec::new();
    for share in shares {
        if (0.90..=1.01).contains(&share) {
            return;
        }
        seen.push(share);
    }
    panic!("iperf3 received these shares of the payload: {seen:?}");
}

/// What iperf3 receives over a line of 20 Mbit/s, as a share of the payload that it can carry: 1448
/// bytes of each 1538 on the wire.
fn share_of_20_mbit() -> f64 {
    let folder = TempDir::new().unwrap();
    let found = folder.path().join("iperf3.json");
    let script = format!("iperf3 -c $BTU_LINK_FAR -t 3 -O 1 -J > {}", found.display());
    let options = ["--rate", "20Mbit/s", "--far", "iperf3 -s -1"];
    run(&mut link(&options, &folder.path().join("stats.json"), &script)).unwrap();
    let rate = read_json(&found)["end"]["sum_received"]["bits_per_second"].as_f64().unwrap();
    rate / (20e6 * 1448.0 / 1538.0)
}

#[test]
fn iperf3_under_a_drop_pattern_loses_exactly_the_positions_of_the_formula() {
    needs!("iperf3");
    let folder = TempDir::new().unwrap();
    let stats = folder.path().join("stats.json");
    // iperf3 may end once it has written all: up to a whole send buffer of it (4 MB) then stays behind.
    let script = "iperf3 -c $BTU_LINK_FAR -n 16M";
    let options = ["--up", "drop 1@200,3@400/400", "--far", "iperf3 -s -1"];
    run(&mut link(&options, &stats, script)).unwrap();

    let stats = read_json(&stats);
    let packets = stats["up"]["packets"].as_u64().unwrap();
    let expected: Vec<u64> = (1..=packets).filter(|&i| hit(i)).collect();
    assert!(expected.len() > 40, "12 MB are more than 8000 packets: {packets}");
    assert_eq!(stats["up"]["dropped"], expected.len());
    let positions: Vec<u64> = expected.into_iter().take(1000).collect();
    assert_eq!(stats["up"]["drop_positions"], serde_json::json!(positions));
    assert_eq!(stats["down"]["dropped"], 0);
}

/// `1@200,3@400/400` by its definition: a hit where some m >= 0 gives n + mP <= i < n + mP + k.
fn hit(i: u64) -> bool {
    [(1, 200), (3, 400)].iter().any(|&(k, n)| i >= n && (i - n) % 400 < k)
}

#[test]
fn curl_gets_every_byte_of_a_file_from_a_server_behind_the_link() {
    needs!("curl", "python3");
    let folder = TempDir::new().unwrap();
    let bytes: Vec<u8> =
        (0..3_000_000_u32).map(|i| i.wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect();
    let file = folder.path().join("file");
    std::fs::write(&file, &bytes).unwrap();
    let server =
        format!("python3 -m http.server --bind 0.0.0.0 -d {} 8000", folder.path().display());
    let got = folder.path().join("got");
    // A link waits a second for its server; a slow one is asked again.
    let script = format!(
        "curl -s --retry 9 --retry-connrefused --retry-delay 1 -o {} -w '%{{time_connect}} %{{time_starttransfer}}' \
         http://$BTU_LINK_FAR:8000/file",
        got.display()
    );
    let options = ["--delay", "20ms", "--drop", "1%", "--seed", "7", "--far", &server];
    let said = run(&mut link(&options, &folder.path().join("stats.json"), &script)).unwrap();

    assert_eq!(std::fs::read(&got).unwrap(), bytes);
    let times: Vec<f64> = said.split_whitespace().filter_map(|t| t.parse().ok()).collect();
    assert!(times[0] >= 0.040, "a handshake is one round trip of 40 ms: {said}");
    assert!(times[1] >= 0.080, "the first byte comes after two: {said}");
}
