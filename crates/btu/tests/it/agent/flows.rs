//! Traffic between paired hosts: the same result as on one machine, known clocks, and an agent that
//! refuses, dies or loses its conductor ends it with the reason.

use std::process::Child;
use std::process::Output;

use serde_json::Value;

use super::SOON;
use super::ended;
use super::hosts::Hosts;
use super::hosts::said;
use crate::isolated::isolated;
use crate::program::lines;
use crate::program::read_json;
use crate::program::signal;
use crate::program::wait_until;

/// Both directions, all transports, all three disciplines, a full stream, several parts, and a
/// conversation, to two hosts, side by side and one after the other.
const ALL: &str = r#"
run = { serial = ["full", { parallel = ["bursts", "back"] }, "asked"] }

[[cluster]]
name = "full"
[[cluster.test]]
name = "stream"
path = "OWN -> FIRST"
type = "full(blocksize=16 KiB, duration=200 ms)"
transport = "tcp(window=64 KiB)"

[[cluster]]
name = "bursts"
[[cluster.test]]
name = "queued"
path = "OWN -> FIRST"
type = "burstq(blocksize=exp(5 kB), period=uniform(2 ms, 10 ms), duration=300 ms)"
drain = "yes"
receipts = "yes"
[[cluster.test]]
name = "other"
path = "OWN -> OTHER"
type = "burstq(blocksize=2 kB, period=10 ms, duration=300 ms)"
drain = "yes"
[[cluster.test]]
name = "voice"
path = "OWN -> SECOND"
type = "voice-cbr(duration=300 ms)"
transport = "udp"
receipts = "yes"
[[cluster.test]]
name = "packets"
path = "OWN -> FIRST"
type = "burstq(blocksize=5 kB, period=10 ms, duration=300 ms)"
transport = "quic"
drain = "yes"
receipts = "yes"

[[cluster]]
name = "back"
[[cluster.test]]
name = "unqueued"
path = "FIRST -> OWN"
type = "burst(blocksize=3 kB, period=5 ms, duration=300 ms)"
start = "20 ms"
receipts = "yes"
[[cluster.test]]
name = "game"
path = "FIRST -> OWN"
type = "mobile-game(duration=300 ms)"
transport = "udp"
receipts = "yes"
[[cluster.test]]
name = "returned"
path = "FIRST -> OWN"
type = "burstq(blocksize=5 kB, period=10 ms, duration=300 ms)"
transport = "quic(congestion=reno)"
drain = "yes"
receipts = "yes"

[[cluster]]
name = "asked"
[[cluster.test]]
name = "keys"
path = "OWN -> FIRST"
type = "telnet(duration=300 ms)"
[[cluster.test]]
name = "pages"
path = "OWN -> FIRST"
type = "web-h3(duration=300 ms)"
transport = "quic"
"#;

/// Traffic of every kind between `own` and two others, the second of which may be named in two ways.
pub(super) fn all(own: &str, [first, other, second]: [&str; 3]) -> String {
    let named = [("OWN", own), ("FIRST", first), ("OTHER", other), ("SECOND", second)];
    named.iter().fold(ALL.to_owned(), |text, (place, name)| text.replace(place, name))
}

/// `btu traffic` on the host under test.
pub(super) fn traffic(hosts: &Hosts, text: &str, args: &[&str]) -> Output {
    std::fs::write(hosts.path("s.toml"), text).unwrap();
    hosts.btu(2).args(["traffic", "s.toml"]).args(args).output().unwrap()
}

/// The same while it runs.
pub(super) fn begun(hosts: &Hosts, name: &str, text: &str, args: &[&str]) -> Child {
    let file = format!("{name}.toml");
    std::fs::write(hosts.path(&file), text).unwrap();
    hosts.traffic(&[&[&*file, "--out", name][..], args].concat())
}

pub(super) fn one(from: &str, to: &str, rest: &str) -> String {
    format!("[[cluster]]\n[[cluster.test]]\npath = \"{from} -> {to}\"\n{rest}\n")
}

/// Whether one host times it.
pub(super) fn is_asked(flow: &Value) -> bool {
    flow["test"] == "keys" || flow["test"] == "pages"
}

