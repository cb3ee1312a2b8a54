//! What `btu link` refuses, and how it says so.

use super::users::User;
use super::users::btu;
use super::users::expect_status;
use super::users::text;

/// Options, and what the message must contain: the place, the value, what would be legal.
const ILLEGAL: &[(&[&str], &[&str])] = &[
    (&["--delay", "10"], &["--delay", "\"10\"", "ms"]),
    (&["--delay", "fast"], &["--delay", "\"fast\"", "ms"]),
    (&["--delay", "-5ms"], &["--delay", "\"-5ms\"", "ms"]),
    (&["--drop", "-1%"], &["--drop", "-1%"]),
    (&["--drop", "3@500/400"], &["--drop", "3@500", "period of 400"]),
    (&["--drop", "1@2"], &["--drop", "\"1@2\"", "/P"]),
    (&["--drop", "1"], &["--drop", "drop SHARE (1%)"]),
    (&["--loss", "X"], &["--loss: link element", "\"X\" is no share"]),
    (&["--loss", "1%", "--drop", "2%"], &["'--loss", "cannot be used with '--drop"]),
    (&["--up", "drop 1%", "--loss", "2%"], &["--up 'drop 1%' contradicts --loss"]),
    (&["--rate", "10mbps"], &["--rate", "mbps", "bytes per second", "10Mbit/s"]),
    (&["--rate", "10"], &["--rate", "\"10\"", "Mbit/s"]),
    (&["--queue", "10ms"], &["--queue", "--rate or --trace"]),
    (&["--rtt", "20ms", "--delay", "5ms"], &["--rtt contradicts --delay"]),
    (&["--up", "delay 5ms", "--delay", "5ms"], &["--up 'delay 5ms' contradicts --delay"]),
    (
        &["--rate", "1Mbit/s", "--up", "trace t"],
        &["--up 'trace t' contradicts --rate: give the element for both directions or for each"],
    ),
    (
        &["--up", "rate 1Mbit/s", "--up", "drop 1%", "--up", "rate 2Mbit/s"],
        &["--up 'rate 2Mbit/s' contradicts --up 'rate 1Mbit/s': a direction has one line"],
    ),
    (
        &["--down", "trace t", "--down", "rate 2Mbit/s"],
        &["--down 'rate 2Mbit/s' contradicts --down 'trace t'", "give one of them"],
    ),
    (&["--up", "slow 5ms"], &["--up", "\"slow 5ms\"", "no such element", "delay"]),
    (&["--chain", "drop 1%; delay 1", "--seed", "3"], &["--chain", "\"delay 1\"", "ms"]),
    (&["--chain", "drop 1%", "--delay", "1ms"], &["--chain", "stands alone"]),
    (&["--wire", "token-ring"], &["--wire", "token-ring", "ethernet, ip or atm"]),
    (&["--wire", "ip", "--delay", "1ms"], &["--wire", "belongs to --rate"]),
    (&["--backend", "netem", "--seed", "1"], &["--seed: --backend netem has no such setting"]),
    (&["--backend", "netem", "--wait", "auto"], &["--wait: --backend netem", "hint: leave out"]),
    (&["--cpus", "0", "--backend", "netem"], &["--cpus: --backend netem has no such setting"]),
    (&["--mtu", "70000"], &["--mtu", "70000", "576..=65535"]),
    (&["--wait", "forever"], &["--wait", "forever", "auto, hybrid, sleep"]),
    (&["--cpus", "x"], &["--cpus", "x"]),
    (&["--cpus", ","], &["--cpus \",\"", "name at least one CPU"]),
    (&["--cpus", "1023"], &["--cpus 1023", "may not use CPU 1023", "only "]),
    (&["--reach", "example.org"], &["--reach example.org", "HOST:PORT"]),
    (
        &["--reach", "127.0.0.1:80", "--reach", "127.0.0.2:80"],
        &["--reach 127.0.0.2:80", "--reach 127.0.0.1:80 has its place", "name each service once"],
    ),
    (
        &["--stats", "/nowhere/stats.json"],
        &["--stats", "/nowhere/stats.json", "No such file", "hint: name a directory that is there"],
    ),
    (&["--stats", "/"], &["--stats", "create /", "hint: name a file"]),
    (&["--seed", "x"], &["--seed", "'x'", "a whole number from 0"]),
    (&["--seed", "-1"], &["--seed", "'-1'", "a whole number from 0"]),
    (&["--dealy", "1ms"], &["--dealy", "--delay"]),
];

