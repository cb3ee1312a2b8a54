//! Receipts of blocks in every form: the figures that came, those that did not, and nothing where nobody asked.

use btu_core::traffic::analysis::analyse;
use btu_core::traffic::figures::flow::ReceiptDelays;
use btu_core::traffic::figures::flow::Receipts;
use btu_core::traffic::plan::Study;
use btu_core::traffic::sample::Agreement;
use btu_core::traffic::sample::Journal;
use btu_core::traffic::sample::Line;
use btu_report::traffic_result;
use btu_report::traffic_schema;
use serde_json::Value;

use crate::schema::silent;
use crate::schema::violations;
use crate::traffic::journal;
use crate::traffic::rendered;

/// Flows between two hosts whose clocks say nothing of each other.
fn with(receipts: Option<Receipts>) -> Journal {
    let mut journal = journal(Study::Scenario, &[80]);
    for line in &mut journal.lines {
        let Line::TrafficRun(run) = line else { continue };
        let flow = &mut run.clusters[0].flows[0];
        flow.clocks = Some(Agreement::Unknown("the clocks do not run evenly".into()));
        (flow.figures.delay, flow.figures.receipts) = (None, receipts);
    }
    journal
}

const DELAY: ReceiptDelays = ReceiptDelays {
    min_s: 0.0105,
    p50_s: 0.011,
    p95_s: 0.012,
    p99_s: 0.013,
    p999_s: 0.014,
    max_s: 0.015,
};

/// As it is stored, which keeps to the published schema, and says of each null why it is one.
fn result(journal: &Journal) -> Value {
    let text = traffic_result(journal, &analyse(journal)).to_json();
    let (document, schema) = (serde_json::from_str(&text).unwrap(), traffic_schema());
    assert_eq!(violations(&document, &schema, &schema, "$"), Vec::<String>::new());
    assert_eq!(silent(&document, "$"), Vec::<String>::new());
    document
}

/// The delay that receipts have stands there where two clocks hide that of one way.
#[test]
fn receipts_stand_in_the_result_the_rows_and_the_report() {
    let journal = with(Some(Receipts { answered: 62, came: 60, delay: Some(DELAY) }));
    let flow = &result(&journal)["flows"][0];
    assert!(flow["delay_p50_s"].is_null());
    let told = &flow["receipts"];
    let counts = ["blocks_answered", "receipts_came", "receipts_missing"];
    assert_eq!(counts.map(|key| told[key].as_u64().unwrap()), [62, 60, 2]);
    let rows = rendered("csv", &journal);
    let mut lines = rows.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let (head, first) = (lines.next().unwrap(), lines.next().unwrap());
    let field = |name: &str| first[head.iter().position(|one| *one == name).unwrap()];
    assert_eq!(counts.map(field), ["62", "60", "2"]);
    for (of, wanted) in [
        ("min", DELAY.min_s),
        ("p50", DELAY.p50_s),
        ("p95", DELAY.p95_s),
        ("p99", DELAY.p99_s),
        ("p999", DELAY.p999_s),
        ("max", DELAY.max_s),
    ] {
        let key = format!("receipt_delay_{of}_s");
        assert_eq!(told[&key].as_f64(), Some(wanted), "{key}");
        assert_eq!(field(&key), wanted.to_string(), "{key}");
    }
    for format in ["text", "md", "html"] {
        let page = rendered(format, &journal);
        assert!(page.contains("Receipts of blocks, by the clock of the sender"), "{page}");
        assert!(page.contains("an upper bound of the delay of one way"), "{page}");
    }
    let text = rendered("text", &journal);
    let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let row = " 62 60 2 10.5 ms 11.0 ms 12.0 ms 13.0 ms 14.0 ms 15.0 ms";
    assert!(said.contains(row), "{text}");
}

#[test]
fn receipts_that_never_came_have_no_delay_and_the_reason() {
    let journal = with(Some(Receipts { answered: 3, came: 0, delay: None }));
    let told = &result(&journal)["flows"][0]["receipts"];
    assert_eq!(told["receipts_missing"], 3);
    assert_eq!(told["receipt_delay_p99_s_reason"], "no receipt came");
}

#[test]
fn nothing_is_said_of_receipts_that_nobody_asked_for() {
    let journal = with(None);
    let flow = &result(&journal)["flows"][0];
    assert!(flow["receipts"].is_null() && flow["receipts_reason"].is_string(), "{flow}");
    assert!(!rendered("text", &journal).contains("Receipts of blocks"));
}
