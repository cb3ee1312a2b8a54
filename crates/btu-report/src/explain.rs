//! What a capture tells: its connections, what was found, and why it was slow.
//!
//! [`explain`] puts a capture's analysis and its diagnoses together, [`compose_explained`] makes the
//! document, a [format](crate::Format) gives it a form; [`xplot`] writes one direction for `xplot`.

mod connections;
mod json;
mod reading;
pub(crate) mod sequence;
mod waits;
mod xplot;

use btu_core::diagnosis::Diagnosis;
use btu_core::diagnosis::Evidence;
use btu_core::diagnosis::diagnose;
use btu_core::tcp::Analysis;
use btu_core::tcp::Connection;

use crate::document::Block;
use crate::document::Document;
use crate::document::Level;
use crate::document::Part;

pub use xplot::xplot;

/// A capture with what was concluded from it.
#[derive(Clone, Debug)]
pub struct Explained<'a> {
    /// What the reader calls it: the name of its file.
    pub name: String,
    /// Its connections.
    pub analysis: &'a Analysis,
    /// The diagnoses of each connection, the strongest first.
    pub diagnoses: Vec<Vec<Diagnosis>>,
    /// Places of the connections to show in full, those with most payload first.
    pub shown: Vec<usize>,
    /// Places of those that were asked for, in order of their begin.
    pub wanted: Vec<usize>,
}

impl Explained<'_> {
    /// This connection alone; it keeps its number.
    #[must_use]
    pub fn only(mut self, place: usize) -> Self {
        (self.shown, self.wanted) = (vec![place], vec![place]);
        self
    }
}

/// Diagnoses every connection; `evidence` is what is known beside the capture. At most `most`
/// connections are shown in full: those with most payload.
pub fn explain<'a>(
    name: impl Into<String>,
    analysis: &'a Analysis,
    evidence: &Evidence,
    most: usize,
) -> Explained<'a> {
    let lost_packets = evidence.lost_packets.max(analysis.missing.scattered());
    let evidence = &Evidence { lost_packets, ..evidence.clone() };
    let diagnoses = analysis.connections.iter().map(|one| diagnose(one, evidence)).collect();
    let mut shown: Vec<usize> = (0..analysis.connections.len()).collect();
    shown.sort_by_key(|place| std::cmp::Reverse(payload(&analysis.connections[*place])));
    shown.truncate(most);
    let wanted = (0..analysis.connections.len()).collect();
    Explained { name: name.into(), analysis, diagnoses, shown, wanted }
}

fn payload(connection: &Connection) -> u64 {
    connection.up.counts.payload_bytes + connection.down.counts.payload_bytes
}

/// The document: diagnoses, connections, findings, evidence, charts.
pub fn compose_explained(explained: &Explained<'_>) -> Document {
    let parts: [(&str, &str, Level, Vec<Block>); 6] = [
        ("diagnosis", "Diagnosis", Level::Headline, connections::diagnoses(explained)),
        ("connections", "Connections", Level::Applications, connections::table(explained)),
        ("findings", "Findings", Level::Applications, waits::findings(explained)),
        ("waits", "What senders waited for", Level::Applications, waits::waits(explained)),
        ("sequence", "Time sequence", Level::Abnormal, sequence::charts(explained)),
        ("reading", "How to read this", Level::Appendix, reading::blocks()),
    ];
    let part = |(name, title, level, blocks)| Part { name, title, level, blocks };
    let sections = parts.map(part).into_iter().filter(|part| !part.blocks.is_empty()).collect();
    let document = Document {
        title: format!("BTU explain: {}", explained.name),
        caption: format!("capture {}", explained.name),
        sections,
    };
    document.cleaned()
}

/// The charts and diagnoses of a capture, for the report of a run.
pub fn explained_blocks(explained: &Explained<'_>) -> Vec<Block> {
    let mut blocks = connections::diagnoses(explained);
    blocks.extend(waits::findings(explained));
    blocks.extend(sequence::charts(explained));
    blocks
}

/// For terminals.
pub fn explained_text(document: &Document) -> String {
    let told = document.sections.iter().filter(|part| part.level != Level::Appendix);
    let texts = told.filter_map(|part| {
        let brief = part.blocks.iter().filter(|block| !block.is_picture()).cloned();
        let body = crate::format::blocks_as_text(&brief.collect::<Vec<_>>());
        (!body.is_empty())
            .then(|| format!("{}\n{}\n\n{body}", part.title, "=".repeat(part.title.len())))
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// One page for a browser.
pub fn explained_html(document: &Document) -> Vec<u8> {
    crate::format::page(document)
}

/// One JSON document.
pub fn explained_json(explained: &Explained<'_>) -> serde_json::Value {
    json::document(explained)
}
