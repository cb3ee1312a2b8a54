//! Receipts of blocks as their users see them: asked for in a scenario, over a link whose delay is known.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::commands::needs;
use crate::commands::run;
use crate::program::btu;
use crate::program::lines;
use crate::program::read_json;
use crate::program::said;

fn traffic(folder: &Path, args: &[&str]) -> Command {
    let mut command = btu();
    command.current_dir(folder).arg("traffic").args(args);
    command
}

fn test(name: &str, path: &str, rest: &str) -> String {
    format!("[[cluster.test]]\nname = \"{name}\"\npath = \"{path}\"\nreceipts = \"yes\"\n{rest}\n")
}

const BURSTS: &str =
    "type = \"burstq(blocksize=2 kB, period=20 ms, duration=600 ms)\"\ndrain = \"yes\"";

/// 20 ms there and 30 ms back: no receipt comes before a block has been there and it has been back.
#[test]
fn a_receipt_takes_no_less_than_there_and_back() {
    needs!();
    let folder = TempDir::new().unwrap();
    let quic = format!("{BURSTS}\ntransport = \"quic\"");
    let over_udp = format!("{BURSTS}\ntransport = \"udp\"");
    let unqueued = "type = \"burst(blocksize=2 kB, period=20 ms, duration=600 ms)\"";
    let text = [
        "[[cluster]]\n".to_owned(),
        test("tcp", "test -> active", BURSTS),
        test("quic", "test -> active", &quic),
        test("udp", "test -> active", &over_udp),
        test("unqueued", "test -> active", unqueued),
        test("back", "active -> test", BURSTS),
    ];
    std::fs::write(folder.path().join("a.toml"), text.concat()).unwrap();
    let args =
        ["a.toml", "--up", "delay 20ms", "--down", "delay 30ms", "--seed", "1", "--out", "out"];
    let told = run(&mut traffic(folder.path(), &args)).unwrap();
    assert!(told.contains("Receipts of blocks, by the clock of the sender"), "{told}");
    let result = read_json(&folder.path().join("out/result.json"));
    let flows = result["flows"].as_array().unwrap();
    assert_eq!((flows.len(), &result["complete"]), (5, &Value::from(true)), "{result:#}");
    for flow in flows {
        let receipts = &flow["receipts"];
        let of = |key: &str| receipts[format!("receipt_delay_{key}_s")].as_f64().unwrap();
        let delay = |key: &str| flow[format!("delay_{key}_s")].as_f64().unwrap();
        assert!(of("min") >= 0.050, "{flow}");
        let way = if flow["test"] == "back" { 0.020 } else { 0.030 };
        for key in ["min", "p50", "max"] {
            // Order statistics keep what holds of each block: its receipt went back after it was read.
            assert!(of(key) >= delay(key) + way, "{key}: {flow}");
        }
        let count = |key: &str| receipts[key].as_u64().unwrap();
        assert_eq!(count("blocks_answered"), count("receipts_came"), "{flow}");
        assert_eq!(count("receipts_missing"), 0, "{flow}");
        assert!(flow["test"] == "unqueued" || count("blocks_answered") == 30, "{flow}");
    }
    let kept =
        lines(&folder.path().join("out/samples.jsonl"))[0]["clusters"][0]["flows"][0].clone();
    assert_eq!(kept["figures"]["receipts"]["came"], 30, "{kept:#}");
    // Whoever has the samples gets the same figures.
    let verified = run(btu().current_dir(folder.path()).args(["verify", "out"])).unwrap();
    assert!(verified.contains("VALID: "), "{verified}");
    let mut changed = result.clone();
    changed["flows"][0]["receipts"]["receipt_delay_p99_s"] = 0.001.into();
    std::fs::write(folder.path().join("out/result.json"), changed.to_string()).unwrap();
    for name in ["manifest.json", "signatures.json"] {
        std::fs::remove_file(folder.path().join("out").join(name)).unwrap();
    }
    let args = ["verify", "out", "--allow-unsigned", "--json"];
    let refused = btu().current_dir(folder.path()).args(args).output().unwrap();
    let found: Value = serde_json::from_slice(&refused.stdout).unwrap();
    let rule = found["violations"][0]["rule"].as_str();
    assert_eq!((refused.status.code(), rule), (Some(1), Some("figures")), "{found:#}");
}

/// Every fifth packet from the receiver is dropped: of datagrams that are receipts themselves.
#[test]
fn receipts_of_datagrams_that_are_lost_on_the_way_are_counted_as_missing() {
    needs!();
    let folder = TempDir::new().unwrap();
    let rest =
        "type = \"burstq(blocksize=200 B, period=10 ms, duration=1 s)\"\ntransport = \"udp\"";
    let text = format!("[[cluster]]\n{}", test("a", "test -> active", rest));
    std::fs::write(folder.path().join("a.toml"), text).unwrap();
    let args = ["a.toml", "--down", "drop 1@3/5", "--out", "out", "--quiet"];
    run(&mut traffic(folder.path(), &args)).unwrap();
    let flow = &read_json(&folder.path().join("out/result.json"))["flows"][0];
    let receipts = &flow["receipts"];
    let counts = ["blocks_answered", "receipts_came", "receipts_missing"];
    assert_eq!(counts.map(|key| receipts[key].as_u64().unwrap()), [100, 80, 20], "{flow}");
    assert_eq!((&flow["lost_share"], &flow["ended"]), (&0.0.into(), &"complete".into()));
}

#[test]
fn receipts_are_converted_and_refused_where_they_have_no_meaning() {
    let folder = TempDir::new().unwrap();
    let write = |kind: &str| {
        let script = format!(
            "cluster {{ test a {{ type = {kind}; receipts = yes; own = a:1; peer = b:2; }} }}"
        );
        std::fs::write(folder.path().join("a.btu"), script).unwrap();
    };
    write("burstq(blocksize=1 kB, period=10 ms, duration=1 s)");
    let toml = run(&mut traffic(folder.path(), &["convert", "a.btu"])).unwrap();
    assert!(toml.contains("receipts = \"yes\"\n"), "{toml}");
    std::fs::write(folder.path().join("b.toml"), &toml).unwrap();
    let again = run(&mut traffic(folder.path(), &["convert", "b.toml"])).unwrap();
    assert_eq!(again, toml);
    write("full(duration=1 s)");
    let refused = traffic(folder.path(), &["convert", "a.btu"]).output().unwrap();
    let told = said(&refused);
    assert_eq!(refused.status.code(), Some(2), "{told}");
    assert!(
        told.contains("a.btu:1:58: receipts: full writes back to back")
            && told.contains("write burst"),
        "{told}"
    );
}
