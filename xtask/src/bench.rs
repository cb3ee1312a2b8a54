//! `cargo xtask bench NAME`: how fast the loops are, beside other programs and in instructions, and
//! how often causes are named.

mod budget;
mod cells;
mod charts;
mod contender;
mod counts;
mod diagnosis;
mod emulator;
mod hosts;
mod namespace;
mod options;
mod pacing;
mod paired;
mod peers;
mod pingpong;
mod private;
mod process;
mod traffic;
mod verb;

use anyhow::Context;
use anyhow::Result;

use crate::chore::Chore;
use crate::chore::Verdict;
use crate::repo::Repo;
use options::Options;

pub(crate) const CHORE: Chore = Chore {
    name: "bench",
    about: "peers, pingpong, pacing, traffic, counts, emulator, hosts, diagnosis, cells, charts, budget: what takes a clock",
    run,
};

/// One bench: a file of its own and a line in [`BENCHES`].
struct Bench {
    name: &'static str,
    about: &'static str,
    /// Those of its options that not every bench takes.
    own_options: &'static [&'static str],
    run: fn(&Repo, &Options) -> Result<Verdict>,
}

static BENCHES: &[Bench] = &[
    budget::BENCH,
    cells::BENCH,
    charts::BENCH,
    counts::BENCH,
    diagnosis::BENCH,
    emulator::BENCH,
    hosts::BENCH,
    pacing::BENCH,
    peers::BENCH,
    pingpong::BENCH,
    traffic::BENCH,
];

fn run(repo: &Repo, args: &[String]) -> Result<Verdict> {
    let bench = args.first().and_then(|name| BENCHES.iter().find(|b| b.name == name));
    let Some(bench) = bench else {
        println!("cargo xtask bench NAME [{}]\n", options::USAGE);
        for bench in BENCHES {
            println!("  {:<9} {}", bench.name, bench.about);
        }
        return Ok(Verdict::of(args.is_empty()));
    };
    let options = Options::parse(&args[1..])?;
    options.refuse_all_but(bench.own_options).with_context(|| bench.name)?;
    (bench.run)(repo, &options)
}

/// What the pages of checks have in common.
#[cfg(test)]
mod checks {
    use crate::repo::Repo;

    /// Every test that a page names is there.
    pub(super) fn name_tests_that_exist(page: &str) {
        let sources = Repo::here().unwrap().sources().unwrap();
        let tests: Vec<&str> =
            page.split('`').filter(|word| word.matches('_').count() > 2).collect();
        assert!(tests.len() > 20, "{tests:?}");
        for test in tests {
            let definition = format!("fn {test}(");
            assert!(sources.iter().any(|source| source.text.contains(&definition)), "{test}");
        }
    }
}
