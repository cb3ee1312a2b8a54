//! The oracles of the traffic engine on an emulated line of 1.7 Mb/s, in real time: the checks that want a
//! quiet machine.

mod models;
mod places;
mod queues;
mod rate;
mod scripts;
mod sessions;
mod sheets;
mod thousand;
mod viseum;

use std::process::Stdio;

use anyhow::Context;
use anyhow::Result;
use serde_json::Value;

use super::Bench;
use super::options::Options;
use super::verb::Incomplete;
use super::verb::Verb;
use super::verb::counted;
use super::verb::judged;
use crate::chore::Verdict;
use crate::repo::Repo;

pub(super) const BENCH: Bench = Bench {
    name: "traffic",
    about: "T1 (scripts), T2 (models), T3 (blocks), T4 (knee), T5, T6 (random bursts), T7 (drained), T8 (places), \
            T9 (unqueued), T10 (pacing), T12 (sessions), T13 (methods), T14 (sheet), T15 (rates of models), \
            thousand (flows), rate, viseum; 50 min; --only T10 runs one",
    own_options: &["--only"],
    run,
};

/// A line for 1.7 Mb/s of TCP payload: 1448 of 1538 bytes on the wire.
const LINE: [&str; 4] = ["--rate", "1805700bit/s", "--queue", "64kB"];
const LINE_BIT_S: f64 = 1_805_700.0;
const MU: f64 = 1.7e6;

fn run(repo: &Repo, options: &Options) -> Result<Verdict> {
    let chosen = options.chosen(PARTS, |(names, _)| names)?;
    let program = Verb::new(repo, BENCH.name, Incomplete::Judged)?;
    let mut missed = 0;
    for (names, part) in chosen {
        missed += counted(names, part(&program));
    }
    println!("\ntraffic: {missed} bounds missed");
    Ok(Verdict::of(missed == 0))
}

type Part = (&'static str, fn(&Verb<'_>) -> Result<usize>);

/// Every part by the names of its checks, the short ones first.
const PARTS: &[Part] = &[
    ("T10", pacing),
    ("rate", rate::rate),
    ("thousand", thousand::flows),
    ("T8", places::places),
    ("T13", methods),
    ("T4", knee),
    ("T12", sessions::sessions),
    ("T14", sheets::sheets),
    ("T1", scripts::scripts),
    ("T2", models::laws),
    ("T3", blocks),
    ("T15", models::rates),
    ("viseum", viseum::viseum),
    ("T7", queues::drained),
    ("T9", queues::unqueued),
    ("T5,T6", queues::random_bursts),
];

/// T3: a million blocks.
fn blocks(program: &Verb<'_>) -> Result<usize> {
    let held = of_a_million(program, "BTU_BLOCKS", BLOCKS)?;
    Ok(judged("T3 a million Poisson blocks wait as M/D/1 and M/M/1 say, within 3 %", held))
}

/// Runs a test of the core that takes its number from a variable; true where it passed.
fn of_a_million(program: &Verb<'_>, variable: &str, test: &str) -> Result<bool> {
    let mut command = program.repo.command("cargo");
    command.args([
        "test",
        "--release",
        "--locked",
        "-p",
        "btu-core",
        "--lib",
        test,
        "--",
        "--exact",
    ]);
    println!("$ {variable}=1000000 cargo test -p btu-core {test}");
    command.env(variable, "1000000").stderr(Stdio::inherit());
    let ended = command.output().context("run cargo test")?;
    let said = String::from_utf8_lossy(&ended.stdout);
    print!("{said}");
    Ok(ended.status.success() && is_one_test(&said))
}

const BLOCKS: &str =
    "traffic::analysis::delay::tests::t3_poisson_trains_wait_as_m_d_1_and_m_m_1_say";

/// True where one test ran and passed: a filter that names none is no failure to cargo.
fn is_one_test(said: &str) -> bool {
    let mut results = said.lines().filter(|line| line.starts_with("test result: "));
    let is_one = |line: &str| line.starts_with("test result: ok. 1 passed; 0 failed;");
    results.next().is_some_and(is_one) && results.next().is_none()
}

/// The cells of a group.
fn of_group<'a>(result: &'a Value, group: &str) -> Vec<&'a Value> {
    all_of(result, "cells").into_iter().filter(|cell| cell["group"] == group).collect()
}

fn all_of<'a>(result: &'a Value, key: &str) -> Vec<&'a Value> {
    result[key].as_array().into_iter().flatten().collect()
}

/// Judges every row; where there is none, nothing was measured, and that is a miss.
fn each(
    what: &str,
    rows: &[&Value],
    mut judge: impl FnMut(&Value) -> Result<usize>,
) -> Result<usize> {
    if rows.is_empty() {
        return Ok(judged(&format!("{what}: nothing was measured"), false));
    }
    rows.iter().try_fold(0, |missed, row| Ok(missed + judge(row)?))
}

