//! Ping-pongs that do not come to their end as planned: faults, signals, kill -9.

use std::process::Child;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use super::short;
use crate::commands::needs;
use crate::commands::run;
use crate::program::btu;
use crate::program::ended_within;
use crate::program::is_left_alone;
use crate::program::of_kind;
use crate::program::read_json;
use crate::program::said;
use crate::program::signal;
use crate::program::wait_until;
use crate::quick::undisturbed;

/// A fault of the far end, and as what it is known.
static FAULTS: &[(&str, &[&str])] = &[
    ("close", &["peer_gone"]),
    ("corrupt", &["corrupted"]),
    ("duplicate", &["duplicated"]),
    ("late", &["late"]),
    ("short", &["short", "stalled"]),
    ("silence", &["stalled"]),
];

#[test]
fn a_peer_that_dies_stalls_or_lies_ends_its_point_with_the_reason() {
    needs!();
    for (plant, names) in FAULTS {
        let folder = TempDir::new().unwrap();
        let patience = format!("{}s", patience_s(plant));
        let args =
            ["tcp", "--verify", "--plant", plant, "--sizes", "2kB,3kB", "--patience", &patience];
        let ended = short(folder.path(), &args).output().unwrap();
        assert_eq!(ended.status.code(), Some(6), "{plant}");
        let result = read_json(&folder.path().join("out/result.json"));
        let fault = &result["curves"][0]["faults"][0];
        assert!(names.contains(&fault["fault"].as_str().unwrap()), "{plant}: {fault}");
        assert_eq!(fault["lasting"], true, "{plant}");
        let in_time = ended_in_time(&folder, plant, names);
        assert_eq!(
            in_time, 4,
            "{plant}: two of three rounds fail at each of two sizes, then no more"
        );
        let said = String::from_utf8_lossy(&ended.stdout).into_owned();
        assert!(
            said.contains(fault["detail"].as_str().unwrap().split(':').next().unwrap()),
            "{said}"
        );
    }
}

#[test]
fn a_peer_that_breaks_off_a_timed_run_leaves_all_that_was_measured_before() {
    needs!();
    for (plant, kind) in [("close", "peer_gone"), ("silence", "stalled")] {
        let folder = TempDir::new().unwrap();
        let patience = format!("{}s", patience_s(plant));
        let args = ["tcp", "--plant", plant, "--sizes", "8B,3kB", "--patience", &patience];
        let mut command = short(folder.path(), &[&args[..], &["--chasms", "off"]].concat());
        let said = run(&mut command).unwrap();
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("the time is that of other visits"), "{plant}: {said}");
        let result = read_json(&folder.path().join("out/result.json"));
        let curve = &result["curves"][0];
        // The first round was good, and nothing that came later takes it away.
        let points = curve["points"].as_array().unwrap();
        assert_eq!(points.len(), 2, "{plant}: {points:?}");
        for point in points {
            assert_eq!(point["rounds"], 1, "{plant}: {point}");
            assert!(point["flags"].as_array().unwrap().contains(&"few-rounds".into()), "{point}");
        }
        let faults = curve["faults"].as_array().unwrap();
        assert_eq!(faults.len(), 2, "{plant}: {faults:?}");
        for fault in faults {
            let found = (&fault["fault"], &fault["visits"], &fault["lasting"]);
            assert_eq!(found, (&kind.into(), &2.into(), &false.into()), "{plant}: {fault}");
        }
        // No point is visited again after its second fault, disturbed or not.
        assert_eq!(ended_in_time(&folder, plant, &[kind]), 4, "{plant}");
    }
}

/// Every transport that is here, of which the peer of each dies or falls silent after the first round.
#[test]
fn a_peer_that_breaks_off_leaves_the_first_round_over_every_transport() {
    needs!();
    for plant in ["close", "silence"] {
        let folder = TempDir::new().unwrap();
        let args = ["all", "--plant", plant, "--sizes", "3kB", "--patience", "2s"];
        run(&mut short(folder.path(), &[&args[..], &["--chasms", "off"]].concat())).unwrap();
        let result = read_json(&folder.path().join("out/result.json"));
        let curves = result["curves"].as_array().unwrap();
        assert!(curves.len() >= 5, "{result:#}");
        for curve in curves {
            let [point] = curve["points"].as_array().unwrap().as_slice() else {
                panic!("{curve:#}")
            };
            assert_eq!(point["rounds"], 1, "{plant}: {curve:#}");
            let [fault] = curve["faults"].as_array().unwrap().as_slice() else {
                panic!("{curve:#}")
            };
            let is_known = ["peer_gone", "stalled"].contains(&fault["fault"].as_str().unwrap());
            assert!(is_known && fault["visits"] == 2 && fault["lasting"] == false, "{curve:#}");
        }
    }
}

