//! How many cells of a healthy machine the rules call abnormal, through the whole chain: passes, rules,
//! second runs with capture, diagnosis.

use std::fs;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;
use serde_json::Value;

use super::Bench;
use super::options::Options;
use crate::chore::Verdict;
use crate::repo::Repo;

pub(super) const BENCH: Bench = Bench {
    name: "cells",
    about: "healthy cells that the rules call abnormal: at most 1 of 100",
    own_options: &[],
    run,
};

const FOLDER: &str = "target/bench/cells";
/// Runs that make at least a hundred cells.
const RUNS: u32 = 2;
/// Windows and passes from which on every rule speaks; a host with nothing else to do, without and with an
/// activity that rests: 60 cells.
const PLAN: &str = r#"
[matrix]
activities = ["idle"]
[time]
window = "1s"
lead_in = "50ms"
alone = "100ms"
[passes]
min = 5
max = 5
budget = "3600s"
"#;

fn run(repo: &Repo, options: &Options) -> Result<Verdict> {
    if !repo.step("cargo build --release --locked --quiet -p btu")? {
        bail!("btu did not build");
    }
    let folder = repo.path(FOLDER);
    // Left from the time before, if there is one.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    let plan = folder.join("plan.toml");
    fs::write(&plan, PLAN).context("write a plan")?;
    let (mut cells, mut alarms, mut explained) = (0, 0, 0);
    for number in 0..RUNS {
        let out = folder.join(number.to_string());
        let seed = (options.seed + u64::from(number)).to_string();
        let mut btu = repo.command(repo.path("target/release/btu"));
        btu.args(["run", "--quiet", "--seed", &seed, "--plan"]).arg(&plan).arg("--out").arg(&out);
        let ended = btu.status().context("run btu run")?;
        if !matches!(ended.code(), Some(0 | 6)) {
            bail!("btu run: {ended}");
        }
        cells += named_cells(&fs::read(out.join("result.json")).context("read result.json")?)?;
        let mut explain = repo.command(repo.path("target/release/btu"));
        let said =
            explain.arg("explain").arg(&out).arg("--json").output().context("run btu explain")?;
        let [called, with_cause] = alarmed(&said.stdout)?;
        (alarms, explained) = (alarms + called, explained + with_cause);
    }
    println!(
        "{alarms} of {cells} healthy cells are called abnormal (at most 1 of 100), {explained} of them with \
         a cause"
    );
    Ok(Verdict::of(alarms * 100 <= cells))
}

/// How many different cells a result has.
fn named_cells(result: &[u8]) -> Result<usize> {
    let result: Value = serde_json::from_slice(result).context("parse result.json")?;
    let cells = result["cells"].as_array().context("result.json: cells")?;
    let names = cells
        .iter()
        .map(|one| ["case", "application", "activity"].map(|axis| one[axis].to_string()).join("/"));
    Ok(names.collect::<std::collections::BTreeSet<_>>().len())
}

/// Prints each abnormal cell with its rules and its first cause, and counts them and those that have a
/// known one; nothing was said of a result without any.
fn alarmed(said: &[u8]) -> Result<[usize; 2]> {
    if said.is_empty() {
        return Ok([0; 2]);
    }
    let said: Value = serde_json::from_slice(said).context("parse what btu explain said")?;
    let both = ["second_runs", "not_run_again"].map(|key| said[key].as_array().cloned());
    let all = both.into_iter().flatten().flatten();
    let abnormal = all.filter(|one| one["why"].as_array().is_some_and(|why| !why.is_empty()));
    let (mut count, mut explained) = (0, 0);
    for one in abnormal {
        let rules: Vec<&str> = one["why"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|flag| flag["detail"].as_str())
            .collect();
        let connections = one["connections"].as_array();
        let mut causes = connections
            .into_iter()
            .flatten()
            .filter_map(|each| each["diagnoses"][0]["cause"].as_str());
        let cause = causes.clone().find(|cause| *cause != UNKNOWN).or_else(|| causes.next());
        let cause = cause.unwrap_or("no cause");
        println!("  {}: {}; {cause}", one["cell"].as_str().unwrap_or("?"), rules.join("; "));
        count += 1;
        explained += usize::from(!["no cause", UNKNOWN].contains(&cause));
    }
    Ok([count, explained])
}

/// The diagnosis that says that nothing explains it.
const UNKNOWN: &str = "unknown";
