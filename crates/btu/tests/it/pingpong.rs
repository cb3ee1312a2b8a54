//! The ping-pong as its users see it.

mod chasm;
mod ended;
mod killed;
mod order;
mod overlaid;
mod streamed;
mod table;

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::commands::needs;
use crate::commands::run;
use crate::program::assert_reported_again;
use crate::program::btu;
use crate::program::of_kind;
use crate::program::read_json;
use crate::program::said;

/// Few sizes, few rounds, little time for each point.
pub(super) const SHORT: [&str; 6] =
    ["--rounds", "3", "--point-time", "10ms", "--perturbation", "0B"];

/// A short ping-pong into the folder's `out`.
pub(super) fn short(folder: &Path, args: &[&str]) -> Command {
    let mut command = btu();
    command.current_dir(folder).arg("pingpong").args(args).args(SHORT).args(["--out", "out"]);
    command
}

/// Its result after a good end.
pub(super) fn result(folder: &Path, args: &[&str]) -> Value {
    run(&mut short(folder, args)).unwrap();
    read_json(&folder.join("out/result.json"))
}

/// A path on which a byte takes too long: larger blocks are told as left out, and are no fault.
#[test]
fn blocks_above_one_that_takes_too_long_are_left_out_and_listed() {
    needs!();
    let folder = TempDir::new().unwrap();
    let args = ["tcp", "--sizes", "8B,1kB,64kB", "--block-time", "1us", "--order", "rising"];
    let more = ["--connections", "1", "--chasms", "off", "--reference", "off"];
    let said = run(&mut short(folder.path(), &[&args[..], &more].concat())).unwrap();
    assert!(
        said.contains(
            "tcp: 2 sizes not measured: a block takes more than 1us (1000 to 64000 bytes)."
        ),
        "{said}"
    );
    let result = read_json(&folder.path().join("out/result.json"));
    assert_eq!(result["complete"], true);
    let curve = &result["curves"][0];
    assert_eq!(curve["faults"], Value::Array(Vec::new()));
    assert_eq!(
        curve["left_out"],
        serde_json::json!([
            {"bytes": 1000, "stop": "block_time"}, {"bytes": 64000, "stop": "block_time"}
        ])
    );
    let point = &curve["points"][0];
    assert_eq!(
        (&point["bytes"], &point["rounds"], &point["asked_rounds"]),
        (&8.into(), &3.into(), &3.into())
    );
    assert!(point["stop"].is_null());
}

#[test]
fn a_measurement_says_what_a_byte_takes_what_is_the_most_and_where_half_of_it_is() {
    needs!();
    let folder = TempDir::new().unwrap();
    let said = run(&mut short(folder.path(), &["tcp", "unix", "--end", "64KiB"])).unwrap();
    for word in ["Latency", "Peak", "n1/2", "r_inf", "memcpy", "ratio", "report: out/report.html"] {
        assert!(said.contains(word), "no {word} in\n{said}");
    }
    let result = read_json(&folder.path().join("out/result.json"));
    assert_eq!(
        (&result["complete"], &result["path"]),
        (&Value::from(true), &Value::from("direct"))
    );
    for (curve, label) in result["curves"].as_array().unwrap().iter().zip(["tcp", "unix"]) {
        assert_eq!(curve["label"], label);
        assert_eq!(curve["points"].as_array().unwrap().len(), 32);
        let figure = |name: &str| curve[name].as_f64().unwrap_or_else(|| panic!("{label}: {name}"));
        assert!(figure("latency_us") > 0.0 && figure("peak_mbps") > 0.0);
        let half = figure("half_size_bytes");
        assert!(half > 1.0 && half < 65_536.0, "{half}");
        // Rounds of a busy machine may be lost, and fewer than three have no interval.
        let points = curve["points"].as_array().unwrap();
        let known = |point: &Value| point["ci95_us"].is_array();
        assert!(points.iter().all(|one| known(one) == (one["rounds"].as_u64() >= Some(3))));
        assert!(points.iter().any(known), "{curve:#}");
    }
    assert_eq!(result["curves"][0]["settings"]["wait"], "block");
    assert!(result["reference"]["points"].as_array().is_some_and(|points| points.len() == 32));
}

