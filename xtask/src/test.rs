//! `cargo xtask test`: every test of the workspace, with the count of what could not run and why.

mod aside;
mod binary;
mod outcome;
mod packages;
mod scratch;
mod tally;
mod user;

use std::path::Path;
use std::process::Command;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;

use crate::chore::Chore;
use crate::chore::Verdict;
use crate::repo::Repo;
use crate::skips;
use crate::skips::Who;
use aside::Wanted;
use outcome::Binaries;
use outcome::Outcome;
use outcome::Shown;
use scratch::Scratch;
use tally::Tally;

pub(crate) const CHORE: Chore = Chore {
    name: "test",
    about: "all tests, and what was skipped; --as-uid N runs the rootless ones as that user",
    run,
};

const SUMMARY: &str = "target/test-summary.jsonl";

fn run(repo: &Repo, args: &[String]) -> Result<Verdict> {
    match args {
        [] => all(repo),
        [flag, uid] if flag == "--as-uid" => {
            user::run(repo, uid.parse().with_context(|| format!("--as-uid {uid}"))?)
        }
        _ => bail!("usage: cargo xtask test [--as-uid N]"),
    }
}

/// Every test, as whoever calls; root also installs the programs that the tests talk to.
fn all(repo: &Repo) -> Result<Verdict> {
    let user = if is_root() { Who::Root } else { Who::Ordinary };
    if user == Who::Root {
        packages::install(repo)?;
    } else {
        println!("test: not root: nothing is installed, tests of missing programs are skipped");
    }
    let journal = repo.path("target/skips.jsonl");
    forget(&journal)?;
    forget(&repo.path(SUMMARY))?;
    let scratch = Scratch::new("btu-test")?;
    let settle = |command: &mut Command| {
        command.env("TMPDIR", scratch.path()).env("INSTA_UPDATE", "no").env("BTU_SKIPS", &journal);
    };
    let mut tally = Tally::default();
    for binary in binary::build(repo, &["--workspace"])?.iter().filter(|binary| binary.is_test) {
        println!("\n{}", binary.title);
        tally.add(binary.run(Wanted::All, || {
            let mut command = Command::new(&binary.executable);
            settle(command.current_dir(&binary.folder));
            command
        })?);
    }
    println!("\nexamples in the documentation");
    let mut documentation = repo.command("cargo");
    documentation.args(["test", "--workspace", "--locked", "--no-fail-fast", "--quiet", "--doc"]);
    settle(&mut documentation);
    tally.add(Outcome::of(&mut documentation, Binaries::Several, Shown::AtOnce)?.tally);
    close(repo, tally, &journal, user)
}

/// Adds the skips to the tally, prints both, and judges.
fn close(repo: &Repo, mut tally: Tally, journal: &Path, user: Who) -> Result<Verdict> {
    let skips = skips::read(journal)?;
    tally.skip(skips.len());
    skips::print(&skips, user);
    let unlisted = skips.iter().filter(|s| !s.listed(user)).count();
    if unlisted > 0 {
        println!("test: {unlisted} skipped for a reason that is not listed");
    }
    let total = tally.append(&repo.path(SUMMARY))?;
    println!("\n{total}");
    Ok(Verdict::of(tally.is_green() && unlisted == 0))
}

pub(crate) fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

fn forget(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("remove {}", path.display()))
        }
        _ => Ok(()),
    }
}
