//! `drop`: loses wire packets chosen by counter, list or chance.

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
use crate::link::netem::NetemPart;
use crate::link::queue::Queue;
use crate::link::select::Part;
use crate::link::select::Select;
use crate::link::select::Selection;
use crate::link::select::sort_out;

pub(super) static KIND: ElementKind = ElementKind {
    name: "drop",
    forms: "drop k@n[,k@n]*/P [phase N] [continuous] [per flow] | drop SHARE (1%) | drop list FILE",
    help: "loses wire packets by a recurring pattern, by chance, or at listed positions",
    parse: |words| Ok(Arc::new(DropSpec { selection: Selection::parse(words)? })),
};

#[derive(Debug)]
struct DropSpec {
    selection: Selection,
}

/// An element that loses the wire packets that `select` chooses.
pub(super) fn losing(select: Box<dyn Select>, handles: usize) -> Box<dyn Element> {
    Box::new(InOrder::new(Loss { select }, handles))
}

#[derive(Debug)]
struct Loss {
    select: Box<dyn Select>,
}

impl ElementSpec for DropSpec {
    fn build(&self, site: Site<'_>) -> Result<Box<dyn Element>, LinkError> {
        Ok(losing(self.selection.build(site.stream), site.handles))
    }

    fn netem(&self) -> Option<NetemPart> {
        match self.selection {
            Selection::Share(share) => Some(NetemPart::Loss(share)),
            Selection::List { .. } | Selection::Pattern { .. } => None,
        }
    }
}

impl fmt::Display for DropSpec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "drop {}", self.selection)
    }
}

impl Treatment for Loss {
    fn treat(&mut self, packet: Packet, passed: &mut Queue, port: &mut Port<'_>) {
        sort_out(self.select.as_mut(), packet, |part| match part {
            Part::Passed(run) => passed.push(run, port),
            Part::Hit(lost) => port.dropped(&lost),
        });
    }

    fn counting(&self) -> Option<Counting> {
        self.select.counting()
    }

    fn go_on(&mut self, from: &Counting) {
        self.select.go_on(from);
    }

    fn expected_drops(&self) -> Option<u64> {
        self.select.expected()
    }
}
