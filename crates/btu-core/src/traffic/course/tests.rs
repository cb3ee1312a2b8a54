//! Whole courses over a path of arithmetic: a line of known rate and queue.

mod methods;
mod paired;

use rand::RngExt;
use rand::SeedableRng;
use rand_chacha::ChaCha12Rng;

use super::*;
use crate::role::Role;
use crate::sample::Flag;
use crate::sample::HostSample;
use crate::sample::Outcome;
use crate::sample::SocketOptions;
use crate::stats::Interval;
use crate::traffic::analysis::Analysis;
use crate::traffic::analysis::Of;
use crate::traffic::analysis::SheetLine;
use crate::traffic::analysis::analyse;
use crate::traffic::class;
use crate::traffic::figures::capacity::Adjustment;
use crate::traffic::figures::flow::Delays;
use crate::traffic::figures::flow::Figures;
use crate::traffic::figures::flow::Loss;
use crate::traffic::figures::places::Places;
use crate::traffic::figures::transfer::TransferFigures;
use crate::traffic::findings;
use crate::traffic::findings::Findings;
use crate::traffic::method::METHODS;
use crate::traffic::plan::Group;
use crate::traffic::plan::Probe;
use crate::traffic::plan::Study;
use crate::traffic::probe::CapacityReport;
use crate::traffic::probe::CapacitySample;
use crate::traffic::probe::ForeignProbe;
use crate::traffic::probe::PathMtuProbe;
use crate::traffic::probe::PathMtuSample;
use crate::traffic::probe::ProbeSample;
use crate::traffic::probe::ResponsivenessSample;
use crate::traffic::probe::WorkingInterval;
use crate::traffic::sample::Agreement;
use crate::traffic::sample::ClusterSample;
use crate::traffic::sample::Curves;
use crate::traffic::sample::FlowSample;
use crate::traffic::sample::Journal;
use crate::units::Bytes;
use crate::units::Nanos;

/// What the line carries on the wire, bit/s, and what it queues.
const LINE: f64 = 10e6;
const QUEUE_FRAMES: f64 = 41.0;
const RTT: Nanos = Nanos::from_millis(20);

/// A flow of which nothing but this is known.
pub(in crate::traffic) fn flow(figures: Figures, duration: Nanos) -> FlowSample {
    FlowSample {
        test: "flow".into(),
        session: 1,
        from: Role::Test,
        to: Role::Active,
        transport: "udp".into(),
        traffic: String::new(),
        phase_ns: None,
        start_ns: Nanos::ZERO,
        duration_ns: duration,
        outcome: Outcome::Complete,
        figures,
        clocks: None,
        places: Some(Places { queueing_s: 0.005, least_rtt_s: 0.02, ..Places::default() }),
        acknowledged_bytes: Some(Bytes::new(990)),
        retransmitted_bytes: Some(Bytes::new(10)),
        least_rtt_ns: Some(RTT),
        refused: 0,
        pace: "sleep".into(),
        cpu_ns: None,
        noticed: Vec::new(),
        sender_options: SocketOptions { mss_bytes: Some(1448), ..SocketOptions::default() },
        receiver_options: SocketOptions::default(),
        curves: Curves::default(),
    }
}

