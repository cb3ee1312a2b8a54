//! What every verb has in common: help that a person can read, one JSON document with `--json`.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;

use serde_json::Value;

use crate::commands::needs;
use crate::program::btu;
use crate::program::said;
use crate::program::signal;
use crate::program::tiny_plan;
use crate::program::wait_until;

/// The verbs, as the program itself lists them.
fn verbs(help: &str) -> Vec<String> {
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let list = list.take_while(|line| !line.is_empty());
    let names = list.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty() && *name != "help").map(str::to_owned).collect()
}

/// A table that a person could have typed: two cells of one pass.
const TABLE: &str = r#"{"activities_base": {"cpu": 100.0}, "cells": [
  {"case": "SEND", "application": "video", "activity": "cpu", "repeat": 1,
   "goodput_mbps": 50.0, "activity_rate": 80.0},
  {"case": "SEND", "application": "video", "activity": "none", "repeat": 1,
   "goodput_mbps": 100.0}]}"#;

/// A scenario of one full stream.
const SCRIPT: &str = include_str!("../../../btu-core/src/traffic/testdata/full-stream.ns");

#[test]
fn every_verb_has_help_within_a_hundred_columns() {
    let all = String::from_utf8(btu().arg("--help").output().unwrap().stdout).unwrap();
    let verbs = verbs(&all);
    assert!(verbs.len() >= 17, "{all}");
    for verb in &verbs {
        let help = btu().args([verb, "--help"]).output().unwrap();
        assert_eq!(help.status.code(), Some(0), "{verb}");
        let text = String::from_utf8(help.stdout).unwrap();
        assert!(text.contains("Usage: btu") && text.contains("--json"), "{verb}: {text}");
        let longest = text.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(100), "{verb}: {text}");
    }
}

/// A file where a directory is wanted, and the like: the user's to mend, so exit 2, and nothing is made.
#[test]
fn what_is_in_the_way_is_named_with_its_option_and_nothing_is_made() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    for (words, told) in [
        (&["man", "--out", "file"][..], "--out file: not a directory"),
        (&["agent", "status", "--state", "file"], "--state file: not a directory"),
        (&["agent", "stop-all", "--state", "nosuch"], "--state nosuch: no such directory"),
        (&["agent", "status", "--state", "nosuch"], "--state nosuch: no such directory"),
        (&["agent", "--listen", "foo"], "write an address of this host with a port: 10.0.4.7:7411"),
        (&["traffic", "sweep", "period", "--values", "0ms"], "--values 0ms: write more than zero"),
        (&["traffic", "qos", "voice,bulk,voice"], "\"voice\" is named twice; name each once"),
        (
            &["traffic", "qos", "bulk", "--limit", "voice.delay=1s"],
            "the class \"voice\" is not measured\nhint: measure it: bulk,voice",
        ),
        (
            &["traffic", "qos", "--limit", "voice.loss=1%", "--limit", "voice.loss=2%"],
            "voice.loss was set before; write each limit once",
        ),
        (&["pingpong", "--seed", "-1"], "write a whole number from 0"),
    ] {
        let refused = btu().current_dir(folder.path()).args(words).output().unwrap();
        let said = said(&refused);
        assert_eq!(
            (refused.status.code(), refused.stdout.len()),
            (Some(2), 0),
            "{words:?}: {said}"
        );
        assert!(said.contains(told), "{words:?}: {said}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "{words:?}");
    }
}

#[test]
fn a_wrong_verb_is_told_the_legal_ones() {
    let no_text = OsStr::from_bytes(b"\xff");
    for (words, legal) in [
        (&["bogus".as_ref()][..], "write agent, app, bundle, compare"),
        (&["agent".as_ref(), "bogus".as_ref()][..], "write invite"),
        (&["agent".as_ref(), "agent".as_ref()][..], "write invite, status, stop-all, resume\n"),
        (&[no_text][..], "write agent, app, bundle, compare"),
    ] {
        let refused = btu().args(words).output().unwrap();
        let said = said(&refused);
        assert_eq!((refused.status.code(), refused.stdout.len()), (Some(2), 0), "{said}");
        let named =
            format!("error: unrecognized subcommand '{}'\n", words[words.len() - 1].display());
        assert!(said.starts_with(&named) && said.contains(legal), "{said}");
    }
}

/// One command of each verb, in the order in which they need each other's results.
static COMMANDS: &[&[&str]] = &[
    &["app", "math", "--repeats", "1", "--json"],
    &["app", "run", "--dry-run", "--json"],
    &["completions", "bash", "--json"],
    &["doctor", "--json"],
    &["file", "all", "--dry-run", "--json"],
    &["link", "--json", "--", "echo", "this goes to stderr"],
    &["list", "--json"],
    &["man", "run", "--json"],
    &["mesh", "n[1-4]", "--dry-run", "--json"],
    &["model", "list", "--json"],
    &["pingpong", "--dry-run", "--json"],
    &["run", "--dry-run", "--json"],
    &["run", "--json", "--plan", "tiny.toml", "--out", "mine", "--capture", "all"],
    &["score", "table.json", "--json"],
    &["score", "mine/result.json", "--json"],
    &["report", "mine", "--json"],
    &["verify", "mine", "--json"],
    &["bundle", "mine", "--output", "mine.btu", "--json"],
    &["redact", "mine", "--output", "clean", "--json"],
    &["compare", "mine", "mine.btu", "--json"],
    &["rank", "--unranked", "mine=mine.btu", "--json"],
    &["explain", "mine", "--json"],
    &["traffic", "sweep", "period", "--rate", "10Mbit/s", "--dry-run", "--json"],
    &["traffic", "qos", "voice", "--dry-run", "--json"],
    &["traffic", "convert", "a.ns", "--json"],
];

