//! Conversations as their users read them: what their delays contain, and how well the asker kept its own times.

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::commands::needs;
use crate::commands::run;
use crate::program::btu;
use crate::program::read_json;

/// Carries tests of these types side by side. Gives their flows, in that order.
fn carried(folder: &Path, types: &[&str], path: &[&str]) -> Vec<Value> {
    let test = |(at, kind): (usize, &&str)| {
        format!(
            "[[cluster.test]]\nname = \"t{at}\"\npath = \"test -> active\"\ntype = \"{kind}\"\n"
        )
    };
    let tests: String = types.iter().enumerate().map(test).collect();
    std::fs::write(folder.join("a.toml"), format!("[[cluster]]\nname = \"c\"\n{tests}")).unwrap();
    let mut command = btu();
    command.current_dir(folder).args(["traffic", "a.toml", "--seed", "1", "--out", "out"]);
    run(command.arg("--quiet").args(path)).unwrap();
    let mut flows = read_json(&folder.join("out/result.json"))["flows"].as_array().unwrap().clone();
    flows.sort_by_key(|flow| flow["test"].as_str().unwrap().to_owned());
    flows
}

/// Forty workers that were connected one after the other would take the first query more than forty round trips.
#[test]
fn the_workers_of_a_query_are_connected_side_by_side() {
    needs!();
    let folder = TempDir::new().unwrap();
    let kind = "partition(workers=40, think=10 s, duration=3 s)";
    let flows = carried(folder.path(), &[kind], &["--delay", "50ms"]);
    let flow = &flows[0];
    assert_eq!((&flow["ended"], &flow["blocks_due"]), (&"complete".into(), &40.into()), "{flow}");
    // A round trip for the connections, and one for what is asked on them.
    let [least, most] = ["delay_min_s", "delay_max_s"].map(|key| flow[key].as_f64().unwrap());
    assert!(least >= 2.0 * ROUND_TRIP, "{least}: no connection is part of it: {flow}");
    assert!(most < 20.0 * ROUND_TRIP, "{most}: {flow}");
    let noticed = flow["noticed"].as_array().unwrap();
    let query = noticed.iter().find(|one| one["what"] == "query p99, s").unwrap();
    assert!(query["value"].as_f64().unwrap() < 20.0 * ROUND_TRIP, "{flow}");
}

#[test]
fn keys_have_a_time_to_keep_and_what_follows_answers_has_none() {
    needs!();
    let folder = TempDir::new().unwrap();
    let types = [
        "telnet(interarrival=20 ms, duration=1 s)",
        // It fills its buffer for as long.
        "dash(buffer=300 s, duration=200 ms)",
        "full(duration=200 ms)",
    ];
    let flows = carried(folder.path(), &types, &["--rate", "50Mbit/s"]);
    let keys = [
        "pacing_p50_us",
        "pacing_p99_us",
        "pacing_max_us",
        "pacing_period_us",
        "pacing_late_p99_us",
    ];
    let keyed = &flows[0];
    for key in keys {
        assert!(keyed[key].as_f64().is_some_and(|figure| figure >= 0.0), "{key}: {keyed}");
    }
    assert!(keyed["host_limited"].is_boolean() && keyed["pace"] == "answers", "{keyed}");
    // By the rule of all flows.
    let figure = |key: &str| keyed[key].as_f64().unwrap();
    let late = figure("pacing_p99_us").max(figure("pacing_late_p99_us"));
    let is_late = late > (figure("pacing_period_us") / 100.0).max(100.0);
    assert_eq!(keyed["host_limited"], is_late, "{keyed}");
    for flow in &flows[1..] {
        for key in keys.iter().chain(&["host_limited"]) {
            let reason = flow[format!("{key}_reason")].as_str();
            assert!(flow[*key].is_null() && reason.is_some(), "{key}: {flow}");
        }
    }
}

/// Of 50 ms each way, seconds.
const ROUND_TRIP: f64 = 0.1;
