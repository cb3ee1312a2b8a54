//! The only place that prints: results to stdout, messages to stderr. A closed pipe is no error.

use std::io::ErrorKind;
use std::io::Write;
use std::panic::PanicHookInfo;

use crate::exit::Failure;

/// Writes a result to stdout.
pub(crate) fn result(text: &str) -> Result<(), Failure> {
    bytes(text.as_bytes())
}

/// Writes a rendered document to stdout.
pub(crate) fn bytes(document: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(document).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::environment(anyhow::Error::new(error).context("write to stdout")))
        }
        _ => Ok(()),
    }
}

/// Writes a value as one JSON document to stdout.
pub(crate) fn json(value: &serde_json::Value) -> Result<(), Failure> {
    result(&format!("{value:#}\n"))
}

/// Writes a message for people to stderr.
pub(crate) fn message(text: &str) {
    drop(writeln!(std::io::stderr().lock(), "{text}"));
}

/// Reports why a verb failed: causes joined by colons, then the hint.
pub(crate) fn failure(failure: &Failure) {
    message(&format!("btu: {:#}", failure.cause));
    if let Some(hint) = &failure.hint {
        message(&format!("hint: {hint}"));
    }
}

/// The last words of a panic: no backtrace for users, a place for a bug report.
pub(crate) fn internal_error(panic: &PanicHookInfo<'_>) {
    message(&format!("btu: internal error (please report it): {panic}"));
}
