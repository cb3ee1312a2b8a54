//! The report on a ping-pong: the same documents and formats, with sections of its own.

mod chasms;
mod checked;
mod costs;
mod curves;
mod disclosure;
mod faults;
mod graphs;
mod headline;
mod overlaid;
mod reading;
mod rows;
mod stops;
mod store;
mod waits;

use btu_core::pingpong::analysis::Analysis;
use btu_core::pingpong::journal::Journal;

use crate::document::Block;
use crate::document::Document;
use crate::document::Level;
use crate::result::host_line;
use crate::stored::Section;
use crate::stored::captioned;
use crate::stored::parts;

pub use store::StoredPingPong;

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

/// Every section, in reading order.
static SECTIONS: &[Section<Compose>] = &[
    Section::result(headline::compose),
    Section {
        name: "graphs",
        title: "Graphs",
        level: Level::Applications,
        compose: graphs::compose,
    },
    Section {
        name: "curves",
        title: "Curves",
        level: Level::Applications,
        compose: curves::compose,
    },
    Section {
        name: "chasms",
        title: "Chasms",
        level: Level::Applications,
        compose: chasms::compose,
    },
    Section {
        name: "waits",
        title: "Waiting and protocol",
        level: Level::Applications,
        compose: waits::compose,
    },
    Section {
        name: "costs",
        title: "What a layer costs",
        level: Level::Applications,
        compose: costs::compose,
    },
    Section {
        name: "checked",
        title: "Contents",
        level: Level::Applications,
        compose: checked::compose,
    },
    Section {
        name: "overlaid",
        title: "Curves from elsewhere",
        level: Level::Applications,
        compose: overlaid::compose,
    },
    Section::faults(faults::compose),
    Section {
        name: "points",
        title: "Every point",
        level: Level::Cells,
        compose: curves::every_point,
    },
    Section::disclosure(disclosure::compose),
    Section::repeat(disclosure::repeat),
    Section::reading(reading::compose),
];

/// The report on a ping-pong, before it has a form.
pub fn compose_pingpong(journal: &Journal, analysis: &Analysis) -> Document {
    let seen = Seen { journal, analysis };
    let document = Document {
        title: format!("BTU ping-pong: {}", host_line(&journal.hosts)),
        caption: caption(journal),
        sections: parts(SECTIONS, |compose| compose(&seen)),
    };
    document.cleaned()
}

/// What a picture must say of itself when it is cut out of its report.
fn caption(journal: &Journal) -> String {
    let what = format!("ping-pong, {} | {}", path(journal), host_line(&journal.hosts));
    captioned(&what, &journal.events)
}

/// Between which hosts, in words.
fn path(journal: &Journal) -> &'static str {
    use btu_core::pingpong::plan::Path;
    match journal.plan.path {
        Path::Direct => "direct link of the local testbed",
        Path::Loopback => "loopback of this machine",
        Path::Peer => "network between this host and a paired one",
    }
}
