//! Results that lie somewhere, by directory or bundle: opened, verified, named.

use std::path::Path;
use std::path::PathBuf;

use anyhow::anyhow;
use btu_core::journal::Journal;
use btu_core::journal::file;
use btu_core::manifest::accounts;
use btu_core::ranking::Difference;
use btu_core::ranking::Setting;
use btu_core::ranking::differences;
use btu_core::role::Role;
use btu_core::run::analysis::Analysis;
use btu_report::Finding;
use btu_report::OpenMode;
use btu_report::ResultFiles;
use btu_report::StoreError;
use btu_report::Stored;
use btu_report::Tier;
use btu_report::Verification;

use crate::exit::Exit;
use crate::exit::Failure;
use crate::output;
use crate::sign;

/// The result of a run as a user calls it, with what it means and who stands for it.
pub(crate) struct NamedRun {
    pub(crate) name: String,
    pub(crate) journal: Journal,
    pub(crate) analysis: Analysis,
    pub(crate) verification: Verification,
}

impl NamedRun {
    /// Opens `DIR`, `FILE`, or `NAME=` one of them.
    pub(crate) fn open(given: &str) -> Result<Self, Failure> {
        let (name, path) = named(given);
        let files = ResultFiles::read(&path).map_err(Failure::usage)?;
        if !files.is_run() {
            let cause = anyhow!("{}: not the result of btu run", path.display());
            return Err(Failure::usage(cause));
        }
        let opened =
            btu_report::open_files(&files, OpenMode::Strict).map_err(Failure::unreadable)?;
        crate::report::warn(&opened.warnings);
        let analysis = opened.analyse_without_packets();
        let verification = btu_report::verify(&files, &sign::signer).accepting_unsigned();
        Ok(Self { name, journal: opened.journal, analysis, verification })
    }

    /// True for another copy of the same measurement, bundled, redacted, changed by its host or not: the
    /// black boxes saw the same.
    pub(crate) fn is_measured_as(&self, other: &Self) -> bool {
        let (own, others) = (&self.journal, &other.journal);
        let measured = |journal: &Journal, role| accounts(role, &journal.records);
        own.plan.seed == others.plan.seed
            && BLACK_BOXES.into_iter().all(|role| measured(own, role) == measured(others, role))
    }

    /// By what a copy is preferred to another one: that it is what was measured, then who stands for it.
    pub(crate) fn worth(&self) -> (bool, Tier) {
        (self.verification.valid, self.verification.tier)
    }

    /// Why the result is not what was measured.
    pub(crate) fn altered(&self) -> Vec<String> {
        altered(&self.verification)
    }
}

/// The result of any verb as a user calls it, with who stands for it.
pub(crate) struct NamedResult {
    pub(crate) name: String,
    pub(crate) files: ResultFiles,
    pub(crate) stored: Box<dyn Stored>,
    pub(crate) verification: Verification,
}

impl NamedResult {
    /// Opens files that were read already.
    pub(crate) fn of(name: String, files: ResultFiles) -> Result<Self, StoreError> {
        let stored = files.open(OpenMode::Strict)?;
        let verification = btu_report::verify(&files, &sign::signer).accepting_unsigned();
        Ok(Self { name, files, stored, verification })
    }

    /// The text of its plan.
    pub(crate) fn plan(&self) -> &str {
        let plan = self.files.get(file::PLAN).unwrap_or_default();
        std::str::from_utf8(plan).unwrap_or_default()
    }

    /// Why the result is not what was measured.
    pub(crate) fn altered(&self) -> Vec<String> {
        altered(&self.verification)
    }
}

/// The files of `DIR`, `FILE`, or `NAME=` one of them, and how they are called.
pub(crate) fn read(given: &str) -> Result<(String, ResultFiles), Failure> {
    let (name, path) = named(given);
    Ok((name, ResultFiles::read(&path).map_err(Failure::usage)?))
}

