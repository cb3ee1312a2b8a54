//! COMM, the modified TTCP of the benchmark (maly1996, 4.2): one write per message, blocking, timed
//! by the test host's clock alone.
//!
//! The work is split by side, so that the same code measures across real hosts. The *far side* (a
//! black box) listens, accepts, and sends or reads. The *near side* (the host under test) connects,
//! starts all connections together and times them. Per data connection:
//!
//! ```text
//! near  connect .......... read 'ready' | t0: first write ........... SHUT_WR, read receipt: end
//! far   accept, 'ready' ............... | read ................ end of stream, write receipt
//!
//! near  connect .......... read 'ready' | t0: write 'go' ... read .. last byte: end, write receipt
//! far   accept, 'ready' ............... | read 'go', write ......... SHUT_WR, read receipt
//! ```
//!
//! A write that returned is not a delivery: only the receipt, sent by the user-level reader after
//! its last byte, ends the time of a sender.

mod calls;
mod data;
mod diary;
mod end;
mod far;
mod join;
mod lookout;
mod near;
mod pinning;
mod proof;
mod series;
mod side;
pub mod stream;
mod supervisor;
mod token;

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use btu_core::role::Role;
use btu_core::run::calls::Calls;
use btu_core::run::cell::Direction;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::socket::Settings;

use crate::error::EngineError;
use crate::file::ftp::Gauge;
use crate::place::Place;
use crate::transport::Channel;
use crate::transport::Transport;

pub use crate::door::Seat;
pub use end::EndReport;
pub use end::over_run;
pub use far::FarSide;
pub use join::join;
pub use near::NearReport;
pub use near::NearSide;
pub use pinning::Pinning;
pub use token::FarToken;
pub use token::NearToken;

/// How much each connection carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// This many messages per connection.
    Messages(u64),
    /// As many as can be written in this time; then what was written is delivered.
    Window(Nanos),
}

/// What both sides of a run agree on.
#[derive(Clone)]
pub struct Terms {
    /// The transport of the data connections.
    pub transport: &'static dyn Transport,
    /// Size of a message and of each write.
    pub message: Bytes,
    /// By which calls both sides write and read.
    pub calls: Calls,
    /// How much each connection carries.
    pub amount: Amount,
    /// When a run that has not ended is given up, counted from its start.
    pub cap: Nanos,
    /// On which CPUs the data threads run.
    pub pinning: Pinning,
    /// The FTP server of the active black box, where it is in this process: whether one of its sessions can serve no
    /// faster is part of that one's account.
    pub ftp: Option<Gauge>,
    /// Set by whoever wants the run to end now: it is then over within about a tenth of a second.
    pub cancel: Arc<AtomicBool>,
    /// What each new connection has to show before anything else; `None` between threads of one process.
    pub preamble: Option<Arc<dyn Preamble>>,
}

/// What the ends of a new connection show each other before 'ready'. Nobody counts these bytes.
pub trait Preamble: fmt::Debug + Send + Sync {
    /// What both ends of the connection at this place in its job know; `None` where it has no such place.
    fn seat(&self, flow: usize) -> Option<Seat>;

    /// One that knew its seat came in, at the end that accepts.
    fn came_in(&self, _connection: &dyn Channel) {}
}

fn no_seat() -> EngineError {
    EngineError::Refused("a connection without a token".to_owned())
}

/// The part of the host under test.
#[derive(Clone, Debug)]
pub struct NearJob {
    /// The connections, in the case's order.
    pub flows: Vec<NearFlow>,
    /// What both sides agree on.
    pub terms: Terms,
    /// Options of the data sockets.
    pub sockets: Settings,
    /// Where the threads run.
    pub place: Place,
}

/// One connection, seen from the host under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NearFlow {
    /// The black box.
    pub peer: Role,
    /// Where the data goes.
    pub direction: Direction,
    /// Where the black box listens for it.
    pub address: SocketAddr,
}

/// The part of a black box.
#[derive(Clone, Debug)]
pub struct FarJob {
    /// The connections that will come, one listening socket each.
    pub flows: Vec<FarFlow>,
    /// What both sides agree on.
    pub terms: Terms,
    /// Options of the data sockets.
    pub sockets: Settings,
    /// Where the threads run.
    pub place: Place,
}

/// One connection, seen from a black box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FarFlow {
    /// Seen from the test host: `Receive` means that this end writes.
    pub direction: Direction,
    /// Where to listen; port 0 chooses a free one.
    pub listen: SocketAddr,
}

impl Amount {
    /// The number of messages of a fixed amount of bits shared by `connections`: rounded up, since
    /// 32 Mb are not a whole number of messages of every size.
    pub fn of_bits(bits: u64, connections: u64, message: Bytes) -> Self {
        Self::Messages(bits.div_ceil(message.bits().max(1) * connections.max(1)))
    }

    /// Messages to write at most.
    fn messages(self) -> u64 {
        match self {
            Self::Messages(count) => count,
            Self::Window(_) => u64::MAX,
        }
    }

    /// Bytes to expect, `u64::MAX` where nobody knows.
    fn expected(self, message: Bytes) -> u64 {
        match self {
            Self::Messages(count) => count.saturating_mul(message.count()),
            Self::Window(_) => u64::MAX,
        }
    }
}

impl Terms {
    /// A run with the calls of the editions, one CPU per data thread, no preamble, and nobody who could cancel it.
    pub fn new(
        transport: &'static dyn Transport,
        message: Bytes,
        amount: Amount,
        cap: Nanos,
    ) -> Self {
        let (calls, pinning, cancel) = (Calls::default(), Pinning::IN_TURN, Arc::default());
        let (ftp, preamble) = (None, None);
        Self { transport, message, calls, amount, cap, pinning, ftp, cancel, preamble }
    }
}

impl fmt::Debug for Terms {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { transport, message, calls, amount, cap, pinning, ftp, preamble, cancel } = self;
        out.debug_struct("Terms")
            .field("transport", &transport.name())
            .field("message", message)
            .field("calls", calls)
            .field("amount", amount)
            .field("cap", cap)
            .field("pinning", pinning)
            .field("ftp", &ftp.is_some())
            .field("preamble", preamble)
            .field("cancel", cancel)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirty_two_megabits_are_a_whole_number_of_messages_per_connection() {
        let messages =
            |size, connections| Amount::of_bits(32_000_000, connections, Bytes::new(size));
        assert_eq!(messages(100, 1), Amount::Messages(40_000));
        assert_eq!(messages(65_536, 1), Amount::Messages(62));
        assert_eq!(messages(65_536, 2), Amount::Messages(31));
        assert_eq!(messages(1024, 2), Amount::Messages(1954));
    }
}
