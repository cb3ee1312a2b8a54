//! Results of every verb: to add one, implement [`Stored`] and name its kind in [`KINDS`].

use std::fmt;

use btu_core::comparison::series::ByRound;
use btu_core::disclosure::Disclosure;
use btu_core::journal::EventRecord;
use btu_core::journal::Journal;
use btu_core::journal::file::PLAN;
use btu_core::run::analysis::Analysis;
use btu_core::sample::Flag;

use crate::app;
use crate::captures;
use crate::captures::Captures;
use crate::document::Block;
use crate::document::Document;
use crate::document::Level;
use crate::document::Part;
use crate::file;
use crate::files::ResultFiles;
use crate::format::Content;
use crate::format::UnknownFormat;
use crate::format::blocks_as_text;
use crate::format::headline_text;
use crate::format::render_content;
use crate::mesh;
use crate::pingpong;
use crate::store::OpenMode;
use crate::store::StoreError;
use crate::store::open_files;
use crate::traffic;

/// A result that was read back and judged.
///
/// It gives the same document and the same figures for the same files, whoever asks: `btu report`
/// shows them, `btu redact` writes them without names, `btu verify` compares them with the stored ones.
pub trait Stored: fmt::Debug {
    /// What did not stop the reading: a torn last line, lines left out.
    fn warnings(&self) -> &[Flag];

    /// How many samples the journal holds.
    fn samples(&self) -> usize;

    /// The report, before it has a form.
    fn document(&self) -> Document;

    /// What was measured and what it means.
    fn content(&self) -> Content<'_>;

    /// The content of `result.json`.
    ///
    /// # Errors
    /// A figure has no form in JSON.
    fn figures(&self) -> serde_json::Result<serde_json::Value>;

    /// Its figures with a value of every round, by which results of one verb are compared.
    fn by_round(&self) -> ByRound;

    /// What was disclosed of its hosts.
    fn hosts(&self) -> &Disclosure;

    /// The life of the measurement.
    fn events(&self) -> &[EventRecord];

    /// Files for its directory that spare the next report the packets: their names and contents.
    fn extracts(&self) -> Vec<(String, Vec<u8>)> {
        Vec::new()
    }

    /// The report in the format of this name or file ending.
    ///
    /// # Errors
    /// There is no such format.
    fn render(&self, format: &str) -> Result<Vec<u8>, UnknownFormat> {
        render_content(format, &self.document(), self.content())
    }

    /// What a terminal shows at the end of a measurement.
    fn brief(&self) -> String {
        brief_text(&self.document())
    }
}

/// A verb that leaves results.
#[derive(Debug)]
pub struct Kind {
    /// Its name.
    pub verb: &'static str,
    /// True for the text of its `plan.toml`, whole or damaged.
    pub(crate) is_in: fn(&str) -> bool,
    pub(crate) open: Open,
}

type Open = fn(&ResultFiles, OpenMode) -> Result<Box<dyn Stored>, StoreError>;

/// Every verb that leaves results; the last one takes what no other knows.
static KINDS: &[Kind] = &[app::KIND, file::KIND, mesh::KIND, pingpong::KIND, traffic::KIND, RUN];

/// The main job's.
const RUN: Kind = Kind {
    verb: "run",
    is_in: |_| true,
    open: |files, mode| Ok(Box::new(StoredRun::open(files, mode)?)),
};

impl ResultFiles {
    /// Which verb left them.
    pub fn kind(&self) -> &'static Kind {
        let plan = self.text(PLAN).unwrap_or_default();
        KINDS.iter().find(|kind| (kind.is_in)(plan)).unwrap_or(&RUN)
    }

    /// True for what `btu run` left.
    pub fn is_run(&self) -> bool {
        self.kind().verb == RUN.verb
    }

    /// The result in them, whatever verb left it.
    ///
    /// # Errors
    /// A file is missing, unreadable or damaged; in [`OpenMode::Salvage`] damaged lines are left out.
    pub fn open(&self, mode: OpenMode) -> Result<Box<dyn Stored>, StoreError> {
        (self.kind().open)(self, mode)
    }
}

