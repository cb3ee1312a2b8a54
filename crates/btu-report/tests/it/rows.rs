//! Rows of traffic: their columns, and what stands in them.

use btu_core::traffic::analysis::analyse;
use btu_core::traffic::plan::Study;
use btu_core::traffic::sample::Line;
use btu_report::traffic_result;

use crate::traffic::journal;
use crate::traffic::rendered;

/// The columns of the first version that had rows, in their order.
const FIRST_COLUMNS: [&str; 32] = [
    "cell",
    "pass",
    "cluster",
    "test",
    "session",
    "from",
    "to",
    "transport",
    "traffic",
    "duration_s",
    "arrived_bytes",
    "departed_bytes",
    "delivered_bytes",
    "acknowledged_bytes",
    "arrival_rate_bit_s",
    "departure_rate_bit_s",
    "offered_ratio",
    "window_delay_s",
    "drained_delay_s",
    "delay_p50_s",
    "delay_p99_s",
    "delay_bound_s",
    "blocks_due",
    "blocks_missed",
    "lost_share",
    "pacing_p99_us",
    "host_limited",
    "ended",
    "asking_cpu_s",
    "answering_cpu_s",
    "noticed",
    "notices",
];

/// Columns have a name each, rows as many fields, and those of older versions stand where they stood.
#[test]
fn a_row_of_csv_says_of_a_flow_what_the_result_says() {
    let mut journal = journal(Study::Scenario, &[80]);
    for line in &mut journal.lines {
        let Line::TrafficRun(run) = line else { continue };
        let flow = &mut run.clusters[0].flows[0];
        flow.sender_options.mss_bytes = Some(1448);
        flow.sender_options.nodelay = Some(true);
        flow.receiver_options.window_clamp_bytes = Some(65_536);
    }
    let text = rendered("csv", &journal);
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let (head, first) = (&lines[0], &lines[1]);
    assert!(head.len() == first.len() && head[..32] == FIRST_COLUMNS, "{head:?}");
    let field = |name: &str| first[head.iter().position(|one| *one == name).unwrap()];
    let flow = &traffic_result(&journal, &analyse(&journal)).flows[0];
    for (name, want) in [
        ("delay_p95_s", flow.delay_p95_s),
        ("delay_max_s", flow.delay_max_s),
        ("pdv_p99_s", flow.pdv_p99_s),
        ("mean_queue_bytes", flow.mean_queue_bytes),
        ("least_rtt_s", flow.least_rtt_s),
        ("pacing_max_us", flow.pacing_max_us),
        ("cluster_sender_cpu_s", Some(0.005)),
    ] {
        assert_eq!(field(name), want.unwrap().to_string(), "{name}");
    }
    assert_eq!((field("cell_id"), field("group"), field("x")), ("1", "scenario", "80"));
    assert_eq!((field("nodelay"), field("mss_bytes")), ("true", "1448"));
    assert_eq!((field("window_clamp_bytes"), field("send_buffer_bytes")), ("65536", ""));
    assert_eq!(field("delay_hidden"), "");
}
