//! `corrupt`: chooses a bit of a wire packet, for the backend to flip.

use std::fmt;
use std::sync::Arc;

use super::Element;
use super::ElementKind;
use super::ElementSpec;
use super::LinkError;
use super::Packet;
use super::Port;
use super::Site;
use crate::link::chance::mix;
use crate::link::continued::Counting;
use crate::link::in_order::InOrder;
use crate::link::in_order::Treatment;
use crate::link::queue::Queue;
use crate::link::select::Part;
use crate::link::select::Select;
use crate::link::select::Selection;
use crate::link::select::sort_out;

pub(super) static KIND: ElementKind = ElementKind {
    name: "corrupt",
    forms: "corrupt k@n[,k@n]*/P [phase N] [continuous] [per flow] | corrupt SHARE (0.1%) \
            | corrupt list FILE",
    help: "flips one bit of a wire packet, anywhere from its IP header on",
    parse: |words| Ok(Arc::new(CorruptSpec { selection: Selection::parse(words)? })),
};

#[derive(Debug)]
struct CorruptSpec {
    selection: Selection,
}

/// The bit depends on the packet's position alone, so that chosen packets cost no second draw.
#[derive(Debug)]
struct Corrupt {
    select: Box<dyn Select>,
    key: u64,
}

impl ElementSpec for CorruptSpec {
    fn build(&self, site: Site<'_>) -> Result<Box<dyn Element>, LinkError> {
        let key = site.stream.key();
        let corrupt = Corrupt { select: self.selection.build(site.stream), key };
        Ok(Box::new(InOrder::new(corrupt, site.handles)))
    }
}

impl fmt::Display for CorruptSpec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "corrupt {}", self.selection)
    }
}

impl Treatment for Corrupt {
    fn treat(&mut self, packet: Packet, passed: &mut Queue, port: &mut Port<'_>) {
        let Self { select, key } = self;
        sort_out(select.as_mut(), packet, |part| match part {
            Part::Passed(run) => passed.push(run, port),
            Part::Hit(run) => {
                port.corrupted(&run);
                let bit = bit_of(&run, mix(*key, port.position(&run)));
                passed.push(run.flipped(bit), port);
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

/// A bit of the only wire packet of `run`, evenly.
fn bit_of(run: &Packet, random: u64) -> u32 {
    let bit = (u128::from(random) * u128::from(run.l3().bits())) >> 64;
    u32::try_from(bit).unwrap_or(u32::MAX)
}
