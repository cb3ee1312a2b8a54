//! Instructions of the hot loops, counted by callgrind: the same on a busy machine and on an idle
//! one, so that a bound of a few percent holds.

use std::path::Path;
use std::path::PathBuf;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;

use super::Bench;
use super::options::Options;
use super::process::End;
use crate::chore::Verdict;
use crate::program::installed;
use crate::repo::Repo;

pub(super) const BENCH: Bench = Bench {
    name: "counts",
    about: "instructions per message and per packet (valgrind)",
    own_options: &[],
    run,
};

/// A loop and how many instructions one turn of it takes. A change that moves a count on purpose
/// writes the new one here.
static COUNTS: &[Count] = &[
    Count {
        subject: "link of four elements, per packet",
        measure: |repo| per_packet(repo),
        baseline: 2070.0,
    },
    Count {
        subject: "COMM writing 100 B, per message",
        measure: |repo| per_message(repo, Side::Writer),
        baseline: 42.0,
    },
    Count {
        subject: "COMM reading 100 B, per message",
        measure: |repo| per_message(repo, Side::Reader),
        baseline: 85.0,
    },
];

const TOLERANCE: f64 = 0.03;

struct Count {
    subject: &'static str,
    measure: fn(&Repo) -> Result<f64>,
    baseline: f64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Reader,
    Writer,
}

fn run(repo: &Repo, _options: &Options) -> Result<Verdict> {
    if installed("valgrind").is_none() {
        println!("counts: skipped: program missing: valgrind");
        return Ok(Verdict::Good);
    }
    build(repo)?;
    println!("| instructions | here | baseline | |\n|---|---|---|---|");
    let mut good = true;
    for Count { subject, measure, baseline } in COUNTS {
        let here = measure(repo)?;
        let change = here / baseline - 1.0;
        let verdict = judge(change);
        good &= verdict.is_empty();
        println!("| {subject} | {here:.1} | {baseline} ({:+.1} %) | {verdict} |", change * 100.0);
    }
    Ok(Verdict::of(good))
}

fn judge(change: f64) -> &'static str {
    if change > TOLERANCE {
        "more than before"
    } else if change < -TOLERANCE {
        "fewer than before: lower the baseline in xtask/src/bench/counts.rs"
    } else {
        ""
    }
}

fn build(repo: &Repo) -> Result<()> {
    for (krate, example) in [("btu-core", "chain"), ("btu-engine", "comm")] {
        let line = format!("cargo build --release --locked --quiet -p {krate} --example {example}");
        if !repo.step(&line)? {
            bail!("the example {example} of {krate} did not build");
        }
    }
    Ok(())
}

/// The difference between two lengths leaves out what the program does only once.
fn per_packet(repo: &Repo) -> Result<f64> {
    const PACKETS: u32 = 50_000;
    let count = |packets: u32| {
        let log = log(repo, "chain")?;
        let mut command = repo.command("valgrind");
        command.args(callgrind(&log, None)).arg(repo.path("target/release/examples/chain"));
        let output = command.arg(packets.to_string()).output().context("run valgrind")?;
        if !output.status.success() {
            bail!("chain {packets}: {}", output.status);
        }
        collected(&log)
    };
    Ok((count(2 * PACKETS)? - count(PACKETS)?) / f64::from(PACKETS))
}

/// Only the instructions inside the loop: threads that sample by the clock would blur the rest.
fn per_message(repo: &Repo, side: Side) -> Result<f64> {
    const MESSAGES: u32 = 20_000;
    const PORT: u16 = 7412;
    let program = repo.path("target/release/examples/comm").display().to_string();
    let common = format!("127.0.0.1:{PORT} --message 100 --messages {MESSAGES}");
    let log = log(repo, "comm")?;
    let line = |role: &str, of: Side, function: &str| -> Vec<String> {
        let mut words = Vec::new();
        if of == side {
            words.push("valgrind".to_owned());
            words.extend(callgrind(&log, Some(function)));
        }
        words.extend([program.clone(), role.to_owned()]);
        words.extend(common.split(' ').map(String::from));
        words
    };
    let mut reader = End::start(0, &line("--listen", Side::Reader, "stream::receive_messages"))?;
    reader.listens(PORT)?;
    let mut writer = End::start(0, &line("--connect", Side::Writer, "stream::send_messages"))?;
    writer.output()?;
    reader.output()?;
    let end = if side == Side::Reader { &mut reader } else { &mut writer };
    end.succeeded()?;
    Ok(collected(&log)? / f64::from(MESSAGES))
}

fn log(repo: &Repo, name: &str) -> Result<PathBuf> {
    let folder = repo.path("target/bench");
    std::fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    Ok(folder.join(format!("callgrind-{name}.log")))
}

fn callgrind(log: &Path, function: Option<&str>) -> Vec<String> {
    let mut args = vec![
        "--tool=callgrind".to_owned(),
        "--callgrind-out-file=/dev/null".to_owned(),
        format!("--log-file={}", log.display()),
    ];
    args.extend(function.map(|function| format!("--toggle-collect=*{function}*")));
    args
}

/// `==123== Collected : 213831287`
fn collected(log: &Path) -> Result<f64> {
    let text = std::fs::read_to_string(log).with_context(|| format!("read {}", log.display()))?;
    let number = text.lines().find_map(|line| line.split_once("Collected :")).map(|(_, n)| n);
    let number = number.with_context(|| format!("{}: no count", log.display()))?;
    number.trim().parse().with_context(|| format!("read the count {number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_may_move_by_three_percent() {
        assert_eq!(judge(0.02), "");
        assert_eq!(judge(0.04), "more than before");
        assert!(judge(-0.04).starts_with("fewer"));
    }
}
