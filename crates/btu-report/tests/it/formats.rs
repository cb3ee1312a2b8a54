//! One journal in every format.

use btu_core::disclosure::Fact;
use btu_core::journal::EventRecord;
use btu_core::journal::Journal;
use btu_core::journal::Record;
use btu_core::run::analysis::analyse;
use btu_core::run::cell::Case;
use btu_core::run::plan::Elements;
use btu_core::run::plan::TestbedClass;
use btu_core::run::plan::Work;
use btu_core::sample::CellSample;
use btu_core::sample::Outcome;
use btu_report::FORMATS;
use btu_report::compose;
use btu_report::headline_text;
use btu_report::render;

use crate::fixture;

fn rendered(format: &str, journal: &Journal) -> String {
    let analysis = analyse(journal);
    let document = compose(journal, &analysis);
    String::from_utf8(render(format, &document, journal, &analysis).unwrap()).unwrap()
}

#[test]
fn a_journal_reads_the_same_as_ever_in_every_format() {
    for format in FORMATS {
        // What is not read by people is long: a small matrix shows every key and every element.
        let is_prose = matches!(format.name(), "text" | "md");
        let journal = if is_prose { fixture::journal() } else { fixture::small_journal() };
        let name = format!("report.{}", format.extension());
        insta::assert_snapshot!(name, without_hash(&rendered(format.name(), &journal), &journal));
    }
}

/// A snapshot is about the report, not about the edition's bytes.
fn without_hash(text: &str, journal: &Journal) -> String {
    let hash = &journal.plan.edition_hash;
    text.replace(hash, "HASH").replace(&hash[..32], "HALF-HASH").replace(&hash[..12], "SHORT-HASH")
}

/// What the plan does not hold has to be said again: other hosts by their parts, and the disk.
#[test]
fn the_command_that_repeats_a_run_names_its_hosts_and_its_disk() {
    let mut journal = fixture::journal();
    let command = |journal: &Journal| {
        let text = rendered("text", journal);
        let line = text.lines().find(|line| line.contains("btu run --plan plan.toml"));
        line.unwrap_or_default().trim().to_owned()
    };
    assert_eq!(command(&journal), "btu run --plan plan.toml");
    let mut place = |name: &str, fact| drop(journal.hosts.placement.insert(name.to_owned(), fact));
    place("io_directory", Fact::known("/mnt/my disk"));
    place("io_in_memory", Fact::known(true));
    let disk = "--io-dir '/mnt/my disk' --allow-tmpfs";
    assert_eq!(command(&journal), format!("btu run --plan plan.toml {disk}"));
    assert!(rendered("text", &journal).contains("io worked in the directory after --io-dir"));
    journal.plan.testbed_class = TestbedClass::Wan;
    let hosts = "--active ACTIVE --passive PASSIVE --testbed-class wan";
    assert_eq!(command(&journal), format!("btu run --plan plan.toml {hosts} {disk}"));
    let mut one = fixture::tiny_journal();
    one.plan.cases = vec![Case::Send];
    one.plan.testbed_class = TestbedClass::Lab;
    let hosts = "--active ACTIVE --testbed-class lab";
    assert_eq!(command(&one), format!("btu run --plan plan.toml {hosts}"));
}

#[test]
fn a_journal_rendered_twice_gives_the_same_bytes() {
    for format in FORMATS {
        let [first, second] = [(); 2].map(|()| rendered(format.name(), &fixture::journal()));
        assert!(first == second, "{}", format.name());
    }
}

#[test]
fn a_result_without_any_run_renders_in_every_format() {
    let journal = fixture::empty_journal();
    let analysis = analyse(&journal);
    let document = compose(&journal, &analysis);
    for format in FORMATS {
        let bytes = render(format.name(), &document, &journal, &analysis).unwrap();
        assert!(!bytes.is_empty(), "{}", format.name());
    }
}

