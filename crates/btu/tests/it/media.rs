//! Calls whose rate follows their path, over an emulated line.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::commands::needs;
use crate::commands::run;
use crate::program::btu;
use crate::program::read_json;
use crate::program::said;

/// Calls of these arguments, one after the other.
fn scenario(folder: &Path, calls: &[(&str, &str)], transport: &str) {
    let written = |(name, arguments): &(&str, &str)| {
        let path = format!("path = \"test -> active\"\ntransport = \"{transport}\"");
        format!(
            "[[cluster]]\nname = \"{name}\"\n[[cluster.test]]\nname = \"{name}\"\n{path}\n\
             type = \"webrtc({arguments})\"\n"
        )
    };
    let text: String = calls.iter().map(written).collect();
    std::fs::write(folder.join("a.toml"), text).unwrap();
}

/// What each of them came to, and what was noticed of it, by the name of its test.
fn carried(
    calls: &[(&str, &str)],
    path: &[&str],
) -> BTreeMap<String, (Value, BTreeMap<String, f64>)> {
    let folder = TempDir::new().unwrap();
    scenario(folder.path(), calls, "udp");
    let mut command = btu();
    command.current_dir(folder.path()).args(["traffic", "a.toml", "--seed", "1", "--out", "out"]);
    run(command.arg("--quiet").args(path)).unwrap();
    let result = read_json(&folder.path().join("out/result.json"));
    let flows = result["flows"].as_array().unwrap().iter();
    let noticed = |flow: &Value| {
        let all = flow["noticed"].as_array().unwrap().iter();
        let pair = |one: &Value| {
            (one["what"].as_str().unwrap().to_owned(), one["value"].as_f64().unwrap())
        };
        all.map(pair).collect()
    };
    flows
        .map(|flow| (flow["test"].as_str().unwrap().to_owned(), (flow.clone(), noticed(flow))))
        .collect()
}

/// A line of 1 Mb/s under a video of 1.5 Mb/s: one that follows comes down to what the line carries, one of a fixed rate
/// fills the queue for as long as it lasts.
#[test]
fn a_call_settles_below_the_rate_of_its_line_and_waits_less_than_one_of_a_fixed_rate() {
    needs!();
    let calls = [
        ("follows", "rate=1500 kbit/s, start=1500 kbit/s, duration=12 s"),
        ("fixed", "control=none, rate=1500 kbit/s, duration=12 s"),
    ];
    let found = carried(&calls, &["--rate", "1Mbit/s", "--queue", "2s", "--delay", "20ms"]);
    let (follows, noticed) = &found["follows"];
    assert_eq!(follows["ended"], "complete", "{follows}");
    let fixed = &found["fixed.1"].0;
    let figure = |flow: &Value, key: &str| flow[key].as_f64().unwrap();
    let target = noticed["mean target rate, Mb/s"];
    assert!((0.4..1.0).contains(&target), "{noticed:?}");
    assert!(noticed["least target rate, Mb/s"] <= target && target < 1.5, "{noticed:?}");
    let [p50, p95, p99] =
        ["p50", "p95", "p99"].map(|share| noticed[&format!("frame delay {share}, s")]);
    assert!(p50 <= p95 && p95 <= p99, "{noticed:?}");
    // 20 ms are those of the line.
    assert!(p50 > 0.02 && p50 < 0.5 * figure(fixed, "delay_p50_s"), "{noticed:?} {fixed}");
    let (own, other) = (figure(follows, "delay_mean_s"), figure(fixed, "delay_mean_s"));
    assert!(own < 0.5 * other, "mean delay {own} s and {other} s");
    assert!(figure(follows, "arrival_rate_bit_s") < 0.8 * figure(fixed, "arrival_rate_bit_s"));
}

/// Three of each twenty packets are lost, which is more than the draft bears; one in fifty is not.
#[test]
fn a_call_gives_way_to_much_loss_and_repairs_a_little() {
    needs!();
    let call = [("call", "rate=1 Mbit/s, start=1 Mbit/s, duration=6 s")];
    let of = |drop: &str| carried(&call, &["--drop", drop]).remove("call").unwrap();
    let ((_, much), (flow, little)) = (of("3@3/20"), of("1@7/50"));
    let target = |noticed: &BTreeMap<String, f64>| noticed["mean target rate, Mb/s"];
    assert!(target(&much) < 0.7 * target(&little), "{much:?} {little:?}");
    // What was lost was sent once more, and its frame was whole in time.
    assert!(flow["lost_share"].as_f64().unwrap() > 0.01, "{flow}");
    // A video of 1 Mb/s has four packets for each of 180 frames: fifteen of these would have lost one.
    assert!(little["frames never whole"] <= 7.0, "{little:?}");
    assert!(little["frame delay p50, s"] < much["frame delay p95, s"], "{much:?} {little:?}");
}

#[test]
fn a_call_that_follows_is_refused_over_streams_with_the_remedy() {
    let folder = TempDir::new().unwrap();
    for transport in ["tcp", "quic"] {
        scenario(folder.path(), &[("call", "duration=1 s")], transport);
        let ended = btu().current_dir(folder.path()).args(["traffic", "a.toml"]).output().unwrap();
        let told = said(&ended);
        assert_eq!(ended.status.code(), Some(2), "{told}");
        let reason = format!("test call: {transport}: webrtc follows reports of single datagrams");
        assert!(told.contains(&reason), "{told}");
        assert!(told.contains("write udp, or webrtc(control=none)"), "{told}");
    }
}
