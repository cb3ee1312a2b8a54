//! One real `btu run` that several tests look at.

use std::path::PathBuf;
use std::sync::OnceLock;

use crate::commands::run;
use crate::program::btu;

/// A complete quick run: its directory and what it printed.
pub(crate) struct QuickRun {
    pub(crate) folder: PathBuf,
    pub(crate) stdout: String,
}

/// Made once per test process. Its folder stays for the tests that come later; it lies in the
/// temporary folder, which `cargo xtask test` takes away at the end.
pub(crate) fn quick_run() -> &'static QuickRun {
    static RUN: OnceLock<Result<QuickRun, String>> = OnceLock::new();
    let made = RUN.get_or_init(|| {
        // A machine that stands still for seconds, as virtual ones do, caps a cell: exit code 6.
        let is_capped = |said: &String| said.contains("exit status: 6");
        let mut made = made_once(1);
        for attempt in 2..=3 {
            if made.as_ref().is_err_and(is_capped) {
                made = made_once(attempt);
            }
        }
        made
    });
    made.as_ref().unwrap_or_else(|said| panic!("{said}"))
}

fn made_once(attempt: u32) -> Result<QuickRun, String> {
    let temporary = std::env::temp_dir();
    let folder = temporary.join(format!("btu-quick-run-{}-{attempt}", std::process::id()));
    let stdout = run(btu().args(["run", "--out"]).arg(&folder).current_dir(temporary))?;
    Ok(QuickRun { folder, stdout })
}
