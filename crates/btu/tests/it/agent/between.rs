//! Traffic between two agents: one measures it with the other, and the host that wants to know has no
//! connection of it. Whoever dies or refuses ends it for all three.

use std::process::Child;
use std::process::Output;
use std::time::Instant;

use serde_json::Value;

use super::SOON;
use super::ended;
use super::flows::all;
use super::flows::is_asked;
use super::flows::one;
use super::flows::traffic;
use super::hosts::Black;
use super::hosts::Hosts;
use super::hosts::said;
use crate::isolated::isolated;
use crate::program::lines;
use crate::program::read_json;
use crate::program::signal;
use crate::program::wait_until;

/// A policy that lets its host send to others.
pub(super) const SENDS: &str = "[[class]]\ntest = true\n";

/// Two agents that reach each other, and that the third host knows as `lab1` and `lab2`.
pub(super) fn two<'h>(hosts: &'h Hosts, policies: [&[&str]; 2]) -> [Black<'h>; 2] {
    hosts.join_black_boxes();
    let agents = [hosts.agent(0, policies[0]), hosts.agent(1, policies[1])];
    for (agent, name) in agents.iter().zip(["lab1", "lab2"]) {
        hosts.pair(agent, name);
    }
    agents
}

/// Nothing of a measurement is left at an agent.
pub(super) fn is_free(agent: &Black<'_>) -> bool {
    agent.workers() == 0
        && agent.status()["working_for"] == Value::Array(Vec::new())
        && !agent.state().join("test").exists()
}

#[test]
fn agents_send_to_each_other_and_a_third_host_has_the_figures_of_both() {
    let name = "agent::between::\
                agents_send_to_each_other_and_a_third_host_has_the_figures_of_both";
    isolated(name, || {
        let hosts = Hosts::new();
        let agents = two(&hosts, [&[SENDS], &["[[class]]\ndata_ports = [7420, 7499]\n"]]);
        let text = all("lab1", ["lab2"; 3]);
        let ended = traffic(&hosts, &text, &["--seed", "7", "--out", "result", "--json"]);
        assert_eq!(ended.status.code(), Some(0), "{}", said(&ended));
        let result: Value = serde_json::from_slice(&ended.stdout).unwrap();
        assert_eq!(result["complete"], true, "{}", said(&ended));
        let flows = result["flows"].as_array().unwrap();
        let sum = |key: &str| flows.iter().filter_map(|flow| flow[key].as_u64()).sum::<u64>();
        for (name, path) in [
            ("stream", ["test", "active"]),
            ("queued", ["test", "active"]),
            ("voice", ["test", "active"]),
            ("packets", ["test", "active"]),
            ("unqueued", ["active", "test"]),
            ("returned", ["active", "test"]),
            ("pages", ["test", "active"]),
            ("game", ["active", "test"]),
            ("keys", ["test", "active"]),
        ] {
            let is_it = |flow: &&Value| flow["test"].as_str().unwrap().starts_with(name);
            let flow = flows.iter().find(is_it).unwrap();
            assert_eq!([&flow["from"], &flow["to"]], path, "{flow}");
            assert_eq!(flow["ended"], "complete", "{flow}");
        }
        let queued = flows.iter().find(|flow| flow["test"] == "queued").unwrap();
        assert_eq!(queued["arrived_bytes"], queued["delivered_bytes"], "{queued}");
        // Every byte crossed the link between the two agents, and none of them came by the third host.
        let crossed = hosts.received(0, "peer") + hosts.received(1, "peer");
        assert!(crossed > sum("delivered_bytes"), "{crossed} of {}", sum("delivered_bytes"));
        one_machine_has_one_clock(&result);
        signed_by(&hosts, &agents[0]);
        redacted(&hosts);
        wait_until(|| agents.iter().all(is_free));
        let peers = read_json(&agents[1].state().join("peers.json"));
        assert_eq!(peers.as_array().unwrap().len(), 1, "a guest is no peer: {peers}");
        let mut report = hosts.btu(2);
        let report = report.args(["report", "result"]).output().unwrap();
        let report = String::from_utf8_lossy(&report.stdout);
        assert!(report.contains("between lab1 and lab2"), "{report}");
        let mut sweep = hosts.btu(2);
        sweep.args(["traffic", "sweep", "sessions", "--values", "1,3", "--time", "100ms"]);
        sweep.args(["--passes", "1", "--test", "lab1", "--peer", "lab2", "--out", "s", "--json"]);
        let sweep = sweep.ends_with(0);
        let sweep: Value = serde_json::from_slice(&sweep.stdout).unwrap();
        assert_eq!(sweep["cells"].as_array().unwrap().len(), 2, "{sweep:#}");
    });
}