#[test]
fn the_same_journal_gives_the_same_bytes_in_every_format() {
    needs!();
    let folder = TempDir::new().unwrap();
    run(&mut short(folder.path(), &["unix", "--end", "4KiB"])).unwrap();
    assert_reported_again(folder.path(), "unix");
}

#[test]
fn a_stored_plan_repeats_the_measurement() {
    needs!();
    let folder = TempDir::new().unwrap();
    let args = ["shm", "unix", "--sizes", "8B,1kB", "--on", "loopback", "--placement", "free"];
    run(&mut short(folder.path(), &args)).unwrap();
    let mut again = btu();
    again.current_dir(folder.path()).args([
        "pingpong",
        "--plan",
        "out/plan.toml",
        "--out",
        "again",
    ]);
    run(&mut again).unwrap();
    let plan = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(plan("out/plan.toml"), plan("again/plan.toml"));
    let order = |name: &str| -> Vec<(Value, Value)> {
        let visits = of_kind(&folder.path().join(name), "ping_pong_visit").into_iter();
        let first = visits.filter(|line| line["round"] == 1 && line["attempt"] == 1);
        first.map(|line| (line["configuration"].clone(), line["size_bytes"].clone())).collect()
    };
    assert_eq!(order("out"), order("again"));
}

/// What a sweep visited, in its order: size, round, configuration and connection of each first try.
fn visited(folder: &Path) -> Vec<[u64; 4]> {
    let visits = of_kind(&folder.join("out"), "ping_pong_visit").into_iter();
    let keys = ["size_bytes", "round", "configuration", "connection"];
    let first = visits.filter(|line| line["attempt"] == 1);
    first.map(|line| keys.map(|key| line[key].as_u64().unwrap())).collect()
}

#[test]
fn p6_a_transport_that_is_named_twice_is_measured_twice_in_turn() {
    needs!();
    let folder = TempDir::new().unwrap();
    let sizes = ["--sizes", "8B,64B,1kB,4kB,16kB", "--reference", "off", "--chasms", "off"];
    let twice = ["unix", "unix", "--on", "loopback", "--seed", "1"];
    let result = result(folder.path(), &[&twice[..], &sizes[..]].concat());
    let labels = ["unix", "unix (2)"];
    let curves = result["curves"].as_array().unwrap();
    assert!(curves.iter().map(|curve| curve["label"].as_str().unwrap()).eq(labels));
    let [found] = result["comparisons"].as_array().unwrap().as_slice() else { panic!("one pair") };
    assert_eq!([&found["first"], &found["second"]], labels);
    assert_eq!(found["common_sizes"], 5);
    // A size that was slow in one round may be left out of a later one.
    let visited = visited(folder.path()).into_iter().filter(|visit| visit[1] == 1);
    let mut pairs: Vec<[u64; 2]> = visited.map(|visit| [visit[0], visit[2]]).collect();
    assert!(!pairs.is_sorted_by_key(|[_, configuration]| *configuration), "not in turn");
    pairs.sort_unstable();
    let each = [8, 64, 1_000, 4_000, 16_000].map(|size| [[size, 1], [size, 2]]);
    assert_eq!(pairs, each.concat());
}

#[test]
fn rising_order_goes_once_over_each_connection_as_netpipe_does() {
    needs!();
    let folder = TempDir::new().unwrap();
    let args = ["unix", "--order", "rising", "--connections", "2", "--sizes", "1kB,8B,64B"];
    let path = ["--on", "loopback", "--reference", "off", "--chasms", "off"];
    let brief = run(&mut short(folder.path(), &[&args[..], &path].concat())).unwrap();
    let words: Vec<&str> = brief.split_whitespace().collect();
    assert!(words.join(" ").contains("visits in rising order, 3 rounds"), "{brief}");
    let result = read_json(&folder.path().join("out/result.json"));
    assert_eq!(result["order"], "rising");
    let visited = visited(folder.path());
    let by_connection = |visit: &[u64; 4]| (visit[3], visit[0], visit[1]);
    assert!(visited.is_sorted_by_key(by_connection), "{visited:?}");
    // A size that was slow in one round may be left out of a later one.
    let first = visited.iter().filter(|visit| visit[1] == 1).copied();
    assert!(first.eq([8, 64, 1_000].map(|size| [size, 1, 1, 1])), "{visited:?}");
    let is_second = |visit: &&[u64; 4]| visit[1] == 3;
    assert!(visited.iter().filter(is_second).all(|visit| visit[3] == 2), "{visited:?}");
    let mut explain = btu();
    let ended = explain.current_dir(folder.path()).args(["explain", "out", "--json"]).output();
    let ended = ended.unwrap();
    let told = said(&ended);
    assert_eq!((ended.status.code(), ended.stdout.len()), (Some(2), 0), "{told}");
    assert!(told.contains("out: the result of btu pingpong, which has no cells"), "{told}");
}

