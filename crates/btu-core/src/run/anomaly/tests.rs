//! Each rule on samples that have its sign, and on those that just miss it.

mod chance;
mod outlier;

use super::*;
use crate::journal::Journal;
use crate::run::analysis::Analysis;
use crate::run::analysis::analyse;
use crate::run::analysis::synthetic::alone;
use crate::run::analysis::synthetic::direction;
use crate::run::analysis::synthetic::journal;
use crate::run::analysis::synthetic::plan;
use crate::run::analysis::synthetic::run;
use crate::run::cell::ActivityName;
use crate::run::cell::Case;
use crate::run::plan::Choices;
use crate::run::plan::Plan;
use crate::run::plan::TestbedClass;
use crate::run::plan::Vocabulary;
use crate::sample::CellSample;
use crate::sample::CommSample;
use crate::sample::CounterDelta;
use crate::sample::DirectionSample;
use crate::sample::Hold;
use crate::sample::Quantiles;
use crate::sample::SessionUse;
use crate::units::Bytes;
use crate::units::Nanos;

const CELL: &str = "SEND/telnet/none";

/// The sentence of this flag, of the run or cell that has it first.
fn said(analysis: &Analysis, name: &str) -> Option<String> {
    let mut flags = analysis.cells.iter().flat_map(|cell| &cell.flags);
    flags.find(|flag| flag.name == name).map(|flag| flag.detail.clone())
}

/// One run of `CELL` as `change` leaves it, analysed.
fn after(change: impl Fn(&mut CellSample)) -> Analysis {
    let mut journal = journal(plan(1));
    let mut sample = run(&journal.plan, CELL, 1, 10, 0.0);
    change(&mut sample);
    journal.records.push(sample.into());
    analyse(&journal)
}

/// `CELL` in as many passes as there are goodputs.
fn repeats(goodputs: &[u64]) -> Journal {
    let mut journal = journal(plan(1));
    for (pass, mbps) in (1..).zip(goodputs) {
        journal.records.push(run(&journal.plan, CELL, pass, *mbps, 0.0).into());
    }
    journal
}

/// All five applications in these cases, with `cpu`.
fn five_applications(cases: &[Case]) -> Journal {
    let choices = Choices { seed: Some(7), ..Choices::default() };
    let words = Vocabulary { activities: &["cpu", "ftp", "io"] };
    let full = Plan::resolve(&choices, &words, 7).unwrap();
    let activities = vec![ActivityName::new("cpu")];
    let cases = cases.to_vec();
    journal(Plan { cases, activities, applications: full.applications, ..plan(1) })
}

const NAMES: [&str; 5] = ["telnet", "ftp", "audio", "netscape", "video"];

#[track_caller]
fn assert_said(analysis: &Analysis, name: &str, part: &str) {
    let found = said(analysis, name);
    assert!(found.as_ref().is_some_and(|found| found.contains(part)), "{found:?} misses {part}");
}

#[test]
fn every_rule_has_a_name_of_its_own_and_says_its_limits() {
    let mut names: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), RULES.len());
    let kebab = |c: char| c.is_ascii_lowercase() || c == '-';
    assert!(RULES.iter().all(|rule| rule.name.chars().all(kebab) && rule.about.len() > 20));
    assert!(is_abnormal(&Flag::new("dip", "")) && !is_abnormal(&Flag::new("steal", "")));
}

#[test]
fn a_calm_run_has_no_flag() {
    let found = after(|_| ());
    assert!(found.cells[0].flags.is_empty(), "{:?}", found.cells[0].flags);
}

/// The paper's figure: audio at 1250 bytes below ftp at 1024, everything else rising.
#[test]
fn the_1250_byte_dip_is_found_and_a_plateau_is_not() {
    let dip_in = |passes: u32, audio: u64| {
        let mut journal = five_applications(&[Case::Send]);
        for (name, mbps) in NAMES.into_iter().zip([10, 80, audio, 100, 200]) {
            let name = format!("SEND/{name}/none");
            let of = |pass| run(&journal.plan, &name, pass, mbps, 0.0).into();
            let runs: Vec<_> = (1..=passes).map(of).collect();
            journal.records.extend(runs);
        }
        analyse(&journal)
    };
    let dip = |audio| dip_in(3, audio);
    assert_eq!(said(&dip_in(2, 40), "dip"), None, "two passes say little");
    let found = dip(40);
    let flagged: Vec<String> = found
        .cells
        .iter()
        .filter(|cell| cell.flags.iter().any(|flag| flag.name == "dip"))
        .map(|cell| cell.cell.id())
        .collect();
    assert_eq!(flagged, ["SEND/audio/none"]);
    assert_said(
        &found,
        "dip",
        "audio messages of 1250B carry 40.000 Mb/s, 50 % < 70 % of the 80.000",
    );
    assert_eq!(said(&dip(57), "dip"), None);
}

