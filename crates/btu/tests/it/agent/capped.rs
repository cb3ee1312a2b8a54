//! A ping-pong between hosts that the policy of the agent cuts off or does not let begin: the reason is
//! told, nothing hangs, and what was measured before is kept as what it is.

use std::process::Output;
use std::time::Instant;

use serde_json::Value;

use super::blocks::pingpong;
use super::hosts::Black;
use super::hosts::Hosts;
use super::hosts::said;
use crate::isolated::isolated;
use crate::program::lines;
use crate::program::of_kind;
use crate::program::read_json;
use crate::program::wait_until;

/// More rounds than any of these policies leaves room for.
const LONG: [&str; 10] = [
    "--sizes",
    "64B,64kB",
    "--rounds",
    "100",
    "--point-time",
    "2s",
    "--chasms",
    "off",
    "--reference",
    "off",
];

/// The same over this transport into this directory, with all the patience that there is.
fn long(hosts: &Hosts, transport: &str, out: &str) -> Output {
    let mut args = vec![transport, "--reconnect", "240", "--out", out];
    args.extend(LONG);
    pingpong(hosts, &args)
}

fn visits(hosts: &Hosts, out: &str) -> (Vec<Value>, Vec<Value>) {
    let visits = of_kind(&hosts.path(out), "ping_pong_visit").into_iter();
    visits.partition(|line| line["ended"]["how"] == "failed")
}

fn is_free(agent: &Black<'_>) -> bool {
    agent.workers() == 0 && agent.status()["working_for"] == Value::Array(Vec::new())
}

/// The exit code, the reason in what is said, in the events and in the report, and nothing that is more
/// than was measured.
fn is_cut(hosts: &Hosts, out: &str, ended: &Output, why: &str) {
    assert_eq!(ended.status.code(), Some(4), "{out}: {}", said(ended));
    assert!(said(ended).contains(why), "{out}: {}", said(ended));
    let (failed, whole) = visits(hosts, out);
    assert!(failed.len() <= 2 && !whole.is_empty(), "{out}: {failed:?}");
    let events = lines(&hosts.path(out).join("events.jsonl"));
    let lost = events.iter().find(|event| event["event"] == "agent_lost").expect("no reason");
    assert!(lost["detail"].as_str().unwrap().contains(why), "{out}: {lost}");
    let result = read_json(&hosts.path(out).join("result.json"));
    assert_eq!(result["complete"], false, "{out}");
    let report = hosts.btu(2).args(["report", out]).ends_with(0);
    let text = String::from_utf8_lossy(&report.stdout).into_owned();
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(words.join(" ").contains(why), "{out}: {text}");
}

#[test]
fn blocks_end_when_the_bytes_of_the_day_are_spent_and_those_before_are_kept() {
    let name =
        "agent::capped::blocks_end_when_the_bytes_of_the_day_are_spent_and_those_before_are_kept";
    isolated(name, || {
        for transport in ["tcp", "udp", "quic"] {
            let hosts = Hosts::new();
            let agent = hosts.lab1(&["[[class]]\nmax_bytes_per_day = \"8MB\"\n"]);
            let begun = Instant::now();
            let ended = long(&hosts, transport, "spent");
            let why = "policy: max_bytes_per_day = 8MB is spent";
            is_cut(&hosts, "spent", &ended, why);
            // What a policy forbids it forbids the next time, too: nobody waits for the agent.
            assert!(begun.elapsed().as_secs() < 60, "{transport}: {:?}", begun.elapsed());
            wait_until(|| is_free(&agent));
            assert!(agent.status()["last_refusals"].to_string().contains(why));
            let again = long(&hosts, transport, "again");
            assert_eq!(again.status.code(), Some(4), "{}", said(&again));
            assert!(said(&again).contains(why), "{}", said(&again));
            assert!(!hosts.path("again").exists(), "nothing was measured");
        }
    });
}

#[test]
fn blocks_begin_only_where_the_policy_leaves_time_and_connections_for_them() {
    let name =
        "agent::capped::blocks_begin_only_where_the_policy_leaves_time_and_connections_for_them";
    isolated(name, || {
        for (policy, why) in
            [("max_run = \"2s\"\n", "max_run = 2s"), ("max_flows = 1\n", "max_flows = 1")]
        {
            let hosts = Hosts::new();
            let agent = hosts.lab1(&[&format!("[[class]]\n{policy}")]);
            let begun = Instant::now();
            let two = ["tcp", "udp", "--reconnect", "240", "--out", "refused"];
            let refused = pingpong(&hosts, &[&two[..], &LONG].concat());
            assert_eq!(refused.status.code(), Some(4), "{policy}: {}", said(&refused));
            let told = said(&refused);
            assert!(
                told.contains("agent lab1: policy: ") && told.contains(why),
                "{policy}: {told}"
            );
            assert!(begun.elapsed().as_secs() < 60, "{policy}: {:?}", begun.elapsed());
            assert!(!hosts.path("refused").exists(), "{policy}: nothing was measured");
            wait_until(|| is_free(&agent));
        }
    });
}