/// Why a result is not what was measured; empty for a valid one, and for one that only did not come to its end.
fn altered(verification: &Verification) -> Vec<String> {
    let is_change = |one: &&Finding| one.rule != Finding::UNFINISHED;
    let found: Vec<&Finding> = verification.violations.iter().filter(is_change).collect();
    let line = |one: &&Finding| format!("altered: {}: {}", one.place, one.detail);
    let mut told: Vec<String> = found.iter().take(MOST_TOLD).map(line).collect();
    let more = found.len() - told.len();
    if more > 0 {
        told.push(format!("altered: {more} more places; btu verify names them"));
    }
    told
}

/// Opens all of them; names that are not unique become the whole path.
pub(crate) fn open_all(given: &[String]) -> Result<Vec<NamedRun>, Failure> {
    let mut runs: Vec<NamedRun> =
        given.iter().map(|one| NamedRun::open(one)).collect::<Result<_, _>>()?;
    let names: Vec<String> = runs.iter().map(|run| run.name.clone()).collect();
    for (run, given) in runs.iter_mut().zip(given) {
        if names.iter().filter(|name| **name == run.name).count() > 1 {
            run.name.clone_from(given);
        }
    }
    Ok(runs)
}

/// In which rules these results differ.
pub(crate) fn differing(runs: &[NamedRun]) -> Vec<Difference> {
    let settings: Vec<Setting> = runs.iter().map(|run| Setting::of(&run.journal)).collect();
    differences(&settings)
}

/// Each difference as a line: `preset: quick (a, b); official (c)`.
pub(crate) fn told(found: &[Difference], runs: &[NamedRun]) -> Vec<String> {
    let names = |who: &[usize]| {
        who.iter().map(|number| runs[*number].name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let value = |(value, who): &(String, Vec<usize>)| format!("{value} ({})", names(who));
    let line = |one: &Difference| {
        let values: Vec<String> = one.values.iter().map(value).collect();
        format!("{}: {}", one.field, values.join("; "))
    };
    found.iter().map(line).collect()
}

/// The end of a verb whose results are not comparable: every difference, and exit code 5.
pub(crate) fn not_comparable(found: &[Difference], runs: &[NamedRun]) -> Failure {
    let lines = told(found, runs);
    let text = format!("these results are not comparable:\n  {}", lines.join("\n  "));
    Failure { exit: Exit::Incomparable, cause: anyhow!(text), hint: None }
}

/// The same for programs.
pub(crate) fn not_comparable_json(found: &[Difference], runs: &[NamedRun]) -> Result<(), Failure> {
    let name = |number: &usize| runs[*number].name.clone();
    let value = |(value, who): &(String, Vec<usize>)| serde_json::json!({ "value": value, "results": who.iter().map(name).collect::<Vec<_>>() });
    let difference = |one: &Difference| {
        let values: Vec<_> = one.values.iter().map(value).collect();
        serde_json::json!({ "field": one.field, "values": values })
    };
    let all: Vec<_> = found.iter().map(difference).collect();
    output::json(&serde_json::json!({ "comparable": false, "differences": all }))
}

/// `NAME=PATH`, unless there is something of that very name; else the last part of the path.
fn named(given: &str) -> (String, PathBuf) {
    if let Some((name, path)) = given.split_once('=').filter(|_| !Path::new(given).exists())
        && !name.is_empty()
    {
        return (name.to_owned(), PathBuf::from(path));
    }
    let path = PathBuf::from(given);
    let last = if path.is_file() { path.file_stem() } else { path.file_name() };
    let name = last.map_or_else(|| given.to_owned(), |last| last.to_string_lossy().into_owned());
    (name, path)
}

const BLACK_BOXES: [Role; 2] = [Role::Active, Role::Passive];
/// After so many places the reader knows.
const MOST_TOLD: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_called_as_it_is_asked_to_or_as_its_last_part() {
        for (given, name, path) in [
            ("lab/before", "before", "lab/before"),
            ("lab/before/", "before", "lab/before/"),
            ("sparc=lab/x", "sparc", "lab/x"),
            ("=lab/x", "x", "=lab/x"),
            ("..", "..", ".."),
        ] {
            assert_eq!(named(given), (name.to_owned(), PathBuf::from(path)));
        }
    }
}
