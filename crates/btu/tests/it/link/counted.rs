//! What the link does to packets, and what it says it did.

use btu_core::link::Pattern;
use serde_json::Value;

use super::need_namespaces;
use super::users;
use super::users::User;
use super::users::expect_status;
use super::users::link;
use super::users::text;

const SEED_PATTERN: &str = "1@200,3@400/400";

/// UDP packets to a port where nobody listens: each write that the kernel takes is one packet; a
/// refusal reports an earlier answer, and the packet is written again.
fn udp(packets: u32) -> String {
    format!(
        "exec 3>/dev/udp/$BTU_LINK_FAR/9; \
         for i in {{1..{packets}}}; do until printf x >&3; do :; done; done 2>/dev/null"
    )
}

/// Runs a script behind a link and gives the document.
fn document(user: User, options: &[&str], script: &str) -> Value {
    let mut all = vec!["--json", "--quiet"];
    all.extend(options);
    let output = expect_status(&mut link(user, &all, script), 0);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stdout)))
}

fn pattern(text: &str) -> Pattern {
    text.parse().unwrap()
}

/// Check E3.
#[test]
fn a_pattern_drops_exactly_what_its_formula_says() {
    need_namespaces!();
    for user in users::users() {
        let drop = format!("drop {SEED_PATTERN}");
        let done = document(user, &["--up", &drop], &udp(1000));
        let up = &done["up"];
        assert_eq!(up["packets"], 1000, "{up}");
        assert_eq!(up["dropped"], 9);
        assert_eq!(up["pattern_drops"], pattern(SEED_PATTERN).count(1000));
        let positions: Vec<u64> = serde_json::from_value(up["drop_positions"].clone()).unwrap();
        assert_eq!(positions, [200, 400, 401, 402, 600, 800, 801, 802, 1000]);
        assert_eq!(done["down"]["dropped"], 0);
        assert_ne!(done["verdict"], "invalid", "{}", done["verdict_causes"]);
    }
}

#[test]
fn ping_misses_exactly_the_packets_of_the_pattern() {
    need_namespaces!();
    if !crate::skip::installed("ping") {
        skip!("program missing: ping");
    }
    for user in users::users() {
        let script = "ping -q -c 100 -i 0.002 -W 1 $BTU_LINK_FAR >&2; true";
        let done = document(user, &["--drop", "2@5/10"], script);
        let (up, down) = (&done["up"], &done["down"]);
        assert_eq!((&up["packets"], &up["dropped"]), (&100.into(), &20.into()), "{done}");
        // 80 echoes come back, counted by the other direction's own counter.
        assert_eq!((&down["packets"], &down["dropped"]), (&80.into(), &16.into()), "{done}");
    }
}

#[test]
fn a_delay_is_added_each_way_and_never_undercut() {
    need_namespaces!();
    if !crate::skip::installed("ping") {
        skip!("program missing: ping");
    }
    for user in users::users() {
        let rtt = fastest_ping(user, &["--delay", "20ms"]);
        assert!(rtt >= 40.0, "{rtt} ms");
        let rtt = fastest_ping(user, &["--rtt", "30ms"]);
        assert!((30.0..60.0).contains(&rtt), "both ways together: {rtt} ms");
    }
}

/// Check E13.
#[test]
fn up_and_down_are_separate() {
    need_namespaces!();
    let done = document(
        User::Same,
        &["--up", "delay 30ms", "--down", "drop 1@2/2"],
        "ping -q -c 10 -i 0.002 -W 1 $BTU_LINK_FAR >&2; true",
    );
    let (up, down) = (&done["up"], &done["down"]);
    assert_eq!(up["delay_asked_us"], 30_000.0);
    assert_eq!(up["dropped"], 0);
    assert!(up["delay_error_us"]["p50"].as_f64().unwrap() >= 0.0);
    assert_eq!(down["delay_asked_us"], Value::Null);
    assert_eq!((&down["packets"], &down["dropped"]), (&10.into(), &5.into()));
    let rtt = fastest_ping(User::Same, &["--up", "delay 30ms"]);
    assert!((30.0..60.0).contains(&rtt), "one way only: {rtt} ms");
}

#[test]
fn equal_seeds_give_equal_fates_and_options_have_one_order() {
    need_namespaces!();
    let positions = |seed: &str, order: [&str; 4]| {
        let mut options = vec!["--seed", seed];
        options.extend(order);
        document(User::Same, &options, &udp(500))["up"]["drop_positions"].clone()
    };
    let first = positions("7", ["--drop", "10%", "--delay", "0.1ms"]);
    assert!(first.as_array().is_some_and(|drops| (15..110).contains(&drops.len())), "{first}");
    assert_eq!(first, positions("7", ["--delay", "0.1ms", "--drop", "10%"]));
    assert_ne!(first, positions("8", ["--drop", "10%", "--delay", "0.1ms"]));
}