/// The clocks of the two agents are compared with each other: all hosts are this machine, and whatever was
/// read must not exclude that none is ahead.
fn one_machine_has_one_clock(result: &Value) {
    let clocks = result["clocks"].as_array().unwrap();
    assert_eq!(clocks.len(), 4, "{clocks:#?}");
    for clock in clocks {
        let seconds = |key: &str| clock[key].as_f64().unwrap();
        assert_eq!((&clock["host"], &clock["readings"]), (&"active".into(), &32.into()));
        assert!(seconds("ahead_s").abs() <= seconds("bound_s"), "{clock}");
    }
    for flow in result["flows"].as_array().unwrap().iter().filter(|flow| !is_asked(flow)) {
        let bound = flow["delay_bound_s"].as_f64().unwrap();
        assert!(flow["delay_p50_s"].as_f64().is_none_or(|delay| delay >= bound), "{flow}");
    }
}

/// Who gets the result sees nobody's name in it, and that it was not changed.
fn redacted(hosts: &Hosts) {
    hosts.btu(2).args(["redact", "result", "-o", "public"]).ends_with(0);
    for file in std::fs::read_dir(hosts.path("public")).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        for name in ["lab1", "lab2"] {
            assert!(!text.contains(name), "{name}: {}: {text}", path.display());
        }
    }
    let placed = &read_json(&hosts.path("public/hosts.json"))["placement"];
    let alias = placed["agent_test"]["value"].as_str().unwrap();
    let plan = std::fs::read_to_string(hosts.path("public/plan.toml")).unwrap();
    assert!(alias.starts_with("host-") && plan.contains(&format!("test = \"{alias}\"")), "{plan}");
    hosts.btu(2).args(["verify", "public"]).ends_with(0);
}

/// The agent that measured stands for the result, and says who the other one is.
fn signed_by(hosts: &Hosts, agent: &Black<'_>) {
    let verified = hosts.btu(2).args(["verify", "result", "--json"]).ends_with(0);
    let verified: Value = serde_json::from_slice(&verified.stdout).unwrap();
    assert_eq!(verified["signers"][0]["id"], agent.id(), "{verified:#}");
    let disclosed = read_json(&hosts.path("result/hosts.json"));
    assert_eq!(disclosed["placement"]["agent_test"]["value"], "lab1");
    assert_eq!(disclosed["placement"]["agent_active"]["value"], "lab2");
    for role in ["test", "active"] {
        assert!(disclosed["hosts"][role]["system"]["kernel"]["value"].is_string(), "{role}");
    }
}

/// `btu traffic` on the third host, while it runs.
fn begun(hosts: &Hosts, name: &str, args: &[&str]) -> Child {
    let datagrams = "type = \"burstq(blocksize=1 kB, period=20 ms, duration=300 s)\"\n\
                     transport = \"udp\"\n[[cluster.test]]\npath = \"lab2 -> lab1\"\n\
                     type = \"full(blocksize=64 KiB, duration=300 s)\"";
    std::fs::write(hosts.path("long.toml"), one("lab1", "lab2", datagrams)).unwrap();
    hosts.traffic(&[&["long.toml", "--out", name][..], args].concat())
}

/// Both directions are under way.
fn under_way(hosts: &Hosts) {
    let seen = || [0, 1].map(|host| hosts.received(host, "peer"));
    let before = seen();
    wait_until(|| seen()[0] > before[0] + (1 << 20) && seen()[1] > before[1]);
}

