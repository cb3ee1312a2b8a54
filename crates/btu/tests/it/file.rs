//! A file service as its users see it.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::commands::needs;
use crate::commands::run;
use crate::program::assert_reported_again;
use crate::program::btu;
use crate::program::of_kind;
use crate::program::read_json;
use crate::program::said;
use crate::program::signal;
use crate::program::wait_until;

/// Few rounds of small files into the folder's `out`.
fn short(folder: &Path, args: &[&str]) -> Command {
    let mut command = btu();
    command.current_dir(folder).arg("file").args(args);
    command.args(["--rounds", "3", "--warm", "1", "--io-dir", ".", "--out", "out"]);
    command
}

fn refusal(args: &[&str]) -> String {
    let output = btu().arg("file").args(args).arg("--dry-run").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_dry_run_prints_the_plan_and_measures_nothing() {
    let folder = TempDir::new().unwrap();
    let told = run(short(folder.path(), &["all", "--seed", "7"]).arg("--dry-run")).unwrap();
    for word in [
        "verb = \"file\"",
        "seed = 7",
        "\"client-load\"]",
        "in each of 4 rounds, the first 1 to warm up",
    ] {
        assert!(told.contains(word), "no {word} in\n{told}");
    }
    assert!(!folder.path().join("out").exists());
}

#[test]
fn what_nobody_can_measure_is_refused_with_what_is_legal() {
    for (args, word) in [
        (&[][..], "no experiment is named; write all, baseline, transfer"),
        (&["nightly"], "unknown experiment \"nightly\"; write all, baseline"),
        (&["baseline", "--protocols", "nfs"], "unknown file protocol \"nfs\"; write afs, ftp"),
        (&["baseline", "--rounds", "0"], "--rounds: 0: write 1 to 1000"),
        (&["client-load", "--clients", "99"], "--clients: 99: write 1 to 64"),
        (
            &["transfer", "--mtu", "1500B", "--path", "loopback"],
            "--mtu: the loopback keeps its MTU",
        ),
        (&["cold-read", "--mtu", "9000B"], "--mtu: none of cold-read has them; leave them out"),
        (&["baseline", "--sizes", "1MiB,1MiB"], "--sizes: 1MiB is named twice; name it once"),
        (&["cold-read", "--io-dir", "/nowhere"], "--io-dir /nowhere: not a directory"),
    ] {
        let told = refusal(args);
        assert!(told.contains(word), "no {word} in\n{told}");
    }
}

#[test]
fn a_directory_in_which_nothing_can_be_made_is_refused_before_anything_is_measured() {
    let folder = TempDir::new().unwrap();
    let args = ["file", "cold-read", "--io-dir", "/proc", "--path", "loopback", "--out", "out"];
    let output = btu().current_dir(folder.path()).args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(said(&output).contains("make directory /proc/btu-file-"), "{}", said(&output));
    assert!(said(&output).contains("where you may write: --io-dir DIR"), "{}", said(&output));
    assert!(!folder.path().join("out").exists());
}

#[test]
fn a_protocol_without_calls_is_told_and_measures_nothing_of_them() {
    let folder = TempDir::new().unwrap();
    let args = ["rpc-sweep", "--protocols", "ftp", "--path", "loopback"];
    let output = short(folder.path(), &args).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(said(&output).contains("ftp: call: "), "{}", said(&output));
}

#[test]
fn two_hosts_of_one_machine_pass_files_each_way_and_keep_them_cold() {
    needs!();
    let folder = TempDir::new().unwrap();
    let args =
        ["transfer", "cold-read", "--sizes", "256KiB", "--mtu", "1500B", "--protocols", "ftp"];
    let told = run(&mut short(folder.path(), &args)).unwrap();
    for word in [
        "Transfers between two hosts (T2)",
        "bidirectional",
        "shared-host",
        "report: out/report.html",
    ] {
        assert!(told.contains(word), "no {word} in\n{told}");
    }
    let result = read_json(&folder.path().join("out/result.json"));
    assert_eq!((&result["complete"], &result["verb"]), (&true.into(), &"file".into()));
    for trial in result["trials"].as_array().unwrap() {
        assert_eq!(
            (&trial["rounds"], &trial["failed_rounds"]),
            (&3.into(), &0.into()),
            "{trial:#}"
        );
        assert!(trial["rate_kib_s"].as_f64().is_some_and(|rate| rate > 0.0), "{trial:#}");
    }
    assert_eq!(result["bidirectional"].as_array().unwrap().len(), 1);
    assert_eq!(of_kind(&folder.path().join("out"), "file_trial").len(), 4 * (4 + 2));
}

#[test]
fn the_same_journal_gives_the_same_bytes_in_every_format() {
    let folder = TempDir::new().unwrap();
    let args = ["baseline", "--sizes", "64KiB", "--path", "loopback"];
    run(&mut short(folder.path(), &args)).unwrap();
    assert_reported_again(folder.path(), "within A");
}

/// Killed in the middle, it goes on with the trials that are left, each of which is made once.
#[test]
fn a_measurement_that_was_killed_goes_on_where_it_stood() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let what = ["baseline", "--protocols", "ftp,tcp-rpc", "--sizes", "64KiB", "--rounds", "40"];
    let args = ["--path", "loopback", "--out", "out", "--quiet"];
    let mut command = btu();
    command.current_dir(folder.path()).arg("file").args(what).args(args);
    let mut child = command.spawn().unwrap();
    let samples = out.join("samples.jsonl");
    wait_until(|| std::fs::read_to_string(&samples).is_ok_and(|text| text.lines().count() > 3));
    signal(child.id(), "KILL");
    child.wait().unwrap();
    let before = std::fs::read_to_string(&samples).unwrap();
    let (kept, _torn) = before.rsplit_once('\n').unwrap();
    run(btu().current_dir(folder.path()).args(["file", "--resume", "out", "--quiet"])).unwrap();
    let trials = of_kind(&out, "file_trial");
    let places = trials.iter().map(|one| (one["round"].as_u64(), one["position"].as_u64()));
    let mut places: Vec<_> = places.collect();
    let all = places.len();
    places.sort_unstable();
    places.dedup();
    assert_eq!((all, places.len()), (45 * 4, 45 * 4));
    assert!(kept.lines().count() < all, "it was killed too late");
    assert!(std::fs::read_to_string(&samples).unwrap().starts_with(kept), "a trial is made once");
    assert_eq!(read_json(&out.join("result.json"))["complete"], Value::from(true));
}