#[test]
fn all_leaves_out_what_is_not_there_and_says_why() {
    needs!();
    let folder = TempDir::new().unwrap();
    let result = result(folder.path(), &["all", "--sizes", "8B,1400B", "--chasms", "off"]);
    let labels: Vec<&str> =
        result["curves"].as_array().unwrap().iter().filter_map(|c| c["label"].as_str()).collect();
    assert!(labels.contains(&"tcp") && labels.contains(&"shm"), "{labels:?}");
    for (name, reason) in result["missing"].as_object().unwrap() {
        assert!(!labels.contains(&name.as_str()) && reason.as_str().unwrap().len() > 10, "{name}");
    }
}

#[test]
fn every_option_of_the_originals_is_taken() {
    needs!();
    let folder = TempDir::new().unwrap();
    let args: [&[&str]; 7] = [
        &["tcp", "--mode", "streaming", "--reset", "--cold"],
        &["tcp", "--mode", "bidirectional", "--send-buffer", "64KiB", "--receive-buffer", "64KiB"],
        &["tcp", "--offset", "0B", "--offset", "1B,8B", "--placement", "free"],
        &["unix", "--wait", "epoll", "--header", "16B", "--statistic", "average-of-3000"],
        &["tcp", "--mss", "500B", "--nodelay", "system", "--quick-ack", "on", "--offload", "off"],
        &["tcp", "udp", "--mtu", "1280B"],
        &["udp", "--on", "loopback", "--connections", "1", "--statistic", "p99"],
    ];
    for args in args {
        let folder = TempDir::new_in(folder.path()).unwrap();
        let sizes = ["--sizes", "64B,4kB", "--chasms", "off", "--patience", "60s"];
        let result = result(folder.path(), &[args, &sizes].concat());
        for curve in result["curves"].as_array().unwrap() {
            assert_eq!(curve["points"].as_array().unwrap().len(), 2, "{args:?}");
            // All namespaces share a receive queue of 1000 packets per CPU (net.core.netdev_max_backlog):
            // where others fill it, a datagram is lost, which ends its visit, and the next one makes up.
            let is_loss = |fault: &Value| {
                curve["label"] == "udp" && fault["fault"] == "stalled" && fault["lasting"] == false
            };
            let faults = curve["faults"].as_array().unwrap();
            assert!(faults.iter().all(is_loss), "{args:?}: {faults:?}");
        }
    }
}

/// What `--dry-run` says of the plan of these options.
fn planned(args: &[&str]) -> Value {
    let all = [&["pingpong", "--dry-run", "--json"], args].concat();
    serde_json::from_str(&run(btu().args(all)).unwrap()).unwrap()
}

