//! `skip!(reason)`: ends a test that cannot run on this machine and keeps the reason.
//!
//! A test crate includes this file and says why it stops; `cargo xtask test` counts the reasons
//! and fails on one that `xtask/src/skips.rs` does not list:
//!
//! ```ignore
//! #[macro_use]
//! #[path = "../../../../tests/skip.rs"]
//! mod skip;
//!
//! #[test]
//! fn ping_through_the_link() {
//!     if !skip::installed("ping") {
//!         skip!("program missing: ping");
//!     }
//! }
//! ```
//!
//! The part of a reason before its colon is the kind; everything after it is free text.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;

/// Records the reason and returns from the test.
macro_rules! skip {
    ($($reason:tt)+) => {{
        crate::skip::record(&format!($($reason)+));
        return;
    }};
}

/// Appends one line to the skip journal. A journal that cannot be written must not fail the test:
/// the reason also goes to stderr, past the capture of the test runner.
pub(crate) fn record(reason: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("unnamed");
    let line = format!(
        "{{\"crate\":\"{}\",\"test\":\"{}\",\"reason\":\"{}\"}}\n",
        env!("CARGO_PKG_NAME"),
        plain(test),
        plain(reason)
    );
    let appended = OpenOptions::new()
        .create(true)
        .append(true)
        .open(journal())
        .and_then(|mut file| file.write_all(line.as_bytes()));
    let note = if appended.is_ok() { "" } else { " (not journalled)" };
    let _ = writeln!(std::io::stderr(), "skipped: {test}: {reason}{note}");
}

/// True if a program of this name can be started from here.
#[allow(dead_code, reason = "not every test crate starts other programs")]
pub(crate) fn installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
}

fn journal() -> PathBuf {
    match std::env::var_os("BTU_SKIPS") {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/skips.jsonl"),
    }
}

/// Text that needs no escape inside a JSON string.
fn plain(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '"' => '\'',
            '\\' => '/',
            c if c.is_control() => ' ',
            c => c,
        })
        .collect()
}