#[test]
fn five_repeats_at_two_levels_are_two_groups_and_a_steady_row_is_not() {
    let found = analyse(&repeats(&[100, 202, 101, 200, 99]));
    assert_said(&found, "two-groups", "3 slow and 2 fast repeats, 2.01 times apart");
    assert_eq!(said(&analyse(&repeats(&[100, 103, 101, 104, 99])), "two-groups"), None);
    assert_eq!(said(&analyse(&repeats(&[100, 202, 101, 200])), "two-groups"), None, "too few");
}

/// From six repeats on one alone has a large bimodality coefficient; it is an outlier.
#[test]
fn one_slow_repeat_of_many_is_an_outlier_and_no_group() {
    let found = analyse(&repeats(&[100, 102, 101, 50, 99, 103, 100, 98]));
    assert_eq!(said(&found, "two-groups"), None);
    let outlier = |flag: &&Flag| flag.name == "outlier";
    assert_eq!(found.runs.iter().flat_map(|run| &run.flags).filter(outlier).count(), 1);
    let found = analyse(&repeats(&[100, 110, 90, 50, 99, 120, 105, 85, 100, 46]));
    assert_said(&found, "two-groups", "of 10 repeats");
}

#[test]
fn short_windows_are_not_judged_by_their_spread() {
    let mut journal = repeats(&[100, 202, 101, 200, 99]);
    for record in &mut journal.records {
        if let crate::journal::Record::Cell(sample) = record {
            sample.comm.as_mut().unwrap().elapsed_ns = Nanos::from_millis(120);
        }
    }
    let found = analyse(&journal);
    for rule in ["two-groups", "spread", "noisy"] {
        assert_eq!(said(&found, rule), None, "{rule}");
    }
}

/// Median 100, deviations 40 20 0 20 40: MAD 20, robust CV 29.7 %, above 15 %.
#[test]
fn a_wide_row_spreads_unless_its_siblings_do() {
    let wide = [60, 80, 100, 120, 140];
    assert_said(&analyse(&repeats(&wide)), "spread", "5 repeats spread 30 % > 15 % (robust CV)");
    let mut all = repeats(&wide);
    for (pass, mbps) in (1..).zip([68, 84, 100, 116, 132]) {
        all.records.push(run(&all.plan, "RECV/telnet/none", pass, mbps, 0.0).into());
    }
    assert_eq!(said(&analyse(&all), "spread"), None);
}

#[test]
fn a_pause_beyond_200_ms_and_4_round_trips_is_a_stall() {
    let paused = |pause: u64, rtt_ms: u64| {
        let mut journal = repeats(&[100, 100, 100, 100]);
        let mut last = run(&journal.plan, CELL, 5, 100, 0.0);
        let one = &mut last.comm.as_mut().unwrap().connections[0];
        one.longest_pause_ns = Some(Nanos::from_millis(pause));
        one.sender.tcp_info.as_mut().unwrap().rtt_us = Some(rtt_ms * 1000);
        journal.records.push(last.into());
        analyse(&journal)
    };
    assert_said(&paused(230, 10), "stall", "nothing arrived for 230 ms > 200 ms (peer active)");
    assert_eq!(said(&paused(200, 10), "stall"), None);
    assert_eq!(said(&paused(230, 60), "stall"), None);
}

/// Nothing arrives at a program that somebody stopped.
#[test]
fn a_stall_of_a_program_that_stood_still_is_told_as_that() {
    let mut journal = repeats(&[100, 100, 100, 100]);
    let mut last = run(&journal.plan, CELL, 5, 50, 0.0);
    let one = &mut last.comm.as_mut().unwrap().connections[0];
    one.longest_pause_ns = Some(Nanos::from_millis(230));
    one.receiver.stood_still_ns = Nanos::from_millis(210);
    journal.records.push(last.into());
    let found = analyse(&journal);
    let why = "the program on active stood still for 210 ms > 100 ms";
    let stall = format!("nothing arrived for 230 ms > 200 ms (peer active); {why}");
    assert_said(&found, "stall", &stall);
    assert_said(&found, "outlier", why);
}