/// A link that answers within a moment and no sooner: one transport is not connected in time, and the others
/// are measured all the same.
#[test]
fn what_is_not_connected_in_time_ends_its_own_points_and_no_others() {
    needs!();
    if let Err(refusal) = btu_sys::xdp::permitted() {
        let kind = if btu_sys::namespace::is_privileged() { "kernel lacks" } else { "not root" };
        skip!("{kind}: {refusal}");
    }
    let args = ["shm", "xdp", "--sizes", "64B", "--patience", "1us", "--chasms", "off"];
    let attempt = |_| {
        let folder = TempDir::new().unwrap();
        let ended = short(folder.path(), &args).output().unwrap();
        assert_eq!(ended.status.code(), Some(6), "{}", said(&ended));
        let result = read_json(&folder.path().join("out/result.json"));
        (folder, result["curves"].as_array().unwrap().clone())
    };
    let points = |curve: &Value| curve["points"].as_array().unwrap().len();
    // A busy machine holds up a thread of shm for longer than that, too.
    let (folder, curves) = undisturbed(attempt, |(_, curves)| points(&curves[0]) == 0);
    let [shm, xdp] = curves.as_slice() else { panic!("{curves:#?}") };
    assert_eq!(points(shm), 1, "{shm:#}");
    assert!(xdp["points"].as_array().unwrap().is_empty(), "{xdp:#}");
    let detail = xdp["faults"][0]["detail"].as_str().unwrap();
    assert!(
        detail.contains("by a frame: timed out") || detail.contains("near end's frame"),
        "{detail}"
    );
    // Alone there is nothing that could be kept.
    let mut alone = btu();
    alone.current_dir(folder.path()).args(["pingpong", "xdp", "--sizes", "64B", "--out", "alone"]);
    let ended = alone.args(["--patience", "1us"]).output().unwrap();
    assert_eq!(ended.status.code(), Some(3), "{}", said(&ended));
    assert!(!folder.path().join("alone").exists());
}

/// How many visits failed, each with one of these faults and within its cap: four times its share of the
/// time, then the patience, then what the two ends may take to notice that their connection was ended. One
/// that the cap ended had all the patience first.
fn ended_in_time(folder: &TempDir, plant: &str, names: &[&str]) -> usize {
    let (patience, all_points) = (f64::from(patience_s(plant)), 2.0 * 0.01);
    let most = 4.0 * all_points + patience + 2.0 * LAST_GRACE + CROWDED;
    let lines = crate::program::lines(&folder.path().join("out/samples.jsonl"));
    let failed = lines.iter().filter(|line| line["ended"]["how"] == "failed");
    let failed = failed.inspect(|line| {
        let seconds = line["elapsed_ns"].as_f64().unwrap() / 1e9;
        assert!(names.contains(&line["ended"]["fault"].as_str().unwrap()), "{plant}: {line}");
        assert!(seconds <= most, "{seconds} s: {line}");
        assert!(plant != "silence" || seconds >= patience, "{seconds} s: {line}");
    });
    failed.count()
}

/// Only a peer that says nothing more is met by the cap; a connection must be made within it, too.
fn patience_s(plant: &str) -> u8 {
    if ["short", "silence"].contains(&plant) { 1 } else { 30 }
}

/// The most that an end is waited for after its connection was ended, in seconds.
const LAST_GRACE: f64 = 2.0;

/// What a machine that is busy with something else may take besides, in seconds: far more than it does, and
/// far less than a visit without a cap.
const CROWDED: f64 = 30.0;

