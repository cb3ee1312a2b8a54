//! Traffic as its users see it.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use btu_core::traffic::Action;
use btu_core::traffic::Dialect;
use btu_core::traffic::Streams;
use btu_core::traffic::Train;
use btu_core::traffic::converse;
use btu_core::units::Nanos;
use serde_json::Value;
use tempfile::TempDir;

use crate::commands::needs;
use crate::commands::run;
use crate::program::assert_reported_again;
use crate::program::btu;
use crate::program::ended_within;
use crate::program::is_left_alone;
use crate::program::lines;
use crate::program::read_json;
use crate::program::said;
use crate::program::signal;
use crate::program::wait_until;

/// A script in `NetSpec`'s units, as its users wrote them.
const SCRIPT: &str = "cluster {
  test quadra { type = burstq (blocksize=exp(mean=5000, min=8, max=20000), period=uniform(2000, 20000), duration=1);
    protocol = tcp (window=65536); own = quadra:42005; peer = vasari:42005; }
  test vasari { type = sink (blocksize=12500, duration=1); protocol = tcp (window=65536)
    own = vasari:42005; peer = quadra:42005; }
}";

fn script(folder: &Path, text: &str) {
    std::fs::write(folder.join("a.ns"), text).unwrap();
}

fn traffic(folder: &Path, args: &[&str]) -> Command {
    let mut command = btu();
    command.current_dir(folder).arg("traffic").args(args);
    command
}

#[test]
fn a_script_runs_as_it_is_and_its_report_comes_again_byte_by_byte() {
    needs!();
    let folder = TempDir::new().unwrap();
    script(folder.path(), SCRIPT);
    let said = run(&mut traffic(folder.path(), &["a.ns", "--seed", "7", "--out", "out"])).unwrap();
    for word in ["Rates", "Delay of blocks", "Where the queue stood", "Inter-departure", "report:"]
    {
        assert!(said.contains(word), "no {word} in\n{said}");
    }
    let result = read_json(&folder.path().join("out/result.json"));
    let flow = &result["flows"][0];
    assert_eq!((&result["complete"], &flow["ended"]), (&Value::from(true), &"complete".into()));
    assert_eq!(
        (&flow["from"], &flow["to"], &flow["test"]),
        (&"test".into(), &"active".into(), &"quadra".into())
    );
    assert_eq!(flow["arrived_bytes"], flow["delivered_bytes"]);
    assert!(flow["delay_p50_s"].as_f64().is_some_and(|delay| delay > 0.0));
    assert_reported_again(folder.path(), "quadra");
    // The same plan draws the same train, to the byte.
    run(&mut traffic(folder.path(), &["--plan", "out/plan.toml", "--out", "again"])).unwrap();
    let drawn =
        |name: &str| read_json(&folder.path().join(name))["flows"][0]["arrived_bytes"].clone();
    assert_eq!(drawn("out/result.json"), drawn("again/result.json"));
}

#[test]
fn clusters_run_side_by_side_and_one_after_the_other() {
    needs!();
    let folder = TempDir::new().unwrap();
    let cluster = |port: u16, traffic: &str, protocol: &str| {
        format!(
            "cluster {{ test a {{ type = {traffic}; protocol = {protocol}; own = a:{port}; peer = b:{port}; }}
             test b {{ type = sink (blocksize=65536, duration=1); protocol = {protocol}; own = b:{port}; peer = a:{port}; }} }}"
        )
    };
    let bursts = "burst (blocksize=1000, period=10000, duration=0.3)";
    let text = format!(
        "serial {{ parallel {{ {} {} }} {} }}",
        cluster(42011, bursts, "tcp"),
        cluster(42013, bursts, "udp"),
        cluster(42015, "full (blocksize=1250, duration=0.2)", "tcp"),
    );
    script(folder.path(), &text);
    run(&mut traffic(folder.path(), &["a.ns", "--out", "out", "--quiet"])).unwrap();
    let runs = lines(&folder.path().join("out/samples.jsonl"));
    assert_eq!(runs.len(), 1);
    let clusters = runs[0]["clusters"].as_array().unwrap();
    assert_eq!(clusters.len(), 3);
    // The last one to end is the one that had to wait for the others.
    assert!(clusters[2]["flows"][0]["traffic"].as_str().unwrap().starts_with("full("));
    assert!(clusters.iter().all(|cluster| cluster["failed"].is_null()));
}

