//! Traffic in every format: its page, its text, its result against the published schema.

use btu_core::disclosure::Disclosure;
use btu_core::journal::EventRecord;
use btu_core::role::Role;
use btu_core::sample::Flag;
use btu_core::sample::HostSample;
use btu_core::sample::Outcome;
use btu_core::sample::SocketOptions;
use btu_core::traffic::analysis::Estimate;
use btu_core::traffic::analysis::analyse;
use btu_core::traffic::clock::ClockSample;
use btu_core::traffic::figures::flow::Figures;
use btu_core::traffic::figures::flow::Loss;
use btu_core::traffic::figures::places::Places;
use btu_core::traffic::figures::slowdown::Slowdown;
use btu_core::traffic::plan::Cell;
use btu_core::traffic::plan::Course;
use btu_core::traffic::plan::Group;
use btu_core::traffic::plan::Link;
use btu_core::traffic::plan::Plan;
use btu_core::traffic::plan::Study;
use btu_core::traffic::sample::Agreement;
use btu_core::traffic::sample::ClusterSample;
use btu_core::traffic::sample::Curves;
use btu_core::traffic::sample::FlowSample;
use btu_core::traffic::sample::Journal;
use btu_core::traffic::sample::Line;
use btu_core::traffic::sample::RunSample;
use btu_core::traffic::sample::SlowdownSample;
use btu_core::traffic::sending::burst::Block;
use btu_core::traffic::sending::burst::Discipline;
use btu_core::traffic::simulated;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_report::Content;
use btu_report::FORMATS;
use btu_report::brief_text;
use btu_report::compose_traffic;
use btu_report::render_content;
use btu_report::traffic_result;
use btu_report::traffic_schema;

use crate::page::assert_structure;
use crate::schema;
use crate::schema::violations;

pub(crate) const MU: f64 = 1.7e6;

/// A flow of bursts over a line of 1.7 Mb/s, in virtual time.
fn flow(period: Nanos, time: Nanos) -> FlowSample {
    let blocks: Vec<Block> = (0..time.count() / period.count())
        .map(|k| Block { due: period * k, size: Bytes::new(12_500) })
        .collect();
    carried(&blocks, time)
}

/// The same of any blocks.
pub(crate) fn carried(blocks: &[Block], time: Nanos) -> FlowSample {
    let trace = simulated::Line::new(MU).carry(blocks, time, Discipline::Queue);
    FlowSample {
        test: "<b>a</b>".into(),
        session: 1,
        from: Role::Test,
        to: Role::Active,
        transport: "tcp".into(),
        traffic: "burstq(blocksize=12500 B)".into(),
        phase_ns: None,
        start_ns: Nanos::ZERO,
        duration_ns: time,
        outcome: Outcome::Complete,
        figures: Figures::of(&trace),
        clocks: None,
        places: Some(Places::default()),
        acknowledged_bytes: Some(trace.read_by(time)),
        retransmitted_bytes: Some(Bytes::ZERO),
        least_rtt_ns: Some(Nanos::from_millis(2)),
        refused: 0,
        pace: "sleep".into(),
        cpu_ns: None,
        noticed: Vec::new(),
        sender_options: SocketOptions::default(),
        receiver_options: SocketOptions::default(),
        curves: Curves::of(&trace),
    }
}

