//! The sheet of a path between two hosts, in every form: what two clocks hide is said, and so is what nobody could read.

use btu_core::traffic::analysis::analyse;
use btu_core::traffic::figures::flow::Loss;
use btu_core::traffic::plan::Group;
use btu_core::traffic::plan::Study;
use btu_core::traffic::sample::Agreement;
use btu_core::traffic::sample::FlowSample;
use btu_core::traffic::sample::Journal;
use btu_core::traffic::sample::Line;
use btu_core::units::Nanos;
use btu_report::traffic_result;
use btu_report::traffic_schema;
use serde_json::Value;

use crate::schema::silent;
use crate::schema::violations;
use crate::traffic::journal;
use crate::traffic::rendered;

/// A full stream, a load at half of mu, and seven calls, three passes of each, their flows changed.
fn sheet(change: impl Fn(&mut FlowSample)) -> Journal {
    let mut journal = journal(Study::Qos, &[70, 80, 90]);
    let cells = &mut journal.plan.cells;
    (cells[0].group, cells[0].label) = (Group::Capacity, "full stream".into());
    (cells[1].group, cells[1].label) = (Group::Load, "50 % of mu".into());
    (cells[1].x, cells[1].series) = (0.5, Some("knee".into()));
    (cells[2].group, cells[2].class, cells[2].sessions) = (Group::Class, Some("voice".into()), 7);
    for line in &mut journal.lines {
        let Line::TrafficRun(run) = line else { continue };
        for flow in &mut run.clusters[0].flows {
            if run.cell == 1 {
                flow.traffic = "full(blocksize=64 KiB)".into();
                flow.figures.pacing = None;
            }
            flow.places = None;
            change(flow);
        }
    }
    journal
}

fn within(bound: Nanos) -> Journal {
    sheet(|flow| flow.clocks = Some(Agreement::Within(bound)))
}

/// As the program leaves a flow whose clocks say nothing of each other.
fn apart() -> Journal {
    sheet(|flow| {
        flow.clocks = Some(Agreement::Unknown("the clocks do not run evenly".into()));
        let figures = &mut flow.figures;
        (figures.delay, figures.window_delay_s, figures.drained_delay_s) = (None, None, None);
        (figures.mean_queue_bytes, figures.delay_p99_at_least_s) = (None, None);
    })
}

/// As it is stored, which keeps to the published schema, and says of each null why it is one.
fn result(journal: &Journal) -> Value {
    let text = traffic_result(journal, &analyse(journal)).to_json();
    let (document, schema) = (serde_json::from_str(&text).unwrap(), traffic_schema());
    assert_eq!(violations(&document, &schema, &schema, "$"), Vec::<String>::new());
    assert_eq!(silent(&document, "$"), Vec::<String>::new());
    document
}

/// What a result says of a figure in the place of a value.
fn reason(result: &Value, of: &str, figure: &str) -> String {
    let mut lines = result["sheet"].as_array().unwrap().iter();
    let line = lines.find(|line| line["of"] == of && line["figure"] == figure).unwrap();
    assert!(line["value"].is_null(), "{line}");
    line["value_reason"].as_str().unwrap().to_owned()
}