fn seconds(value: &Value) -> Option<f64> {
    value.as_f64()
}

#[test]
fn flows_of_every_kind_run_between_paired_hosts() {
    isolated("agent::flows::flows_of_every_kind_run_between_paired_hosts", || {
        let hosts = Hosts::new();
        let agents =
            [0, 1].map(|number| hosts.agent(number, &["[[class]]\ndata_ports = [7420, 7499]\n"]));
        hosts.pair(&agents[0], "lab1");
        hosts.pair(&agents[1], "Lab2");
        let text = all("here", ["lab1", "LAB2", "lab2"]);
        let ended = traffic(&hosts, &text, &["--seed", "7", "--out", "result", "--json"]);
        assert_eq!(ended.status.code(), Some(0), "{}", said(&ended));
        let result: Value = serde_json::from_slice(&ended.stdout).unwrap();
        assert_eq!(result["complete"], true, "{}", said(&ended));
        let flows = result["flows"].as_array().unwrap();
        let of = |name: &'static str| {
            flows.iter().filter(move |flow| flow["test"].as_str().unwrap().starts_with(name))
        };
        for (name, count, path) in [
            ("stream", 1, ["test", "active"]),
            ("queued", 1, ["test", "active"]),
            ("other", 1, ["test", "passive"]),
            ("voice", 1, ["test", "passive"]),
            ("packets", 1, ["test", "active"]),
            ("unqueued", 1, ["active", "test"]),
            ("returned", 1, ["active", "test"]),
            ("keys", 1, ["test", "active"]),
            ("pages", 1, ["test", "active"]),
        ] {
            assert_eq!(of(name).count(), count, "{name}: {flows:#?}");
            let flow = of(name).next().unwrap();
            assert_eq!([&flow["from"], &flow["to"]], path, "{flow}");
        }
        assert_eq!(of("game").count(), 2, "one for each direction");
        for flow in flows {
            assert_eq!(flow["ended"], "complete", "{flow}");
            // What is not queued may have been missed by a host that was held up.
            let may_miss = ["stream", "unqueued", "keys"].iter().any(|name| flow["test"] == *name);
            assert!(may_miss || flow["arrived_bytes"].as_u64().unwrap() > 0, "{flow}");
        }
        for name in ["queued", "other", "packets", "returned"] {
            let flow = of(name).next().unwrap();
            assert_eq!(flow["arrived_bytes"], flow["delivered_bytes"], "{flow}");
            assert_eq!(flow["blocks_due"], flow["blocks_sent"], "{flow}");
        }
        known_clocks(&result);
        answered_in_band(flows);
        for agent in &agents {
            agent.is_idle_soon();
            let log = std::fs::read_to_string(agent.state().join("audit.ndjson")).unwrap();
            assert!(log.contains("plan traffic"), "{log}");
        }
        let disclosed = read_json(&hosts.path("result/hosts.json"));
        for (role, agent) in ["active", "passive"].into_iter().zip(&agents) {
            let facts = &disclosed["hosts"][role];
            assert_eq!(facts["agent"]["identity"]["value"], agent.id(), "{role}");
            assert!(facts["system"]["kernel"]["value"].is_string(), "{role}");
        }
        again(&hosts, &result);
    });
}

/// Both directions over all transports: what was read whole was answered, and each receipt came later than its block was due.
fn answered_in_band(flows: &[Value]) {
    let mut asked = 0;
    for flow in flows {
        let receipts = &flow["receipts"];
        let name = flow["test"].as_str().unwrap();
        if ["stream", "other", "keys", "pages"].contains(&name) {
            assert!(receipts.is_null() && flow["receipts_reason"].is_string(), "{flow}");
            continue;
        }
        asked += 1;
        let [answered, came, missing] = ["blocks_answered", "receipts_came", "receipts_missing"]
            .map(|key| receipts[key].as_u64().unwrap());
        assert_eq!(answered, came + missing, "{flow}");
        assert!(flow["transport"] == "udp" || missing == 0, "{flow}");
        // A flow of which nothing fell due has nothing to answer.
        assert!(came > 0 || flow["blocks_sent"] == 0, "{flow}");
        let [least, most] =
            ["min", "max"].map(|of| seconds(&receipts[format!("receipt_delay_{of}_s")]));
        assert!(came == 0 || least > Some(0.0) && most >= least, "{flow}");
    }
    assert_eq!(asked, 7, "{flows:#?}");
}

