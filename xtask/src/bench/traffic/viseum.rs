//! The figures of the paper, ten times as fast.

use anyhow::Context;
use anyhow::Result;
use serde_json::Value;

use super::Verb;
use super::each;
use super::judged;
use super::number;
use super::of_group;
use super::queues::arrivals;
use super::queues::fluid_delay;
use super::queues::runs;
use super::sessions::FAIR;

pub(super) fn viseum(program: &Verb<'_>) -> Result<usize> {
    let result = program.measure("viseum", &["viseum", "--quick", "--seed", "1"])?;
    let runs = runs(&program.results.join("viseum"))?;
    let mu = number(&result, "mu_bit_s")?;
    let told = format!("viseum, finding 1: {mu:.0} bit/s within 1 % of 17e6");
    let mut missed = judged(&told, (mu / 17e6 - 1.0).abs() <= 0.01);
    missed += totals(&result, mu)?;
    missed += utilisation(&result, &runs)?;
    let at = BURST_BYTES * 8e3 / number(&result["knee"], "knee_bit_s")?;
    let told = format!("viseum, figure 7: knee at {at:.2} ms within 3 % of 5.88");
    missed += judged(&told, (at / 5.882 - 1.0).abs() <= 0.03);
    Ok(missed + delays(&result, &runs, mu)?)
}

/// Figures 4 and 6: whatever the block size and however many sessions, all together have mu, and each its share.
fn totals(result: &Value, mu: f64) -> Result<usize> {
    let mut missed = 0;
    for group in ["block-size", "sessions"] {
        missed += each(&format!("viseum, {group}"), &of_group(result, group), |cell| {
            let (label, total) = (&cell["label"], number(cell, "departure_rate_bit_s")?);
            let told = format!("viseum, {group} {label}: {total:.0} bit/s within 2 % of mu");
            Ok(judged(&told, (total / mu - 1.0).abs() <= 0.02))
        })?;
    }
    let sessions = of_group(result, "sessions");
    Ok(missed
        + each("viseum, fairness", &sessions, |cell| {
            let (label, fair) = (&cell["label"], number(cell, "fairness")?);
            let told =
                format!("viseum, figure 6, {label} sessions: Jain's index {fair:.3} >= {FAIR}");
            Ok(judged(&told, fair >= FAIR))
        })?)
}

/// Figure 9: of each time that of the schedule that was drawn, and in the longest around 11.
fn utilisation(result: &Value, runs: &[Value]) -> Result<usize> {
    let cells = of_group(result, "time");
    let missed = each("viseum, time", &cells, |cell| {
        let (rho, ratio) = (number(cell, "rho")?, number(cell, "offered_ratio")?);
        let told = format!("viseum, time {}: a/d {ratio:.2} within 2 % of {rho:.2}", cell["label"]);
        Ok(judged(&told, (ratio / rho - 1.0).abs() <= 0.02))
    })?;
    let whole: Vec<&Value> = cells.into_iter().filter(|cell| is_whole(cell)).collect();
    Ok(missed
        + each("viseum, figure 9", &of_cells(runs, &whole), |run| {
            let ratio = number(&flow(run)["figures"], "offered_ratio")?;
            let told =
                format!("viseum, figure 9, pass {}: a/d {ratio:.2} in 9.6 to 11.9", run["pass"]);
            Ok(judged(&told, (9.6..=11.9).contains(&ratio)))
        })?)
}

/// Figures 8 and 10: each run waits as a fluid does that arrives as was drawn and leaves at mu.
fn delays(result: &Value, all: &[Value], mu: f64) -> Result<usize> {
    let mut missed = 0;
    for (group, figure) in [("period", 8), ("time", 10)] {
        let cells = of_group(result, group);
        if cells.is_empty() {
            missed += each(&format!("viseum, figure {figure}"), &cells, |_| Ok(0))?;
        }
        for cell in cells {
            let what = format!("viseum, figure {figure}, {}", cell["label"]);
            missed += each(&what, &of_cells(all, &[cell]), |run| {
                let time = number(flow(run), "duration_ns")? / 1e9;
                let drawn = match group {
                    "period" => every(number(cell, "x")? / 1e3, time),
                    _ => arrivals(run),
                };
                let found = number(&flow(run)["figures"], "window_delay_s")?;
                waits(&format!("{what}, pass {}", run["pass"]), &drawn, time, mu, found)
            })?;
        }
    }
    Ok(missed)
}

