//! A ping-pong between two paired hosts: the same result as on one machine, and an agent that refuses
//! or dies ends it with the reason.

use std::process::Output;
use std::process::Stdio;

use serde_json::Value;

use super::hosts::Hosts;
use super::hosts::said;
use crate::isolated::isolated;
use crate::program::lines;
use crate::program::of_kind;
use crate::program::read_json;
use crate::program::wait_until;

/// `btu pingpong` on the host under test, against the agent that it calls `lab1`.
pub(super) fn pingpong(hosts: &Hosts, args: &[&str]) -> Output {
    let mut command = hosts.btu(2);
    command.args(["pingpong", "--peer", "lab1", "--quiet"]);
    command.args(args).output().unwrap()
}

fn names(list: &Value, key: &str) -> Vec<String> {
    list.as_array().unwrap().iter().map(|one| one[key].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_paired_host_answers_blocks_over_every_transport_of_a_network() {
    isolated(
        "agent::blocks::a_paired_host_answers_blocks_over_every_transport_of_a_network",
        || {
            let hosts = Hosts::new();
            let agent = hosts.lab1(&["[[class]]\ndata_ports = [7420, 7499]\n"]);
            let mut args =
                vec!["all", "--sizes", "1B,1400B,60kB", "--rounds", "2", "--out", "result"];
            args.extend(["--point-time", "5ms", "--chasms", "off", "--patience", "60s", "--json"]);
            let ended = pingpong(&hosts, &args);
            assert_eq!(ended.status.code(), Some(0), "{}", said(&ended));
            let result: Value = serde_json::from_slice(&ended.stdout).unwrap();
            assert_eq!((&result["path"], &result["complete"]), (&"peer".into(), &true.into()));
            let measured = names(&result["curves"], "label");
            for needed in ["tcp", "udp", "tls", "quic"] {
                assert!(measured.iter().any(|name| name == needed), "{needed}: {measured:?}");
            }
            for curve in result["curves"].as_array().unwrap() {
                assert_eq!(curve["points"].as_array().unwrap().len(), 3, "{curve}");
            }
            let missing = result["missing"].as_object().unwrap();
            for name in ["unix", "seqpacket", "shm"] {
                let reason = missing[name].as_str().unwrap();
                assert!(reason.ends_with("both ends have to be on one host"), "{name}: {reason}");
            }
            assert!(missing["raw"].as_str().is_some_and(|reason| !reason.is_empty()));
            let disclosed = read_json(&hosts.path("result/hosts.json"));
            assert_eq!(disclosed["hosts"]["active"]["agent"]["identity"]["value"], agent.id());
            for host in ["test", "active"] {
                assert!(
                    disclosed["hosts"][host]["system"]["kernel"]["value"].is_string(),
                    "{host}"
                );
            }
            agent.is_idle_soon();
            let checked =
                pingpong(&hosts, &["tcp", "udp", "--verify", "--sizes", "2kB", "--out", "v"]);
            assert_eq!(checked.status.code(), Some(0), "{}", said(&checked));
            let log = std::fs::read_to_string(agent.state().join("audit.ndjson")).unwrap();
            assert!(log.contains("plan pingpong"), "{log}");
        },
    );
}

/// The finder asks over a network as it does on one machine. It is given little time, since each slow
/// exchange takes 88 ms: what it says by then has to be so.
#[test]
fn p3_the_chasm_between_two_hosts_is_searched_for_and_nothing_wrong_is_said_of_it() {
    let name = "agent::blocks::\
                p3_the_chasm_between_two_hosts_is_searched_for_and_nothing_wrong_is_said_of_it";
    isolated(name, || {
        let hosts = Hosts::new();
        let _agent = hosts.lab1(&[]);
        let mut args = vec!["tcp", "--header", "16B", "--nodelay", "off", "--resolution", "8B"];
        args.extend(["--chasm-time", "8s", "--reference", "off", "--rounds", "5"]);
        args.extend(["--sizes", "8B,16B,200B,1600B,3000B", "--point-time", "20ms"]);
        args.extend(["--patience", "60s", "--out", "result"]);
        let ended = pingpong(&hosts, &args);
        assert_eq!(ended.status.code(), Some(0), "{}", said(&ended));
        assert!(!of_kind(&hosts.path("result"), "ping_pong_answer").is_empty());
        let result = read_json(&hosts.path("result/result.json"));
        let chasms = result["curves"][0]["chasms"].as_array().unwrap();
        assert_eq!(chasms.len(), 1, "{chasms:#?}");
        assert_ne!(chasms[0]["finding"], "not_reproduced", "{chasms:#?}");
        if chasms[0]["edges_sure"] == true {
            // An MTU of 1500 bytes holds 1448 beside the headers with time stamps.
            let edge = |name: &str| chasms[0][name].as_u64().unwrap();
            let (from, to) = (edge("from_bytes"), edge("to_bytes"));
            assert!((17..25).contains(&from) && (1456..1464).contains(&to), "{chasms:#?}");
        }
    });
}

#[test]
fn an_agent_that_dies_ends_its_point_with_the_reason_and_keeps_the_others() {
    let name =
        "agent::blocks::an_agent_that_dies_ends_its_point_with_the_reason_and_keeps_the_others";
    isolated(name, || {
        let hosts = Hosts::new();
        let mut agent = hosts.lab1(&[]);
        let mut command = hosts.btu(2);
        command.args(["pingpong", "tcp", "--peer", "lab1", "--quiet"]);
        command.args(["--sizes", "8B,64B,512B,4kB", "--rounds", "100", "--point-time", "1s"]);
        command.args(["--chasms", "off", "--reference", "off", "--reconnect", "0"]);
        command.args(["--out", "result"]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let samples = hosts.path("result/samples.jsonl");
        let visits = || {
            let text = std::fs::read_to_string(&samples).unwrap_or_default();
            text.lines().filter(|line| line.contains("ping_pong_visit")).count()
        };
        wait_until(|| visits() > 20);
        agent.kill();
        assert_eq!(child.wait().unwrap().code(), Some(4));
        agent.is_idle_soon();
        let kept = visits();
        let ends = of_kind(&hosts.path("result"), "ping_pong_visit").into_iter();
        let failed: Vec<Value> =
            ends.map(|line| line["ended"].clone()).filter(|end| end["how"] == "failed").collect();
        assert!((1..=2).contains(&failed.len()), "{failed:?}");
        let detail = failed[0]["detail"].as_str().unwrap();
        assert!(detail.contains("agent lab1"), "{detail}");
        let result = read_json(&hosts.path("result/result.json"));
        assert_eq!(result["complete"], false);
        assert_eq!(result["curves"][0]["points"].as_array().unwrap().len(), 4);
        let events = lines(&hosts.path("result/events.jsonl"));
        assert!(events.iter().any(|event| event["event"] == "agent_lost"), "{events:?}");
        agent.restart();
        let again = hosts.btu(2).args(["pingpong", "--quiet", "--resume", "result"]).output();
        let again = again.unwrap();
        assert_eq!(again.status.code(), Some(2), "{}", said(&again));
        assert!(said(&again).contains("no --peer was given"), "{}", said(&again));
        let mut again = hosts.btu(2);
        again.args(["pingpong", "--quiet", "--peer", "lab1", "--resume", "result"]);
        again.ends_with(0);
        assert!(visits() > kept, "nothing was left to measure");
        assert_eq!(read_json(&hosts.path("result/result.json"))["complete"], true);
    });
}

#[test]
fn an_agent_whose_policy_names_no_service_answers_no_block() {
    isolated("agent::blocks::an_agent_whose_policy_names_no_service_answers_no_block", || {
        let hosts = Hosts::new();
        let agent = hosts.lab1(&["[[class]]\nservices = []\n"]);
        let refused = pingpong(&hosts, &["tcp"]);
        assert_eq!(refused.status.code(), Some(4), "{}", said(&refused));
        let reason = "policy: the service pingpong is not allowed here";
        assert!(said(&refused).contains(reason), "{}", said(&refused));
        let elsewhere = pingpong(&hosts, &["unix"]);
        assert_eq!(elsewhere.status.code(), Some(4), "{}", said(&elsewhere));
        assert_eq!(agent.workers(), 0);
    });
}