/// What the line makes of a cell.
fn figures(cell: &Cell, frame_bits: f64, line: f64) -> Figures {
    let loss = |lost_share: f64| {
        let received = crate::traffic::figures::flow::rounded(1e9 * (1.0 - lost_share));
        Some(Loss { sent: 1_000_000_000, received, lost_share, ..Loss::default() })
    };
    let mu = line * 1448.0 / 1538.0;
    match cell.group {
        Group::BackToBack => Figures {
            loss: loss((1.0 - QUEUE_FRAMES / cell.x).max(0.0)),
            // Ten frames in the time in which the line sends one.
            spread_s: (cell.x > 1.0).then(|| (cell.x - 1.0) * frame_bits / line / 10.0),
            ..Figures::default()
        },
        Group::Capacity => Figures { departure_rate_bit_s: mu, ..Figures::default() },
        Group::Ceiling => {
            let payload = (frame_bits - 66.0 * 8.0) / frame_bits;
            Figures { departure_rate_bit_s: line * payload, ..Figures::default() }
        }
        Group::Load => {
            let rho = cell.x;
            let delay = 0.001 * (1.0 + rho.min(0.99) / (1.0 - rho.min(0.99)));
            Figures {
                arrival_rate_bit_s: rho * mu,
                departure_rate_bit_s: rho.min(1.0) * mu,
                window_delay_s: Some(delay),
                delay: Some(Delays { p99_s: 3.0 * delay, ..Delays::default() }),
                ..Figures::default()
            }
        }
        Group::Period => {
            let (_, said) = cell.scenario.split_once("blocksize=").unwrap();
            let block: f64 = said.split_once(" B").unwrap().0.parse().unwrap();
            let offered = block * 8e3 / cell.x;
            Figures {
                arrival_rate_bit_s: offered,
                departure_rate_bit_s: offered.min(mu),
                ..Figures::default()
            }
        }
        Group::Class => {
            let class = class::by_name(cell.class.as_deref().unwrap()).unwrap();
            let rho = f64::from(cell.sessions) * class.bit_s / line;
            let p99_s = if rho < 0.8 { 0.01 } else { 10.0 };
            let delay = Some(Delays { p99_s, min_s: 0.009, ..Delays::default() });
            Figures { delay, loss: loss(0.0), ..Figures::default() }
        }
        Group::Transfer => Figures {
            departed_bytes: Bytes::new(1_000_000),
            departure_rate_bit_s: mu * cell.x.min(1.0),
            ..Figures::default()
        },
        Group::Latency => Figures {
            loss: loss(0.0),
            delay: Some(Delays { p50_s: 0.002, p99_s: 0.005, ..Delays::default() }),
            ..Figures::default()
        },
        _ => Figures { loss: loss((1.0 - line / cell.x).max(0.0)), ..Figures::default() },
    }
}

fn probed(probe: Probe, line: f64) -> ProbeSample {
    match probe {
        Probe::Capacity { datagram_bytes, adjustment, .. } => {
            let received = crate::traffic::figures::flow::rounded(line * 0.05 / 10_304.0);
            let report = CapacityReport {
                received,
                elapsed_ns: Nanos::from_millis(50),
                ..CapacityReport::default()
            };
            let reports = vec![report; 20];
            ProbeSample::Capacity(CapacitySample {
                datagram_bytes,
                adjustment,
                reports,
                ..CapacitySample::default()
            })
        }
        Probe::PathMtu { timer_ns } => {
            let came = |size_bytes| PathMtuProbe {
                size_bytes,
                answered_ns: Some(RTT),
                ..PathMtuProbe::default()
            };
            let device_mtu_bytes = Bytes::new(1500);
            let probes = vec![came(Bytes::new(1200)), came(device_mtu_bytes)];
            let known = PathMtuSample { device_mtu_bytes, timer_ns, ..PathMtuSample::default() };
            ProbeSample::PathMtu(PathMtuSample { probes, ..known })
        }
        Probe::Responsiveness { .. } => {
            let foreign = vec![ForeignProbe { connect_ns: RTT, exchange_ns: RTT }; 4];
            let interval = WorkingInterval {
                foreign: foreign.clone(),
                own_ns: vec![RTT; 4],
                ..WorkingInterval::default()
            };
            ProbeSample::Responsiveness(ResponsivenessSample {
                idle: foreign,
                intervals: vec![interval; 8],
                ..ResponsivenessSample::default()
            })
        }
    }
}

fn run(next: &Next, line: f64) -> RunSample {
    let frame = next.cell.series.as_deref().and_then(|s| s.strip_suffix(" B")?.parse().ok());
    let bits = f64::from(frame.unwrap_or(1518_u32) + 20) * 8.0;
    let cluster = |cell: &Cell| ClusterSample {
        name: "sweep".into(),
        failed: None,
        flows: vec![flow(figures(cell, bits, line), duration(cell))],
        sender_cpu_ns: Nanos::ZERO,
        receiver_cpu_ns: Nanos::ZERO,
        sender_threads: 1,
        began_ns: Nanos::ZERO,
        elapsed_ns: Nanos::from_secs(1),
        clocks: Vec::new(),
        slowdowns: Vec::new(),
    };
    let probe = next.cell.probe.map(|probe| probed(probe, line));
    RunSample {
        cell: next.cell.id,
        pass: next.pass,
        started_at: String::new(),
        clusters: if probe.is_some() { Vec::new() } else { vec![cluster(&next.cell)] },
        probe,
        emulation: Vec::new(),
        host: HostSample::default(),
        flags: Vec::new(),
    }
}

