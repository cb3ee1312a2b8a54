//! What standard methods find of the line.

use super::*;
use crate::traffic::Vocabulary;
use crate::traffic::read_toml;
use crate::traffic::trace::float;

#[test]
fn t13_rfc_2544_finds_the_rate_of_a_line_for_every_frame_size() {
    let findings = Findings::of(&journal(plan("rfc2544", Study::Method)));
    assert_eq!(
        findings.frames.iter().map(|one| one.frame_bytes).collect::<Vec<_>>(),
        [64, 512, 1518]
    );
    for one in &findings.frames {
        close(one.wire_bit_s(one.throughput_fps.unwrap()), LINE, 0.01);
        assert!(one.lossy_fps.unwrap() > one.throughput_fps.unwrap() && one.trials < 12);
        // From half above the line: 1 - 10 / 15, then 1 - 10 / 13.5 ..., at last two without loss.
        let (load, lost) = one.losses[0];
        close(one.wire_bit_s(load), 1.5 * LINE, 1e-6);
        close(lost, 1.0 / 3.0, 0.01);
        let clean: Vec<f64> = one.losses.iter().rev().take(2).map(|(_, lost)| *lost).collect();
        assert_eq!(clean, [0.0, 0.0], "{:?}", one.losses);
    }
}

/// Two goals by one search: nothing lost, and half a percent.
#[test]
fn t13_a_search_for_several_goals_finds_the_bounds_of_each() {
    let findings = Findings::of(&journal(plan("mlrsearch", Study::Method)));
    assert_eq!(findings.frames.len(), 3);
    for one in &findings.frames {
        let [ndr, pdr] = one.goals[..] else { panic!("{:?}", one.goals) };
        assert!(ndr.loss <= 0.0 && (pdr.loss - 0.005).abs() < 1e-12, "{:?}", one.goals);
        for (goal, rate) in [(ndr, LINE), (pdr, LINE / 0.995)] {
            let (lower, upper) = (goal.lower_fps.unwrap(), goal.upper_fps.unwrap());
            let [lower, upper] = [lower, upper].map(|fps| one.wire_bit_s(fps));
            assert!(lower <= rate * 1.000_001 && upper >= rate, "{lower} {rate} {upper}");
            assert!(upper / lower < 1.0051, "{lower} {upper}");
        }
        assert_eq!((one.throughput_fps, one.lossy_fps), (ndr.lower_fps, ndr.upper_fps));
    }
}

/// One trial in ten loses something whatever the load: the majority decides, where a search without repeats is led astray.
#[test]
fn trials_of_a_load_are_outvoted_by_the_others() {
    let found = |name: &str| {
        let mut chance = ChaCha12Rng::seed_from_u64(5);
        let course = Course { frames: vec![512], ..method::find(name).unwrap().standard() };
        let plan = Plan { course: Some(course), ..Plan::new(Study::Method, Vec::new(), 1) };
        let mut line = || if chance.random_bool(0.1) { 0.5 * LINE } else { LINE };
        let found = Findings::of(&journal_over(plan, &mut line)).frames.remove(0);
        (found.wire_bit_s(found.throughput_fps.unwrap_or(0.0)), found.trials)
    };
    let (rate, trials) = found("mlrsearch");
    close(rate, LINE, 0.006);
    assert!((100..840).contains(&trials), "{trials}");
}

/// A latency between two hosts is none of their path below what their clocks are known to agree to.
#[test]
fn a_latency_that_two_clocks_hide_is_not_said() {
    let mut journal = journal(plan("rfc2544", Study::Method));
    let latency = |journal: &Journal| {
        let found = Findings::of(journal).frames.remove(0);
        (found.latency_p50_s, found.latency_p99_s, found.latency_bound_s)
    };
    assert_eq!(latency(&journal), (Some(0.002), Some(0.005), None));
    let cells: Vec<u32> = journal
        .lines
        .iter()
        .filter_map(Line::cell)
        .filter(|cell| cell.group == Group::Latency)
        .map(|cell| cell.id)
        .collect();
    for line in &mut journal.lines {
        if let Line::TrafficRun(run) = line
            && cells.contains(&run.cell)
        {
            run.clusters[0].flows[0].clocks = Some(Agreement::Within(Nanos::from_millis(3)));
        }
    }
    assert_eq!(latency(&journal), (None, Some(0.005), Some(0.003)));
}

#[test]
fn t13_rfc_9004_finds_the_queue_and_corrects_it_for_what_left_meanwhile() {
    let findings = Findings::of(&journal(plan("rfc9004", Study::Method)));
    for one in &findings.frames {
        let burst = one.burst.unwrap();
        assert_eq!((burst.searches, burst.open_end), (3, false));
        close(burst.frames, QUEUE_FRAMES, 1e-9);
        // A tenth of a burst left while it came.
        close(burst.buffer_frames.unwrap(), QUEUE_FRAMES * 0.9, 0.01);
    }
}

