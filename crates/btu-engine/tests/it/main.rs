//! Tests of the engine on this machine.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its fixtures too")]

mod comm;
mod local;
