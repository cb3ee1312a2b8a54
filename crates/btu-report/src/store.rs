//! A result's directory, read back into a journal.

mod doubled;

use std::path::Path;
use std::path::PathBuf;

use btu_core::disclosure::Disclosure;
use btu_core::journal::EventRecord;
use btu_core::journal::Journal;
use btu_core::journal::codec;
use btu_core::journal::codec::CorruptedLine;
use btu_core::journal::codec::Lines;
use btu_core::journal::codec::StoredLine;
use btu_core::journal::file;
use btu_core::run::analysis::Analysis;
use btu_core::run::analysis::RunAgain;
use btu_core::run::analysis::analyse;
use btu_core::run::plan::Plan;
use btu_core::run::plan::PlanError;
use btu_core::sample::Flag;
use btu_core::verb;

use crate::bundle::BundleError;
use crate::captures::Captures;
use crate::files::ResultFiles;

/// What to do about a line that cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OpenMode {
    /// Keep every line that can be read; the result is then not rankable.
    Salvage,
    /// Refuse the journal, naming the line.
    #[default]
    Strict,
}

/// A journal, and what a reader must know of its files.
#[derive(Clone, Debug, PartialEq)]
pub struct Opened {
    /// The journal.
    pub journal: Journal,
    /// What did not stop the reading: a torn last line, lines left out, runs that stand there twice.
    pub warnings: Vec<Flag>,
    /// True where lines were left out.
    pub salvaged: bool,
    /// Where it was read from.
    pub directory: PathBuf,
}

/// A result cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file is no bundle, or a damaged one.
    #[error("{}", path.display())]
    Bundle {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: BundleError,
    },
    /// A line in the middle is damaged.
    #[error("{}", directory.display())]
    Corrupted {
        /// The result.
        directory: PathBuf,
        /// Which line, and what follows it.
        source: CorruptedLine,
    },
    /// `hosts.json` is not what it should be.
    #[error("parse {}", path.display())]
    Hosts {
        /// The file.
        path: PathBuf,
        /// Where, and what is wrong.
        source: serde_json::Error,
    },
    /// The directory holds no result.
    #[error("{}: not a result: it has no plan.toml", directory.display())]
    NoResult {
        /// What was given.
        directory: PathBuf,
    },
    /// `plan.toml` is not what it should be.
    #[error("{}", directory.display())]
    Plan {
        /// The result.
        directory: PathBuf,
        /// Which value.
        source: PlanError,
    },
    /// A file cannot be read.
    #[error("read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// `plan.toml` of a verb with a plan of its own is not what it should be.
    #[error("{}", directory.display())]
    VerbPlan {
        /// The result.
        directory: PathBuf,
        /// Which value.
        source: verb::PlanError,
    },
}

/// Reads the result in `directory`, or in a bundle.
///
/// # Errors
/// A file is missing, unreadable or damaged; in [`OpenMode::Salvage`] damaged lines are left out.
pub fn open(directory: &Path, mode: OpenMode) -> Result<Opened, StoreError> {
    open_files(&ResultFiles::read(directory)?, mode)
}

/// The same of files that were read already.
///
/// # Errors
/// As [`open`].
pub fn open_files(files: &ResultFiles, mode: OpenMode) -> Result<Opened, StoreError> {
    let mut read = ReadLines::of(files, mode)?;
    read.warnings.extend(doubled::warnings(&read.samples));
    let (plan, hosts) = (plan(files)?, hosts(files)?);
    Ok(Opened {
        directory: files.origin().to_owned(),
        warnings: read.warnings,
        salvaged: read.salvaged,
        journal: Journal { plan, hosts, records: read.samples, events: read.events },
    })
}

/// A journal of a verb with a plan of its own, and what a reader must know of its files.
pub(crate) struct ReadVerb<P, L> {
    pub(crate) journal: verb::Journal<P, L>,
    pub(crate) warnings: Vec<Flag>,
    pub(crate) salvaged: bool,
}

