//! T10: how evenly we send beside other generators, by the kernel's stamps of every datagram: complete blocks in
//! random order, the same size, period, CPUs and capture for all.

use std::collections::BTreeMap;
use std::path::Path;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;
use serde::Serialize;

use super::Bench;
use super::namespace::waited;
use super::options::Options;
use super::paired::Chance;
use super::paired::Interval;
use super::paired::Target;
use super::paired::median;
use super::private;
use super::process::End;
use crate::chore::Verdict;
use crate::program::installed;
use crate::repo::Repo;

mod stamps;

pub(super) const BENCH: Bench = Bench {
    name: "pacing",
    about: "T10: datagrams each millisecond beside D-ITG and iperf3, by stamps of the kernel; 2 min",
    own_options: &[],
    run,
};

/// Of each datagram, payload.
const SIZE_BYTES: u64 = 1250;
const PERIOD_US: f64 = 1000.0;
/// What the 99th percentile of our error may be of another generator's (docs/traffic-checks.md).
const TARGET: Target = Target::AtMost(0.5);
const RAW: &str = "target/bench/pacing.json";
/// It drops no privileges, which a user namespace does not allow.
const CAPTURE: &str = "dumpcap";
/// Bind and connect leave the first moments of a run to no schedule at all.
const SETTLING_US: f64 = 100e3;

/// A generator of datagrams.
struct Generator {
    name: &'static str,
    /// The Debian package, or empty for our own.
    package: &'static str,
    sender: &'static str,
    /// Where its datagrams go.
    port: u16,
    /// Another end that must listen on this TCP port first.
    receiver: Option<(&'static str, &'static str, u16)>,
    /// The sender's words, for so many seconds.
    words: fn(u64) -> String,
}

static GENERATORS: &[Generator] = &[
    Generator {
        name: "btu",
        package: "",
        sender: "pace",
        port: 7412,
        receiver: None,
        words: |seconds| {
            format!(
                "--size {SIZE_BYTES} --period-us 1000 --seconds {seconds} --port 7412 --cpus 0,1"
            )
        },
    },
    Generator {
        name: "D-ITG",
        package: "d-itg",
        sender: "ITGSend",
        port: 7413,
        receiver: Some(("ITGRecv", "", 9000)),
        words: |seconds| {
            let milliseconds = 1000 * seconds;
            format!("-a 127.0.0.1 -rp 7413 -T UDP -C 1000 -c {SIZE_BYTES} -t {milliseconds}")
        },
    },
    Generator {
        name: "iperf3",
        package: "iperf3",
        sender: "iperf3",
        port: 5201,
        receiver: Some(("iperf3", "-s -1 -B 127.0.0.1", 5201)),
        words: |seconds| format!("-c 127.0.0.1 -u -b 10M -l {SIZE_BYTES} -t {seconds} -i 0"),
    },
];

/// One raw value, as stored: what a generator's gaps were off the period, microseconds.
#[derive(Clone, Debug, Serialize)]
struct Measured {
    generator: &'static str,
    block: u64,
    datagrams: usize,
    p50_us: f64,
    p99_us: f64,
    max_us: f64,
}

fn run(repo: &Repo, options: &Options) -> Result<Verdict> {
    if !options.inside {
        return private::enter_with(repo, "pace", BENCH.name, options);
    }
    private::prepare(repo)?;
    let folder = repo.path("target/bench");
    std::fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    let programs: BTreeMap<&str, PathBuf> = programs(repo)?;
    let mut chance = Chance(options.seed);
    let mut measured = Vec::new();
    for block in 0..options.blocks {
        let mut order: Vec<&Generator> = GENERATORS.iter().collect();
        chance.shuffle(&mut order);
        for generator in order {
            let one = once(repo, generator, &programs, options.seconds)
                .with_context(|| format!("{}, block {block}", generator.name))?;
            measured.push(Measured { block, ..one });
        }
    }
    let path = repo.path(RAW);
    std::fs::write(&path, serde_json::to_string_pretty(&measured)?)
        .with_context(|| format!("write {}", path.display()))?;
    println!("pacing: raw values in {RAW}");
    Ok(judge(&measured, options))
}

/// The files of all programs; a bench that lacks one compares with less than it says.
fn programs(repo: &Repo) -> Result<BTreeMap<&'static str, PathBuf>> {
    let mut found = BTreeMap::new();
    for generator in GENERATORS {
        let others = generator.receiver.map(|(name, _, _)| name);
        for name in std::iter::once(generator.sender).chain(others) {
            let file = if generator.package.is_empty() {
                Some(repo.path(&format!("target/release/examples/{name}")))
            } else {
                installed(name)
            };
            let package = generator.package;
            found.insert(name, file.with_context(|| format!("install the package {package}"))?);
        }
    }
    let capture = installed(CAPTURE).context("install the package wireshark-common")?;
    found.insert(CAPTURE, capture);
    Ok(found)
}

/// One run of a generator under a capture.
fn once(
    repo: &Repo,
    generator: &Generator,
    programs: &BTreeMap<&str, PathBuf>,
    seconds: u64,
) -> Result<Measured> {
    let file = repo.path("target/bench/pacing.pcap");
    let words = |name: &str, args: &str| -> Vec<String> {
        let program = programs.get(name).map(|file| file.display().to_string());
        program.into_iter().chain(args.split_whitespace().map(String::from)).collect()
    };
    let _receiver = match generator.receiver {
        Some((name, args, port)) => {
            let receiver = End::start(1, &words(name, args))?;
            receiver.listens(port)?;
            Some(receiver)
        }
        None => None,
    };
    let capture = Capture::begin(&programs[CAPTURE], &file, generator.port)?;
    let mut sender = End::start(0, &words(generator.sender, &(generator.words)(seconds)))?;
    sender.output()?;
    sender.succeeded()?;
    capture.finish()?;
    let bytes = std::fs::read(&file).with_context(|| format!("read {}", file.display()))?;
    let stamps = stamps::of_datagrams(&bytes, SIZE_BYTES)?;
    let wanted = usize::try_from(1000 * seconds)?;
    if stamps.len() < wanted / 2 || stamps.len() > 2 * wanted {
        bail!("{} datagrams of {wanted}", stamps.len());
    }
    Ok(errors(generator.name, &stamps))
}

