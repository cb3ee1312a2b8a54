//! The generator's own error, in the report of every study.

use btu_core::traffic::analysis::analyse;
use btu_core::traffic::figures::flow::Pacing;
use btu_core::traffic::plan::Group;
use btu_core::traffic::plan::Study;
use btu_core::traffic::probe::CapacitySample;
use btu_core::traffic::probe::ProbeSample;
use btu_core::traffic::sample::FlowSample;
use btu_core::traffic::sample::Journal;
use btu_core::traffic::sample::Line;
use btu_core::traffic::sample::RunSample;
use btu_report::FORMATS;
use btu_report::brief_text;
use btu_report::compose_traffic;

use crate::traffic::journal;
use crate::traffic::rendered;

fn change_runs(journal: &mut Journal, of: impl Fn(&mut RunSample)) {
    for line in &mut journal.lines {
        let Line::TrafficRun(run) = line else { continue };
        of(run);
    }
}

fn change(journal: &mut Journal, of: impl Fn(u32, &mut FlowSample)) {
    change_runs(journal, |run| {
        let cell = run.cell;
        let flows = run.clusters.iter_mut().flat_map(|cluster| &mut cluster.flows);
        flows.for_each(|flow| of(cell, flow));
    });
}

/// So far from its schedule, in steps that no other figure of the report has.
fn pacing(worst_us: f64, host_limited: bool) -> Pacing {
    Pacing {
        blocks: 100,
        period_us: 20_000.0,
        p50_us: worst_us,
        p99_us: worst_us * 2.0,
        max_us: worst_us * 4.0,
        late_p99_us: worst_us * 3.0,
        late_blocks: Some(7),
        host_limited,
    }
}

/// What the section says, without its line breaks.
fn section(journal: &Journal) -> String {
    let text = rendered("text", journal);
    let from = text.find("the worst of all flows").unwrap_or_else(|| panic!("{text}"));
    let words: Vec<&str> = text[from..].split_whitespace().collect();
    words.join(" ")
}

/// Cell 1 has the worst figures, cell 2 a run in which the generator was the limit.
#[test]
fn every_study_says_how_far_the_generator_was_from_its_schedule() {
    for study in [Study::Scenario, Study::Sweep, Study::Qos, Study::Viseum, Study::Method] {
        let mut journal = journal(study, &[80, 40]);
        change(&mut journal, |cell, flow| {
            let worst_us = if cell == 1 { 123.0 } else { 61.0 };
            flow.figures.pacing = Some(pacing(worst_us, cell == 2));
        });
        for format in FORMATS.iter().filter(|format| !["json", "csv"].contains(&format.name())) {
            let page = rendered(format.name(), &journal);
            assert_eq!(page, rendered(format.name(), &journal));
            let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
            for word in ["123 us", "246 us", "492 us", "369 us"] {
                assert!(page.contains(word), "{study:?} as {}: no {word}: {page}", format.name());
            }
            // Of six runs with a flow each, and once among what went wrong.
            assert_eq!(page.matches("3 of 6").count(), 3, "{study:?} as {}: {page}", format.name());
        }
        assert!(rendered("text", &journal).contains("The generator's own error\n"), "{study:?}");
        assert!(rendered("html", &journal).contains("id=\"generator\""), "{study:?}");
        let brief = brief_text(&compose_traffic(&journal, &analyse(&journal)));
        assert!(brief.contains("Inter-departure error, the worst"), "{study:?}: {brief}");
    }
}

