//! Standard methods as their users see them, over emulated links with known answers: what no machine can
//! make better.

use serde_json::Value;
use tempfile::TempDir;

use crate::commands::needs;
use crate::commands::run;
use crate::program::btu;
use crate::program::lines;
use crate::program::read_json;

/// Runs a method over a link; gives what it found. The report says the same byte for byte later.
fn found(folder: &TempDir, args: &[&str]) -> Value {
    let out = folder.path().join("out");
    let mut command = btu();
    command.current_dir(folder.path()).args(["traffic", "method"]).args(args);
    let said = run(command.args(["--out", "out", "--quiet"])).unwrap();
    assert!(said.contains("not conformant: "), "{said}");
    let result = read_json(&out.join("result.json"));
    assert_eq!((&result["study"], &result["complete"]), (&"method".into(), &true.into()));
    let page = run(btu().current_dir(folder.path()).args(["report", "out", "--format", "html"]));
    assert_eq!(page.unwrap(), std::fs::read_to_string(out.join("report.html")).unwrap());
    // Each cell stands in the journal before its first run.
    let (mut cells, mut runs) = (Vec::new(), 0);
    for line in lines(&out.join("samples.jsonl")) {
        if line["kind"] == "traffic_cell" {
            cells.push(line["id"].clone());
            continue;
        }
        assert!(cells.contains(&line["cell"]), "{line}");
        runs += 1;
    }
    assert!(runs >= cells.len());
    result["method"].clone()
}

/// The report of it as text.
fn reported(folder: &TempDir) -> String {
    run(btu().current_dir(folder.path()).args(["report", "out"])).unwrap()
}

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} of {value}"))
}

/// Both goals of a search stand in result and report, and no line carries more than its rate and what it queues.
#[test]
fn a_search_for_several_goals_tells_the_bounds_of_each() {
    needs!();
    let folder = TempDir::new().unwrap();
    let args = ["mlrsearch", "--frames", "512", "--time", "100ms", "--repeats", "3"];
    let method = found(&folder, &[&args[..], &["--rate", "10Mbit/s", "--queue", "10pkt"]].concat());
    assert!(method["deviations"].to_string().contains("3 repeats instead of 21"), "{method}");
    let goals = method["frames"][0]["goals"].as_array().unwrap();
    let losses: Vec<f64> = goals.iter().map(|goal| number(goal, "lost_share")).collect();
    assert!(losses.len() == 2 && losses[0] < losses[1], "{losses:?}");
    for goal in goals {
        assert!(goal["met_wire_bit_s"].as_f64().is_none_or(|met| met < 11e6), "{goal}");
        assert!(number(goal, "missed_frames_s") > 0.0, "{goal}");
    }
    let text = reported(&folder);
    assert!(text.contains("draft-ietf-bmwg-mlrsearch") && text.contains("0.5 %"), "{text}");
}

/// T13: frames of 512 B take 532 bytes on the wire, 0.43 ms at 10 Mb/s; a queue of 50 packets takes a burst
/// of 50 whatever the host does.
#[test]
fn t13_frames_take_their_time_on_the_line_and_a_burst_fits_into_the_queue() {
    needs!();
    let folder = TempDir::new().unwrap();
    let args = ["rfc2544", "--frames", "512", "--time", "100ms", "--rate", "10Mbit/s"];
    let method = found(&folder, &args);
    let frame = &method["frames"][0];
    assert_eq!((&method["name"], &frame["frame_bytes"]), (&"rfc2544".into(), &512.into()));
    let losses = frame["losses"].as_array().unwrap();
    assert!(!losses.is_empty() && number(frame, "trials") >= 2.0);
    let falling =
        losses.windows(2).all(|p| number(&p[0], "load_frames_s") > number(&p[1], "load_frames_s"));
    assert!(falling && losses.iter().all(|one| (0.0..=1.0).contains(&number(one, "lost_share"))));
    if let Some(latency) = frame["latency_p50_s"].as_f64() {
        assert!(latency >= 532.0 * 8.0 / 10e6, "{latency}");
    }
    let folder = TempDir::new().unwrap();
    let args = ["rfc9004", "--frames", "512", "--time", "100ms", "--repeats", "1"];
    let path = ["--rate", "10Mbit/s", "--queue", "50pkt"];
    let method = found(&folder, &[&args[..], &path[..]].concat());
    let burst = &method["frames"][0]["back_to_back"];
    assert!(number(burst, "frames") >= 50.0 && number(burst, "searches") >= 1.0, "{burst}");
}

/// T13: no machine makes a line faster or a delay shorter.
#[test]
fn t13_capacity_and_round_trips_stay_within_what_the_link_allows() {
    needs!();
    let folder = TempDir::new().unwrap();
    let method =
        found(&folder, &["rfc9097", "--time", "1s", "--rate", "10Mbit/s", "--delay", "5ms"]);
    let capacity = &method["capacities"][0];
    assert!(number(capacity, "mean_bit_s") <= 10e6 * 1250.0 / 1288.0 * 1.01, "{capacity}");
    assert!(number(capacity, "least_delay_s") >= 0.005 + 1288.0 * 8.0 / 10e6);
    assert!(number(capacity, "reports") >= 1.0 && number(capacity, "capacity_bit_s") > 0.0);
    assert_eq!(capacity["adjustment"], "B", "{capacity}");
    let folder = TempDir::new().unwrap();
    let path = ["--rate", "5Mbit/s", "--queue", "10pkt", "--delay", "20ms"];
    let method = found(&folder, &[&["responsiveness", "--time", "50ms"][..], &path[..]].concat());
    let trips = &method["responsiveness"][0];
    // 40 ms there and back: 1500 a minute at the most.
    for key in ["rpm", "foreign_rpm", "loaded_rpm", "idle_rpm"] {
        assert!(number(trips, key) <= 1500.0, "{key} of {trips}");
    }
    assert!(number(trips, "connections") >= 1.0);
}

