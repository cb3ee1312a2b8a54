//! The sections of a report, in reading order: to add one, write a file and name it in [`SECTIONS`].

mod anomalies;
mod applications;
mod diagnosis;
mod disclosure;
mod emulation;
mod headline;
mod heatmap;
mod reading;
mod repeat;
mod tables;

use std::fmt;

use btu_core::journal::EventRecord;
use btu_core::journal::Journal;
use btu_core::run::analysis::Analysis;
use btu_core::run::analysis::Omitted;
use btu_core::run::analysis::SecondRun;

use crate::document::Block;
use crate::document::Document;
use crate::document::Level;
use crate::document::Part;
use crate::format::Content;
use crate::format::Report;
use crate::format::UnknownFormat;
use crate::format::named;
use crate::result::host_line;

pub(crate) use diagnosis::details as chart_details;
pub(crate) use disclosure::disclosed_hosts;
pub(crate) use headline::DISTURBED;
pub(crate) use headline::badges;
pub(crate) use headline::is_disturbed;

/// A section of the report.
///
/// A section is a pure function of a run: it reads no file and no clock, and gives the same blocks
/// for the same run. It writes what it knows in plain words; what a format may not show is the
/// format's own matter. It may meet a run without any cell: then it says so or gives no blocks.
pub trait Section: fmt::Debug + Sync {
    /// Stable name, usable as an anchor.
    fn name(&self) -> &'static str;

    /// Heading.
    fn title(&self) -> &'static str;

    /// Depth of detail.
    fn level(&self) -> Level;

    /// The content; without any block the section is left out.
    fn compose(&self, run: &Run<'_>) -> Vec<Block>;
}

/// What a section writes about.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// What was measured.
    pub journal: &'a Journal,
    /// What it means.
    pub analysis: &'a Analysis,
    /// What becomes of pictures.
    pub pictures: Pictures,
}

/// What becomes of pictures that take long to prepare. Their words and tables are there in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pictures {
    /// They are drawn.
    Drawn,
    /// Nobody will see them.
    LeftOut,
}

/// Every section, in reading order.
pub static SECTIONS: &[&dyn Section] = &[
    &headline::Headline,
    &applications::Applications,
    &heatmap::Heatmaps,
    &tables::Tables,
    &anomalies::Anomalies,
    &diagnosis::Diagnoses,
    &emulation::Emulation,
    &disclosure::Disclosed,
    &repeat::Repeat,
    &reading::Reading,
];

/// Second runs, as `btu explain DIR CELL` shows them, and what was due for one and has none.
pub fn compose_second_runs(
    journal: &Journal,
    runs: &[&SecondRun],
    omitted: &[Omitted],
) -> Document {
    let mut blocks = diagnosis::omitted::blocks(omitted);
    blocks.extend(diagnosis::every(runs, Pictures::Drawn));
    let (name, title, level) = ("diagnosis", "Diagnosis", Level::Headline);
    let part = Part { name, title, level, blocks };
    let (title, caption) = ("BTU explain: second runs".to_owned(), caption(journal));
    Document { title, caption, sections: vec![part] }.cleaned()
}

/// The report on a run in the format of this name or file ending.
///
/// # Errors
/// There is no such format.
pub fn render_run(
    format: &str,
    journal: &Journal,
    analysis: &Analysis,
) -> Result<Vec<u8>, UnknownFormat> {
    let found = named(format)?;
    let pictures = if found.draws() { Pictures::Drawn } else { Pictures::LeftOut };
    let document = &composed(journal, analysis, pictures);
    Ok(found.render(&Report { document, content: Content::Run { journal, analysis } }))
}

/// The report on a run, before it has a form.
pub fn compose(journal: &Journal, analysis: &Analysis) -> Document {
    composed(journal, analysis, Pictures::Drawn)
}

/// The same for a form that shows no pictures.
pub fn compose_words(journal: &Journal, analysis: &Analysis) -> Document {
    composed(journal, analysis, Pictures::LeftOut)
}

fn composed(journal: &Journal, analysis: &Analysis, pictures: Pictures) -> Document {
    let run = Run { journal, analysis, pictures };
    let sections = SECTIONS.iter().map(|section| part(*section, &run));
    let document = Document {
        title: format!("BTU report: {}", host_line(&journal.hosts)),
        caption: caption(journal),
        sections: sections.filter(|part| !part.blocks.is_empty()).collect(),
    };
    document.cleaned()
}

fn part(section: &dyn Section, run: &Run<'_>) -> Part {
    Part {
        name: section.name(),
        title: section.title(),
        level: section.level(),
        blocks: section.compose(run),
    }
}

/// What a picture must say of itself when it is cut out of its report.
fn caption(journal: &Journal) -> String {
    let plan = &journal.plan;
    let hash: String = plan.edition_hash.chars().take(12).collect();
    let when =
        EventRecord::started_at(&journal.events).map_or_else(String::new, |at| format!(" | {at}"));
    format!(
        "{} {} ({hash}) | testbed {} | {}{when}",
        plan.edition,
        plan.preset,
        plan.testbed_class,
        host_line(&journal.hosts)
    )
}
