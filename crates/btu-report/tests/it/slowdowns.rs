//! Slowdowns of messages by their size, in the result and in the report.

use btu_core::role::Role;
use btu_core::traffic::analysis::analyse;
use btu_core::traffic::figures::slowdown::Slowdown;
use btu_core::traffic::plan::Study;
use btu_core::traffic::sample::Line;
use btu_core::traffic::sample::SlowdownSample;
use btu_core::units::Bytes;
use btu_report::traffic_result;
use btu_report::traffic_schema;

use crate::schema::silent;
use crate::schema::violations;
use crate::traffic::journal;
use crate::traffic::rendered;

/// Two hundred short messages and seven long ones of one test: a row each, and no percentile that seven do not have.
#[test]
fn slowdowns_by_size_stand_in_the_result_and_in_the_report() {
    let mut journal = journal(Study::Scenario, &[80]);
    let size = |up_to, messages, p99| Slowdown {
        up_to_bytes: Bytes::new(up_to),
        messages,
        p50: 1.25,
        p99,
    };
    for line in &mut journal.lines {
        let Line::TrafficRun(run) = line else { continue };
        let sizes = vec![size(100, 200, Some(7.5)), size(10_000, 7, None)];
        let (test, from, to) = ("calls".to_owned(), Role::Test, Role::Active);
        run.clusters[0].slowdowns = vec![SlowdownSample { test, from, to, sizes }];
    }
    let text = rendered("text", &journal);
    let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("calls test -> active 100 200 1.25 7.50"), "{text}");
    assert!(said.contains("calls test -> active 10000 7 1.25 -"), "{text}");
    let result = traffic_result(&journal, &analyse(&journal));
    let [short, long] = &result.clusters[0].slowdowns[..] else { panic!("{:?}", result.clusters) };
    assert_eq!((short.up_to_bytes, short.messages, short.slowdown_p99), (100, 200, Some(7.5)));
    assert_eq!((long.up_to_bytes, long.slowdown_p99), (10_000, None));
    let document = serde_json::from_str(&result.to_json()).unwrap();
    let schema = traffic_schema();
    assert_eq!(violations(&document, &schema, &schema, "$"), [""; 0]);
    assert_eq!(silent(&document, "$"), [""; 0]);
}
