//! `btu score`: the formulas from outside.

use crate::commands::run;
use crate::program::btu;
use crate::program::read_json;
use crate::program::said;

/// One case, one application: 2 and 8 Mb/s beside two activities, slowdowns 2 and 8.
const TABLE: &str = r#"{"activities_base": {"cpu": 100.0, "io": 80.0}, "cells": [
    {"case": "SEND", "application": "audio", "activity": "cpu", "repeat": 1, "bits": 4000000, "seconds": 2.0, "activity_rate": 50.0},
    {"case": "SEND", "application": "audio", "activity": "io", "repeat": 1, "bits": 4000000, "seconds": 0.5, "slowdown": 8.0}]}"#;

fn table(text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("table.json");
    std::fs::write(&file, text).unwrap();
    (folder, file)
}

/// BTU = GM(2, 8) = 4 Mb/s; penalty = (GM(2, 8) - 1) x 100 = 300 % (maly1996, eq. 5 to 7).
#[test]
fn a_worked_example_scores_as_by_hand() {
    let (folder, file) = table(TABLE);
    let out = run(btu().arg("score").arg(&file).arg("--json")).unwrap();
    let copy = folder.path().join("out.json");
    std::fs::write(&copy, out).unwrap();
    let score = read_json(&copy);
    assert!((score["btu_mbps"].as_f64().unwrap() - 4.0).abs() < 1e-12);
    assert!((score["penalty_percent"].as_f64().unwrap() - 300.0).abs() < 1e-9);
    assert!(score["btu_idle_mbps"].is_null() && score["btu_idle_mbps_reason"].is_string());
    let text = run(btu().arg("score").arg(&file)).unwrap();
    assert!(text.starts_with("BTU            4.00 Mb/s\n"), "{text}");
}

#[test]
fn a_contradiction_names_its_cell_and_exits_2() {
    let wrong = TABLE.replace("\"activity_rate\": 50.0", "\"goodput_mbps\": 3.0");
    let (_folder, file) = table(&wrong);
    let output = btu().arg("score").arg(&file).output().unwrap();
    let said = said(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("cells[0]") && output.stdout.is_empty(), "{said}");
}