#[test]
fn copies_and_broken_packets_are_counted_by_their_patterns() {
    need_namespaces!();
    if !crate::skip::installed("ping") {
        skip!("program missing: ping");
    }
    let pings = "ping -q -c 10 -i 0.01 -W 1 $BTU_LINK_FAR >&2; true";
    let done = document(User::Same, &["--up", "duplicate 1@2/2"], pings);
    assert_eq!((&done["up"]["packets"], &done["up"]["duplicated"]), (&10.into(), &5.into()));
    assert_eq!(done["down"]["packets"], 15, "every copy is answered: {}", done["down"]);
    let done = document(User::Same, &["--up", "corrupt 1@2/2"], pings);
    assert_eq!((&done["up"]["packets"], &done["up"]["corrupted"]), (&10.into(), &5.into()));
    let answered = done["down"]["packets"].as_u64().unwrap();
    assert!((5..10).contains(&answered), "checksums find flipped bits: {}", done["down"]);
}

#[test]
fn a_capture_holds_what_the_commands_end_sent_and_got() {
    need_namespaces!();
    if !crate::skip::installed("ping") {
        skip!("program missing: ping");
    }
    for user in users::users() {
        let folder = tempfile::tempdir().unwrap();
        open_to_all(folder.path());
        let file = folder.path().join("link.pcapng");
        let options = ["--capture", file.to_str().unwrap(), "--up", "drop 1@5/5"];
        let pings = "ping -q -c 10 -i 0.01 -W 1 $BTU_LINK_FAR >&2; true";
        expect_status(&mut link(user, &options, pings), 0);
        let blocks = block_types(&std::fs::read(&file).unwrap());
        assert_eq!(blocks[..2], [0x0a0d_0d0a, 1], "section header, interface");
        let packets = blocks.iter().filter(|kind| **kind == 6).count();
        assert_eq!(packets, 10 + 8, "ten requests, two of them dropped later, eight replies");
    }
}

/// The second of every two requests is dropped. The command ends while the others are still inside,
/// so that how they end is not known, and the dropped ones are told from them.
#[test]
fn drops_are_remarked_in_a_capture_that_ends_with_packets_inside() {
    need_namespaces!();
    if !crate::skip::installed("ping") {
        skip!("program missing: ping");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("link.pcapng");
    let options = ["--capture", file.to_str().unwrap(), "--up", "drop 1@2/2", "--delay", "2s"];
    let pings = "ping -q -c 6 -i 0.01 -W 0.1 $BTU_LINK_FAR >&2; true";
    expect_status(&mut link(User::Same, &options, pings), 0);
    let file = std::fs::read(&file).unwrap();
    let remarks = btu_core::capture::read(&file).unwrap().packets;
    let remarks: Vec<bool> = remarks.iter().map(|packet| packet.comment.is_some()).collect();
    assert_eq!(remarks, [false, true, false, true, false, true]);
}

/// The types of the blocks of a pcapng file: each has its length behind its type.
fn block_types(mut file: &[u8]) -> Vec<u32> {
    let mut types = Vec::new();
    while let [a, b, c, d, e, f, g, h, ..] = file {
        types.push(u32::from_ne_bytes([*a, *b, *c, *d]));
        file = &file[u32::from_ne_bytes([*e, *f, *g, *h]).try_into().unwrap()..];
    }
    types
}

#[test]
fn an_emulator_that_was_stopped_says_so_and_strict_makes_it_a_failure() {
    need_namespaces!();
    if !crate::skip::installed("ping") {
        skip!("program missing: ping");
    }
    // Ping waits 300 ms for its answers in vain; its packets leave later than that.
    let script = "ping -q -c 3 -i 0.002 -W 0.3 $BTU_LINK_FAR >&2; echo overdue; read go; exit 0";
    for (options, status) in [(&["--delay", "1ms"][..], 0), (&["--delay", "1ms", "--strict"], 1)] {
        // Arrivals have the kernel's stamps once something has passed (decision 137).
        let first = "ping -q -c 1 -W 5 $BTU_LINK_FAR >&2; echo up; read go";
        let mut child = link(User::Same, options, &format!("{first}; {script}"))
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        stop_while_packets_wait(&mut child);
        let ended = child.wait_with_output().unwrap();
        let told = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(status), "{told}");
        assert!(told.contains("INVALID") && told.contains("lateness"), "{told}");
    }
}