/// All three hosts are this machine, whose monotonic clock is one: the truth is that none is ahead, and
/// whatever was read must not exclude it.
fn known_clocks(result: &Value) {
    let clocks = result["clocks"].as_array().unwrap();
    assert_eq!(clocks.len(), 1 + 2 + 1 + 1, "{clocks:#?}");
    for clock in clocks {
        let ahead = seconds(&clock["ahead_s"]).unwrap().abs();
        let bound = seconds(&clock["bound_s"]).unwrap();
        assert_eq!(
            (&clock["readings"], &clock["incomparable"]),
            (&32.into(), &"".into()),
            "{clock}"
        );
        assert!(ahead <= bound && bound <= seconds(&clock["least_round_trip_s"]).unwrap() * 64.0);
    }
    for flow in result["flows"].as_array().unwrap() {
        if is_asked(flow) {
            // One clock asks and hears the answer.
            assert!(flow["delay_bound_s"].is_null() && flow["delay_p50_s"].is_f64(), "{flow}");
            continue;
        }
        let bound = seconds(&flow["delay_bound_s"]).unwrap();
        for key in ["delay_p50_s", "delay_max_s", "window_delay_s", "drained_delay_s"] {
            assert!(seconds(&flow[key]).is_none_or(|delay| delay >= bound), "{key}: {flow}");
        }
        let is_stream = flow["test"] == "stream";
        let is_missing = flow["delay_p50_s"].is_null() && !is_stream;
        let hidden = flow["delay_hidden"].as_str().expect("the key is there");
        assert!(!is_missing || !hidden.is_empty(), "{flow}");
    }
}

/// The same plan draws the same trains at both hosts, to the byte.
fn again(hosts: &Hosts, first: &Value) {
    let mut again = hosts.btu(2);
    let again = again.args(["traffic", "--plan", "result/plan.toml", "--out", "again"]).output();
    let again = again.unwrap();
    assert_eq!(again.status.code(), Some(0), "{}", said(&again));
    let report = String::from_utf8_lossy(&again.stdout);
    for word in ["Clocks of the other hosts", "known within", "all +-", "queued"] {
        assert!(report.contains(word), "no {word} in\n{report}");
    }
    let drawn = |result: &Value| -> Vec<(String, u64)> {
        let flows = result["flows"].as_array().unwrap().iter();
        let scheduled = flows.filter(|flow| flow["test"] != "stream" && !is_asked(flow));
        let mut drawn: Vec<(String, u64)> = scheduled
            .map(|flow| (flow["test"].to_string(), flow["blocks_due"].as_u64().unwrap()))
            .collect();
        drawn.sort();
        drawn
    };
    assert_eq!(drawn(&read_json(&hosts.path("again/result.json"))), drawn(first));
}

#[test]
fn the_end_of_a_conductor_is_the_end_of_the_agents_traffic() {
    isolated("agent::flows::the_end_of_a_conductor_is_the_end_of_the_agents_traffic", || {
        let hosts = Hosts::new();
        let agent = hosts.lab1(&[]);
        let datagrams = "type = \"burstq(blocksize=1 kB, period=20 ms, duration=300 s)\"\n\
                         transport = \"udp\"\n[[cluster.test]]\npath = \"lab1 -> here\"\n\
                         type = \"full(blocksize=64 KiB, duration=300 s)\"";
        let text = one("lab1", "here", datagrams);
        // Nobody answers any more, and the conductor is told to stop: it waits for nothing.
        let mut child = begun(&hosts, "silent", &text, &[]);
        wait_until(|| hosts.received(2, "black0") > 1 << 20);
        let all = agent.processes();
        for process in &all {
            signal(*process, "STOP");
        }
        signal(child.id(), "INT");
        let (code, told) = ended(&mut child, SOON);
        assert_eq!(code, Some(130), "{told}");
        // The agent last: it ends its worker.
        for process in all.iter().rev() {
            signal(*process, "CONT");
        }
        agent.is_idle_soon();
        let mut child = begun(&hosts, "long", &text, &[]);
        let before = hosts.received(2, "black0");
        wait_until(|| hosts.received(2, "black0") > before + (1 << 20));
        assert_eq!(agent.workers(), 1);
        signal(child.id(), "KILL");
        child.wait().unwrap();
        // Who sent is gone, and with it every socket that could send.
        agent.is_idle_soon();
        assert_eq!(agent.status()["working_for"], Value::Array(Vec::new()));
    });
}

