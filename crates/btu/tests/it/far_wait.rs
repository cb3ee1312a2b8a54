//! What waiting for a server costs that never listens, and what ends it.

use std::io::BufRead;
use std::io::BufReader;
use std::process::Command;
use std::process::Stdio;
use std::time::Instant;

use crate::commands::needs;
use crate::commands::run;
use crate::program::btu;
use crate::program::signal;
use crate::program::wait_until;

/// User and system time of everything that a shell waited for, in seconds: the second line of `times`.
fn seconds(times: &str) -> f64 {
    let line = times.lines().nth(1).unwrap_or_default();
    let minutes = |text: &str| {
        let (minutes, seconds) = text.trim_end_matches('s').split_once('m')?;
        Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
    };
    let found: Option<Vec<f64>> = line.split_whitespace().map(minutes).collect();
    found.filter(|found| found.len() == 2).unwrap_or_else(|| panic!("{times}")).iter().sum()
}

/// Looks at the tables of the kernel one after the other would take half a CPU from what is measured next.
#[test]
fn waiting_for_a_server_that_never_listens_takes_hardly_any_cpu_time() {
    needs!();
    let program = btu();
    let words = "link --delay 1ms --wait sleep --far 'sleep 60' -- true";
    let script = format!("'{}' {words} 2>/dev/null; times", program.get_program().display());
    let begin = Instant::now();
    let times = run(Command::new("sh").args(["-c", &script])).unwrap();
    let (took, spent) = (begin.elapsed().as_secs_f64(), seconds(&times));
    assert!(took >= 5.0, "it waited: {took} s");
    assert!(spent < took / 4.0, "{spent} s of CPU time in {took} s");
}

/// A terminal that changes its size sends SIGWINCH.
#[test]
fn a_changed_window_does_not_end_a_link_that_waits_for_its_server_and_a_request_to_end_does() {
    needs!();
    let mut command = btu();
    command.args(["link", "--far", "sleep 60", "--", "sleep", "60"]).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(said.next().unwrap().unwrap().contains("changes nothing"));
    for name in ["WINCH", "USR1", "TERM"] {
        signal(child.id(), name);
        wait_until(|| nothing_pends(child.id()));
    }
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(128 + 15), "{:?}", said.collect::<Vec<_>>());
}

/// True once a process has taken every signal that it was sent; of several at once the kernel chooses the first.
fn nothing_pends(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let pending = |line: &&str| line.starts_with("SigPnd:") || line.starts_with("ShdPnd:");
    let sets: Vec<&str> = status.lines().filter(pending).collect();
    assert_eq!(sets.len(), 2, "{status}");
    // One that has ended takes none: its status tells why.
    let is_over = status.contains("\nState:\tZ");
    is_over || sets.iter().all(|set| set.ends_with("\t0000000000000000"))
}
