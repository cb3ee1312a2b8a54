//! Level 4: second runs with their packets, captures that end early or have holes, cells without one.

use btu_core::capture::Interface;
use btu_core::capture::LinkType;
use btu_core::capture::PcapNg;
use btu_core::diagnosis::Confidence;
use btu_core::journal::Journal;
use btu_core::journal::Record;
use btu_core::run::analysis::Analysis;
use btu_core::run::analysis::SecondRun;
use btu_core::run::analysis::analyse;
use btu_core::run::analysis::second_runs;
use btu_core::run::plan::Captured;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_report::FORMATS;
use btu_report::compose;
use btu_report::compose_words;
use btu_report::headline_text;
use btu_report::render;
use btu_report::render_run;

use crate::explain;
use crate::fixture;
use crate::page::assert_structure;

/// A tiny result whose only idle cell was run again.
fn journal() -> Journal {
    let mut journal = fixture::tiny_journal();
    let cell = journal.plan.cells().remove(0);
    journal.records.push(fixture::second_run(cell, [5001, 5002]));
    journal
}

/// The packets of its first connection up to a time; `lost` says what is missing.
fn packets(until_micros: u64, lost: impl Fn(&mut PcapNg)) -> Vec<u8> {
    let mut file = PcapNg::new("");
    file.interface(&Interface::new("test-active", LinkType::Raw));
    let all = explain::packets();
    let early = all.iter().filter(|packet| packet.0 < until_micros);
    early.for_each(|packet| file.packet(&explain::record(packet)));
    lost(&mut file);
    file.finish()
}

fn analysed(journal: &Journal, packets: &[u8]) -> Analysis {
    let second_runs = second_runs(journal, |_| Ok(packets.to_vec()));
    Analysis { second_runs, ..analyse(journal) }
}

fn rendered(format: &str, journal: &Journal, analysis: &Analysis) -> String {
    let document = compose(journal, analysis);
    String::from_utf8(render(format, &document, journal, analysis).unwrap()).unwrap()
}

/// The words of a text, whatever its lines.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_second_run_reads_the_same_as_ever() {
    let journal = journal();
    let analysis = analysed(&journal, &packets(u64::MAX, |_| {}));
    for format in ["text", "md"] {
        let text = rendered(format, &journal, &analysis);
        let from = text.find("Why it is abnormal").unwrap();
        let to = from + text[from..].find("The emulated link").unwrap();
        insta::assert_snapshot!(format!("second.{format}"), &text[from..to]);
    }
    // The connection that is in the capture has its chart; the other one is said to be missing.
    let page = rendered("html", &journal, &analysis);
    assert_structure(&page, 4 + 1);
    assert_eq!(page.matches("The capture does not hold this connection.").count(), 1);
    assert!(page.contains(">SYN</text>") && page.contains(">R sent again</text>"));
}

#[test]
fn who_draws_nothing_says_the_same_without_what_is_drawn() {
    let journal = journal();
    let analysis = analysed(&journal, &packets(u64::MAX, |_| {}));
    for format in FORMATS {
        let (name, whole) = (format.name(), compose(&journal, &analysis));
        let of_whole = render(name, &whole, &journal, &analysis).unwrap();
        assert_eq!(render_run(name, &journal, &analysis).unwrap(), of_whole, "{name}");
    }
    let brief = compose_words(&journal, &analysis);
    assert_eq!(headline_text(&brief), headline_text(&compose(&journal, &analysis)));
    assert_ne!(brief, compose(&journal, &analysis), "it has nothing to draw");
    assert!(render_run("pdf", &journal, &analysis).is_err());
}

fn first(analysis: &Analysis) -> &SecondRun {
    &analysis.second_runs[0]
}

/// The application waits half a second at 8.22 s, long before half of the 17 s are over.
#[test]
fn a_capture_that_was_full_is_judged_as_far_as_it_goes() {
    let journal = journal();
    let end = 8_160_000;
    let full = |file: &mut PcapNg| file.full(0, Nanos::from_micros(end), 0, 777);
    let analysis = analysed(&journal, &packets(end, full));
    let one = &first(&analysis).connections[0];
    let covered = one.evidence.covered.unwrap();
    assert_eq!((covered.held, covered.whole), (Nanos::from_micros(end), Nanos::from_secs(17)));
    assert_eq!(one.evidence.lost_packets, 0);
    assert!(one.diagnoses.iter().all(|found| {
        found.confidence < Confidence::High
            && found.figures.iter().any(|figure| figure.name == "of the run in the capture")
    }));
    assert!(one.congestion.missing.contains("ends before the run"), "{}", one.congestion.missing);
    let text = words(&rendered("text", &journal, &analysis));
    assert!(text.contains("its memory was full after 8160.0 ms, and 777 packets"), "{text}");
    assert!(text.contains("part of the run in it 48"), "{text}");
}