/// The kinds of cells have a line each, with figures of their own.
#[test]
fn a_line_is_of_the_cells_of_its_kind_alone() {
    let mut journal = journal(Study::Qos, &[80, 40, 20]);
    for (cell, class) in journal.plan.cells.iter_mut().zip([None, Some("voice"), Some("web")]) {
        cell.group = if class.is_some() { Group::Class } else { Group::Load };
        cell.class = class.map(str::to_owned);
    }
    change(&mut journal, |cell, flow| {
        flow.figures.pacing = Some(pacing(10.0 * f64::from(cell), cell == 3));
    });
    let said = section(&journal);
    for line in [
        "nothing and 10.0 us 20.0 us 40.0 us 30.0 us 21 of 300 0 of 3 0 of 3",
        "Sessions of voice 20.0 us 40.0 us 80.0 us 60.0 us 21 of 300 0 of 3 0 of 3",
        "Sessions of web 30.0 us 60.0 us 120 us 90.0 us 21 of 300 3 of 3 3 of 3",
    ] {
        assert!(said.contains(line), "no {line} in\n{said}");
    }
    assert!(!said.contains("no schedule"), "{said}");
}

#[test]
fn what_has_no_schedule_has_no_error_either() {
    let mut journal = journal(Study::Sweep, &[80]);
    journal.plan.cells[0].group = Group::Sessions;
    change(&mut journal, |_, flow| {
        flow.figures.pacing = None;
        flow.traffic = "full(blocksize=64 KiB)".into();
    });
    let said = section(&journal);
    assert!(
        said.contains("at once - - - - - - - Full streams (3 flows) have no schedule"),
        "{said}"
    );
    assert!(!said.contains("Conversations (") && !said.contains("fewer than two"), "{said}");
    change(&mut journal, |_, flow| {
        (flow.traffic, flow.pace) = ("www-3gpp()".into(), "answers".into());
    });
    let said = section(&journal);
    assert!(said.contains("Conversations (3 flows) had fewer than two exchanges"), "{said}");
    // One burst has been late or not, and is apart from none.
    change(&mut journal, |_, flow| {
        let alone = Pacing {
            blocks: 1,
            late_blocks: Some(1),
            p50_us: 0.0,
            p99_us: 0.0,
            max_us: 0.0,
            ..pacing(1.0, true)
        };
        flow.figures.pacing = Some(alone);
        flow.pace = "sleep".into();
    });
    let said = section(&journal);
    assert!(said.contains("at once - - - - 3 of 3 3 of 3 3 of 3"), "{said}");
    assert!(said.contains("3 flows had fewer than two bursts"), "{said}");
}

/// A full stream beside bursts: the line is of the bursts, and the stream is named.
#[test]
fn flows_without_a_schedule_are_counted_beside_those_that_have_one() {
    let mut journal = journal(Study::Scenario, &[80]);
    change(&mut journal, |_, flow| flow.figures.pacing = Some(pacing(50.0, false)));
    change_runs(&mut journal, |run| {
        let mut full = run.clusters[0].flows[0].clone();
        full.traffic = "full(blocksize=64 KiB)".into();
        full.figures.pacing = None;
        run.clusters[0].flows.push(full);
    });
    let said = section(&journal);
    assert!(
        said.contains("Scenarios 50.0 us 100 us 200 us 150 us 21 of 300 0 of 3 0 of 6"),
        "{said}"
    );
    assert!(said.contains("Full streams (3 flows)"), "{said}");
}

#[test]
fn a_search_says_how_often_its_sender_was_late() {
    let mut journal = journal(Study::Method, &[80]);
    journal.plan.cells[0].group = Group::Search;
    let searched = |late| {
        move |run: &mut RunSample| {
            run.clusters.clear();
            let sample = CapacitySample { sent: 1000, late, ..CapacitySample::default() };
            run.probe = Some(ProbeSample::Capacity(sample));
        }
    };
    change_runs(&mut journal, searched(4));
    let said = section(&journal);
    assert!(said.contains("of 3000 datagrams their senders were late 12 times."), "{said}");
    change_runs(&mut journal, searched(0));
    let said = section(&journal);
    assert!(said.contains("senders were never late."), "{said}");
    assert!(said.contains("Capacity search - - - - - - - Capacity searches have a rate"), "{said}");
}