/// T1: scripts of `NetSpec`'s users run as they are: nested blocks of several kinds, over both transports; and one without
/// hosts, with ports that do not match and settings that end nowhere.
#[test]
fn t1_scripts_of_the_corpus_are_sent_as_they_are() {
    needs!();
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../btu-core/src/traffic/testdata");
    for (name, flows) in [("mixed.ns", 3), ("quirks.ns", 1)] {
        let folder = TempDir::new().unwrap();
        let file = format!("{corpus}/{name}");
        run(&mut traffic(folder.path(), &[&file, "--seed", "1", "--out", "out", "--quiet"]))
            .unwrap();
        let result = read_json(&folder.path().join("out/result.json"));
        assert_eq!(result["complete"], true, "{name}: {result:#}");
        let sent = result["flows"].as_array().unwrap();
        assert_eq!(sent.len(), flows, "{name}");
        for flow in sent {
            assert_eq!(flow["ended"], "complete", "{name}: {flow}");
            assert!(flow["delivered_bytes"].as_u64().unwrap() > 0, "{name}: {flow}");
        }
    }
}

#[test]
fn more_than_a_line_carries_waits_and_is_seen_to_wait() {
    needs!();
    let folder = TempDir::new().unwrap();
    let args = ["sweep", "period", "--values", "5ms,40ms", "--time", "1500ms", "--passes", "1"];
    let path = ["--rate", "10Mbit/s", "--queue", "64kB", "--out", "out", "--quiet"];
    run(&mut traffic(folder.path(), &[&args[..], &path[..]].concat())).unwrap();
    let result = read_json(&folder.path().join("out/result.json"));
    let mu = result["mu_bit_s"].as_f64().unwrap();
    // 1448 of 1538 bytes on the wire are payload; no machine makes a line faster.
    assert!(mu < 10e6 * 1448.0 / 1538.0 * 1.01, "{mu}");
    let cells = result["cells"].as_array().unwrap();
    let cell = |label: &str| cells.iter().find(|cell| cell["label"] == label).unwrap();
    let figure = |label: &str, key: &str| cell(label)[key].as_f64().unwrap();
    // What is offered is a matter of the schedule alone: 12500 B at 5 and 40 ms.
    assert!((figure("5ms", "arrival_rate_bit_s") / 20e6 - 1.0).abs() < 0.01);
    assert!((figure("40ms", "arrival_rate_bit_s") / 2.5e6 - 1.0).abs() < 0.03);
    assert!(figure("5ms", "departure_rate_bit_s") <= 10e6 * 1448.0 / 1538.0 * 1.01);
    assert!(figure("5ms", "offered_ratio") > 2.0);
    assert!(figure("5ms", "window_delay_s") > 0.2, "half of 1.5 s, less 1/rho of it");
    let page = std::fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    assert!(page.contains("figure 7") && page.contains("figure 8"));
}

#[test]
fn the_paper_is_measured_again_figure_by_figure() {
    needs!();
    let folder = TempDir::new().unwrap();
    let said =
        run(&mut traffic(folder.path(), &["viseum", "--smoke", "--seed", "3", "--out", "out"]))
            .unwrap();
    assert!(said.contains("text and its arithmetic disagree"), "{said}");
    let page = std::fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    for figure in 4..=10 {
        assert!(page.contains(&format!("(napier, figure {figure})")), "no figure {figure}");
    }
    let result = read_json(&folder.path().join("out/result.json"));
    let cells = result["cells"].as_array().unwrap();
    let of = |group: &str| cells.iter().find(|cell| cell["group"] == group).unwrap();
    // 1.3 times what the line carries: at the least so much is lost, whatever the machine does.
    assert!(of("datagrams")["lost_share"].as_f64().unwrap() > 0.15);
    let slow = of("slow-line")["departure_rate_bit_s"].as_f64().unwrap();
    assert!(slow < 4.6e6, "the slow line carried {slow}");
    assert!(of("time")["offered_ratio"].as_f64().unwrap() > 5.0);
    // Beyond the knee, too, the queue of figure 8 is sent to its end.
    assert!(of("period")["drained_delay_s"].is_f64(), "{}", of("period"));
    // Whoever has the samples gets the same figures.
    let verified = run(btu().current_dir(folder.path()).args(["verify", "out"])).unwrap();
    assert!(verified.contains("VALID: "), "{verified}");
}