/// Reads the journal of a verb; `stored` reads its plan.
pub(crate) fn read_verb<P, L: StoredLine>(
    files: &ResultFiles,
    mode: OpenMode,
    stored: impl Fn(&str, &str) -> Result<P, verb::PlanError>,
) -> Result<ReadVerb<P, L>, StoreError> {
    let read = ReadLines::of(files, mode)?;
    let plan = stored(file::PLAN, files.text(file::PLAN)?)
        .map_err(|source| StoreError::VerbPlan { directory: files.origin().to_owned(), source })?;
    let hosts = hosts(files)?;
    let journal = verb::Journal { plan, hosts, lines: read.samples, events: read.events };
    Ok(ReadVerb { journal, warnings: read.warnings, salvaged: read.salvaged })
}

/// The lines of both files of a journal.
struct ReadLines<L> {
    samples: Vec<L>,
    events: Vec<EventRecord>,
    warnings: Vec<Flag>,
    /// True where lines were left out.
    salvaged: bool,
}

impl<L: StoredLine> ReadLines<L> {
    fn of(files: &ResultFiles, mode: OpenMode) -> Result<Self, StoreError> {
        let samples = lines(files, file::SAMPLES, mode)?;
        let events = lines(files, file::EVENTS, mode)?;
        let mut warnings = warnings_of(file::SAMPLES, &samples);
        warnings.extend(warnings_of(file::EVENTS, &events));
        let salvaged = !samples.unreadable.is_empty() || !events.unreadable.is_empty();
        Ok(Self { samples: samples.records, events: events.records, warnings, salvaged })
    }
}

impl Opened {
    /// What the journal means, with the packets of the second runs that are still there.
    pub fn analyse(&self, captures: Captures) -> Analysis {
        let second_runs = captures.second_runs(&self.directory, &RunAgain::of(&self.journal));
        Analysis { second_runs, ..self.analyse_without_packets() }
    }

    /// What the journal alone means, as in a bundle: packets never leave their host.
    ///
    /// What did not stop the reading is said of the run, and what was salvaged is never ranked.
    pub fn analyse_without_packets(&self) -> Analysis {
        let mut analysis = analyse(&self.journal);
        analysis.warnings.extend(self.warnings.iter().cloned());
        if self.salvaged {
            let reason = "the journal is damaged; lines are missing".to_owned();
            analysis.not_rankable_reasons.push(reason);
        }
        analysis
    }
}

fn plan(files: &ResultFiles) -> Result<Plan, StoreError> {
    Plan::stored(file::PLAN, files.text(file::PLAN)?)
        .map_err(|source| StoreError::Plan { directory: files.origin().to_owned(), source })
}

pub(crate) fn hosts(files: &ResultFiles) -> Result<Disclosure, StoreError> {
    let path = files.origin().join(file::HOSTS);
    let text = files.text(file::HOSTS)?;
    serde_json::from_str(text).map_err(|source| StoreError::Hosts { path, source })
}

fn lines<R: StoredLine>(
    files: &ResultFiles,
    file: &str,
    mode: OpenMode,
) -> Result<Lines<R>, StoreError> {
    let bytes = files.required(file)?;
    match mode {
        OpenMode::Salvage => Ok(codec::salvage(bytes)),
        OpenMode::Strict => codec::read(file, bytes).map_err(|source| StoreError::Corrupted {
            directory: files.origin().to_owned(),
            source,
        }),
    }
}

fn warnings_of<R>(file: &str, lines: &Lines<R>) -> Vec<Flag> {
    let torn = lines.torn.as_ref().map(|torn| {
        let (number, length) = (torn.number, torn.bytes.len());
        Flag::new("torn-line", format!("{file}:{number}: torn last line ({length} bytes) left out"))
    });
    let unreadable = lines.unreadable.iter().map(|number| {
        Flag::new("unreadable-line", format!("{file}:{number}: cannot be read, left out"))
    });
    torn.into_iter().chain(unreadable).collect()
}
