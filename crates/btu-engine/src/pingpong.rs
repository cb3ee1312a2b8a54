//! The ping-pong: blocks there and back between two ends, timed one by one (snell1996).
//!
//! A [`Session`] is one connection between two threads, each at its place. It makes one *visit*
//! after the other: some exchanges of one block size, without a pause. The near end times and
//! decides when a visit is over; the far end answers. Both ends agree on the end in the band: the
//! first byte of a block carries marks, so that nothing but blocks travels during a visit.
//!
//! The transports here are a registry of their own, [`transport::TRANSPORTS`]. COMM's transports
//! (`btu_engine::transport`) are streams of messages with a receipt at their end; those of the
//! ping-pong move whole blocks both ways, may bound their messages, may lose them, and wait in
//! different ways. A name that stands in both registries means the same protocol.

pub mod channel;
mod copy;
mod duty;
pub mod far;
mod hookup;
pub mod host;
mod marks;
mod numbers;
mod pool;
pub mod regulator;
mod rounds;
mod session;
mod sessions;
pub mod transport;
mod verify;

pub use copy::copies;
pub use duty::Answer;
pub use duty::Broken;
pub use duty::Duty;
pub use session::LONGEST_WITH_A_PEER;
pub use session::Opening;
pub use session::Session;
pub use sessions::Sessions;
pub use verify::Plant;