/// Stops the program while the command sends, and lets it go on when the packets are long due.
fn stop_while_packets_wait(child: &mut std::process::Child) {
    use std::io::BufRead;
    use std::io::Write;
    let mut input = child.stdin.take().unwrap();
    let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut next_line_is = |wanted: &str| {
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert_eq!(line.trim(), wanted);
    };
    next_line_is("up");
    crate::program::signal(child.id(), "STOP");
    crate::program::wait_until(|| is_stopped(child.id()));
    input.write_all(b"go\n").unwrap();
    next_line_is("overdue");
    crate::program::signal(child.id(), "CONT");
    input.write_all(b"go\n").unwrap();
}

/// True once no thread of the process runs: each stops by itself, when it next gets a CPU.
fn is_stopped(process: u32) -> bool {
    let mut threads = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    threads.all(|thread| {
        let status = std::fs::read_to_string(thread.unwrap().path().join("status")).unwrap();
        status.contains("State:\tT")
    })
}

#[test]
fn a_rate_in_the_spelling_of_tc_is_the_rate() {
    need_namespaces!();
    let canonical = |rate: &str| {
        let done = document(User::Same, &["--rate", rate, "--queue", "50ms"], "true");
        done["up"]["chain"].clone()
    };
    assert_eq!(canonical("10Mbit"), canonical("10Mbit/s"));
    assert_eq!(canonical("10mbit"), canonical("10000kbit/s"));
}

#[test]
fn the_document_is_the_same_on_stdout_and_in_the_file() {
    need_namespaces!();
    for user in users::users() {
        let folder = tempfile::tempdir().unwrap();
        open_to_all(folder.path());
        let file = folder.path().join("stats.json");
        let path = file.to_str().unwrap();
        let options = ["--json", "--stats", path, "--delay", "2ms", "--drop", "1@3/10"];
        let script = "echo to-stdout; ping -q -c 3 -i 0.01 $BTU_LINK_FAR >/dev/null; true";
        let output = expect_status(&mut link(user, &options, script), 0);
        let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
        let written: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        assert_eq!(printed, written);
        assert!(text(&output.stderr).contains("to-stdout"));
        for direction in ["up", "down"] {
            let done = &printed[direction];
            for count in ["packets", "bytes", "dropped", "queue_dropped", "overflow", "late"] {
                assert!(done[count].is_u64(), "{direction} {count}: {done}");
            }
            assert!(done["drop_positions"].is_array());
            assert_eq!(done["delay_asked_us"], 2000.0);
            for quantile in ["p50", "p99", "max"] {
                assert!(done["delay_error_us"][quantile].is_f64(), "{done}");
            }
        }
        assert!(["valid", "limited", "invalid"].contains(&printed["verdict"].as_str().unwrap()));
    }
}

#[test]
fn the_first_words_say_what_was_understood_and_the_last_what_was_done() {
    need_namespaces!();
    let options = ["--delay", "10ms", "--drop", SEED_PATTERN];
    let output = expect_status(&mut link(User::Same, &options, "echo own; echo err >&2"), 0);
    assert_eq!(text(&output.stdout), "own\n");
    let stderr = text(&output.stderr);
    let lines: Vec<&str> = stderr.lines().collect();
    assert_eq!(
        lines[0],
        "link 198.19.201.2 - 198.19.201.1: adds 10 ms each way, round trip +20 ms; drops 4 of 400"
    );
    assert_eq!(lines[1], "err");
    assert!(lines[2].starts_with("up 0 packets, dropped 0"), "{stderr}");
    assert!(lines[3].starts_with("down 0 packets, dropped 0"), "{stderr}");
    assert!(lines[3].ends_with("VALID"), "{stderr}");
    let quiet = expect_status(&mut link(User::Same, &["--quiet"], "echo own"), 0);
    assert_eq!((text(&quiet.stdout).as_str(), text(&quiet.stderr).as_str()), ("own\n", ""));
}

/// The least round trip of some pings, in milliseconds.
pub(super) fn fastest_ping(user: User, options: &[&str]) -> f64 {
    let script = "ping -c 20 -i 0.01 $BTU_LINK_FAR";
    fastest(&text(&expect_status(&mut link(user, options, script), 0).stdout))
}

/// The least round trip in the output of ping.
pub(super) fn fastest(output: &str) -> f64 {
    let times = output.lines().filter_map(|line| {
        let (_, time) = line.split_once("time=")?;
        time.trim_end_matches(" ms").parse::<f64>().ok()
    });
    times.reduce(f64::min).unwrap_or_else(|| panic!("no answer in {output}"))
}

fn open_to_all(folder: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o777)).unwrap();
}