/// As its scenario says.
fn duration(cell: &Cell) -> Nanos {
    let said = cell.scenario.split_once("duration=").and_then(|(_, rest)| rest.split_once(" ns"));
    said.map_or(Nanos::from_secs(1), |(count, _)| Nanos::new(count.parse().unwrap()))
}

fn journal(plan: Plan) -> Journal {
    journal_over(plan, &mut || LINE)
}

/// Runs a plan to its end over a line whose rate is asked for before each run.
fn journal_over(plan: Plan, line: &mut dyn FnMut() -> f64) -> Journal {
    journal_of(plan, &mut |next| run(next, line()))
}

/// Runs a plan to its end.
fn journal_of(plan: Plan, made: &mut dyn FnMut(&Next) -> RunSample) -> Journal {
    let mut lines = Vec::new();
    while let Some(next) = plan.next_run(&lines) {
        assert!(lines.len() < 5000, "a course has an end: {:?}", next.cell.label);
        let run = made(&next);
        if next.decided {
            lines.push(Line::TrafficCell(Box::new(next.cell)));
        }
        lines.push(Line::TrafficRun(Box::new(run)));
    }
    let hosts = crate::disclosure::Disclosure::default();
    Journal { plan, hosts, lines, events: Vec::new() }.with_decided_cells()
}

fn plan(name: &str, study: Study) -> Plan {
    let course = method::find(name).map(method::Method::short);
    Plan { course, ..Plan::new(study, Vec::new(), 1) }
}

fn close(got: f64, want: f64, within: f64) {
    assert!((got / want - 1.0).abs() <= within, "{got} for {want}");
}

/// A measurement that was cut short at any line goes on with what would have come next.
#[test]
fn what_comes_next_depends_on_plan_and_journal_alone() {
    let course = Course { name: QOS.into(), time_ns: Nanos::from_secs(1), ..Course::default() };
    let course = Course { classes: vec!["voice".into(), "bulk".into()], ..course };
    let plan = Plan { passes: 2, course: Some(course), ..Plan::new(Study::Qos, Vec::new(), 7) };
    let whole = journal(plan.clone());
    for (at, line) in whole.lines.iter().enumerate() {
        let next = plan.next_run(&whole.lines[..at]).unwrap();
        match line {
            Line::TrafficCell(cell) => assert_eq!((&**cell, next.decided), (&next.cell, true)),
            Line::TrafficRun(run) => assert_eq!((run.cell, run.pass), (next.cell.id, next.pass)),
        }
    }
    assert_eq!(plan.next_run(&whole.lines), None);
    assert_eq!(whole.plan.asked(), plan);
    assert_eq!(Plan::stored("plan.toml", &plan.to_toml()), Ok(plan));
}

#[test]
fn a_sheet_finds_the_knee_and_the_sessions_of_a_line() {
    let course = Course {
        name: QOS.into(),
        time_ns: Nanos::from_secs(1),
        classes: vec!["voice".into(), "teleconf".into()],
        ..Course::default()
    };
    let plan = Plan { passes: 3, course: Some(course), ..Plan::new(Study::Qos, Vec::new(), 7) };
    let analysis = analyse(&journal(plan));
    let mu = LINE * 1448.0 / 1538.0;
    close(analysis.mu.unwrap().value, mu, 1e-9);
    close(analysis.knee.unwrap().knee, mu, 0.001);
    let shares: Vec<String> = analysis
        .group(Group::Load)
        .filter(|cell| cell.cell.series.is_some())
        .map(|cell| cell.cell.label.clone())
        .collect();
    assert_eq!(shares, ["50 % of the knee", "80 % of the knee", "95 % of the knee"]);
    for carried in &analysis.classes {
        let bit_s = class::by_name(&carried.class).unwrap().bit_s;
        let most = f64::from(carried.most.unwrap());
        let want = 0.8 * LINE / bit_s;
        assert!(most <= want && most >= want * 0.94 - 1.0, "{} of {want}", carried.most.unwrap());
    }
    assert_eq!(
        (analysis.findings.capacities.len(), analysis.findings.responsiveness.len()),
        (3, 3)
    );
    // 20 ms there and back: 3000 a minute.
    close(analysis.findings.responsiveness[0].figures.rpm, 3000.0, 1e-6);
}

