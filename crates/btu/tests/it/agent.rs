//! Three hosts, each a network namespace with its own address, state directory and processes: black
//! boxes are paired and used, and whatever goes wrong with one of them leaves nothing behind.

mod between;
mod blocks;
mod broken;
mod calls;
mod capped;
mod confined;
mod crowd;
mod cut;
mod elsewhere;
mod ended;
mod flows;
#[allow(dead_code, reason = "the comparisons of `tests/alone` use the rest")]
mod hosts;
mod limits;
mod mesh;
mod netem;
mod nonsense;
mod packets;
mod relayed;
mod resumed;
mod shared;
mod signed;
mod stepped;
mod unit;

use std::path::Path;
use std::process::Child;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use self::hosts::Hosts;
use self::hosts::said;
use crate::isolated::isolated;
use crate::program::A_LOT;
use crate::program::Cells;
use crate::program::ended_within;
use crate::program::lines;
use crate::program::of_kind;
use crate::program::read_json;
use crate::program::signal;
use crate::program::wait_until;

/// A plan of some cells on one box and on both, beside two activities.
const SOME: Cells<'_> = Cells {
    cases: &["SEND", "RECV", "SEND_RECV"],
    activities: &["cpu", "ftp"],
    lead_in: "5ms",
    passes: 2,
    ..Cells::SHORT
};

/// A plan of many short cells: time to break something in the middle.
const MANY: Cells<'_> = Cells {
    cases: &["SEND", "RECV"],
    applications: &["netscape", "video"],
    window: "60ms",
    passes: 8,
    ..Cells::SHORT
};

/// Of what ends by itself after five minutes, and that for which a test waits much earlier.
const SOON: Duration = Duration::from_mins(2);

/// Cells by name, pass and attempt: each may be there once.
fn measured(result: &Path) -> Vec<String> {
    let cells = of_kind(result, "cell").into_iter();
    let name = |cell: Value| {
        format!("{} {} {} {}", cell["case"], cell["application"], cell["activity"], cell["pass"])
    };
    let mut names: Vec<String> = cells.filter(|cell| cell["attempt"] == 1).map(name).collect();
    names.sort();
    names
}

/// What a program that was begun ended with, within `time`, and what it said.
fn ended(run: &mut Child, time: Duration) -> (Option<i32>, String) {
    let code = ended_within(run, time).expect("it goes on").code();
    (code, std::io::read_to_string(run.stderr.take().unwrap()).unwrap())
}

fn has_records(result: &Path, count: usize) -> bool {
    let samples = result.join("samples.jsonl");
    std::fs::read_to_string(samples).is_ok_and(|text| text.lines().count() >= count)
}

#[test]
fn three_hosts_make_one_result() {
    isolated("agent::three_hosts_make_one_result", || {
        let hosts = Hosts::new();
        let [active, passive] = [hosts.agent(0, &[]), hosts.agent(1, &[])];
        hosts.pair(&active, "lab1");
        hosts.pair(&passive, "lab2");
        let plan = Cells { cases: &["SEND", "RECV", "SEND_RECV", "2RECV+DL"], ..SOME };
        let run = hosts.run(plan, "result", &["--active", "lab1", "--passive", "lab2"]).output();
        let run = run.unwrap();
        assert_eq!(run.status.code(), Some(0), "{}", said(&run));
        assert!(said(&run).contains("2RECV+DL are left out: they need an emulated link"));
        let dir = hosts.path("result");
        let result = read_json(&dir.join("result.json"));
        assert_eq!((&result["testbed_class"], &result["complete"]), (&"lab".into(), &true.into()));
        assert_eq!((&result["preset"], &result["rankable"]), (&"custom".into(), &false.into()));
        assert!(result["btu_mbps"].as_f64().unwrap() > 0.0);
        assert_eq!(measured(&dir).len(), 3 * 3 * 2);
        let disclosed = read_json(&dir.join("hosts.json"));
        for (role, agent) in [("active", &active), ("passive", &passive)] {
            let facts = &disclosed["hosts"][role];
            assert_eq!(facts["agent"]["identity"]["value"], agent.id(), "{role}");
            assert!(facts["system"]["kernel"]["value"].is_string(), "{role}");
        }
        assert!(disclosed["hosts"]["test"]["system"]["kernel"]["value"].is_string());
        for sample in of_kind(&dir, "cell") {
            assert_eq!(sample["outcome"]["ended"], "complete", "{sample}");
            for one in sample["comm"]["connections"].as_array().unwrap() {
                assert_eq!(one["proof_failures"], Value::Array(Vec::new()), "{one}");
                assert!(one["bytes"].as_u64().unwrap() > 0, "{one}");
            }
        }
        for agent in [&active, &passive] {
            agent.is_idle_soon();
            assert_eq!(agent.status()["working_for"], Value::Array(Vec::new()));
        }
        signed::by_all_three(&dir, [&active, &passive]);
        hosts.btu(2).arg("report").arg(&dir).args(["--json"]).ends_with(0);
    });
}

