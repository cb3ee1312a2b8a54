//! The chores of this repository: `cargo xtask NAME`.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "a chore's result is what it prints")]

mod bench;
mod chore;
mod ci;
mod cite;
mod deps;
mod program;
mod repo;
mod skips;
mod source;
mod spare;
mod test;
mod tidy;

use std::process::ExitCode;

use anyhow::Result;

use chore::Chore;
use chore::Verdict;
use repo::Repo;

static CHORES: &[Chore] =
    &[bench::CHORE, ci::CHORE, cite::CHORE, deps::CHORE, test::CHORE, tidy::CHORE];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&args) {
        Ok(Verdict::Good) => ExitCode::SUCCESS,
        Ok(Verdict::Bad) => ExitCode::FAILURE,
        Err(error) => {
            println!("xtask: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn dispatch(args: &[String]) -> Result<Verdict> {
    let chore = args.first().and_then(|name| CHORES.iter().find(|c| c.name == name));
    let Some(chore) = chore else {
        println!("cargo xtask CHORE [OPTIONS]\n");
        for chore in CHORES {
            println!("  {:<6} {}", chore.name, chore.about);
        }
        return Ok(Verdict::of(args.is_empty()));
    };
    (chore.run)(&Repo::here()?, &args[1..])
}
