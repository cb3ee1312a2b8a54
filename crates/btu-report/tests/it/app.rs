//! Parallel applications in every format: their text, their page, their result against the published schema.

use btu_core::app::analysis::analyse;
use btu_core::app::class::ProblemClass;
use btu_core::app::journal::Journal;
use btu_core::app::kernel::Check;
use btu_core::app::kernel::Outcome;
use btu_core::app::plan::Path;
use btu_core::app::plan::Plan;
use btu_core::app::plan::Program;
use btu_core::app::plan::Slot;
use btu_core::app::plan::Verb;
use btu_core::app::ranks::Collective;
use btu_core::app::ranks::Count;
use btu_core::app::ranks::Split;
use btu_core::app::ranks::Tally;
use btu_core::app::sample::LaunchSample;
use btu_core::app::sample::Line;
use btu_core::app::sample::RankSample;
use btu_core::app::sample::Wait;
use btu_core::disclosure::Disclosure;
use btu_core::journal::EventRecord;
use btu_core::sample::Flag;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_report::Content;
use btu_report::FORMATS;
use btu_report::app_result;
use btu_report::app_schema;
use btu_report::brief_text;
use btu_report::compose_app;
use btu_report::render_content;

use crate::page::assert_structure;
use crate::schema;

/// Two programs over two layers; the ranks of one of them had too few CPUs, and a third layer is not there.
pub(crate) fn journal() -> Journal {
    let program = |(kernel, ranks): (&str, u32)| Program { kernel: kernel.to_owned(), ranks };
    let plan = Plan {
        verb: Verb::App,
        path: Path::Loopback,
        class: ProblemClass::S,
        layers: ["tcp", "shm"].map(ToOwned::to_owned).to_vec(),
        wait: Wait::Block,
        launches: 3,
        cap_ns: Nanos::from_secs(60),
        seed: 7,
        programs: [("cg", 2), ("sp", 4)].map(program).to_vec(),
    };
    let missing = Line::AppMissing { what: "unix".into(), reason: "<script>".into() };
    let launches = plan.order().into_iter().map(|slot| Line::AppLaunch(Box::new(launch(slot))));
    let lines = std::iter::once(missing).chain(launches).collect();
    let event = |event: &str| EventRecord {
        at: "2026-11-28T00:00:00.000Z".into(),
        event: event.into(),
        detail: String::new(),
    };
    let events = vec![event("started"), event("finished")];
    Journal { plan, hosts: Disclosure::default(), lines, events }
}

fn launch(slot: Slot) -> LaunchSample {
    let crowded = Flag::new(Flag::OVERSUBSCRIBED, "4 ranks on 2 CPUs; at most one on each");
    LaunchSample {
        round: slot.round,
        position: slot.position,
        started_at: "2026-11-28T00:00:00.000Z".into(),
        ranks: (0..slot.job.ranks).map(|number| rank(number, &slot)).collect(),
        host: None,
        cpus: 2,
        flags: if slot.job.ranks > 2 { vec![crowded] } else { Vec::new() },
        job: slot.job,
    }
}

/// CG takes 100 ms over shm, and 50 ms of communication more over tcp; each round is 1 ms longer.
fn rank(number: u32, slot: &Slot) -> RankSample {
    let more = if slot.job.layer == "tcp" { 50 } else { 0 };
    let per_rank = if slot.job.kernel == "cg" { 1680 } else { 1218 };
    let bytes = if slot.job.kernel == "cg" { 4_666_112 } else { 3_701_760 };
    let messages = Count { count: per_rank, bytes: Bytes::new(bytes) };
    let norms = Count { count: 2, bytes: Bytes::new(80) };
    let is_sp = slot.job.kernel == "sp";
    RankSample {
        rank: number,
        elapsed_ns: Some(Nanos::from_millis(100 + more + u64::from(slot.round))),
        split: Split {
            wait_ns: Nanos::from_millis(5 + more / 2),
            transfer_ns: Nanos::from_millis(10 + more / 2),
            undated: 0,
        },
        cpu_ns: Some(Nanos::from_millis(90)),
        run_delay_ns: None,
        lived_ns: Nanos::from_millis(200),
        tally: Tally {
            messages,
            own: Count::default(),
            sizes: [(8, 100), (5600, per_rank - 100)].into(),
            collectives: is_sp.then_some((Collective::AllReduce, norms)).into_iter().collect(),
        },
        outcome: Some(Outcome { checks: vec![Check::new("zeta", 8.5, 8.5, 1e-10)] }),
        failure: None,
    }
}

