//! What people wait for: the program from its sources, a quick run with its report, and the report of an
//! official run's journal.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use std::time::Instant;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;
use serde_json::Value;
use serde_json::json;

use super::Bench;
use super::options::Options;
use super::paired::median;
use crate::chore::Verdict;
use crate::repo::Repo;

pub(super) const BENCH: Bench = Bench {
    name: "budget",
    about: "a clean build within 3 min on 2 CPUs, a quick run within 90 s, an official report within 1 s",
    own_options: &["--only"],
    run,
};

const FOLDER: &str = "target/bench/budget";
const CAPTURES: &str = "captures";
const EXTRACT: &str = ".extract";
const SAMPLES: &str = "samples.jsonl";
const BUILD: Duration = Duration::from_mins(3);
const QUICK: Duration = Duration::from_secs(90);
const REPORT: Duration = Duration::from_secs(1);

/// As many passes as fit into the half hour of an official run.
const PASSES: u64 = 6;
const APPLICATIONS: [(&str, u64); 5] =
    [("telnet", 100), ("ftp", 1024), ("audio", 1250), ("netscape", 4096), ("video", 65_536)];

/// Every case and activity of one class in the windows of an official run: lines of its length, and as many
/// second runs with capture as an official run makes at most.
const SEED_PLAN: &str = r#"
[matrix]
applications = ["video"]
[time]
window = "2s"
lead_in = "200ms"
alone = "2s"
[passes]
min = 1
max = 1
[capture]
cells = "all"
"#;

