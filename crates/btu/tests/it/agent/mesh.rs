//! A mesh of three hosts, each with an agent; who wants to know it is one of them.

use std::path::Path;

use serde_json::Value;

use super::between::SENDS;
use super::between::is_free;
use super::hosts::Black;
use super::hosts::Hosts;
use super::hosts::said;
use crate::isolated::isolated;
use crate::program::lines;
use crate::program::read_json;
use crate::program::wait_until;

/// Three agents that reach each other, known as `h1`, `h2` and `h3`.
fn three(hosts: &Hosts) -> [Black<'_>; 3] {
    hosts.join_black_boxes();
    hosts.give_one_address();
    let agents = [0, 1, 2].map(|number| hosts.agent(number, &[SENDS]));
    for (agent, name) in agents.iter().zip(["h1", "h2", "h3"]) {
        hosts.pair(agent, name);
    }
    agents
}

fn directions(result: &Value) -> Vec<String> {
    let name =
        |one: &Value| format!("{} {}", one["from"].as_str().unwrap(), one["to"].as_str().unwrap());
    result["directions"].as_array().unwrap().iter().map(name).collect()
}

fn pairs(result: &Path, part: &str) -> usize {
    let is_of = |line: &&Value| line["kind"] == "mesh_pair" && line["part"] == part;
    lines(&result.join("samples.jsonl")).iter().filter(is_of).count()
}

#[test]
fn every_pair_of_three_hosts_is_measured_both_ways_and_a_mesh_that_was_cut_off_goes_on() {
    let name = "agent::mesh::\
                every_pair_of_three_hosts_is_measured_both_ways_and_a_mesh_that_was_cut_off_goes_on";
    isolated(name, || {
        let hosts = Hosts::new();
        let agents = three(&hosts);
        let mut mesh = hosts.btu(2);
        let mesh = mesh.args(["mesh", "h[1-3]", "--time", "60ms", "--out", "result", "--quiet"]);
        let ended = mesh.output().unwrap();
        // On a machine that does other things something may look slow twice.
        assert!(matches!(ended.status.code(), Some(0 | 1)), "{}", said(&ended));
        let dir = hosts.path("result");
        let result = read_json(&dir.join("result.json"));
        assert_eq!(result["complete"], true);
        let all = ["h1 h2", "h1 h3", "h2 h1", "h2 h3", "h3 h1", "h3 h2"];
        assert_eq!(directions(&result), all, "{}", said(&ended));
        assert_eq!(pairs(&dir, "mesh"), 3);
        let left = std::fs::read_dir(&dir).unwrap().flatten();
        assert_eq!(left.filter(|one| one.path().is_dir()).count(), 0, "what pairs told is gone");
        hosts.btu(2).args(["verify", "result"]).ends_with(0);
        has_aliases(&hosts);
        wait_until(|| agents.iter().all(is_free));
        cut(&dir);
        // A killed mesh leaves what its pairs told so far.
        for pair in ["pair-0-1", "pair-0-2", "pair-1-2"] {
            std::fs::create_dir(dir.join(pair)).unwrap();
            std::fs::write(dir.join(pair).join("samples.jsonl"), "{}\n").unwrap();
        }
        let mut on = hosts.btu(2);
        let on = on.args(["mesh", "--resume", "result", "--quiet"]).output().unwrap();
        assert!(matches!(on.status.code(), Some(0 | 1)), "{}", said(&on));
        assert_eq!((pairs(&dir, "mesh"), pairs(&dir, "again")), (3, 0));
        assert_eq!(directions(&read_json(&dir.join("result.json"))), all);
    });
}

/// Who gets the result without names sees aliases wherever hosts were named.
fn has_aliases(hosts: &Hosts) {
    hosts.btu(2).args(["redact", "result", "-o", "public"]).ends_with(0);
    let told = directions(&read_json(&hosts.path("public/result.json")));
    let is_alias = |name: &str| name.starts_with("host-");
    assert!(told.iter().all(|way| way.split(' ').all(is_alias)), "{told:?}");
    let plan = std::fs::read_to_string(hosts.path("public/plan.toml")).unwrap();
    assert!(!plan.contains("\"h1\""), "{plan}");
    hosts.btu(2).args(["verify", "public"]).ends_with(0);
}

/// As if it had been killed after its first pair.
fn cut(dir: &Path) {
    let samples = dir.join("samples.jsonl");
    let text = std::fs::read_to_string(&samples).unwrap();
    let first = text.split_inclusive('\n').next().unwrap();
    std::fs::write(&samples, first).unwrap();
    let events = dir.join("events.jsonl");
    let text = std::fs::read_to_string(&events).unwrap();
    let begun: String =
        text.split_inclusive('\n').filter(|line| line.contains("started")).collect();
    std::fs::write(&events, begun).unwrap();
    for name in ["result.json", "report.html", "manifest.json", "signatures.json"] {
        drop(std::fs::remove_file(dir.join(name)));
    }
}

#[test]
fn a_host_that_does_not_come_or_may_not_measure_is_told_by_its_name() {
    let name = "agent::mesh::a_host_that_does_not_come_or_may_not_measure_is_told_by_its_name";
    isolated(name, || {
        let hosts = Hosts::new();
        let mut agents = three(&hosts);
        agents[1].kill();
        let mut mesh = hosts.btu(2);
        let mesh = mesh.args(["mesh", "h1", "h2", "h3", "--out", "few", "--quiet"]).ends_with(4);
        assert!(said(&mesh).contains("2 of 3 hosts came: h2: "), "{}", said(&mesh));
        let kept = std::fs::read_to_string(hosts.path("few/samples.jsonl")).unwrap_or_default();
        assert_eq!(kept, "", "a mesh that goes on asks all hosts again");
        let mut unknown = hosts.btu(2);
        let unknown = unknown.args(["mesh", "h[1-4]", "--quiet"]).ends_with(2);
        assert!(said(&unknown).contains("h4: no agent of this name"), "{}", said(&unknown));
    });
}