#[test]
fn illegal_options_are_named_with_what_is_legal() {
    for (options, wanted) in ILLEGAL {
        let mut command = btu(User::Same);
        let command = command.arg("link").args(*options).args(["--", "true"]);
        let stderr = text(&expect_status(command, 2).stderr);
        for part in *wanted {
            assert!(stderr.contains(part), "{options:?} does not say {part:?}:\n{stderr}");
        }
    }
}

#[test]
fn a_command_that_cannot_be_started_is_named_with_the_remedy() {
    for (command, wanted) in [
        (
            "NOSUCH",
            ["execute NOSUCH: No such file", "hint: the first word after -- names a program"],
        ),
        ("/etc/passwd", ["execute /etc/passwd: Permission denied", "make a file executable"]),
        ("", ["execute '': No such file", "hint: the first word after -- names a program"]),
        ("no such", ["execute 'no such': No such file", "hint: the first word after -- names"]),
    ] {
        let mut link = btu(User::Same);
        // Of a directory that may not be looked into, as root's, the system says something else.
        link.args(["link", "--", command]).env("PATH", "/usr/bin:/bin");
        let told = text(&expect_status(&mut link, 2).stderr);
        assert!(wanted.iter().all(|part| told.contains(part)), "{told}");
    }
}

#[test]
fn one_file_for_statistics_and_packets_is_refused_and_left_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let [file, other] = ["one", "other"].map(|name| folder.path().join(name));
    std::fs::write(&file, "what was there before").unwrap();
    std::fs::hard_link(&file, &other).unwrap();
    for capture in [&file, &other] {
        let mut link = btu(User::Same);
        link.arg("link").arg("--stats").arg(&file).arg("--capture").arg(capture);
        let told = text(&expect_status(link.args(["--", "true"]), 2).stderr);
        assert!(told.contains("are one file; give each a file of its own"), "{told}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "what was there before");
    }
}

/// What the caller asked about is the command; a record that cannot be written is told beside it.
#[test]
fn statistics_that_cannot_be_written_do_not_hide_how_the_command_ended() {
    for (command, status) in [("exit 5", 5), ("exit 0", 3)] {
        let mut link = btu(User::Same);
        link.args(["link", "--stats", "/dev/full", "--", "sh", "-c", command]);
        let told = text(&expect_status(&mut link, status).stderr);
        assert!(told.contains("btu: --stats: write /dev/full: No space left on device"), "{told}");
    }
}

#[test]
fn without_a_command_and_a_terminal_there_is_nothing_to_do() {
    let mut command = btu(User::Same);
    command.args(["link", "--delay", "1ms"]).stdin(std::process::Stdio::null());
    let stderr = text(&expect_status(&mut command, 2).stderr);
    assert!(stderr.contains("no command given"), "{stderr}");
}

#[test]
fn what_is_not_built_in_is_refused_with_the_alternative() {
    let mut command = btu(User::Same);
    let stderr = expect_status(command.args(["link", "--net", "pasta", "--", "true"]), 3).stderr;
    let told = text(&stderr);
    assert!(told.contains("--net pasta: not available") && told.contains("--reach"), "{told}");
}

#[test]
fn an_ordinary_user_cannot_join_the_hosts_network() {
    let mut command = btu(User::Ordinary);
    let stderr = expect_status(command.args(["link", "--net", "nat", "--", "true"]), 3).stderr;
    let told = text(&stderr);
    assert!(told.contains("--net nat: it needs root") && told.contains("--reach"), "{told}");
}