fn rendered(format: &str, journal: &Journal) -> String {
    let analysis = analyse(journal);
    let document = compose_app(journal, &analysis);
    let content = Content::App { journal, analysis: &analysis };
    String::from_utf8(render_content(format, &document, content).unwrap()).unwrap()
}

#[test]
fn the_text_of_a_small_journal() {
    insta::assert_snapshot!("app.txt", rendered("text", &journal()));
}

#[test]
fn every_format_gives_the_same_bytes_twice_and_shows_every_layer() {
    let journal = journal();
    for format in FORMATS {
        let text = rendered(format.name(), &journal);
        assert!(text == rendered(format.name(), &journal), "{}", format.name());
        assert!(text.contains("tcp") && text.contains("shm"), "{}", format.name());
    }
}

#[test]
fn the_page_has_a_bar_for_each_layer_divided_where_that_can_be_told() {
    let page = rendered("html", &journal());
    assert_structure(&page, 1);
    let chart = page.split("<figure id=\"split\">").nth(1).unwrap();
    let chart = chart.split("</figure>").next().unwrap();
    // Four in the legend; three parts of two bars, and two bars that are not divided.
    assert_eq!(chart.matches("<rect class=\"host ").count(), 4 + 3 * 2 + 2);
    assert!(page.contains("(oversubscribed: 4 ranks on 2 CPUs"), "{page}");
    assert!(page.contains("&lt;script&gt;"), "what a layer says is shown as text");
}

#[test]
fn the_summary_fits_80_columns_and_says_what_layers_cost() {
    let journal = journal();
    let text = brief_text(&compose_app(&journal, &analyse(&journal)));
    let long: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(long.is_empty(), "{long:#?}");
    let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["Of 2 programs, 2 are fastest over shm", "oversubscribed", "6 equal"] {
        assert!(said.contains(words), "no \"{words}\" in\n{text}");
    }
}

#[test]
fn times_that_say_little_of_a_layer_are_named() {
    let mut doubtful = journal();
    doubtful.plan.programs[0].ranks = 1;
    for line in &mut doubtful.lines {
        let Line::AppLaunch(sample) = line else { continue };
        if sample.job.kernel == "cg" {
            sample.job.ranks = 1;
            sample.ranks.truncate(1);
        } else {
            sample.ranks.iter_mut().for_each(|rank| rank.elapsed_ns = Some(Nanos::from_millis(9)));
        }
    }
    let text = rendered("text", &doubtful);
    let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("CG, 1 rank: one rank has no other to pass anything to"), "{text}");
    assert!(said.contains("SP, 4 ranks: times below 10 ms."), "{text}");
    assert!(said.contains("Of 1 program, 1 is fastest over tcp"), "{text}");
}

#[test]
fn programs_that_no_chart_has_room_for_are_counted() {
    let mut many = journal();
    let program = |ranks: u32| Program { kernel: "cg".to_owned(), ranks };
    many.plan.programs = (1..=50).map(program).collect();
    many.lines =
        many.plan.order().into_iter().map(|slot| Line::AppLaunch(Box::new(launch(slot)))).collect();
    assert!(rendered("text", &many).contains("Not drawn: the last 2 programs"));
    assert!(!rendered("text", &journal()).contains("Not drawn"));
}

#[test]
fn what_failed_its_verification_is_told_first() {
    let mut wrong = journal();
    for line in &mut wrong.lines {
        if let Line::AppLaunch(sample) = line
            && (sample.round, sample.job.layer.as_str()) == (2, "tcp")
        {
            sample.ranks[1].outcome.as_mut().unwrap().checks[0].found = 9.0;
        }
    }
    let text = rendered("text", &wrong);
    let head = text.lines().take(9).collect::<Vec<_>>().join(" ");
    assert!(head.contains("INCOMPLETE, FAULTS"), "{text}");
    let first = "WRONG: CG, 2 ranks over tcp failed its verification: zeta on rank 1 is 9e0";
    assert!(head.split_whitespace().collect::<Vec<_>>().join(" ").contains(first), "{text}");
    let result = app_result(&wrong, &analyse(&wrong));
    assert!(!result.complete && !result.programs[0].verified);
    assert_eq!(result.programs[0].jobs[0].verified_launches, 2);
}

#[test]
fn the_published_schema_is_the_generated_one_and_results_keep_to_it() {
    let mut cut = journal();
    cut.lines.truncate(2);
    cut.events.pop();
    let mut empty = journal();
    empty.lines.clear();
    let results = [journal(), cut, empty].map(|journal| rendered("json", &journal));
    schema::holds("app-1", &app_schema(), &results);
}
