//! A local run and one between three hosts, of one machine over one kind of path: what lies between,
//! processes, control connections and tokens, is not seen in the score.

use std::time::Duration;
use std::time::Instant;

use btu_sys::cpu;
use btu_sys::cpu::CpuSet;
use btu_sys::sysctl;
use serde_json::Value;

use super::hosts::Hosts;
use super::hosts::said;
use crate::isolated::isolated;
use crate::program::Cells;
use crate::program::of_kind;
use crate::program::read_json;

/// Cases of the direct path: the emulator has another place in front of an agent. Large messages: small ones
/// run in either of two modes (`docs/anomaly-rules.md`), which chance decides for each connection.
const DIRECT: Cells<'_> =
    Cells { cases: &["SEND", "RECV"], window: "80ms", lead_in: "5ms", passes: 3, ..Cells::SHORT };

/// Pairs of runs, a local one and one between hosts, each kind first in every second pair: what this
/// machine does meanwhile, and what it did before, comes to both alike. There are more of them where they
/// say little, while the time lasts; where they never say enough, nothing was compared.
const LEAST_PAIRS: usize = 11;
const TIME: Duration = Duration::from_secs(45);

/// Logs of ratios. A tenth is a difference that no user would see, one of a third is one that this test
/// has to see: of any other the interval may say what it likes.
const UNSEEN: f64 = 0.1;
const SEEN: f64 = 0.405;

/// Between which of the ratios their true median lies, in all but one of 1000 tests at most: whatever
/// their distribution is, each lies above it as likely as below, so the number of those below is binomial
/// (by the sign test). One pair that another program disturbed moves neither end far.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Interval {
    low: f64,
    high: f64,
}

impl Interval {
    /// Of logs of ratios, at least [`LEAST_PAIRS`] of them.
    fn of(logs: &[f64]) -> Self {
        let mut sorted = logs.to_vec();
        sorted.sort_by(f64::total_cmp);
        let left_out = left_out(logs.len());
        Self { low: sorted[left_out], high: sorted[logs.len() - 1 - left_out] }
    }

    /// They may be alike: no more than the unseen is shown.
    fn may_be_alike(self) -> bool {
        self.low <= UNSEEN && self.high >= -UNSEEN
    }

    /// It would have been shown if one of them were a third slower.
    fn would_show(self) -> bool {
        self.high - SEEN < -UNSEEN && self.low + SEEN > UNSEEN
    }
}

/// How many of so many values may be left out at each end.
fn left_out(pairs: usize) -> usize {
    let (mut below, mut ways) = (0.0, 1.0);
    for count in 0..pairs {
        below += ways * 0.5_f64.powi(i32::try_from(pairs).unwrap());
        if below > 0.0005 {
            assert!(count > 0, "{pairs} pairs are too few");
            return count - 1;
        }
        let done = f64::from(u32::try_from(count).unwrap());
        ways *= (f64::from(u32::try_from(pairs).unwrap()) - done) / (done + 1.0);
    }
    unreachable!("half of the ways are below the middle")
}

#[test]
fn the_interval_of_a_median_misses_it_once_in_a_thousand_tests_at_most() {
    // 2 (1/2)^11; 2 (1 + 15) / 2^15; 2 (1 + 19 + 171) / 2^19: each below 0.001, and one more above it.
    assert_eq!([11, 14, 15, 18, 19].map(left_out), [0, 0, 1, 1, 2]);
}

#[test]
fn pairs_that_differ_by_a_third_are_told_from_pairs_that_do_not() {
    let spread = [0.04, -0.06, 0.09, -0.08, 0.01, 0.12, -0.11, 0.02, -0.05, 0.03, 0.0];
    let alike = Interval::of(&spread);
    assert!(alike.may_be_alike() && alike.would_show(), "{alike:?}");
    for third in [SEEN, -SEEN] {
        let apart = Interval::of(&spread.map(|log| log + third));
        assert!(!apart.may_be_alike(), "{apart:?}");
    }
    let noisy = Interval::of(&spread.map(|log| 5.0 * log));
    assert!(noisy.may_be_alike() && !noisy.would_show(), "{noisy:?}");
}

