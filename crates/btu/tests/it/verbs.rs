//! What every verb has in common: help that a person can read, one JSON document with `--json`.

use serde_json::Value;

use crate::commands::needs;
use crate::program::btu;

static VERBS: &[&str] = &[
    "bundle", "compare", "doctor", "explain", "link", "list", "model", "pingpong", "rank",
    "redact", "report", "run", "score", "verify",
];

/// A table that a person could have typed: two cells of one pass.
const TABLE: &str = r#"{"activities_base": {"cpu": 100.0}, "cells": [
  {"case": "SEND", "application": "video", "activity": "cpu", "repeat": 1,
   "goodput_mbps": 50.0, "activity_rate": 80.0},
  {"case": "SEND", "application": "video", "activity": "none", "repeat": 1,
   "goodput_mbps": 100.0}]}"#;

#[test]
fn every_verb_has_help_within_a_hundred_columns() {
    let all = String::from_utf8(btu().arg("--help").output().unwrap().stdout).unwrap();
    for verb in VERBS {
        assert!(all.contains(&format!("\n  {verb} ")), "{verb}: {all}");
        let help = btu().args([verb, "--help"]).output().unwrap();
        assert_eq!(help.status.code(), Some(0), "{verb}");
        let text = String::from_utf8(help.stdout).unwrap();
        assert!(text.contains("Usage: btu") && text.contains("--json"), "{verb}: {text}");
        let longest = text.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(100), "{verb}: {text}");
    }
}

#[test]
fn every_verb_writes_one_json_document() {
    needs!();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("table.json"), TABLE).unwrap();
    let lines: [&[&str]; 7] = [
        &["doctor", "--json"],
        &["link", "--json", "--", "echo", "this goes to stderr"],
        &["list", "--json"],
        &["model", "list", "--json"],
        &["pingpong", "--dry-run", "--json"],
        &["run", "--dry-run", "--json"],
        &["score", "table.json", "--json"],
    ];
    for line in lines {
        let ended = btu().current_dir(folder.path()).args(line).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(0), "{line:?}: {said}");
        let document: Value = serde_json::from_slice(&ended.stdout).unwrap();
        assert!(document.is_object(), "{line:?}");
    }
}

#[test]
fn the_list_holds_every_registry() {
    let ended = btu().args(["list", "--json"]).output().unwrap();
    let document: Value = serde_json::from_slice(&ended.stdout).unwrap();
    let entries = [
        ("editions", "btu-96"),
        ("cases", "2SEND+DR"),
        ("applications", "telnet"),
        ("activities", "ftp"),
        ("transports", "tcp"),
        ("pingpong-transports", "shm"),
        ("statistics", "average-of-3000"),
        ("elements", "delay"),
        ("models", "www-3gpp"),
        ("backends", "relay"),
        ("probes", "drift"),
        ("disclosure", "system"),
        ("file-protocols", "ftp"),
        ("rules", "stall"),
        ("causes", "delayed-ack-nagle"),
        ("sections", "result"),
        ("formats", "html"),
    ];
    for (registry, entry) in entries {
        let listed = document[registry].as_array().unwrap_or_else(|| panic!("{registry}"));
        assert!(listed.iter().any(|one| one["name"] == entry), "{registry}: {entry}");
        assert!(listed.iter().all(|one| !one["summary"].as_str().unwrap().is_empty()));
    }
}
