//! A ping-pong in every format: its page, its text, its result against the published schema.

use btu_core::disclosure::Disclosure;
use btu_core::journal::EventRecord;
use btu_core::pingpong::analysis::analyse;
use btu_core::pingpong::analysis::finder;
use btu_core::pingpong::configuration::Configuration;
use btu_core::pingpong::configuration::Wait;
use btu_core::pingpong::curve::Curve;
use btu_core::pingpong::journal::Journal;
use btu_core::pingpong::plan::ChasmSearch;
use btu_core::pingpong::plan::Plan;
use btu_core::pingpong::plan::SizeChoice;
use btu_core::pingpong::sample::ConfigurationId;
use btu_core::pingpong::sample::Ended;
use btu_core::pingpong::sample::Fault;
use btu_core::pingpong::sample::Line;
use btu_core::pingpong::sample::Times;
use btu_core::pingpong::schedule::Schedule;
use btu_core::pingpong::schedule::Stop;
use btu_core::pingpong::schedule::Stopped;
use btu_core::pingpong::simulated::Dip;
use btu_core::pingpong::simulated::Noise;
use btu_core::pingpong::simulated::Reach;
use btu_core::pingpong::simulated::Simulated;
use btu_core::pingpong::sizes::Sizes;
use btu_core::pingpong::sizes::Step;
use btu_core::pingpong::statistic::Statistic;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_report::Content;
use btu_report::FORMATS;
use btu_report::brief_text;
use btu_report::compose_pingpong;
use btu_report::pingpong_result;
use btu_report::pingpong_schema;
use btu_report::render_content;
use serde_json::Value;

use crate::markup::elements;
use crate::page::assert_structure;
use crate::schema;

/// Two curves of one path with a chasm, copies of memory, a file of another tool.
pub(crate) fn journal() -> Journal {
    let sizes = Sizes::new(Bytes::new(1), Bytes::new(65_536), Bytes::ZERO, Step::NetPipe).unwrap();
    journal_over(sizes)
}

fn journal_over(sizes: Sizes) -> Journal {
    let spin = Configuration { wait: Wait::Spin, ..Configuration::new("tcp") };
    let time_ns = Nanos::from_secs(60);
    let plan = Plan {
        sizes: SizeChoice::Grid(sizes),
        chasms: Some(ChasmSearch { time_ns, resolution_bytes: Bytes::new(1) }),
        point_time_ns: Nanos::from_millis(2),
        reference: true,
        ..Plan::new(vec![Configuration::new("tcp"), spin], 1)
    };
    let dip = Dip::slower(Reach::Always(900..=2100), 5.0);
    let noise = Noise::correlated(0.02, Nanos::from_millis(20), 1);
    let mut path = Simulated::new(10.0, 1.0).with_dip(dip).with_noise(noise);
    let largest_bytes = Bytes::new(1 << 30);
    let numbered = plan.numbered();
    let declared = numbered.iter().cloned();
    let mut lines: Vec<Line> = declared
        .map(|(id, configuration)| Line::PingPongConfiguration { id, configuration, largest_bytes })
        .collect();
    let carried: Vec<_> = numbered.iter().map(|(id, _)| (*id, largest_bytes)).collect();
    let all: Vec<Configuration> = numbered.into_iter().map(|(_, one)| one).collect();
    let samples = path.sweep(&mut Schedule::new(plan.sweep(&carried, Nanos::new(30))), &all);
    lines.extend(samples.into_iter().map(|sample| Line::PingPongVisit(Box::new(sample))));
    let text = "1 0.876453 0.00000870\n64 56.0 0.00000872\n1024 800.0 0.00000977\n";
    lines.push(Line::PingPongFile { file: "a<b>/np.out".into(), text: text.into() });
    lines.push(Line::PingPongMissing { transport: "vsock".into(), reason: "<script>".into() });
    let event = |event: &str| EventRecord {
        at: "2026-11-21T00:00:00.000Z".into(),
        event: event.into(),
        detail: String::new(),
    };
    let events = vec![event("started"), event("finished")];
    let mut journal = Journal { plan, hosts: Disclosure::default(), lines, events };
    search(&mut journal, &mut path);
    journal
}