#[test]
fn retransmissions_beyond_the_asked_drops_are_abnormal() {
    let resent = |again: u64, dropped: u64| {
        after(|sample| {
            let info = &mut sample.comm.as_mut().unwrap().connections[0].sender.tcp_info;
            info.as_mut().unwrap().total_retrans = Some(again);
            sample.emulation = vec![DirectionSample { dropped, ..direction("up") }];
        })
    };
    let found = resent(20, 10);
    assert_said(
        &found,
        "retransmissions",
        "20 of 1250 segments were sent again, 10 drops were asked",
    );
    assert_eq!(said(&resent(14, 10), "retransmissions"), None);
    assert_eq!(said(&resent(3, 0), "retransmissions"), None);
    assert_eq!(said(&found, "blackbox-limited"), None, "the test host sent them");
}

/// No receiver takes a packet whose bits were changed: it is sent again as one that was dropped is.
#[test]
fn corrupted_packets_explain_what_was_sent_again() {
    let resent = |again: u64| {
        after(|sample| {
            let info = &mut sample.comm.as_mut().unwrap().connections[0].sender.tcp_info;
            info.as_mut().unwrap().total_retrans = Some(again);
            sample.emulation = vec![DirectionSample { corrupted: 10, ..direction("up") }];
        })
    };
    let told =
        "20 of 1250 segments were sent again, 0 drops were asked for; 10 packets were corrupted";
    assert_said(&resent(20), "retransmissions", told);
    assert_eq!(said(&resent(14), "retransmissions"), None);
}

/// What a full queue dropped explains as much, and nobody asked for it.
#[test]
fn drops_of_a_queue_are_not_told_as_asked_for() {
    let resent = |again: u64| {
        after(|sample| {
            let info = &mut sample.comm.as_mut().unwrap().connections[0].sender.tcp_info;
            info.as_mut().unwrap().total_retrans = Some(again);
            sample.emulation = vec![DirectionSample { queue_dropped: 10, ..direction("up") }];
        })
    };
    let told =
        "20 of 1250 segments were sent again, 0 drops were asked for, and a queue dropped 10";
    assert_said(&resent(20), "retransmissions", told);
    assert_eq!(said(&resent(14), "retransmissions"), None);
}

#[test]
fn the_slower_of_send_and_recv_is_asymmetric() {
    let pair = |send: u64, recv: u64| {
        let mut journal = journal(plan(1));
        for (name, mbps) in [("SEND/video/none", send), ("RECV/video/none", recv)] {
            let of = |pass| run(&journal.plan, name, pass, mbps, 0.0).into();
            let runs: Vec<_> = (1..=3).map(of).collect();
            journal.records.extend(runs);
        }
        analyse(&journal)
    };
    let found = pair(10, 25);
    let cell = found.cells.iter().find(|cell| !cell.flags.is_empty()).unwrap();
    assert_eq!(cell.cell.id(), "SEND/video/none");
    assert_said(&found, "asymmetry", "RECV carries 25.000 Mb/s, 2.5 > 2 times this cell's 10.000");
    assert_eq!(said(&pair(10, 20), "asymmetry"), None);
}

#[test]
fn an_activity_that_suffers_beside_one_application_alone_is_an_outlier() {
    let column = |telnet: f64| {
        let mut journal = five_applications(&[Case::Send]);
        for pass in 1..=3 {
            journal.records.push(alone("cpu", pass, 100.0));
            for (name, rate) in NAMES.into_iter().zip([telnet, 80.0, 82.0, 78.0, 80.0]) {
                let name = format!("SEND/{name}/cpu");
                journal.records.push(run(&journal.plan, &name, pass, 100, rate).into());
            }
        }
        analyse(&journal)
    };
    let found = column(40.0);
    assert_said(
        &found,
        "activity-outlier",
        "cpu runs 2.50 times slower beside it, beside the other",
    );
    assert_eq!(found.cells.iter().filter(|cell| !cell.flags.is_empty()).count(), 1);
    assert_eq!(said(&column(60.0), "activity-outlier"), None);
}

