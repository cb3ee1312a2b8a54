//! The testbed of BTU: roles, topology, the link emulator and its backends, capture.
//!
//! It moves packets and knows no workload. Link elements themselves are pure and live in
//! `btu-core`; here they meet namespaces, sockets and clocks.
#![forbid(unsafe_code)]

pub mod around;
pub mod backend;
pub mod capture;
pub mod check;
pub mod front;
pub mod local;
mod offload;
pub mod outside;
pub mod segment;
mod sysctls;
mod time;