/// The words of a form, with single spaces.
fn words(format: &str, journal: &Journal) -> String {
    rendered(format, journal).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_two_clocks_hide_is_said_below_each_table_and_beside_each_null() {
    let journal = within(Nanos::from_millis(200));
    let hidden = "smaller in a pass than the clocks of both hosts are known to agree: 200.000 ms";
    let result = result(&journal);
    for (of, figure) in
        [("50 % of mu", "window_delay_s"), ("50 % of mu", "delay_p99_s"), ("voice", "delay_p50_s")]
    {
        assert_eq!(reason(&result, of, figure), hidden, "{figure} of {of}");
    }
    for figure in ["stream_rpm", "buffer_delay_percent"] {
        assert!(reason(&result, "path", figure).contains("both ends are on one host"));
    }
    let delays = "W window; p50; p95; p99; p99, what waits counted; p99.9";
    for format in ["text", "md", "html"] {
        let said = words(format, &journal);
        for word in [
            &format!("Not available at 50 % of mu: {delays}: {hidden}."),
            "Not available of voice: p50;",
            "Not available: knee of throughput; ",
            "buffer delay (RFC 6349): round trips of a full stream are sampled where both ends",
            "which are known to agree within 200 ms",
            "Delay of blocks at shares of mu, since no knee was found",
        ] {
            assert!(said.contains(word), "{format}: no {word} in\n{said}");
        }
    }
}

/// 32.7 ms and more of every load, known within a millisecond: nothing of it is hidden, and its bound stands beside it.
#[test]
fn what_two_clocks_tell_has_a_value_and_its_bound() {
    let journal = within(Nanos::from_millis(1));
    let result = result(&journal);
    let own = |line: &&Value| line["of"] == "50 % of mu" && line["figure"] != "arrival_rate_bit_s";
    let lines: Vec<&Value> = result["sheet"].as_array().unwrap().iter().filter(own).collect();
    assert_eq!(lines.len(), 7);
    for line in lines {
        assert!(line["value"].as_f64().is_some() && line.get("value_reason").is_none(), "{line}");
        assert_eq!(line["delay_bound_s"].is_null(), line["figure"] == "pdv_p99_s", "{line}");
    }
    assert!(!words("text", &journal).contains("Not available at 50 %"));
}

/// The rows of the table of calls, and R and MOS of the class.
fn calls(journal: &Journal) -> (String, [Value; 2]) {
    let text = rendered("text", journal);
    let table = text.split("Worth of a call by the E-model").nth(1).unwrap();
    let own = |line: &&str| line.split_whitespace().next() == Some("7");
    let class = &result(journal)["classes"][0];
    (
        table.lines().find(own).unwrap().to_owned(),
        ["call_r", "call_mos"].map(|key| class[key].clone()),
    )
}

/// Clocks hide the pass that loses most packets: the worst one.
#[test]
fn a_call_that_clocks_hide_in_one_pass_has_no_worth_in_any_form() {
    let lost =
        |lost_share| Some(Loss { sent: 1000, received: 1000, lost_share, ..Loss::default() });
    let mut journal = sheet(|flow| {
        flow.clocks = Some(Agreement::Within(Nanos::from_millis(1)));
        flow.figures.loss = lost(0.001);
    });
    let (row, known) = calls(&journal);
    assert!(known.iter().all(Value::is_number), "{known:?}");
    let worth =
        |row: &str| row.split_whitespace().rev().take(2).map(str::to_owned).collect::<Vec<_>>();
    assert!(worth(&row).iter().all(|told| told.parse::<f64>().is_ok()), "{row}");
    let runs = journal.lines.iter_mut().filter_map(|line| match line {
        Line::TrafficRun(run) if run.cell == 3 => Some(run),
        _ => None,
    });
    for flow in runs.take(1).flat_map(|run| &mut run.clusters[0].flows) {
        flow.clocks = Some(Agreement::Within(Nanos::from_millis(100)));
        flow.figures.loss = lost(0.009);
    }
    let (row, hidden) = calls(&journal);
    assert!(hidden.iter().all(Value::is_null), "{hidden:?}");
    assert_eq!(worth(&row), ["-", "-"], "{row}");
    assert!(reason(&result(&journal), "voice", "call_r").ends_with("agree: 100.000 ms"));
}

#[test]
fn clocks_that_cannot_be_compared_are_named_on_the_page() {
    let journal = apart();
    let said = words("text", &journal);
    let told = "In 9 of 9 runs the clocks of both hosts cannot be compared, and no delay of one way nor its variation \
                is known: the clocks do not run evenly.";
    assert!(said.contains(told), "{said}");
    let why = "the clocks of both hosts cannot be compared: the clocks do not run evenly";
    let result = result(&journal);
    for figure in ["window_delay_s", "delay_p99_s", "pdv_p99_s"] {
        assert_eq!(reason(&result, "50 % of mu", figure), why);
    }
    assert_eq!(reason(&result, "voice", "call_r"), why);
    assert!(!words("text", &within(Nanos::from_millis(1))).contains("cannot be compared"));
}

/// `host_limited` of a cell of full streams is false of no flow at all.
#[test]
fn a_cell_says_how_many_of_its_flows_had_a_time_to_keep() {
    let result = result(&within(Nanos::from_millis(1)));
    let of = |key: &str| -> Vec<(u64, u64)> {
        let cells = result[key].as_array().unwrap().iter();
        cells
            .map(|one| (one["cell"].as_u64().unwrap(), one["timed_flows"].as_u64().unwrap()))
            .collect()
    };
    let mut cells = of("cells");
    cells.sort_unstable();
    assert_eq!(cells, [(1, 0), (2, 3), (3, 3)]);
    assert!(of("run_totals").iter().all(|(cell, timed)| *timed == u64::from(*cell != 1)));
    let full = result["cells"].as_array().unwrap().iter().find(|cell| cell["cell"] == 1).unwrap();
    assert_eq!(full["host_limited"], false);
}