/// Three passes over bursts of these periods.
pub(crate) fn journal(study: Study, periods_ms: &[u64]) -> Journal {
    let cells = (1..).zip(periods_ms).map(|(id, period)| Cell {
        id,
        group: if study == Study::Scenario { Group::Scenario } else { Group::Period },
        label: format!("{period} ms"),
        x: f64::from(u32::try_from(*period).unwrap()),
        sessions: 1,
        scenario: "<script>".into(),
        ..Cell::default()
    });
    let link = Link { up: vec!["rate 1.8057Mbit/s".into()], down: vec![], wire: "ethernet".into() };
    let plan = Plan { passes: 3, link: Some(link), ..Plan::new(study, cells.collect(), 1) };
    let run = |(pass, cell): (u32, &Cell)| {
        let period = Nanos::from_millis(periods_ms[usize::try_from(cell.id - 1).unwrap()]);
        // Passes differ a little, as they do.
        let cluster = ClusterSample {
            name: "c1".into(),
            failed: None,
            flows: vec![flow(
                period + Nanos::from_micros(u64::from(pass) * 20),
                Nanos::from_secs(5),
            )],
            sender_cpu_ns: Nanos::from_millis(5),
            receiver_cpu_ns: Nanos::from_millis(9),
            sender_threads: 1,
            began_ns: Nanos::ZERO,
            elapsed_ns: Nanos::from_secs(6),
            clocks: vec![],
            slowdowns: vec![],
        };
        Line::TrafficRun(Box::new(RunSample {
            cell: cell.id,
            pass,
            started_at: "2026-11-22T00:00:00.000Z".into(),
            clusters: vec![cluster],
            probe: None,
            emulation: vec![],
            host: HostSample::default(),
            flags: vec![],
        }))
    };
    let lines = plan.runs().into_iter().map(run).collect();
    let event = |event: &str| EventRecord {
        at: "2026-11-22T00:00:00.000Z".into(),
        event: event.into(),
        detail: String::new(),
    };
    let events = vec![event("started"), event("finished")];
    Journal { plan, hosts: Disclosure::default(), lines, events }
}

pub(crate) fn rendered(format: &str, journal: &Journal) -> String {
    let analysis = analyse(journal);
    let document = compose_traffic(journal, &analysis);
    String::from_utf8(
        render_content(format, &document, Content::Traffic { journal, analysis: &analysis })
            .unwrap(),
    )
    .unwrap()
}

pub(crate) const PERIODS: [u64; 8] = [20, 30, 40, 50, 70, 80, 120, 200];

/// 12500 B at 1.7 Mb/s: the knee is where the period is 58.8 ms (napier, figure 7).
#[test]
fn the_knee_of_a_line_is_its_rate() {
    let analysis = analyse(&journal(Study::Sweep, &PERIODS));
    let knee = analysis.knee.unwrap();
    assert!((knee.knee / MU - 1.0).abs() < 0.03, "{knee:?}");
    assert!(knee.interval.is_some() && knee.passes == 3);
    assert!((12_500.0 * 8.0 / knee.knee * 1e3 / 58.8 - 1.0).abs() < 0.03);
}

#[test]
fn a_page_has_the_figures_of_its_cells_and_no_script_of_others() {
    let page = rendered("html", &journal(Study::Sweep, &PERIODS));
    assert_structure(&page, 2);
    for name in ["period", "delay"] {
        assert!(page.contains(&format!("<figure id=\"{name}\">")), "{name}");
    }
    assert!(!page.contains("<script>&lt;") && !page.contains("<b>a</b>"));
    let scenario = rendered("html", &journal(Study::Scenario, &[80]));
    assert_structure(&scenario, 1);
    assert!(scenario.contains("<figure id=\"arrival-departure\">"));
    assert!(scenario.contains("&lt;b&gt;a&lt;"), "the name of a test is a text");
}

#[test]
fn the_same_journal_gives_the_same_bytes_in_every_format() {
    let journal = journal(Study::Sweep, &PERIODS);
    for format in FORMATS {
        let first = rendered(format.name(), &journal);
        assert_eq!(first, rendered(format.name(), &journal));
        assert!(first.contains("20 ms"), "{}", format.name());
    }
    let brief = brief_text(&compose_traffic(&journal, &analyse(&journal)));
    assert!(brief.contains("Queued bursts of rising period") && !brief.contains("plan.toml"));
}

#[test]
fn results_are_as_the_published_schema_says() {
    let journals = [journal(Study::Sweep, &PERIODS), journal(Study::Scenario, &[80])];
    let results = journals.map(|journal| traffic_result(&journal, &analyse(&journal)).to_json());
    schema::holds("traffic-3", &traffic_schema(), &results);
}

