//! What the link emulator costs: bulk through it beside a bare veth pair, and how late it releases
//! packets, idle (beyond the direct path, by a probe that never sleeps) and under load.

mod pair;

use std::path::PathBuf;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;
use serde_json::Value;

use super::Bench;
use super::contender;
use super::options::Options;
use super::paired::Chance;
use super::paired::Interval;
use super::paired::Shown;
use super::paired::Target;
use super::paired::median;
use super::private;
use crate::chore::Verdict;
use crate::repo::Repo;
use pair::Pair;

pub(super) const BENCH: Bench =
    Bench { name: "emulator", about: "bulk through a link beside a veth pair; delay errors", run };

/// Bulk at zero delay over the direct veth path of the same run: what must be, what is wanted.
const BULK: Target = Target::AtLeast(0.35);
const BULK_WANTED: Target = Target::AtLeast(0.50);
const MESSAGE: u64 = 65536;

/// How late packets may be: of an idle link, in microseconds at the median and the 99th percentile,
/// on CPUs of its own; and of a delay of 5 ms under 1 Gbit/s, as a share of it, on shared CPUs.
const IDLE_P50_US: f64 = 10.0;
const IDLE_P99_US: f64 = 40.0;
const OWN_CPUS: usize = 4;
const PROBE: &str = "target/release/examples/delay_error";
const LOADED_DELAY: &str = "5ms";
const LOADED_P99_US: f64 = 0.05 * 5000.0;

fn run(repo: &Repo, options: &Options) -> Result<Verdict> {
    if options.inside {
        private::prepare(repo)?;
        let good = [bulk(repo, options)?, idle(repo)?, loaded(repo, options)?];
        return Ok(Verdict::of(good.iter().all(|good| *good)));
    }
    for program in
        ["-p btu", "-p btu-engine --example comm", "-p btu-testbed --example delay_error"]
    {
        if !repo.step(&format!("cargo build --release --locked --quiet {program}"))? {
            bail!("{program} did not build");
        }
    }
    private::enter(repo, BENCH.name, options)
}

/// Paired blocks in random order: over the veth pair, and through the emulator.
fn bulk(repo: &Repo, options: &Options) -> Result<bool> {
    let pair = Pair::new(repo)?;
    let mut chance = Chance(options.seed);
    let (mut emulated, mut direct) = (Vec::new(), Vec::new());
    for block in 0..=options.blocks {
        let mut ways = [Way::Direct, Way::Emulated];
        chance.shuffle(&mut ways);
        for way in ways {
            let (into, rate) = match way {
                Way::Direct => (&mut direct, pair.goodput(repo, MESSAGE, options.seconds)?),
                Way::Emulated => (&mut emulated, goodput(repo, options.seconds)?),
            };
            // The first block warms up.
            if block > 0 {
                into.push(rate);
            }
        }
    }
    let ratios: Vec<f64> = emulated.iter().zip(&direct).map(|(a, b)| a / b).collect();
    let interval = Interval::of(&ratios, options.seed).context("no block was measured")?;
    let gigabits = |rates: &[f64]| median(rates).unwrap_or_default() / 1e9;
    println!("bulk at delay 0, {} blocks of {} s, {MESSAGE} B:", options.blocks, options.seconds);
    println!("  emulator {:.2} Gb/s, veth {:.2} Gb/s", gigabits(&emulated), gigabits(&direct));
    println!("  ratio {interval}; must be {BULK}: {}", interval.against(BULK));
    println!("  wanted {BULK_WANTED}: {}", interval.against(BULK_WANTED));
    Ok(interval.against(BULK) != Shown::Missed)
}

/// Over which path a block's measurement goes.
#[derive(Clone, Copy)]
enum Way {
    Direct,
    Emulated,
}

/// COMM through a link that delays nothing, its ends on the CPUs that the veth pair's ends have.
fn goodput(repo: &Repo, seconds: u64) -> Result<f64> {
    let comm = repo.path("target/release/examples/comm").display().to_string();
    let found = file(repo, "comm.json")?;
    let common = format!("--message {MESSAGE} --seconds {seconds}");
    let server = format!(
        "exec taskset -c {} {comm} --listen $BTU_LINK_FAR:7411 {common} > {}",
        pair::CPUS[1],
        found.display()
    );
    let client =
        format!("exec taskset -c {} {comm} --connect $BTU_LINK_FAR:7411 {common}", pair::CPUS[0]);
    link(repo, &["--far", &server], &client)?;
    pair::goodput_of(&std::fs::read_to_string(&found).context("read the receiver's account")?)
}

