//! Planted causes: real traffic on the local testbed with one known fault in it, recorded as a cell's
//! second run is, for the diagnosis to find blind.

mod bed;
mod causes;
mod talk;

pub(crate) use bed::Bed;
pub(crate) use bed::Trial;
pub(crate) use causes::CAUSES;
pub(crate) use causes::HEALTHY;
pub(crate) use causes::PAIRS;

use btu_core::run::cell::Direction;

use talk::Reader;
use talk::Writer;

/// Traffic with a cause in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plant {
    /// What it is called in the table of results.
    pub(crate) name: &'static str,
    /// The diagnoses that name the cause; nothing for traffic that is as it should be.
    pub(crate) expected: &'static [&'static str],
    /// Where the data flows, seen from the test host.
    pub(crate) direction: Direction,
    /// Link elements on the way of the data, and on the way back.
    pub(crate) link: [&'static [&'static str]; 2],
    /// True where the link's own account is part of the evidence, as it is in a run; else the path is
    /// one of which nobody knows anything, as in the real world.
    pub(crate) link_is_known: bool,
    /// What the end that sends does.
    pub(crate) writer: Writer,
    /// What the end that receives does.
    pub(crate) reader: Reader,
    /// Sockets of both ends.
    pub(crate) sockets: Sockets,
    /// Threads that compete for the CPU of one end.
    pub(crate) rivals: Rivals,
    /// Segments of the congestion window that the sender's route allows; `None` for any.
    pub(crate) most_window: Option<u32>,
}

/// Options of the sockets; `None` leaves the system's own.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sockets {
    pub(crate) send_buffer: Option<usize>,
    pub(crate) receive_buffer: Option<usize>,
    pub(crate) nodelay: bool,
}

/// Who else wants the test host's CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Rivals {
    #[default]
    Nobody,
    /// So many threads that never rest.
    Threads(usize),
}

impl Plant {
    /// A link that asks for nothing is not emulated, as in a run.
    pub(crate) fn is_emulated(&self) -> bool {
        self.link.iter().any(|way| !way.is_empty())
    }

    /// True where this is the right thing to say first: the cause, or nothing where nothing is wrong.
    pub(crate) fn is_named_by(&self, name: Option<&String>) -> bool {
        match name {
            Some(name) => self.expected.contains(&name.as_str()),
            None => self.expected.is_empty(),
        }
    }
}