/// Three passes differ by 20 us of 80 ms each: every connection has a mean and an interval around it.
#[test]
fn connections_clusters_and_runs_stand_in_the_result() {
    let journal = journal(Study::Scenario, &[80]);
    let result = traffic_result(&journal, &analyse(&journal));
    let [one] = &result.connections[..] else { panic!("{:?}", result.connections) };
    let [low, high] = one.arrival_ci95_bit_s.unwrap();
    let mean = one.arrival_rate_bit_s.unwrap();
    assert!(one.passes == 3 && low < mean && mean < high && high / low < 1.02, "{one:?}");
    assert!(one.delay_p99_ci95_s.is_some() && one.lost_share.is_none());
    assert_eq!((result.run_totals.len(), result.clusters.len(), result.flows.len()), (3, 3, 3));
    let (run, cluster, flow) = (&result.run_totals[1], &result.clusters[1], &result.flows[1]);
    assert_eq!((run.pass, cluster.pass, flow.pass), (2, 2, 2));
    assert!((run.arrival_rate_bit_s - flow.arrival_rate_bit_s).abs() < 1e-6, "{run:?}");
    assert_eq!((cluster.elapsed_s, cluster.sender_cpu_s), (6.0, Some(0.005)));
    assert_eq!((flow.least_rtt_s, flow.retransmitted_bytes), (Some(0.002), Some(0)));
    for delay in [flow.delay_min_s, flow.delay_mean_s, flow.delay_p99_at_least_s, flow.delay_max_s]
    {
        assert!((delay.unwrap() - 0.0588).abs() < 0.0001, "{flow:?}");
    }
    let text = rendered("text", &journal);
    assert!(text.contains("Connections over the passes"), "{text}");
    let short = Journal { lines: journal.lines[..1].to_vec(), ..journal };
    let result = traffic_result(&short, &analyse(&short));
    assert!(result.connections.is_empty() && result.run_totals.len() == 1);
    assert!(!rendered("text", &short).contains("Connections over the passes"));
}

#[test]
fn a_journal_line_comes_back_as_it_was() {
    let mut journal = journal(Study::Scenario, &[80]);
    let Line::TrafficRun(run) = &mut journal.lines[0] else { panic!("a run") };
    run.clusters[0].slowdowns = vec![SlowdownSample {
        test: "calls".to_owned(),
        from: Role::Test,
        to: Role::Active,
        sizes: vec![Slowdown { messages: 7, p50: 1.25, ..Slowdown::default() }],
    }];
    let line = serde_json::to_string(&journal.lines[0]).unwrap();
    let again: Line = serde_json::from_str(&line).unwrap();
    assert_eq!(again, journal.lines[0]);
    assert!(line.len() < 16 << 10, "{}", line.len());
}

/// The same journal between two hosts whose clocks are known to agree like this.
fn apart(agreement: &Agreement) -> Journal {
    let mut journal = journal(Study::Scenario, &[80]);
    journal.plan.link = None;
    journal.plan.agents = [(Role::Active, "lab1".to_owned())].into();
    for line in &mut journal.lines {
        let Line::TrafficRun(run) = line else { continue };
        run.clusters[0].flows[0].clocks = Some(agreement.clone());
        run.clusters[0].clocks = vec![ClockSample {
            host: Role::Active,
            ahead_ns: -5_000_000,
            drift_ppm: 12.5,
            bound_ns: Nanos::from_micros(321),
            least_round_trip_ns: Nanos::from_micros(642),
            readings: 32,
            reason: None,
        }];
    }
    journal
}