#[test]
fn text_fits_80_columns_and_has_no_escape_codes() {
    let text = rendered("text", &fixture::journal());
    // Text to copy is indented, and never broken.
    let prose = text.lines().filter(|line| !line.starts_with("    "));
    let long: Vec<&str> = prose.filter(|line| line.chars().count() > 80).collect();
    assert!(long.is_empty(), "{long:#?}");
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn the_headline_has_levels_1_and_2_and_the_verdict_beside_the_score() {
    let journal = fixture::journal();
    let text = headline_text(&compose(&journal, &analyse(&journal)));
    let score = text.lines().find(|line| line.starts_with("BTU ")).unwrap();
    assert!(score.contains("NOT RANKABLE"), "{score}");
    assert!(text.contains("telnet") && text.contains("video"));
    assert!(text.lines().count() < 40, "{text}");
}

#[test]
fn a_long_reason_why_a_result_is_not_rankable_is_told_to_its_end() {
    let journal = fixture::small_journal();
    let mut analysis = analyse(&journal);
    let reason = format!("a cause after {}the end", "another cause, ".repeat(30));
    analysis.not_rankable_reasons.push(reason.clone());
    let document = compose(&journal, &analysis);
    for format in ["text", "md", "html"] {
        let text = String::from_utf8(render(format, &document, &journal, &analysis).unwrap());
        let words: Vec<String> = text.unwrap().split_whitespace().map(str::to_owned).collect();
        assert!(words.join(" ").contains(&reason), "{format}");
    }
}

/// The first attempt was only disturbed and counts; the second, which is to replace it, is invalid.
#[test]
fn a_slowdown_stands_in_the_row_of_the_attempt_that_counts() {
    let mut journal = fixture::tiny_journal();
    let mut cells = journal.records.iter().filter_map(|record| match record {
        Record::Cell(sample) if !sample.cell.activity.is_none() => Some((**sample).clone()),
        _ => None,
    });
    let mut again = cells.next().unwrap();
    (again.attempt, again.invalid) = (2, vec!["the emulator was late".to_owned()]);
    journal.records.push(Record::Cell(Box::new(again)));
    let csv = rendered("csv", &journal);
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|head| *head == name).unwrap();
    let [kind, activity, repeat, attempt, slowdown] =
        ["kind", "activity", "repeat", "attempt", "slowdown"].map(column);
    let of_cell = |row: &&Vec<&str>| (row[kind], row[activity], row[repeat]) == ("cell", "io", "1");
    let told = rows.iter().filter(of_cell).map(|row| (row[attempt], !row[slowdown].is_empty()));
    assert_eq!(told.collect::<Vec<_>>(), [("1", true), ("2", false)], "{csv}");
}

/// A run leaves its samples without remarks: those of a row are what the analysis says of it.
#[test]
fn the_flags_of_a_row_are_those_of_the_run_that_it_became() {
    let mut journal = fixture::tiny_journal();
    let cells = journal.records.iter_mut().filter_map(|record| match record {
        Record::Cell(sample) => Some(sample),
        _ => None,
    });
    let mut again = Vec::new();
    for sample in cells {
        sample.flags.clear();
        match (sample.cell.activity.as_str(), sample.pass) {
            ("none", 1) => sample.outcome = Outcome::Capped { reason: "no receipt".to_owned() },
            ("io", 2) => {
                sample.invalid.push("the emulator was late".to_owned());
                again.push(CellSample { attempt: 2, ..(**sample).clone() });
            }
            _ => {}
        }
    }
    journal.records.extend(again.into_iter().map(|sample| Record::Cell(Box::new(sample))));
    let csv = rendered("csv", &journal);
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|head| *head == name).unwrap();
    let [activity, repeat, attempt, flags] = ["activity", "repeat", "attempt", "flags"].map(column);
    let flags_of = |wanted: [&str; 3]| {
        let is_it = |row: &&Vec<&str>| [row[activity], row[repeat], row[attempt]] == wanted;
        rows.iter().find(is_it).unwrap()[flags].split_whitespace().collect::<Vec<_>>()
    };
    assert!(flags_of(["none", "1", "1"]).contains(&"censored"), "{csv}");
    assert!(flags_of(["io", "2", "2"]).contains(&"emulation-late"), "{csv}");
    assert_eq!(flags_of(["io", "2", "1"]), Vec::<&str>::new(), "it does not count: {csv}");
    for run in analyse(&journal).runs {
        let (pass, attempt) = (run.pass.to_string(), run.attempt.to_string());
        let found = flags_of([run.cell.activity.as_str(), &pass, &attempt]);
        let names: Vec<&str> = run.flags.iter().map(|flag| flag.name.as_str()).collect();
        assert_eq!(found, names, "{csv}");
    }
}