/// Whatever made too little of what came first: the search goes on above it, and so does the series of losses.
#[test]
fn a_search_that_begins_too_low_ends_at_the_rate_of_the_line() {
    for share in [0.6, 0.1, 0.01] {
        let course = Course { frames: vec![512], ..method::find("rfc2544").unwrap().short() };
        let plan = Plan { course: Some(course), ..Plan::new(Study::Method, Vec::new(), 1) };
        let mut first = [share * LINE].into_iter();
        let journal = journal_over(plan, &mut || first.next().unwrap_or(LINE));
        let found = Findings::of(&journal).frames.remove(0);
        close(found.wire_bit_s(found.throughput_fps.unwrap()), LINE, 0.01);
        assert!(found.lossy_fps.is_some() && found.trials < 20, "{} trials", found.trials);
        close(found.losses[0].1, 1.0 / 3.0, 0.02);
    }
}

/// One trial of the first upper end loses something: the others have it raised all the same.
#[test]
fn a_search_by_majority_that_begins_too_low_is_not_held_up_by_one_trial() {
    let course = Course { frames: vec![512], ..method::find("mlrsearch").unwrap().standard() };
    let plan = Plan { course: Some(course), ..Plan::new(Study::Method, Vec::new(), 1) };
    let ceiling = 0.1 * LINE;
    let mut is_disturbed = false;
    let journal = journal_of(plan, &mut |next| {
        let is_end = next.cell.group == Group::Throughput && next.cell.x >= 1.2 * ceiling;
        let disturbs = is_end && !is_disturbed;
        is_disturbed |= is_end;
        let is_low = disturbs || next.cell.group == Group::Ceiling;
        run(next, if is_low { ceiling } else { LINE })
    });
    assert!(is_disturbed);
    let found = Findings::of(&journal).frames.remove(0);
    for (goal, rate) in found.goals.iter().zip([LINE, LINE / 0.995]) {
        close(found.wire_bit_s(goal.lower_fps.unwrap()), rate, 0.0051);
        close(found.wire_bit_s(goal.upper_fps.unwrap()), rate, 0.0051);
    }
}

/// What left while a burst came is not known where no load came whole: neither is the buffer.
#[test]
fn without_a_throughput_there_is_no_buffer() {
    let course = Course { frames: vec![512], ..method::find("rfc9004").unwrap().short() };
    let plan = Plan { course: Some(course), ..Plan::new(Study::Method, Vec::new(), 1) };
    let mut lines = [LINE].into_iter();
    let journal = journal_over(plan, &mut || lines.next().unwrap_or(1.0));
    let found = Findings::of(&journal).frames.remove(0);
    let burst = found.burst.unwrap();
    assert_eq!((found.throughput_fps, burst.buffer_frames, burst.buffer_s), (None, None, None));
    close(burst.frames, QUEUE_FRAMES, 1e-9);
}

/// 60 s of a gigabit of 64 B have 89 million frames: a trial has 3.5 of them, and the report says so. At 10 Mb/s
/// nothing is cut.
#[test]
fn trials_that_were_cut_are_deviations() {
    let said = |line: f64| {
        let course =
            Course { frames: vec![64, 1518], ..method::find("rfc2544").unwrap().standard() };
        let plan = Plan { course: Some(course.clone()), ..Plan::new(Study::Method, Vec::new(), 1) };
        let all = Findings::of(&journal_over(plan, &mut || line)).deviations(&course);
        all[method::find("rfc2544").unwrap().differs.len()..].to_vec()
    };
    let left = "without frames of 128, 256, 512, 1024, 1280 B";
    assert_eq!(said(LINE), [left]);
    let cut = "trials of 3500000 frames at the most: down to 1.57 s with 64 B, 28.71 s with 1518 B instead of 60 s";
    assert_eq!(said(1e9), [left, cut]);
}

/// Frames of IPv6 are longer than they are called: whoever reads the method has to know.
#[test]
fn frames_over_ipv6_are_a_deviation() {
    let course = method::find("rfc2544").unwrap().short();
    let mut journal = journal(plan("rfc2544", Study::Method));
    let said = |journal: &Journal| Findings::of(journal).deviations(&course).join("; ");
    assert!(!said(&journal).contains("IPv6"));
    let run = journal.lines.iter_mut().find_map(|line| match line {
        Line::TrafficRun(run) => Some(run),
        Line::TrafficCell(_) => None,
    });
    run.unwrap().flags.push(Flag::new(findings::LONGER_FRAMES, findings::OF_IPV6));
    assert!(said(&journal).contains("over IPv6 each frame is 20 B longer"), "{}", said(&journal));
}

