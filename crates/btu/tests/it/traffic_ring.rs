//! Traffic of all three hosts of the local testbed, each two of them joined.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::commands::needs;
use crate::commands::run;
use crate::link::contained::namespaces_of;
use crate::link::users;
use crate::link::users::User;
use crate::program::lines;
use crate::program::read_json;
use crate::run::nothing_survives;
use crate::run::spawn;
use crate::wait::wait_until;

/// One that every user may write into.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    folder
}

fn traffic(user: User, folder: &Path, args: &[&str]) -> Command {
    let mut command = users::btu(user);
    command.env("BTU_STATE_DIR", folder.join("state"));
    command.current_dir(folder).arg("traffic").args(args);
    command
}

/// One cluster of tests: each with its path, its transport and its type.
fn scenario(folder: &Path, tests: &[(&str, &str, &str)]) {
    let test = |(at, (path, transport, kind)): (usize, &(&str, &str, &str))| {
        format!(
            "[[cluster.test]]\nname = \"t{at}\"\npath = \"{path}\"\ntransport = \"{transport}\"\n\
             type = \"{kind}\"\ndrain = \"yes\"\n"
        )
    };
    let tests: String = tests.iter().enumerate().map(test).collect();
    fs::write(folder.join("ring.toml"), format!("[[cluster]]\n{tests}")).unwrap();
}

fn flows(folder: &Path, out: &str) -> Vec<Value> {
    let result = read_json(&folder.join(out).join("result.json"));
    assert_eq!(result["complete"], true, "{result:#}");
    let mut flows = result["flows"].as_array().unwrap().clone();
    flows.sort_by_key(|flow| flow["test"].as_str().unwrap().to_owned());
    flows
}

/// Packets that the emulator saw of each link, in both directions.
fn emulated(folder: &Path, out: &str) -> Vec<(String, u64)> {
    let samples = lines(&folder.join(out).join("samples.jsonl"));
    let all = samples[0]["emulation"].as_array().cloned().unwrap_or_default();
    let seen = |one: &Value| {
        let [link, direction] = ["link", "direction"].map(|key| one[key].as_str().unwrap());
        (format!("{link} {direction}"), one["packets"].as_u64().unwrap())
    };
    all.iter().map(seen).collect()
}

const BURSTS: &str = "burstq(blocksize=1 kB, period=10 ms, duration=400 ms)";
const KEYS: &str = "telnet(interarrival=20 ms, duration=400 ms)";

/// The test host, then around; and between the black boxes both ways, over all transports, flows and conversations.
const RING: [(&str, &str, &str); 11] = [
    ("test -> active", "tcp", BURSTS),
    ("active -> passive", "tcp", BURSTS),
    ("passive -> test", "tcp", BURSTS),
    ("passive -> active", "tcp", BURSTS),
    ("active -> passive", "udp", BURSTS),
    ("passive -> active", "udp", BURSTS),
    ("active -> passive", "quic", BURSTS),
    ("passive -> active", "quic", BURSTS),
    ("active -> passive", "tcp", KEYS),
    ("passive -> active", "tcp", KEYS),
    ("passive -> active", "quic", KEYS),
];

#[test]
fn a_ring_of_three_hosts_is_carried_over_every_transport_with_and_without_a_link() {
    needs!();
    for user in users::users() {
        let folder = folder();
        scenario(folder.path(), &RING);
        for (out, link, least) in [("direct", None, 0.0), ("slow", Some("--delay=5ms"), 5e-3)] {
            let args =
                [&["ring.toml", "--seed", "1", "--out", out, "--quiet"][..], link.as_slice()];
            run(&mut traffic(user, folder.path(), &args.concat())).unwrap();
            let flows = flows(folder.path(), out);
            assert_eq!(flows.len(), RING.len(), "{user:?} {out}");
            for (at, (path, transport, kind)) in RING.iter().enumerate() {
                let flow = flows.iter().find(|flow| flow["test"] == format!("t{at}")).unwrap();
                let said = format!("{user:?} {out} {path} {transport} {kind}: {flow}");
                let way = ["from", "to"].map(|key| flow[key].as_str().unwrap());
                assert_eq!(way.join(" -> "), *path, "{said}");
                assert_eq!(
                    (&flow["transport"], &flow["ended"]),
                    (&(*transport).into(), &"complete".into()),
                    "{said}"
                );
                assert!(flow["delivered_bytes"].as_u64().unwrap() > 0, "{said}");
                // Of a conversation it is the time of an answer, which passes the link twice.
                let ways = if *kind == KEYS { 2.0 } else { 1.0 };
                assert!(flow["delay_min_s"].as_f64().unwrap() >= ways * least, "{said}");
            }
            let seen = emulated(folder.path(), out);
            let third = seen.iter().filter(|(name, _)| name.starts_with("active-passive "));
            let expected = if link.is_some() { 2 } else { 0 };
            assert_eq!(third.filter(|(_, packets)| *packets >= 40).count(), expected, "{seen:?}");
        }
    }
}

