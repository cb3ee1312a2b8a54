//! A test on another host that is cut off: the runs that were done are kept by whoever ordered it, with the
//! reason, whoever died or refused.

use std::path::Path;
use std::process::Child;

use serde_json::Value;

use super::MANY;
use super::SOON;
use super::between::SENDS;
use super::between::is_free;
use super::between::two;
use super::ended;
use super::flows::one;
use super::has_records;
use super::hosts::Black;
use super::hosts::Hosts;
use super::hosts::said;
use super::measured;
use crate::isolated::isolated;
use crate::program::lines;
use crate::program::of_kind;
use crate::program::read_json;
use crate::program::signal;
use crate::program::wait_until;

/// Many short runs between the two agents, while they are made.
fn begun(hosts: &Hosts, out: &str) -> Child {
    let stream = "type = \"full(blocksize=64 KiB, duration=200 ms)\"";
    std::fs::write(hosts.path("many.toml"), one("lab1", "lab2", stream)).unwrap();
    hosts.traffic(&["many.toml", "--passes", "500", "--out", out])
}

/// The cut is told, with the runs that are kept and their reason, by every verb that reads a result.
fn is_told(hosts: &Hosts, out: &str, event: &str, why: &str) {
    let dir = hosts.path(out);
    let events = lines(&dir.join("events.jsonl"));
    let last = events.last().unwrap();
    assert_eq!(last["event"], event, "{events:?}");
    assert!(last["detail"].as_str().unwrap().contains(why), "{last}");
    assert!(dir.join("report.html").is_file() && dir.join("plan.toml").is_file());
    hosts.btu(2).args(["verify", out, "--allow-unsigned"]).ends_with(0);
    let verified = hosts.btu(2).args(["verify", out]).output().unwrap();
    assert_eq!(verified.status.code(), Some(1), "nobody signed it: {}", said(&verified));
    let report = hosts.btu(2).args(["report", out]).ends_with(0);
    let report = String::from_utf8_lossy(&report.stdout);
    assert!(report.contains(why), "{report}");
}

fn runs(dir: &Path) -> usize {
    of_kind(dir, "traffic_run").len()
}

#[test]
fn runs_between_two_agents_are_kept_when_one_of_the_three_hosts_is_lost() {
    let name = "agent::cut::runs_between_two_agents_are_kept_when_one_of_the_three_hosts_is_lost";
    isolated(name, || {
        let hosts = Hosts::new();
        let mut agents = two(&hosts, [&[SENDS], &[]]);
        let under_way = |out: &str| wait_until(|| has_records(&hosts.path(out), 3));
        // The agent that measures, without a word.
        let mut run = begun(&hosts, "killed");
        under_way("killed");
        agents[0].kill();
        let (code, told) = ended(&mut run, SOON);
        assert_eq!(code, Some(4), "{told}");
        assert!(told.contains("the runs that were done are kept in killed, unsigned"), "{told}");
        assert!(runs(&hosts.path("killed")) >= 3);
        is_told(&hosts, "killed", "agent_lost", "agent lab1");
        wait_until(|| is_free(&agents[1]));
        agents[0].restart();
        // All work there is stopped.
        let mut run = begun(&hosts, "stopped");
        under_way("stopped");
        agents[0].admin("stop-all");
        let (code, told) = ended(&mut run, SOON);
        assert_eq!(code, Some(4), "{told}");
        is_told(&hosts, "stopped", "agent_lost", "all work was stopped on the agent");
        agents[0].admin("resume");
        wait_until(|| agents.iter().all(is_free));
        // Whoever ordered it ends it, or dies.
        let mut run = begun(&hosts, "interrupted");
        under_way("interrupted");
        signal(run.id(), "INT");
        let (code, told) = ended(&mut run, SOON);
        assert_eq!(code, Some(130), "{told}");
        assert!(told.contains("are kept in interrupted, unsigned"), "{told}");
        is_told(&hosts, "interrupted", "interrupted", "stopped before its end");
        wait_until(|| agents.iter().all(is_free));
        let mut run = begun(&hosts, "dead");
        under_way("dead");
        signal(run.id(), "KILL");
        run.wait().unwrap();
        wait_until(|| agents.iter().all(is_free));
        assert!(runs(&hosts.path("dead")) >= 3);
        hosts.btu(2).args(["report", "dead"]).ends_with(0);
    });
}