/// "95 % of the knee" is so much of the knee that stands beside it.
#[test]
fn the_knee_of_a_sheet_is_the_one_that_its_loads_are_shares_of() {
    let mut noise = ChaCha12Rng::seed_from_u64(5);
    let plan = voice_in(3);
    let journal = journal_over(plan, &mut || LINE * (1.0 + noise.random_range(-0.02..0.02)));
    let analysis = analyse(&journal);
    let (mu, knee) = (analysis.mu.unwrap().value, analysis.knee.unwrap().knee);
    let around: Vec<&Cell> = analysis
        .group(Group::Load)
        .map(|load| &load.cell)
        .filter(|cell| cell.series.is_some())
        .collect();
    assert_eq!(around.len(), sheet::KNEE_SHARES.len());
    for (cell, share) in around.iter().zip(sheet::KNEE_SHARES) {
        close(cell.x * mu, share * knee, 1e-9);
    }
    let line = analysis.sheet.iter().find(|line| line.figure == "knee_bit_s").unwrap();
    assert!(around.iter().all(|cell| !line.cells.contains(&cell.id)) && line.cells.len() == 6);
}

fn voice_in(passes: u32) -> Plan {
    let course = Course { name: QOS.into(), time_ns: Nanos::from_secs(1), ..Course::default() };
    let course = Course { classes: vec!["voice".into()], ..course };
    Plan { passes, course: Some(course), ..Plan::new(Study::Qos, Vec::new(), 7) }
}

/// After Ctrl-C in the first pass of so many sessions nobody knows whether the path carries them: the sheet says
/// neither a number nor how long a number waits that is none.
#[test]
fn sessions_are_carried_when_every_pass_of_them_was_made() {
    let whole = journal(voice_in(3));
    let first = whole.plan.cells.iter().find(|cell| cell.group == Group::Class).unwrap();
    let of_voice = |runs: usize| {
        let own = |line: &Line| line.run().is_some_and(|run| run.cell == first.id);
        let places: Vec<usize> =
            (0..whole.lines.len()).filter(|at| own(&whole.lines[*at])).collect();
        let lines = whole.lines[..=places[runs - 1]].to_vec();
        let analysis = analyse(&Journal { lines, ..whole.clone() });
        let voice = |line: &SheetLine| line.of == Of::Class("voice".into());
        let lines: Vec<SheetLine> = analysis.sheet.iter().filter(|l| voice(l)).cloned().collect();
        let delays = lines.iter().filter(|line| line.figure.starts_with("delay_p"));
        let is_known = delays.filter(|line| line.value.is_some()).count() > 0;
        (analysis.classes[0].most, lines[0].value, lines[0].at_least, is_known)
    };
    for runs in [1, 2] {
        assert_eq!(of_voice(runs), (None, None, false, false), "{runs}");
    }
    let sessions = Some(first.sessions);
    assert_eq!(of_voice(3), (sessions, sessions.map(f64::from), true, true));
}

