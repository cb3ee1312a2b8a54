//! What the two hosts of a run know of its data connections: a seat for each.

use super::Preamble;
use crate::door::Seat;

/// The host under test: it speaks first.
#[derive(Clone, Debug)]
pub struct NearToken {
    /// One for each connection of the case, in its order.
    pub seats: Vec<Seat>,
}

/// A black box: it hears, and answers what it knows.
#[derive(Clone, Debug)]
pub struct FarToken {
    /// Of the run; its `flow` is that of each connection.
    pub seat: Seat,
}

impl Preamble for NearToken {
    fn seat(&self, flow: usize) -> Option<Seat> {
        self.seats.get(flow).copied()
    }
}

impl Preamble for FarToken {
    fn seat(&self, flow: usize) -> Option<Seat> {
        let flow = u16::try_from(flow).ok()?;
        Some(Seat { flow, ..self.seat })
    }
}