/// Blocks take 58.8 ms here. A delay below the bound could be anything: it is left out with its reason.
#[test]
fn delays_between_two_clocks_have_a_bound_or_a_reason() {
    let result = |agreement: Agreement| {
        let journal = apart(&agreement);
        let result = traffic_result(&journal, &analyse(&journal));
        let schema = traffic_schema();
        let document = serde_json::to_value(&result).unwrap();
        assert_eq!(violations(&document, &schema, &schema, "$"), Vec::<String>::new());
        // What is told of all flows of a run, or of one over the passes, is known no better.
        let bounds = [result.run_totals[0].delay_bound_s, result.connections[0].delay_bound_s];
        (result.flows[0].clone(), bounds, rendered("text", &journal))
    };
    let (known, bounds, text) = result(Agreement::Within(Nanos::from_micros(321)));
    assert_eq!((known.delay_bound_s, known.delay_hidden.as_str()), (Some(321e-6), ""));
    assert_eq!(bounds, [Some(321e-6); 2]);
    assert!(known.delay_p50_s.is_some_and(|delay| (delay - 0.0588).abs() < 0.001));
    for word in ["between this host and lab1", "known within", "321 us", "12.5 ppm"] {
        assert!(text.contains(word), "no {word} in\n{text}");
    }
    let (hidden, _, text) = result(Agreement::Within(Nanos::from_millis(100)));
    assert_eq!((hidden.delay_p50_s, hidden.window_delay_s), (None, None));
    let reason = "smaller than the clocks of both hosts are known to agree: 100.000 ms";
    assert_eq!(hidden.delay_hidden, reason);
    assert!(text.contains("are smaller than the clocks"), "{text}");
    // Differences of delays do not depend on it.
    assert!(hidden.pdv_p99_s.is_some() && hidden.arrival_rate_bit_s > 0.0);
    let (unknown, _, _) = result(Agreement::Unknown("the clocks jumped".to_owned()));
    assert_eq!((unknown.delay_bound_s, unknown.delay_p99_s), (None, None));
    assert_eq!(unknown.delay_hidden, "the clocks jumped");
}

/// A line of 1.7 Mb/s whose loads end below it.
#[test]
fn a_path_that_carried_all_has_no_knee() {
    let journal = journal(Study::Sweep, &[400, 200, 100]);
    let analysis = analyse(&journal);
    assert_eq!(analysis.knee, None);
    let text = rendered("text", &journal).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("The path carried all that it was offered, 980 kb/s at the most."),
        "{text}"
    );
    assert!(!text.contains("and no more beyond"), "{text}");
}

/// Periods of a list end before a fast path is full: the report says which ones would do.
#[test]
fn a_sweep_that_did_not_reach_the_knee_says_what_would() {
    let journal = journal(Study::Sweep, &[400, 200, 100]);
    let mut analysis = analyse(&journal);
    analysis.mu = Some(Estimate { value: 98e6, interval: None, passes: 3 });
    let document = compose_traffic(&journal, &analysis);
    let text = brief_text(&document).split_whitespace().collect::<Vec<_>>().join(" ");
    let told =
        "One full stream gets 98.0 Mb/s: such bursts reach the knee at periods below 1.00 ms";
    assert!(text.contains(told) && text.contains("without --values"), "{text}");
}

/// The table of cells, the figures and the result have one value, that of all passes.
#[test]
fn one_delay_of_drained_queues_stands_in_table_figure_and_result() {
    let mut journal = journal(Study::Sweep, &[40, 80]);
    for line in &mut journal.lines {
        let Line::TrafficRun(run) = line else { continue };
        let delay = [0.001, 0.01, 0.1][usize::try_from(run.pass - 1).unwrap()];
        run.clusters[0].flows[0].figures.drained_delay_s = Some(delay);
    }
    let result = traffic_result(&journal, &analyse(&journal));
    let drained: Vec<f64> = result.cells.iter().map(|cell| cell.drained_delay_s.unwrap()).collect();
    assert!(drained.iter().all(|delay| (delay / 0.01 - 1.0).abs() < 1e-9), "{drained:?}");
    let text = rendered("text", &journal);
    let rows = text.lines().filter(|line| line.contains("ms") && line.contains("10.0 ms"));
    assert_eq!(rows.count(), 2, "{text}");
    // In the table of figure 8 with its interval.
    assert_eq!(rendered("html", &journal).matches("10.0 ms (").count(), 2);
}

