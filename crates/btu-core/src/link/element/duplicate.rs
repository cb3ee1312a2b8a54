//! `duplicate`: sends wire packets twice, the copy at once behind the original.

use std::fmt;
use std::sync::Arc;

use crate::units::Nanos;

use super::Element;
use super::ElementKind;
use super::ElementSpec;
use super::LinkError;
use super::Packet;
use super::Port;
use super::Site;
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
    passed: Queue,
}

impl ElementSpec for DuplicateSpec {
    fn build(&self, site: Site<'_>) -> Result<Box<dyn Element>, LinkError> {
        let passed = Queue::new(site.handles);
        Ok(Box::new(Duplicate { select: self.selection.build(site.stream), passed }))
    }
}

impl fmt::Display for DuplicateSpec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "duplicate {}", self.selection)
    }
}

impl Element for Duplicate {
    fn push(&mut self, packet: Packet, port: &mut Port<'_>) {
        let Self { select, passed } = self;
        sort_out(select.as_mut(), packet, |part| match part {
            Part::Passed(run) => passed.push(run, port),
            Part::Hit(run) => {
                port.duplicated(&run);
                passed.push(run, port);
                passed.push(run, port);
            }
        });
    }

    fn pop(&mut self, now: Nanos, _port: &mut Port<'_>) -> Option<Packet> {
        self.passed.pop(now)
    }

    fn next_wakeup(&self) -> Option<Nanos> {
        self.passed.next_departure()
    }

    fn held(&self) -> u64 {
        self.passed.wire_packets()
    }

    fn restart(&mut self) {
        self.select.restart();
    }
}
