//! The result directory: created once, torn lines mended, corrupted ones refused.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;

use btu_control::JournalDir;
use btu_control::JournalError;
use btu_core::disclosure::Disclosure;
use btu_core::journal::EventRecord;
use btu_core::journal::Record;
use btu_core::sample::VerificationSample;

fn record(link: &str) -> Record {
    Record::Verification(VerificationSample { link: link.into(), ..VerificationSample::default() })
}

fn create(path: &Path) -> JournalDir {
    JournalDir::create(path, "edition = \"btu-26\"\n", None, &Disclosure::default()).unwrap()
}

fn event(name: &str) -> EventRecord {
    EventRecord { at: "2026-11-21T12:00:00Z".into(), event: name.into(), detail: String::new() }
}

fn finished() -> EventRecord {
    event(EventRecord::FINISHED)
}

fn resumed() -> EventRecord {
    event(EventRecord::RESUMED)
}

/// Names and contents of the files of a directory.
fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

#[test]
fn what_is_appended_is_there_after_a_resume() {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = create(dir.path());
    journal.append(&record("a")).unwrap();
    journal.append(&record("b")).unwrap();
    drop(journal);
    let (_, stored) = JournalDir::resume::<Record>(dir.path()).unwrap();
    assert_eq!(stored.records, [record("a"), record("b")]);
}

#[test]
fn a_torn_last_line_is_set_aside_and_the_rest_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    create(dir.path()).append(&record("a")).unwrap();
    let samples = dir.path().join("samples.jsonl");
    std::fs::OpenOptions::new()
        .append(true)
        .open(&samples)
        .unwrap()
        .write_all(b"{\"kind\":\"ce")
        .unwrap();
    let (mut journal, stored) = JournalDir::resume::<Record>(dir.path()).unwrap();
    assert_eq!((stored.records.len(), stored.torn.map(|t| t.number)), (1, Some(2)));
    journal.append(&record("b")).unwrap();
    drop(journal);
    assert_eq!(
        JournalDir::resume::<Record>(dir.path()).unwrap().1.records,
        [record("a"), record("b")]
    );
    assert_eq!(std::fs::read(dir.path().join("samples.torn")).unwrap(), b"{\"kind\":\"ce\n");
}

#[test]
fn empty_lines_at_the_end_are_cut_off_before_anything_follows() {
    let dir = tempfile::tempdir().unwrap();
    create(dir.path()).append(&record("a")).unwrap();
    let samples = dir.path().join("samples.jsonl");
    let mut file = std::fs::OpenOptions::new().append(true).open(&samples).unwrap();
    file.write_all(b"\n \n").unwrap();
    let (mut journal, stored) = JournalDir::resume::<Record>(dir.path()).unwrap();
    assert_eq!((stored.records, stored.torn), (vec![record("a")], None));
    journal.append(&record("b")).unwrap();
    drop(journal);
    let (_, stored) = JournalDir::resume::<Record>(dir.path()).unwrap();
    assert_eq!(stored.records, [record("a"), record("b")]);
    assert!(!dir.path().join("samples.torn").exists());
}

#[test]
fn a_torn_line_that_cannot_be_set_aside_stays_where_it_is() {
    for (file, aside) in [("samples.jsonl", "samples.torn"), ("events.jsonl", "events.torn")] {
        let dir = tempfile::tempdir().unwrap();
        drop(create(dir.path()));
        std::fs::write(dir.path().join(file), b"{\"kind\":\"ce").unwrap();
        std::fs::create_dir(dir.path().join(aside)).unwrap();
        let note = || JournalDir::resume::<Record>(dir.path()).unwrap().0.note(&resumed());
        let append = || JournalDir::resume::<Record>(dir.path()).unwrap().0.append(&record("a"));
        assert!(matches!(note(), Err(JournalError::Io { .. })));
        if file == "samples.jsonl" {
            assert!(matches!(append(), Err(JournalError::Io { .. })));
        }
        assert_eq!(std::fs::read(dir.path().join(file)).unwrap(), b"{\"kind\":\"ce");
        std::fs::remove_dir(dir.path().join(aside)).unwrap();
        note().unwrap();
        assert_eq!(std::fs::read(dir.path().join(aside)).unwrap(), b"{\"kind\":\"ce\n");
        let (_, stored) = JournalDir::resume::<Record>(dir.path()).unwrap();
        assert_eq!((stored.records, stored.events, stored.torn), (vec![], vec![resumed()], None));
    }
}

