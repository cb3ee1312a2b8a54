//! The program as its users see it.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that fails says so by panicking"
)]

#[macro_use]
#[path = "../../../../tests/skip.rs"]
mod skip;

mod commands;
mod doctor;
mod link;
mod program;
mod run;
mod score;
mod third_party;
