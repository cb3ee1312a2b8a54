//! A thousand flows of 100 kb/s, 1250 B each 100 ms at phases of their own, in turn with a bare loop that keeps such a
//! schedule and sends nothing: where that falls behind, the machine stood still, and nothing is shown of us.

use std::fmt::Write;
use std::path::Path;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;
use serde_json::Value;

use super::Verb;
use super::judged;
use super::number;
use crate::bench::paired::Chance;
use crate::bench::paired::Shown;

const FLOWS: usize = 1000;
const PERIOD_US: usize = 100_000;
const SECONDS: usize = 10;
const ROUNDS: usize = 5;

pub(super) fn flows(program: &Verb<'_>) -> Result<usize> {
    if !program.repo.step("cargo build --release --locked -p btu-engine --example unsent")? {
        bail!("the example unsent of btu-engine did not build");
    }
    let file = program.results.join("thousand.toml");
    std::fs::write(&file, scenario(&mut Chance(1)))?;
    let (mut bare, mut ours, mut missed) = (vec![of_bare_loop(program)?], Vec::new(), 0);
    for round in 0..ROUNDS {
        let (behind, lost) = of_program(program, &file, round)?;
        ours.push(behind);
        missed += lost;
        bare.push(of_bare_loop(program)?);
    }
    let shown = shown(&ours, &bare);
    println!(
        "{shown}: thousand: {ours:?} flows fell behind by 1 % of their period, {bare:?} of the bare loop in between"
    );
    Ok(missed + usize::from(shown == Shown::Missed))
}

/// Only what stands between two runs of the bare loop in which no flow fell behind says something of us.
fn shown(ours: &[usize], bare: &[usize]) -> Shown {
    let calm =
        ours.iter().zip(bare.windows(2)).filter(|(_, around)| around.iter().all(|n| *n == 0));
    let calm: Vec<usize> = calm.map(|(behind, _)| *behind).collect();
    match calm.as_slice() {
        [] => Shown::Not,
        calm if calm.iter().all(|behind| *behind == 0) => Shown::Met,
        _ => Shown::Missed,
    }
}

fn scenario(chance: &mut Chance) -> String {
    let mut text = "[[cluster]]\nname = \"thousand\"\n".to_owned();
    for flow in 0..FLOWS {
        let phase = chance.below(PERIOD_US);
        let _ = write!(
            text,
            "[[cluster.test]]\nname = \"f{flow}\"\npath = \"test -> active\"\ntransport = \"udp\"\nstart = \"{phase} us\"\n\
             drain = \"yes\"\ntype = \"burstq(blocksize=1250 B, period={PERIOD_US} us, duration={SECONDS} s)\"\n"
        );
    }
    text
}

/// How many flows fell behind, and how many other bounds were missed.
fn of_program(program: &Verb<'_>, file: &Path, round: usize) -> Result<(usize, usize)> {
    let result = program.measure(&format!("thousand-{round}"), &[&file.display().to_string()])?;
    let flows = result["flows"].as_array().map_or(&[][..], Vec::as_slice);
    let (mut behind, mut unsent, mut bytes) = (0, 0.0, 0.0);
    for flow in flows {
        // Host limited: the 99th percentile of lateness or of the gaps' error is above 1 % of the period.
        behind += usize::from(flow["host_limited"] != false);
        unsent += number(flow, "blocks_due")? - number(flow, "blocks_sent")?;
        bytes += number(flow, "delivered_bytes")?;
    }
    let share = bytes / 1250.0 / count(FLOWS * SECONDS * 1_000_000 / PERIOD_US);
    let missed = judged(
        &format!("thousand: {} flows, {unsent} blocks unsent", flows.len()),
        unsent < 1.0 && flows.len() == FLOWS,
    ) + judged(&format!("thousand: {share:.4} of all bytes arrived"), share >= 0.995);
    Ok((behind, missed))
}

/// How many of as many flows fall behind in a loop that sends nothing, by the same rule.
fn of_bare_loop(program: &Verb<'_>) -> Result<usize> {
    let mut command = program.repo.command(program.repo.path("target/release/examples/unsent"));
    let words = format!("--flows {FLOWS} --period-us {PERIOD_US} --seconds {SECONDS} --cpus 0,1");
    let ended = command.args(words.split(' ')).output().context("run unsent")?;
    if !ended.status.success() {
        bail!("unsent {words}: {}", String::from_utf8_lossy(&ended.stderr));
    }
    let said: Value = serde_json::from_slice(&ended.stdout).context("parse what unsent says")?;
    let behind = said["behind"].as_u64().context("unsent says no number")?;
    Ok(usize::try_from(behind)?)
}

fn count(number: usize) -> f64 {
    u32::try_from(number).map_or(f64::INFINITY, f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rounds_between_two_calm_ones_judge() {
        assert_eq!(shown(&[0, 0], &[0, 0, 0]), Shown::Met);
        assert_eq!(shown(&[0, 7], &[0, 0, 3]), Shown::Met);
        assert_eq!(shown(&[0, 7], &[0, 0, 0]), Shown::Missed);
        assert_eq!(shown(&[3, 0], &[0, 0, 9]), Shown::Missed);
        assert_eq!(shown(&[0, 0], &[0, 1, 0]), Shown::Not);
    }

    #[test]
    fn the_scenario_has_a_thousand_flows_within_one_period() {
        let text = scenario(&mut Chance(1));
        assert_eq!(text.matches("[[cluster.test]]").count(), FLOWS);
        assert_ne!(text, scenario(&mut Chance(2)));
    }
}
