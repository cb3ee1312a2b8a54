//! Journals of a simulated path, read back.

use super::*;
use crate::comparison::series::ByRound;
use crate::disclosure::Disclosure;
use crate::journal::EventRecord;
use crate::pingpong::configuration::Mode;
use crate::pingpong::plan::ChasmSearch;
use crate::pingpong::plan::Path;
use crate::pingpong::plan::Plan;
use crate::pingpong::sample::Ended;
use crate::pingpong::sample::Fault as Kind;
use crate::pingpong::sample::ForeignCurve;
use crate::pingpong::schedule::Order;
use crate::pingpong::schedule::Schedule;
use crate::pingpong::simulated::Dip;
use crate::pingpong::simulated::Reach;
use crate::pingpong::simulated::Simulated;
use crate::units::Nanos;

/// A sweep of two configurations and the search for chasms in both, as lines of a journal.
fn journal(mut path: Simulated) -> Journal {
    let spin = Configuration {
        wait: crate::pingpong::configuration::Wait::Spin,
        ..Configuration::new("tcp")
    };
    let chasms = ChasmSearch { time_ns: Nanos::from_secs(60), resolution_bytes: Bytes::new(1) };
    let plan = Plan {
        chasms: Some(chasms),
        point_time_ns: Nanos::from_millis(2),
        ..Plan::new(vec![Configuration::new("tcp"), spin], 1)
    };
    let largest = [Bytes::new(1 << 30), Bytes::new(65_507)];
    let mut lines =
        vec![Line::PingPongMissing { transport: "vsock".into(), reason: "gone".into() }];
    let mut carried = Vec::new();
    for ((id, configuration), largest_bytes) in plan.numbered().into_iter().zip(largest) {
        carried.push((id, largest_bytes));
        lines.push(Line::PingPongConfiguration { id, configuration, largest_bytes });
    }
    let mut schedule = Schedule::new(plan.sweep(&carried, Nanos::new(30)));
    let samples = path.sweep(&mut schedule, &plan.configurations);
    lines.extend(samples.into_iter().map(|sample| Line::PingPongVisit(Box::new(sample))));
    let events = Vec::new();
    let mut journal = Journal { plan, hosts: Disclosure::default(), lines, events };
    search_all(&mut journal, &mut path);
    journal
}

