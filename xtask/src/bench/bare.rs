//! COMM within a hundredth of a bare loop of its calls: short slices of both, in turn, in one process. Machines vary by a
//! tenth from second to second; of hundreds of neighbours that is no longer seen.

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;
use serde::Deserialize;

use super::Bench;
use super::options::Options;
use super::paired::Interval;
use super::paired::Shown;
use super::paired::Target;
use super::paired::median;
use super::private;
use crate::chore::Verdict;
use crate::repo::Repo;

pub(super) const BENCH: Bench = Bench {
    name: "bare",
    about: "COMM beside a bare loop of its calls, in slices of 50 ms, --seconds of each per block; 6 min",
    own_options: &[],
    run,
};

const TARGET: Target = Target::Within(0.01);
const SLICE_MS: u64 = 50;

/// One line of the example: what the reader of each loop got.
#[derive(Deserialize)]
struct Pair {
    comm_mbps: f64,
    bare_mbps: f64,
}

fn run(repo: &Repo, options: &Options) -> Result<Verdict> {
    if !options.inside {
        return private::enter_with(repo, "bare", BENCH.name, options);
    }
    private::prepare(repo)?;
    let pairs = (1000 * options.seconds / SLICE_MS).max(1);
    let blocks = options.blocks;
    println!("{blocks} blocks of {pairs} pairs of {SLICE_MS} ms, {}\n", private::CONGESTION);
    println!("| message | COMM/bare loop [95 %] | must | |\n|---|---|---|---|");
    let mut missed = 0;
    for &message_bytes in &options.sizes {
        let blocks = (0..blocks).map(|_| block(repo, message_bytes, pairs));
        let ratios = blocks.collect::<Result<Vec<_>>>()?;
        let interval = Interval::of(&ratios, options.seed).context("--blocks 0: no pairs")?;
        let shown = interval.against(TARGET);
        missed += usize::from(shown == Shown::Missed);
        println!("| {message_bytes} B | {interval} | {TARGET} | {shown} |");
    }
    println!("\nbare: {missed} targets missed");
    Ok(Verdict::of(missed == 0))
}

/// The median ratio of so many pairs in a process of their own: where its memory lies is in all of them, and in no other
/// block.
fn block(repo: &Repo, message_bytes: u64, pairs: u64) -> Result<f64> {
    let mut command = repo.command(repo.path("target/release/examples/bare"));
    command.args(["--message", &message_bytes.to_string(), "--pairs", &pairs.to_string()]);
    command.args(["--slice-ms", &SLICE_MS.to_string()]);
    if std::thread::available_parallelism().is_ok_and(|n| n.get() > 1) {
        command.args(["--cpus", "0,1"]);
    }
    let output = command.output().context("run the example bare")?;
    if !output.status.success() {
        bail!("bare: {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    let pairs = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Pair>();
    let ratios = pairs.map(|pair| pair.map(|pair| pair.comm_mbps / pair.bare_mbps));
    let ratios = ratios.collect::<Result<Vec<_>, _>>().context("read what the example printed")?;
    median(&ratios).context("the example bare printed nothing")
}