fn search(journal: &mut Journal, path: &mut Simulated) {
    for curve in analyse(journal).curves {
        let typical = Curve::new("", curve.configuration.mode, Statistic::Typical, &curve.points);
        let mut finder = finder(&journal.plan, &curve.configuration, None, &typical).unwrap();
        while let Some(request) = finder.next_request().cloned() {
            let answer = path.answer(&request);
            journal.lines.push(Line::PingPongAnswer { id: curve.id, answer: answer.clone() });
            finder.answer(answer);
        }
    }
}

pub(crate) fn rendered(format: &str, journal: &Journal) -> String {
    let analysis = analyse(journal);
    let document = compose_pingpong(journal, &analysis);
    String::from_utf8(
        render_content(format, &document, Content::PingPong { journal, analysis: &analysis })
            .unwrap(),
    )
    .unwrap()
}

#[test]
fn the_page_has_three_graphs_of_all_curves_with_their_tables() {
    let page = rendered("html", &journal());
    assert_structure(&page, 3);
    for name in ["signature", "saturation", "throughput"] {
        assert!(page.contains(&format!("<figure id=\"{name}\">")), "{name}");
    }
    for label in ["tcp block", "tcp spin", "memcpy", "np.out"] {
        assert!(page.contains(&format!(">{label}</text>")), "{label}");
    }
    assert!(page.contains("tcp block: 5.0"), "no chasm is shaded");
    // Points and intervals of four curves; the chasm as a shaded range in the throughput graph alone.
    assert_eq!(page.matches("<path class=\"interval ").count(), 3 * 2 + 1);
    assert_eq!(page.matches("<rect class=\"chasm\"").count(), 2);
}

/// The same journal of a pass in which every byte was checked, and wrong in blocks of one byte.
fn checked(is_wrong: bool) -> Journal {
    let mut journal = journal();
    journal.lines.retain(|line| !matches!(line, Line::PingPongAnswer { .. }));
    for line in &mut journal.lines {
        match line {
            Line::PingPongConfiguration { configuration, .. } => configuration.verify = true,
            Line::PingPongVisit(sample) => {
                (sample.times, sample.verified) = (Times::default(), 10);
                if is_wrong && sample.size_bytes.count() == 1 {
                    let detail = "exchange 5: another byte".to_owned();
                    sample.ended = Ended::Failed { fault: Fault::Corrupted, detail };
                    sample.verified = 0;
                }
            }
            _ => {}
        }
    }
    journal
}

#[test]
fn what_was_checked_is_complete_where_nothing_was_wrong_and_has_no_figures_of_time() {
    for is_wrong in [false, true] {
        let journal = checked(is_wrong);
        let text = rendered("text", &journal);
        assert_eq!(text.contains("INCOMPLETE, FAULTS"), is_wrong, "{text}");
        assert_eq!(text.contains(" COMPLETE"), !is_wrong, "{text}");
        assert_eq!(pingpong_result(&journal, &analyse(&journal)).complete, !is_wrong);
        let said = if is_wrong { "the first with 1 B: exchange 5" } else { "Every byte of" };
        assert!(text.contains(said) && text.contains("Checked "), "{text}");
        let timed = ["Latency", "Peak", "n1/2  ", "Formula", "Statistic"];
        let is_of_time = |line: &str| timed.iter().any(|figure| line.starts_with(figure));
        assert!(!text.lines().take(12).any(is_of_time), "{text}");
    }
}

