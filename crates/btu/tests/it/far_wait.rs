//! What waiting for a server costs that never listens.

use std::process::Command;
use std::time::Instant;

use crate::commands::needs;
use crate::commands::run;
use crate::program::btu;

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