/// Who finds that this host cannot go on with it drops it again.
#[test]
fn a_resume_that_writes_nothing_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = create(dir.path());
    journal.note(&finished()).unwrap();
    journal.append(&record("a")).unwrap();
    drop(journal);
    for (file, end) in [("samples.jsonl", "{\"kind\":\"ce"), ("events.jsonl", "\n{\"at\"")] {
        let mut file =
            std::fs::OpenOptions::new().append(true).open(dir.path().join(file)).unwrap();
        file.write_all(end.as_bytes()).unwrap();
    }
    let before = files(dir.path());
    for _ in 0..2 {
        let (_, stored) = JournalDir::resume::<Record>(dir.path()).unwrap();
        assert_eq!(
            (stored.torn.as_ref().map(|t| t.number), stored.is_finished()),
            (Some(2), false)
        );
        assert_eq!(files(dir.path()), before);
    }
    std::fs::remove_file(dir.path().join("events.jsonl")).unwrap();
    drop(JournalDir::resume::<Record>(dir.path()).unwrap());
    assert!(!dir.path().join("events.jsonl").exists());
}

/// Killed in between, a journal that ends with "finished" would seem whole without its last run.
#[test]
fn a_torn_sample_is_cut_off_only_once_an_event_tells_of_the_resume() {
    let dir = tempfile::tempdir().unwrap();
    drop(create(dir.path()));
    let [samples, events] = ["samples.jsonl", "events.jsonl"].map(|name| dir.path().join(name));
    std::fs::write(&samples, "{\"kind\":\"ce").unwrap();
    std::fs::remove_file(&events).unwrap();
    let (mut journal, _) = JournalDir::resume::<Record>(dir.path()).unwrap();
    std::fs::create_dir(&events).unwrap();
    assert!(matches!(journal.note(&resumed()), Err(JournalError::Io { .. })));
    assert_eq!(std::fs::read(&samples).unwrap(), b"{\"kind\":\"ce");
    std::fs::remove_dir(&events).unwrap();
    journal.note(&resumed()).unwrap();
    assert_eq!(std::fs::read(&samples).unwrap(), b"");
    assert_eq!(std::fs::read(dir.path().join("samples.torn")).unwrap(), b"{\"kind\":\"ce\n");
}

#[test]
fn a_corrupted_middle_is_refused_by_line() {
    let dir = tempfile::tempdir().unwrap();
    create(dir.path()).append(&record("a")).unwrap();
    let samples = dir.path().join("samples.jsonl");
    let mut text = std::fs::read(&samples).unwrap();
    let whole = text.clone();
    text.extend(b"garbage\n");
    text.extend(whole);
    std::fs::write(&samples, text).unwrap();
    let Err(JournalError::Corrupted { source, .. }) = JournalDir::resume::<Record>(dir.path())
    else {
        panic!()
    };
    assert_eq!((source.line, source.valid_after), (2, 1));
}

#[test]
fn a_directory_with_something_in_it_is_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("thesis.txt"), "years of work").unwrap();
    let made = JournalDir::create(dir.path(), "", None, &Disclosure::default());
    assert!(matches!(made, Err(JournalError::NotEmpty { .. })));
    assert!(matches!(
        JournalDir::resume::<Record>(dir.path()),
        Err(JournalError::NotAResult { .. })
    ));
}

#[test]
fn a_second_writer_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let _first = create(dir.path());
    assert!(matches!(JournalDir::resume::<Record>(dir.path()), Err(JournalError::Locked { .. })));
}

#[test]
fn killed_at_any_moment_of_its_making_it_is_made_anew_or_goes_on() {
    let whole =
        ["samples.jsonl", "events.jsonl", ".hosts.json.new", "hosts.json", ".plan.toml.new"];
    for written in 0..=whole.len() {
        let dir = tempfile::tempdir().unwrap();
        for name in &whole[..written] {
            let text = if name.ends_with("jsonl") { "" } else { "torn" };
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        create(dir.path()).append(&record("a")).unwrap();
        let (_, stored) = JournalDir::resume::<Record>(dir.path()).unwrap();
        assert_eq!(stored.records, [record("a")], "after {written} files");
    }
}

#[test]
fn the_plan_is_the_last_file_that_a_new_directory_gets() {
    let dir = tempfile::tempdir().unwrap();
    // In its way stands a directory: all but the plan can be written.
    std::fs::create_dir(dir.path().join(".plan.toml.new")).unwrap();
    let made = JournalDir::create(dir.path(), "", Some("given"), &Disclosure::default());
    assert!(matches!(made, Err(JournalError::Io { .. })));
    for name in ["hosts.json", "plan.given.toml", "samples.jsonl", "events.jsonl"] {
        assert!(dir.path().join(name).is_file(), "{name}");
    }
    assert!(!dir.path().join("plan.toml").exists());
}

#[test]
fn only_what_a_killed_start_left_is_written_over() {
    let dir = tempfile::tempdir().unwrap();
    create(dir.path()).append(&record("a")).unwrap();
    std::fs::remove_file(dir.path().join("plan.toml")).unwrap();
    let made = JournalDir::create(dir.path(), "", None, &Disclosure::default());
    assert!(matches!(made, Err(JournalError::NotEmpty { .. })), "there is a sample");
}