#[test]
fn a_sheet_says_how_many_sessions_of_a_class_a_path_carries() {
    needs!();
    let folder = TempDir::new().unwrap();
    let args = ["qos", "teleconf", "--time", "100ms", "--passes", "1", "--out", "out"];
    let path = ["--rate", "10Mbit/s", "--queue", "10pkt", "--quiet"];
    let said = run(&mut traffic(folder.path(), &[&args[..], &path[..]].concat())).unwrap();
    let words = ["mu, one full stream", "Sessions that the path carries", "teleconf"];
    // So short a measurement need not show the knee: then it is 95 % of mu.
    for word in words.into_iter().chain(["95 % of ", "RFC 9097", "(RPM)"]) {
        assert!(said.contains(word), "no {word} in\n{said}");
    }
    let cells = read_json(&folder.path().join("out/result.json"))["cells"].clone();
    let classes = cells.as_array().unwrap().iter().filter(|cell| cell["group"] == "class");
    assert!(classes.count() >= 1);
}

#[test]
fn an_interrupted_sweep_goes_on_where_it_stopped() {
    needs!();
    let folder = TempDir::new().unwrap();
    let args = [
        "sweep", "sessions", "--values", "1,2,3", "--time", "1s", "--passes", "2", "--out", "out",
        "--quiet",
    ];
    let mut child =
        traffic(folder.path(), &args).stdout(std::process::Stdio::null()).spawn().unwrap();
    let samples = folder.path().join("out/samples.jsonl");
    wait_until(|| std::fs::read_to_string(&samples).is_ok_and(|text| text.ends_with('\n')));
    signal(child.id(), "INT");
    let status = ended_within(&mut child, Duration::from_mins(1)).unwrap();
    assert_eq!(status.code(), Some(130));
    let before = lines(&samples).len();
    assert!((1..6).contains(&before), "{before}");
    run(&mut traffic(folder.path(), &["--resume", "out", "--quiet"])).unwrap();
    assert_eq!(lines(&samples).len(), 6);
    let result = read_json(&folder.path().join("out/result.json"));
    assert_eq!(result["complete"], true);
    assert_eq!(result["cells"].as_array().unwrap().len(), 3);
    is_left_alone(&folder.path().join("out"), "traffic");
}

/// T15: every model, all at once, the one that wants a recording with its example; those that wait for no answer
/// over datagrams, too, and those that follow reports with the fixed rate that they have over streams. What is asked for is what was drawn, to the byte, however heavy the tails
/// of a law are, and over streams all of it arrives: rates are those of the train.
#[test]
fn t15_every_model_can_be_sent() {
    needs!();
    let listed = run(btu().args(["model", "list", "--json"])).unwrap();
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let models = listed["models"].as_array().unwrap();
    let sent: Vec<&Value> = models.iter().collect();
    assert!(sent.len() > 20, "{sent:?}");
    let open = sent.iter().filter(|model| model["feedback"] == "open").copied();
    let open: Vec<&Value> = open.collect();
    assert!(open.len() > 10, "{open:?}");
    let follow = sent.iter().filter(|model| model["feedback"] == "reports").copied();
    let over_udp: Vec<&Value> = open.iter().copied().chain(follow).collect();
    assert!(over_udp.len() > open.len(), "{over_udp:?}");
    for (transport, models) in [("tcp", &sent), ("udp", &over_udp), ("quic", &sent)] {
        all_are_sent(models, transport);
    }
}