#[test]
fn a_pass_in_which_every_byte_is_checked_reports_no_time() {
    needs!();
    let folder = TempDir::new().unwrap();
    // Of all that are here: three rounds of ten exchanges of 32 sizes, the last of which is no datagram.
    let result = super::result(folder.path(), &["all", "--verify", "--end", "64KiB"]);
    for curve in result["curves"].as_array().unwrap() {
        let sizes = 32 - curve["too_large_bytes"].as_array().unwrap().len();
        let lost = if curve["label"] == "udp" { 30 } else { 0 };
        let checked = curve["verified_exchanges"].as_u64().unwrap();
        assert!((30 * sizes as u64).abs_diff(checked) <= lost, "{curve}");
        assert!(curve["points"].as_array().unwrap().is_empty() && curve["latency_us"].is_null());
    }
    assert_eq!(result["reference"], Value::Null);
}

/// A ping-pong of a minute, and the lines of its journal so far.
fn begun(folder: &TempDir) -> Child {
    let mut child = btu()
        .current_dir(folder.path())
        .args(["pingpong", "unix", "--sizes", "8B,64B,512B,4kB", "--rounds", "200", "--quiet"])
        .args(["--point-time", "1s", "--chasms", "off", "--out", "out"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until(|| {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        visits(folder) > 40
    });
    child
}

fn visits(folder: &TempDir) -> usize {
    let text = std::fs::read_to_string(folder.path().join("out/samples.jsonl"));
    text.map_or(0, |text| text.lines().filter(|line| line.contains("ping_pong_visit")).count())
}

#[test]
fn an_interrupt_keeps_what_there_is_reports_it_and_can_be_resumed() {
    needs!();
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let folder = TempDir::new().unwrap();
        let mut child = begun(&folder);
        signal(child.id(), name);
        let ended = ended_within(&mut child, Duration::from_mins(1)).unwrap();
        assert_eq!(ended.code(), Some(code));
        let output = child.wait_with_output().unwrap();
        let brief = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(brief.contains("INCOMPLETE") && brief.contains("T(1 B) us"), "{brief}");
        let hint = said(&output);
        assert!(hint.contains("btu pingpong --resume out"), "{hint}");
        let result = read_json(&folder.path().join("out/result.json"));
        assert_eq!(result["complete"], false);
        assert_eq!(result["curves"][0]["points"].as_array().unwrap().len(), 4);
        resume(&folder);
    }
}

#[test]
fn what_was_measured_outlives_kill_9_and_is_not_measured_again() {
    needs!();
    let folder = TempDir::new().unwrap();
    let mut child = begun(&folder);
    child.kill().unwrap();
    child.wait().unwrap();
    let kept = visits(&folder);
    let said = run(btu().current_dir(folder.path()).args(["report", "out"])).unwrap();
    assert!(said.contains("INCOMPLETE"), "{said}");
    resume(&folder);
    assert!(kept > 40 && visits(&folder) > kept);
}

/// Killed as it wrote: the whole lines stay, and what the torn one held is measured again, as it is said.
#[test]
fn a_torn_last_line_is_set_aside_and_told() {
    needs!();
    let folder = TempDir::new().unwrap();
    let mut child = begun(&folder);
    child.kill().unwrap();
    child.wait().unwrap();
    let samples = folder.path().join("out/samples.jsonl");
    let mut text = std::fs::read_to_string(&samples).unwrap();
    text.truncate(text.rfind('\n').unwrap() + 1);
    let number = text.lines().count() + 1;
    std::fs::write(&samples, text + "{\"kind\":\"ping_pong_vi").unwrap();
    let told = resume(&folder);
    let torn = format!(
        "samples.jsonl:{number}: torn last line (21 bytes) moved to samples.torn; what it held is \
         measured again"
    );
    assert!(told.contains(&torn), "{told}");
    let events = std::fs::read_to_string(folder.path().join("out/events.jsonl")).unwrap();
    assert!(events.contains(&torn), "{events}");
}

/// Goes on to the end; every point then has each round once.
fn resume(folder: &TempDir) -> String {
    let mut command = btu();
    command.current_dir(folder.path()).args(["pingpong", "--resume", "out", "--quiet"]);
    let resumed = command.output().unwrap();
    assert!(resumed.status.success(), "{}", said(&resumed));
    let result = read_json(&folder.path().join("out/result.json"));
    assert_eq!(result["complete"], true);
    let mut seen = std::collections::BTreeSet::new();
    for line in of_kind(&folder.path().join("out"), "ping_pong_visit") {
        let key =
            ["configuration", "size_bytes", "round", "attempt"].map(|key| line[key].to_string());
        assert!(seen.insert(key), "measured twice: {line}");
    }
    is_left_alone(&folder.path().join("out"), "pingpong");
    said(&resumed)
}