#[test]
fn a_busy_black_box_or_a_limited_emulator_makes_a_lower_bound() {
    let busy = |cpu: u64| {
        after(|sample| {
            let receiver = &mut sample.comm.as_mut().unwrap().connections[0].receiver;
            receiver.cpu_ns = Some(Nanos::from_millis(cpu));
        })
    };
    let part = "a lower bound: the data thread of active used 95 % > 90 % of a CPU";
    assert_said(&busy(950), "blackbox-limited", part);
    assert_eq!(said(&busy(900), "blackbox-limited"), None);
    let serving = |cpu: u64| {
        after(|sample| {
            let (cpu_ns, elapsed_ns) = (Nanos::from_millis(cpu), Nanos::from_millis(2000));
            let receiver = &mut sample.comm.as_mut().unwrap().connections[0].receiver;
            receiver.ftp_session = Some(SessionUse { cpu_ns, elapsed_ns });
        })
    };
    let part = "the activity was held back, its slowdown is too high: a session of the FTP server of active used 95 % > 90 % of a CPU";
    assert_said(&serving(1900), "blackbox-limited", part);
    assert_eq!(said(&serving(1800), "blackbox-limited"), None);
    let late = after(|sample| {
        let lateness = Quantiles { n: 1000, mean: 10.0, p50: 5.0, p99: 300.0, max: 400.0 };
        sample.emulation = vec![DirectionSample {
            delay_asked_us: Some(5000.0),
            lateness_us: Some(lateness),
            ..direction("up")
        }];
    });
    assert_said(&late, "blackbox-limited", "test-active up: p99 lateness 300 us > 250 us");
    assert!(!late.not_rankable_reasons.iter().any(|reason| reason.contains("invalid")));
}

#[test]
fn a_black_box_that_sends_again_limits_the_run() {
    let mut journal = journal(plan(1));
    let mut sample = run(&journal.plan, "RECV/telnet/none", 1, 10, 0.0);
    let one = &mut sample.comm.as_mut().unwrap().connections[0];
    one.sender.tcp_info.as_mut().unwrap().total_retrans = Some(50);
    journal.records.push(sample.into());
    let found = analyse(&journal);
    assert_said(
        &found,
        "blackbox-limited",
        "active sent 50 segments again, 0 drops were asked for",
    );
}

/// 1 s by the test host, a round trip of 0.1 ms: 20.1 ms apart is allowed.
#[test]
fn two_clocks_that_disagree_are_flagged() {
    let on = |class, us: u64| {
        let mut journal = journal(Plan { testbed_class: class, ..plan(1) });
        let mut sample = run(&journal.plan, CELL, 1, 10, 0.0);
        let one = &mut sample.comm.as_mut().unwrap().connections[0];
        one.receiver_elapsed_ns = Nanos::from_micros(us);
        journal.records.push(sample.into());
        analyse(&journal)
    };
    let by_receiver = |us: u64| on(TestbedClass::Lab, us);
    assert_eq!(said(&on(TestbedClass::Local, 975_000), "clock-difference"), None, "one clock");
    assert_said(
        &by_receiver(975_000),
        "clock-difference",
        "1000.0 ms by the test host, 975.0 ms by",
    );
    assert_said(&by_receiver(1_025_000), "clock-difference", "more than 20.1 ms apart");
    assert_eq!(said(&by_receiver(980_000), "clock-difference"), None);
    assert_eq!(said(&by_receiver(0), "clock-difference"), None, "not measured");
}

#[test]
fn a_cpu_quota_that_stopped_the_host_is_told_and_repeats_nothing() {
    let stopped = |ms: u64| after(|sample| sample.host.throttled_ns = Some(Nanos::from_millis(ms)));
    let sentence =
        "a CPU quota stopped the host's programs for 43.0 % > 1 % of the window, all CPUs together";
    assert_said(&stopped(430), "cpu-quota", sentence);
    assert_eq!(said(&stopped(10), "cpu-quota"), None);
    let host = HostSample { throttled_ns: Some(Nanos::from_secs(1)), ..HostSample::default() };
    assert_eq!(disturbance(&host), None);
}

#[test]
fn a_hot_processor_and_a_host_short_of_memory_are_told() {
    let hot = |spells: u64, ms: u64| {
        after(|sample| {
            sample.host.hot_spells = Some(spells);
            sample.host.hot_ns = Some(Nanos::from_millis(ms));
        })
    };
    let sentence = "the processor was too hot for its clock (2 spells began, 250 ms of such spells ended in the window)";
    assert_said(&hot(2, 250), "heat", sentence);
    let sentence = "the processor was too hot for its clock (1 spell began in the window)";
    assert_said(&hot(1, 0), "heat", sentence);
    assert_eq!(said(&hot(0, 0), "heat"), None);
    let swapped = |bytes| after(|sample| sample.host.swapped = Some(Bytes::new(bytes)));
    let sentence = "3MiB > 1MiB went to swap and came from it: programs may have waited for theirs";
    assert_said(&swapped(3 << 20), "swapping", sentence);
    assert_eq!(said(&swapped(1 << 20), "swapping"), None);
}