/// What `--only` names, and how it is measured: in a folder, so many times. True where it holds.
type Part = (&'static str, fn(&Repo, &Path, u64) -> Result<bool>);

static PARTS: &[Part] = &[
    (CLEAN, |repo, folder, _| build(repo, folder)),
    ("quick", |repo, folder, _| quick(repo, folder)),
    ("report", report),
];

/// The part that needs no program.
const CLEAN: &str = "build";

fn run(repo: &Repo, options: &Options) -> Result<Verdict> {
    let parts = options.chosen(PARTS, |(name, _)| name)?;
    let is_used = parts.iter().any(|(name, _)| *name != CLEAN);
    if is_used && !repo.step("cargo build --release --locked --quiet -p btu")? {
        bail!("btu did not build");
    }
    let folder = repo.path(FOLDER);
    // Left from the time before, if there is one.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    let mut good = true;
    for (_, part) in parts {
        good &= part(repo, &folder, options.blocks)?;
    }
    Ok(Verdict::of(good))
}

/// From nothing but the sources, those of others included: what has to be fetched is there before.
fn build(repo: &Repo, folder: &Path) -> Result<bool> {
    if !repo.step("cargo fetch --locked --quiet")? {
        bail!("the sources were not fetched");
    }
    let target = folder.join("clean");
    let mut cargo = repo.command("cargo");
    cargo.args(["build", "--release", "--locked", "--quiet", "--jobs", "2", "-p", "btu"]);
    cargo.env("CARGO_TARGET_DIR", &target);
    let start = Instant::now();
    let status = cargo.status().context("run cargo build");
    let took = start.elapsed();
    let _ = fs::remove_dir_all(&target);
    if !status?.success() {
        bail!("btu did not build");
    }
    Ok(held("clean build with 2 jobs", took, BUILD))
}

/// With its report, as a user starts it.
fn quick(repo: &Repo, folder: &Path) -> Result<bool> {
    let start = Instant::now();
    done(btu(repo).args(["run", "--quiet", "--out"]).arg(folder.join("quick")))?;
    Ok(held("quick run", start.elapsed(), QUICK))
}

/// Of a journal whose cells were all normal, and of one with as many second runs as there can be: first as of one
/// without extracts, whose packets are followed, then with those that a run leaves.
fn report(repo: &Repo, folder: &Path, times: u64) -> Result<bool> {
    let abnormal = official(repo, folder)?;
    let normal = without_captures(&abnormal, folder)?;
    let megabytes = megabytes_in(&abnormal.join(CAPTURES))?;
    let captured = format!("with captures of {megabytes} MB");
    let mut good = true;
    for format in ["text", "html"] {
        let took = rendered(repo, &normal, format, times)?;
        good &= held(&format!("report as {format} without captures"), took, REPORT);
    }
    for format in ["text", "html"] {
        let took = rendered(repo, &abnormal, format, times)?.as_secs_f64();
        println!("report as {format} {captured}, followed: {took:.2} s");
    }
    let kilobytes = extracted(repo, &abnormal)?;
    for format in ["text", "html"] {
        let took = rendered(repo, &abnormal, format, times)?;
        good &= held(
            &format!("report as {format} {captured}, {kilobytes} kB of extracts"),
            took,
            REPORT,
        );
    }
    Ok(good)
}

/// How long a report takes, the median of so many times.
fn rendered(repo: &Repo, journal: &Path, format: &str, times: u64) -> Result<Duration> {
    let mut seconds = Vec::new();
    for _ in 0..times.max(1) {
        let start = Instant::now();
        done(btu(repo).arg("report").arg(journal).args(["--format", format]))?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    Ok(Duration::from_secs_f64(median(&seconds).unwrap_or_default()))
}

/// The extracts that a run leaves at its end, as one that is finished leaves them again; so many kilobytes. A
/// journal that was made up is no run of this host: other hosts are named, and none is asked.
fn extracted(repo: &Repo, journal: &Path) -> Result<u64> {
    let others = ["--test", "elsewhere", "--active", "elsewhere"];
    done(btu(repo).args(["run", "--json"]).args(others).arg("--resume").arg(journal))?;
    let extracts = entries(&journal.join(CAPTURES))?;
    let extracts = extracts.iter().filter(|(name, _)| name.ends_with(EXTRACT));
    let bytes: Vec<u64> = extracts.map(|(_, bytes)| *bytes).collect();
    if bytes.is_empty() {
        bail!("no extract was kept");
    }
    Ok(bytes.iter().sum::<u64>() / 1_000)
}

/// The same journal without its second runs.
fn without_captures(journal: &Path, folder: &Path) -> Result<std::path::PathBuf> {
    let normal = folder.join("normal");
    fs::create_dir_all(&normal).context("create the journal")?;
    for file in ["hosts.json", "events.jsonl", "plan.toml"] {
        fs::copy(journal.join(file), normal.join(file)).with_context(|| format!("copy {file}"))?;
    }
    let lines = fs::read_to_string(journal.join(SAMPLES)).context("read the journal")?;
    println!("journal: {} lines, {} MB", lines.lines().count(), lines.len() / 1_000_000);
    let is_kept = |line: &&str| !line.contains("\"kind\":\"capture\"");
    let kept: String = lines.split_inclusive('\n').filter(is_kept).collect();
    fs::write(normal.join(SAMPLES), kept).context("write the journal")?;
    Ok(normal)
}

fn megabytes_in(folder: &Path) -> Result<u64> {
    let bytes: u64 = entries(folder)?.into_iter().map(|(_, bytes)| bytes).sum();
    Ok(bytes / 1_000_000)
}

/// The names of files in a folder, and how long they are.
fn entries(folder: &Path) -> Result<Vec<(String, u64)>> {
    let listed = fs::read_dir(folder).context("list the captures")?;
    let look = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry?;
        Ok((entry.file_name().to_string_lossy().into_owned(), entry.metadata()?.len()))
    };
    listed.map(look).collect::<std::io::Result<_>>().context("look at the captures")
}

fn held(what: &str, took: Duration, bound: Duration) -> bool {
    let held = took <= bound;
    println!("{what}: {:.2} s <= {} s: {held}", took.as_secs_f64(), bound.as_secs());
    held
}

/// A journal of an official run's size: a minute of it measured, the rest repeated under the other
/// names.
fn official(repo: &Repo, folder: &Path) -> Result<std::path::PathBuf> {
    let (plan, seed) = (folder.join("seed.toml"), folder.join("seed"));
    fs::write(&plan, SEED_PLAN).context("write the plan")?;
    done(btu(repo).args(["run", "--quiet", "--plan"]).arg(&plan).arg("--out").arg(&seed))?;
    let whole = folder.join("official");
    fs::create_dir_all(&whole).context("create the journal")?;
    for file in ["hosts.json", "events.jsonl"] {
        fs::copy(seed.join(file), whole.join(file)).with_context(|| format!("copy {file}"))?;
    }
    let captures = whole.join(CAPTURES);
    fs::rename(seed.join(CAPTURES), &captures).context("move the captures")?;
    // They are of the journal that was measured, and none of this one.
    for (name, _) in entries(&captures)?.into_iter().filter(|(name, _)| name.ends_with(EXTRACT)) {
        fs::remove_file(captures.join(&name)).with_context(|| format!("remove {name}"))?;
    }
    let plan = btu(repo).args(["run", "--official", "--dry-run"]).output().context("run btu")?;
    fs::write(whole.join("plan.toml"), plan.stdout).context("write the plan")?;
    let lines = fs::read_to_string(seed.join(SAMPLES)).context("read the journal")?;
    fs::write(whole.join(SAMPLES), repeated(&lines)?).context("write the journal")?;
    Ok(whole)
}

fn repeated(lines: &str) -> Result<String> {
    let mut all = Vec::new();
    for line in lines.lines() {
        let mut sample: Value = serde_json::from_str(line).context("read a line")?;
        let kind = sample["kind"].as_str().unwrap_or_default().to_owned();
        let is_once = ["verification", "capture"].contains(&kind.as_str());
        let passes = if is_once { 1 } else { PASSES };
        let classes = if kind == "cell" { &APPLICATIONS[..] } else { &APPLICATIONS[..1] };
        for pass in 1..=passes {
            for (name, message_bytes) in classes {
                if !is_once {
                    sample["pass"] = pass.into();
                }
                if kind == "cell" {
                    sample["application"] = json!({"name": name, "message_bytes": message_bytes});
                }
                all.push(sample.to_string());
            }
        }
    }
    Ok(all.join("\n") + "\n")
}

fn btu(repo: &Repo) -> Command {
    repo.command(repo.path("target/release/btu"))
}

/// 6 says that a cell met its cap: the run came to its end.
fn done(command: &mut Command) -> Result<()> {
    let output = command.output().context("run btu")?;
    if !matches!(output.status.code(), Some(0 | 6)) {
        bail!("btu: {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_repeated_for_every_class_and_pass_and_an_activity_for_every_pass() {
        let lines = concat!(
            r#"{"kind":"verification","when":"before"}"#,
            "\n",
            r#"{"kind":"alone","pass":1}"#,
            "\n",
            r#"{"kind":"capture"}"#,
            "\n",
            r#"{"kind":"cell","pass":1,"application":{"name":"video","message_bytes":65536}}"#,
            "\n"
        );
        let all = repeated(lines).unwrap();
        let count = |what: &str| all.lines().filter(|line| line.contains(what)).count();
        assert_eq!((count("verification"), count("alone"), count("telnet")), (1, 6, 6));
        assert_eq!(count(r#""kind":"cell""#), 30);
        assert_eq!(count("capture"), 1);
    }
}
