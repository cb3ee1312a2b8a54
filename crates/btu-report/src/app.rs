//! The report on parallel applications: the same documents and formats, with sections of its own.

mod checked;
mod disclosure;
mod faults;
mod headline;
mod launches;
mod reading;
mod rows;
mod store;
mod times;
mod traffic;
mod words;

use btu_core::app::analysis::Analysis;
use btu_core::app::journal::Journal;
use btu_core::app::plan::Path;
use btu_core::journal::EventRecord;

use crate::document::Block;
use crate::document::Document;
use crate::document::Level;
use crate::result::host_line;
use crate::stored::Section;
use crate::stored::parts;

pub use store::StoredApp;

pub(crate) use rows::csv_rows;
pub(crate) use store::KIND;
pub(crate) use words::undivided;

/// What a section writes about.
#[derive(Clone, Copy, Debug)]
struct Seen<'a> {
    journal: &'a Journal,
    analysis: &'a Analysis,
}

/// A section: a pure function of what was seen.
type Compose = fn(&Seen<'_>) -> Vec<Block>;

/// Every section, in reading order.
static SECTIONS: &[Section<Compose>] = &[
    Section { name: "result", title: "Result", level: Level::Headline, compose: headline::compose },
    Section {
        name: "times",
        title: "Times over each layer",
        level: Level::Applications,
        compose: times::compose,
    },
    Section {
        name: "traffic",
        title: "Message traffic",
        level: Level::Applications,
        compose: traffic::compose,
    },
    Section {
        name: "checked",
        title: "Verification",
        level: Level::Applications,
        compose: checked::compose,
    },
    Section {
        name: "faults",
        title: "What went wrong",
        level: Level::Abnormal,
        compose: faults::compose,
    },
    Section {
        name: "launches",
        title: "Every launch",
        level: Level::Cells,
        compose: launches::compose,
    },
    Section {
        name: "disclosure",
        title: "Disclosure",
        level: Level::Appendix,
        compose: disclosure::compose,
    },
    Section {
        name: "repeat",
        title: "How to repeat this",
        level: Level::Appendix,
        compose: disclosure::repeat,
    },
    Section {
        name: "reading",
        title: "How to read this report",
        level: Level::Appendix,
        compose: reading::compose,
    },
];

/// The report on parallel applications, before it has a form.
pub fn compose_app(journal: &Journal, analysis: &Analysis) -> Document {
    let seen = Seen { journal, analysis };
    let document = Document {
        title: format!("BTU applications: {}", host_line(&journal.hosts)),
        caption: caption(journal),
        sections: parts(SECTIONS, |compose| compose(&seen)),
    };
    document.cleaned()
}

/// What a picture must say of itself when it is cut out of its report.
fn caption(journal: &Journal) -> String {
    let when =
        EventRecord::started_at(&journal.events).map_or_else(String::new, |at| format!(" | {at}"));
    let class = journal.plan.class;
    format!("class {class}, {} | {}{when}", path(journal), host_line(&journal.hosts))
}

/// Where the ranks are, in words.
fn path(journal: &Journal) -> &'static str {
    match journal.plan.path {
        Path::Direct => "two hosts of the local testbed, direct link",
        Path::Loopback => "this machine alone",
    }
}
