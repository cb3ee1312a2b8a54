//! What a policy limits, as the result shows it.

use std::process::Stdio;
use std::time::Instant;

use serde_json::Value;

use super::MANY;
use super::blocks::pingpong;
use super::flows::one;
use super::flows::traffic;
use super::hosts::Black;
use super::hosts::Hosts;
use super::hosts::said;
use crate::isolated::isolated;
use crate::program::Cells;
use crate::program::lines;
use crate::program::of_kind;
use crate::program::read_json;
use crate::program::signal;
use crate::program::wait_until;

/// 80 Mbit/s, in bytes.
const RATE: f64 = 10e6;
/// What may leave before the kernel's pace holds a connection back.
const BURST: f64 = 256e3;

/// An agent with that rate in its policy, known here as `lab1`.
fn limited(hosts: &Hosts) -> Black<'_> {
    hosts.lab1(&["[[class]]\nmax_rate = \"80Mbit/s\"\n"])
}

fn is_flagged(sample: &Value) -> bool {
    let flags = sample["flags"].as_array().unwrap();
    flags.iter().any(|flag| flag["name"] == "policy-limited")
}

#[test]
fn an_agent_sends_no_faster_than_its_policy_says_and_the_result_says_so() {
    isolated(
        "agent::limits::an_agent_sends_no_faster_than_its_policy_says_and_the_result_says_so",
        || {
            let hosts = Hosts::new();
            let _agent = limited(&hosts);
            let begun = Instant::now();
            let plan = Cells { passes: 3, ..MANY };
            let run = hosts.run(plan, "result", &["--active", "lab1"]).output().unwrap();
            let lasted = begun.elapsed().as_secs_f64();
            // What a full buffer holds may take longer than the cap of a cell.
            assert!(matches!(run.status.code(), Some(0 | 6)), "{}", said(&run));
            let cells = lines(&hosts.path("result/samples.jsonl"));
            let of = |case: &'static str| cells.iter().filter(move |line| line["case"] == case);
            let sent = of("RECV").filter_map(|cell| cell["comm"]["bytes"].as_f64());
            let (runs, bytes) = sent.fold((0.0, 0.0), |(n, sum), bytes| (n + 1.0, sum + bytes));
            assert!(bytes <= RATE * lasted + runs * BURST, "{bytes} bytes in {lasted} s");
            let limited = |cell: &&Value| is_flagged(cell);
            assert_eq!(of("SEND").find(limited), None, "the agent only reads");
            let first = of("RECV").find(limited).expect("a run at the limit");
            let detail = "max_rate in the policy of agent lab1: 80Mbit/s per connection";
            assert!(first["flags"].to_string().contains(detail), "{}", first["flags"]);
            let result = read_json(&hosts.path("result/result.json"));
            let reasons = result["not_rankable_reasons"].to_string();
            assert!(reasons.contains("were held back by an agent's policy"), "{reasons}");
        },
    );
}

