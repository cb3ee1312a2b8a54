//! `cargo xtask test`: every test of the workspace, with the count of what could not run and why.

mod aside;
mod beside;
mod binary;
mod outcome;
mod packages;
mod scratch;
mod tally;
mod user;

use std::panic::resume_unwind;
use std::path::Path;
use std::process::Command;
use std::thread;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;

use crate::chore::Chore;
use crate::chore::Verdict;
use crate::repo::Repo;
use crate::skips;
use crate::skips::Who;
use aside::Wanted;
use beside::Beside;
use beside::Turn;
use binary::Binary;
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

/// Every test, as whoever calls.
fn all(repo: &Repo) -> Result<Verdict> {
    Ok(Verdict::of(with(repo, &[])?.is_empty()))
}

/// Every test, as whoever calls, and these lints in the CPU time that they leave over: what of all that is red.
pub(crate) fn with(repo: &Repo, lints: &[&str]) -> Result<Vec<String>> {
    let user = if is_root() { Who::Root } else { Who::Ordinary };
    let journal = repo.path("target/skips.jsonl");
    forget(&journal)?;
    forget(&repo.path(SUMMARY))?;
    let scratch = Scratch::new("btu-test")?;
    let settle = |command: &mut Command| {
        command.env("TMPDIR", scratch.path()).env("INSTA_UPDATE", "no").env("BTU_SKIPS", &journal);
    };
    let (mut tally, mut red) = run_all(repo, lints, &built(repo, user)?, settle)?;
    println!("\nexamples in the documentation");
    let mut documentation = repo.command("cargo");
    documentation.args(["test", "--workspace", "--locked", "--no-fail-fast", "--quiet", "--doc"]);
    settle(&mut documentation);
    tally.add(Outcome::of(&mut documentation, Binaries::Several, Shown::AtOnce)?.tally);
    if close(repo, tally, &journal, user)? == Verdict::Bad {
        red.push("cargo xtask test".to_owned());
    }
    Ok(red)
}

/// Builds all tests; meanwhile root installs the programs that they talk to.
fn built(repo: &Repo, user: Who) -> Result<Vec<Binary>> {
    if user != Who::Root {
        println!("test: not root: nothing is installed, tests of missing programs are skipped");
        return binary::build(repo, &["--workspace"]);
    }
    thread::scope(|scope| {
        let installed = scope.spawn(|| packages::install(repo));
        let built = binary::build(repo, &["--workspace"]);
        installed.join().unwrap_or_else(|panic| resume_unwind(panic))?;
        built
    })
}

/// Runs the tests of all binaries: lints and whatever only computes in the time that the others leave over, and
/// at the end those that want the machine for themselves.
fn run_all(
    repo: &Repo,
    lints: &[&str],
    binaries: &[Binary],
    settle: impl Fn(&mut Command),
) -> Result<(Tally, Vec<String>)> {
    let command = |binary: &Binary| {
        let mut command = Command::new(&binary.executable);
        settle(command.current_dir(&binary.folder));
        command
    };
    let run = |binary: &&Binary| {
        println!("\n{}", binary.title);
        binary.run(Wanted::All, || command(binary))
    };
    let tests = binaries.iter().filter(|binary| binary.is_test);
    let (computing, others): (Vec<_>, Vec<_>) =
        tests.partition(|binary| beside::only_computes(&binary.title));
    let (alone, mut others): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|binary| beside::wants_the_machine(&binary.title));
    // What waits most leaves most over.
    others.sort_by_key(|binary| !aside::has_groups(&binary.title));
    let computing: Vec<_> = computing.into_iter().map(|one| (one, command(one))).collect();
    let turn = Turn::default();
    let (mut tally, red) = thread::scope(|scope| {
        let spare = scope.spawn(|| Beside::of(repo, lints, computing, &turn));
        let ran: Result<Vec<Tally>> = others.iter().map(run).collect();
        turn.tests_are_over()?;
        let (mut tally, red) = spare.join().unwrap_or_else(|panic| resume_unwind(panic))?.show();
        ran?.into_iter().for_each(|one| tally.add(one));
        anyhow::Ok((tally, red))
    })?;
    for binary in &alone {
        tally.add(run(binary)?);
    }
    Ok((tally, red))
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
