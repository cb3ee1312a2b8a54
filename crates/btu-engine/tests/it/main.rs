//! Tests of the engine on this machine.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test fails by panicking, its fixtures too"
)]

#[macro_use]
#[path = "../../../../tests/skip.rs"]
mod skip;

#[path = "../../../../tests/isolated.rs"]
mod isolated;

#[path = "../../../../tests/wait.rs"]
mod wait;

mod activity;
mod chasm;
mod comm;
mod conformance;
mod drift;
mod faults;
mod file_service;
mod ftp;
mod hot_path;
#[cfg(feature = "http")]
mod hypertext;
mod local;
mod lying;
mod math;
mod messages;
mod path_mtu;
mod pingpong;
mod pingpong_hosts;
mod prober;
mod receipts;
mod sides;
#[cfg(feature = "quic")]
mod sides_quic;
mod traffic;
#[cfg(feature = "quic")]
mod traffic_quic;
mod veth;
mod xdp;
