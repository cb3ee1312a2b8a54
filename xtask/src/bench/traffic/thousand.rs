//! A thousand flows of 100 kb/s, 1250 B each 100 ms at phases of their own: no block missed, and of all together 99 %
//! within 1 % of the period. Beside that no flow may be called behind, of which one late block in a hundred is enough: this in turn
//! with a bare loop that keeps such a schedule and sends nothing, since machines stand still.

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
const ROUNDS: usize = 8;
/// So unlikely must it be that the bare loop falls behind as often.
const CHANCE: f64 = 0.05;

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

/// Rounds in which any flow fell behind are counted: whatever stops a machine takes many flows at once. Without any of ours it
/// is met; missed where a loop that falls behind in as many rounds as both together would hardly leave so many to us.
fn shown(ours: &[usize], bare: &[usize]) -> Shown {
    let rounds = |behind: &[usize]| behind.iter().filter(|flows| **flows > 0).count();
    let (behind, all) = (rounds(ours), rounds(ours) + rounds(bare));
    let drawn = |taken| at_once(ours.len(), taken) * at_once(bare.len(), all - taken);
    let as_many: f64 = (behind..=all.min(ours.len())).map(drawn).sum();
    match behind {
        0 => Shown::Met,
        _ if as_many / at_once(ours.len() + bare.len(), all) <= CHANCE => Shown::Missed,
        _ => Shown::Not,
    }
}

/// In how many ways so many can be taken of all (Fisher's exact test has a hypergeometric law).
fn at_once(all: usize, taken: usize) -> f64 {
    if taken > all {
        return 0.0;
    }
    (0..taken).map(|k| count(all - k) / count(k + 1)).product()
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
    let (mut late, mut paced) = (0.0, 0.0);
    for flow in flows {
        // Host limited: the 99th percentile of lateness or of the gaps' error is above 1 % of the period.
        behind += usize::from(flow["host_limited"] != false);
        unsent += number(flow, "blocks_due")? - number(flow, "blocks_sent")?;
        bytes += number(flow, "delivered_bytes")?;
        late += number(flow, "pacing_late_blocks")?;
        paced += number(flow, "pacing_blocks")?;
    }
    let due = count(FLOWS * SECONDS * 1_000_000 / PERIOD_US);
    let share = bytes / 1250.0 / due;
    let missed = judged(
        &format!("thousand: {} flows, {unsent} blocks unsent", flows.len()),
        unsent < 1.0 && flows.len() == FLOWS,
    ) + judged(&format!("thousand: {share:.4} of all bytes arrived"), share >= 0.995)
        + judged(
            &format!(
                "thousand: {late} of {paced} blocks later than 1 % of the period, 1 % allowed"
            ),
            late <= 0.01 * paced && paced >= 0.99 * due,
        );
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
    fn who_falls_behind_more_often_than_a_bare_loop_misses() {
        let (calm, often) = ([0; 9], [1, 9, 0, 3, 0, 0, 0, 0, 2]);
        assert_eq!(shown(&[0; 8], &calm), Shown::Met);
        assert_eq!(shown(&[0; 8], &often), Shown::Met);
        assert_eq!(shown(&[0, 7, 0, 0, 0, 0, 0, 0], &calm), Shown::Not);
        assert_eq!(shown(&[1, 7, 0, 2, 0, 0, 5, 0], &often), Shown::Not);
        assert_eq!(shown(&[1, 7, 0, 2, 0, 0, 5, 0], &calm), Shown::Missed);
        assert_eq!(shown(&[1; 8], &often), Shown::Missed);
    }

    /// Four of eight beside none of nine: 70 of 2380 ways.
    #[test]
    fn ways_are_counted_as_by_hand() {
        let near = |got: f64, want: f64| assert!((got - want).abs() < 1e-9, "{got} for {want}");
        near(at_once(8, 4), 70.0);
        near(at_once(17, 4), 2380.0);
        near(at_once(9, 0), 1.0);
        near(at_once(3, 4), 0.0);
    }

    #[test]
    fn the_scenario_has_a_thousand_flows_within_one_period() {
        let text = scenario(&mut Chance(1));
        assert_eq!(text.matches("[[cluster.test]]").count(), FLOWS);
        assert_ne!(text, scenario(&mut Chance(2)));
    }
}
