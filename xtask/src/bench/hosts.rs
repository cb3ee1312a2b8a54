//! A run on the local testbed beside one between three hosts with agents, over the same kind of path:
//! what lies between, processes, control connections and tokens, must not be seen in the figures.

mod lab;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;
use serde::Serialize;
use serde_json::Value;

use self::lab::Lab;
use super::Bench;
use super::options::Options;
use super::paired::Chance;
use super::paired::Interval;
use super::paired::Shown;
use super::paired::Target;
use super::paired::median;
use super::private;
use crate::chore::Verdict;
use crate::repo::Repo;

pub(super) const BENCH: Bench = Bench {
    name: "hosts",
    about: "a local run beside one over three hosts with agents; windows of --seconds / 10",
    own_options: &[],
    run,
};

/// Cases of the direct path: the emulator has another place in front of an agent.
const CASES: [&str; 3] = ["SEND", "RECV", "SEND_RECV"];
const RAW: &str = "target/bench/hosts.json";
/// A difference that no user would see, whatever an interval says.
const SAME: Target = Target::Within(0.05);

/// One run, as it is stored.
#[derive(Clone, Debug, Serialize)]
struct Measured {
    block: u64,
    hosts: &'static str,
    /// Mb/s: the score, the idle score, and each case over its cells.
    figures: BTreeMap<String, f64>,
    /// 95 % interval of the score.
    score_ci95: Option<[f64; 2]>,
}

fn run(repo: &Repo, options: &Options) -> Result<Verdict> {
    if !options.inside {
        if !repo.step("cargo build --release --locked --quiet -p btu")? {
            bail!("btu did not build");
        }
        return private::enter(repo, BENCH.name, options);
    }
    private::prepare(repo)?;
    let folder = Folder::new()?;
    let lab = Lab::new(repo, &folder.0)?;
    let measured = measure(&lab, &folder.0, options)?;
    store(repo, &measured)?;
    Ok(judge(&measured, options))
}

/// One run of each kind per block, in random order, with the same seed.
fn measure(lab: &Lab, folder: &Path, options: &Options) -> Result<Vec<Measured>> {
    let plan = folder.join("plan.toml");
    fs::write(&plan, plan_of(options.seconds)).context("write the plan")?;
    let mut chance = Chance(options.seed);
    let mut measured = Vec::new();
    for block in 0..options.blocks {
        let mut order = [LOCAL, REMOTE];
        chance.shuffle(&mut order);
        for hosts in order {
            let mut command = match hosts {
                LOCAL => lab.local(),
                _ => lab.remote(),
            };
            command.args(["run", "--quiet", "--json", "--capture", "none", "--plan"]).arg(&plan);
            command.args(["--seed", &(options.seed + block).to_string()]);
            command.arg("--out").arg(folder.join(format!("{hosts}-{block}")));
            if hosts == REMOTE {
                command.args(["--active", "lab0", "--passive", "lab1"]);
            }
            measured.push(once(command, block, hosts)?);
        }
        println!("hosts: block {} of {} done", block + 1, options.blocks);
    }
    Ok(measured)
}