#[test]
fn an_agent_that_stops_all_work_ends_a_run_that_nobody_speaks_in() {
    isolated("agent::flows::an_agent_that_stops_all_work_ends_a_run_that_nobody_speaks_in", || {
        let hosts = Hosts::new();
        let agent = hosts.lab1(&[]);
        // For five minutes nothing is said: last words and the end of the channel are all that comes.
        let datagrams = "type = \"burstq(blocksize=1 kB, period=10 ms, duration=300 s)\"";
        let text = one("here", "lab1", &format!("{datagrams}\ntransport = \"udp\""));
        let mut child = begun(&hosts, "long", &text, &["--reconnect", "0"]);
        let before = hosts.received(0, "lan");
        wait_until(|| hosts.received(0, "lan") > before + (1 << 16));
        agent.admin("stop-all");
        agent.is_idle_soon();
        let (code, told) = ended(&mut child, SOON);
        assert_eq!(code, Some(4), "{told}");
        assert!(told.contains("an agent was lost: "), "{told}");
        assert!(told.contains("all work was stopped"), "{told}");
        assert!(told.contains("go on with: btu traffic --resume long"), "{told}");
    });
}

#[test]
fn an_agent_that_dies_ends_the_run_and_resume_makes_it_again() {
    isolated("agent::flows::an_agent_that_dies_ends_the_run_and_resume_makes_it_again", || {
        let hosts = Hosts::new();
        let mut agent = hosts.lab1(&[]);
        let text =
            one("here", "b", "type = \"burstq(blocksize=1 kB, period=5 ms, duration=500 ms)\"");
        let six = ["--host", "b=lab1", "--passes", "6", "--reconnect", "0"];
        let mut child = begun(&hosts, "result", &text, &six);
        let samples = hosts.path("result/samples.jsonl");
        wait_until(|| super::has_records(&hosts.path("result"), 1));
        agent.kill();
        assert_eq!(child.wait().unwrap().code(), Some(4));
        let kept = lines(&samples).len();
        assert!((1..6).contains(&kept), "{kept} runs");
        let events = lines(&hosts.path("result/events.jsonl"));
        assert!(events.iter().any(|event| event["event"] == "agent_lost"), "{events:?}");
        agent.restart();
        let mut again = hosts.btu(2);
        again.args(["traffic", "--quiet", "--resume", "result"]).ends_with(0);
        let result = read_json(&hosts.path("result/result.json"));
        assert_eq!((&result["complete"], lines(&samples).len()), (&true.into(), 6));
        agent.is_idle_soon();
        // Datagrams would go on for minutes: nobody but the control connection tells that it is over.
        let datagrams = "type = \"burstq(blocksize=1 kB, period=10 ms, duration=300 s)\"";
        let text = one("here", "lab1", &format!("{datagrams}\ntransport = \"udp\""));
        let mut child = begun(&hosts, "long", &text, &["--reconnect", "0"]);
        let before = hosts.received(0, "lan");
        wait_until(|| hosts.received(0, "lan") > before + (1 << 16));
        agent.kill();
        let (code, told) = ended(&mut child, SOON);
        assert_eq!(code, Some(4), "{told}");
    });
}

