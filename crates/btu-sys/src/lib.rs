//! Safe wrappers of the Linux facilities that BTU measures with.
//!
//! The only crate that may contain `unsafe`. It knows sockets, packets, namespaces, clocks and
//! counters, and no word of the domain.
#![allow(unsafe_code, reason = "this crate exists to hold the unsafe code, block by block")]

#[cfg(test)]
#[macro_use]
#[path = "../../../tests/skip.rs"]
mod skip;

#[cfg(test)]
#[path = "../../../tests/wait.rs"]
mod patience;

mod addresses;
pub mod alloc;
pub mod bell;
#[cfg(test)]
mod beset;
pub mod clock;
pub mod cpu;
pub mod descriptors;
pub mod device;
pub mod disk;
pub mod errno;
mod error;
pub mod exchange;
pub mod frame;
mod futex;
pub mod instructions;
pub mod library;
pub mod limit;
mod link_layer;
pub mod loaded;
pub mod memory;
pub mod mpi;
pub mod namespace;
pub mod netlink;
pub mod nftables;
mod option;
pub mod packet;
pub mod process;
pub mod pvm;
pub mod shared;
pub mod socket;
pub mod standard;
pub mod sysctl;
pub mod tcp_info;
pub mod trial;
pub mod tun;
pub mod uring;
pub mod wait;
pub mod xdp;

pub use addresses::addresses;
pub use error::Error;
pub use error::Result;