/// Sends these models beside each other over a transport, to their ends.
fn all_are_sent(models: &[&Value], transport: &str) {
    let folder = TempDir::new().unwrap();
    let test = |model: &&Value| {
        let name = model["name"].as_str().unwrap();
        let path = format!("path = \"test -> active\"\ntransport = \"{transport}\"");
        let drain = if model["feedback"] == "open" { "drain = \"yes\"\n" } else { "" };
        let sent = over(name, transport);
        format!("[[cluster.test]]\nname = \"{name}\"\n{path}\n{drain}type = \"{sent}\"\n")
    };
    let tests: String = models.iter().map(test).collect();
    let file = folder.path().join("all.toml");
    std::fs::write(&file, format!("[[cluster]]\nname = \"all\"\n{tests}")).unwrap();
    let args = ["all.toml", "--seed", "1", "--out", "out", "--quiet"];
    run(&mut traffic(folder.path(), &args)).unwrap();
    let result = read_json(&folder.path().join("out/result.json"));
    let flows = result["flows"].as_array().unwrap();
    for model in models {
        let name = model["name"].as_str().unwrap();
        let is_own = |flow: &&Value| {
            let test = flow["test"].as_str().unwrap();
            test == name || test.strip_prefix(name).is_some_and(|part| part.starts_with('.'))
        };
        let sum = |key: &str| -> u64 {
            let own = flows.iter().filter(is_own);
            own.map(|flow| flow[key].as_u64().unwrap()).sum()
        };
        assert!(sum("delivered_bytes") > 0, "{name} over {transport} delivered nothing");
        if model["feedback"] == "open" {
            assert_eq!(sum("arrived_bytes"), drawn(name), "{name} over {transport}");
        }
        if model["feedback"] == "closed" {
            // What is asked for next depends on how fast the answers before it came.
            let adapts = name == "dash";
            let (drawn, delivered) = (asked(name, sum("blocks_due")), sum("delivered_bytes"));
            assert!(adapts || drawn == delivered, "{name} over {transport}: {drawn}, {delivered}");
        }
        if model["feedback"] == "open" && transport != "udp" {
            assert_eq!(sum("delivered_bytes"), drawn(name), "{name} over {transport}");
        }
    }
    for flow in flows {
        assert_eq!(flow["transport"], transport, "{}", flow["test"]);
        assert_eq!(flow["ended"], "complete", "{} over {transport}", flow["test"]);
    }
}

/// What a test of this model sends. Sessions of files and reports of devices are minutes and hours apart.
fn sent(name: &str) -> String {
    let often = match name {
        "ftp" | "telnet" => "interarrival=20 ms, ",
        "iot" => "mode=burst, devices=10000, ",
        _ => "",
    };
    format!("{name}({often}duration=400 ms)")
}

/// The same over a transport: over streams whoever follows reports has a fixed rate.
fn over(name: &str, transport: &str) -> String {
    match name {
        "webrtc" if transport != "udp" => "webrtc(control=none, duration=400 ms)".to_owned(),
        _ => sent(name),
    }
}

/// All bytes of the train that this test draws from seed 1, both ways.
fn drawn(name: &str) -> u64 {
    let files = |_: &str| Err("no files".to_owned());
    let (call, _) = btu_core::traffic::call(&sent(name), Dialect::Btu, &files).unwrap();
    let time = Nanos::from_millis(400);
    let streams = Streams::new(1, &format!("all/{name}"));
    let messages = btu_core::traffic::preview(&call, &streams, time, usize::MAX);
    let due = messages.iter().filter(|message| message.at < time);
    due.map(|message| message.bytes.count()).sum()
}

/// Bytes of the first so many exchanges of the conversation that this test draws from seed 1: as many as it
/// gets to, whatever their answers took. Nothing is less than a byte.
fn asked(name: &str, exchanges: u64) -> u64 {
    let files = |_: &str| Err("no files".to_owned());
    let (call, _) = btu_core::traffic::call(&sent(name), Dialect::Btu, &files).unwrap();
    let train = call.train(&Streams::new(1, &format!("all/{name}")));
    let Some(Train::Closed(mut train)) = train else { panic!("{name} waits for no answer") };
    let exchanges = usize::try_from(exchanges).unwrap();
    let done = converse(&mut *train, Nanos::ZERO, Nanos::from_secs(100_000), 4 * exchanges + 100);
    let asks = done.into_iter().filter_map(|(_, action)| match action {
        Action::Ask { request, answer, .. } => Some(request.count().max(1) + answer.count().max(1)),
        Action::Close { .. } | Action::Done | Action::Wait { .. } => None,
    });
    asks.take(exchanges).sum()
}

