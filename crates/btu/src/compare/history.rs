//! The results of many nights: when did a figure change for good?

mod setting;

use std::path::Path;
use std::path::PathBuf;

use anyhow::Context;
use anyhow::anyhow;
use btu_core::comparison::history::Night;
use btu_core::comparison::history::courses;
use btu_core::comparison::history::new_turns;
use btu_core::comparison::is_named;
use btu_core::journal::EventRecord;
use btu_core::journal::file;
use btu_core::stats::ChangeRule;
use btu_report::HistoryDocument;
use btu_report::LeftOut;
use btu_report::ResultFiles;

use super::CompareArgs;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::stored::NamedResult;

use setting::HistorySetting;

/// Options of `btu compare --history`.
#[derive(Debug, clap::Args)]
pub(super) struct HistoryArgs {
    /// Compare all results below this directory that are like the newest, in the order of their start, and tell when a
    /// figure changed for good; --fail-if is asked of changes for the worse that the newest result shows first
    #[arg(long, value_name = "DIR", conflicts_with_all = ["before", "after", "force"])]
    pub(super) history: Option<PathBuf>,
    /// Look at this figure alone: 'btu', 'application.*.btu'; repeatable
    #[arg(long, value_name = "NAME", requires = "history")]
    metric: Vec<String>,
    /// Largest p value of a change [default: 0.0001]
    #[arg(long, value_name = "P", requires = "history", value_parser = p_value)]
    p: Option<f64>,
    /// Drop changes up to so many percent [default: 1]
    #[arg(long, value_name = "PERCENT", requires = "history", value_parser = percent)]
    magnitude: Option<f64>,
    /// Write the figures to this file as CSV that Apache Otava reads: time, result, one column per figure
    #[arg(long, value_name = "FILE", requires = "history")]
    otava: Option<PathBuf>,
}

/// Tells the history of the results below a folder.
pub(super) fn compare(args: &CompareArgs, folder: &Path) -> Result<Exit, Failure> {
    let Found { mut dated, mut left_out } = Found::below(folder)?;
    dated.sort_by(|a, b| (&a.at, &a.result.name).cmp(&(&b.at, &b.result.name)));
    let Some(newest) = dated.iter().rfind(|one| one.result.altered().is_empty()) else {
        let cause = anyhow!("{}: no result that can be compared{}", folder.display(), first(&left_out));
        return Err(Failure::usage(cause));
    };
    let (setting, last) = (HistorySetting::of(&newest.result), newest.at.clone());
    let mut nights = Vec::new();
    for one in &dated {
        match one.left_out(&setting) {
            Some(reason) => left_out.push(LeftOut { result: one.result.name.clone(), reason }),
            None => nights.push(one.night()),
        }
    }
    if !args.fail_if.is_empty() {
        refuse(&dated, &left_out, &last)?;
    }
    told(args, &setting, &nights, left_out)
}

/// Writes what the nights say.
fn told(
    args: &CompareArgs,
    setting: &HistorySetting,
    nights: &[Night],
    left_out: Vec<LeftOut>,
) -> Result<Exit, Failure> {
    let (asked, rule) = (&args.history.metric, args.history.rule());
    let is_asked =
        |figure: &str| asked.is_empty() || asked.iter().any(|name| is_named(name, figure));
    let legal = nights.last().map_or("", |night| night.by_round.legal);
    let courses = courses(nights, rule, is_asked);
    if courses.is_empty() {
        let cause = anyhow!("--metric {}: no such figure; write {legal}; * for any name", asked.join(" "));
        return Err(Failure::usage(cause));
    }
    let outcomes = args.judged(&new_turns(&courses, legal))?;
    let exit = super::exit(&outcomes);
    let document =
        HistoryDocument::of(setting.told(), rule, nights, &courses, left_out, outcomes);
    let render = |format: &str| document.render(format).map_err(Failure::usage);
    if let Some(file) = &args.history.otava {
        std::fs::write(file, render("csv")?)
            .with_context(|| format!("write {}", file.display()))
            .map_err(Failure::environment)?;
    }
    args.rendering.write(render)?;
    Ok(exit)
}

impl HistoryArgs {
    fn rule(&self) -> ChangeRule {
        let own = ChangeRule::default();
        let magnitude = self.magnitude.map_or(own.magnitude, |percent| percent / 100.0);
        ChangeRule { p: self.p.unwrap_or(own.p), magnitude, ..own }
    }
}