#[test]
fn standard_methods_and_sweeps_measure_the_path_to_a_paired_host() {
    let name = "agent::flows::standard_methods_and_sweeps_measure_the_path_to_a_paired_host";
    isolated(name, || {
        let hosts = Hosts::new();
        let _agent = hosts.lab1(&[]);
        let study = |args: &[&str]| {
            let mut command = hosts.btu(2);
            let ended =
                command.arg("traffic").args(args).args(["--peer", "lab1", "--json"]).output();
            let ended = ended.unwrap();
            let told = String::from_utf8_lossy(&ended.stdout);
            assert_eq!(ended.status.code(), Some(0), "{}{told}", said(&ended));
            serde_json::from_slice::<Value>(&ended.stdout).unwrap()
        };
        let capacity = study(&["method", "rfc9097", "--quick", "--time", "300ms", "--out", "c"]);
        let found = &capacity["method"]["capacities"][0];
        assert!(seconds(&found["capacity_bit_s"]).unwrap() > 0.0, "{capacity:#?}");
        // Two clocks are known within something: what is below it is not said.
        let bound = seconds(&found["least_delay_bound_s"]).unwrap();
        let least = seconds(&found["least_delay_s"]);
        assert!(bound > 0.0 && least.is_none_or(|least| least >= bound), "{found:#?}");
        let windows = study(&["method", "rfc6349", "--quick", "--time", "100ms", "--out", "w"]);
        let mtu = &windows["method"]["path_mtu"];
        assert_eq!((&mtu["path_mtu_bytes"], &mtu["exact"]), (&1500.into(), &true.into()), "{mtu}");
        let transfers = windows["method"]["transfers"].as_array().unwrap();
        assert!(!transfers.is_empty(), "{windows:#?}");
        for transfer in transfers {
            assert!(seconds(&transfer["time_ratio"]).unwrap() > 0.0, "{transfer}");
            assert!(transfer["buffer_delay_percent_reason"].is_string(), "{transfer}");
        }
        let trips = study(&["method", "responsiveness", "--quick", "--time", "60ms", "--out", "r"]);
        assert!(trips["method"]["responsiveness"].is_array(), "{trips:#?}");
        let sweep = study(&[
            "sweep", "sessions", "--values", "1,3", "--time", "100ms", "--passes", "1", "--out",
            "s",
        ]);
        let cells = sweep["cells"].as_array().unwrap();
        assert_eq!(cells.len(), 2, "{cells:#?}");
        for cell in cells {
            assert!(seconds(&cell["departure_rate_bit_s"]).unwrap() > 0.0, "{cell}");
        }
        let refused =
            hosts.btu(2).args(["traffic", "qos", "--peer", "lab1", "--rate", "1Mbit/s"]).output();
        let refused = refused.unwrap();
        assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
        assert!(
            said(&refused).contains("links are emulated on the local testbed"),
            "{}",
            said(&refused)
        );
    });
}