/// T14: two sheets of one line agree within their intervals; of a line that is a fifth slower each rate
/// says so, and no class has more sessions. Runs differ by 1 % from one to the next.
#[test]
fn t14_two_sheets_of_a_line_agree_and_a_slower_line_is_named_by_every_rate() {
    let sheet = |line: f64, seed: u64| {
        let classes = vec!["voice".into(), "teleconf".into(), "rpc".into()];
        let time_ns = Nanos::from_secs(1);
        let course = Course { name: QOS.into(), time_ns, classes, ..Course::default() };
        let plan =
            Plan { passes: 5, course: Some(course), ..Plan::new(Study::Qos, Vec::new(), seed) };
        let mut noise = ChaCha12Rng::seed_from_u64(seed);
        analyse(&journal_over(plan, &mut || line * (1.0 + noise.random_range(-0.01..0.01))))
    };
    let rates = |analysis: &Analysis| -> Vec<Interval> {
        let rate = |line: &&SheetLine| line.of == Of::Path && line.figure.ends_with("_bit_s");
        analysis.sheet.iter().filter(rate).map(|line| line.interval.unwrap()).collect()
    };
    let (mut apart, mut lines) = (0, 0);
    for seed in 0..20 {
        let (one, two, slow) =
            (sheet(LINE, 2 * seed), sheet(LINE, 2 * seed + 1), sheet(0.8 * LINE, seed));
        for (a, b) in one.sheet.iter().zip(&two.sheet) {
            assert_eq!((&a.of, a.figure), (&b.of, b.figure));
            assert!(!a.cells.is_empty() && a.missing == b.missing, "{a:?}");
            if a.missing.is_some() {
                // A line of arithmetic has no bytes that wait, no curves, and no blocks that nobody read.
                let of_bytes = ["window_delay_s", "idle_delay_s", "doubled_at_rho"];
                let untold = [&of_bytes[..], &["delay_p99_at_least_s", "overload_of_"]].concat();
                assert!(untold.iter().any(|name| a.figure.starts_with(name)), "{a:?}");
                continue;
            }
            assert!(a.passes > 0, "{a:?}");
            let open = a.figure == "sessions" && a.at_least;
            assert!(open || a.interval.is_some(), "{a:?}");
            let inside = |(of, value): (Interval, f64)| {
                of.low <= value * (1.0 + 1e-9) && value <= of.high * (1.0 + 1e-9)
            };
            assert!(a.interval.zip(a.value).is_none_or(inside), "{a:?}");
            let Some((a, b)) = a.interval.zip(b.interval) else { continue };
            apart += usize::from(a.low > b.high || b.low > a.high);
            lines += 1;
        }
        assert_eq!(rates(&one).len(), 3, "mu, knee and capacity");
        for ((a, b), c) in rates(&one).into_iter().zip(rates(&two)).zip(rates(&slow)) {
            assert!(c.high < a.low && c.high < b.low, "{c:?} is a fifth below {a:?}");
        }
        for (fast, slow) in one.classes.iter().zip(&slow.classes) {
            assert!(slow.most < fast.most, "{}: {:?} of {:?}", fast.class, slow.most, fast.most);
        }
    }
    // Two 95 % intervals of one value miss each other far less often than in one case of twenty.
    assert!(lines > 20 * 40 && apart * 10 <= lines, "{apart} of {lines} intervals do not overlap");
}

/// What a sheet says of a load around the knee is the mean of its passes, as far as the clocks of two hosts say it.
#[test]
fn the_lines_of_a_sheet_have_their_cells_and_hide_what_two_clocks_hide() {
    let course = Course { name: QOS.into(), time_ns: Nanos::from_secs(1), ..Course::default() };
    let course = Course { classes: vec!["voice".into()], ..course };
    let plan = Plan { passes: 3, course: Some(course), ..Plan::new(Study::Qos, Vec::new(), 7) };
    let mut journal = journal(plan);
    let of = |journal: &Journal, load: &str, figure: &str| {
        let sheet = analyse(journal).sheet;
        sheet.into_iter().find(|one| one.of.name() == load && one.figure == figure).unwrap()
    };
    // W = 1 ms / (1 - rho), its p99 three times that, alike in all passes.
    let found = of(&journal, "50 % of the knee", "delay_p99_s");
    close(found.value.unwrap(), 0.006, 0.01);
    assert!(found.interval.unwrap().contains(found.value.unwrap()), "{found:?}");
    let label = |id: u32| journal.plan.cell(id).unwrap().label.clone();
    assert_eq!(
        (found.passes, found.cells.iter().map(|id| label(*id)).collect::<Vec<_>>()),
        (3, vec!["50 % of the knee".to_owned()])
    );
    assert_eq!(of(&journal, "path", "rpm").passes, 3);
    close(of(&journal, "path", "stream_rpm").value.unwrap(), 60.0 / 0.025, 1e-9);
    let sessions = of(&journal, "voice", "sessions");
    assert!(sessions.cells.len() > 1, "{sessions:?}");
    assert_eq!(Some(sessions.interval.unwrap().low), sessions.value);
    for line in &mut journal.lines {
        let Line::TrafficRun(run) = line else { continue };
        for flow in run.clusters.iter_mut().flat_map(|cluster| &mut cluster.flows) {
            flow.clocks = Some(Agreement::Within(Nanos::from_millis(10)));
        }
    }
    let hidden = of(&journal, "50 % of the knee", "delay_p99_s");
    assert_eq!((hidden.value, hidden.interval, hidden.bound_s), (None, None, Some(0.01)));
    let known = of(&journal, "95 % of the knee", "delay_p99_s");
    close(known.value.unwrap(), 0.06, 0.02);
}

