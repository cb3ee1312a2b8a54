//! How often the diagnosis names a cause that was planted in real traffic, and how often it sees one
//! where there is none.

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;

use super::Bench;
use super::options::Options;
use crate::chore::Verdict;
use crate::repo::Repo;

pub(super) const BENCH: Bench = Bench {
    name: "diagnosis",
    about: "planted causes and pairs named blind, twice --blocks trials each; false alarms",
    own_options: &["--only", "--keep", "--again"],
    run,
};

/// The program prints the table and judges it: 19 of 20 each, at most 1 alarm of 100.
fn run(repo: &Repo, options: &Options) -> Result<Verdict> {
    if !repo.step("cargo build --release --locked -p btu --example planted")? {
        bail!("the example planted of btu did not build");
    }
    let (trials, seed) = ((2 * options.blocks).to_string(), options.seed.to_string());
    let mut command = repo.command(repo.path("target/release/examples/planted"));
    command.args(["--trials", &trials, "--seed", &seed]).args(&options.own);
    let status = command.status().context("run the example planted")?;
    Ok(Verdict::of(status.success()))
}
