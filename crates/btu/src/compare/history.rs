//! The results of many nights: when did a figure change for good?

mod setting;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
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
use btu_core::manifest::hash;
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
    dated.sort_by(|a, b| a.when().cmp(&b.when()));
    let Some(newest) = newest(&dated) else {
        let (folder, first) = (folder.display(), first(&left_out));
        return Err(Failure::usage(anyhow!("{folder}: no result that can be compared{first}")));
    };
    if !args.fail_if.is_empty() {
        refuse(&dated[newest + 1..], &left_out)?;
    }
    let setting = dated[newest].setting.clone();
    let (mut nights, mut known) = (Vec::new(), BTreeMap::new());
    for one in dated {
        match one.left_out(&setting).or_else(|| one.left_out_as_known(&mut known)) {
            Some(told) => left_out.push(told),
            None => nights.push(one.night),
        }
    }
    told(args, &setting, &nights, left_out)
}

/// The place of the result that says which history it is: one that was cut short has measured what it came to.
fn newest(dated: &[Dated]) -> Option<usize> {
    let is_sound = |one: &Dated| one.altered.is_none();
    let whole = dated.iter().rposition(|one| is_sound(one) && one.is_finished);
    whole.or_else(|| dated.iter().rposition(is_sound))
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
    let is_unknown = |name: &&String| !courses.iter().any(|one| is_named(name, &one.figure));
    if let Some(name) = asked.iter().find(is_unknown) {
        let cause = anyhow!("--metric {name}: no such figure; write {legal}; * for any name");
        return Err(Failure::usage(cause));
    }
    let outcomes = args.judged(&new_turns(&courses, legal))?;
    let exit = super::exit(&outcomes);
    let document = HistoryDocument::of(setting.told(), rule, nights, &courses, left_out, outcomes);
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

/// A result that says when it began, and nothing of it that is not needed: a thousand journals have no room.
struct Dated {
    night: Night,
    setting: HistorySetting,
    /// False where it was cut short.
    is_finished: bool,
    /// The hash of its samples.
    samples: String,
    /// Where it is not what was measured.
    altered: Option<String>,
}

impl Found {
    fn below(folder: &Path) -> Result<Self, Failure> {
        let mut found = Self::default();
        for path in results(folder)? {
            let below = path.strip_prefix(folder).ok().filter(|name| name.file_name().is_some());
            let name = below.unwrap_or(&path).display().to_string();
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
        let unreadable = |error| format!("{UNREADABLE}{:#}", anyhow::Error::new(error));
        let files = ResultFiles::read(path).map_err(unreadable)?;
        let result = NamedResult::of(name.clone(), files).map_err(unreadable)?;
        let started_at = EventRecord::started_at(result.stored.events()).map(str::to_owned);
        let started_at =
            started_at.ok_or_else(|| "its journal does not say when it began".to_owned())?;
        let (hosts, by_round) = (result.stored.hosts().clone(), result.stored.by_round());
        Ok(Self {
            setting: HistorySetting::of(&result, &by_round),
            is_finished: EventRecord::finished_at(result.stored.events()).is_some(),
            samples: hash(result.files.get(file::SAMPLES).unwrap_or_default()),
            altered: result.altered().into_iter().next(),
            night: Night { name, started_at, hosts, by_round },
        })
    }

    /// Its place in the order of results.
    fn when(&self) -> (&str, &str) {
        (&self.night.started_at, &self.night.name)
    }

    /// Why it is no part of the history of this setting.
    fn left_out(&self, setting: &HistorySetting) -> Option<LeftOut> {
        let reason = self.altered.clone().or_else(|| self.setting.unlike(setting))?;
        Some(LeftOut { result: self.night.name.clone(), reason })
    }

    /// The same for one that is there already, as a bundle beside its directory is: a night counts once.
    fn left_out_as_known(&self, known: &mut BTreeMap<[String; 2], String>) -> Option<LeftOut> {
        let Night { name, started_at, .. } = &self.night;
        match known.entry([started_at.clone(), self.samples.clone()]) {
            Entry::Vacant(place) => {
                place.insert(name.clone());
                None
            }
            Entry::Occupied(first) => {
                let reason = format!("the same measurement as {}", first.get());
                Some(LeftOut { result: name.clone(), reason })
            }
        }
    }
}

/// A condition is about the newest result: where that may be one that cannot be judged, it has no answer.
fn refuse(altered: &[Dated], left_out: &[LeftOut]) -> Result<(), Failure> {
    let altered = altered.iter().find_map(|one| Some((&one.night.name, one.altered.as_ref()?)));
    let mut unreadable = left_out.iter().filter(|one| one.reason.starts_with(UNREADABLE));
    let unreadable = || unreadable.next().map(|one| (&one.result, &one.reason));
    let Some((name, why)) = altered.or_else(unreadable) else { return Ok(()) };
    let cause =
        anyhow!("the newest result may be one that no condition is asked of: {name}: {why}");
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
