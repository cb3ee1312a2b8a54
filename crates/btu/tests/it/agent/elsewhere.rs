//! A host under test that is driven from elsewhere, and what is left when somebody dies.

use serde_json::Value;

use super::A_LOT;
use super::SOME;
use super::hosts::Black;
use super::hosts::Hosts;
use super::hosts::said;
use super::measured;
use super::signed;
use crate::isolated::isolated;
use crate::program::Cells;
use crate::program::ended_within;
use crate::program::read_json;
use crate::program::signal;
use crate::program::wait_until;

const THREE: [&str; 6] = ["--test", "bench", "--active", "lab1", "--passive", "lab2"];
const TWO: [&str; 4] = ["--test", "bench", "--active", "lab1"];

/// A policy that lets the host be put under test.
const TESTED: &str = "[[class]]\ntest = true\n";

/// Nothing of a test is left on a host, and nobody is served there.
fn is_free(agent: &Black<'_>) -> bool {
    agent.workers() == 0
        && agent.status()["working_for"] == Value::Array(Vec::new())
        && !agent.state().join("test").exists()
}

#[test]
fn a_third_host_is_put_under_test_and_signs_its_result() {
    isolated("agent::elsewhere::a_third_host_is_put_under_test_and_signs_its_result", || {
        let hosts = Hosts::new();
        let [active, passive] = [0, 1].map(|number| hosts.agent(number, &[]));
        let bench = hosts.agent(2, &[TESTED]);
        for (agent, name) in [(&active, "lab1"), (&passive, "lab2"), (&bench, "bench")] {
            hosts.pair_driver(agent, name);
        }
        let mut run = hosts.drive(SOME, "result", &THREE);
        run.args(["--price", "2900USD", "--note", "on the bench"]).ends_with(0);
        let dir = hosts.path("result");
        assert_eq!(measured(&dir).len(), 3 * 3 * 2);
        let result = read_json(&dir.join("result.json"));
        assert_eq!((&result["testbed_class"], &result["complete"]), (&"lab".into(), &true.into()));
        // Whoever drives it is none of the three.
        signed::by_all_three(&dir, [&active, &passive]);
        assert_eq!(signed::signers(&dir)[0].1, bench.id());
        let disclosed = read_json(&dir.join("hosts.json"));
        assert_eq!(
            (&disclosed["price"], &disclosed["note"]),
            (&"2900USD".into(), &"on the bench".into())
        );
        assert_eq!(disclosed["hosts"]["active"]["agent"]["identity"]["value"], active.id());
        assert!(dir.join("plan.given.toml").is_file());
        // The black boxes keep nobody but their peer, and the host under test keeps nothing.
        for agent in [&active, &passive, &bench] {
            wait_until(|| is_free(agent));
            let peers = read_json(&agent.state().join("peers.json"));
            assert_eq!(peers.as_array().unwrap().len(), 1, "{peers}");
        }
        let again = hosts.drive(SOME, "result", &THREE).output().unwrap();
        assert_eq!(again.status.code(), Some(2), "nothing is written over: {}", said(&again));
    });
}

#[test]
fn a_test_ends_with_its_conductor_and_with_the_host_under_test() {
    isolated(
        "agent::elsewhere::a_test_ends_with_its_conductor_and_with_the_host_under_test",
        || {
            let hosts = Hosts::new();
            let active = hosts.agent(0, &[]);
            let mut bench = hosts.agent(2, &[TESTED]);
            hosts.pair_driver(&active, "lab1");
            hosts.pair_driver(&bench, "bench");
            let under_way = |bench: &Black<'_>| active.workers() == 1 && bench.workers() == 1;
            let mut run = hosts.drive(Cells::LONG, "killed", &TWO).spawn().unwrap();
            wait_until(|| under_way(&bench));
            signal(run.id(), "KILL");
            run.wait().unwrap();
            wait_until(|| is_free(&bench) && is_free(&active));
            let mut run = hosts.drive(Cells::LONG, "lost", &TWO).spawn().unwrap();
            wait_until(|| under_way(&bench));
            bench.kill();
            let ended = ended_within(&mut run, A_LOT).unwrap();
            assert_eq!(ended.code(), Some(4));
            wait_until(|| bench.workers() == 0 && is_free(&active));
            bench.restart();
            assert!(is_free(&bench), "the next start takes away what the kill left");
            let mut run = hosts.drive(Cells::LONG, "interrupted", &TWO).spawn().unwrap();
            wait_until(|| under_way(&bench));
            signal(run.id(), "INT");
            assert_eq!(ended_within(&mut run, A_LOT).unwrap().code(), Some(130));
            wait_until(|| is_free(&bench) && is_free(&active));
            // After all that the next test is as any.
            let plan = Cells { activities: &["cpu"], ..SOME };
            hosts.drive(plan, "next", &TWO).ends_with(0);
        },
    );
}

#[test]
fn policies_decide_who_is_put_under_test_and_who_may_be_a_guest() {
    isolated(
        "agent::elsewhere::policies_decide_who_is_put_under_test_and_who_may_be_a_guest",
        || {
            let hosts = Hosts::new();
            let active = hosts.agent(0, &["[[class]]\nguests = false\n"]);
            let passive = hosts.agent(1, &[]);
            let bench = hosts.agent(2, &[TESTED]);
            for (agent, name) in [(&active, "lab1"), (&passive, "lab2"), (&bench, "bench")] {
                hosts.pair_driver(agent, name);
            }
            for (options, exit, why) in [
                (["--test", "bench", "--active", "lab1"], 4, "agent lab1: policy: guests = false"),
                (["--test", "lab2", "--active", "bench"], 4, "agent lab2: policy: test = false"),
                (
                    ["--test", "lab2", "--active", "bench"],
                    4,
                    "write test = true into the [[class]]",
                ),
                (["--test", "bench", "--active", "bench"], 2, "are the same agent"),
                (
                    ["--test", "nobody", "--active", "bench"],
                    2,
                    "--test nobody: no agent of this name",
                ),
            ] {
                let run = hosts.drive(SOME, "refused", &options).output().unwrap();
                assert_eq!(run.status.code(), Some(exit), "{}", said(&run));
                assert!(said(&run).contains(why), "{}", said(&run));
                assert!(!hosts.path("refused").exists());
            }
        },
    );
}
