//! An agent that serves several conductors at once, by explicit choice, and the order of those that wait.

use std::process::Stdio;

use serde_json::Value;

use super::A_LOT;
use super::SOME;
use super::ended;
use super::hosts::Hosts;
use crate::isolated::isolated;
use crate::program::Cells;
use crate::program::read_json;
use crate::program::signal;
use crate::program::wait_until;

#[test]
fn two_conductors_share_an_agent_that_allows_it_and_a_third_one_waits() {
    let name = "agent::shared::two_conductors_share_an_agent_that_allows_it_and_a_third_one_waits";
    isolated(name, || {
        let hosts = Hosts::new();
        let agent = hosts.lab1(&["shared = 2\n"]);
        hosts.pair_driver(&agent, "lab1");
        let active = ["--active", "lab1"];
        let long =
            |out: &str| hosts.run(Cells::LONG, out, &active).stderr(Stdio::null()).spawn().unwrap();
        let mut first = long("first");
        wait_until(|| agent.workers() == 1);
        // Beside the first one, which goes on.
        hosts.drive(SOME, "second", &active).ends_with(0);
        assert!(first.try_wait().unwrap().is_none(), "the first one ended");
        let result = read_json(&hosts.path("second/result.json"));
        assert_eq!(result["rankable"], false, "{result:#}");
        let why = result["not_rankable_reasons"].to_string();
        assert!(why.contains("served up to 2 conductors at once (--shared)"), "{why}");
        let disclosed = read_json(&hosts.path("second/hosts.json"));
        assert_eq!(disclosed["placement"]["shared_active"]["value"], 2);
        // No more than it allows: the next two wait, in the order in which they came.
        let mut other = hosts.drive(Cells::LONG, "other", &active);
        let mut other = other.stderr(Stdio::null()).spawn().unwrap();
        wait_until(|| agent.workers() == 2);
        let mut third = hosts.run(SOME, "third", &active).begun();
        let waiting = || agent.status()["waiting"].as_array().unwrap().len();
        wait_until(|| waiting() == 1);
        let mut fourth = hosts.drive(SOME, "fourth", &active).begun();
        wait_until(|| waiting() == 2);
        assert_eq!(agent.workers(), 2);
        signal(first.id(), "KILL");
        first.wait().unwrap();
        for (run, place) in [(&mut third, "place 1"), (&mut fourth, "place 2")] {
            let (code, told) = ended(run, A_LOT);
            assert_eq!(code, Some(0), "{told}");
            assert!(
                told.contains(&format!("agent lab1 works for others: {place} in its queue")),
                "{told}"
            );
        }
        signal(other.id(), "KILL");
        other.wait().unwrap();
        agent.is_idle_soon();
        assert_eq!(agent.status()["working_for"], Value::Array(Vec::new()));
    });
}