/// What lies below a folder.
#[derive(Default)]
struct Found {
    dated: Vec<Dated>,
    left_out: Vec<LeftOut>,
}

/// A result, and when it began.
struct Dated {
    at: String,
    result: NamedResult,
}

impl Found {
    fn below(folder: &Path) -> Result<Self, Failure> {
        let mut found = Self::default();
        for path in results(folder)? {
            let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
            match Dated::open(name.clone(), &path) {
                Ok(dated) => found.dated.push(dated),
                Err(reason) => found.left_out.push(LeftOut { result: name, reason }),
            }
        }
        Ok(found)
    }
}

impl Dated {
    fn open(name: String, path: &Path) -> Result<Self, String> {
        let unreadable =
            |error| format!("{UNREADABLE}{:#}", anyhow::Error::new(error));
        let files = ResultFiles::read(path).map_err(unreadable)?;
        let result = NamedResult::of(name, files).map_err(unreadable)?;
        let at = EventRecord::started_at(result.stored.events()).map(str::to_owned);
        let at = at.ok_or_else(|| "its journal does not say when it began".to_owned())?;
        Ok(Self { at, result })
    }

    /// Why it is no part of the history of this setting.
    fn left_out(&self, setting: &HistorySetting) -> Option<String> {
        let altered = self.result.altered().into_iter().next();
        altered.or_else(|| HistorySetting::of(&self.result).unlike(setting))
    }

    fn night(&self) -> Night {
        Night {
            name: self.result.name.clone(),
            started_at: self.at.clone(),
            hosts: self.result.stored.hosts().clone(),
            by_round: self.result.stored.by_round(),
        }
    }
}

/// A condition is about the newest result: where that may be one that cannot be judged, it has no answer.
fn refuse(dated: &[Dated], left_out: &[LeftOut], last: &str) -> Result<(), Failure> {
    let is_newer = |one: &&Dated| *one.at > *last && !one.result.altered().is_empty();
    let altered = dated.iter().find(is_newer).map(|one| {
        format!("{}: {}", one.result.name, one.result.altered().join("; "))
    });
    let unreadable = left_out.iter().find(|one| one.reason.starts_with(UNREADABLE));
    let unreadable = unreadable.map(|one| format!("{}: {}", one.result, one.reason));
    let Some(told) = altered.or(unreadable) else { return Ok(()) };
    let cause = anyhow!("the newest result may be one that no condition is asked of: {told}");
    let hint = "move it elsewhere; without --fail-if it is left out, and named";
    Err(Failure { exit: Exit::Incomparable, cause, hint: None }.hint(hint))
}

/// Every directory below one that holds a plan, and every bundle, in the order of their names.
fn results(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let listed = |folder: &Path| -> anyhow::Result<Vec<std::fs::DirEntry>> {
        let entries = std::fs::read_dir(folder).and_then(Iterator::collect);
        entries.with_context(|| format!("read {}", folder.display()))
    };
    let (mut ahead, mut found) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = ahead.pop() {
        if folder.join(file::PLAN).is_file() {
            found.push(folder);
            continue;
        }
        for entry in listed(&folder).map_err(Failure::usage)? {
            let path = entry.path();
            // A link may lead back to where it lies.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                ahead.push(path);
            } else if path.extension().is_some_and(|ending| ending == BUNDLE) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn first(left_out: &[LeftOut]) -> String {
    left_out.first().map_or_else(String::new, |one| format!("; {}: {}", one.result, one.reason))
}

fn p_value(text: &str) -> Result<f64, String> {
    let legal = |p: &f64| *p > 0.0 && *p < 1.0;
    text.parse().ok().filter(legal).ok_or_else(|| "write a number above 0 and below 1".to_owned())
}

fn percent(text: &str) -> Result<f64, String> {
    let legal = |percent: &f64| (0.0..1000.0).contains(percent);
    let text = text.trim().trim_end_matches('%').trim();
    text.parse().ok().filter(legal).ok_or_else(|| "write percent from 0 to 1000".to_owned())
}

/// How the reason of a result that cannot be read begins.
const UNREADABLE: &str = "unreadable: ";
/// The ending of a bundle.
const BUNDLE: &str = "btu";
