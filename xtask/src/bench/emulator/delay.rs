//! How late the emulator releases packets: idle, beyond the direct path, by a probe that never
//! sleeps; and under load.

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;
use serde_json::Value;

use super::Options;
use super::figure;
use super::link;
use crate::bench::pair;
use crate::bench::paired::Interval;
use crate::repo::Repo;

/// How late packets of an idle link may be, in microseconds at the median and the 99th percentile,
/// where the emulator has a CPU of its own.
const IDLE_P50_US: f64 = 10.0;
const IDLE_P99_US: f64 = 40.0;
/// One for the probe, one for the emulator.
const OWN_CPUS: usize = 2;
const PROBE: &str = "target/release/examples/delay_error";

/// Of a delay of 5 ms under 1 Gbit/s: 5 % of it where CPUs are shared, else 3 %.
const LOADED_DELAY: &str = "5ms";
const SHARED_P99_US: f64 = 0.05 * 5000.0;
const ALONE_P99_US: f64 = 0.03 * 5000.0;
/// Both ends of the traffic have one, and the emulator another two: one spins.
const SPARE_CPUS: usize = 4;

/// Datagrams over both paths in turn, in as many rounds as there are blocks: one pause of the machine
/// is in a round's 99th percentile, and says nothing about the emulator.
pub(super) fn idle(repo: &Repo, options: &Options) -> Result<bool> {
    let rounds = (0..options.blocks).map(|_| probe(repo)).collect::<Result<Vec<_>>>()?;
    let mut good = true;
    for (turn, Probed { link, .. }) in
        rounds.first().context("no round was made")?.iter().enumerate()
    {
        let (p50s, p99s): (Vec<f64>, Vec<f64>) =
            rounds.iter().filter_map(|round| round.get(turn)).map(Probed::beyond).unzip();
        good &= holds(&format!("{link}: p50"), &p50s, IDLE_P50_US, options)?;
        good &= holds(&format!("{link}: p99"), &p99s, IDLE_P99_US, options)?;
    }
    if cpus() < OWN_CPUS {
        println!("  not judged: the emulator has no CPU of its own");
        return Ok(true);
    }
    Ok(good)
}

/// One round of the probe: a line for each link.
fn probe(repo: &Repo) -> Result<Vec<Probed>> {
    let output = repo.command(repo.path(PROBE)).output().context("run the delay probe")?;
    if !output.status.success() {
        bail!("the delay probe: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(|line| serde_json::from_str(line).context("read the delay probe")).collect()
}

/// Prints the median of the rounds with its interval; false where the median is beyond the bound.
fn holds(what: &str, rounds: &[f64], bound_us: f64, options: &Options) -> Result<bool> {
    let interval = Interval::of(rounds, options.seed).context("no round was made")?;
    let held = interval.median <= bound_us;
    println!("  {what} {interval} us of {} rounds, <= {bound_us}: {held}", rounds.len());
    Ok(held)
}

/// A line of the delay probe, in microseconds.
#[derive(serde::Deserialize)]
struct Probed {
    link: String,
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

/// 1 Gbit/s of UDP in the same direction, as iperf3 paces it: a burst of 86 datagrams each
/// millisecond. As many rounds as there are blocks.
pub(super) fn loaded(repo: &Repo, options: &Options) -> Result<bool> {
    let mut p99s = Vec::new();
    for _ in 0..options.blocks {
        let stats = flood(repo, options)?;
        let error = Errors::of(&stats)?;
        println!("  {error}; {}", told(&stats)?);
        p99s.push(error.p99);
    }
    let (bound, place) = if cpus() < SPARE_CPUS {
        (SHARED_P99_US, "shared with both ends")
    } else {
        (ALONE_P99_US, "one of its own")
    };
    holds(&format!("{} CPUs, {place}: p99", cpus()), &p99s, bound, options)
}

/// One round; the link's statistics.
fn flood(repo: &Repo, options: &Options) -> Result<Value> {
    let [near, far] = pair::CPUS;
    let script = format!(
        "exec taskset -c {near} iperf3 -u -b 1G -l 1448 -t {} -c $BTU_LINK_FAR > /dev/null",
        options.seconds
    );
    let server = format!("exec taskset -c {far} iperf3 -s -1 > /dev/null");
    link(repo, &["--far", &server, "--delay", LOADED_DELAY], &script)
}

/// What its thread needed and waited for.
fn told(stats: &Value) -> Result<String> {
    let share = |name: &str| -> Result<f64> {
        Ok(100.0 * figure(stats, &format!("/up/{name}"))? / figure(stats, "/up/elapsed_ns")?)
    };
    let cpu = share("thread_cpu_ns")?;
    let waited = share("run_delay_ns").map_or_else(
        |_| "how long it waited for a CPU is not known".to_owned(),
        |waited| format!("waiting for one {waited:.0} %"),
    );
    let packets = figure(stats, "/up/packets")?;
    Ok(format!("{packets} packets, {cpu:.0} % of a CPU, {waited} of the time"))
}

/// Achieved minus asked delay, in microseconds.
struct Errors {
    p50: f64,
    p99: f64,
    max: f64,
}

impl Errors {
    fn of(stats: &Value) -> Result<Self> {
        let of = |name: &str| figure(stats, &format!("/up/delay_error_us/{name}"));
        Ok(Self { p50: of("p50")?, p99: of("p99")?, max: of("max")? })
    }
}

impl std::fmt::Display for Errors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "p50 {:.1}, p99 {:.1}, max {:.1} us", self.p50, self.p99, self.max)
    }
}

fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
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
        let line = r#"{"link":"delay 100us","direct":{"n":9,"p50":4,"p99":10},"emulated":{"n":9,"p50":9.5,"p99":30}}"#;
        let probed: Probed = serde_json::from_str(line).unwrap();
        assert_eq!(probed.beyond(), (5.5, 20.0));
    }

    #[test]
    fn shares_are_of_the_time_that_the_record_covers() {
        let up = serde_json::json!({"elapsed_ns": 200, "thread_cpu_ns": 50, "run_delay_ns": 4,
            "packets": 7});
        let said = told(&serde_json::json!({"up": up})).unwrap();
        assert_eq!(said, "7 packets, 25 % of a CPU, waiting for one 2 % of the time");
    }
}