/// Datagrams over both paths in turn, from a thread that never sleeps; beyond the direct path's time.
fn idle(repo: &Repo) -> Result<bool> {
    let alone = std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() >= OWN_CPUS);
    println!("delay error of an idle link, us: beyond the delay and the direct path's time:");
    let output = repo.command(repo.path(PROBE)).output().context("run the delay probe")?;
    if !output.status.success() {
        bail!("the delay probe: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let mut good = true;
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let probed: Probed = serde_json::from_str(line).context("read the delay probe")?;
        let (p50, p99) = probed.beyond();
        let held = p50 <= IDLE_P50_US && p99 <= IDLE_P99_US;
        println!(
            "  {:>6} us: p50 {p50:.1} <= {IDLE_P50_US}, p99 {p99:.1} <= {IDLE_P99_US}: {held}",
            probed.delay_us
        );
        good &= held || !alone;
    }
    if !alone {
        println!("  not judged: below {OWN_CPUS} CPUs the probe's receiving half shares its CPU");
    }
    Ok(good)
}

/// A line of the delay probe, in microseconds.
#[derive(serde::Deserialize)]
struct Probed {
    delay_us: u64,
    direct: Figures,
    emulated: Figures,
}

#[derive(serde::Deserialize)]
struct Figures {
    p50: f64,
    p99: f64,
}

impl Probed {
    fn beyond(&self) -> (f64, f64) {
        (self.emulated.p50 - self.direct.p50, self.emulated.p99 - self.direct.p99)
    }
}

/// 1 Gbit/s of UDP in the same direction.
fn loaded(repo: &Repo, options: &Options) -> Result<bool> {
    let [near, far] = pair::CPUS;
    let script = format!(
        "exec taskset -c {near} iperf3 -u -b 1G -l 1448 -t {} -c $BTU_LINK_FAR > /dev/null",
        options.seconds
    );
    let server = format!("exec taskset -c {far} iperf3 -s -1 > /dev/null");
    let far = ["--far", &server, "--delay", LOADED_DELAY];
    let error = Errors::of(&link(repo, &far, &script)?)?;
    let held = error.p99 <= LOADED_P99_US;
    println!(
        "delay error of {LOADED_DELAY} under 1 Gbit/s:\n  {error}; p99 <= {LOADED_P99_US} us: {held}"
    );
    Ok(held)
}

/// Achieved minus asked delay, in microseconds.
struct Errors {
    p50: f64,
    p99: f64,
    max: f64,
}

impl Errors {
    fn of(stats: &Value) -> Result<Self> {
        let figure = |name: &str| {
            let found = stats.pointer(&format!("/up/delay_error_us/{name}"));
            found.and_then(Value::as_f64).with_context(|| format!("no delay error {name}"))
        };
        Ok(Self { p50: figure("p50")?, p99: figure("p99")?, max: figure("max")? })
    }
}

impl std::fmt::Display for Errors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "p50 {:.1}, p99 {:.1}, max {:.1} us", self.p50, self.p99, self.max)
    }
}

/// A script behind a link with these options; gives the link's statistics.
fn link(repo: &Repo, options: &[&str], script: &str) -> Result<Value> {
    let stats = file(repo, "link.json")?;
    let mut command = repo.command(repo.path("target/release/btu"));
    command.args(["link", "--quiet", "--stats"]).arg(&stats).args(options);
    let output = command.args(["--", "sh", "-c", script]).output().context("run btu link")?;
    if !output.status.success() {
        bail!("btu link -- {script}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let text = std::fs::read_to_string(&stats).context("read the link's statistics")?;
    serde_json::from_str(&text).context("read the link's statistics")
}

fn file(repo: &Repo, name: &str) -> Result<PathBuf> {
    let folder = repo.path("target/bench");
    std::fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    Ok(folder.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_errors_of_the_upward_direction_are_read() {
        let stats =
            serde_json::json!({"up": {"delay_error_us": {"p50": 1.5, "p99": 20, "max": 30}}});
        let errors = Errors::of(&stats).unwrap();
        assert_eq!(errors.to_string(), "p50 1.5, p99 20.0, max 30.0 us");
        assert!(Errors::of(&serde_json::json!({})).is_err());
    }

    #[test]
    fn the_direct_path_is_taken_off() {
        let line = r#"{"delay_us":100,"direct":{"n":9,"p50":4,"p99":10},"emulated":{"n":9,"p50":9.5,"p99":30}}"#;
        let probed: Probed = serde_json::from_str(line).unwrap();
        assert_eq!(probed.beyond(), (5.5, 20.0));
    }
}