fn once(mut command: Command, block: u64, hosts: &'static str) -> Result<Measured> {
    let output = command.output().with_context(|| format!("run btu, {hosts}"))?;
    // Exit 6: a cell met its cap, and is there all the same.
    if !matches!(output.status.code(), Some(0 | 6)) {
        bail!("btu run, {hosts}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let result: Value = serde_json::from_slice(&output.stdout).context("read a result")?;
    Ok(Measured {
        block,
        hosts,
        figures: figures(&result),
        score_ci95: serde_json::from_value(result["btu_ci95_mbps"].clone()).unwrap_or(None),
    })
}

/// What is compared of a result.
fn figures(result: &Value) -> BTreeMap<String, f64> {
    let of = |name: &str, key: &str| Some((name.to_owned(), result[key].as_f64()?));
    let scores = [of("score", "btu_mbps"), of("idle score", "btu_idle_mbps")];
    let cells = result["cell_summaries"].as_array().map_or(&[][..], Vec::as_slice);
    let of_case = |case: &str| {
        let own = cells.iter().filter(|cell| cell["case"] == case);
        let logs: Vec<f64> =
            own.filter_map(|cell| Some(cell["goodput_mbps"].as_f64()?.ln())).collect();
        let count = u32::try_from(logs.len()).ok().filter(|count| *count > 0)?;
        Some((case.to_owned(), (logs.iter().sum::<f64>() / f64::from(count)).exp()))
    };
    scores.into_iter().chain(CASES.map(of_case)).flatten().collect()
}

fn plan_of(seconds: u64) -> String {
    let window = (seconds * 100).max(20);
    format!(
        "[matrix]\ncases = {CASES:?}\napplications = [\"ftp\", \"netscape\", \"video\"]\n\
         activities = [\"cpu\"]\n[time]\nwindow = \"{window}ms\"\nlead_in = \"20ms\"\n\
         alone = \"{window}ms\"\n[passes]\nmin = 3\nmax = 3\n"
    )
}

fn store(repo: &Repo, measured: &[Measured]) -> Result<()> {
    let path = repo.path(RAW);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
    }
    fs::write(&path, serde_json::to_string_pretty(measured)?)
        .with_context(|| format!("write {}", path.display()))?;
    println!("hosts: raw values in {RAW}");
    Ok(())
}

/// Good where every figure is there and none is shown to differ.
fn judge(measured: &[Measured], options: &Options) -> Verdict {
    println!("\nseed {}, {} blocks of one run of each kind\n", options.seed, options.blocks);
    println!("| figure | local Mb/s | three hosts | three hosts/local [95 %] | |");
    println!("|---|---|---|---|---|");
    let names = ["score", "idle score"].into_iter().chain(CASES);
    let rows: Vec<Option<Shown>> = names.map(|name| row(measured, name, options.seed)).collect();
    let count = |wanted| rows.iter().filter(|shown| **shown == wanted).count();
    let (differ, missing) = (count(Some(Shown::Missed)), count(None));
    let (overlap, both) = overlaps(measured);
    println!("\nhosts: the runs' own intervals of the score meet in {overlap} of {both} blocks");
    println!(
        "hosts: {} figures are the same ({SAME}), {differ} differ, {} are not shown at this n, {missing} \
         are missing",
        count(Some(Shown::Met)),
        count(Some(Shown::Not)),
    );
    Verdict::of(differ + missing == 0)
}

/// Prints the row of one figure and returns what it shows; `None` where it is missing.
fn row(measured: &[Measured], name: &str, seed: u64) -> Option<Shown> {
    let [local, remote] = [LOCAL, REMOTE].map(|hosts| by_block(measured, hosts, name));
    let pairs = remote.iter().filter_map(|(block, remote)| Some(remote / local.get(block)?));
    let pairs: Vec<f64> = pairs.collect();
    let Some(interval) = Interval::of(&pairs, seed) else {
        println!("| {name} | | | | missing |");
        return None;
    };
    let shown = interval.against(SAME);
    let middle = |of: &BTreeMap<u64, f64>| {
        median(&of.values().copied().collect::<Vec<_>>()).unwrap_or_default()
    };
    println!("| {name} | {:.0} | {:.0} | {interval} | {shown} |", middle(&local), middle(&remote));
    Some(shown)
}

/// Blocks in which the intervals of both runs have a value in common, and blocks that have both.
fn overlaps(measured: &[Measured]) -> (usize, usize) {
    let of = |hosts| measured.iter().filter(move |one| one.hosts == hosts);
    let pairs = of(LOCAL).filter_map(|local| {
        let remote = of(REMOTE).find(|remote| remote.block == local.block)?;
        Some((local.score_ci95?, remote.score_ci95?))
    });
    let pairs: Vec<_> = pairs.collect();
    let meet = |([low, high], [other_low, other_high]): &([f64; 2], [f64; 2])| {
        low <= other_high && other_low <= high
    };
    (pairs.iter().filter(|pair| meet(pair)).count(), pairs.len())
}

fn by_block(measured: &[Measured], hosts: &str, name: &str) -> BTreeMap<u64, f64> {
    let own = measured.iter().filter(|one| one.hosts == hosts);
    own.filter_map(|one| Some((one.block, *one.figures.get(name)?))).collect()
}

/// Of plans, results and states; short, since a state directory holds a socket.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("btu-hosts-{}", std::process::id()));
        fs::create_dir_all(&path).with_context(|| format!("create {}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const LOCAL: &str = "local";
const REMOTE: &str = "three hosts";

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(block: u64, hosts: &'static str, score: f64) -> Measured {
        let names = ["score", "idle score"].into_iter().chain(CASES);
        let figures = names.map(|name| (name.to_owned(), score)).collect();
        Measured { block, hosts, figures, score_ci95: Some([score - 1.0, score + 1.0]) }
    }

    fn blocks(factors: [f64; 5]) -> Vec<Measured> {
        let pairs = (0_u64..).zip(factors).map(|(block, factor)| {
            [measured(block, LOCAL, 100.0), measured(block, REMOTE, factor * 100.0)]
        });
        pairs.flatten().collect()
    }

    #[test]
    fn what_is_shown_to_differ_is_told_from_what_agrees() {
        let options = Options::parse(&[]).unwrap();
        let whole = |factor| judge(&blocks([factor; 5]), &options);
        assert!(matches!(whole(1.0), Verdict::Good) && matches!(whole(1.04), Verdict::Good));
        assert!(matches!(whole(0.8), Verdict::Bad) && matches!(whole(1.2), Verdict::Bad));
        assert_eq!(overlaps(&blocks([1.01; 5])), (5, 5));
        assert_eq!(overlaps(&blocks([1.5; 5])), (0, 5));
    }

    #[test]
    fn a_wide_interval_shows_nothing_and_a_missing_figure_is_not_good() {
        let shown = |measured: &[Measured]| row(measured, "score", 1);
        assert_eq!(shown(&blocks([1.01; 5])), Some(Shown::Met));
        assert_eq!(shown(&blocks([0.7, 0.9, 1.0, 1.1, 1.3])), Some(Shown::Not));
        assert_eq!(shown(&blocks([1.2; 5])), Some(Shown::Missed));
        assert_eq!(shown(&[]), None);
        let options = Options::parse(&[]).unwrap();
        assert!(matches!(judge(&[], &options), Verdict::Bad));
    }

    #[test]
    fn figures_are_read_from_a_result() {
        let result = serde_json::json!({
            "btu_mbps": 10.0,
            "btu_idle_mbps": null,
            "cell_summaries": [
                { "case": "SEND", "goodput_mbps": 10.0 },
                { "case": "SEND", "goodput_mbps": 1000.0 },
            ],
        });
        let found = figures(&result);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["SEND", "score"]);
        assert!((found["SEND"] - 100.0).abs() < 1e-9);
    }
}