/// A rank sends to the next one while it gets as much from the one before: of a line that carries both ways, bus
/// bandwidth is the rate, where it was half of it if one waited for the other.
#[test]
fn the_bus_bandwidth_of_a_ring_is_the_rate_of_a_line_both_ways() {
    needs!();
    let folder = TempDir::new().unwrap();
    let sent = "collective(ranks=2, bucket=1 MB, compute=1 ms, duration=4 s)";
    let text = format!(
        "[[cluster]]\nname = \"c\"\n[[cluster.test]]\npath = \"test -> active\"\ntype = \"{sent}\"\n"
    );
    std::fs::write(folder.path().join("a.toml"), text).unwrap();
    let args = ["a.toml", "--rate", "8Mbit/s", "--out", "out", "--quiet"];
    run(&mut traffic(folder.path(), &args)).unwrap();
    let flow = read_json(&folder.path().join("out/result.json"))["flows"][0].clone();
    let noticed = flow["noticed"].as_array().unwrap();
    let busbw = noticed.iter().find(|one| one["what"].as_str().unwrap().starts_with("busbw"));
    let share = busbw.unwrap()["value"].as_f64().unwrap() * 8e9 / 8e6;
    assert!((0.6..1.0).contains(&share), "{share} of the rate: {flow}");
}

/// T13: of a line that drops the third, fourth and fifth of every twenty packets, exactly those are missing.
#[test]
fn t13_loss_is_what_the_line_was_asked_for() {
    needs!();
    let folder = TempDir::new().unwrap();
    let text = "[[cluster]]\nname = \"c\"\n[[cluster.test]]\npath = \"test -> active\"\ntransport = \"udp\"\n\
                drain = \"yes\"\ntype = \"burstq(blocksize=100 B, period=1 ms, duration=400 ms)\"\n";
    std::fs::write(folder.path().join("a.toml"), text).unwrap();
    let args = ["a.toml", "--drop", "3@3/20", "--out", "out", "--quiet"];
    run(&mut traffic(folder.path(), &args)).unwrap();
    let flow = read_json(&folder.path().join("out/result.json"))["flows"][0].clone();
    assert_eq!(flow["datagrams_sent"], 400);
    assert_eq!(flow["lost_share"], 60.0 / 400.0, "{flow}");
    assert_eq!((&flow["reordered"], &flow["duplicated"]), (&0.into(), &0.into()));
}

#[test]
fn json_is_one_document_and_convert_gives_the_other_form() {
    needs!();
    let folder = TempDir::new().unwrap();
    script(folder.path(), &SCRIPT.replace("duration=1)", "duration=0.2)"));
    let said = run(&mut traffic(folder.path(), &["a.ns", "--json", "--out", "out"])).unwrap();
    let result: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((&result["verb"], &result["study"]), (&"traffic".into(), &"scenario".into()));
    let toml = run(&mut traffic(folder.path(), &["convert", "a.ns"])).unwrap();
    std::fs::write(folder.path().join("a.toml"), toml).unwrap();
    let plan = |file: &str| {
        let said = run(&mut traffic(folder.path(), &[file, "--dry-run", "--seed", "1", "--json"]))
            .unwrap();
        serde_json::from_str::<Value>(&said).unwrap()["plan"]["cells"].clone()
    };
    assert_eq!(plan("a.ns"), plan("a.toml"));
}