/// Flows of an agent share what it may send; what it only receives is no business of that rate.
#[test]
fn flows_of_an_agent_are_held_to_its_rate_whatever_carries_them() {
    let name = "agent::limits::flows_of_an_agent_are_held_to_its_rate_whatever_carries_them";
    isolated(name, || {
        let hosts = Hosts::new();
        let _agent = limited(&hosts);
        let run = |text: &str, out: &str| {
            let ended = traffic(&hosts, text, &["--quiet", "--out", out]);
            let sample = lines(&hosts.path(out).join("samples.jsonl")).pop().unwrap();
            (ended, sample, read_json(&hosts.path(out).join("result.json")))
        };
        let stream = "type = \"full(blocksize=64 KiB, duration=1 s)\"\n";
        let two = format!("{stream}[[cluster.test]]\npath = \"lab1 -> here\"\n{stream}");
        let begun = Instant::now();
        let (ended, sample, result) = run(&one("lab1", "here", &two), "streams");
        let most = RATE / 2.0 * begun.elapsed().as_secs_f64() + BURST;
        assert_eq!(ended.status.code(), Some(0), "{}", said(&ended));
        for flow in result["flows"].as_array().unwrap() {
            let bytes = flow["departed_bytes"].as_f64().unwrap();
            assert!(bytes > 0.0 && bytes <= most, "{bytes} of {most}");
        }
        assert!(is_flagged(&sample), "{}", sample["flags"]);
        let detail = "max_rate in the policy of agent lab1: 40Mbit/s per connection";
        let mut report = hosts.btu(2);
        let report = report.args(["report", "streams"]).output().unwrap();
        let report = String::from_utf8(report.stdout).unwrap();
        let words: Vec<&str> = report.split_whitespace().collect();
        assert!(words.join(" ").contains(detail), "{report}");
        // 160 Mbit/s are offered and 80 are left; what waits at the end is not sent.
        let datagrams = "type = \"burstq(blocksize=10 kB, period=500 us, duration=500 ms)\"\n\
                         transport = \"udp\"";
        let begun = Instant::now();
        let (ended, sample, result) = run(&one("lab1", "here", datagrams), "back");
        let most = RATE * begun.elapsed().as_secs_f64() + BURST;
        assert_eq!(ended.status.code(), Some(0), "{}", said(&ended));
        let flow = &result["flows"][0];
        let sent = flow["datagrams_sent"].as_f64().unwrap();
        // Each datagram of 10 kB is seven packets.
        let bytes = flow["departed_bytes"].as_f64().unwrap() + 7.0 * 28.0;
        assert!(sent > 0.0 && bytes <= most, "{bytes} of {most}");
        // What is due at the end is offered for 20 ms more.
        let most_sent = (RATE * 0.52 + BURST) / 10_000.0;
        assert!(sent <= most_sent, "{sent} datagrams of 1000, not {most_sent}");
        assert!(is_flagged(&sample), "{}", sample["flags"]);
        // No kernel paces what a library sends: packets, and their headers, wait in the agent.
        let packets = format!("{stream}transport = \"quic\"");
        let begun = Instant::now();
        let (ended, sample, result) = run(&one("lab1", "here", &packets), "packets");
        let most = RATE * begun.elapsed().as_secs_f64() + BURST;
        assert_eq!(ended.status.code(), Some(0), "{}", said(&ended));
        let bytes = result["flows"][0]["departed_bytes"].as_f64().unwrap();
        assert!(bytes > 0.0 && bytes <= most, "{bytes} of {most}");
        // It has no more than a part of what the path takes, and most of that.
        assert!(bytes <= RATE * 1.1 + BURST, "{bytes} in a second");
        assert!(is_flagged(&sample), "{}", sample["flags"]);
        let (ended, sample, _) = run(&one("here", "lab1", datagrams), "forth");
        assert_eq!(ended.status.code(), Some(0), "{}", said(&ended));
        assert!(!is_flagged(&sample), "{}", sample["flags"]);
    });
}

