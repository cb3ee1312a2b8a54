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
    about: "fmt, clippy, tidy, cite, deps, tests; --no-test leaves the tests out",
    run,
};

const STEPS: &[&str] = &[
    "cargo fmt --all --check",
    "cargo clippy --workspace --all-targets --locked --quiet -- -D warnings",
    "cargo clippy -p btu -p btu-engine --no-default-features --all-targets --locked --quiet -- -D warnings",
];

fn run(repo: &Repo, args: &[String]) -> Result<Verdict> {
    let mut red = Vec::new();
    for step in STEPS {
        if !repo.step(step)? {
            red.push((*step).to_owned());
        }
    }
    let mut chores = vec![&tidy::CHORE, &cite::CHORE, &deps::CHORE];
    if !args.iter().any(|arg| arg == "--no-test") {
        chores.push(&test::CHORE);
    }
    for chore in chores {
        println!("$ cargo xtask {}", chore.name);
        if (chore.run)(repo, &[])? == Verdict::Bad {
            red.push(format!("cargo xtask {}", chore.name));
        }
    }
    match red.as_slice() {
        [] => println!("ci: green"),
        red => println!("ci: red: {}", red.join("; ")),
    }
    Ok(Verdict::of(red.is_empty()))
}
