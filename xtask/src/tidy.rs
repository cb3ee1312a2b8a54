//! `cargo xtask tidy`: the rules of the architecture and the style that no compiler lint checks.

mod decisions;
mod edges;
mod files;
mod readme;
mod registries;
mod safety;
mod sizes;

use anyhow::Result;

use crate::chore::Chore;
use crate::chore::Verdict;
use crate::repo::Metadata;
use crate::repo::Repo;
use crate::source::Source;

pub(crate) const CHORE: Chore = Chore {
    name: "tidy",
    about: "crate edges, registries and their pages, sizes, unsafe code, README",
    run,
};

/// What every rule may look at.
struct Workspace<'a> {
    repo: &'a Repo,
    metadata: Metadata,
    sources: Vec<Source>,
}

/// A rule returns one sentence per violation, starting with the place.
struct Rule {
    name: &'static str,
    check: fn(&Workspace<'_>) -> Vec<String>,
}

static RULES: &[Rule] = &[
    Rule { name: "crate edges", check: edges::check },
    Rule { name: "registries and their pages", check: registries::check },
    Rule { name: "unsafe code", check: safety::check },
    Rule { name: "files", check: files::check },
    Rule { name: "sizes", check: sizes::check },
    Rule { name: "README", check: readme::check },
    Rule { name: "decisions", check: decisions::check },
];

fn run(repo: &Repo, _args: &[String]) -> Result<Verdict> {
    let workspace = Workspace { repo, metadata: repo.metadata()?, sources: repo.sources()? };
    let mut violations = 0;
    for rule in RULES {
        let found = (rule.check)(&workspace);
        println!("tidy: {}: {}", rule.name, counted(found.len()));
        for sentence in &found {
            println!("  {sentence}");
        }
        violations += found.len();
    }
    Ok(Verdict::of(violations == 0))
}

fn counted(violations: usize) -> String {
    match violations {
        0 => "ok".into(),
        1 => "1 violation".into(),
        n => format!("{n} violations"),
    }
}