#[test]
fn every_option_of_the_originals_shows_in_the_plan() {
    let plan = |args: &[&str]| planned(args)["plan"].clone();
    let one = |args: &[&str]| plan(args)["configurations"][0].clone();
    assert_eq!(plan(&["--cpus", "0-0/0"])["near_cpus"], "0-0");
    assert_eq!(plan(&["--cpus", "0-0/0"])["far_cpus"], "0");
    for placement in ["split", "same", "free"] {
        assert_eq!(one(&["--placement", placement])["placement"], placement);
    }
    let both = plan(&["--placement", "split,same"]);
    let placed = both["configurations"].as_array().unwrap().iter().map(|one| &one["placement"]);
    assert!(placed.eq(["split", "same"]), "{both}");
    assert_eq!((&plan(&["--verify"])["rounds"], &plan(&[])["rounds"]), (&1.into(), &10.into()));
    assert_eq!(plan(&["--verify", "--rounds", "7"])["rounds"], 7);
    for wait in ["block", "spin", "busy-poll", "epoll"] {
        assert_eq!(one(&["--wait", wait])["wait"], wait);
    }
    let grid = &plan(&["--start", "5B", "--end", "1kB", "--perturbation", "2B"])["sizes"]["grid"];
    assert_eq!((&grid["start"], &grid["end"]), (&5.into(), &1000.into()), "{grid}");
    assert_eq!(grid["perturbation"], 2, "{grid}");
    let zoom = &plan(&["--start", "5B", "--end", "1kB", "--increment", "9B"])["sizes"]["grid"];
    assert_eq!(zoom["step"]["every"], 9, "{zoom}");
    let powers = planned(&["--powers-of-two"]);
    assert_eq!(
        (&powers["plan"]["sizes"]["grid"]["step"], &powers["points"]),
        (&"doubling".into(), &24.into())
    );
    assert_eq!(plan(&[])["order"], "random");
    assert_eq!(plan(&["--order", "rising"])["order"], "rising");
    let twice = plan(&["tcp", "unix", "tcp"]);
    let names = twice["configurations"].as_array().unwrap().iter().map(|one| &one["transport"]);
    assert!(names.eq(["tcp", "unix", "tcp"]), "{twice}");
    let without = planned(&["--perturbation", "0B"]);
    assert_eq!(without["points"], 46);
}

#[test]
fn sizes_waits_and_places_that_were_asked_for_are_those_of_the_result() {
    needs!();
    let folder = TempDir::new().unwrap();
    let mut args = vec!["unix", "--start", "60B", "--end", "100B", "--increment", "20B"];
    args.extend(["--placement", "free", "--chasms", "off"]);
    let many = std::thread::available_parallelism().map_or(1, usize::from) > 1;
    args.extend(if many { ["--wait", "block,spin"] } else { ["--wait", "block,epoll"] });
    let mut command = btu();
    command.current_dir(folder.path()).arg("pingpong").args(&args);
    run(command.args(["--rounds", "3", "--point-time", "10ms", "--out", "out"])).unwrap();
    let result = read_json(&folder.path().join("out/result.json"));
    let curves = result["curves"].as_array().unwrap();
    let waits: Vec<&Value> = curves.iter().map(|curve| &curve["settings"]["wait"]).collect();
    assert_eq!(waits, ["block", if many { "spin" } else { "epoll" }]);
    for curve in curves {
        let sizes = curve["points"].as_array().unwrap().iter().map(|point| &point["bytes"]);
        assert!(sizes.eq([60, 80, 100].iter()), "{curve:#}");
        assert_eq!(curve["settings"]["placement"], "free");
    }
    let pair = &result["comparisons"][0];
    assert_eq!((&pair["first"], &pair["common_sizes"]), (&"unix block".into(), &3.into()));
}

#[test]
fn a_block_that_no_message_holds_is_left_out_with_the_remedy() {
    needs!();
    let folder = TempDir::new().unwrap();
    let args = ["seqpacket", "--sizes", "64B,1GiB", "--chasms", "off", "--reference", "off"];
    let said = run(&mut short(folder.path(), &args)).unwrap();
    let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("seqpacket: 1 size not available: above "), "{said}");
    assert!(flat.contains("--send-buffer, and net.core.wmem_max"), "{said}");
    let result = read_json(&folder.path().join("out/result.json"));
    assert_eq!(result["curves"][0]["too_large_bytes"][0], 1 << 30);
}

#[test]
fn the_mean_of_3000_says_of_how_many_it_is() {
    needs!();
    let folder = TempDir::new().unwrap();
    let args = ["unix", "--sizes", "64B,1MiB", "--statistic", "average-of-3000", "--chasms", "off"];
    let said = run(&mut short(folder.path(), &args)).unwrap();
    let result = read_json(&folder.path().join("out/result.json"));
    let points = result["curves"][0]["points"].as_array().unwrap();
    for point in points {
        let (taken, all) = (&point["average_of_3000_exchanges"], point["exchanges"].as_u64());
        let (taken, all) = (taken.as_u64().unwrap(), all.unwrap());
        assert!(taken == all || (3_000..all).contains(&taken), "{point}");
    }
    // A megabyte is not sent there and back 3,000 times in 10 ms.
    let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains(" of 2 points had fewer, "), "{said}");
    let least = points[1]["average_of_3000_exchanges"].to_string();
    let page = std::fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    assert!(page.contains(&format!("(of {least})")), "{least}");
}