/// The score of a result, in Mb/s.
fn score(hosts: &Hosts, out: &str) -> f64 {
    let result = read_json(&hosts.path(out).join("result.json"));
    result["btu_mbps"].as_f64().unwrap_or_else(|| panic!("{result:#}"))
}

/// What a network is made with there, where its kernel lets it be set: packets are received on the host's
/// own CPUs, and a black box does not let its window grow at first.
fn as_on_the_local_testbed(cpus: &CpuSet, is_test: bool) {
    let mask = cpus.iter().filter(|cpu| *cpu < 32).fold(0_u32, |mask, cpu| mask | 1 << cpu);
    let _ = sysctl::write("net.core.rps_default_mask", &format!("{mask:x}"));
    if !is_test {
        let sizes = sysctl::read("net.ipv4.tcp_rmem").unwrap();
        let sizes: Vec<u64> = sizes.split_whitespace().map(|size| size.parse().unwrap()).collect();
        let [least, first, most] = sizes[..] else { panic!("{sizes:?}") };
        let open = (6 << 20).clamp(first.min(most), most);
        let _ = sysctl::write("net.ipv4.tcp_rmem", &format!("{least} {open} {most}"));
    }
}

/// The congestion control of every connection.
fn congestion(hosts: &Hosts, out: &str) -> Vec<Value> {
    let cells = of_kind(&hosts.path(out), "cell").into_iter();
    let of =
        |cell: Value| cell["comm"]["connections"][0]["sender"]["options"]["congestion"].clone();
    let mut names: Vec<Value> = cells.map(of).collect();
    names.dedup();
    names
}

#[test]
fn a_local_run_and_one_between_three_hosts_agree_within_their_intervals() {
    let _alone = crate::alone();
    let name = "alike::a_local_run_and_one_between_three_hosts_agree_within_their_intervals";
    isolated(name, || {
        // As on the local testbed: the host under test has one half of the CPUs, black boxes the other.
        let all = cpu::allowed().unwrap();
        let half = |of_test: bool| -> CpuSet {
            let count = all.len();
            let is_in = |place: &usize| count < 2 || (*place < count / 2) == of_test;
            (0..count).filter(is_in).filter_map(|place| all.nth_round(place)).collect()
        };
        let hosts = Hosts::prepared(|host| as_on_the_local_testbed(&half(host == 2), host == 2));
        // And what the local testbed sets.
        hosts.control_by("cubic", 0);
        cpu::pin(&half(false)).unwrap();
        let agent = hosts.agent(0, &[]);
        cpu::pin(&all).unwrap();
        hosts.pair(&agent, "lab1");
        let (begun, mut scores) = (Instant::now(), Vec::new());
        let mut found = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };
        while !found.would_show() && begun.elapsed() < TIME {
            let pair = scores.len();
            let (local, remote) = (format!("local-{pair}"), format!("remote-{pair}"));
            let mut kinds =
                [(&local, &all, &[][..]), (&remote, &half(true), &["--active", "lab1"])];
            if pair % 2 == 1 {
                kinds.reverse();
            }
            for (out, cpus, options) in kinds {
                cpu::pin(cpus).unwrap();
                let run = hosts.run(DIRECT, out, options).output().unwrap();
                assert!(matches!(run.status.code(), Some(0 | 6)), "{out}: {}", said(&run));
            }
            assert_eq!(congestion(&hosts, &local), congestion(&hosts, &remote));
            scores.push([score(&hosts, &local), score(&hosts, &remote)]);
            if scores.len() >= LEAST_PAIRS {
                found = Interval::of(&logs(&scores));
            }
        }
        let told =
            format!("three hosts over local: {found:?} of {:.3?}: {scores:.0?}", logs(&scores));
        println!("{told}, {:.0?}", begun.elapsed());
        assert!(found.may_be_alike(), "they differ: {told}");
        if !found.would_show() {
            skip!("machine too busy: its pairs would not show a difference of a third: {found:?}");
        }
    });
}

/// Of the ratios, three hosts over local.
fn logs(scores: &[[f64; 2]]) -> Vec<f64> {
    scores.iter().map(|[local, remote]| (remote / local).ln()).collect()
}
