//! A verb of the program that a bench runs again and again, and the bounds that its results are held to.

use std::path::PathBuf;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;
use serde_json::Value;

use crate::repo::Repo;

/// The verb, and where its results go.
pub(super) struct Verb<'a> {
    pub(super) repo: &'a Repo,
    name: &'static str,
    /// Each result has a folder of its own here.
    pub(super) results: PathBuf,
    incomplete: Incomplete,
}

/// What a result in which something went wrong is good for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Incomplete {
    /// The bounds judge what there is.
    Judged,
    /// Nothing.
    Refused,
}

impl<'a> Verb<'a> {
    /// Builds the program, and forgets results of the time before.
    pub(super) fn new(repo: &'a Repo, name: &'static str, incomplete: Incomplete) -> Result<Self> {
        if !repo.step("cargo build --release --locked -p btu")? {
            bail!("btu did not build");
        }
        let results = repo.path(&format!("target/bench/{name}"));
        if results.exists() {
            std::fs::remove_dir_all(&results)
                .with_context(|| format!("remove {}", results.display()))?;
        }
        std::fs::create_dir_all(&results)
            .with_context(|| format!("create {}", results.display()))?;
        Ok(Self { repo, name, results, incomplete })
    }

    /// Measures into a folder of its own; gives `result.json`.
    pub(super) fn measure(&self, folder: &str, args: &[&str]) -> Result<Value> {
        let out = self.results.join(folder);
        let mut command = self.repo.command(self.repo.path("target/release/btu"));
        command.arg(self.name).args(args).arg("--quiet").arg("--out").arg(&out);
        let shown = format!("btu {} {}", self.name, args.join(" "));
        let ended = command.output().with_context(|| format!("run {shown}"))?;
        let said = String::from_utf8_lossy(&ended.stderr);
        match (ended.status.code(), self.incomplete) {
            (Some(0), _) => {}
            (Some(INCOMPLETE), Incomplete::Judged) => println!("{folder}: {}", said.trim_end()),
            _ => bail!("{shown}: {said}"),
        }
        let file = out.join("result.json");
        let text = std::fs::read(&file).with_context(|| format!("read {}", file.display()))?;
        serde_json::from_slice(&text).with_context(|| format!("parse {}", file.display()))
    }
}

/// The exit code of a result in which something went wrong.
const INCOMPLETE: i32 = 6;

/// The bounds that a part missed; one that breaks off has missed one, and the others go on.
pub(super) fn counted(names: &str, missed: Result<usize>) -> usize {
    missed.unwrap_or_else(|cause| judged(&format!("{names}: broke off: {cause:#}"), false))
}

/// Prints a bound and what became of it; 1 where it was missed.
pub(super) fn judged(what: &str, met: bool) -> usize {
    println!("{} {what}", if met { "met   " } else { "MISSED" });
    usize::from(!met)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_breaks_off_has_missed_a_bound() {
        assert_eq!(counted("T4", Ok(2)), 2);
        assert_eq!(counted("T4", Err(anyhow::anyhow!("no knee"))), 1);
    }
}