#[test]
fn a_clock_that_was_set_is_told_and_one_that_is_slewed_is_not() {
    let stepped = |ns| after(|sample| sample.host.clock_step_ns = Some(ns));
    assert_said(&stepped(-3_600_000_000_000), "clock-step", "set back by 3600000 ms");
    assert_said(&stepped(50_900_000), "clock-step", "set forward by 50 ms");
    assert_eq!(said(&stepped(50_000_000), "clock-step"), None);
    assert_eq!(said(&stepped(-50_000_000), "clock-step"), None);
}

#[test]
fn a_device_that_damages_frames_or_has_no_room_for_them_is_named() {
    let counted = |moved: &[(&str, i64)]| {
        let of =
            |(name, delta): &(&str, i64)| CounterDelta { name: (*name).to_owned(), delta: *delta };
        after(|sample| sample.host.devices = moved.iter().map(of).collect())
    };
    let one = counted(&[("eth0.rx_errors", 1), ("eth0.rx_packets", 90_000)]);
    assert_said(&one, "device-errors", "eth0 counted 1 receive error (rx_errors) in the window");
    let full = counted(&[("eth0.10.rx_dropped", 12), ("eth0.10.rx_packets", 90_000)]);
    let sentence = "eth0.10 counted 12 dropped frames (rx_dropped) in the window";
    assert_said(&full, "device-errors", sentence);
    let calm = [("eth0.tx_dropped", 9), ("eth0.rx_dropped", 20), ("eth0.rx_packets", 900_000)];
    assert_eq!(said(&counted(&calm), "device-errors"), None);
}

#[test]
fn remarks_on_the_host_have_their_limits() {
    let host = |steal: u64, foreign: u64| {
        after(|sample| {
            sample.host.steal_ns = Some(Nanos::from_millis(steal));
            sample.host.foreign_cpu_ns = Some(Nanos::from_millis(foreign));
        })
    };
    assert_said(&host(11, 0), "steal", "the hypervisor stole 1.1 % > 1 % of the window");
    assert_said(&host(0, 21), "foreign-cpu", "other programs used 2.1 % > 2 % of a CPU");
    assert_eq!((said(&host(10, 20), "steal"), said(&host(10, 20), "foreign-cpu")), (None, None));
    let short = |foreign: u64| {
        after(|sample| {
            sample.host.elapsed_ns = Nanos::from_millis(100);
            sample.host.foreign_cpu_ns = Some(Nanos::from_millis(foreign));
        })
    };
    assert_eq!(said(&short(4), "foreign-cpu"), None, "so much wakes up on every host");
    assert_said(&short(5), "foreign-cpu", "other programs used 5.0 % > 2 % of a CPU");
    let moved = after(|sample| {
        sample.comm.as_mut().unwrap().connections[0].sender.cpus = vec![0, 3];
    });
    assert_said(&moved, "moved-thread", "the data thread of test was seen on CPUs 0, 3");
    let free = after(|sample| {
        let sender = &mut sample.comm.as_mut().unwrap().connections[0].sender;
        (sender.cpus, sender.hold) = (vec![0, 3], Hold::Free);
    });
    assert_eq!(said(&free, "moved-thread"), None, "nobody held it");
}

/// Five passes of a cell idle at about 100 Mb/s and beside `cpu` at about 130, as `change` leaves those.
fn faster_beside_cpu(loaded: [u64; 5], change: impl Fn(&mut CommSample)) -> Option<String> {
    let mut journal = journal(plan(1));
    let slept = |sample: &mut CommSample, times: u64| {
        let one = &mut sample.connections[0];
        (one.sender.voluntary_switches, one.receiver.voluntary_switches) = (Some(0), Some(times));
    };
    for (pass, (idle, loaded)) in (1..).zip([98, 100, 102, 101, 99].into_iter().zip(loaded)) {
        let mut base = run(&journal.plan, "RECV/telnet/none", pass, idle, 0.0);
        slept(base.comm.as_mut().unwrap(), 1000);
        let mut beside = run(&journal.plan, "RECV/telnet/cpu", pass, loaded, 50.0);
        slept(beside.comm.as_mut().unwrap(), 1000 * loaded / idle);
        change(beside.comm.as_mut().unwrap());
        journal.records.extend([base.into(), beside.into()]);
    }
    said(&analyse(&journal), "faster-loaded")
}

