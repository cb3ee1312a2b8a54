//! The sheet of a path between two hosts, whose clocks are known to agree within something: every line tells a figure, or
//! why there is none.

use super::*;
use crate::traffic::analysis::Measured;

/// A change of each flow of a run, by its cell and pass.
type Change<'a> = &'a dyn Fn(&Cell, u32, &mut FlowSample);

/// The sheet of calls on a line, three passes, its flows changed.
fn sheet(change: Change<'_>) -> (Journal, Analysis) {
    let mut journal = journal(voice_in(3));
    let plan = journal.plan.clone();
    for line in &mut journal.lines {
        let Line::TrafficRun(run) = line else { continue };
        let cell = plan.cell(run.cell).unwrap();
        for flow in run.clusters.iter_mut().flat_map(|cluster| &mut cluster.flows) {
            change(cell, run.pass, flow);
        }
    }
    let analysis = analyse(&journal);
    (journal, analysis)
}

/// As between hosts: nobody samples the sockets of both.
fn paired(flow: &mut FlowSample, bound: Nanos) {
    flow.clocks = Some(Agreement::Within(bound));
    flow.places = None;
}

fn line<'a>(analysis: &'a Analysis, of: &str, figure: &str) -> &'a SheetLine {
    let found = analysis.sheet.iter().find(|one| one.of.name() == of && one.figure == figure);
    found.unwrap_or_else(|| panic!("no {figure} of {of}"))
}

/// What a line says in the place of a value.
fn reason(analysis: &Analysis, of: &str, figure: &str) -> String {
    let line = line(analysis, of, figure);
    assert_eq!((line.value, line.interval), (None, None), "{line:?}");
    line.missing.clone().unwrap()
}

fn is_at(cell: &Cell, label: &str) -> bool {
    cell.label == label
}

const HALF: &str = "50 % of the knee";
const ONE_MS: Nanos = Nanos::from_millis(1);
const WITHIN_1_MS: &str =
    "smaller in a pass than the clocks of both hosts are known to agree: 1.000 ms";

/// 0.9, 1.1 and 1.2 ms within 1 ms: the mean of the two that are seen would be 1.15 ms, and too high.
#[test]
fn a_mean_delay_that_clocks_hide_in_one_pass_is_not_that_of_the_others() {
    let (_, analysis) = sheet(&|cell, pass, flow| {
        paired(flow, ONE_MS);
        if is_at(cell, HALF) {
            let micros = [900.0, 1100.0, 1200.0][usize::try_from(pass - 1).unwrap()];
            flow.figures.arrived_bytes = Bytes::new(1000);
            flow.figures.window_delay_s = Some(micros / 1e6);
            flow.figures.drained_delay_s = Some(micros / 1e6);
        }
    });
    assert_eq!(reason(&analysis, HALF, "window_delay_s"), WITHIN_1_MS);
    let hidden = line(&analysis, HALF, "window_delay_s");
    assert_eq!((hidden.passes, hidden.bound_s), (3, Some(1e-3)));
    let cell = analysis.cells.iter().find(|one| is_at(&one.cell, HALF)).unwrap();
    assert_eq!((cell.window_delay, cell.drained_delay), (None, None));
    let seen: Vec<bool> =
        cell.runs.iter().map(|run| run.known(run.window_delay).is_some()).collect();
    assert_eq!(seen, [false, true, true]);
}

/// W = 1 ms / (1 - rho) of every load, read on two clocks; what a fit says of the idle path is 1 ms.
fn loaded(bound: Nanos) -> Analysis {
    let change = |_: &Cell, _: u32, flow: &mut FlowSample| {
        paired(flow, bound);
        flow.figures.arrived_bytes = Bytes::new(1000);
    };
    sheet(&change).1
}