#[test]
fn what_cannot_be_asked_for_is_refused_with_the_remedy() {
    let refused = |args: &[&str]| {
        let ended = btu().arg("pingpong").args(args).output().unwrap();
        assert_eq!(ended.status.code(), Some(2), "{args:?}");
        said(&ended)
    };
    assert!(refused(&["pigeon"]).contains("unknown transport \"pigeon\"; write all, tcp, udp"));
    assert!(
        refused(&["shm", "--wait", "epoll"]).contains("shm has no wait \"epoll\"; write block")
    );
    assert!(refused(&["--start", "2kB", "--end", "1kB"]).contains("the end lies before the start"));
    assert!(refused(&["--end", "64"]).contains("has no unit; write B, kB, KiB"));
    assert!(refused(&["--order", "falling"]).contains("possible values: random, rising"));
    let base = refused(&["--base", "udp"]);
    assert!(base.contains("not among the transports that are measured; write tcp"), "{base}");
    assert!(refused(&["--resolution", "0B"]).contains("--resolution 0B: write 1B or more"));
    assert!(refused(&["--plant", "corrupt"]).contains("--verify"));
    assert!(refused(&["--plant", "late"]).contains("write close, short, silence"));
    let once = refused(&["--plant", "short", "--rounds", "1"]);
    assert!(once.contains("--plant short --rounds 1: the first round is left whole"), "{once}");
    assert!(refused(&["--plant", "close", "--peer", "lab9"]).contains("with --verify only"));
    assert!(refused(&["--powers-of-two", "--increment", "5B"]).contains("cannot be used with"));
    assert!(refused(&["--plan", "plan.toml", "--rounds", "3"]).contains("cannot be used with"));
    assert!(refused(&["--resume", "out", "tcp"]).contains("cannot be used with"));
    assert!(refused(&["udp", "--header", "16B"]).contains("over udp would be two messages"));
    assert!(refused(&["--mtu", "67B"]).contains("--mtu 67B: write 68B to 65535B"));
    assert!(refused(&["--mss", "1B"]).contains("--mss 1B: write 88B to 32767B"));
    let larger = refused(&["--receive-buffer", "4GiB"]);
    assert!(larger.contains("--receive-buffer 4GiB: write 1B to 1073741823B"), "{larger}");
    assert!(refused(&["--patience", "0s"]).contains("write a time above 0"));
    assert!(refused(&["--peer", "lab9", "--on", "loopback"]).contains("cannot be used with"));
    let lacking = |args: &[&str], said: &str| {
        let told = refused(args);
        assert!(told.contains(said), "{args:?}: {told}");
    };
    lacking(&["unix", "--mss", "536B"], "unix has no TCP_MAXSEG; leave --mss out");
    lacking(&["udp", "--quick-ack", "on"], "udp has no TCP_QUICKACK; leave --quick-ack out");
    lacking(&["quic", "--nodelay", "off"], "quic has no TCP_NODELAY; leave --nodelay out");
    lacking(
        &["shm", "--send-buffer", "4kB", "--mtu", "1280B"],
        "shm has no SO_SNDBUF, MTU; leave --send-buffer, --mtu out",
    );
    let streaming = ["--mode", "streaming", "--export", "np.out"];
    lacking(&streaming, "--export np.out: an np.out holds ping-pong, not mode streaming");
    lacking(&["--mode", "bidirectional", "--export", "np.out"], "not mode bidirectional");
    lacking(&["--verify", "--export", "np.out"], "--export np.out: --verify times nothing");
    lacking(&["unix", "--on", "loopback", "--cpus", "0/4095"], "CPU 4095 of \"4095\" is not here");
    lacking(&["unix", "--on", "loopback", "--cpus", "0/4095"], "; CPUs here: ");
    assert!(refused(&["--import", "/nowhere/np.out"]).contains("import /nowhere/np.out"));
    lacking(&["--dry-run", "--import", "/nowhere/np.out"], "import /nowhere/np.out");
    lacking(&["--dry-run", "--cpus", "0/4095"], "CPU 4095 of \"4095\" is not here");
    let seconds = "write a whole number of seconds from 0 to 4294967295";
    lacking(&["--peer", "lab9", "--reconnect", "1e3"], seconds);
    lacking(&["--peer", "lab9", "--reconnect", "-1"], seconds);
    let folder = TempDir::new().unwrap();
    let bytes = folder.path().join("np.out");
    std::fs::write(&bytes, [0xff, 0xfe, 0, b'1', b'\n']).unwrap();
    let no_text = refused(&["--import", bytes.to_str().unwrap()]);
    assert!(no_text.contains(": not in a known format; known are Intel"), "{no_text}");
}