#[test]
fn a_knee_of_few_passes_says_of_how_many() {
    let mut journal = journal(Study::Sweep, &[100, 40]);
    let carried = |run: &mut RunSample| {
        for flow in run.clusters.iter_mut().flat_map(|cluster| &mut cluster.flows) {
            let figures = &mut flow.figures;
            figures.departure_rate_bit_s = figures.arrival_rate_bit_s;
            figures.carried_rate_bit_s = Some(figures.arrival_rate_bit_s);
        }
    };
    let last = |line: &mut Line| match line {
        Line::TrafficRun(run) if run.pass == 3 => carried(run),
        _ => {}
    };
    journal.lines.iter_mut().for_each(last);
    let knee = analyse(&journal).knee.unwrap();
    assert_eq!((knee.passes, knee.made, knee.interval), (2, 3, None));
    let text = rendered("text", &journal);
    assert!(text.contains("no interval: 2 of 3 passes have a knee"), "{text}");
}

#[test]
fn flows_of_equal_names_are_told_apart() {
    let mut journal = journal(Study::Scenario, &[80]);
    for line in &mut journal.lines {
        let Line::TrafficRun(run) = line else { continue };
        let flow = run.clusters[0].flows[0].clone();
        run.clusters[0].flows.push(flow);
        let other = ClusterSample { name: "other".into(), ..run.clusters[0].clone() };
        run.clusters.push(other);
    }
    let text = rendered("text", &journal);
    let first = match &journal.lines[0] {
        Line::TrafficRun(run) => run.clusters[0].name.clone(),
        Line::TrafficCell(_) => unreachable!("a run"),
    };
    for name in [first.as_str(), "other"] {
        for end in [" ", " (2) "] {
            let row = format!("{name}/<b>a</b>{end}");
            let rows = text.lines().filter(|line| line.starts_with(&row));
            // Rates have the type beside it.
            assert!(rows.clone().any(|line| line.contains("burstq")), "no {row} in\n{text}");
        }
    }
}

/// A hundred runs in which the host was slow, and one flow that failed at the end of them.
#[test]
fn what_failed_is_told_before_what_the_host_limited() {
    let mut journal = journal(Study::Scenario, &[80, 70, 60, 50, 40, 30, 20]);
    for line in &mut journal.lines {
        let Line::TrafficRun(run) = line else { continue };
        if let Some(pacing) = &mut run.clusters[0].flows[0].figures.pacing {
            pacing.host_limited = true;
        }
    }
    let Some(Line::TrafficRun(last)) = journal.lines.last_mut() else { unreachable!("runs") };
    last.clusters[0].flows[0].outcome = Outcome::Failed { reason: "the line was cut".into() };
    let text = rendered("text", &journal).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(text.matches("the generator fell behind").count(), 1, "{text}");
    assert!(text.contains("fell behind in 21 of 21 runs"), "{text}");
    let [cut, behind] =
        ["the line was cut", "the generator fell behind"].map(|told| text.find(told).unwrap());
    assert!(cut < behind, "{text}");
}

/// A flow of a conversation has no thread of which the time is read: that is no time of zero.
#[test]
fn cpu_time_that_nobody_read_is_not_zero() {
    let mut journal = journal(Study::Scenario, &[80]);
    for line in &mut journal.lines {
        let Line::TrafficRun(run) = line else { continue };
        let cluster = &mut run.clusters[0];
        (cluster.sender_threads, cluster.sender_cpu_ns) = (0, Nanos::ZERO);
        cluster.receiver_cpu_ns = Nanos::ZERO;
        cluster.flows[0].pace = "answers".into();
    }
    let name = match &journal.lines[0] {
        Line::TrafficRun(run) => run.clusters[0].name.clone(),
        Line::TrafficCell(_) => unreachable!("a run"),
    };
    let text = rendered("text", &journal);
    let at = text.find("CPU time of both ends").unwrap();
    let row = text[at..].lines().find(|line| line.starts_with(&name)).unwrap();
    let cells: Vec<&str> = row[name.len()..].split_whitespace().collect();
    assert_eq!(cells, ["0", "-", "-", "-", "-", "1"], "{text}");
    assert!(text.contains("wait for answers"), "{text}");
    for line in &mut journal.lines {
        let Line::TrafficRun(run) = line else { continue };
        let cluster = &mut run.clusters[0];
        cluster.sender_threads = 1;
        cluster.flows[0].cpu_ns = Some([Nanos::ZERO; 2]);
    }
    let text = rendered("text", &journal);
    assert!(!text.contains("wait for answers"), "{text}");
}