#[test]
fn blocks_are_answered_at_the_rate_of_the_policy_over_what_can_be_held_to_it() {
    let name =
        "agent::limits::blocks_are_answered_at_the_rate_of_the_policy_over_what_can_be_held_to_it";
    isolated(name, || {
        let hosts = Hosts::new();
        let _agent = hosts.lab1(&["[[class]]\nmax_rate = \"800Mbit/s\"\n"]);
        let mut args = vec!["all", "--sizes", "1B,1MiB", "--rounds", "2", "--connections", "1"];
        args.extend(["--point-time", "5ms", "--chasms", "off", "--reference", "off"]);
        args.extend(["--patience", "60s", "--out", "result"]);
        let ended = pingpong(&hosts, &args);
        assert_eq!(ended.status.code(), Some(0), "{}", said(&ended));
        let result = read_json(&hosts.path("result/result.json"));
        let missing = result["missing"].as_object().unwrap();
        let curves = result["curves"].as_array().unwrap();
        let facts = read_json(&hosts.path("result/hosts.json"));
        let held = facts["placement"]["policy_active"]["value"].as_str().unwrap();
        let part = held.strip_prefix("max_rate in the policy of agent lab1: ").unwrap();
        let part = part.strip_suffix(" per connection").unwrap();
        let told = String::from_utf8(ended.stdout).unwrap();
        assert!(told.contains(&format!("max_rate in the agent's policy: {part}")), "{told}");
        if let Some(reason) = missing["mptcp"].as_str().filter(|reason| reason.contains("policy")) {
            assert!(
                reason.contains(&format!("max_rate leaves each connection {part}")),
                "{reason}"
            );
        }
        // One after the other exchanges, with all of the rate.
        assert_eq!((part, curves.len() >= 4), ("800Mbit/s", true), "{told}");
        for name in ["tcp", "tls", "quic", "udp"] {
            let curve = curves.iter().find(|curve| curve["label"] == name).unwrap();
            let Some(time) = curve["points"][1]["time_us"].as_f64() else {
                assert_eq!(name, "udp", "{curve}");
                continue;
            };
            // The answer alone is held back: half of its time is the least that T can be.
            let least = (f64::from(1 << 20) - BURST) / 1e8 / 2.0 * 1e6;
            assert!(time >= least, "{name}: {time} us, not {least}");
        }
    });
}

/// A conductor that never asks for an account: it is killed as soon as the agent knows that all is spent.
#[test]
fn what_was_moved_for_a_conductor_that_hangs_up_is_spent() {
    let name = "agent::limits::what_was_moved_for_a_conductor_that_hangs_up_is_spent";
    isolated(name, || {
        let hosts = Hosts::new();
        let agent = hosts.lab1(&["[[class]]\nmax_bytes_per_day = \"5MB\"\n"]);
        let stream = "type = \"full(blocksize=64 KiB, duration=300 s)\"\n";
        std::fs::write(hosts.path("long.toml"), one("lab1", "here", stream)).unwrap();
        let mut flows = hosts.btu(2);
        flows.args(["traffic", "long.toml", "--quiet", "--out", "flows"]);
        let mut conductor = flows.stderr(Stdio::null()).spawn().unwrap();
        wait_until(|| agent.status()["bytes_today"].as_u64().unwrap() >= 5_000_000);
        signal(conductor.id(), "KILL");
        conductor.wait().unwrap();
        agent.is_idle_soon();
        let short = traffic(&hosts, &one("here", "lab1", stream), &["--out", "refused"]);
        let refused = "policy: max_bytes_per_day = 5MB is spent";
        assert!(said(&short).contains(refused), "{}", said(&short));
    });
}

#[test]
fn a_run_is_cut_off_when_the_bytes_of_the_day_are_spent_and_says_so() {
    let name = "agent::limits::a_run_is_cut_off_when_the_bytes_of_the_day_are_spent_and_says_so";
    isolated(name, || {
        let hosts = Hosts::new();
        let agent = hosts.lab1(&["[[class]]\nmax_bytes_per_day = \"20MB\"\n"]);
        // Of one cell after the other most would be refused, and the first would move gigabytes.
        let plan = Cells { window: "10s", ..MANY };
        let options = ["--active", "lab1", "--reconnect", "240"];
        let begun = Instant::now();
        let ended = hosts.run(plan, "result", &options).output().unwrap();
        let reason = "agent lab1: ";
        let spent = "policy: max_bytes_per_day = 20MB is spent";
        assert_eq!(ended.status.code(), Some(4), "{}", said(&ended));
        assert!(said(&ended).contains(reason) && said(&ended).contains(spent), "{}", said(&ended));
        // Once all is spent nobody waits for the end of a cell, nor tries again.
        assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
        let cells = of_kind(&hosts.path("result"), "cell");
        assert!(cells.is_empty(), "{cells:#?}");
        assert!(agent.status()["last_refusals"].to_string().contains(spent));
        assert_eq!(agent.workers(), 0);
    });
}
