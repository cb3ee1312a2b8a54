//! The report on traffic: the same documents and formats, with sections of its own.

mod calls;
mod cells;
mod clocks;
mod disclosure;
pub(crate) mod faults;
mod figures;
mod flows;
mod generator;
mod headline;
mod method;
mod paper;
pub(crate) mod path_mtu;
mod qos;
mod reading;
mod rows;
mod store;
pub(crate) mod unverified;

use btu_core::role::Role;
use btu_core::traffic::analysis::Analysis;
use btu_core::traffic::plan::Study;
use btu_core::traffic::sample::Journal;

use crate::document::Block;
use crate::document::Document;
use crate::document::Level;
use crate::result::host_line;
use crate::stored::Section;
use crate::stored::captioned;
use crate::stored::parts;

pub use store::StoredTraffic;

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
        name: "method",
        title: "Standard method",
        level: Level::Applications,
        compose: method::compose,
    },
    Section {
        name: "figures",
        title: "Figures",
        level: Level::Applications,
        compose: figures::compose,
    },
    Section {
        name: "quality",
        title: "Quality of service",
        level: Level::Applications,
        compose: qos::compose,
    },
    Section {
        name: "paper",
        title: "Beside the paper",
        level: Level::Applications,
        compose: paper::compose,
    },
    Section { name: "cells", title: "Cells", level: Level::Applications, compose: cells::compose },
    Section { name: "flows", title: "Flows", level: Level::Applications, compose: flows::compose },
    Section {
        name: "generator",
        title: "The generator's own error",
        level: Level::Applications,
        compose: generator::compose,
    },
    Section::faults(faults::compose),
    Section::disclosure(disclosure::compose),
    Section::repeat(disclosure::repeat),
    Section::reading(reading::compose),
];

/// The report on traffic, before it has a form.
pub fn compose_traffic(journal: &Journal, analysis: &Analysis) -> Document {
    let seen = Seen { journal, analysis };
    let document = Document {
        title: format!("BTU traffic: {}", host_line(&journal.hosts)),
        caption: captioned(&format!("{}, {}", study(journal), path(journal)), &journal.events),
        sections: parts(SECTIONS, |compose| compose(&seen)),
    };
    document.cleaned()
}

/// What the plan is for, in words.
fn study(journal: &Journal) -> &'static str {
    match journal.plan.study {
        Study::Method => "a standard method",
        Study::Qos => "quality of service",
        Study::Scenario => "traffic of a scenario",
        Study::Sweep => "traffic sweep",
        Study::Viseum => "the measurements of napier",
    }
}

/// Between which hosts, in words.
fn path(journal: &Journal) -> String {
    let agents = &journal.plan.agents;
    let far: Vec<&str> =
        Role::ALL[1..].iter().filter_map(|role| agents.get(role)).map(String::as_str).collect();
    if !far.is_empty() {
        let near = agents.get(&Role::Test).map_or("this host", String::as_str);
        return format!("between {near} and {}", far.join(" and "));
    }
    match &journal.plan.link {
        None => "direct link of the local testbed".to_owned(),
        Some(link) => {
            let list = |elements: &[String]| {
                if elements.is_empty() { "nothing".to_owned() } else { elements.join(", ") }
            };
            format!("emulated link, up: {}; down: {}", list(&link.up), list(&link.down))
        }
    }
}

/// `1.71 Mb/s`, `482 kb/s`.
fn rate(bit_s: f64) -> String {
    let Unit(size, name) = unit_of(bit_s);
    crate::number::measured(bit_s / size, name)
}

/// How much one of it is, and its name.
#[derive(Clone, Copy)]
struct Unit(f64, &'static str);

/// The unit in which a rate is told, wherever it is.
fn unit_of(bit_s: f64) -> Unit {
    match bit_s {
        ..1e6 => Unit(1e3, "kb/s"),
        1e6..1e9 => Unit(1e6, "Mb/s"),
        _ => Unit(1e9, "Gb/s"),
    }
}

/// `54.5 s`, `29.4 ms`, `12.1 us`; a dash where there is none.
fn span(seconds: Option<f64>) -> String {
    let Some(seconds) = seconds.filter(|seconds| seconds.is_finite()) else {
        return crate::number::NONE.to_owned();
    };
    let Unit(size, name) = unit_of_time(seconds);
    crate::number::measured(seconds / size, name)
}

/// The unit in which a time is told.
fn unit_of_time(seconds: f64) -> Unit {
    match seconds.abs() {
        ..1e-3 => Unit(1e-6, "us"),
        1e-3..1.0 => Unit(1e-3, "ms"),
        _ => Unit(1.0, "s"),
    }
}
