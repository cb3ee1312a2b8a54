//! Comparisons that another test beside them would spoil: binaries of tests run one after the other.
#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that fails says so by panicking"
)]

#[macro_use]
#[path = "../../../../tests/skip.rs"]
mod skip;

#[cfg(test)]
#[path = "../../../../tests/isolated.rs"]
mod isolated;

#[path = "../../../../tests/wait.rs"]
mod wait;

mod alike;
#[path = "../it/commands.rs"]
#[allow(dead_code, unused_imports, unused_macros, reason = "the other tests use the rest")]
mod commands;
#[path = "../it/agent/hosts.rs"]
#[allow(dead_code, reason = "the other tests use the rest")]
mod hosts;
mod idle;
mod oracles;
#[path = "../it/program.rs"]
#[allow(dead_code, reason = "the other tests use the rest")]
mod program;

/// Held by a test that measures: tests of one binary run beside each other, too.
pub(crate) fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
