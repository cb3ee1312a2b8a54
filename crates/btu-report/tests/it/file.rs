//! A file service in every format: its page, its text, its result against the published schema.

use std::collections::BTreeMap;

use btu_core::disclosure::Disclosure;
use btu_core::disclosure::Fact;
use btu_core::file::Journal;
use btu_core::file::analysis::analyse;
use btu_core::file::experiment::EXPERIMENTS;
use btu_core::file::plan::Plan;
use btu_core::file::plan::Slot;
use btu_core::file::sample::ClientSample;
use btu_core::file::sample::Direction;
use btu_core::file::sample::Held;
use btu_core::file::sample::Line;
use btu_core::file::sample::Phases;
use btu_core::file::sample::ServerSample;
use btu_core::file::sample::TrialSample;
use btu_core::journal::EventRecord;
use btu_core::sample::HostSample;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_report::Content;
use btu_report::FORMATS;
use btu_report::brief_text;
use btu_report::compose_file;
use btu_report::file_result;
use btu_report::file_schema;
use btu_report::render_content;

use crate::page::assert_structure;
use crate::schema;

/// All five experiments in three rounds, with a failure, a protocol that is not there and a read that was not cold.
fn journal() -> Journal {
    let experiments = EXPERIMENTS.iter().map(|one| one.name().to_owned()).collect();
    let sizes_bytes = vec![Bytes::new(1 << 10), Bytes::new(64 << 10), Bytes::new(1 << 20)];
    let mtus_bytes = vec![Bytes::new(1500)];
    let plan = Plan {
        rounds: 3,
        clients: vec![1, 3],
        sizes_bytes,
        mtus_bytes,
        ..Plan::new(experiments, 1)
    };
    let mut lines: Vec<Line> =
        plan.slots().map(|slot| Line::FileTrial(Box::new(sample(slot)))).collect();
    if let Some(Line::FileTrial(last)) = lines.last_mut() {
        last.clients[0].failure = Some("hung at 1 KB <script>".into());
    }
    lines.push(Line::FileMissing { protocol: "quic".into(), reason: "call: not built".into() });
    let event = |event: &str| EventRecord {
        at: "2026-11-21T00:00:00.000Z".into(),
        event: event.into(),
        detail: String::new(),
    };
    let cpu = BTreeMap::from([("online".to_owned(), Fact::known("0-1"))]);
    let hosts = BTreeMap::from([("test".to_owned(), BTreeMap::from([("cpu".to_owned(), cpu)]))]);
    let hosts = Disclosure { hosts, ..Disclosure::default() };
    Journal { plan, hosts, lines, events: vec![event("started"), event("finished")] }
}

/// A trial as a path of 100 us and 1 GB/s would give it, with clients one behind the other.
fn sample(slot: Slot) -> TrialSample {
    let Slot { round, position, warm_up, trial } = slot;
    let ways = match trial.direction {
        Direction::Both => vec![Direction::AToB, Direction::BToA],
        one => vec![one],
    };
    let each = Nanos::new(100_000 + trial.size_bytes.count() + u64::from(round) * 1000);
    let of = |way: &Direction| -> Vec<ClientSample> {
        (1..=trial.clients)
            .map(|n| client(n, *way, each * u64::from(n), trial.count, trial.size_bytes))
            .collect()
    };
    let read =
        if trial.held == Held::Cold && trial.clients == 1 { trial.size_bytes } else { Bytes::ZERO };
    let server = ServerSample {
        host: "b".into(),
        elapsed_ns: each * u64::from(trial.count * trial.clients),
        cpu_ns: Some(each * u64::from(trial.count)),
        calls: Some(u64::from(trial.count) * 16),
        disk_read: Some(read),
        ..ServerSample::default()
    };
    let elapsed_ns = Nanos::from_millis(100);
    TrialSample {
        clients: ways.iter().flat_map(of).collect(),
        round,
        position,
        warm_up,
        started_at: "2026-11-21T00:00:00.000Z".into(),
        servers: vec![server],
        host: Some(HostSample { elapsed_ns, idle_ns: Some(elapsed_ns), ..HostSample::default() }),
        path_mtu_bytes: trial.mtu_bytes,
        offload: Some(true),
        flags: Vec::new(),
        trial,
    }
}

fn client(client: u32, direction: Direction, each: Nanos, count: u32, size: Bytes) -> ClientSample {
    let phases = Phases {
        request_ns: Some(Nanos::ZERO),
        commit_ns: Some(each * u64::from(count)),
        ..Phases::default()
    };
    let took_ns = vec![each; usize::try_from(count).unwrap()];
    ClientSample {
        client,
        direction,
        bytes: size * u64::from(count),
        phases,
        took_ns,
        sent: None,
        failure: None,
    }
}

fn rendered(format: &str, journal: &Journal) -> String {
    let analysis = analyse(journal);
    let document = compose_file(journal, &analysis);
    let content = Content::File { journal, analysis: &analysis };
    String::from_utf8(render_content(format, &document, content).unwrap()).unwrap()
}

#[test]
fn a_terminal_shows_the_tables_of_the_paper() {
    let journal = journal();
    let text = brief_text(&compose_file(&journal, &analyse(&journal)));
    insta::assert_snapshot!("file-brief", text);
}

#[test]
fn the_page_has_a_section_for_each_experiment_a_curve_and_bars() {
    let page = rendered("html", &journal());
    assert_structure(&page, 2);
    for name in EXPERIMENTS.iter().map(|one| one.name()) {
        assert!(page.contains(&format!("id=\"{name}\"")), "{name}");
    }
    assert!(page.contains("hung at 1 KB &lt;script&gt;"), "a failure is told as it is");
}

/// Each stands in the paper, or follows from its tables otherwise than its text says.
#[test]
fn what_the_papers_own_numbers_say_stands_below_the_report() {
    let text = rendered("text", &journal());
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for note in ["1.43 x 1400", "460 / 270 = 1.70", "142.6 s", "rates is 0.990", "(7.3 s)"] {
        assert!(text.contains(note), "no {note} in\n{text}");
    }
}

#[test]
fn every_format_is_the_same_twice_and_survives_nothing() {
    let (journal, mut nothing) = (journal(), journal());
    nothing.lines.clear();
    for format in FORMATS {
        assert!(rendered(format.name(), &journal) == rendered(format.name(), &journal));
        assert!(!rendered(format.name(), &nothing).is_empty(), "{}", format.name());
    }
    let rows = rendered("csv", &journal);
    assert_eq!(rows.lines().next().unwrap().split(',').count(), 21);
}

#[test]
fn the_published_schema_is_the_generated_one_and_results_keep_to_it() {
    let mut cut = journal();
    cut.lines.truncate(5);
    cut.events.pop();
    let result = |journal: &Journal| file_result(journal, &analyse(journal)).to_json();
    schema::holds("file-1", &file_schema(), &[result(&journal()), result(&cut)]);
}