fn search_all(journal: &mut Journal, path: &mut Simulated) {
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

fn path() -> Simulated {
    Simulated::new(10.0, 1.0).with_dip(Dip::slower(Reach::Always(900..=2100), 5.0))
}

#[test]
fn a_journal_gives_curves_figures_and_chasms() {
    let analysis = analyse(&journal(path()));
    let labels: Vec<&str> = analysis.curves.iter().map(|curve| curve.label.as_str()).collect();
    assert_eq!(labels, ["tcp block", "tcp spin"]);
    assert_eq!(analysis.missing, [("vsock".to_owned(), "gone".to_owned())]);
    for curve in &analysis.curves {
        let findings = curve.findings.as_ref().unwrap();
        let chasm = findings[0].chasm().unwrap();
        assert_eq!((chasm.from.count(), chasm.to.count()), (900, 2100));
        assert!((curve.figures.latency_us.unwrap() - 10.0).abs() < 0.1);
    }
    assert_eq!((analysis.curves[0].too_large.len(), analysis.curves[1].too_large.len()), (0, 45));
    assert!(!analysis.complete && !analysis.has_faults());
}

#[test]
fn a_search_without_its_last_answers_says_so() {
    let mut journal = journal(path());
    let first = journal.lines.iter().position(|line| matches!(line, Line::PingPongAnswer { .. }));
    journal.lines.truncate(first.unwrap());
    let analysis = analyse(&journal);
    let text = analysis.curves[0].findings.as_ref().unwrap()[0].to_string();
    assert!(text.contains("not examined to its end: the search was cut short"), "{text}");
}

#[test]
fn a_point_that_only_fails_is_a_lasting_fault_with_its_reason() {
    let mut journal = journal(path());
    for line in &mut journal.lines {
        let Line::PingPongVisit(sample) = line else { continue };
        let size = sample.size_bytes.count();
        if size == 64 || (size == 128 && sample.round == 1) {
            sample.ended = Ended::Failed { fault: Kind::Stalled, detail: "no answer".into() };
        }
    }
    let analysis = analyse(&journal);
    let faults = &analysis.curves[0].faults;
    let seen: Vec<(u64, bool)> =
        faults.iter().map(|fault| (fault.size.count(), fault.is_lasting)).collect();
    assert_eq!(seen, [(64, true), (128, false)]);
    assert!(analysis.has_faults());
    assert!(analysis.curves[0].curve.at(Bytes::new(64)).is_none());
}

#[test]
fn the_last_word_of_the_events_is_whether_it_is_whole() {
    let mut journal = journal(path());
    let event = |event: &str| EventRecord {
        at: "2026-11-21T00:00:00Z".into(),
        event: event.into(),
        detail: String::new(),
    };
    journal.events = vec![event("started"), event("finished")];
    assert!(analyse(&journal).complete);
}

/// Check P12: units, where it comes from, and what may differ.
#[test]
fn p12_a_file_of_netpipe_and_a_curve_of_another_result_tell_how_they_differ() {
    let mut journal = journal(path());
    let text = include_str!("../../../testdata/pingpong/netpipe-3.7.2.out");
    journal.lines.push(Line::PingPongFile { file: "old/np.out".into(), text: text.into() });
    let rising = Plan {
        order: Order::Rising,
        path: Path::Loopback,
        near_cpus: Some("0".to_owned()),
        far_cpus: Some("1".to_owned()),
        connections: 1,
        ..journal.plan.clone()
    };
    let mut other = analyse(&journal).curves[1].to_foreign("results/fast", "a host", &rising);
    other.circumstances.as_mut().unwrap().congestion = Some("cubic".to_owned());
    other.configuration.nodelay = Some(false);
    other.configuration.transport = "tls".into();
    journal.lines.push(Line::PingPongForeign(Box::new(other)));
    let analysis = analyse(&journal);
    let [file, result] = analysis.overlaid.as_slice() else { panic!("two are laid over") };
    assert_eq!(file.label, "np.out");
    assert!(file.provenance.starts_with("old/np.out, NetPIPE 3"), "{}", file.provenance);
    assert!(file.warnings.iter().any(|text| text.contains("--statistic netpipe")));
    assert!(file.warnings.iter().any(|text| text.contains("--order rising --connections 1")));
    assert!(file.warnings.iter().any(|text| text.contains("how its ends waited")));
    assert_eq!(
        (result.label.as_str(), result.provenance.as_str()),
        ("tcp spin of fast", "results/fast, a host")
    );
    let differing = "order rising against random; transport tls against tcp of tcp block; \
                     wait spin against block of tcp block; TCP_NODELAY false against true of tcp block; \
                     path loopback against direct; CPUs of the near end 0 against of its host; CPUs of \
                     the far end 1 against of its host; connections 1 against 3; congestion control \
                     cubic against none";
    assert_eq!(result.warnings.join("; "), differing);
    assert_eq!(result.curve.as_ref().unwrap().points, analysis.curves[1].curve.points);
}

/// A journal of before says nothing of path and CPUs; a file says which option compares like with like.
#[test]
fn what_a_curve_of_elsewhere_does_not_say_is_told() {
    let mut journal = journal(path());
    let text = include_str!("../../../testdata/pingpong/osu-latency-7.txt");
    journal.lines.push(Line::PingPongFile { file: "osu.txt".into(), text: text.into() });
    let bare = analyse(&journal).curves[0].to_foreign("results/old", "a host", &journal.plan);
    let bare = ForeignCurve { circumstances: None, ..bare };
    journal.lines.push(Line::PingPongForeign(Box::new(bare)));
    journal.plan.statistic = Statistic::Netpipe;
    let told = |journal: &Journal| -> Vec<String> {
        analyse(journal).overlaid.into_iter().flat_map(|other| other.warnings).collect()
    };
    let said = told(&journal).join("; ");
    assert!(said.contains("are \"mean\" (mean of all exchanges), ours are \"netpipe\""), "{said}");
    assert!(said.contains("--statistic mean compares like with like"), "{said}");
    assert!(said.contains("path, CPUs, connections and congestion control are not kept"), "{said}");
    assert!(!said.contains("mode "), "{said}");
    journal.plan.statistic = Statistic::Mean;
    for line in &mut journal.lines {
        if let Line::PingPongConfiguration { configuration, .. } = line {
            configuration.mode = Mode::Streaming;
        }
    }
    let said = told(&journal).join("; ");
    assert!(!said.contains("--statistic"), "{said}");
    assert!(said.contains("mode ping-pong against streaming of tcp block"), "{said}");
}

/// A curve of means has the intervals of its rounds, here and in a result that is laid over.
#[test]
fn a_curve_of_means_comes_to_a_verdict_beside_its_like_of_another_result() {
    let mut journal = journal(path());
    journal.plan.statistic = Statistic::Mean;
    let same = analyse(&journal).curves[0].to_foreign("results/again", "a host", &journal.plan);
    journal.lines.push(Line::PingPongForeign(Box::new(same)));
    let [found] = analyse(&journal).imported(None).try_into().unwrap();
    let (judged, overlapping) = found.found.judged();
    assert_eq!((judged, overlapping), (124, 124), "{}", found.found);
    let said = found.found.to_string();
    assert!(said.starts_with("no difference: intervals overlap at 124 of 124"), "{said}");
}

#[test]
fn what_a_size_is_compared_by_is_the_median_of_each_round() {
    let found = analyse(&journal(path()));
    let by_round = ByRound::of_pingpong(&found);
    let first = &by_round.series[0];
    let size = found.curves[0].points[0].size.count();
    assert_eq!(first.figure, format!("size.tcp_block/{size}.time"));
    assert_eq!(first.rounds, found.curves[0].points[0].rounds_us);
    let points: usize = found.curves.iter().map(|curve| curve.points.len()).sum();
    assert_eq!(by_round.series.len(), points);
}
