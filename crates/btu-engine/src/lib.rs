//! Transports, measuring loops, host activities, file protocols and probes.
//!
//! The engine does what it is told on the host where it runs, one job at a time: it knows no whole plan and no
//! agent.
//! A black box listens as the *far side* of COMM, the test host connects as its *near side*, and
//! the times of the near side are the result.
#![forbid(unsafe_code)]

#[cfg(test)]
#[macro_use]
#[path = "../../../tests/skip.rs"]
mod skip;

#[cfg(test)]
#[path = "../../../tests/wait.rs"]
mod wait;

pub mod activity;
pub mod app;
pub mod cellrun;
pub mod comm;
pub mod control_group;
pub mod disclosure;
pub mod door;
mod error;
pub mod file;
pub mod files;
mod lineup;
pub mod math;
pub mod message;
mod options;
mod path;
pub mod pingpong;
#[cfg(feature = "tls")]
mod pinned;
mod place;
pub mod probe;
pub mod prober;
#[cfg(feature = "quic")]
mod quic;
mod standstill;
mod threads;
pub mod time;
pub mod traffic;
pub mod transport;

pub use error::EngineError;
pub use error::is_of_threads;
pub use options::socket_options;
pub use path::PathSettings;
pub use place::Party;
pub use place::Place;
