//! What a link element is, and the list of those that exist.

mod corrupt;
mod delay;
mod drop;
mod drop_4state;
mod drop_above;
mod drop_ge;
mod duplicate;
mod hold;
mod jitter;
mod rate;
mod reorder;
mod trace;

use std::fmt;
use std::sync::Arc;

use crate::units::BitRate;
use crate::units::Nanos;

use super::LinkError;
use super::chance::Stream;
use super::continued::Counting;
use super::line::Lines;
use super::netem::NetemPart;
use super::packet::Packet;
use super::packet::Wire;
use super::port::Port;
use super::words::Words;

/// One step of a link, in one direction.
///
/// To add an element: one file in this folder with a type that implements `Element`, its text form
/// that implements [`ElementSpec`], and a line in [`ELEMENTS`].
///
/// The contract:
/// * Time is only what the calls say. A packet reaches the element at [`Packet::at`], which is the
///   `now` of a push; it may lie before the `now` of an earlier pop, since packets are read some
///   time after they came. Work with `at`, never with the moment of the call: results must not
///   depend on how often the chain is polled. Packets come in order of `at`.
/// * A packet leaves by `pop`, with `at` set to the moment it left. Packets come out in order of
///   `at`, and none before its `at`.
/// * What does not leave is reported to the [`Port`], each wire packet exactly once.
/// * The unit is the wire packet. A run may be cut anywhere and contiguous runs may be joined; what
///   happens to a wire packet must be the same however runs were cut. Chance is drawn once per wire
///   packet, whatever becomes of it.
/// * No allocation after construction, and no loop over all that is held.
pub trait Element: fmt::Debug + Send {
    /// Takes a packet that reached the element at `packet.at()`.
    fn push(&mut self, packet: Packet, port: &mut Port<'_>);

    /// The next packet that leaves at or before `now`.
    fn pop(&mut self, now: Nanos, port: &mut Port<'_>) -> Option<Packet>;

    /// When `pop` may have something next, if nothing is pushed before; `None` for never. It may be
    /// too early, but never too late.
    fn next_wakeup(&self) -> Option<Nanos>;

    /// Wire packets inside.
    fn held(&self) -> u64;

    /// Where the counter of a `continuous` pattern stands, for the chain of a later run.
    fn counting(&self) -> Option<Counting> {
        None
    }

    /// Goes on from where an element of the same text stood.
    fn go_on(&mut self, _from: &Counting) {}

    /// How many wire packets of this run the element drops by its definition; `None` for chance.
    fn expected_drops(&self) -> Option<u64> {
        None
    }
}

/// An element as text: what was asked for, before there is a chain.
///
/// `Display` writes the canonical form, which parses back to an equal element.
pub trait ElementSpec: fmt::Debug + fmt::Display + Send + Sync {
    /// Makes the element for one direction of one link.
    fn build(&self, site: Site<'_>) -> Result<Box<dyn Element>, LinkError>;

    /// What every packet is delayed by, where that is a constant.
    fn constant_delay(&self) -> Option<Nanos> {
        None
    }

    /// How long packets wait inside by intent, but for one of a hundred that may wait longer.
    fn wait(&self) -> Nanos {
        self.constant_delay().unwrap_or(Nanos::ZERO)
    }

    /// True where the element exists to delay packets, so that lateness has a bound.
    fn timed(&self) -> bool {
        false
    }

    /// The rate of the line, where the element is one.
    fn rate(&self) -> Option<BitRate> {
        None
    }

    /// What the kernel's own emulator does alike; `None` where it does nothing of the kind.
    fn netem(&self) -> Option<NetemPart> {
        None
    }
}

/// The place for which an element is made.
#[derive(Debug)]
pub struct Site<'c> {
    /// Sizes on the line.
    pub(super) wire: Wire,
    /// Random numbers of this element alone.
    pub(super) stream: Stream,
    /// How many handles a queue may hold.
    pub(super) handles: usize,
    /// The lines that several chains share.
    pub(super) lines: &'c mut Lines,
}

/// An entry of [`ELEMENTS`].
#[derive(Debug)]
pub struct ElementKind {
    /// The words with which a text begins: `drop`, `drop ge`.
    pub name: &'static str,
    /// The legal texts, `|` between alternatives.
    pub forms: &'static str,
    /// What it does, in one sentence.
    pub help: &'static str,
    /// Reads what stands after the name.
    pub parse: fn(&mut Words<'_>) -> Result<Arc<dyn ElementSpec>, LinkError>,
}

/// Every link element of this build, in the order of [`super::ChainSpec::ordered`].
pub static ELEMENTS: &[&ElementKind] = &[
    &drop::KIND,
    &drop_ge::KIND,
    &drop_4state::KIND,
    &drop_above::KIND,
    &duplicate::KIND,
    &corrupt::KIND,
    &rate::KIND,
    &trace::KIND,
    &delay::KIND,
    &hold::KIND,
    &jitter::KIND,
    &reorder::KIND,
];

impl ElementKind {
    /// The option of a command line: the first word of the name.
    pub fn option(&self) -> &'static str {
        self.name.split(' ').next().unwrap_or_default()
    }
}

/// What a link without elements is: packets leave when they come.
pub(super) fn wire(handles: usize) -> Box<dyn Element> {
    delay::line(Nanos::ZERO, handles)
}
