//! The report on a mesh: who is slow, whether that was confirmed, and every pair in colours.

mod faults;
mod headline;
mod hosts;
mod map;
mod reading;
mod rows;
mod store;
mod suspects;
mod words;

use btu_core::mesh::Journal;
use btu_core::mesh::analysis::Analysis;

use crate::document::Block;
use crate::document::Document;
use crate::document::Level;
use crate::section::disclosed_hosts;
use crate::stored::Section;
use crate::stored::captioned;
use crate::stored::parts;

pub use store::StoredMesh;

pub(crate) use rows::csv_rows;
pub(crate) use store::KIND;
pub(crate) use words::suspect;

/// What a section writes about.
#[derive(Clone, Copy, Debug)]
struct Mesh<'a> {
    journal: &'a Journal,
    analysis: &'a Analysis,
}

/// A section: a pure function of a mesh.
type Compose = fn(&Mesh<'_>) -> Vec<Block>;

/// In reading order.
static MESH_SECTIONS: &[Section<Compose>] = &[
    Section::result(headline::compose),
    Section {
        name: "suspects",
        title: "What is slow",
        level: Level::Applications,
        compose: suspects::compose,
    },
    Section { name: "hosts", title: "Every host", level: Level::Cells, compose: hosts::compose },
    Section { name: "map", title: "Every pair", level: Level::Cells, compose: map::compose },
    Section::faults(faults::compose),
    Section::disclosure(|mesh| disclosed_hosts(&mesh.journal.hosts)),
    Section::repeat(repeat),
    Section::reading(reading::compose),
];

/// The report on a mesh, before it has a form.
pub fn compose_mesh(journal: &Journal, analysis: &Analysis) -> Document {
    let mesh = Mesh { journal, analysis };
    let hosts = format!("mesh of {} hosts", journal.plan.hosts.len());
    let document = Document {
        title: format!("BTU {hosts}"),
        caption: captioned(&hosts, &journal.events),
        sections: parts(MESH_SECTIONS, |compose: &Compose| compose(&mesh)),
    };
    document.cleaned()
}

fn repeat(mesh: &Mesh<'_>) -> Vec<Block> {
    vec![
        Block::paragraph(
            "The plan below is all that the measurement was given. From the host that is paired with the same agents:",
        ),
        Block::Code { text: "btu mesh --plan plan.toml".to_owned() },
        Block::details("plan.toml", vec![Block::Code { text: mesh.journal.plan.to_toml() }]),
    ]
}