/// Loads whose delays are hidden are the low ones: without them the idle path would look slower than it is.
#[test]
fn no_knee_of_delay_is_fitted_where_clocks_hide_a_load_or_the_idle_path() {
    let known = loaded(Nanos::from_micros(900));
    let idle = line(&known, "path", "idle_delay_s");
    close(idle.value.unwrap(), 0.001, 0.01);
    assert_eq!((idle.bound_s, idle.missing.as_ref()), (Some(9e-4), None));
    close(line(&known, "path", "doubled_at_rho").value.unwrap(), 0.5, 0.02);
    // The curve is fitted below mu: loads above it are cells of the knee of throughput alone.
    let mu = known.mu.unwrap().value;
    let is_above = |one: &Measured| one.arrival.is_some_and(|arrival| arrival.value > mu);
    let above = |id: &u32| known.cells.iter().any(|one| one.cell.id == *id && is_above(one));
    assert!(idle.cells.len() >= 3 && !idle.cells.iter().any(above), "{idle:?}");
    assert!(line(&known, "path", "knee_bit_s").cells.iter().any(above));
    // A load of a quarter of mu waits for 1.33 ms, and nothing for 1 ms.
    let hidden = loaded(Nanos::from_micros(1500));
    assert_eq!(hidden.delay_knee, None);
    for figure in ["idle_delay_s", "doubled_at_rho"] {
        let said = reason(&hidden, "path", figure);
        assert!(said.starts_with("the delay of a load is smaller in a pass than"), "{said}");
        assert_eq!(line(&hidden, "path", figure).bound_s, Some(1.5e-3));
    }
    let below = loaded(Nanos::from_micros(1200));
    assert!(below.delay_knee.is_none() && below.cells.iter().all(|c| !c.hides_window_delay()));
    let said = reason(&below, "path", "idle_delay_s");
    assert!(said.contains("idle path is smaller than the clocks of both hosts"), "{said}");
}

/// The socket of the sender told its smallest round trip, and what was sent again.
#[test]
fn a_stream_whose_sockets_were_not_sampled_tells_what_it_knows() {
    let (_, analysis) = sheet(&|_, _, flow| paired(flow, ONE_MS));
    let least = line(&analysis, "path", "least_round_trip_s");
    close(least.value.unwrap(), RTT.seconds(), 1e-9);
    assert_eq!((least.passes, least.bound_s), (3, None));
    close(line(&analysis, "path", "efficiency_percent").value.unwrap(), 99.0, 1e-9);
    for figure in ["stream_rpm", "buffer_delay_percent"] {
        let said = reason(&analysis, "path", figure);
        assert!(said.contains("sampled where both ends are on one host"), "{said}");
    }
    let (_, untold) = sheet(&|_, _, flow| flow.least_rtt_ns = None);
    let said = reason(&untold, "path", "least_round_trip_s");
    assert!(said.starts_with("no kernel told round trips"), "{said}");
}

/// Clocks that do not run evenly: no delay, and no difference of two, since they came apart meanwhile.
#[test]
fn where_clocks_cannot_be_compared_each_line_of_delay_says_so() {
    let uneven = "the clocks of the two hosts do not run evenly";
    let (_, analysis) = sheet(&|_, _, flow| {
        flow.clocks = Some(Agreement::Unknown(uneven.to_owned()));
        flow.places = None;
        let figures = &mut flow.figures;
        (figures.delay, figures.window_delay_s) = (None, None);
    });
    let of_delay =
        |line: &&SheetLine| line.figure.starts_with("delay_p") || line.figure == "pdv_p99_s";
    let waiting = ["window_delay_s", "idle_delay_s", "doubled_at_rho", "call_r"];
    let overloads = |line: &SheetLine| line.figure.starts_with("overload_");
    let own =
        |line: &&SheetLine| of_delay(line) || waiting.contains(&line.figure) || overloads(line);
    let lines: Vec<&SheetLine> = analysis.sheet.iter().filter(own).collect();
    // Six delays and W of three loads, six of the class, its R, two overloads, W0 and where it doubles.
    assert_eq!(lines.len(), 3 * 7 + 6 + 1 + 2 + 2);
    for line in lines {
        let said = line.missing.as_deref().unwrap();
        assert!(said.starts_with("the clocks of both hosts cannot be compared: "), "{line:?}");
        assert!(said.ends_with(uneven) && line.value.is_none(), "{line:?}");
    }
    assert!(line(&analysis, "voice", "lost_share").value.is_some());
}

