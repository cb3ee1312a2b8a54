//! One synthetic result in every format, and results that are damaged, empty or hostile.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends with a panic")]

#[macro_use]
#[path = "../../../../tests/skip.rs"]
mod skip;

mod app;
mod browser;
mod carried;
#[path = "../../../../tests/chromium.rs"]
mod chromium;
mod damaged;
#[path = "../../../../tests/dice.rs"]
mod dice;
mod explain;
mod extract;
mod faster;
mod file;
mod fixture;
mod formats;
mod generator;
mod hostile;
mod line;
mod markup;
mod mesh;
mod page;
mod paired;
mod paper;
mod pingpong;
mod ranking;
mod receipts;
mod rows;
mod schema;
mod second;
mod sheet;
mod slowdowns;
mod store;
mod traffic;
mod verify;
mod waiting;