#[test]
fn the_page_may_run_its_own_script_and_nothing_else() {
    let page = rendered("html", &journal());
    let elements = elements(&page);
    let scripts = elements.iter().filter(|(tag, _)| tag.name == "script").count();
    assert_eq!(scripts, 1);
    let (_, values) = elements.iter().find(|(tag, _)| tag.name == "meta").unwrap();
    assert!(values[1].contains("script-src 'sha256-") && !values[1].contains("unsafe"));
    assert!(page.contains("&lt;script&gt;"), "what a file says is shown as text");
}

#[test]
fn a_zoom_has_linear_axes_and_no_reference() {
    let step = Step::Every(Bytes::new(50));
    let sizes = Sizes::new(Bytes::new(500), Bytes::new(2_500), Bytes::ZERO, step).unwrap();
    let page = rendered("html", &journal_over(sizes));
    assert!(page.contains("both axes are linear"));
    let throughput = page.split("<figure id=\"throughput\">").nth(1).unwrap();
    let throughput = throughput.split("</figure>").next().unwrap();
    assert!(throughput.contains(">1500</text>") && !throughput.contains(">memcpy</text>"));
}

#[test]
fn every_format_gives_the_same_bytes_twice_and_shows_every_curve() {
    let journal = journal();
    for format in FORMATS {
        let text = rendered(format.name(), &journal);
        assert!(text == rendered(format.name(), &journal), "{}", format.name());
        assert!(text.contains("tcp spin"), "{}", format.name());
    }
}

#[test]
fn the_summary_fits_80_columns() {
    let journal = journal();
    let text = brief_text(&compose_pingpong(&journal, &analyse(&journal)));
    let long: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(long.is_empty(), "{long:#?}");
    for words in
        ["Latency ", "COMPLETE", "* tcp block: between 900 and 2100 bytes", "r_inf", "ratio"]
    {
        assert!(text.contains(words), "no \"{words}\" in\n{text}");
    }
    assert!(!text.contains('\u{1b}'));
}

/// Check P6, as its reader sees it: two curves of one path, and a file that has no intervals.
#[test]
fn p6_the_verdict_on_each_pair_stands_in_text_page_and_result() {
    let journal = journal();
    let told = "tcp spin beside tcp block: no difference: intervals overlap at ";
    let none = "np.out beside tcp block: no verdict, as not both have intervals; one lies within";
    for format in ["text", "md", "html"] {
        let text = rendered(format, &journal);
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for words in [told, none] {
            assert!(flat.contains(words), "{format}: no \"{words}\" in\n{text}");
        }
    }
    let result: Value = serde_json::from_str(&rendered("json", &journal)).unwrap();
    let [own, file] = result["comparisons"].as_array().unwrap().as_slice() else {
        panic!("two pairs: {}", result["comparisons"])
    };
    assert_eq!((&own["verdict"], &own["second"]), (&"no_difference".into(), &"tcp spin".into()));
    assert_eq!(own["judged_sizes"], own["common_sizes"]);
    let apart = own["apart_bytes"].as_array().unwrap().len() as u64;
    assert_eq!(own["overlapping_sizes"].as_u64().unwrap() + apart, 32);
    assert!(file["verdict"].is_null() && file["verdict_reason"].is_string(), "{file}");
    assert_eq!((&file["common_sizes"], &file["judged_sizes"]), (&3.into(), &0.into()));
}