#[test]
fn t13_rfc_6349_knows_the_ideal_from_what_was_measured_before() {
    let found = Findings::of(&journal(plan("rfc6349", Study::Method))).transfers;
    assert_eq!(found.iter().map(|one| one.share).collect::<Vec<_>>(), [0.35, 0.5, 0.75, 1.0, 2.0]);
    for one in &found {
        close(one.ideal_bit_s, LINE * 1448.0 / 1538.0, 0.01);
        close(one.figures.efficiency_percent, 99.0, 1e-9);
        close(one.figures.buffer_delay_percent.unwrap(), 25.0, 1e-6);
    }
}

/// No window is below 8 KiB: shares below it are one window, which is told as the share that it is, of the product that
/// stands beside it.
#[test]
fn t13_rfc_6349_measures_a_window_once_and_tells_its_real_share() {
    for (line, shares) in [(LINE, 5), (LINE / 1.6, 4), (LINE / 100.0, 1)] {
        let journal = journal_of(plan("rfc6349", Study::Method), &mut |next| run(next, line));
        let found = Findings::of(&journal).transfers;
        assert_eq!(found.len(), shares, "{found:?}");
        for one in &found {
            let (window, told) =
                one.label.trim_start_matches("window ").split_once(" B, ").unwrap();
            assert_eq!(told, format!("{} of the product", one.share));
            close(float(one.figures.bdp.count()) * one.share, window.parse().unwrap(), 0.005);
        }
    }
}

/// Between two hosts nobody samples where the queue stands: what a window carries is known all the same.
#[test]
fn t13_rfc_6349_without_samples_of_the_round_trip_lacks_the_buffer_delay_alone() {
    let mut journal = journal(plan("rfc6349", Study::Method));
    let here = Findings::of(&journal).transfers;
    for line in &mut journal.lines {
        if let Line::TrafficRun(run) = line {
            run.clusters.iter_mut().for_each(|cluster| cluster.flows[0].places = None);
        }
    }
    let apart = Findings::of(&journal).transfers;
    assert_eq!((here.len(), apart.len()), (5, 5));
    for (here, apart) in here.iter().zip(&apart) {
        let want = TransferFigures { buffer_delay_percent: None, ..here.figures };
        assert_eq!(apart.figures, want);
    }
}

/// A journal of RFC 6349 whose probes of the path MTU came or not.
fn over_path(probes: &[(u64, bool)], over_ipv6: bool) -> Journal {
    journal_of(plan("rfc6349", Study::Method), &mut |next| {
        let mut made = run(next, LINE);
        if let Some(ProbeSample::PathMtu(sample)) = &mut made.probe {
            (sample.probes, sample.over_ipv6) = (probed_sizes(probes), over_ipv6);
            sample.unavailable = probes.is_empty().then(|| "nobody answers there".to_owned());
        }
        made
    })
}

/// Probes of these sizes, each of which was answered or not.
fn probed_sizes(probes: &[(u64, bool)]) -> Vec<PathMtuProbe> {
    let probe = |(size, comes): &(u64, bool)| PathMtuProbe {
        size_bytes: Bytes::new(*size),
        answered_ns: comes.then_some(RTT),
        ..PathMtuProbe::default()
    };
    probes.iter().map(probe).collect()
}

/// Frames that find the bandwidth are as large as the path carries them, and segments fit into its packets where its
/// device would send larger ones.
#[test]
fn t13_rfc_6349_measures_with_packets_that_the_path_carries_whole() {
    let tunnel = [(1200, true), (1400, true), (1401, false), (1401, false), (1401, false)];
    let waited = "waited for 0.1 s beside four round trips instead of 1 s (RFC 8899)";
    let (nobody_there, nobody) =
        ("is not known: nobody answers there", "is not known: no probe was answered");
    for (probes, over_ipv6, frame, segment, mtu, told) in [
        (&tunnel[..], false, 1418, Some(1360), Some(1400), waited),
        (&tunnel[..], true, 1398, Some(1340), Some(1400), waited),
        (&[(1200, true), (1500, true)][..], false, 1518, None, Some(1500), waited),
        (&[][..], false, 1518, None, None, nobody_there),
        (&[(1200, false), (68, false)][..], false, 1518, None, None, nobody),
    ] {
        let journal = over_path(probes, over_ipv6);
        let of = |group| journal.plan.cells.iter().filter(move |cell| cell.group == group);
        let series = format!("{frame} B");
        assert!(of(Group::Throughput).count() > 1);
        assert!(
            of(Group::Throughput).all(|cell| cell.series.as_ref() == Some(&series)),
            "{series}"
        );
        let said = segment.map(|segment| format!(", mss={segment} B)"));
        let is_so = |cell: &Cell| match &said {
            Some(said) => cell.scenario.contains(said),
            None => !cell.scenario.contains("mss="),
        };
        assert!(of(Group::Transfer).count() == 5 && of(Group::Transfer).all(is_so), "{said:?}");
        let findings = Findings::of(&journal);
        assert_eq!(findings.path_mtu.as_ref().unwrap().path_mtu, mtu.map(Bytes::new));
        // The segments of these connections have 1448 bytes, whatever was asked for.
        for one in &findings.transfers {
            close(one.ideal_bit_s, LINE * 1448.0 / f64::from(frame + 20), 0.01);
        }
        assert_eq!(findings.transfers.len(), 5);
        let course = journal.plan.course.as_ref().unwrap();
        let deviations = findings.deviations(course).join("; ");
        assert!(deviations.contains(told), "{deviations}");
    }
}

