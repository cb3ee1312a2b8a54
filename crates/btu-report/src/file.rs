//! The report on a file service: the same documents and formats, with a section for each experiment.

mod charts;
mod experiments;
mod faults;
mod headline;
mod night;
mod reading;
mod repeat;
mod rows;
mod store;
mod trials;

use btu_core::file::Journal;
use btu_core::file::analysis::Analysis;
use btu_core::file::plan::Path;

use crate::document::Block;
use crate::document::Document;
use crate::document::Level;
use crate::document::Part;
use crate::result::host_line;
use crate::section::disclosed_hosts;
use crate::stored::Section;
use crate::stored::captioned;
use crate::stored::parts;

pub use store::StoredFile;

pub(crate) use rows::csv_rows;
pub(crate) use store::KIND;

/// What a section writes about.
#[derive(Clone, Copy, Debug)]
struct Seen<'a> {
    journal: &'a Journal,
    analysis: &'a Analysis,
}

/// A section: a pure function of what was seen.
type Compose = fn(&Seen<'_>) -> Vec<Block>;

/// Before the experiments.
static FIRST: &[Section<Compose>] = &[Section {
    name: "result",
    title: "Result",
    level: Level::Headline,
    compose: headline::compose,
}];

/// Behind them, in reading order.
static LAST: &[Section<Compose>] = &[
    Section { name: "night", title: "Night", level: Level::Applications, compose: night::compose },
    Section::faults(faults::compose),
    Section { name: "trials", title: "Every trial", level: Level::Cells, compose: trials::compose },
    Section::disclosure(|seen| disclosed_hosts(&seen.journal.hosts)),
    Section::repeat(repeat::compose),
    Section::reading(reading::compose),
];

/// The report on a file service, before it has a form.
pub fn compose_file(journal: &Journal, analysis: &Analysis) -> Document {
    let seen = Seen { journal, analysis };
    let of = |sections| parts(sections, |compose: &Compose| compose(&seen));
    let experiments = analysis.experiments.iter().map(experiments::part);
    let experiments = experiments.filter(|part: &Part| !part.blocks.is_empty());
    let document = Document {
        title: format!("BTU file service: {}", host_line(&journal.hosts)),
        caption: caption(journal),
        sections: of(FIRST).into_iter().chain(experiments).chain(of(LAST)).collect(),
    };
    document.cleaned()
}

/// What a picture must say of itself when it is cut out of its report.
fn caption(journal: &Journal) -> String {
    let what = format!("file service, {} | {}", path(journal), host_line(&journal.hosts));
    captioned(&what, &journal.events)
}

/// Between which hosts, in words.
fn path(journal: &Journal) -> String {
    let far = journal.plan.far();
    match journal.plan.path {
        Path::Direct => "direct link of the local testbed".to_owned(),
        Path::Loopback => "loopback of this machine".to_owned(),
        Path::Target => format!("from this machine to {far}, a server that somebody else runs"),
    }
}

/// What a server of others said of itself.
pub(crate) fn greeting(journal: &Journal) -> Option<&str> {
    let server = journal.hosts.hosts.get("active")?.get("server")?;
    server.get("greeting")?.value.as_ref()?.as_str()
}
