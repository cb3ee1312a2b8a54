//! What tests of whole commands share: starting, reading, and ending where something is missing.

use std::process::Command;
use std::sync::OnceLock;

use btu_sys::process::dies_with_its_starter;

/// Runs to its end and gives stdout; `Err` holds everything it said. A test that is killed takes the
/// program along, also one that is stopped: behind a link that stands still `iperf3` spins for ever.
pub(crate) fn run(command: &mut Command) -> Result<String, String> {
    let output =
        dies_with_its_starter(command).output().map_err(|error| format!("{command:?}: {error}"))?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    if output.status.success() {
        return Ok(stdout.into_owned());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?}: {}\n{stdout}\n{stderr}", output.status))
}

/// Why no namespaces can be made here, if so.
pub(crate) fn no_namespaces() -> Option<String> {
    static REASON: OnceLock<Option<String>> = OnceLock::new();
    REASON.get_or_init(|| refused_to(Command::new("unshare"))).clone()
}

/// Why this `unshare` may make no namespaces, if so. It is asked, and not our own program, which could
/// hide its own faults in this way.
pub(crate) fn refused_to(mut unshare: Command) -> Option<String> {
    let output = unshare.args(["--user", "--map-root-user", "--net", "true"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    (!output.status.success()).then_some(said)
}

/// Ends the test where namespaces are forbidden or one of the programs is missing.
macro_rules! needs {
    ($($program:literal),*) => {
        if let Some(reason) = crate::commands::no_namespaces() {
            skip!("no user namespaces: {reason}");
        }
        $(if !crate::skip::installed($program) {
            skip!("program missing: {}", $program);
        })*
    };
}
pub(crate) use needs;
