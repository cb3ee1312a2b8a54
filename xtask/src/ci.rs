//! `cargo xtask ci`: everything that must be green before a change lands.

use anyhow::Result;

use crate::chore::Chore;
use crate::chore::Verdict;
use crate::cite;
use crate::deps;
use crate::repo::Repo;
use crate::test;
use crate::tidy;

pub(crate) const CHORE: Chore = Chore {
    name: "ci",
    about: "fmt, tidy, cite, deps, clippy beside tests; --no-test leaves the tests out",
    run,
};

const FORMAT: &str = "cargo fmt --all --check";

/// Everything; and the crates that have features, without them. Without `--no-deps` the second would lint the others
/// again.
const LINTS: &[&str] = &[
    "cargo clippy --workspace --all-targets --locked --quiet -- -D warnings",
    "cargo clippy -p btu -p btu-engine -p btu-report --no-default-features --no-deps --locked --quiet -- -D warnings",
];

fn run(repo: &Repo, args: &[String]) -> Result<Verdict> {
    let mut red = failed(repo, &[FORMAT])?;
    for chore in [&tidy::CHORE, &cite::CHORE, &deps::CHORE] {
        println!("$ cargo xtask {}", chore.name);
        if (chore.run)(repo, &[])? == Verdict::Bad {
            red.push(format!("cargo xtask {}", chore.name));
        }
    }
    if args.iter().any(|arg| arg == "--no-test") {
        red.extend(failed(repo, LINTS)?);
    } else {
        println!("$ cargo xtask test");
        red.extend(test::with(repo, LINTS)?);
    }
    match red.as_slice() {
        [] => println!("ci: green"),
        red => println!("ci: red: {}", red.join("; ")),
    }
    Ok(Verdict::of(red.is_empty()))
}

/// Those of these commands that fail.
fn failed(repo: &Repo, lines: &[&str]) -> Result<Vec<String>> {
    let mut red = Vec::new();
    for line in lines {
        if !repo.step(line)? {
            red.push((*line).to_owned());
        }
    }
    Ok(red)
}