#[test]
fn runs_are_kept_when_the_policy_of_either_agent_cuts_them_off() {
    let name = "agent::cut::runs_are_kept_when_the_policy_of_either_agent_cuts_them_off";
    isolated(name, || {
        // A run moves some dozen megabytes on any machine: each end counts them.
        let bounded = "max_rate = \"400Mbit/s\"\nmax_bytes_per_day = \"60MB\"\n";
        let sends = format!("{SENDS}{bounded}");
        let receives = "[[class]]\nmax_bytes_per_day = \"60MB\"\n";
        let held = format!("{SENDS}max_rate = \"400Mbit/s\"\n");
        for (policies, who) in [([&*sends, "[[class]]\n"], "lab1"), ([&*held, receives], "lab2")] {
            let hosts = Hosts::new();
            let agents = two(&hosts, [&[policies[0]], &[policies[1]]]);
            let mut run = begun(&hosts, "result");
            let (code, told) = ended(&mut run, SOON);
            assert_eq!(code, Some(4), "{told}");
            let why = "policy: max_bytes_per_day = 60MB is spent";
            assert!(told.contains(why) && told.contains(who), "{told}");
            let dir = hosts.path("result");
            assert!(runs(&dir) >= 2, "{} runs; {told}", runs(&dir));
            assert_eq!(read_json(&dir.join("result.json"))["complete"], false);
            let events = lines(&dir.join("events.jsonl"));
            let is_it = |event: &&Value| event["event"] == "agent_lost";
            let lost = events.iter().rfind(is_it).unwrap_or_else(|| panic!("{events:?}"));
            assert!(lost["detail"].as_str().unwrap().contains(why), "{lost}");
            wait_until(|| agents.iter().all(is_free));
        }
    });
}

#[test]
fn cells_of_a_host_under_test_that_dies_are_kept_where_the_test_was_ordered() {
    let name =
        "agent::cut::cells_of_a_host_under_test_that_dies_are_kept_where_the_test_was_ordered";
    isolated(name, || {
        let hosts = Hosts::new();
        let active = hosts.agent(0, &[]);
        let mut bench = hosts.agent(2, &[SENDS]);
        hosts.pair_driver(&active, "lab1");
        hosts.pair_driver(&bench, "bench");
        let options = ["--test", "bench", "--active", "lab1", "--quiet"];
        let mut run = hosts.drive(MANY, "result", &options).begun();
        wait_until(|| has_records(&hosts.path("result"), 6));
        bench.kill();
        let (code, told) = ended(&mut run, SOON);
        assert_eq!(code, Some(4), "{told}");
        assert!(told.contains("the runs that were done are kept in result, unsigned"), "{told}");
        assert!(!measured(&hosts.path("result")).is_empty());
        assert_eq!(read_json(&hosts.path("result/result.json"))["complete"], false);
        is_told(&hosts, "result", "agent_lost", "agent bench");
        wait_until(|| is_free(&active));
    });
}

/// The whole result takes the place of what was kept of it meanwhile.
#[test]
fn a_test_that_comes_to_its_end_is_signed_as_if_nothing_had_been_kept_before() {
    let name =
        "agent::cut::a_test_that_comes_to_its_end_is_signed_as_if_nothing_had_been_kept_before";
    isolated(name, || {
        let hosts = Hosts::new();
        let agents: [Black<'_>; 2] = two(&hosts, [&[SENDS], &[]]);
        let stream = "type = \"full(blocksize=64 KiB, duration=100 ms)\"";
        std::fs::write(hosts.path("few.toml"), one("lab1", "lab2", stream)).unwrap();
        let mut run = hosts.btu(2);
        run.args(["traffic", "few.toml", "--quiet", "--passes", "3", "--out", "result"]);
        run.ends_with(0);
        let verified = hosts.btu(2).args(["verify", "result", "--json"]).ends_with(0);
        let verified: Value = serde_json::from_slice(&verified.stdout).unwrap();
        assert_eq!(verified["signers"][0]["id"], agents[0].id(), "{verified:#}");
        assert_eq!(runs(&hosts.path("result")), 3);
    });
}