/// A class that bears more than usual has more sessions, and the plan says why.
#[test]
fn sessions_are_judged_by_the_limits_that_were_set() {
    let most = |limits: &[&str]| {
        let mut course =
            Course { name: QOS.into(), classes: vec!["voice".into()], ..Course::default() };
        course.time_ns = Nanos::from_secs(1);
        for limit in limits {
            course.limits.set(limit).unwrap();
        }
        let plan = Plan { passes: 1, course: Some(course), ..Plan::new(Study::Qos, Vec::new(), 7) };
        assert_eq!(Plan::stored("plan.toml", &plan.to_toml()), Ok(plan.clone()));
        let carried = analyse(&journal(plan)).classes.remove(0);
        (carried.most.unwrap_or(0), carried.limits.delay_p99_s)
    };
    // From 0.8 of the line on everything waits for 10 s, of which 9.991 are its variation.
    let (usual, bears) = most(&[]);
    assert!(bears == Some(0.15) && (110..=116).contains(&usual), "{usual}");
    assert_eq!(most(&["voice.delay=11s", "voice.pdv=none"]), (1024, Some(11.0)));
    assert_eq!(most(&["voice.delay=none", "voice.pdv=11s"]), (1024, None));
    let (strict, _) = most(&["voice.delay=5ms"]);
    assert_eq!(strict, 0, "nothing comes within 5 ms");
}

/// However fast a line is, loads on both sides of its knee are measured, and close to it.
#[test]
fn a_sweep_finds_the_knee_of_any_line() {
    for line in [64e3, 1.8e6, 10e6, 1e9, 20e9] {
        let course =
            Course { name: KNEE.into(), time_ns: Nanos::from_secs(2), ..Course::default() };
        let plan =
            Plan { passes: 3, course: Some(course), ..Plan::new(Study::Sweep, Vec::new(), 7) };
        // From one run to the next a line differs a little.
        let mut noise = ChaCha12Rng::seed_from_u64(3);
        let journal = journal_over(plan, &mut || line * (1.0 + noise.random_range(-0.002..0.002)));
        let (mu, analysis) = (line * 1448.0 / 1538.0, analyse(&journal));
        close(analysis.knee.unwrap().knee, mu, 0.01);
        assert!(analysis.knee.unwrap().interval.is_some(), "{line}");
        let loads: Vec<f64> =
            analysis.group(Group::Period).map(|cell| cell.arrival.unwrap().value / mu).collect();
        let beside = |near: f64| loads.iter().any(|load| (load - near).abs() < 0.05);
        assert!(beside(0.97) && beside(1.03) && loads.len() <= 16, "{line}: {loads:?}");
        assert!(journal.plan.cells.iter().all(|cell| cell.x > 0.2), "{line}: periods can be kept");
        let runs = journal.runs().count();
        assert_eq!(runs, 3 * journal.plan.cells.len(), "every cell as often as there are passes");
    }
}

/// One stream that got nothing says nothing of the path: the report goes by the mu that the course went by.
#[test]
fn a_stream_that_got_nothing_is_no_part_of_mu() {
    let course = Course { name: QOS.into(), time_ns: Nanos::from_secs(1), ..Course::default() };
    let course = Course { classes: vec!["voice".into()], ..course };
    let plan = Plan { passes: 3, course: Some(course), ..Plan::new(Study::Qos, Vec::new(), 7) };
    let mut first = [0.0].into_iter();
    let journal = journal_over(plan, &mut || first.next().unwrap_or(LINE));
    let streams = journal.plan.cells.iter().filter(|cell| cell.group == Group::Capacity);
    let streams: Vec<u32> = streams.map(|cell| cell.id).collect();
    assert_eq!(journal.runs().filter(|run| streams.contains(&run.cell)).count(), 4);
    let mu = analyse(&journal).mu.unwrap();
    close(mu.value, LINE * 1448.0 / 1538.0, 1e-9);
    assert!(mu.passes == 3 && mu.interval.is_some(), "{mu:?}");
}