/// No stream is faster than its window per round trip: on a long path it is left to the kernel.
#[test]
fn a_sweep_fixes_the_window_of_its_streams_where_the_path_is_known_to_need_less() {
    needs!();
    let folder = TempDir::new().unwrap();
    let window = |axis: &str, delay: &str| {
        let args = ["sweep", axis, "--rate", "10Mbit/s", "--delay", delay, "--dry-run", "--json"];
        let said = run(&mut traffic(folder.path(), &args)).unwrap();
        said.contains("window=65536 B")
    };
    for axis in ["block-size", "sessions", "time"] {
        assert!(window(axis, "5ms") && !window(axis, "50ms"), "{axis}");
    }
}

/// Whoever wants one model needs no file.
#[test]
fn one_model_is_sent_as_it_is_called() {
    let folder = TempDir::new().unwrap();
    let planned =
        |args: &[&str]| run(&mut traffic(folder.path(), &[args, &["--dry-run"]].concat())).unwrap();
    let plan = planned(&["voice-onoff(codec=g729)", "--over", "udp"]);
    assert!(plan.contains("transport = \"udp\"") && plan.contains("codec=g729"), "{plan}");
    assert!(plan.contains("label = \"voice-onoff(codec=g729)\""), "{plan}");
    assert!(planned(&["telnet"]).contains("type = \"telnet("));
    let refused = |args: &[&str]| {
        let ended = traffic(folder.path(), args).output().unwrap();
        assert_eq!(ended.status.code(), Some(2), "{args:?}");
        said(&ended)
    };
    let unknown = refused(&["voice-onoff(codec=g7)"]);
    assert!(unknown.contains("voice-onoff(codec=g7):1:") && unknown.contains("g711"), "{unknown}");
    assert!(refused(&["phone(x=1)"]).contains("unknown type \"phone\""));
    assert!(refused(&["phone"]).contains("btu model list"));
    script(folder.path(), SCRIPT);
    assert!(refused(&["a.ns", "--over", "udp"]).contains("say what carries them"));
    needs!();
    let call = "burstq(blocksize=1 kB, period=20 ms, duration=400 ms)";
    run(&mut traffic(folder.path(), &[call, "--over", "udp", "--out", "out", "--quiet"])).unwrap();
    let result = read_json(&folder.path().join("out/result.json"));
    let flow = &result["flows"][0];
    assert_eq!((&flow["transport"], &flow["ended"]), (&"udp".into(), &"complete".into()), "{flow}");
    assert_eq!(flow["delivered_bytes"], 20_000, "{flow}");
}

#[test]
fn what_cannot_be_asked_for_is_refused_with_the_remedy() {
    let folder = TempDir::new().unwrap();
    script(folder.path(), SCRIPT);
    std::fs::write(
        folder.path().join("b.ns"),
        "cluster { test a { type = fulll (blocksize=1); } }",
    )
    .unwrap();
    std::fs::write(folder.path().join("c.txt"), "").unwrap();
    let refused = |args: &[&str]| {
        let ended = traffic(folder.path(), args).output().unwrap();
        let said = said(&ended);
        assert_eq!(ended.status.code(), Some(2), "{args:?}: {said}");
        said
    };
    assert!(refused(&["b.ns"]).contains("b.ns:1:"));
    assert!(refused(&["c.txt"]).contains("write .ns, .btu or .toml"));
    assert!(refused(&["no.ns"]).contains("read no.ns"));
    let unknown = refused(&["viseum2"]);
    assert!(unknown.contains("or one of sweep, method, qos, viseum, convert"), "{unknown}");
    assert!(refused(&["a.ns", "--map", "quadra=server"]).contains("write test, active or passive"));
    assert!(refused(&["a.ns", "--map", "nobody=test"]).contains("no host of the scenario"));
    assert!(refused(&["a.ns", "--rate", "fast"]).contains("--rate"));
    assert!(refused(&["sweep", "period", "--values", "5"]).contains("--values 5: "));
    assert!(refused(&["sweep", "sessions", "--values", "0"]).contains("1 to 1024"));
    assert!(
        refused(&["qos", "pigeons", "--rate", "1Mbit/s"]).contains("unknown application class")
    );
    let long = refused(&["qos", "voice", "--time", "721s"]);
    assert!(long.contains("--time 721s: write 50ms to 12 minutes"), "{long}");
    assert!(refused(&["method", "rfc1"]).contains("write mlrsearch, responsiveness"));
    assert!(refused(&["method", "rfc2544", "--frames", "40"]).contains("write 64 to 1518 bytes"));
    assert!(refused(&["method", "rfc9097", "--frames", "64"]).contains("has no frame sizes"));
    assert!(refused(&["method", "rfc9097", "--time", "1ms"]).contains("write 50ms to 1 hour"));
    assert!(refused(&["sweep", "height"]).contains("block-size"));
    let time = refused(&["sweep", "sessions", "--time", "1ns"]);
    assert!(time.contains("--time 1ns: write 50ms or more"), "{time}");
    let time = refused(&["sweep", "time", "--values", "1s,1ns"]);
    assert!(time.contains("--values 1ns: write 50ms or more"), "{time}");
    let twice = refused(&["sweep", "sessions", "--values", "1,2,1"]);
    assert!(
        twice.contains("--values 1: it is there twice") && twice.contains("--passes"),
        "{twice}"
    );
    let both = refused(&["sweep", "sessions", "--sessions", "5", "--values", "1024"]);
    assert!(both.contains("cannot be used with"), "{both}");
    let other = refused(&["sweep", "time", "--sessions", "5"]);
    assert!(other.contains("--sessions 5: the axis is not sessions"), "{other}");
    assert!(refused(&[]).contains("FILE"));
}

