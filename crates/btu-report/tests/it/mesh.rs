//! A mesh in every format: its page, its text, its result against the published schema.

use btu_core::disclosure::Disclosure;
use btu_core::journal::EventRecord;
use btu_core::mesh::Journal;
use btu_core::mesh::analysis::analyse;
use btu_core::mesh::course;
use btu_core::mesh::course::Batch;
use btu_core::mesh::plan::Plan;
use btu_core::mesh::sample::Line;
use btu_core::mesh::sample::PairSample;
use btu_core::mesh::sample::Part;
use btu_core::mesh::sample::Way;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_report::Content;
use btu_report::FORMATS;
use btu_report::brief_text;
use btu_report::compose_mesh;
use btu_report::mesh_result;
use btu_report::mesh_schema;
use btu_report::render_content;

use crate::page::assert_structure;
use crate::schema;

const AT: &str = "2026-11-21T00:00:00.000Z";

/// Seven hosts in two racks, of which h3 sends slowly, one pair fails and h7 did not come.
fn journal() -> Journal {
    let hosts = (1..=7).map(|number| format!("h{number}")).collect();
    let racks = ["a", "a", "a", "b", "b", "b", "<b>"].map(str::to_owned).to_vec();
    let plan = Plan { racks, ..Plan::new(hosts, 3) };
    let mut lines = vec![Line::MeshMissing { host: 6, reason: "refused <script>".into() }];
    while let Some(batch) = course::next(&plan, &lines) {
        lines
            .extend(batch.pairs.iter().map(|pair| Line::MeshPair(Box::new(sample(&batch, *pair)))));
    }
    let event =
        |event: &str| EventRecord { at: AT.into(), event: event.into(), detail: String::new() };
    let events = vec![event("started"), event("finished")];
    Journal { plan, hosts: Disclosure::default(), lines, events }
}

fn sample(batch: &Batch, pair: (usize, usize)) -> PairSample {
    let way = |from: usize, to: usize| {
        let usual = if from == 2 { 60_000_000 } else { 100_000_000 };
        let little = (from * 7 + to * 3 + batch.round) as u64 % 5 * 300_000;
        let elapsed_ns = Nanos::from_millis(500);
        Way { bytes: Bytes::new(usual + little), elapsed_ns, retransmitted: Some(Bytes::ZERO) }
    };
    let failed = [pair.0.min(pair.1), pair.0.max(pair.1)] == [0, 4];
    let measured = |from, to| (!failed).then(|| way(from, to));
    let (there, back) = (measured(pair.0, pair.1), measured(pair.1, pair.0));
    let failure = failed.then(|| "no route to host".to_owned());
    let (part, round, started_at) = (batch.part, batch.round, AT.to_owned());
    PairSample { part, round, pair, started_at, there, back, failure }
}

fn rendered(format: &str, journal: &Journal) -> String {
    let analysis = analyse(journal);
    let document = compose_mesh(journal, &analysis);
    let content = Content::Mesh { journal, analysis: &analysis };
    String::from_utf8(render_content(format, &document, content).unwrap()).unwrap()
}

#[test]
fn a_terminal_names_the_slow_host_and_who_was_not_measured() {
    let journal = journal();
    let text = brief_text(&compose_mesh(&journal, &analyse(&journal)));
    insta::assert_snapshot!("mesh-brief", text);
}

#[test]
fn the_page_has_a_map_of_all_pairs_and_tells_names_as_they_are() {
    let page = rendered("html", &journal());
    assert_structure(&page, 1);
    assert!(page.contains("id=\"mesh-map\""));
    assert!(page.contains("refused &lt;script&gt;"));
    assert!(page.contains("scontrol update NodeName=h3 State=DRAIN"));
}

#[test]
fn every_format_is_the_same_twice_and_survives_nothing() {
    let (journal, mut nothing) = (journal(), journal());
    nothing.lines.clear();
    assert!(rendered("text", &nothing).contains("No pair was measured."));
    for format in FORMATS {
        assert!(rendered(format.name(), &journal) == rendered(format.name(), &journal));
        assert!(!rendered(format.name(), &nothing).is_empty(), "{}", format.name());
    }
    let rows = rendered("csv", &journal);
    assert_eq!(rows.lines().next().unwrap().split(',').count(), 9);
}

#[test]
fn what_is_not_retested_is_counted() {
    let mut journal = journal();
    let hosts = (1..=30).map(|number| format!("h{number}")).collect();
    journal.plan = Plan::new(hosts, 3);
    let is_slow = |host: usize| host.is_multiple_of(3);
    journal.lines.clear();
    for (one, other) in journal.plan.rounds().into_iter().flatten() {
        let way = |from: usize| {
            let bytes = if is_slow(from) { 60_000_000 } else { 100_000_000 };
            Some(Way {
                bytes: Bytes::new(bytes),
                elapsed_ns: Nanos::from_millis(500),
                retransmitted: None,
            })
        };
        journal.lines.push(Line::MeshPair(Box::new(PairSample {
            part: Part::Mesh,
            round: 0,
            pair: (one, other),
            started_at: AT.to_owned(),
            there: way(one),
            back: way(other),
            failure: None,
        })));
    }
    assert_eq!(mesh_result(&journal, &analyse(&journal)).suspected, 10);
    let text = rendered("text", &journal);
    assert!(text.contains("2 more look slow"), "{text}");
}

#[test]
fn the_published_schema_is_the_generated_one_and_results_keep_to_it() {
    let mut cut = journal();
    cut.lines.truncate(5);
    cut.events.pop();
    let result = |journal: &Journal| mesh_result(journal, &analyse(journal)).to_json();
    schema::holds("mesh-1", &mesh_schema(), &[result(&journal()), result(&cut)]);
}