/// The largest packet of a path may be smaller, and larger, than what any socket takes for a segment, and its product of
/// bandwidth and delay more than a window may be.
#[test]
fn rfc_6349_asks_no_socket_for_what_none_has() {
    for (mtu, line, wanted) in
        [(128, LINE, "mss=88 B"), (40_000, 1e13, "window=536870912 B, mss=32767 B")]
    {
        let journal = over_mtu(mtu, line);
        let transfers = journal.plan.cells.iter().filter(|cell| cell.group == Group::Transfer);
        let scenarios: Vec<&str> = transfers.map(|cell| cell.scenario.as_str()).collect();
        assert!(scenarios.iter().any(|text| text.contains(wanted)), "{scenarios:?}");
        let words = Vocabulary { files: &|_| Err("no files".to_owned()) };
        for text in scenarios {
            assert_eq!(read_toml("transfer", text, &words).map(|_| ()), Ok(()), "{text}");
        }
    }
}

/// No connection can be told to send what fits: it would wait for what never comes.
#[test]
fn rfc_6349_makes_no_transfer_where_no_segment_fits_and_says_so_with_the_bound() {
    for (mtu, transfers) in [(68, 0), (127, 0), (128, 4)] {
        let journal = over_mtu(mtu, LINE);
        let of = |group| journal.plan.cells.iter().filter(|cell| cell.group == group).count();
        assert!(of(Group::Throughput) > 1, "frames of the path are measured all the same");
        assert_eq!(of(Group::Transfer), transfers, "{mtu}");
        let course = journal.plan.course.as_ref().unwrap();
        let told = Findings::of(&journal).deviations(course).join("; ");
        let why = format!(
            "no transfers: the path carries packets of {mtu} B, and Linux has TCP segments of at least 88 B \
             (TCP_MAXSEG), in packets of 128 B"
        );
        assert_eq!(told.contains(&why), transfers == 0, "{told}");
    }
}

/// A journal of RFC 6349 over a path of this MTU, whose device sends all that there is.
fn over_mtu(mtu: u64, line: f64) -> Journal {
    let probes = [(mtu, true), (mtu + 1, false), (mtu + 1, false), (mtu + 1, false)];
    journal_of(plan("rfc6349", Study::Method), &mut |next| {
        let mut made = run(next, line);
        if let Some(ProbeSample::PathMtu(sample)) = &mut made.probe {
            sample.device_mtu_bytes = Bytes::new(65_535);
            sample.probes = probed_sizes(&probes);
        }
        made
    })
}

/// The text has load adjustment B: another one is told.
#[test]
fn a_load_adjustment_that_was_chosen_is_a_deviation_and_stands_with_what_it_found() {
    let of = |adjustment| {
        let course = method::find("rfc9097").unwrap().standard();
        let course = Course { adjustment, ..course };
        let plan = Plan { course: Some(course.clone()), ..Plan::new(Study::Method, Vec::new(), 1) };
        assert_eq!(Plan::stored("plan.toml", &plan.to_toml()), Ok(plan.clone()));
        let findings = Findings::of(&journal(plan));
        (findings.capacities[0].figures.adjustment, findings.deviations(&course).join("; "))
    };
    let (b, said_of_b) = of(Adjustment::B);
    let (c, said_of_c) = of(Adjustment::C);
    assert_eq!((b, c), (Adjustment::B, Adjustment::C));
    assert!(!said_of_b.contains("load adjustment"), "{said_of_b}");
    assert!(said_of_c.contains("load adjustment of type C"), "{said_of_c}");
}

#[test]
fn every_method_ends_and_finds_something() {
    for method in METHODS {
        let findings = Findings::of(&journal(plan(method.name, Study::Method)));
        assert!(!findings.is_empty(), "{}", method.name);
        // What is never done as the text asks is said of every course, a short one says more.
        let (whole, short) =
            [method.standard(), method.short()].map(|c| method.deviations(&c)).into();
        assert!(!whole.is_empty() && whole == method.differs, "{}: {whole:?}", method.name);
        assert!(
            short.starts_with(&whole) && short.len() > whole.len(),
            "{}: {short:?}",
            method.name
        );
    }
}