#[test]
fn no_cause_is_sure_where_the_capture_has_holes() {
    let journal = journal();
    let sure = |lost: u64| {
        let hole = |file: &mut PcapNg| file.lost(0, Nanos::from_secs(17), lost);
        let analysis = analysed(&journal, &packets(u64::MAX, hole));
        let text = words(&rendered("text", &journal, &analysis));
        assert_eq!(text.contains("3 packets were lost by the capture"), lost == 3, "{text}");
        assert_eq!(text.contains("packets lost by it 3"), lost == 3, "{text}");
        let found = &first(&analysis).connections[0].diagnoses;
        assert!(!found.is_empty());
        found.iter().any(|one| one.confidence == Confidence::High)
    };
    assert!(sure(0) && !sure(3));
}

/// What a connection carried says little where a capture ends early: its ports say which one it is.
#[test]
fn a_connection_is_found_by_its_ports() {
    let elsewhere = |ports: [u16; 2]| {
        let mut journal = fixture::tiny_journal();
        let cell = journal.plan.cells().remove(0);
        journal.records.push(fixture::second_run(cell, ports));
        let analysis = analysed(&journal, &packets(u64::MAX, |_| {}));
        first(&analysis).connections.iter().map(|one| one.connection.is_some()).collect::<Vec<_>>()
    };
    assert_eq!(elsewhere([5001, 5002]), [true, false]);
    // A network that rewrites ports: by what it carried, to a few bytes.
    assert_eq!(elsewhere([7, 8]), [true, false]);
}

/// The capture holds somebody else's connection alone: it is not ours, however near it comes.
#[test]
fn a_connection_of_others_is_never_taken_for_ours() {
    for (bytes, is_ours) in [(400_000, true), (400_008, true), (401_000, false), (300_000, false)] {
        let mut journal = fixture::tiny_journal();
        let cell = journal.plan.cells().remove(0);
        journal.records.push(fixture::second_run(cell, [7, 8]));
        let Some(Record::Capture(sample)) = journal.records.last_mut() else {
            panic!("a second run")
        };
        let connections = &mut sample.run.comm.as_mut().unwrap().connections;
        connections.truncate(1);
        connections[0].bytes = Bytes::new(bytes);
        let analysis = analysed(&journal, &packets(u64::MAX, |_| {}));
        let found = first(&analysis);
        assert_eq!(found.connections[0].connection.is_some(), is_ours, "{bytes}");
        let said = words(&rendered("text", &journal, &analysis));
        let by_amount = "those that carried as much to a few bytes are taken for ours";
        assert_eq!(said.contains(by_amount), is_ours, "{said}");
        let gone =
            "no connection in it has the ports 7 of test and 8 of active, or carried as much";
        assert_eq!(said.contains(gone), !is_ours, "{said}");
    }
}

/// Ports that are not in the capture belong to a connection that is not: the other one keeps its own.
#[test]
fn a_connection_that_is_missing_takes_that_of_no_other() {
    let mut journal = journal();
    let Some(Record::Capture(sample)) = journal.records.last_mut() else { panic!("a second run") };
    let [first_one, second_one] = &mut sample.run.comm.as_mut().unwrap().connections[..] else {
        panic!("two connections")
    };
    second_one.direction = first_one.direction;
    for (one, ports) in [(first_one, [6001, 6002]), (second_one, [5001, 5002])] {
        (one.sender.port, one.receiver.port) = (Some(ports[0]), Some(ports[1]));
    }
    let analysis = analysed(&journal, &packets(u64::MAX, |_| {}));
    let found: Vec<_> =
        first(&analysis).connections.iter().map(|one| one.connection.is_some()).collect();
    assert_eq!(found, [false, true]);
}

#[test]
fn cells_that_were_not_run_again_are_named_with_what_runs_them() {
    let mut journal = fixture::tiny_journal();
    journal.plan.captured = Captured::All;
    let analysis = analyse(&journal);
    let text = rendered("text", &journal, &analysis);
    let said = words(&text);
    assert!(
        said.contains("2 normal cells were not run again with capture: this result has no"),
        "{text}"
    );
    let command = "btu run --plan DIR/plan.toml --cases 2SEND+DR --applications telnet";
    assert!(text.contains(&format!("{command} --activities io --capture all")), "{text}");
    assert!(text.contains(&format!("{command} --activities idle --capture all")), "{text}");
}