/// T13: from 0.5 Mb/s on type C goes by doubling, B by ten at once; no line is faster for it.
#[test]
fn t13_a_capacity_search_of_type_c_doubles_its_rate_and_stays_within_the_line() {
    needs!();
    let folder = TempDir::new().unwrap();
    let path = ["--rate", "40Mbit/s", "--delay", "5ms"];
    let args = ["rfc9097", "--time", "3s", "--adjustment", "C"];
    let method = found(&folder, &[&args[..], &path[..]].concat());
    let capacity = &method["capacities"][0];
    assert_eq!(capacity["adjustment"], "C", "{method}");
    let deviations = method["deviations"].to_string();
    assert!(deviations.contains("load adjustment of type C"), "{deviations}");
    assert!(number(capacity, "mean_bit_s") <= 40e6 * 1250.0 / 1288.0 * 1.01, "{capacity}");
    assert!(number(capacity, "capacity_bit_s") > 0.0, "{capacity}");
    let samples = lines(&folder.path().join("out/samples.jsonl"));
    let search = samples.iter().find(|line| line["probe"]["reports"].is_array()).unwrap();
    assert_eq!(search["probe"]["adjustment"], "C");
    let reports = search["probe"]["reports"].as_array().unwrap();
    let asked = reports.iter().filter_map(|report| report["asked_bit_s"].as_u64());
    let first = asked.clone().find(|rate| *rate > 500_000).unwrap();
    assert!(first < 10_000_000, "{first}");
    let said = reported(&folder);
    assert!(said.contains("type C (multiply and retry)"), "{said}");
    // Only one method has a rate that is adjusted.
    let mut command = btu();
    command.args(["traffic", "method", "rfc2544", "--adjustment", "C", "--dry-run"]);
    let refused = run(&mut command).unwrap_err();
    assert!(refused.contains("--adjustment: rfc2544 has no rate that is adjusted"), "{refused}");
}

/// A path that loses what is larger than 1400 bytes without a word: found to the byte, and TCP does not get stuck in it.
#[test]
fn t13_a_path_mtu_is_found_to_the_byte_and_used() {
    needs!();
    let folder = TempDir::new().unwrap();
    let path =
        ["--rate", "5Mbit/s", "--delay", "10ms", "--queue", "20pkt", "--drop", "above 1400B"];
    let method = found(&folder, &[&["rfc6349", "--time", "300ms"][..], &path[..]].concat());
    let mtu = &method["path_mtu"];
    assert_eq!((&mtu["path_mtu_bytes"], &mtu["exact"]), (&1400.into(), &true.into()), "{mtu}");
    assert_eq!(mtu["device_mtu_bytes"], 1500, "{mtu}");
    let transfers = method["transfers"].as_array().unwrap();
    // Shares whose windows are the least one are measured once.
    assert!((3..=5).contains(&transfers.len()), "{method}");
    for transfer in transfers {
        let goodput = number(transfer, "goodput_bit_s");
        // Segments of 1400 bytes carry 1348 and take 1438 on the line.
        assert!(goodput > 0.0 && goodput <= 5e6 * 1348.0 / 1438.0 * 1.01, "{transfer}");
    }
    let said = reported(&folder);
    assert!(said.contains("1400 B") && said.contains("the device sends 1500 B"), "{said}");
}

#[test]
fn t13_tcp_over_its_window_is_held_against_what_was_measured_before() {
    needs!();
    let folder = TempDir::new().unwrap();
    let path = ["--rate", "5Mbit/s", "--delay", "10ms", "--queue", "20pkt"];
    let method = found(&folder, &[&["rfc6349", "--time", "300ms"][..], &path[..]].concat());
    let mtu = &method["path_mtu"];
    assert_eq!((&mtu["path_mtu_bytes"], &mtu["exact"]), (&1500.into(), &true.into()), "{mtu}");
    let transfers = method["transfers"].as_array().unwrap();
    assert!(!transfers.is_empty(), "{method}");
    for transfer in transfers {
        assert!(number(transfer, "idle_rtt_s") >= 0.02, "{transfer}");
        assert!(number(transfer, "goodput_bit_s") <= 5e6 * 1448.0 / 1538.0 * 1.01, "{transfer}");
        assert!(number(transfer, "efficiency_percent") <= 100.0);
    }
    // 12.5 kB and what the host adds to the delay: a quarter of it is below the least window.
    let shares: Vec<f64> = transfers.iter().map(|one| number(one, "window_share")).collect();
    assert!(shares.is_sorted_by(|a, b| a < b), "no window twice: {shares:?}");
    for (share, transfer) in shares.iter().zip(transfers) {
        let window = share * number(transfer, "product_bytes");
        assert!(window >= 0.99 * 8192.0, "{transfer}");
    }
}