/// What the second cluster has that nobody can carry is told before the first one runs, whether it is to be run
/// or not, and no result is begun.
#[test]
fn what_cannot_be_carried_is_refused_before_anything_runs() {
    let folder = TempDir::new().unwrap();
    let test = |path: &str, more: &str| format!("[[cluster.test]]\npath = \"{path}\"\n{more}\n");
    let full = "type = \"full(duration=1 s)\"";
    let first = format!("[[cluster]]\n{}", test("test -> active", full));
    let asks = "transport = \"udp\"\ntype = \"www-3gpp(duration=1 s)\"";
    let link = format!("{full}\nlink = \"rate 1Mbit/s\"");
    for (name, second, place, reason) in [
        ("a.toml", test("test -> active", asks), "a.toml:6:1: ", "waits for answers"),
        ("b.toml", test("active -> active", full), "b.toml:6:1: ", "none with itself"),
        ("c.toml", test("test -> passive", &link), "c.toml: ", "names a link and test"),
    ] {
        std::fs::write(folder.path().join(name), format!("{first}[[cluster]]\n{second}")).unwrap();
        for more in [&["--dry-run"][..], &["--out", "out"]] {
            let args = [&[name][..], more].concat();
            let ended = traffic(folder.path(), &args).output().unwrap();
            let said = said(&ended);
            assert_eq!((ended.status.code(), ended.stdout.len()), (Some(2), 0), "{said}");
            assert!(said.contains(place) && said.contains(reason), "{said}");
            assert!(!folder.path().join("out").exists(), "{name}");
        }
    }
}

/// A line that is far slower than any list of periods would be made for, and a scenario of which nothing falls due.
/// 450 ms of it are 14.9 segments: wherever they begin, no more than 15, which are 386 kb/s.
#[test]
fn a_sweep_chooses_periods_around_what_a_full_stream_gets() {
    needs!();
    let folder = TempDir::new().unwrap();
    let args = ["sweep", "period", "--time", "450ms", "--passes", "1", "--out", "out", "--quiet"];
    let path = ["--rate", "400kbit/s", "--queue", "16kB"];
    run(&mut traffic(folder.path(), &[&args[..], &path[..]].concat())).unwrap();
    let result = read_json(&folder.path().join("out/result.json"));
    let mu = result["mu_bit_s"].as_f64().unwrap();
    assert!((1e5..400e3).contains(&mu), "{mu}");
    let cells = result["cells"].as_array().unwrap();
    let loads = cells.iter().filter(|cell| cell["group"] == "period");
    let loads: Vec<f64> = loads.map(|cell| cell["rho"].as_f64().unwrap()).collect();
    assert!(loads.iter().any(|load| *load < 0.5), "{loads:?}");
    assert!(loads.iter().any(|load| *load > 1.5), "{loads:?}");
    assert!((10..=16).contains(&loads.len()), "{loads:?}");
    assert!(result["knee"]["knee_bit_s"].is_f64(), "{}", result["knee"]);
    assert!(result["method"].is_null());
    let verified = run(btu().current_dir(folder.path()).args(["verify", "out"])).unwrap();
    assert!(verified.contains("VALID: "), "{verified}");
}

