//! `btu run`: from a plan to a result, through interruptions, full disks and bad input.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::program::btu;
use crate::program::lines;
use crate::program::read_json;
use crate::program::tiny_plan;

/// How often each cell was measured, by cell and pass.
fn measured(dir: &Path) -> BTreeMap<(String, u64), usize> {
    let mut counts = BTreeMap::new();
    for line in lines(&dir.join("samples.jsonl")) {
        if line["kind"] == "cell" {
            let cell =
                format!("{}/{}/{}", line["case"], line["application"]["name"], line["activity"]);
            *counts.entry((cell, line["pass"].as_u64().unwrap())).or_default() += 1;
        }
    }
    counts
}

#[test]
fn a_run_leaves_every_file_that_scripts_rely_on() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("result");
    let run = btu()
        .args(["run", "--plan"])
        .arg(tiny_plan(dir.path()))
        .arg("--out")
        .arg(&out)
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    for file in [
        "plan.toml",
        "plan.given.toml",
        "hosts.json",
        "samples.jsonl",
        "events.jsonl",
        "result.json",
        "report.html",
    ] {
        assert!(out.join(file).is_file(), "{file}");
    }
    let result = read_json(&out.join("result.json"));
    assert!(result["btu_mbps"].as_f64().unwrap() > 0.0);
    assert_eq!(
        (result["preset"].as_str(), result["rankable"].as_bool()),
        (Some("custom"), Some(false))
    );
    let stdout = String::from_utf8(run.stdout).unwrap();
    assert!(stdout.contains("BTU") && stdout.contains("report.html"), "{stdout}");
}

#[test]
fn json_is_one_document_on_stdout_and_equals_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("result");
    let run = btu()
        .args(["run", "--json", "--plan"])
        .arg(tiny_plan(dir.path()))
        .arg("--out")
        .arg(&out)
        .output()
        .unwrap();
    let printed: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(printed, read_json(&out.join("result.json")));
}

#[test]
fn a_stored_result_renders_again_byte_by_byte() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("result");
    btu()
        .args(["run", "--quiet", "--plan"])
        .arg(tiny_plan(dir.path()))
        .arg("--out")
        .arg(&out)
        .output()
        .unwrap();
    for (format, file) in [("json", "result.json"), ("html", "report.html")] {
        let again = btu().args(["report", "--format", format]).arg(&out).output().unwrap();
        assert_eq!(again.stdout, std::fs::read(out.join(file)).unwrap(), "{format}");
    }
}

#[test]
fn a_dry_run_prints_the_plan_and_touches_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let run = btu().current_dir(dir.path()).args(["run", "--dry-run"]).output().unwrap();
    let text = String::from_utf8(run.stdout).unwrap();
    assert!(text.contains("edition = \"btu-26\"") && text.contains("about"), "{text}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn bad_options_name_place_value_and_legal_values() {
    let dir = tempfile::tempdir().unwrap();
    let plan = dir.path().join("night.toml");
    std::fs::write(&plan, "[time]\nwindow = \"120\"\n").unwrap();
    let cases: [(&[&str], &str); 7] = [
        (&["--cases", "SND"], "unknown name; write SEND, RECV"),
        (&["--activities", "gpu"], "unknown name; write cpu"),
        (&["--edition", "btu-96", "--official"], "edition btu-96 has one preset"),
        (&["--price", "2900"], "write 2900USD or 2900USD@2026-11"),
        (&["--price", "-5USD"], "write 2900USD or 2900USD@2026-11"),
        (&["--seed", "-1"], "invalid value '-1' for '--seed"),
        (&["--plan", plan.to_str().unwrap()], "night.toml:2:10: time.window = \"120\""),
    ];
    for (options, message) in cases {
        let run = btu().current_dir(dir.path()).arg("run").args(options).output().unwrap();
        let stderr = String::from_utf8(run.stderr).unwrap();
        assert_eq!(run.status.code(), Some(2), "{options:?}: {stderr}");
        assert!(stderr.contains(message), "{options:?}: {stderr}");
    }
}

#[test]
fn a_directory_with_something_in_it_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let plan = tiny_plan(dir.path());
    let run =
        btu().args(["run", "--plan"]).arg(plan).arg("--out").arg(dir.path()).output().unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8(run.stderr).unwrap().contains("not empty"));
}

#[test]
fn a_tmpfs_for_the_io_activity_is_refused_unless_allowed() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = btu();
    command
        .args(["run", "--activities", "io", "--io-dir", "/dev/shm", "--plan"])
        .arg(tiny_plan(dir.path()));
    let run = command.arg("--out").arg(dir.path().join("r")).output().unwrap();
    let stderr = String::from_utf8(run.stderr).unwrap();
    assert_eq!(run.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("tmpfs") && stderr.contains("--allow-tmpfs"), "{stderr}");
}

#[test]
fn an_interrupted_run_reports_what_it_has_and_resumes() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("result");
    let mut run = btu()
        .args(["run", "--quiet", "--plan"])
        .arg(tiny_plan(dir.path()))
        .arg("--out")
        .arg(&out)
        .spawn()
        .unwrap();
    wait_for_lines(&out, 3);
    crate::program::signal(run.id(), "INT");
    assert_eq!(run.wait().unwrap().code(), Some(130));
    let partial = read_json(&out.join("result.json"));
    assert_eq!(partial["complete"], false);
    let resumed = btu().args(["run", "--quiet", "--resume"]).arg(&out).output().unwrap();
    assert!(resumed.status.success(), "{}", String::from_utf8_lossy(&resumed.stderr));
    assert_eq!(read_json(&out.join("result.json"))["complete"], true);
    assert!(measured(&out).values().all(|count| *count <= 2));
}

#[test]
fn killed_at_twenty_random_moments_each_cell_is_measured_once() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("result");
    let plan = tiny_plan(dir.path());
    let mut run =
        btu().args(["run", "--quiet", "--plan"]).arg(&plan).arg("--out").arg(&out).spawn().unwrap();
    wait_for_lines(&out, 1);
    let mut moments = (1_u64..).map(|n| Duration::from_millis((n * 2_654_435_761) % 400));
    let mut kills = 0;
    while kills < 20 && crate::program::ended_within(&mut run, moments.next().unwrap()).is_none() {
        run.kill().unwrap();
        run.wait().unwrap();
        kills += 1;
        run = btu().args(["run", "--quiet", "--resume"]).arg(&out).spawn().unwrap();
    }
    run.wait().unwrap();
    assert!(kills > 3, "the plan is too short for this test");
    let last = btu().args(["run", "--quiet", "--resume"]).arg(&out).output().unwrap();
    assert!(last.status.success(), "{}", String::from_utf8_lossy(&last.stderr));
    let counts = measured(&out);
    assert_eq!(counts.len(), 2 * 2 * 2 * 2, "cells x passes");
    let repeats = lines(&out.join("samples.jsonl"))
        .iter()
        .filter(|l| l["attempt"].as_u64() > Some(1))
        .count();
    assert_eq!(counts.values().sum::<usize>(), counts.len() + repeats);
}

/// Waits until the journal holds so many lines.
fn wait_for_lines(out: &Path, wanted: usize) {
    let samples = out.join("samples.jsonl");
    crate::program::wait_until(|| {
        std::fs::read_to_string(&samples).is_ok_and(|t| t.lines().count() >= wanted)
    });
}
