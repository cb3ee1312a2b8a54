//! Calls and files over Rx, whose ends are processes of the program: tests of the engine have no program.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::commands::needs;
use crate::commands::run;
use crate::program::btu;
use crate::program::of_kind;
use crate::program::read_json;
use crate::program::signal;
use crate::program::wait_until;

/// Ends the test where the library is not there.
macro_rules! needs_rx {
    () => {
        if !btu_sys::rx::is_installed() {
            skip!("library missing: {}", btu_sys::rx::LIBRARY);
        }
    };
}

fn sweep(folder: &Path, args: &[&str]) -> Command {
    let mut command = btu();
    command.current_dir(folder).args(["file", "rpc-sweep", "--quiet", "--out", "out"]).args(args);
    command
}

/// The rate of each trial of a complete result, by protocol and size.
fn rates(folder: &Path) -> BTreeMap<(String, u64), f64> {
    let result = read_json(&folder.join("out/result.json"));
    assert_eq!(result["complete"], Value::from(true), "{result:#}");
    let rate = |trial: &Value| {
        let protocol = trial["protocol"].as_str().unwrap().to_owned();
        let size = trial["size_bytes"].as_u64().unwrap();
        ((protocol, size), trial["rate_kib_s"].as_f64().unwrap())
    };
    result["trials"].as_array().unwrap().iter().map(rate).collect()
}

/// Packets with data and datagrams with data of a block, without those that were sent again: in jumbograms they are sent
/// again one by one.
fn sent_for_a_block(sample: &Value) -> (f64, f64) {
    let number = |value: &Value| value.as_f64().unwrap();
    let (sent, count) = (&sample["clients"][0]["sent"], number(&sample["trial"]["count"]));
    let again = number(&sent["resent_packets"]);
    ((number(&sent["packets"]) - again) / count, (number(&sent["datagrams"]) - again) / count)
}

fn mean_of(samples: &[Value], of: impl Fn(&Value) -> bool) -> (f64, f64) {
    let found: Vec<(f64, f64)> =
        samples.iter().filter(|sample| of(&sample["trial"])).map(sent_for_a_block).collect();
    let count = f64::from(u32::try_from(found.len()).unwrap());
    (
        found.iter().map(|one| one.0).sum::<f64>() / count,
        found.iter().map(|one| one.1).sum::<f64>() / count,
    )
}

/// A6 of the design: the paper's test hung above 96 K, and its curve rises by 4.2.
#[test]
fn calls_over_rx_gain_with_the_size_of_their_block_and_none_hangs() {
    needs_rx!();
    let folder = TempDir::new().unwrap();
    let args = ["--protocols", "rx-rpc,rx-stream", "--sizes", "1536B,96KiB,1MiB"];
    let rounds = ["--path", "loopback", "--rounds", "3", "--warm", "0"];
    run(sweep(folder.path(), &args).args(rounds)).unwrap();
    let rates = rates(folder.path());
    assert_eq!(rates.len(), 6);
    let gain = |protocol: &str| {
        let at = |size| rates[&(protocol.to_owned(), size)];
        at(98_304) / at(1536)
    };
    let (calls, stream) = (gain("rx-rpc"), gain("rx-stream"));
    // On an idle machine 14 and 1.1.
    assert!(calls >= 3.0 && stream < calls / 2.0, "{calls} {stream}");
}

/// The design's table for 120 writes of 96 KiB: 8363 packets, in 2120 datagrams over a path of 1500 bytes, and in 1440
/// over one of 4144.
#[test]
fn a_larger_mtu_takes_fewer_datagrams_of_rx_for_as_many_packets() {
    needs_rx!();
    needs!();
    let folder = TempDir::new().unwrap();
    let args = ["--protocols", "rx-stream", "--sizes", "96KiB", "--mtu", "1500B,4144B"];
    run(sweep(folder.path(), &args).args(["--rounds", "2", "--warm", "0"])).unwrap();
    let samples = of_kind(&folder.path().join("out"), "file_trial");
    for (mtu, wanted) in [(1500, 2120.0), (4144, 1440.0)] {
        let (packets, datagrams) = mean_of(&samples, |trial| trial["mtu_bytes"] == mtu);
        let is_near = |found: f64, wanted: f64| (found * 120.0 / wanted - 1.0).abs() < 0.05;
        assert!(is_near(packets, 8363.0) && is_near(datagrams, wanted), "{packets} {datagrams}");
    }
}

#[test]
fn files_come_and_go_over_rx_from_memory_and_from_a_disk() {
    needs_rx!();
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let mut command = btu();
    command.current_dir(folder.path()).args(["file", "baseline", "cold-read", "--quiet"]);
    command.args(["--protocols", "rx-stream", "--sizes", "200001B", "--path", "loopback"]);
    command.args(["--rounds", "2", "--warm", "0", "--io-dir", ".", "--out", "out"]);
    run(&mut command).unwrap();
    assert!(rates(folder.path()).values().all(|rate| *rate > 0.0));
    let samples = of_kind(&folder.path().join("out"), "file_trial");
    for sample in &samples {
        let trial = &sample["trial"];
        let whole = trial["size_bytes"].as_u64().unwrap() * trial["count"].as_u64().unwrap();
        for client in sample["clients"].as_array().unwrap() {
            assert_eq!(client["bytes"].as_u64(), Some(whole), "{sample:#}");
            let times = client["took_ns"].as_array().unwrap().len();
            assert_eq!(Some(times as u64), trial["count"].as_u64(), "{sample:#}");
        }
        let server = &sample["servers"][0];
        assert!(server["cpu_ns"].as_u64().is_some_and(|cpu| cpu > 0), "{server:#}");
        assert!(server["not_available"]["calls"].as_str().unwrap().contains("library of Rx"));
    }
    let operations: Vec<&str> =
        samples.iter().map(|sample| sample["trial"]["operation"].as_str().unwrap()).collect();
    assert!(operations.contains(&"get") && operations.contains(&"put"));
}

#[test]
fn the_processes_of_rx_end_with_the_program_that_was_killed() {
    needs_rx!();
    let folder = TempDir::new().unwrap();
    let args = ["--protocols", "rx-rpc", "--sizes", "1MiB", "--path", "loopback"];
    let mut child = sweep(folder.path(), &args).args(["--rounds", "1000"]).spawn().unwrap();
    let mut family = Vec::new();
    wait_until(|| {
        family = btu_sys::process::family(child.id()).unwrap();
        family.len() >= 3
    });
    signal(child.id(), "KILL");
    child.wait().unwrap();
    wait_until(|| family.iter().all(|one| !Path::new(&format!("/proc/{one}")).exists()));
}