/// Capped runs make figures that look like any others.
#[test]
fn a_bound_is_called_one_in_the_line_of_the_score() {
    let mut journal = fixture::tiny_journal();
    let score = |journal: &Journal, format| rendered(format, journal);
    assert!(!score(&journal, "text").contains("CENSORED"));
    let capped = journal.records.iter_mut().find_map(|record| match record {
        Record::Cell(sample) => Some(sample),
        _ => None,
    });
    capped.unwrap().outcome = Outcome::Failed { reason: "no socket".to_owned() };
    for (format, start) in [("text", "BTU"), ("md", "* **BTU"), ("html", "<span class=\"badge")] {
        let document = score(&journal, format);
        let line = document.lines().find(|line| line.contains(start) && line.contains("CENSORED"));
        assert!(line.is_some(), "{format}: {document}");
        assert!(document.contains("1 run met a time cap, or failed, and counts with the cap"));
        assert!(!document.contains("this host delivers"), "{format}");
    }
}

/// What it did is raw and stays; that it is no base is told beside it.
#[test]
fn the_row_of_an_activity_that_failed_alone_says_why() {
    let mut journal = fixture::tiny_journal();
    for record in &mut journal.records {
        if let Record::Alone(alone) = record {
            alone.sample.failures = vec!["read: connection reset".to_owned()];
        }
    }
    let csv = rendered("csv", &journal);
    let failed = csv.lines().filter(|line| line.contains(",failed: read: connection reset,"));
    assert_eq!(failed.count(), 3, "{csv}");
}

fn headline(journal: &Journal) -> String {
    let text = headline_text(&compose(journal, &analyse(journal)));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_headline_counts_runs_apart_from_second_runs_and_checks() {
    let mut journal = fixture::tiny_journal();
    let cell = journal.plan.cells()[0].clone();
    journal.records.push(fixture::second_run(cell, [1, 2]));
    let said = headline(&journal);
    let counted = "3 complete passes, 9 runs, 1 second run, 2 checks of the emulation";
    assert!(said.contains(counted), "{said}");
}

/// Its last line was torn after its end: it was gone on with, and finished again or not.
#[test]
fn a_run_ends_when_it_was_finished_last() {
    let mut journal = fixture::tiny_journal();
    let event = |at: &str, event: &str| EventRecord {
        at: at.to_owned(),
        event: event.to_owned(),
        detail: String::new(),
    };
    assert!(headline(&journal).contains("2026-11-21T20:00:00Z to 2026-11-21T20:01:18Z"));
    journal.events.push(event("2026-11-22T08:00:00Z", "resumed"));
    assert!(headline(&journal).contains("2026-11-21T20:00:00Z; 3 complete passes"));
    journal.events.push(event("2026-11-22T08:00:09Z", "finished"));
    assert!(headline(&journal).contains("2026-11-21T20:00:00Z to 2026-11-22T08:00:09Z"));
}

/// btu-96 has a line that all share, and work of a fixed amount.
#[test]
fn what_is_said_of_ftp_and_of_the_activities_is_true_of_the_plan() {
    let said = |journal: &Journal| {
        let text = rendered("text", journal);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let (direct, shared) =
        ("FTP takes the direct path", "FTP takes the emulated path in every cell");
    let (steady, fixed) = ("It runs before the traffic starts", "It does a fixed amount of work");
    let plain = said(&fixture::small_journal());
    assert!(plain.contains(direct) && plain.contains(steady), "{plain}");
    assert!(!plain.contains(shared) && !plain.contains(fixed), "{plain}");
    let mut journal = fixture::small_journal();
    journal.plan.link.rate = Elements::both("rate 10Mbit/s queue 100ms shared ether");
    journal.plan.work = Work::Calibrated;
    let faithful = said(&journal);
    assert!(faithful.contains(shared) && faithful.contains(fixed), "{faithful}");
    assert!(!faithful.contains(direct) && !faithful.contains(steady), "{faithful}");
    // An agent serves files on its own address.
    journal.plan.testbed_class = TestbedClass::Lab;
    assert!(said(&journal).contains(direct));
}

#[test]
fn an_unknown_format_names_the_known_ones() {
    let journal = fixture::empty_journal();
    let analysis = analyse(&journal);
    let error = render("pdf", &compose(&journal, &analysis), &journal, &analysis).unwrap_err();
    assert!(error.to_string().starts_with("unknown format \"pdf\"; write text, md, "), "{error}");
}