/// Drops by packet counter and delays, in front of the agents' own sockets.
#[test]
fn emulated_links_in_front_of_the_agents_make_the_matrix_whole() {
    isolated("agent::emulated_links_in_front_of_the_agents_make_the_matrix_whole", || {
        let hosts = Hosts::new();
        let front =
            |number| format!("[front]\ndevice = \"lan\"\naddress = \"10.77.{number}.9/24\"\n");
        let [active, passive] = [0, 1].map(|number| hosts.agent(number, &[&front(number)]));
        hosts.pair(&active, "lab1");
        hosts.pair(&passive, "lab2");
        let cases = &["SEND", "SEND+DL", "2RECV+DL", "2SEND+DR"];
        let plan = Cells { cases, applications: &["video"], passes: 2, ..MANY };
        let options = ["--active", "lab1", "--passive", "lab2"];
        let run = hosts.run(plan, "result", &options).output().unwrap();
        // A busy machine may need longer than the cap of a cell.
        assert!(matches!(run.status.code(), Some(0 | 6)), "{}", said(&run));
        let dir = hosts.path("result");
        assert_eq!(measured(&dir).len(), 4 * 2 * 2);
        let checks = of_kind(&dir, "verification");
        assert!(checks.iter().any(|check| check["link"] == "test-passive"));
        for check in checks {
            assert!(check["delayed_rtt_us"]["p50"].as_f64().unwrap() >= 10_000.0, "{check}");
        }
        for cell in of_kind(&dir, "cell") {
            let (case, emulation) = (&cell["case"], cell["emulation"].as_array().unwrap());
            let links = match case.as_str().unwrap() {
                "SEND" => 0,
                "SEND+DL" => 1,
                _ => 2,
            };
            assert_eq!(emulation.len(), 2 * links, "{cell}");
            for seen in emulation {
                assert!(seen["packets"].as_u64().unwrap() > 0, "{seen}");
                if case == "2SEND+DR" && seen["direction"] == "up" {
                    assert_eq!(seen["dropped"], seen["pattern_drops"], "{seen}");
                } else if case != "2SEND+DR" {
                    assert_eq!(seen["delay_asked_us"], 5000.0, "{seen}");
                }
            }
        }
        let placement = &read_json(&dir.join("hosts.json"))["placement"];
        assert_eq!(placement["emulator_active"]["value"], "10.77.0.9");
        signed::by_all_three(&dir, [&active, &passive]);
        for role in ["active", "passive"] {
            signed::catches_a_change(&dir, &hosts.path(&format!("of-{role}")), role);
        }
        for agent in [&active, &passive] {
            agent.is_idle_soon();
        }
    });
}

