//! Work of a calibrated amount, as in edition btu-96: from a plan to a result.

use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;

use serde_json::Value;

use crate::commands::needs;
use crate::program::A_LOT;
use crate::program::ended_within;
use crate::program::is_of_io;
use crate::program::of_kind;
use crate::program::plan_file;
use crate::program::read_json;
use crate::program::run_of;
use crate::program::said;
use crate::program::wait_until;
use crate::quick;

/// btu-96 made small: 200 kB take 80 ms on this line.
const SMALL: &str = r#"
edition = "btu-96"
[matrix]
cases = ["SEND", "RECV"]
applications = ["video"]
activities = ["cpu", "ftp", "io"]
[time]
amount = "200kB"
[link]
rate = "rate 20Mbit/s queue 100ms shared ether"
[activity]
ftp_transfer = "20kB"
io_file = "1MiB"
[capture]
cells = "none"
"#;

/// The run of that plan, its files of `io` in `dir`.
fn run(dir: &Path) -> Command {
    let mut command = run_of(&plan_file(dir, SMALL), dir.join("out"));
    command.args(["--allow-tmpfs", "--io-dir"]).arg(dir);
    command
}

//= maly1996#4.3
#[test]
fn calibrated_work_runs_alone_and_then_the_same_amount_beside_comm() {
    needs!();
    let dir = tempfile::tempdir().unwrap();
    let ended = run(dir.path()).output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", said(&ended));
    let alone = of_kind(&dir.path().join("out"), "alone");
    let units = |sample: &Value| sample["units"].as_f64().unwrap();
    let amount = |activity: &Value| {
        let own = alone.iter().rfind(|one| one["activity"] == *activity).unwrap();
        units(&own["sample"])
    };
    // One that something else disturbed is made again.
    let of_first = alone.iter().filter(|one| one["attempt"].as_u64().is_none_or(|nth| nth == 1));
    assert_eq!(of_first.count(), 3);
    let loaded: Vec<Value> = of_kind(&dir.path().join("out"), "cell")
        .into_iter()
        .filter(|cell| cell["activity"] != "none")
        .collect();
    assert!(loaded.len() >= 6, "{loaded:?}");
    for cell in &loaded {
        let (done, asked) = (units(&cell["activity_sample"]), amount(&cell["activity"]));
        assert!(done > 0.99 * asked, "{}: {done} of {asked}", cell["activity"]);
    }
    let result = read_json(&dir.path().join("out/result.json"));
    assert_eq!((&result["complete"], &result["edition"]), (&true.into(), &"btu-96".into()));
    assert!(result["penalty_percent"].is_number() && result["btu_mbps"].is_number());
}

/// Whoever can see a process can cut its files short, nameless as they are: `io` reads nothing any more.
fn cut_the_files_of_io(pid: u32) -> usize {
    let is_open = |path: &PathBuf| fs::read_link(path).is_ok_and(|name| is_of_io(&name));
    let open = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<PathBuf> = open.filter(is_open).collect();
    for file in &files {
        fs::File::options().write(true).open(file).unwrap().set_len(0).unwrap();
    }
    files.len()
}

/// Nobody sent a signal: the run comes to its end, its cells beside `io` failed, and it says why.
#[test]
fn an_activity_that_fails_while_it_is_calibrated_does_not_end_the_run() {
    needs!();
    let dir = tempfile::tempdir().unwrap();
    let mut running = run(dir.path()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let events = dir.path().join("out/events.jsonl");
    wait_until(|| fs::read_to_string(&events).is_ok_and(|text| text.contains("\"started\"")));
    assert_eq!(cut_the_files_of_io(running.id()), 2);
    assert!(ended_within(&mut running, A_LOT).is_some(), "the run hangs");
    let ended = running.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(6), "{}", said(&ended));
    assert!(!said(&ended).contains("interrupted"), "{}", said(&ended));
    let result = read_json(&dir.path().join("out/result.json"));
    assert_eq!(result["complete"], true);
    let reasons = result["not_rankable_reasons"].to_string();
    let base = "1 of 3 runs of an activity alone did not work as asked; the first is io, pass 1: read a \
                file in ";
    assert!(reasons.contains(base), "{reasons}");
    let cells = "failed: activity: read a file in ";
    assert!(reasons.contains(cells), "{reasons}");
    let cells = result["cells"].as_array().unwrap();
    let slowdowns = |activity: &str| {
        let own = cells.iter().filter(move |cell| cell["activity"] == activity);
        own.map(|cell| cell["slowdown"].is_number()).collect::<Vec<_>>()
    };
    assert_eq!((slowdowns("cpu"), slowdowns("io")), (vec![true; 2], vec![false; 2]));
}

/// The edition's own link and window, for 120 kB.
const OLD: &str = r#"
edition = "btu-96"
[matrix]
cases = ["SEND+DL"]
applications = ["ftp"]
activities = ["cpu"]
[time]
amount = "120kB"
[capture]
cells = "none"
"#;

/// One window in each round trip: what a black box of 4 KiB takes before it answers.
#[test]
fn behind_the_delay_of_1996_a_sender_gets_one_window_in_each_round_trip() {
    needs!();
    let dir = tempfile::tempdir().unwrap();
    let plan = plan_file(dir.path(), OLD);
    let out = dir.path().join("out");
    let attempt = |number| {
        if number > 1 {
            fs::remove_dir_all(&out).unwrap();
        }
        run_of(&plan, &out).output().unwrap()
    };
    let ended = quick::undisturbed(attempt, quick::is_late);
    if quick::is_late(&ended) {
        skip!("machine too busy: the emulated link was late before five runs");
    }
    assert_eq!(ended.status.code(), Some(0), "{}", said(&ended));
    let mut cells = of_kind(&dir.path().join("out"), "cell");
    cells.retain(|cell| cell["activity"] == "none");
    let shares: Vec<f64> = cells.iter().map(share_of_the_window).collect();
    // A run that something else held up is repeated.
    assert!(shares.iter().any(|share| *share > 0.9), "{shares:?}: {cells:?}");
}

/// The rate over one window in each round trip, which no run may exceed.
fn share_of_the_window(cell: &Value) -> f64 {
    let connection = &cell["comm"]["connections"][0];
    let info = &connection["sender"]["tcp_info"];
    let of_kernel = |name: &str| info[name].as_f64().unwrap();
    let (window, segment) = (of_kernel("snd_wnd_bytes"), of_kernel("snd_mss_bytes"));
    assert!(window <= 4096.0, "{info}");
    // A sender with more to say sends whole segments (RFC 9293, 3.8.6.2.1).
    let flight_bits = (window / segment).floor() * segment * 8.0;
    let number = |name: &str| connection[name].as_f64().unwrap();
    let bits_per_us = number("bytes") * 8e3 / number("elapsed_ns");
    assert!(bits_per_us < 1.02 * flight_bits / of_kernel("min_rtt_us"), "{bits_per_us}: {info}");
    bits_per_us / (flight_bits / of_kernel("rtt_us"))
}
