//! `hold`: delays only the chosen wire packets, as the counter-driven delay of 1996 did.

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
use super::Words;
use crate::link::continued::Counting;
use crate::link::followers::Behind;
use crate::link::followers::HoldForFollowers;
use crate::link::followers::Patience;
use crate::link::followers::Rule;
use crate::link::queue::Queue;
use crate::link::select::Part;
use crate::link::select::Select;
use crate::link::select::Selection;
use crate::link::select::sort_out;
use crate::link::words::packets;

pub(super) static KIND: ElementKind = ElementKind {
    name: "hold",
    forms: "hold k@n[,k@n]*/P [phase N] [continuous] [per flow] TIME (10ms) | FOLLOWERS (3pkt) \
            [overtake] (or SHARE, or list FILE, in place of the pattern)",
    help: "delays chosen wire packets for a time or until others followed; packets behind wait too, \
           unless they overtake",
    parse,
};

#[derive(Debug)]
struct HoldSpec {
    selection: Selection,
    span: Span,
    behind: Behind,
}

/// How long a chosen packet is held.
#[derive(Clone, Copy, Debug)]
enum Span {
    Followers(u64),
    Time(Nanos),
}

/// Holds for a time. With `overtake` the chosen packets have a queue of their own.
#[derive(Debug)]
struct TimedHold {
    select: Box<dyn Select>,
    time: Nanos,
    behind: Behind,
    chosen: Queue,
    passed: Queue,
}

impl ElementSpec for HoldSpec {
    fn build(&self, site: Site<'_>) -> Result<Box<dyn Element>, LinkError> {
        let handles = site.handles;
        let (select, behind) = (self.selection.build(site.stream), self.behind);
        Ok(match self.span {
            Span::Followers(followers) => {
                let rule = Rule { followers, behind, patience: PATIENCE };
                Box::new(HoldForFollowers::new(select, rule, handles))
            }
            Span::Time(time) => {
                let (chosen, passed) = (Queue::new(handles), Queue::new(handles));
                Box::new(TimedHold { select, time, behind, chosen, passed })
            }
        })
    }

    fn wait(&self) -> Nanos {
        match self.span {
            Span::Followers(_) => SILENCE,
            Span::Time(time) => time,
        }
    }

    fn timed(&self) -> bool {
        true
    }
}

impl fmt::Display for HoldSpec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "hold {}", self.selection)?;
        match self.span {
            Span::Followers(followers) => write!(out, " {followers}pkt")?,
            Span::Time(time) => write!(out, " {time}")?,
        }
        out.write_str(if self.behind == Behind::Overtake { " overtake" } else { "" })
    }
}

impl Element for TimedHold {
    fn push(&mut self, packet: Packet, port: &mut Port<'_>) {
        let Self { select, time, behind, chosen, passed } = self;
        sort_out(select.as_mut(), packet, |part| match part {
            Part::Passed(run) => passed.push(run, port),
            Part::Hit(run) => {
                port.held_back(&run);
                let queue = if *behind == Behind::Overtake { &mut *chosen } else { &mut *passed };
                queue.push(run.leaving(run.at().saturating_add(*time)), port);
            }
        });
    }

    /// Of packets that leave at the same moment the held one is first, since it came first.
    fn pop(&mut self, now: Nanos, _port: &mut Port<'_>) -> Option<Packet> {
        let passed = self.passed.next_departure().unwrap_or(Nanos::MAX);
        match self.chosen.next_departure() {
            Some(chosen) if chosen <= passed => self.chosen.pop(now),
            _ => self.passed.pop(now),
        }
    }

    fn next_wakeup(&self) -> Option<Nanos> {
        self.chosen.next_departure().into_iter().chain(self.passed.next_departure()).min()
    }

    fn held(&self) -> u64 {
        self.chosen.wire_packets() + self.passed.wire_packets()
    }

    fn counting(&self) -> Option<Counting> {
        self.select.counting()
    }

    fn go_on(&mut self, from: &Counting) {
        self.select.go_on(from);
    }
}

fn parse(words: &mut Words<'_>) -> Result<Arc<dyn ElementSpec>, LinkError> {
    let selection = Selection::parse(words)?;
    let span = match words.peek().and_then(packets) {
        Some(_) => Span::Followers(words.packets("followers")?),
        None => Span::Time(words.value_if("time or followers", "at most 1 hour", |time| {
            time <= super::delay::LONGEST
        })?),
    };
    let behind = if words.keyword("overtake") { Behind::Overtake } else { Behind::Wait };
    Ok(Arc::new(HoldSpec { selection, span, behind }))
}

const PATIENCE: Patience = Patience::Silence(SILENCE);
const SILENCE: Nanos = Nanos::from_millis(200);
