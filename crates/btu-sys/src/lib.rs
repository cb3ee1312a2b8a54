//! Safe wrappers of the Linux facilities that BTU measures with.
//!
//! The only crate that may contain `unsafe`. It knows sockets, packets, namespaces, clocks and
//! counters, and no word of the domain.
#![allow(unsafe_code, reason = "this crate exists to hold the unsafe code, block by block")]

pub mod clock;
pub mod cpu;
mod error;
pub mod namespace;
pub mod netlink;
pub mod sysctl;

pub use error::Error;
pub use error::Result;