#[test]
fn a_loaded_cell_that_beats_its_baseline_says_what_is_seen_of_the_reason() {
    const FASTER: [u64; 5] = [128, 130, 132, 131, 129];
    // The data threads of every run take half a second, whatever they carry.
    let found = faster_beside_cpu(FASTER, |comm| {
        comm.connections[0].receiver.voluntary_switches = Some(130);
    });
    let found = found.unwrap();
    assert!(
        found.starts_with("1.30 times the 99.990 Mb/s of the idle host (95 % interval 1.2"),
        "{found}"
    );
    assert!(
        found.contains("seen beside it: its data threads slept 10.0 times less often per GB"),
        "{found}"
    );
    let awake =
        faster_beside_cpu(FASTER, |comm| comm.connections[0].receiver.voluntary_switches = Some(0));
    assert!(awake.is_some_and(|text| text.contains("its data threads never slept")));
    let cheaper = faster_beside_cpu(FASTER, |_| ()).unwrap();
    assert!(cheaper.contains("a GB took 77 % of the CPU time"), "{cheaper}");
    assert!(cheaper.contains("of which the journal knows nothing"), "{cheaper}");
    let unknown = faster_beside_cpu(FASTER, |comm| comm.connections[0].sender.cpu_ns = None);
    assert!(unknown.is_some_and(|text| text.contains("reason not seen")));
    let packed = faster_beside_cpu(FASTER, |comm| {
        let info = comm.connections[0].sender.tcp_info.as_mut().unwrap();
        info.data_segs_out = info.data_segs_out.map(|segments| segments / 2);
    });
    assert!(
        packed.is_some_and(|text| text.contains("a segment carried 2.00 times as many writes"))
    );
    // As much faster on average, and within what its passes vary by; slower; no faster to speak of.
    assert_eq!(faster_beside_cpu([60, 250, 90, 210, 120], |_| ()), None);
    assert_eq!(faster_beside_cpu([50, 52, 51, 50, 52], |_| ()), None);
    assert_eq!(faster_beside_cpu([99, 101, 103, 102, 100], |_| ()), None);
}

#[test]
fn a_coarse_rate_is_flagged() {
    let rate = |rate: f64| {
        let mut journal = journal(plan(1));
        let sample = run(&journal.plan, "SEND/telnet/cpu", 1, 10, rate);
        journal.records.push(sample.into());
        said(&analyse(&journal), "few-units")
    };
    assert_eq!(rate(4.5).as_deref(), Some("cpu did 4.5 < 5 units in 1000 ms"));
    assert_eq!(rate(5.0), None);
}

#[test]
fn a_pattern_that_never_hit_the_data_was_not_exercised() {
    let hits = |up: u64, down: u64| {
        let mut journal = five_applications(&[Case::TwoSendDropped]);
        let mut sample = run(&journal.plan, "2SEND+DR/telnet/none", 1, 10, 0.0);
        let of = |name: &str, drops: u64| DirectionSample {
            pattern_drops: Some(drops),
            dropped: drops,
            packets: 150,
            ..direction(name)
        };
        sample.emulation = vec![of("up", up), of("down", down)];
        journal.records.push(sample.into());
        said(&analyse(&journal), "pattern-not-exercised")
    };
    let missed = "the drop pattern hits none of the 150 packets of test-active";
    assert_eq!(hits(0, 0).as_deref(), Some(missed));
    assert_eq!(hits(1, 0), None, "acknowledgements need no loss");
}

#[test]
fn a_cell_wider_than_the_stop_rule_wants_is_noisy() {
    let found = analyse(&repeats(&[95, 100, 105, 100, 98]));
    assert_said(&found, "noisy", "% > 2.5 % (95 % half width)");
    assert_eq!(said(&analyse(&repeats(&[1000, 1001, 1002, 1001, 1000])), "noisy"), None);
}

/// A remark that the conductor made already is not made twice.
#[test]
fn one_flag_of_a_name_per_run() {
    let found = after(|sample| {
        sample.flags.push(Flag::new("steal", "seen by the conductor"));
        sample.host.steal_ns = Some(Nanos::from_millis(500));
    });
    assert_eq!(said(&found, "steal").as_deref(), Some("seen by the conductor"));
    assert_eq!(found.runs[0].flags.len(), 1);
}
