//! Results on disk: whole, torn, corrupted, missing.

use std::error::Error;
use std::fs;

use btu_core::journal::codec;
use btu_report::OpenMode;
use btu_report::ResultFiles;
use btu_report::StoreError;
use btu_report::open;
use serde_json::Value;
use tempfile::TempDir;

use crate::fixture;

/// The fixture as a directory.
fn stored() -> TempDir {
    let directory = TempDir::new().unwrap();
    let journal = fixture::journal();
    let lines = |records: &[btu_core::journal::Record]| {
        records.iter().map(|record| codec::line(record).unwrap()).collect::<String>()
    };
    let events: String = journal.events.iter().map(|event| codec::line(event).unwrap()).collect();
    write(&directory, "plan.toml", journal.plan.to_toml().as_bytes());
    write(&directory, "hosts.json", serde_json::to_string(&journal.hosts).unwrap().as_bytes());
    write(&directory, "samples.jsonl", lines(&journal.records).as_bytes());
    write(&directory, "events.jsonl", events.as_bytes());
    directory
}

fn write(directory: &TempDir, file: &str, bytes: &[u8]) {
    fs::write(directory.path().join(file), bytes).unwrap();
}

fn samples(directory: &TempDir) -> Vec<u8> {
    fs::read(directory.path().join("samples.jsonl")).unwrap()
}

/// What the program says of the result: its figures, and its report as text.
fn told(directory: &TempDir, mode: OpenMode) -> (Value, String) {
    let stored = ResultFiles::read(directory.path()).unwrap().open(mode).unwrap();
    let text = String::from_utf8(stored.render("text").unwrap()).unwrap();
    (stored.figures().unwrap(), text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// What is said of the run as a whole under this name.
fn remark<'f>(figures: &'f Value, name: &str) -> &'f str {
    let remarks = figures["remarks"].as_array().unwrap();
    let found = remarks.iter().find(|one| one["name"] == name && one["cell"].is_null());
    found.and_then(|one| one["detail"].as_str()).unwrap_or_else(|| panic!("{name}: {remarks:?}"))
}

/// A pipe is waited for until somebody writes: nobody does.
#[test]
fn a_pipe_in_place_of_a_file_is_named_and_not_waited_for() {
    let directory = stored();
    let place = directory.path().join("samples.jsonl");
    fs::remove_file(&place).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&place).status().unwrap().success());
    let told = printed(&ResultFiles::read(directory.path()).unwrap_err());
    assert!(told.contains("samples.jsonl") && told.ends_with("it is no regular file"), "{told}");
}

/// An error with its causes, as the program prints it.
fn printed(error: &StoreError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

#[test]
fn a_stored_journal_is_read_back_as_it_was() {
    let opened = open(stored().path(), OpenMode::Strict).unwrap();
    assert_eq!(opened.journal, fixture::journal());
    assert!(opened.warnings.is_empty() && !opened.salvaged);
}

#[test]
fn a_torn_last_line_is_a_warning() {
    let directory = stored();
    let mut bytes = samples(&directory);
    let whole = fixture::journal().records.len();
    bytes.truncate(bytes.len() - 20);
    write(&directory, "samples.jsonl", &bytes);
    let opened = open(directory.path(), OpenMode::Strict).unwrap();
    assert_eq!(opened.journal.records.len(), whole - 1);
    let detail = &opened.warnings[0].detail;
    assert!(detail.starts_with(&format!("samples.jsonl:{whole}: torn last line (")), "{detail}");
    let (figures, text) = told(&directory, OpenMode::Strict);
    assert_eq!(remark(&figures, "torn-line"), detail);
    assert!(text.contains(&format!("torn-line: {detail}")), "{text}");
}

#[test]
fn a_run_that_stands_there_twice_is_a_warning() {
    let directory = stored();
    let mut bytes = samples(&directory);
    let line = bytes.split_inclusive(|byte| *byte == b'\n').find(|line| line.starts_with(CELL));
    let line = line.unwrap().to_vec();
    bytes.extend([&line[..], &line].concat());
    write(&directory, "samples.jsonl", &bytes);
    let opened = open(directory.path(), OpenMode::Strict).unwrap();
    assert_eq!(opened.warnings.len(), 1, "{:?}", opened.warnings);
    let detail = &opened.warnings[0].detail;
    let rest = ", pass 1, attempt 1: there more than once; btu verify checks every line";
    assert!(detail.starts_with("samples.jsonl: ") && detail.ends_with(rest), "{detail}");
    let (figures, text) = told(&directory, OpenMode::Strict);
    assert_eq!(remark(&figures, "doubled-line"), detail);
    assert!(text.contains(&format!("doubled-line: {detail}")), "{text}");
}

#[test]
fn a_corrupted_line_is_an_error_that_counts_what_follows() {
    let directory = stored();
    let mut bytes = samples(&directory);
    let third_line = bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').nth(1).unwrap().0 + 1;
    bytes[third_line] = b'#';
    write(&directory, "samples.jsonl", &bytes);
    let error = open(directory.path(), OpenMode::Strict).unwrap_err();
    let error = printed(&error);
    let follow = fixture::journal().records.len() - 3;
    assert!(error.contains("samples.jsonl:3: corrupted line ("), "{error}");
    assert!(error.ends_with(&format!("{follow} valid lines follow it")), "{error}");

    let opened = open(directory.path(), OpenMode::Salvage).unwrap();
    assert_eq!(opened.journal.records.len(), follow + 2);
    let (figures, text) = told(&directory, OpenMode::Salvage);
    let damaged = "the journal is damaged; lines are missing";
    let reasons = figures["not_rankable_reasons"].as_array().unwrap();
    assert!(reasons.contains(&damaged.into()), "{reasons:?}");
    assert_eq!(remark(&figures, "unreadable-line"), "samples.jsonl:3: cannot be read, left out");
    for told in [damaged, "unreadable-line: samples.jsonl:3: cannot be read, left out"] {
        assert!(text.contains(told), "{text}");
    }
}

#[test]
fn what_is_no_result_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing");
    let error = open(&path, OpenMode::Strict).unwrap_err();
    let said = format!("read {}: No such file or directory (os error 2)", path.display());
    assert_eq!(printed(&error), said);
}

#[test]
fn a_missing_file_is_named() {
    let directory = stored();
    fs::remove_file(directory.path().join("hosts.json")).unwrap();
    let error = open(directory.path(), OpenMode::Strict).unwrap_err();
    let error = printed(&error);
    assert!(error.starts_with("read ") && error.contains("hosts.json: No such file"), "{error}");
}

/// How the line of a cell begins.
const CELL: &[u8] = b"{\"kind\":\"cell\"";