/// A sheet of the path to a paired host has rates, delays, round trips and sessions. Delays of one way stand there with how
/// far two clocks may be apart. Every line has its figure, or says why it has none, in the result as on the page.
#[test]
fn a_sheet_is_measured_of_the_path_to_a_paired_host() {
    isolated("agent::flows::a_sheet_is_measured_of_the_path_to_a_paired_host", || {
        let hosts = Hosts::new();
        let _agent = hosts.lab1(&[]);
        let classes = ["qos", "bulk,voice", "--peer", "lab1", "--sessions", "2"];
        let short = ["--time", "100ms", "--passes", "1", "--out", "q", "--json"];
        let ended = hosts.btu(2).arg("traffic").args(classes).args(short).ends_with(0);
        let result: Value = serde_json::from_slice(&ended.stdout).unwrap();
        assert_eq!((&result["study"], &result["complete"]), (&"qos".into(), &true.into()));
        let sheet = result["sheet"].as_array().unwrap();
        let line = |of: &str, figure: &str| {
            let found = sheet.iter().find(|line| line["of"] == *of && line["figure"] == *figure);
            found.unwrap_or_else(|| panic!("no {figure} of {of} in {sheet:#?}"))
        };
        // Nothing holds this path but the machine: it need not have a knee.
        for figure in ["mu_bit_s", "capacity_bit_s", "rpm", "idle_rpm"] {
            assert!(seconds(&line("path", figure)["value"]).unwrap() > 0.0, "{figure}");
        }
        let has_knee = seconds(&line("path", "knee_bit_s")["value"]).is_some();
        let whole = if has_knee { "the knee" } else { "mu" };
        for share in [50, 80, 95] {
            let load = &format!("{share} % of {whole}");
            assert!(seconds(&line(load, "arrival_rate_bit_s")["value"]).unwrap() > 0.0, "{load}");
            let delay = line(load, "delay_p99_s");
            let bound = seconds(&delay["delay_bound_s"]).unwrap();
            assert!(bound > 0.0, "{delay}");
            assert!(seconds(&delay["value"]).is_none_or(|value| value >= bound), "{delay}");
        }
        for class in ["bulk", "voice"] {
            let sessions = line(class, "sessions");
            assert!(!sessions["cells"].as_array().unwrap().is_empty(), "{sessions}");
            let most = seconds(&sessions["value"]);
            assert!(most.is_none_or(|most| (0.0..=2.0).contains(&most)), "{sessions}");
        }
        // The sender's kernel tells these; nobody samples the sockets of both hosts at once.
        for figure in ["least_round_trip_s", "efficiency_percent"] {
            assert!(seconds(&line("path", figure)["value"]).unwrap() > 0.0, "{figure}");
        }
        for figure in ["stream_rpm", "buffer_delay_percent"] {
            let said = line("path", figure)["value_reason"].as_str().unwrap();
            assert!(said.contains("both ends are on one host"), "{said}");
        }
        for line in sheet {
            let said = line["value_reason"].as_str().is_some_and(|said| !said.is_empty());
            assert_eq!(line["value"].is_null(), said, "{line}");
        }
        let page = hosts.btu(2).args(["report", "q"]).output().unwrap();
        let page = String::from_utf8_lossy(&page.stdout).into_owned();
        for word in ["Sessions that the path carries", "voice", "(RPM)", "Not available: "] {
            assert!(page.contains(word), "no {word} in\n{page}");
        }
    });
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_sent() {
    isolated("agent::flows::what_cannot_be_is_refused_before_anything_is_sent", || {
        let hosts = Hosts::new();
        let policy = "[[class]]\nmax_flows = 2\nmax_run = \"100s\"\ndata_ports = [7420, 7499]\n";
        let agents = [hosts.agent(0, &[policy]), hosts.agent(1, &["[[class]]\nservices = []\n"])];
        hosts.pair(&agents[0], "lab1");
        hosts.pair(&agents[1], "lab2");
        let bursts = "type = \"burstq(blocksize=1 kB, period=5 ms, duration=100 ms)\"";
        let refused = |text: &str, args: &[&str], code: i32, words: &[&str]| {
            let ended = traffic(&hosts, text, args);
            assert_eq!(ended.status.code(), Some(code), "{}", said(&ended));
            for word in words {
                assert!(said(&ended).contains(word), "no {word} in {}", said(&ended));
            }
        };
        // One message that names host, place, and how to pair.
        let unknown = "s.toml:3:17: host lab9 is neither this one (write here) nor paired with it; \
                       paired hosts: lab1, lab2";
        let hint = "btu pair INVITE --name lab9";
        refused(&one("here", "lab9", bursts), &[], 2, &[unknown, hint]);
        refused(
            &one("here", "lab1", bursts),
            &["--host", "x=lab1"],
            2,
            &["no host of the scenario"],
        );
        refused(&one("here", "x", bursts), &["--host", "x=lab8"], 2, &["known here: lab1, lab2"]);
        let asked = one("lab1", "here", "type = \"telnet(duration=1 s)\"");
        refused(&asked, &[], 2, &["a model that waits for answers is asked from this host"]);
        refused(&one("here", "lab1", bursts), &["--rate", "1Mbit/s"], 2, &["links are emulated"]);
        // The policy of the agent.
        let services = "policy: the service traffic is not allowed here";
        refused(&one("here", "lab2", bursts), &[], 4, &[services]);
        let three = one("here", "lab1", bursts)
            + &format!("[[cluster.test]]\npath = \"here -> lab1\"\n{bursts}\n").repeat(2);
        refused(&three, &[], 4, &["policy: 3 flows asked for, max_flows = 2"]);
        let long = bursts.replace("100 ms", "90 s");
        refused(&one("here", "lab1", &long), &[], 4, &["asked for, max_run = 100s"]);
        for agent in &agents {
            assert_eq!(agent.workers(), 0);
        }
    });
}
