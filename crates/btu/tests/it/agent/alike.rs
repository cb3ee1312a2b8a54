//! A local run and one between three hosts, of one machine over one kind of path: what lies between,
//! processes, control connections and tokens, is not seen in the score.

use btu_sys::cpu;
use btu_sys::cpu::CpuSet;
use serde_json::Value;

use super::hosts::Hosts;
use super::hosts::said;
use crate::isolated::isolated;
use crate::program::read_json;

/// Cases of the direct path: the emulator has another place in front of an agent.
const DIRECT: &str = r#"
[matrix]
cases = ["SEND", "RECV"]
applications = ["netscape", "video"]
activities = ["idle"]
[time]
window = "100ms"
lead_in = "5ms"
alone = "20ms"
[passes]
min = 3
max = 3
"#;

/// Pairs of runs. What is done otherwise by one kind of run is done so in every pair; what else this
/// machine does meanwhile is not.
const PAIRS: u64 = 4;

/// Whose result it is, and the score with its interval.
fn score(hosts: &Hosts, out: &str) -> (f64, [f64; 2]) {
    let result = read_json(&hosts.path(out).join("result.json"));
    let interval = result["btu_ci95_mbps"].as_array().unwrap_or_else(|| panic!("{result:#}"));
    let [low, high] = [0, 1].map(|end: usize| interval[end].as_f64().unwrap());
    (result["btu_mbps"].as_f64().unwrap(), [low, high])
}

/// The congestion control of every connection.
fn congestion(hosts: &Hosts, out: &str) -> Vec<Value> {
    let samples = crate::program::lines(&hosts.path(out).join("samples.jsonl"));
    let cells = samples.into_iter().filter(|line| line["kind"] == "cell");
    let of =
        |cell: Value| cell["comm"]["connections"][0]["sender"]["options"]["congestion"].clone();
    let mut names: Vec<Value> = cells.map(of).collect();
    names.dedup();
    names
}

#[test]
fn a_local_run_and_one_between_three_hosts_agree_within_their_intervals() {
    let name = "agent::alike::a_local_run_and_one_between_three_hosts_agree_within_their_intervals";
    isolated(name, || {
        let hosts = Hosts::new();
        // As on the local testbed: the host under test has one half of the CPUs, black boxes the other.
        let all = cpu::allowed().unwrap();
        let half = |of_test: bool| -> CpuSet {
            let count = all.len();
            let is_in = |place: &usize| count < 2 || (*place < count / 2) == of_test;
            (0..count).filter(is_in).filter_map(|place| all.nth_round(place)).collect()
        };
        // And what the local testbed sets.
        hosts.control_by("cubic", 0);
        cpu::pin(&half(false)).unwrap();
        let agent = hosts.agent(0, &[]);
        cpu::pin(&all).unwrap();
        hosts.pair(&agent, "lab1");
        let mut seen = Vec::new();
        for pair in 0..PAIRS {
            let (local, remote) = (format!("local-{pair}"), format!("remote-{pair}"));
            for (out, cpus, options) in
                [(&local, &all, &[][..]), (&remote, &half(true), &["--active", "lab1"])]
            {
                cpu::pin(cpus).unwrap();
                let run = hosts.run(DIRECT, out, options).output().unwrap();
                assert!(matches!(run.status.code(), Some(0 | 6)), "{out}: {}", said(&run));
            }
            assert_eq!(congestion(&hosts, &local), congestion(&hosts, &remote));
            let (one, other) = (score(&hosts, &local), score(&hosts, &remote));
            if one.1[0] <= other.1[1] && other.1[0] <= one.1[1] {
                return;
            }
            seen.push((one, other));
        }
        panic!("no pair of {PAIRS} agrees, local and remote: {seen:?}");
    });
}