#[test]
fn what_all_transports_lack_is_left_out_of_each_and_not_reported_as_set() {
    let said = run(btu().args(["pingpong", "all", "--quick-ack", "on", "--dry-run", "--json"]));
    let said: Value = serde_json::from_str(&said.unwrap()).unwrap();
    for one in said["plan"]["configurations"].as_array().unwrap() {
        let has = ["tcp", "mptcp", "tls"].iter().any(|name| one["transport"] == *name);
        assert_eq!(one["quick_ack"] == true, has, "{one}");
    }
}

#[test]
fn a_size_that_no_transport_carries_is_refused_before_anything_is_measured() {
    needs!();
    let folder = TempDir::new().unwrap();
    let ended = short(folder.path(), &["udp", "--sizes", "70000B"]).output().unwrap();
    let told = said(&ended);
    assert_eq!(ended.status.code(), Some(2), "{told}");
    assert!(
        told.contains("udp carries up to 65507 B, and the smallest block is 70000 B"),
        "{told}"
    );
    assert!(!folder.path().join("out").exists());
}

#[test]
fn a_check_of_contents_says_which_sizes_went_unchecked() {
    needs!();
    let folder = TempDir::new().unwrap();
    let args = ["udp", "unix", "--verify", "--sizes", "8B,1MiB"];
    let said = run(&mut short(folder.path(), &args)).unwrap();
    let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("udp: 1 size not checked: above 65507 bytes."), "{said}");
    assert!(!flat.contains("unix: 1 size"), "{said}");
}

#[test]
fn a_check_of_contents_refuses_what_it_would_leave_out_wherever_it_is_asked_for() {
    let folder = TempDir::new().unwrap();
    let ended = |args: &[&str]| {
        let mut command = btu();
        command.current_dir(folder.path()).args(["pingpong", "--dry-run"]).args(args);
        command.output().unwrap()
    };
    let refused = |args: &[&str], why: &str| {
        let ended = ended(args);
        assert_eq!(ended.status.code(), Some(2), "{args:?}");
        let told = said(&ended);
        assert!(told.contains(why), "{args:?}: {told}");
    };
    let why = "verify checks ping-pong with one write; leave";
    refused(&["--verify", "--mode", "streaming"], &format!("{why} mode streaming out"));
    refused(&["--verify", "--header", "16B"], &format!("{why} header 16B out"));
    let legal = ended(&["--verify", "--mode", "ping-pong"]);
    assert_eq!(legal.status.code(), Some(0));
    let plan = String::from_utf8(legal.stdout).unwrap();
    let plan = plan.replace("mode = \"ping-pong\"", "mode = \"bidirectional\"");
    std::fs::write(folder.path().join("plan.toml"), plan).unwrap();
    let both = format!("plan.toml: {why} mode bidirectional out");
    refused(&["--plan", "plan.toml"], &both);
}

#[test]
fn a_dry_run_says_how_long_it_takes() {
    let said = run(btu().args(["pingpong", "--dry-run"])).unwrap();
    assert!(said.contains("# 124 sizes of 1 configuration in 10 rounds, about 30 s"), "{said}");
    assert!(said.contains("to confirm and explain chasms"), "{said}");
}
