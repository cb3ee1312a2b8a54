//! `duplicate`: sends wire packets twice, the copy at once behind the original.

use std::fmt;
use std::sync::Arc;

use super::Element;
use super::ElementKind;
use super::ElementSpec;
use super::LinkError;
use super::Packet;
use super::Port;
use super::Site;
use crate::link::continued::Counting;
use crate::link::in_order::InOrder;
use crate::link::in_order::Treatment;
use crate::link::queue::Queue;
use crate::link::select::Part;
use crate::link::select::Select;
use crate::link::select::Selection;
use crate::link::select::sort_out;

pub(super) static KIND: ElementKind = ElementKind {
    name: "duplicate",
    forms: "duplicate k@n[,k@n]*/P [phase N] [continuous] [per flow] | duplicate SHARE (0.1%) \
            | duplicate list FILE",
    help: "sends wire packets twice, the copy at once behind the original",
    parse: |words| Ok(Arc::new(DuplicateSpec { selection: Selection::parse(words)? })),
};

#[derive(Debug)]
struct DuplicateSpec {
    selection: Selection,
}

#[derive(Debug)]
struct Duplicate {
    select: Box<dyn Select>,
}

impl ElementSpec for DuplicateSpec {
    fn build(&self, site: Site<'_>) -> Result<Box<dyn Element>, LinkError> {
        let duplicate = Duplicate { select: self.selection.build(site.stream) };
        Ok(Box::new(InOrder::new(duplicate, site.handles)))
    }
}

impl fmt::Display for DuplicateSpec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "duplicate {}", self.selection)
    }
}

impl Treatment for Duplicate {
    fn treat(&mut self, packet: Packet, passed: &mut Queue, port: &mut Port<'_>) {
        sort_out(self.select.as_mut(), packet, |part| match part {
            Part::Passed(run) => passed.push(run, port),
            Part::Hit(run) => {
                port.duplicated(&run);
                passed.push(run, port);
                passed.push(run, port);
            }
        });
    }

    fn counting(&self) -> Option<Counting> {
        self.select.counting()
    }

    fn go_on(&mut self, from: &Counting) {
        self.select.go_on(from);
    }
}
