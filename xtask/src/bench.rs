//! `cargo xtask bench NAME`: how fast the loops are, beside other programs and in instructions, and
//! how often causes are named.

mod bare;
mod budget;
mod cells;
mod charts;
mod contender;
mod counts;
mod diagnosis;
mod emulator;
mod ftp;
mod hosts;
mod namespace;
mod netem;
mod options;
mod pacing;
mod pair;
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
    about: "peers, bare, pingpong, pacing, traffic, counts, emulator, ftp, hosts, netem, diagnosis, cells, charts, budget: what takes a clock",
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
    bare::BENCH,
    budget::BENCH,
    cells::BENCH,
    charts::BENCH,
    counts::BENCH,
    diagnosis::BENCH,
    emulator::BENCH,
    ftp::BENCH,
    hosts::BENCH,
    netem::BENCH,
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

/// What the pages of checks (`docs/*-checks.md`) have in common.
#[cfg(test)]
mod checks {
    use std::fs;

    use super::BENCHES;
    use crate::repo::Repo;

    #[test]
    fn every_page_of_checks_names_tests_and_benches_that_exist() {
        let repo = Repo::here().unwrap();
        let sources = repo.sources().unwrap();
        let is_page = |name: &str| name.ends_with("-checks.md");
        let files = fs::read_dir(repo.path("docs")).unwrap().map(|file| file.unwrap().path());
        let pages: Vec<_> = files.filter(|file| file.to_str().is_some_and(is_page)).collect();
        assert!(pages.len() > 4, "{pages:?}");
        for page in pages {
            let text = fs::read_to_string(&page).unwrap();
            let words: Vec<&str> = text.split('`').collect();
            let tests: Vec<&&str> = words.iter().filter(|w| w.matches('_').count() > 2).collect();
            assert!(tests.len() > 10, "{}: {tests:?}", page.display());
            for test in tests {
                let definition = format!("fn {test}(");
                let found = sources.iter().any(|source| source.text.contains(&definition));
                assert!(found, "{}: {test}", page.display());
            }
            for bench in words.iter().filter_map(|word| word.strip_prefix("bench ")) {
                let found = BENCHES.iter().any(|one| Some(one.name) == bench.split(' ').next());
                assert!(found, "{}: bench {bench}", page.display());
            }
        }
    }
}