/// A test of which nothing falls due has its time, and its row: what follows it does not begin at once. What runs
/// beside a full stream has no mu; alone, the stream says what the others are a share of.
#[test]
fn a_silent_test_has_its_time_and_a_full_stream_says_what_others_are_a_share_of() {
    needs!();
    let folder = TempDir::new().unwrap();
    let cluster = |name: &str, kind: &str| {
        format!(
            "[[cluster]]\nname = \"{name}\"\n[[cluster.test]]\npath = \"test -> active\"\n{kind}\n"
        )
    };
    let text = [
        cluster("silent", "type = \"iot(devices=1, duration=600 ms)\"\ntransport = \"udp\""),
        cluster("still", "type = \"iot(devices=1, duration=300 ms)\"\ntransport = \"quic\""),
        cluster("full", "type = \"full(duration=500 ms)\""),
        cluster("bursts", "type = \"burstq(blocksize=2500 B, period=10 ms, duration=500 ms)\""),
    ];
    std::fs::write(folder.path().join("a.toml"), text.concat()).unwrap();
    let args = ["a.toml", "--rate", "8Mbit/s", "--seed", "1", "--out", "out"];
    let said = run(&mut traffic(folder.path(), &args)).unwrap();
    assert!(said.contains("Nothing fell due of silent/test within 600 ms"), "{said}");
    let result = read_json(&folder.path().join("out/result.json"));
    let flows = result["flows"].as_array().unwrap();
    assert_eq!((flows.len(), &result["complete"]), (4, &Value::from(true)), "{result:#}");
    assert_eq!((&flows[0]["blocks_due"], &flows[0]["ended"]), (&0.into(), &"complete".into()));
    let mu = result["mu_bit_s"].as_f64().unwrap();
    let rho = flows[3]["rho_of_way"].as_f64().unwrap();
    assert!((rho * mu / 2e6 - 1.0).abs() < 0.02, "{rho} of {mu}");
    assert!(flows[2]["rho_of_way"].is_null());
    let clusters = lines(&folder.path().join("out/samples.jsonl"))[0]["clusters"].clone();
    let began = |at: usize| clusters[at]["began_ns"].as_u64().unwrap();
    assert!(
        began(1) >= began(0) + 600_000_000 && began(2) >= began(1) + 300_000_000,
        "{clusters:#}"
    );
}

/// A path that is empty and drops a packet of ten: nothing waits on it, however long the run is.
#[test]
fn what_a_path_drops_waits_for_nobody() {
    needs!();
    let folder = TempDir::new().unwrap();
    let text = "[[cluster]]\n[[cluster.test]]\npath = \"test -> active\"\ntransport = \"udp\"\n\
                type = \"burstq(blocksize=100 B, period=10 ms, duration=3 s)\"\n";
    std::fs::write(folder.path().join("a.toml"), text).unwrap();
    let args = ["a.toml", "--drop", "1@5/10", "--out", "out", "--quiet"];
    run(&mut traffic(folder.path(), &args)).unwrap();
    let result = read_json(&folder.path().join("out/result.json"));
    let flow = &result["flows"][0];
    assert_eq!((&flow["arrived_bytes"], &flow["lost_bytes"]), (&30_000.into(), &3000.into()));
    // No mean is above the largest; with what was lost it would be 150 ms more.
    let most = flow["delay_max_s"].as_f64().unwrap();
    assert!(result["cells"][0]["window_delay_s"].as_f64().unwrap() <= most, "{flow}");
    assert!(flow["drained_delay_s"].as_f64().unwrap() <= most, "{flow}");
}
