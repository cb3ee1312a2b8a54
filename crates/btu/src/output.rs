//! The only place that prints: results to stdout, messages to stderr. A closed pipe is no error.

use std::io;
use std::io::ErrorKind;
use std::io::Write;
use std::panic::PanicHookInfo;
use std::process::ExitCode;

use serde_json::Value;

use crate::exit::Exit;
use crate::exit::Failure;

/// Writes a result to stdout.
pub(crate) fn result(text: &str) -> Result<(), Failure> {
    bytes(text.as_bytes())
}

/// Writes a rendered document to stdout.
pub(crate) fn bytes(document: &[u8]) -> Result<(), Failure> {
    written(|| {
        let mut out = io::stdout().lock();
        out.write_all(document).and_then(|()| out.flush())
    })
}

/// What the command line itself answers: help and version are results, all else is a message.
pub(crate) fn answer(answer: &clap::Error) -> Result<ExitCode, Failure> {
    let code = u8::try_from(answer.exit_code()).unwrap_or(Exit::Usage as u8);
    if answer.use_stderr() {
        drop(answer.print());
    } else {
        written(|| answer.print().and_then(|()| io::stdout().flush()))?;
    }
    Ok(code.into())
}

/// A result that nobody can read is a fault, but for a reader who has seen enough.
fn written(write: impl FnOnce() -> io::Result<()>) -> Result<(), Failure> {
    let fault = |cause: anyhow::Error| Failure::environment(cause.context("write to stdout"));
    if btu_sys::standard::stdout_was_closed() {
        let hint = "send it to a file, or to /dev/null where nobody wants it";
        return Err(fault(anyhow::anyhow!("it is closed")).hint(hint));
    }
    match write() {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(fault(error.into())),
        _ => Ok(()),
    }
}

/// Writes a value as one JSON document to stdout. One that counts no version of its own has the first.
pub(crate) fn json(value: &Value) -> Result<(), Failure> {
    let mut document = value.clone();
    if let Value::Object(keys) = &mut document {
        keys.entry("schema_version").or_insert_with(|| FIRST_VERSION.into());
    }
    result(&format!("{document:#}\n"))
}

/// Writes a message for people to stderr.
pub(crate) fn message(text: &str) {
    drop(writeln!(io::stderr().lock(), "{}", shown(text)));
}

/// A text as a terminal may show it: what other hosts say can hold anything, and moves no cursor.
pub(crate) fn shown(text: &str) -> String {
    let harmless = |one: char| !one.is_control() || matches!(one, '\n' | '\t');
    text.chars().map(|one| if harmless(one) { one } else { '\u{fffd}' }).collect()
}

/// Reports why a verb failed: causes joined by colons, then the hint.
pub(crate) fn failure(failure: &Failure) {
    message(&format!("btu: {:#}", failure.cause));
    if let Some(remedy) = failure.remedy() {
        message(&hint(remedy));
    }
}

/// Between backticks stand commands that no line may end in: this one ends nowhere, and a shell would take them.
fn hint(remedy: &str) -> String {
    format!("hint: {}", remedy.replace('`', ""))
}

/// The last words of a panic: no backtrace for users, a place for a bug report.
pub(crate) fn internal_error(panic: &PanicHookInfo<'_>) {
    message(&format!("btu: internal error (please report it): {panic}"));
}

/// Of a document whose keys never changed.
const FIRST_VERSION: &str = "1.0.0";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_in_a_hint_can_be_pasted() {
        let told = hint(btu_sys::sysctl::WRITABLE);
        assert!(told.starts_with("hint: make /proc/sys writable: as root by mount -o"), "{told}");
        assert!(!told.contains('`'), "{told}");
    }

    #[test]
    fn what_others_say_moves_no_cursor() {
        let said = "agent lab1: \u{1b}[2J\u{9b}1A\rdone\u{7}\n\tline two: \u{e4}";
        let harmless = "agent lab1: \u{fffd}[2J\u{fffd}1A\u{fffd}done\u{fffd}\n\tline two: \u{e4}";
        assert_eq!(shown(said), harmless);
    }
}