/// Other work in some rounds of one point in eight, and one size of one round alone.
#[test]
fn noise_stands_in_the_summary() {
    let calm = journal();
    let told = |journal: &Journal| {
        let text = brief_text(&compose_pingpong(journal, &analyse(journal)));
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let said = told(&calm);
    assert!(!said.contains("DISTURBED") && !said.contains("other work"), "{said}");
    let mut noisy = calm;
    noisy.lines.retain(|line| match line {
        Line::PingPongVisit(visit) => visit.size_bytes != Bytes::new(1) || visit.round == 1,
        _ => true,
    });
    for line in &mut noisy.lines {
        if let Line::PingPongVisit(visit) = line
            && [2, 3, 4, 6].map(Bytes::new).contains(&visit.size_bytes)
        {
            visit.host.run_delay_ns = Some(visit.elapsed_ns);
        }
    }
    let said = told(&noisy);
    assert!(said.contains("DISTURBED"), "{said}");
    let note = "tcp spin: other work took more than 5 % of the time of some rounds at 4, there were \
                fewer than three rounds at 1 of 32 sizes.";
    assert!(said.contains(note), "{said}");
}

/// Nothing was timed: what is not there and what was too large is told all the same.
#[test]
fn a_result_without_a_point_has_its_notes() {
    let mut journal = journal();
    journal.lines.retain(|line| !matches!(line, Line::PingPongVisit(_)));
    for line in &mut journal.lines {
        if let Line::PingPongConfiguration { largest_bytes, .. } = line {
            *largest_bytes = Bytes::new(32_768);
        }
    }
    let text = brief_text(&compose_pingpong(&journal, &analyse(&journal)));
    let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("vsock is not there: <script>."), "{said}");
    assert!(said.contains("tcp spin: 2 sizes not available: above 32768 bytes."), "{said}");
}

/// A point with three of its rounds, one that nobody visited, and the costs of the second curve.
#[test]
fn points_that_were_stopped_are_told_with_their_reason_and_costs_with_their_interval() {
    let mut journal = journal();
    let first = ConfigurationId(1);
    journal.lines.retain(|line| {
        let Line::PingPongVisit(sample) = line else { return true };
        let (size, is_first) = (sample.size_bytes.count(), sample.configuration == first);
        !is_first || (size < 65_536 && (size < 49_152 || [1, 5, 8].contains(&sample.round)))
    });
    let stopped = |size, cause| Stopped { size_bytes: Bytes::new(size), cause };
    let stops = vec![stopped(49_152, Stop::PointTime), stopped(65_536, Stop::BlockTime)];
    journal.lines.push(Line::PingPongStops { id: first, stops });
    let text = rendered("md", &journal);
    for told in [
        "tcp block: 1 size not measured: a block takes more than 1s (65536 bytes).",
        "tcp block: 1 size with fewer than 10 rounds: the time of a point was over",
        "in random order, 3 to 10 rounds",
        "3 of 10 (point",
    ] {
        assert!(text.contains(told), "no {told} in\n{text}");
    }
    let result = pingpong_result(&journal, &analyse(&journal));
    let curve = &result.curves[0];
    let last = curve.points.last().unwrap();
    assert_eq!((last.bytes, last.rounds, last.asked_rounds), (49_152, 3, 10));
    assert_eq!(last.stop.as_deref(), Some("point_time"));
    assert_eq!(curve.points[0].stop, None);
    let left_out: Vec<_> = curve.left_out.iter().map(|one| (one.bytes, &*one.stop)).collect();
    assert_eq!(left_out, [(65_536, "block_time")]);
    assert!(result.complete, "what is left out is no fault");
    let cost = &result.costs[0];
    assert_eq!((&*cost.base, &*cost.curve, cost.bytes), ("tcp block", "tcp spin", 8));
    let [low, high] = cost.difference_ci95_us.unwrap();
    assert!((low..high).contains(&cost.difference_us) && cost.ratio_ci95.is_some());
    let shown = [low, high].map(|bound| format!("{bound:.3}"));
    assert!(shown.iter().all(|bound| text.contains(&bound[..5])), "{shown:?}\n{text}");
}

#[test]
fn the_published_schema_is_the_generated_one_and_results_keep_to_it() {
    let mut cut = journal();
    cut.lines.truncate(5);
    cut.events.pop();
    let result = |journal: &Journal| pingpong_result(journal, &analyse(journal)).to_json();
    schema::holds("pingpong-1", &pingpong_schema(), &[result(&journal()), result(&cut)]);
}