#[test]
fn nobody_who_was_not_invited_gets_anything() {
    isolated("agent::nobody_who_was_not_invited_gets_anything", || {
        let hosts = Hosts::new();
        let agent = hosts.agent(0, &[]);
        let invite = agent.invite();
        // Another secret, and then another agent, under the same address.
        let (head, tail) = invite.split_once('@').unwrap();
        let (key, secret) = head.rsplit_once('.').unwrap();
        let wrong = format!("{key}.{}@{tail}", "0".repeat(secret.len()));
        let refused = hosts.btu(2).args(["pair", &wrong, "--name", "lab1"]).ends_with(4);
        assert!(said(&refused).contains("no such invitation"), "{}", said(&refused));
        let other = hosts.agent(1, &[]);
        let thief = other.invite().replace(other.address(), agent.address());
        let refused = hosts.btu(2).args(["pair", &thief, "--name", "lab1"]).ends_with(4);
        assert!(!said(&refused).contains("paired with"));
        // An invitation is good once.
        hosts.btu(2).args(["pair", &invite, "--name", "lab1"]).ends_with(0);
        let third = hosts.state("third");
        let mut again = hosts.btu(2);
        again.env("BTU_STATE_DIR", third).args(["pair", &invite, "--name", "lab1"]);
        again.ends_with(4);
        let unknown = hosts.run(SOME, "none", &["--active", "lab9"]).output().unwrap();
        assert_eq!(unknown.status.code(), Some(2));
        assert!(said(&unknown).contains("known here: lab1"), "{}", said(&unknown));
        assert_eq!(agent.workers(), 0);
    });
}

#[test]
fn a_second_conductor_waits_and_gets_its_turn_when_the_first_is_killed() {
    let name = "agent::a_second_conductor_waits_and_gets_its_turn_when_the_first_is_killed";
    isolated(name, || {
        let hosts = Hosts::new();
        let agent = hosts.lab1(&[]);
        let mut first = hosts.run(Cells::LONG, "first", &["--active", "lab1"]).spawn().unwrap();
        wait_until(|| agent.workers() == 1);
        let mut second = hosts.run(SOME, "second", &["--active", "lab1"]).begun();
        wait_until(|| agent.status()["waiting"].as_array().unwrap().len() == 1);
        assert_eq!(agent.workers(), 1);
        signal(first.id(), "KILL");
        first.wait().unwrap();
        let (code, told) = ended(&mut second, A_LOT);
        assert_eq!(code, Some(0), "{told}");
        assert!(told.contains("agent lab1 works for others: place 1 in its queue"), "{told}");
        agent.is_idle_soon();
    });
}

#[test]
fn a_killed_agent_takes_its_worker_along_and_the_run_goes_on_later() {
    let name = "agent::a_killed_agent_takes_its_worker_along_and_the_run_goes_on_later";
    isolated(name, || {
        let hosts = Hosts::new();
        let mut agent = hosts.lab1(&[]);
        let options = ["--active", "lab1", "--reconnect", "0"];
        let mut run = hosts.run(MANY, "result", &options).stderr(Stdio::null()).spawn().unwrap();
        let result = hosts.path("result");
        wait_until(|| has_records(&result, 4));
        agent.kill();
        assert_eq!(run.wait().unwrap().code(), Some(4));
        agent.is_idle_soon();
        assert_eq!(read_json(&result.join("result.json"))["complete"], false);
        let events = lines(&result.join("events.jsonl"));
        assert!(events.iter().any(|event| event["event"] == "agent_lost"), "{events:?}");
        agent.restart();
        let mut again = hosts.btu(2);
        again.args(["run", "--quiet", "--active", "lab1", "--resume"]).arg(&result);
        again.ends_with(0);
        assert_eq!(read_json(&result.join("result.json"))["complete"], true);
        let cells = measured(&result);
        let mut unique = cells.clone();
        unique.dedup();
        assert_eq!((cells.len(), unique.len()), (2 * 2 * 2 * 8, 2 * 2 * 2 * 8));
        // The agent signs what it measured before it was killed, too.
        let signers = signed::signers(&result);
        assert!(signers.contains(&("active".to_owned(), agent.id(), true)), "{signers:?}");
    });
}