/// 4 ms of packets that may be anything between nothing and 20 ms; and a limit that is below what clocks tell.
#[test]
fn calls_and_overloads_that_clocks_hide_say_so() {
    let with = |p999_s: f64, bound: Nanos| {
        let change = |cell: &Cell, _: u32, flow: &mut FlowSample| {
            paired(flow, bound);
            if let Some(delay) = flow.figures.delay.as_mut().filter(|_| cell.class.is_some()) {
                delay.p999_s = p999_s;
            }
        };
        sheet(&change).1
    };
    let hidden = with(0.004, Nanos::from_millis(20));
    assert!(reason(&hidden, "voice", "call_r").ends_with("agree: 20.000 ms"));
    let known = with(0.021, Nanos::from_millis(20));
    let rated = line(&known, "voice", "call_r");
    assert!(rated.value.is_some_and(|r| r > 80.0), "{rated:?}");
    assert_eq!(rated.bound_s, Some(0.02));
    // 150 ms are less than 200.
    let beyond = with(0.004, Nanos::from_millis(200));
    let said = reason(&beyond, "voice", "overload_of_2_mu_s");
    assert!(said.starts_with("the class bears 150.000 ms, and the clocks"), "{said}");
}

/// One hidden pass of a call says nothing of the worth of the others.
#[test]
fn a_call_that_clocks_hide_in_one_pass_is_not_that_of_the_others() {
    let (_, analysis) = sheet(&|cell, pass, flow| {
        paired(flow, Nanos::from_millis(5));
        if let Some(delay) = flow.figures.delay.as_mut().filter(|_| cell.class.is_some()) {
            delay.p999_s = if pass == 2 { 0.004 } else { 0.1 };
        }
    });
    let hidden = line(&analysis, "voice", "call_r");
    assert_eq!((hidden.value, hidden.passes, hidden.bound_s), (None, 3, Some(0.005)));
    assert!(analysis.classes[0].at.worst_call().is_none(), "{:?}", analysis.classes);
}

/// Whatever a path is: each line has a value or a reason, and never both.
#[test]
fn every_line_tells_a_figure_or_why_there_is_none() {
    let changes: [Change<'_>; 4] = [
        &|_, _, _| {},
        &|_, _, flow| paired(flow, ONE_MS),
        &|_, _, flow| paired(flow, Nanos::from_secs(9)),
        &|_, _, flow| (flow.figures.delay, flow.figures.window_delay_s) = (None, None),
    ];
    let names = |analysis: &Analysis| -> Vec<(String, &'static str)> {
        analysis.sheet.iter().map(|line| (line.of.name().to_owned(), line.figure)).collect()
    };
    let all = names(&sheet(changes[0]).1);
    // Of the path, of three loads, of the class.
    assert_eq!(all.len(), 11 + 3 * 8 + 12);
    for change in changes {
        let (journal, analysis) = sheet(change);
        assert_eq!(names(&analysis), all);
        for cut in [analysis, analyse(&Journal { lines: Vec::new(), ..journal })] {
            for line in &cut.sheet {
                let said = line.missing.as_ref().is_some_and(|why| !why.is_empty());
                assert_eq!(line.value.is_none(), said, "{line:?}");
            }
        }
    }
}

/// What was cut short says which of its figures were not measured.
#[test]
fn a_sheet_that_was_cut_short_has_the_lines_of_the_path_and_of_each_class() {
    let whole = journal(voice_in(3));
    let cut = analyse(&Journal { lines: Vec::new(), ..whole });
    let said: Vec<(&str, &str)> =
        cut.sheet.iter().map(|line| (line.figure, line.missing.as_deref().unwrap())).collect();
    assert_eq!(said.len(), 12);
    assert_eq!(said[0], ("mu_bit_s", "what it is found from was not run"));
    assert_eq!(said[11], ("sessions", "no sessions of it were run"));
}

/// A path that carries whatever it is offered has no knee, and its loads are shares of what a stream gets.
#[test]
fn loads_of_a_path_without_a_knee_are_called_by_what_they_are_shares_of() {
    let mut carries_all = |next: &Next| {
        let mut run = run(next, LINE);
        for flow in run.clusters.iter_mut().flat_map(|cluster| &mut cluster.flows) {
            if next.cell.group == Group::Load {
                flow.figures.departure_rate_bit_s = flow.figures.arrival_rate_bit_s;
            }
        }
        run
    };
    let journal = journal_of(voice_in(3), &mut carries_all);
    let analysis = analyse(&journal);
    let around = analysis.group(Group::Load).filter(|load| load.cell.series.is_some());
    let labels: Vec<&str> = around.map(|load| load.cell.label.as_str()).collect();
    assert_eq!(labels, ["50 % of mu", "80 % of mu", "95 % of mu"]);
    let said = reason(&analysis, "path", "knee_bit_s");
    assert_eq!(said, "most passes have no loads on both sides of a knee");
    assert!(line(&analysis, "95 % of mu", "delay_p99_s").value.is_some());
}