/// mu is known to 1 %, and W of a load a little above it is as uncertain as the difference of both. A packet is read
/// when its last byte has come.
fn waits(what: &str, drawn: &[(f64, f64)], time: f64, mu: f64, found: f64) -> Result<usize> {
    let at = |mu: f64| fluid_delay(drawn, time, mu).context("no A(t)");
    let (want, least, most) = (at(mu)?, at(1.01 * mu)?, at(0.99 * mu)?);
    let room = (0.03 * want).max(PACKET_S);
    let told = format!("{what}: W {found:.4} s of {want:.4} s by the schedule");
    Ok(judged(&told, (least - room..=most + room).contains(&found)))
}

/// A(t) of a burst each `period`, seconds and bytes: it has a step wherever one is due.
fn every(period: f64, time: f64) -> Vec<(f64, f64)> {
    let due = (0_u32..).map(|k| (f64::from(k) * period, f64::from(k) * BURST_BYTES));
    let steps = due.take_while(|(at, _)| at + 1e-9 < time);
    let mut steps: Vec<_> =
        steps.flat_map(|(at, before)| [(at, before), (at, before + BURST_BYTES)]).collect();
    steps.extend(steps.last().map(|(_, all)| (time, *all)));
    steps
}

/// The runs of these cells.
fn of_cells<'a>(runs: &'a [Value], cells: &[&Value]) -> Vec<&'a Value> {
    runs.iter().filter(|run| cells.iter().any(|cell| cell["cell"] == run["cell"])).collect()
}

/// The 120 s of the paper.
fn is_whole(cell: &Value) -> bool {
    cell["x"].as_f64().is_some_and(|time| (time - 12.0).abs() < 1e-6)
}

fn flow(run: &Value) -> &Value {
    &run["clusters"][0]["flows"][0]
}

const BURST_BYTES: f64 = 12_500.0;
/// 1538 bytes on a line of 18.057 Mb/s.
const PACKET_S: f64 = 1538.0 * 8.0 / 18.057e6;

#[cfg(test)]
mod tests {
    use super::*;

    const MU: f64 = 17e6;

    /// Below mu a burst waits for half of its own time on the line; above it the queue grows to the end.
    #[test]
    fn bursts_at_a_constant_period_wait_as_the_paper_says() {
        let service = BURST_BYTES * 8.0 / MU;
        for period in [0.006, 0.010, 0.050] {
            let found = fluid_delay(&every(period, 1.0), 1.0, MU).unwrap();
            assert!((found / (service / 2.0) - 1.0).abs() < 0.002, "{period}: {found}");
        }
        for period in [0.001, 0.002, 0.005] {
            let rho = service / period;
            let found = fluid_delay(&every(period, 1.0), 1.0, MU).unwrap();
            let want = 0.5 * (1.0 - 1.0 / rho) + service / 2.0;
            assert!((found - want).abs() < 0.02 * want, "{period}: {found} {want}");
        }
        assert_eq!(every(0.25, 1.0).len(), 9);
    }

    #[test]
    fn another_delay_than_that_of_the_schedule_is_missed() {
        let judge =
            |period: f64, found: f64| waits("W", &every(period, 1.0), 1.0, MU, found).unwrap();
        // S/2 is 2.94 ms, and half a packet more as the packets come.
        assert_eq!((judge(0.010, 0.0029), judge(0.010, 0.0033)), (0, 0));
        assert_eq!((judge(0.010, 0.0059), judge(0.010, 0.0015)), (1, 1));
        let overload = fluid_delay(&every(0.001, 1.0), 1.0, MU).unwrap();
        let judge = |share: f64| judge(0.001, share * overload);
        assert_eq!([0.9, 1.0, 1.1].map(judge), [1, 0, 1]);
    }

    #[test]
    fn delays_that_nobody_measured_are_missed() {
        assert_eq!(delays(&Value::Null, &[], MU).unwrap(), 2);
        let result = serde_json::json!({ "cells": [
            { "group": "period", "cell": 3, "label": "10ms", "x": 10.0 },
            { "group": "time", "cell": 4, "label": "12s", "x": 12.0 },
        ]});
        assert_eq!(delays(&result, &[], MU).unwrap(), 2);
        let run = serde_json::json!({ "cell": 3, "pass": 1, "clusters": [{ "flows": [{
            "duration_ns": 1e9, "figures": { "window_delay_s": 0.003 }
        }]}]});
        assert_eq!(delays(&result, &[run], MU).unwrap(), 1);
        assert!(utilisation(&result, &[]).is_err());
    }
}