#[test]
fn an_agent_that_comes_back_in_time_is_used_again() {
    isolated("agent::an_agent_that_comes_back_in_time_is_used_again", || {
        let hosts = Hosts::new();
        let mut agent = hosts.lab1(&[]);
        let options = ["--active", "lab1", "--reconnect", "60"];
        let mut run = hosts.run(MANY, "result", &options).stderr(Stdio::null()).spawn().unwrap();
        wait_until(|| has_records(&hosts.path("result"), 4));
        agent.kill();
        agent.restart();
        let ended = ended_within(&mut run, A_LOT).unwrap();
        assert_eq!(ended.code(), Some(0));
        assert_eq!(measured(&hosts.path("result")).len(), 2 * 2 * 2 * 8);
        let signers = signed::signers(&hosts.path("result"));
        assert!(signers.contains(&("active".to_owned(), agent.id(), true)), "{signers:?}");
    });
}

#[test]
fn stop_all_ends_all_work_until_resume() {
    isolated("agent::stop_all_ends_all_work_until_resume", || {
        let hosts = Hosts::new();
        let mut agent = hosts.lab1(&[]);
        let options = ["--active", "lab1", "--reconnect", "0"];
        let mut run = hosts.run(Cells::LONG, "result", &options).spawn().unwrap();
        wait_until(|| agent.workers() == 1);
        let stopped = agent.admin("stop-all");
        assert_eq!(
            (&stopped["stopped"], &stopped["working_for"]),
            (&true.into(), &Value::Array(Vec::new()))
        );
        agent.is_idle_soon();
        signal(run.id(), "INT");
        assert!(ended_within(&mut run, A_LOT).is_some());
        // It stays stopped, also after a restart.
        agent.kill();
        agent.restart();
        let refused = hosts.run(SOME, "refused", &options).ends_with(4);
        assert!(said(&refused).contains("all work was stopped here"), "{}", said(&refused));
        assert_eq!(agent.admin("resume")["stopped"], false);
        hosts.run(SOME, "resumed", &options).ends_with(0);
    });
}

#[test]
fn the_policy_of_the_agent_wins() {
    isolated("agent::the_policy_of_the_agent_wins", || {
        let hosts = Hosts::new();
        let agent = hosts.lab1(&["[[class]]\nactivities = []\ndata_ports = [7420, 7440]\n"]);
        let refused = hosts.run(SOME, "refused", &["--active", "lab1"]).ends_with(4);
        assert!(said(&refused).contains("policy: the activity ftp is not allowed here"));
        assert!(agent.status()["last_refusals"][0].as_str().unwrap().contains("ftp"));
        let plan = Cells { activities: &["cpu"], ..SOME };
        hosts.run(plan, "allowed", &["--active", "lab1"]).ends_with(0);
        let unknown = hosts.dir().join("wrong.toml");
        std::fs::write(&unknown, "max_rate = 1\n").unwrap();
        let mut wrong = hosts.btu(1);
        let wrong = wrong.args(["agent", "--policy"]).arg(&unknown).output().unwrap();
        assert_eq!(wrong.status.code(), Some(2));
        assert!(
            said(&wrong).contains("wrong.toml:1:1: unknown field `max_rate`"),
            "{}",
            said(&wrong)
        );
    });
}

/// Whoever was installed anew has another key: no network is to blame.
#[test]
fn another_host_in_an_agents_place_is_called_that() {
    isolated("agent::another_host_in_an_agents_place_is_called_that", || {
        let hosts = Hosts::new();
        drop(hosts.lab1(&[]));
        std::fs::remove_dir_all(hosts.state("0")).unwrap();
        let other = hosts.agent(0, &[]);
        let refused = hosts.run(SOME, "refused", &["--active", "lab1"]).ends_with(4);
        let id = other.id();
        let told = format!("another host answers there: {}", id.as_str().unwrap());
        assert!(said(&refused).contains(&told), "{}", said(&refused));
        assert!(said(&refused).contains("hint: pair again"), "{}", said(&refused));
    });
}

#[test]
fn an_agent_without_peers_is_not_reachable_from_outside() {
    let folder = tempfile::tempdir().unwrap();
    let mut refused = crate::program::btu();
    refused.env("BTU_STATE_DIR", folder.path());
    let refused = refused.args(["agent", "--listen", "0.0.0.0:0"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    assert!(said(&refused).contains("no host is paired with this agent"), "{}", said(&refused));
    assert!(said(&refused).contains("hint: first: btu agent invite"), "{}", said(&refused));
}
