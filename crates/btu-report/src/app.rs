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

use crate::document::Block;
use crate::document::Document;
use crate::document::Level;
use crate::result::host_line;
use crate::stored::Section;
use crate::stored::captioned;
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
    Section::result(headline::compose),
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
    Section::faults(faults::compose),
    Section {
        name: "launches",
        title: "Every launch",
        level: Level::Cells,
        compose: launches::compose,
    },
    Section::disclosure(disclosure::compose),
    Section::repeat(disclosure::repeat),
    Section::reading(reading::compose),
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
    let class = journal.plan.class;
    let what = format!("class {class}, {} | {}", path(journal), host_line(&journal.hosts));
    captioned(&what, &journal.events)
}

/// Where the ranks are, in words.
fn path(journal: &Journal) -> &'static str {
    match journal.plan.path {
        Path::Direct => "two hosts of the local testbed, direct link",
        Path::Loopback => "this machine alone",
    }
}
