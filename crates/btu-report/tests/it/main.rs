//! One synthetic result in every format, and results that are damaged, empty or hostile.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends with a panic")]

mod fixture;
mod formats;
mod schema;
mod store;