/// The result of a run, with the packets of its second runs where they are still there.
#[derive(Clone, Debug)]
pub struct StoredRun {
    /// What was measured.
    pub journal: Journal,
    /// What it means.
    pub analysis: Analysis,
    warnings: Vec<Flag>,
}

impl StoredRun {
    /// Reads the files of a result.
    ///
    /// # Errors
    /// A file is missing, unreadable or damaged; in [`OpenMode::Salvage`] damaged lines are left out.
    pub fn open(files: &ResultFiles, mode: OpenMode) -> Result<Self, StoreError> {
        let opened = open_files(files, mode)?;
        let analysis = opened.analyse(Captures::Extracted);
        Ok(Self { journal: opened.journal, analysis, warnings: opened.warnings })
    }
}

impl Stored for StoredRun {
    fn warnings(&self) -> &[Flag] {
        &self.warnings
    }

    fn samples(&self) -> usize {
        self.journal.records.len()
    }

    fn document(&self) -> Document {
        crate::section::compose(&self.journal, &self.analysis)
    }

    fn render(&self, format: &str) -> Result<Vec<u8>, UnknownFormat> {
        crate::section::render_run(format, &self.journal, &self.analysis)
    }

    fn content(&self) -> Content<'_> {
        Content::Run { journal: &self.journal, analysis: &self.analysis }
    }

    fn figures(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::to_value(crate::result::result(&self.journal, &self.analysis))
    }

    fn by_round(&self) -> ByRound {
        ByRound::of_run(&self.analysis)
    }

    fn hosts(&self) -> &Disclosure {
        &self.journal.hosts
    }

    fn events(&self) -> &[EventRecord] {
        &self.journal.events
    }

    fn extracts(&self) -> Vec<(String, Vec<u8>)> {
        captures::extracts(&self.journal, &self.analysis.second_runs)
    }

    /// Levels 1 and 2 without pictures.
    fn brief(&self) -> String {
        headline_text(&crate::section::compose_words(&self.journal, &self.analysis))
    }
}

/// A section of a verb's own report; `F` makes its blocks, and without any block it is left out.
pub(crate) struct Section<F> {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) level: Level,
    pub(crate) compose: F,
}

/// Those that every report has, each under one name.
impl<F> Section<F> {
    pub(crate) const fn result(compose: F) -> Self {
        Self { name: "result", title: "Result", level: Level::Headline, compose }
    }

    pub(crate) const fn faults(compose: F) -> Self {
        Self { name: "faults", title: "What went wrong", level: Level::Abnormal, compose }
    }

    pub(crate) const fn disclosure(compose: F) -> Self {
        Self { name: "disclosure", title: "Disclosure", level: Level::Appendix, compose }
    }

    pub(crate) const fn repeat(compose: F) -> Self {
        Self { name: "repeat", title: "How to repeat this", level: Level::Appendix, compose }
    }

    pub(crate) const fn reading(compose: F) -> Self {
        Self { name: "reading", title: "How to read this report", level: Level::Appendix, compose }
    }
}

/// What a picture must say of itself when it is cut out of its report: what it is of, and when that began.
pub(crate) fn captioned(what: &str, events: &[EventRecord]) -> String {
    match EventRecord::started_at(events) {
        Some(at) => format!("{what} | {at}"),
        None => what.to_owned(),
    }
}

/// The sections that have something to say.
pub(crate) fn parts<F>(sections: &[Section<F>], compose: impl Fn(&F) -> Vec<Block>) -> Vec<Part> {
    let part = |section: &Section<F>| Part {
        name: section.name,
        title: section.title,
        level: section.level,
        blocks: compose(&section.compose),
    };
    sections.iter().map(part).filter(|part| !part.blocks.is_empty()).collect()
}

/// Everything of a document but pictures, details, cells and appendices.
pub fn brief_text(document: &Document) -> String {
    let told = |part: &&Part| part.level <= Level::Applications || part.level == Level::Abnormal;
    let brief = |block: &&Block| !matches!(block, Block::Details { .. }) && !block.is_picture();
    let text = |part: &Part| {
        let blocks: Vec<Block> = part.blocks.iter().filter(brief).cloned().collect();
        blocks_as_text(&blocks)
    };
    let parts: Vec<String> = document.sections.iter().filter(told).map(text).collect();
    parts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}