/// A sheet of calls: one datagram in a hundred came after a later one, one in two hundred never.
#[test]
fn a_sheet_says_what_calls_are_worth_and_how_much_was_reordered() {
    let mut journal = journal(Study::Qos, &[80]);
    let cell = &mut journal.plan.cells[0];
    (cell.group, cell.class, cell.sessions) = (Group::Class, Some("voice".into()), 7);
    for line in &mut journal.lines {
        let Line::TrafficRun(run) = line else { continue };
        let loss =
            Loss { sent: 1000, received: 995, reordered: 10, lost_share: 0.005, ..Loss::default() };
        run.clusters[0].flows[0].figures.loss = Some(loss);
    }
    let text = rendered("text", &journal);
    // 59 ms on the line and 20 in the packet, 0.6 % lost of which 0.1 % late: by hand 93.4 - 1.6 - 0.7 - 2.2.
    let row = text.lines().find(|line| line.starts_with("7 ")).unwrap();
    assert!(row.ends_with("  89  4.31"), "{text}");
    assert!(text.contains("RFC 4737") && text.contains("1.01"), "{text}");
    assert!(text.contains("(?) marks") && !text.contains("P.1203"), "{text}");
    let document = traffic_result(&journal, &analyse(&journal));
    let class = &document.classes[0];
    assert_eq!((class.class.as_str(), class.most_sessions, class.sessions), ("voice", Some(7), 7));
    assert_eq!((class.at_cell, class.limits_set, class.limit_delay_p99_s), (1, false, Some(0.15)));
    let line = |figure: &str| {
        document.sheet.iter().find(|line| line.of == "voice" && line.figure == figure).unwrap()
    };
    assert_eq!((line("sessions").value, line("sessions").at_least), (Some(7.0), true));
    let lost = line("lost_share");
    assert!((lost.value.unwrap() - 0.005).abs() < 1e-9, "{lost:?}");
    assert_eq!((lost.passes, &lost.cells[..]), (3, &[1][..]));
    let [low, high] = line("delay_p99_s").interval.unwrap();
    assert!(low <= high && line("delay_p99_s").value.is_some_and(|p99| low <= p99 && p99 <= high));
    for word in ["worst flow of each, mean and interval", "R of the E-model", "at least 7"] {
        assert!(text.contains(word), "no {word} in\n{text}");
    }
    assert!((88.0..90.0).contains(&class.call_r.unwrap()), "{class:?}");
    assert!((class.reordered_share.unwrap() - 10.0 / 995.0).abs() < 1e-9);
}

/// A sheet whose limits somebody has set says so wherever it says sessions.
#[test]
fn a_sheet_of_limits_that_were_set_says_so() {
    let mut journal = journal(Study::Qos, &[80]);
    let cell = &mut journal.plan.cells[0];
    (cell.group, cell.class, cell.sessions) = (Group::Class, Some("voice".into()), 7);
    let usual = rendered("text", &journal);
    assert!(!usual.contains("set for this sheet"), "{usual}");
    let mut course = Course { name: "qos".into(), ..Course::default() };
    course.limits.set("voice.delay=20ms").unwrap();
    journal.plan.course = Some(course);
    let text = rendered("text", &journal).split_whitespace().collect::<Vec<_>>().join(" ");
    for word in [
        "p99 <= 20.0 ms, PDV <= 50.0 ms, loss <= 1 %, carried >= 95 %, set for this sheet in the place of p99 <= 150 ms",
        "Limits were set for this sheet (voice)",
    ] {
        assert!(text.contains(word), "no {word} in\n{text}");
    }
    // 59 ms are more than it bears now.
    let class = &traffic_result(&journal, &analyse(&journal)).classes[0];
    assert_eq!((class.most_sessions, class.limits_set), (None, true));
    assert_eq!(class.limit_delay_p99_s, Some(0.02));
}