#[test]
fn the_death_of_any_of_three_hosts_ends_the_traffic_of_both_agents() {
    let name = "agent::between::the_death_of_any_of_three_hosts_ends_the_traffic_of_both_agents";
    isolated(name, || {
        let hosts = Hosts::new();
        let mut agents = two(&hosts, [&[SENDS], &[]]);
        let mut run = begun(&hosts, "killed", &[]);
        under_way(&hosts);
        assert_eq!(agents.each_ref().map(Black::workers), [1, 1]);
        signal(run.id(), "KILL");
        run.wait().unwrap();
        wait_until(|| agents.iter().all(is_free));
        let mut run = begun(&hosts, "interrupted", &[]);
        under_way(&hosts);
        signal(run.id(), "INT");
        assert_eq!(ended(&mut run, SOON).0, Some(130));
        wait_until(|| agents.iter().all(is_free));
        // The agent that is sent to: what was measured before is kept, with the reason.
        let mut run = begun(&hosts, "lost", &["--reconnect", "0"]);
        under_way(&hosts);
        agents[1].kill();
        let (code, told) = ended(&mut run, SOON);
        assert_eq!(code, Some(4), "{told}");
        assert!(told.contains("lab2"), "{told}");
        let events = lines(&hosts.path("lost/events.jsonl"));
        assert!(events.iter().any(|event| event["event"] == "agent_lost"), "{events:?}");
        wait_until(|| is_free(&agents[0]) && agents[1].workers() == 0);
        agents[1].restart();
        // The agent that sends.
        let mut run = begun(&hosts, "gone", &[]);
        under_way(&hosts);
        agents[0].kill();
        let (code, told) = ended(&mut run, SOON);
        assert_eq!(code, Some(4), "{told}");
        assert!(told.contains("lab1") && !hosts.path("gone").exists(), "{told}");
        wait_until(|| is_free(&agents[1]) && agents[0].workers() == 0);
    });
}

fn refused(ended: &Output, code: i32, words: &[&str]) {
    assert_eq!(ended.status.code(), Some(code), "{}", said(ended));
    for word in words {
        assert!(said(ended).contains(word), "no {word} in {}", said(ended));
    }
}

#[test]
fn whoever_does_not_let_its_host_send_or_be_sent_to_says_so_before_anything_is_sent() {
    let name = "agent::between::\
                whoever_does_not_let_its_host_send_or_be_sent_to_says_so_before_anything_is_sent";
    isolated(name, || {
        let hosts = Hosts::new();
        let sends = "[[class]]\ntest = true\nmax_flows = 2\nmax_run = \"100s\"\nguests = false\n";
        let agents = two(&hosts, [&[], &[sends]]);
        let bursts = "type = \"burstq(blocksize=1 kB, period=5 ms, duration=100 ms)\"";
        let run = |text: &str, args: &[&str]| traffic(&hosts, text, args);
        let forth = one("lab1", "lab2", bursts);
        let remedy = ["agent lab1: policy: test = false", "write test = true", "--test AGENT"];
        refused(&run(&forth, &[]), 4, &remedy);
        // The other end may connect, within its policy.
        let three = forth.clone()
            + &format!("[[cluster.test]]\npath = \"lab2 -> lab1\"\n{bursts}\n").repeat(2);
        let by_lab2 = ["--test", "lab2"];
        refused(&run(&three, &by_lab2), 4, &["policy: 3 flows asked for, max_flows = 2"]);
        let long = forth.replace("100 ms", "90 s");
        refused(&run(&long, &by_lab2), 4, &["asked for, max_run = 100s"]);
        let allowed = ["--test", "lab2", "--out", "back"];
        refused(&run(&forth, &allowed), 0, &[]);
        // What no star joins, and what nobody here could do.
        let mixed =
            forth.clone() + &format!("[[cluster.test]]\npath = \"here -> lab1\"\n{bursts}\n");
        let words = ["this host only controls", "here -> lab1 has an end here"];
        refused(&run(&mixed, &[]), 2, &words);
        refused(&run(&one("here", "lab1", bursts), &["--test", "lab1"]), 2, &["runs no agent"]);
        refused(&run(&one("lab1", "lab1", bursts), &[]), 2, &["both ends are on one host"]);
        let asked = one("lab1", "lab2", "type = \"telnet(duration=1 s)\"");
        refused(&run(&asked, &by_lab2), 2, &["a model that waits for answers is asked from lab2"]);
        let mut resumed = hosts.btu(2);
        let resumed = resumed.args(["traffic", "--resume", "back"]).output().unwrap();
        refused(&resumed, 0, &["back: the measurement is finished"]);
        wait_until(|| agents.iter().all(is_free));
    });
}