/// T13: standard methods on a line of known rate and delay.
fn methods(program: &Verb<'_>) -> Result<usize> {
    let line = ["--rate", "10Mbit/s", "--delay", "10ms"];
    let of = |name: &str, args: &[&str]| {
        program.measure(name, &[&["method", name], args, &line].concat())
    };
    let near = |got: f64, want: f64, within: f64| (got / want - 1.0).abs() <= within;
    let mut missed = 0;
    let frames = of("rfc2544", &["--frames", "1518", "--time", "20s"])?;
    let got = number(&frames["method"]["frames"][0], "throughput_wire_bit_s")?;
    missed +=
        judged(&format!("T13 RFC 2544 {got:.0} bit/s within 2 % of 10e6"), near(got, 10e6, 0.02));
    let capacity = of("rfc9097", &[])?;
    let got = number(&capacity["method"]["capacities"][0], "capacity_bit_s")?;
    let want = 10e6 * 1250.0 / 1288.0;
    missed += judged(
        &format!("T13 RFC 9097 {got:.0} bit/s within 2 % of {want:.0}"),
        near(got, want, 0.02),
    );
    let tcp = of("rfc6349", &["--time", "10s"])?;
    let last = &tcp["method"]["transfers"][4];
    let ratio = number(last, "time_ratio")?;
    missed += judged(
        &format!("T13 RFC 6349 time ratio {ratio:.3} within 5 % of 1"),
        near(ratio, 1.0, 0.05),
    );
    let trips = of("responsiveness", &[])?;
    let idle = number(&trips["method"]["responsiveness"][0], "idle_rpm")?;
    Ok(missed
        + judged(&format!("T13 idle RPM {idle:.0} within 5 % of 3000"), near(idle, 3000.0, 0.05)))
}

/// T10: datagrams each millisecond for 10 s.
fn pacing(program: &Verb<'_>) -> Result<usize> {
    let script = "cluster { test test { type = burstq (blocksize=1250 B, period=1 ms, duration=10 s); \
                  protocol = udp; own = test:42001; peer = active:42001; pace = hybrid; } \
                  test active { type = sink (blocksize=64 KiB); protocol = udp; own = active:42001; \
                  peer = test:42001; } }";
    let file = program.results.join("pacing.btu");
    std::fs::write(&file, script)?;
    let result = program.measure("pacing", &[&file.display().to_string()])?;
    let p99 = number(&result["flows"][0], "pacing_p99_us")?;
    Ok(judged(&format!("T10 inter-departure p99 {p99:.1} us <= 50 us"), p99 <= 50.0))
}

/// T4: the knee at 58.8 ms, mu at 1.7 Mb/s.
fn knee(program: &Verb<'_>) -> Result<usize> {
    let values = "20ms,30ms,40ms,50ms,55ms,63ms,70ms,80ms,120ms,200ms";
    let args = ["sweep", "period", "--values", values, "--time", "10s", "--passes", "3"];
    let result = program.measure("knee", &[&args[..], &LINE].concat())?;
    let mu = number(&result, "mu_bit_s")?;
    let at = 12_500.0 * 8e3 / number(&result["knee"], "knee_bit_s")?;
    let off = |got: f64, want: f64| (got / want - 1.0).abs();
    Ok(judged(&format!("T4 mu {mu:.0} bit/s within 1 % of 1.7e6"), off(mu, MU) <= 0.01)
        + judged(&format!("T4 knee at {at:.1} ms within 3 % of 58.8"), off(at, 58.82) <= 0.03))
}

fn number(value: &Value, key: &str) -> Result<f64> {
    value[key].as_f64().with_context(|| format!("no {key}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = include_str!("../../../docs/traffic-checks.md");

    #[test]
    fn the_table_of_checks_names_every_part() {
        for check in PARTS.iter().flat_map(|(names, _)| names.split(',')) {
            let row = TABLE.lines().find(|line| line.starts_with(&format!("| {check} |")));
            let named = row.map_or(TABLE.contains(&format!("`{check}`")), |row| {
                row.contains("`bench traffic`")
            });
            assert!(named, "{check}");
        }
    }

    #[test]
    fn what_was_not_measured_is_missed() {
        let result = serde_json::json!({ "cells": [{ "group": "time", "x": 2.0 }] });
        let met = |row: &Value| Ok(judged("x", number(row, "x")? > 1.0));
        assert_eq!(each("time", &of_group(&result, "time"), met).unwrap(), 0);
        assert_eq!(each("sessions", &of_group(&result, "sessions"), met).unwrap(), 1);
        assert_eq!(each("flows", &all_of(&result, "flows"), met).unwrap(), 1);
    }

    #[test]
    fn a_test_that_did_not_run_has_not_passed() {
        let said = |result: &str| is_one_test(&format!("running\n\ntest result: {result}\n\n"));
        assert!(said("ok. 1 passed; 0 failed; 0 ignored; 0 measured; 525 filtered out"));
        assert!(!said("ok. 0 passed; 0 failed; 0 ignored; 0 measured; 526 filtered out"));
        assert!(!said("ok. 12 passed; 0 failed; 0 ignored; 0 measured; 514 filtered out"));
        assert!(!is_one_test(""));
        let (_, name) = scripts::DAMAGED.rsplit_once("::").unwrap();
        assert!(TABLE.contains(&format!("`{name}`")), "{name}");
    }
}