#[test]
fn every_verb_writes_one_json_document() {
    needs!();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("table.json"), TABLE).unwrap();
    std::fs::write(folder.path().join("a.ns"), SCRIPT).unwrap();
    tiny_plan(folder.path());
    for line in COMMANDS {
        let mut command = btu();
        command.current_dir(folder.path()).args(*line);
        // On a busy machine a cell of the run may meet its cap.
        one_document(&mut command, if line[0] == "run" { &[0, 6] } else { &[0] });
    }
    let all = String::from_utf8(btu().arg("--help").output().unwrap().stdout).unwrap();
    let tried: Vec<&str> = COMMANDS.iter().map(|line| line[0]).chain(["agent", "pair"]).collect();
    let forgotten: Vec<String> =
        verbs(&all).into_iter().filter(|verb| !tried.contains(&verb.as_str())).collect();
    assert!(forgotten.is_empty(), "{forgotten:?}");
}

/// The document that a command wrote, the only thing on stdout.
fn one_document(command: &mut Command, codes: &[i32]) -> Value {
    let ended = command.output().unwrap();
    let said = said(&ended);
    assert!(codes.iter().any(|code| ended.status.code() == Some(*code)), "{command:?}: {said}");
    let document: Value = serde_json::from_slice(&ended.stdout)
        .unwrap_or_else(|error| panic!("{command:?}: {error}: {said}"));
    assert!(document.is_object(), "{command:?}");
    let version = &document["schema_version"];
    assert!(version.is_string() || version.is_u64(), "{command:?}: no version: {document}");
    document
}

/// An agent on the loopback of this machine, which ends with the test.
struct LocalAgent(Child);

impl Drop for LocalAgent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn an_agent_and_who_talks_to_it_write_one_json_document_each() {
    let folder = tempfile::tempdir().unwrap();
    let of = |host: &str, words: &[&str]| {
        let mut command = btu();
        command.env("BTU_STATE_DIR", folder.path().join(host)).args(words).arg("--json");
        command
    };
    let mut agent = of("agent", &["agent", "--listen", "127.0.0.1:0"]);
    let agent = agent.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut agent = LocalAgent(agent);
    wait_until(|| of("agent", &["agent", "status"]).output().unwrap().status.success());
    let invite = one_document(&mut of("agent", &["agent", "invite"]), &[0]);
    let invite = invite["invite"].as_str().unwrap();
    let paired = one_document(&mut of("host", &["pair", invite, "--name", "lab1"]), &[0]);
    let status = one_document(&mut of("agent", &["agent", "status"]), &[0]);
    assert_eq!((&paired["name"], &paired["agent"]), (&"lab1".into(), &status["agent"]));
    for word in ["stop-all", "resume"] {
        one_document(&mut of("agent", &["agent", word]), &[0]);
    }
    signal(agent.0.id(), "TERM");
    let mut said = String::new();
    agent.0.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    let told: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(told["reservations"], 0, "{said}");
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
        ("write-calls", "sendfile"),
        ("read-calls", "lowat"),
        ("pingpong-transports", "shm"),
        ("statistics", "average-of-3000"),
        ("traffic-classes", "voice"),
        ("traffic-basics", "burstq"),
        ("distributions", "exp"),
        ("imports", "OSU micro-benchmark"),
        ("elements", "delay"),
        ("methods", "rfc2544"),
        ("models", "www-3gpp"),
        ("backends", "relay"),
        ("probes", "drift"),
        ("disclosure", "system"),
        ("kernels", "ep"),
        ("message-layers", "tcp"),
        ("file-experiments", "rpc-sweep"),
        ("math-libraries", "system"),
        ("file-protocols", "ftp"),
        ("rules", "stall"),
        ("causes", "delayed-ack-nagle"),
        ("sections", "result"),
        ("services", "pingpong"),
        ("formats", "html"),
    ];
    let keys = document.as_object().unwrap().keys();
    let registries = keys.filter(|key| *key != "schema_version").count();
    assert_eq!(registries, entries.len(), "each registry has its entry");
    for (registry, entry) in entries {
        let listed = document[registry].as_array().unwrap_or_else(|| panic!("{registry}"));
        assert!(listed.iter().any(|one| one["name"] == entry), "{registry}: {entry}");
        assert!(listed.iter().all(|one| !one["summary"].as_str().unwrap().is_empty()));
    }
}