#[test]
fn the_policies_of_both_agents_hold_where_a_third_host_drives_them() {
    let name = "agent::between::the_policies_of_both_agents_hold_where_a_third_host_drives_them";
    isolated(name, || {
        let hosts = Hosts::new();
        let sends =
            "[[class]]\ntest = true\nmax_rate = \"80Mbit/s\"\nmax_bytes_per_day = \"20MB\"\n";
        let agents = two(&hosts, [&[sends], &[]]);
        let stream = "type = \"full(blocksize=64 KiB, duration=300 ms)\"";
        let text = one("lab1", "lab2", stream);
        let datagrams = "type = \"burstq(blocksize=1 kB, period=10 ms, duration=100 ms)\"\n\
                         transport = \"udp\"";
        let udp = traffic(&hosts, &one("lab1", "lab2", datagrams), &["--out", "udp"]);
        assert_eq!(udp.status.code(), Some(0), "{}", said(&udp));
        let sample = lines(&hosts.path("udp/samples.jsonl")).pop().unwrap();
        let detail = "max_rate in the policy of agent lab1: 80Mbit/s per connection";
        assert!(sample["flags"].to_string().contains(detail), "{}", sample["flags"]);
        let begun = Instant::now();
        let one_pass = traffic(&hosts, &text, &["--passes", "1", "--out", "tcp"]);
        let most = 10e6 * begun.elapsed().as_secs_f64() + 256e3;
        refused(&one_pass, 0, &[]);
        let samples = lines(&hosts.path("tcp/samples.jsonl"));
        assert!(samples[0]["flags"].to_string().contains(detail), "{}", samples[0]["flags"]);
        let sent = samples[0]["clusters"][0]["flows"][0]["figures"]["delivered_bytes"].as_f64();
        let sent = sent.unwrap();
        assert!(sent > 0.0 && sent <= most, "{sent} of {most}");
        // Some megabytes a pass: one of them spends the rest of the day, and is its last.
        let reason = "policy: max_bytes_per_day = 20MB is spent";
        let many = traffic(&hosts, &text, &["--passes", "40", "--out", "many"]);
        refused(&many, 4, &["agent lab1", reason]);
        wait_until(|| is_free(&agents[0]));
        // The agent keeps count beyond the one measurement.
        let refusal = format!("agent lab1: {reason}");
        refused(&traffic(&hosts, &text, &["--out", "spent"]), 4, &[&refusal]);
    });
}

#[test]
fn both_agents_count_what_they_moved_for_a_conductor_that_hangs_up_within_a_step() {
    let name = "agent::between::\
                both_agents_count_what_they_moved_for_a_conductor_that_hangs_up_within_a_step";
    isolated(name, || {
        let hosts = Hosts::new();
        // Only who has a bound counts while payload moves.
        let bounded = "max_bytes_per_day = \"1000GB\"\n";
        let sends = format!("{SENDS}{bounded}");
        let agents = two(&hosts, [&[&sends], &[&format!("[[class]]\n{bounded}")]]);
        let mut run = begun(&hosts, "broken", &[]);
        let spent = |agent: &Black<'_>| agent.status()["bytes_today"].as_u64().unwrap();
        // Long after both have reached their rate.
        wait_until(|| agents.iter().all(|agent| spent(agent) >= 50_000_000));
        signal(run.id(), "KILL");
        run.wait().unwrap();
        wait_until(|| agents.iter().all(is_free));
        let crossed = hosts.received(0, "peer") + hosts.received(1, "peer");
        for agent in &agents {
            let counted = spent(agent);
            assert!(counted >= crossed / 2, "{counted} of {crossed}");
        }
    });
}
