//! Second runs between hosts: what agents record of them, and that it is nobody else's.

use std::net::IpAddr;
use std::path::Path;

use btu_core::capture;
use btu_core::tcp;
use serde_json::Value;

use super::hosts::Hosts;
use super::hosts::said;
use crate::commands::needs;
use crate::isolated::isolated;
use crate::program::Cells;
use crate::program::of_kind;
use crate::program::packets_of;

/// The file is the run's: its one connection, between the host under test and this address, and what
/// the sample counted of it.
fn assert_own(result: &Path, second: &Value, [test, black]: [&str; 2]) {
    let file = &second["file"];
    let packets = packets_of(result, second, 134);
    let found = tcp::analyse(&capture::read(&packets).unwrap());
    assert_eq!(found.traffic.segments, found.traffic.packets);
    // The control connection is of the same hosts and has passed the same device meanwhile.
    let [one] = &found.connections[..] else { panic!("{} connections", found.connections.len()) };
    let [near, far] = [test, black].map(|text| text.parse::<IpAddr>().unwrap());
    assert_eq!(one.client.address, near);
    assert_eq!(one.streams().map(|stream| stream.from.address), [near, far]);
    let payload = one.streams()[0].counts.new_bytes;
    let delivered = second["run"]["comm"]["bytes"].as_u64().unwrap();
    // Token, 'go' and receipt are bytes that nobody counts; a capture that was full lacks some.
    assert!(payload <= delivered + 128, "{payload} passed, {delivered} counted");
    assert!(payload >= delivered || file["lost"].as_u64().unwrap() > 0, "{payload} {file}");
    let counters = &second["black_boxes"][0];
    assert_eq!(counters[0], "active");
    assert!(counters[1].to_string().contains("Tcp.InSegs"), "{counters}");
    let host = &second["black_box_hosts"][0];
    assert_eq!(host[0], "active");
    assert!(host[1]["elapsed_ns"].as_u64() > Some(0) && host[1]["steal_ns"].is_u64(), "{host}");
    assert!(host[1]["counters"].as_array().is_some_and(Vec::is_empty), "{host}");
}

#[test]
fn agents_record_the_second_runs_of_cells_and_hand_over_nothing_else() {
    isolated(
        "agent::packets::agents_record_the_second_runs_of_cells_and_hand_over_nothing_else",
        || {
            let hosts = Hosts::new();
            let _agent = hosts.lab1(&["[front]\ndevice = \"lan\"\naddress = \"10.77.0.9/24\"\n"]);
            let plan =
                Cells { cases: &["SEND", "SEND+DL"], applications: &["netscape"], ..Cells::SHORT };
            let run = hosts.run(plan, "result", &["--active", "lab1", "--capture", "all"]).output();
            let run = run.unwrap();
            // A busy machine may need longer than the cap of a cell.
            assert!(matches!(run.status.code(), Some(0 | 6)), "{}", said(&run));
            let result = hosts.path("result");
            let second = of_kind(&result, "capture");
            assert_eq!(second.len(), 2 * 2, "every cell once");
            for one in &second {
                let (source, seen_at, black) = match one["run"]["case"].as_str() {
                    Some("SEND") => ("listener", "black_box", "10.77.0.2"),
                    _ => ("emulator", "test", "10.77.0.9"),
                };
                let file = &one["file"];
                assert_eq!((&file["source"], &file["seen_at"]), (&source.into(), &seen_at.into()));
                assert_own(&result, one, ["10.77.0.1", black]);
            }
            let mut explain = hosts.btu(2);
            let explained = explain.arg("explain").arg(&result).arg("--json").output().unwrap();
            let explained: Value = serde_json::from_slice(&explained.stdout).unwrap();
            assert_eq!(explained["schema_version"], btu_report::SECOND_RUNS_SCHEMA_VERSION);
            let runs = explained["second_runs"].as_array().unwrap();
            assert_eq!(runs.len(), second.len());
            assert!(runs.iter().all(|run| run["connections"][0]["in_capture"] == true), "{runs:?}");
        },
    );
}

/// A run against lab1 whose second runs have no packets, for this reason; all else is as ever.
fn without_packets(hosts: &Hosts, reason: &str) {
    let plan = Cells { applications: &["netscape"], ..Cells::SHORT };
    let options = ["--active", "lab1", "--capture", "all"];
    let run = hosts.run(plan, "result", &options).output().unwrap();
    assert!(matches!(run.status.code(), Some(0 | 6)), "{}", said(&run));
    let result = hosts.path("result");
    let second = of_kind(&result, "capture");
    assert_eq!(second.len(), 2);
    for one in &second {
        assert!(one["file"].is_null() && one["run"]["comm"]["bytes"].as_u64() > Some(0), "{one}");
        let why = one["not_captured"].as_str().unwrap();
        assert!(why.contains(&format!("agent lab1: {reason}")), "{why}");
    }
    assert!(!result.join("captures").exists());
}

#[test]
fn a_policy_forbids_packets_and_the_second_run_is_made_without() {
    isolated("agent::packets::a_policy_forbids_packets_and_the_second_run_is_made_without", || {
        let hosts = Hosts::new();
        let agent = hosts.lab1(&["[[class]]\ncapture = false\n"]);
        without_packets(&hosts, "policy: capture = false");
        let log = std::fs::read_to_string(agent.state().join("audit.ndjson")).unwrap();
        assert!(log.contains("policy: capture = false"), "{log}");
    });
}

#[test]
fn an_agent_that_may_not_listen_to_its_device_works_without_packets() {
    isolated(
        "agent::packets::an_agent_that_may_not_listen_to_its_device_works_without_packets",
        || {
            needs!("unshare");
            let hosts = Hosts::new();
            let agent = hosts.powerless_agent(0);
            hosts.pair(&agent, "lab1");
            without_packets(&hosts, "creation of a listener: Operation not permitted");
        },
    );
}