/// A sender and a sink of one connection, in `NetSpec`'s units.
fn connection(from: &str, to: &str, port: u16) -> String {
    format!(
        "test {from} {{ type = burstq (blocksize=1000, period=10000, duration=0.3); protocol = tcp;
           own = {from}:{port}; peer = {to}:{port}; }}
         test {to} {{ type = sink (blocksize=65536, duration=0.3); protocol = tcp; own = {to}:{port}; peer = {from}:{port}; }}"
    )
}

#[test]
fn a_script_of_three_hosts_is_carried_as_it_is() {
    needs!();
    for user in users::users() {
        let folder = folder();
        let ring =
            [("quadra", "vasari", 42005), ("vasari", "hopper", 42007), ("hopper", "quadra", 42009)];
        let tests: String =
            ring.iter().map(|(from, to, port)| connection(from, to, *port)).collect();
        fs::write(folder.path().join("a.ns"), format!("cluster {{ {tests} }}")).unwrap();
        run(&mut traffic(user, folder.path(), &["a.ns", "--out", "out", "--quiet"])).unwrap();
        let flows = flows(folder.path(), "out");
        let ways = flows.iter().map(|flow| ["from", "to"].map(|key| flow[key].as_str().unwrap()));
        let mut ways: Vec<[&str; 2]> = ways.collect();
        ways.sort_unstable();
        assert_eq!(
            ways,
            [["active", "passive"], ["passive", "test"], ["test", "active"]],
            "{user:?}"
        );
        for flow in &flows {
            assert_eq!(
                (&flow["ended"], &flow["delivered_bytes"]),
                (&"complete".into(), &30_000.into()),
                "{flow}"
            );
        }
    }
}

/// The test host has no connection; the others are told by name before they are joined.
#[test]
fn two_black_boxes_alone_are_joined_and_a_dry_run_says_so() {
    needs!();
    let folder = folder();
    scenario(folder.path(), &[("active -> passive", "tcp", BURSTS)]);
    let dry = |more: &[&str]| {
        let args = [&["ring.toml", "--seed", "1", "--dry-run"][..], more].concat();
        run(&mut traffic(User::Same, folder.path(), &args)).unwrap()
    };
    let said = dry(&[]);
    assert!(said.lines().any(|line| line == "# connections: active - passive"), "{said}");
    let document: Value = serde_json::from_str(&dry(&["--json"])).unwrap();
    assert_eq!(document["joined"], serde_json::json!([["active", "passive"]]));
    let args = ["ring.toml", "--seed", "1", "--out", "out", "--quiet"];
    run(&mut traffic(User::Same, folder.path(), &args)).unwrap();
    let flow = &flows(folder.path(), "out")[0];
    assert_eq!((&flow["from"], &flow["to"]), (&"active".into(), &"passive".into()));
    let placement = read_json(&folder.path().join("out/hosts.json"))["placement"].clone();
    assert!(placement["route_active_passive"].to_string().contains("passive0"), "{placement:#}");
    scenario(
        folder.path(),
        &[("test -> active", "tcp", BURSTS), ("passive -> test", "udp", BURSTS)],
    );
    let said = dry(&[]);
    let line = "# connections: test - active, test - passive";
    assert!(said.lines().any(|told| told == line), "{said}");
}

#[test]
fn a_fourth_host_and_one_joined_with_itself_are_refused_with_the_remedy() {
    let folder = folder();
    let ring = [("a", "b", 42005), ("b", "c", 42007), ("c", "d", 42009)];
    let tests: String = ring.iter().map(|(from, to, port)| connection(from, to, *port)).collect();
    fs::write(folder.path().join("a.ns"), format!("cluster {{ {tests} }}")).unwrap();
    for (more, reason) in [
        (&[][..], "host d: the local testbed has three roles, all taken"),
        (
            &["--map", "d=passive", "--map", "c=passive"][..],
            "passive -> passive: the local testbed joins",
        ),
    ] {
        let args = [&["a.ns", "--dry-run"][..], more].concat();
        let ended = traffic(User::Same, folder.path(), &args).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!((ended.status.code(), ended.stdout.len()), (Some(2), 0), "{said}");
        assert!(said.contains(reason) && said.contains("--map HOST=ROLE"), "{said}");
    }
}

#[test]
fn kill_9_of_traffic_among_three_hosts_leaves_no_process_namespace_or_device() {
    needs!();
    for user in users::users() {
        let folder = folder();
        let long = "burstq(blocksize=1 kB, period=10 ms, duration=300 s)";
        let ways = ["test -> active", "active -> passive", "passive -> test"];
        scenario(folder.path(), &ways.map(|way| (way, "tcp", long)));
        let out = folder.path().join("out");
        let out_text = out.display().to_string();
        let args = ["ring.toml", "--delay", "5ms", "--out", &out_text, "--quiet"];
        let mut run = spawn(&mut traffic(user, folder.path(), &args));
        let own = namespaces_of("self");
        // Those of the three hosts, whose threads send and read, and the emulator's.
        wait_until("threads in four networks", || {
            assert_eq!(run.try_wait().unwrap(), None, "{user:?}: ended by itself");
            let all = namespaces_of(&run.id().to_string());
            all.iter().filter(|one| !own.contains(one)).count() == 4
        });
        nothing_survives(user, &mut run, &out);
    }
}
