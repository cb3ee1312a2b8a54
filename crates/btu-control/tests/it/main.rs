//! The conductor in virtual time, and the journal on a real disk.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that fails says so by panicking"
)]

mod agents;
mod conductor;
#[path = "../../../../tests/dice.rs"]
mod dice;
mod golden;
mod guests;
mod joining;
mod journal;
mod lying;
mod malformed;
mod policy;
mod services;
mod simulated;
