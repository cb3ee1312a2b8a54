//! How many packets one core passes through four elements, in virtual time.

use std::time::Instant;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;

use super::Options;
use crate::repo::Repo;

const PACKETS: u32 = 10_000_000;
/// A target, no bound: how fast a core is, is not ours to say. `bench counts` bounds instructions.
const WANTED_PER_SECOND: f64 = 5e6;

pub(super) fn speed(repo: &Repo, _options: &Options) -> Result<bool> {
    let mut command = repo.command(repo.path("target/release/examples/chain"));
    let start = Instant::now();
    let output = command.arg(PACKETS.to_string()).output().context("run the example chain")?;
    let seconds = start.elapsed().as_secs_f64();
    if !output.status.success() {
        bail!("chain {PACKETS}: {}", output.status);
    }
    let rate = f64::from(PACKETS) / seconds;
    let met = if rate >= WANTED_PER_SECOND { "met" } else { "missed" };
    println!(
        "  {:.2} million packets/s; wanted >= {:.0} million: {met}",
        rate / 1e6,
        WANTED_PER_SECOND / 1e6
    );
    Ok(true)
}