#[test]
fn a_model_that_was_not_verified_says_so_in_every_report() {
    let mut journal = journal(Study::Scenario, &[80]);
    let plain = rendered("text", &journal);
    assert!(!plain.contains("not verified"), "{plain}");
    for line in &mut journal.lines {
        let Line::TrafficRun(run) = line else { continue };
        run.clusters[0].flows[0].traffic = "telnet(duration=10 s)".into();
    }
    for format in ["text", "html"] {
        let page = rendered(format, &journal);
        let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            page.contains("model telnet: parameters not verified: keys of a session"),
            "{format}: {page}"
        );
    }
    let document = traffic_result(&journal, &analyse(&journal));
    assert!(document.unverified_models[0].starts_with("model telnet: parameters not verified"));
}

/// What people read of conversations and of what held a run back, programs read as well.
#[test]
fn what_users_noticed_and_what_was_held_back_stand_in_every_form() {
    let mut journal = journal(Study::Scenario, &[80]);
    for line in &mut journal.lines {
        let Line::TrafficRun(run) = line else { continue };
        run.flags = vec![Flag::new("policy-limited", "lab1 holds each flow to 1.00 Mb/s")];
        let flow = &mut run.clusters[0].flows[0];
        flow.noticed = vec![("page load p50, s".into(), 1.25), ("pages".into(), 3.0)];
        flow.cpu_ns = Some([Nanos::from_millis(250), Nanos::from_millis(500)]);
    }
    let csv = rendered("csv", &journal);
    let (head, row) = (csv.lines().next().unwrap(), csv.lines().nth(1).unwrap());
    assert!(head.contains(",asking_cpu_s,answering_cpu_s,noticed,notices,"), "{head}");
    let told =
        ",0.25,0.5,\"page load p50, s = 1.25; pages = 3\",lab1 holds each flow to 1.00 Mb/s,";
    assert!(row.contains(told), "{row}");
    let json: serde_json::Value = serde_json::from_str(&rendered("json", &journal)).unwrap();
    let flow = &json["flows"][0];
    assert_eq!((&flow["asking_cpu_s"], &flow["answering_cpu_s"]), (&0.25.into(), &0.5.into()));
    assert_eq!(json["notices"][0], "80 ms, pass 1: lab1 holds each flow to 1.00 Mb/s");
    for format in ["text", "html"] {
        let page = rendered(format, &journal);
        assert!(
            page.contains("lab1 holds each flow") && page.contains("page load p50"),
            "{format}"
        );
    }
}

#[test]
fn a_headline_has_the_unit_of_its_sentence() {
    let text = rendered("text", &journal(Study::Scenario, &[400]));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("Arrival 240 kb/s") && text.contains("1 flow offered 240 kb/s"),
        "{text}"
    );
}

/// A card of several cells is about the one in which most departed, and names it.
#[test]
fn a_sweep_without_a_knee_says_which_cell_it_speaks_of() {
    let mut journal = journal(Study::Sweep, &[80, 40, 60]);
    journal.plan.cells.iter_mut().for_each(|cell| cell.group = Group::BlockSize);
    let text = rendered("text", &journal).split_whitespace().collect::<Vec<_>>().join(" ");
    let said =
        "Of 3 cells most departed in \"40 ms\": 1 flow offered 2.48 Mb/s and 1.70 Mb/s departed;";
    assert!(text.contains(said), "{text}");
    journal.plan.cells.truncate(1);
    journal.lines.retain(|line| matches!(line, Line::TrafficRun(run) if run.cell == 1));
    let text = rendered("text", &journal).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("COMPLETE") && text.contains(" 1 flow offered 1.24 Mb/s"), "{text}");
    assert!(!text.contains("most departed"), "{text}");
}