/// What the gaps are off the period, once the sender has settled.
fn errors(generator: &'static str, stamps_us: &[f64]) -> Measured {
    let first = stamps_us.first().copied().unwrap_or(0.0) + SETTLING_US;
    let settled: Vec<f64> = stamps_us.iter().copied().filter(|at| *at >= first).collect();
    let mut errors: Vec<f64> =
        settled.windows(2).map(|pair| (pair[1] - pair[0] - PERIOD_US).abs()).collect();
    errors.sort_by(f64::total_cmp);
    let at = |percent: usize| errors.get((errors.len() - 1) * percent / 100).copied();
    let [p50_us, p99_us, max_us] = [50, 99, 100].map(|percent| at(percent).unwrap_or(f64::NAN));
    Measured { generator, block: 0, datagrams: stamps_us.len(), p50_us, p99_us, max_us }
}

/// Every datagram to a port of loopback, stamped by the kernel, into a file.
struct Capture(Child);

impl Capture {
    fn begin(program: &Path, file: &Path, port: u16) -> Result<Self> {
        if file.exists() {
            std::fs::remove_file(file).with_context(|| format!("remove {}", file.display()))?;
        }
        let path = file.display().to_string();
        let child = Command::new("taskset")
            .args(["-c", "1"])
            .arg(program)
            .args(["-q", "-P", "-i", "lo", "-s", "64", "-f", &format!("udp dst port {port}")])
            .args(["-w", &path])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("run dumpcap")?;
        let capture = Self(child);
        // Its head is written once the socket hears.
        waited("the capture", || Ok(std::fs::metadata(file)?.len() >= 24))?;
        Ok(capture)
    }

    /// Once it has what was sent.
    fn finish(mut self) -> Result<()> {
        thread::sleep(Duration::from_millis(300));
        let told = Command::new("kill").args(["-INT", &self.0.id().to_string()]).status();
        told.context("end dumpcap")?;
        self.0.wait().context("wait for dumpcap")?;
        Ok(())
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        // Gone already is as good.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn judge(measured: &[Measured], options: &Options) -> Verdict {
    println!(
        "\nseed {}, {} blocks of {} s, {SIZE_BYTES} B each {PERIOD_US} us, gaps less the period\n",
        options.seed, options.blocks, options.seconds
    );
    println!("| generator | p50 us | p99 us | max us | p99 ours/its [95 %] | must | |");
    println!("|---|---|---|---|---|---|---|");
    let mut missed = 0;
    for generator in GENERATORS {
        let own: Vec<&Measured> =
            measured.iter().filter(|one| one.generator == generator.name).collect();
        let middle = |of: fn(&Measured) -> f64| {
            let values: Vec<f64> = own.iter().map(|one| of(one)).collect();
            median(&values).unwrap_or(f64::NAN)
        };
        let [p50, p99, max] = [middle(|m| m.p50_us), middle(|m| m.p99_us), middle(|m| m.max_us)];
        let told = format!("| {} | {p50:.1} | {p99:.1} | {max:.1} |", generator.name);
        let Some(interval) = ratios(measured, generator.name, options.seed) else {
            println!("{told} | | |");
            continue;
        };
        let shown = interval.against(TARGET);
        missed += usize::from(shown != super::paired::Shown::Met);
        println!("{told} {interval} | {TARGET} | {shown} |");
    }
    println!("\npacing: {missed} targets not met");
    Verdict::of(missed == 0)
}

/// Our 99th percentile over another generator's, block by block; `None` for ours.
fn ratios(measured: &[Measured], other: &str, seed: u64) -> Option<Interval> {
    let ours = GENERATORS.first().filter(|ours| ours.name != other)?.name;
    let of = |name: &str| -> BTreeMap<u64, f64> {
        let own = measured.iter().filter(|one| one.generator == name);
        own.map(|one| (one.block, one.p99_us)).collect()
    };
    let theirs = of(other);
    let ratios: Vec<f64> =
        of(ours).into_iter().filter_map(|(block, p99)| Some(p99 / theirs.get(&block)?)).collect();
    Interval::of(&ratios, seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_of_gaps_after_the_first_tenth_of_a_second() {
        let mut stamps: Vec<f64> = (0..1000).map(|at| 1e6 + 1000.0 * f64::from(at)).collect();
        stamps[50] += 500.0;
        stamps[500] += 7.0;
        let found = errors("x", &stamps);
        assert_eq!((found.datagrams, found.p50_us, found.max_us), (1000, 0.0, 7.0));
    }

    #[test]
    fn ratios_are_of_the_same_block_and_none_of_ours_to_ourselves() {
        let one = |generator, block, p99_us| Measured {
            generator,
            block,
            datagrams: 0,
            p50_us: 0.0,
            p99_us,
            max_us: 0.0,
        };
        let all = [one("btu", 0, 10.0), one("btu", 1, 20.0), one("iperf3", 1, 200.0)];
        let found = ratios(&all, "iperf3", 7).unwrap();
        assert!(found.holds(0.1) && !found.holds(0.11), "{found}");
        assert!(ratios(&all, "btu", 7).is_none());
    }
}
