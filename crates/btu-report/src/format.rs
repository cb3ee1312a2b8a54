//! The forms of a report: to add one, write a file and name it in [`FORMATS`].

mod csv;
mod html;
mod json;
mod markdown;
mod text;

use std::fmt;

use btu_core::app;
use btu_core::file;
use btu_core::journal::Journal;
use btu_core::mesh;
use btu_core::pingpong;
use btu_core::run::analysis::Analysis;
use btu_core::traffic;

use crate::comparison::ComparisonDocument;
use crate::comparison::HistoryDocument;
use crate::comparison::PairedDocument;
use crate::document::Document;
use crate::ranking::Ranking;

pub use text::UNBROKEN_SPACE;
pub use text::hanging;
pub use text::hanging_whole;
pub use text::headline_text;

pub(crate) use html::page;
pub(crate) use text::blocks_as_text;

/// A form of a report.
///
/// A format is a pure function: the same run gives the same bytes on every machine. It escapes
/// whatever it shows, because texts come from other machines; control characters are already gone
/// from a [`Document`], but not from the journal.
pub trait Format: fmt::Debug + Sync {
    /// Name, as in `--format`.
    fn name(&self) -> &'static str;

    /// Ending of a file of this format, without the dot.
    fn extension(&self) -> &'static str;

    /// One line for lists.
    fn summary(&self) -> &'static str;

    /// True where it shows pictures: for others nobody has to prepare what would be drawn.
    fn draws(&self) -> bool {
        false
    }

    /// The report as the bytes of a file.
    fn render(&self, report: &Report<'_>) -> Vec<u8>;
}

/// What a format renders: some show the document, some what was measured itself.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// Composed for people.
    pub document: &'a Document,
    /// What it was composed of.
    pub content: Content<'a>,
}

/// What was measured and what it means, by verb.
#[derive(Clone, Copy, Debug)]
pub enum Content<'a> {
    /// Parallel applications.
    App {
        /// What was measured.
        journal: &'a app::journal::Journal,
        /// What it means.
        analysis: &'a app::analysis::Analysis,
    },
    /// Two results beside each other.
    Comparison(&'a ComparisonDocument),
    /// A file service.
    File {
        /// What was measured.
        journal: &'a file::Journal,
        /// What it means.
        analysis: &'a file::analysis::Analysis,
    },
    /// The results of many nights.
    History(&'a HistoryDocument),
    /// A mesh of hosts.
    Mesh {
        /// What was measured.
        journal: &'a mesh::Journal,
        /// What it means.
        analysis: &'a mesh::analysis::Analysis,
    },
    /// Two results of a verb with a plan of its own, beside each other.
    Paired(&'a PairedDocument),
    /// A ping-pong.
    PingPong {
        /// What was measured.
        journal: &'a pingpong::journal::Journal,
        /// What it means.
        analysis: &'a pingpong::analysis::Analysis,
    },
    /// Several results in their order.
    Ranking(&'a Ranking),
    /// A run.
    Run {
        /// What was measured.
        journal: &'a Journal,
        /// What it means.
        analysis: &'a Analysis,
    },
    /// Traffic.
    Traffic {
        /// What was measured.
        journal: &'a traffic::sample::Journal,
        /// What it means.
        analysis: &'a traffic::analysis::Analysis,
    },
}

/// Every format, the default first.
pub static FORMATS: &[&dyn Format] =
    &[&text::Text, &markdown::Markdown, &html::Html, &csv::Csv, &json::Json];

/// There is no format of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown format \"{name}\"; write {known}", known = known())]
pub struct UnknownFormat {
    /// What was asked for.
    pub name: String,
}

/// The report in the format of this name or file ending.
///
/// # Errors
/// There is no such format.
pub fn render(
    format: &str,
    document: &Document,
    journal: &Journal,
    analysis: &Analysis,
) -> Result<Vec<u8>, UnknownFormat> {
    render_content(format, document, Content::Run { journal, analysis })
}

/// The same, of whatever was measured.
///
/// # Errors
/// There is no such format.
pub fn render_content(
    format: &str,
    document: &Document,
    content: Content<'_>,
) -> Result<Vec<u8>, UnknownFormat> {
    Ok(named(format)?.render(&Report { document, content }))
}

/// The format of this name or file ending.
pub(crate) fn named(format: &str) -> Result<&'static dyn Format, UnknownFormat> {
    let found = FORMATS.iter().find(|f| f.name() == format || f.extension() == format);
    found.copied().ok_or_else(|| UnknownFormat { name: format.to_owned() })
}

fn known() -> String {
    FORMATS.iter().map(|format| format.name()).collect::<Vec<_>>().join(", ")
}

/// The parts as one text.
fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect()
}
