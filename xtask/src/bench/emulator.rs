//! What the link emulator costs and how exact it is, check by check (`docs/emulation-checks.md`):
//! the rows that take a quiet machine and a clock. `--only E7` runs one of them.

mod bulk;
mod chain;
mod delay;
mod line;
mod lossless;
mod unimpaired;

use std::path::PathBuf;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;
use serde_json::Value;

use super::Bench;
use super::options::Options;
use super::pair;
use super::private;
use crate::chore::Verdict;
use crate::repo::Repo;

pub(super) const BENCH: Bench = Bench {
    name: "emulator",
    about: "checks of the emulator that need a clock: E1, E4, E6 to E11 (--only E7)",
    own_options: &["--only"],
    run,
};

/// A check with its number, what must be built for it, and how it is made. It prints what it found;
/// false where a bound was missed.
struct Row {
    check: &'static str,
    about: &'static str,
    needs: &'static [&'static str],
    run: fn(&Repo, &Options) -> Result<bool>,
}

static ROWS: &[Row] = &[
    Row {
        check: "E1",
        about: "10^7 packets through four elements on one core",
        needs: &[CHAIN],
        run: chain::speed,
    },
    Row {
        check: "E4",
        about: "loss that nobody asked for, TCP at full speed, 10 x 3 s, in a user namespace",
        needs: &[LINK, COMM],
        run: lossless::unasked,
    },
    Row {
        check: "E6",
        about: "delay error of an idle link, beyond the delay and the direct path's time",
        needs: &[PROBE],
        run: delay::idle,
    },
    Row {
        check: "E7",
        about: "delay error of 5 ms under 1 Gbit/s in the same direction",
        needs: &[LINK],
        run: delay::loaded,
    },
    Row {
        check: "E8",
        about: "bulk at delay 0 over a bare veth pair, and over TUN without vnet_hdr",
        needs: &[LINK, COMM, TUN],
        run: bulk::ratios,
    },
    Row {
        check: "E9",
        about: "published rates of other emulators beside ours",
        needs: &[LINK, COMM],
        run: bulk::published,
    },
    Row {
        check: "E10",
        about: "TCP over rates from 1.7 Mbit/s to 1 Gbit/s: 1448/1538 of the rate within 1 %",
        needs: &[LINK],
        run: line::goodput,
    },
    Row {
        check: "E11",
        about: "an unimpaired path beside an idle emulator, and without one",
        needs: &[LINK, COMM],
        run: unimpaired::idle_against_absent,
    },
];

const LINK: &str = "-p btu";
const COMM: &str = "-p btu-engine --example comm";
const PROBE: &str = "-p btu-testbed --example delay_error";
const TUN: &str = "-p btu-testbed --example tun_relay";
const CHAIN: &str = "-p btu-core --example chain";

fn run(repo: &Repo, options: &Options) -> Result<Verdict> {
    let rows = options.chosen(ROWS, |row| row.check)?;
    if !options.inside {
        build(repo, &rows)?;
        return private::enter(repo, BENCH.name, options);
    }
    private::prepare(repo)?;
    let mut missed = Vec::new();
    for row in rows {
        println!("{}: {}", row.check, row.about);
        if !(row.run)(repo, options)? {
            missed.push(row.check);
        }
    }
    if !missed.is_empty() {
        println!("missed: {}", missed.join(", "));
    }
    Ok(Verdict::of(missed.is_empty()))
}

fn build(repo: &Repo, rows: &[&Row]) -> Result<()> {
    let mut needed: Vec<&str> = rows.iter().flat_map(|row| row.needs.iter().copied()).collect();
    needed.sort_unstable();
    needed.dedup();
    for program in needed {
        if !repo.step(&format!("cargo build --release --locked --quiet {program}"))? {
            bail!("{program} did not build");
        }
    }
    Ok(())
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
    read_json(&stats)
}

/// COMM through a link with these options, its ends on the CPUs and with the congestion control that the veth pair's
/// ends have: the receiver's rate, and the link's statistics.
fn comm(repo: &Repo, options: &[&str], message: u64, seconds: u64) -> Result<(f64, Value)> {
    let program = repo.path("target/release/examples/comm").display().to_string();
    let found = file(repo, "comm.json")?;
    let congestion = private::CONGESTION;
    let common = format!("--message {message} --seconds {seconds} --congestion {congestion}");
    let [near, far] = pair::CPUS;
    let server = format!(
        "exec taskset -c {far} {program} --listen $BTU_LINK_FAR:7411 {common} > {}",
        found.display()
    );
    // The link ends with its command: the receiver, whose last bytes are on their way still, has two seconds to tell.
    let client = format!(
        "taskset -c {near} {program} --connect $BTU_LINK_FAR:7411 {common} || exit 1
        for i in $(seq 100); do test -s {} && exit; sleep 0.02; done",
        found.display()
    );
    let options = [options, &["--far", &server]].concat();
    let stats = link(repo, &options, &client)?;
    let account = std::fs::read_to_string(&found).context("read the receiver's account")?;
    Ok((pair::goodput_of(&account)?, stats))
}

/// A figure of a link's statistics.
fn figure(stats: &Value, pointer: &str) -> Result<f64> {
    let found = stats.pointer(pointer).and_then(Value::as_f64);
    found.with_context(|| format!("the link's statistics have no {pointer}"))
}

fn read_json(path: &std::path::Path) -> Result<Value> {
    let text = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("read {}", path.display()))
}

fn file(repo: &Repo, name: &str) -> Result<PathBuf> {
    let folder = repo.path("target/bench");
    std::fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    Ok(folder.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = include_str!("../../../docs/emulation-checks.md");

    #[test]
    fn the_table_of_checks_names_every_row() {
        for row in ROWS {
            let stands = |line: &str| line.starts_with(&format!("| {} |", row.check));
            let named = TABLE.lines().any(|line| stands(line) && line.contains("`bench emulator`"));
            assert!(named, "{}", row.check);
        }
    }
}
