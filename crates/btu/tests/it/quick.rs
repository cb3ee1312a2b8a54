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

/// Made once per test process; `Err` tells why this machine is too busy for it. The folder stays for
/// the tests that come later; it lies in the temporary folder, which `cargo xtask test` takes away
/// at the end.
pub(crate) fn made() -> Result<&'static QuickRun, String> {
    static RUN: OnceLock<Result<QuickRun, String>> = OnceLock::new();
    let run = RUN.get_or_init(|| {
        let mut made = made_once(1);
        for attempt in 2..=ATTEMPTS {
            if made.as_ref().is_err_and(|said| is_too_busy(said)) {
                made = made_once(attempt);
            }
        }
        made
    });
    match (run, other_work()) {
        (Err(said), Some(busy)) if is_too_busy(said) => {
            Err(format!("{ATTEMPTS} quick runs were disturbed; {busy}"))
        }
        (other, _) => Ok(other.as_ref().unwrap_or_else(|said| panic!("{said}"))),
    }
}

/// What shows that this machine has no CPU to spare; on one that has, a disturbed run is a failure.
fn other_work() -> Option<String> {
    let cpus = std::thread::available_parallelism().ok()?.get();
    let cpus = f64::from(u16::try_from(cpus).ok()?);
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    let load: f64 = text.split(' ').next()?.parse().ok()?;
    (load > cpus).then(|| format!("{load} threads want {cpus} CPUs"))
}

/// Gives the quick run, or ends the test.
macro_rules! quick_run {
    () => {
        match crate::quick::made() {
            Ok(run) => run,
            Err(reason) => skip!("machine too busy: {reason}"),
        }
    };
}
pub(crate) use quick_run;

fn made_once(attempt: u32) -> Result<QuickRun, String> {
    let temporary = std::env::temp_dir();
    let folder = temporary.join(format!("btu-quick-run-{}-{attempt}", std::process::id()));
    let stdout = run(btu().args(["run", "--out"]).arg(&folder).current_dir(temporary))?;
    Ok(QuickRun { folder, stdout })
}

/// True of the two ways in which a run rightly ends early on a machine that has no CPU for it: a cell
/// met its cap, or packets are always late before the first one.
fn is_too_busy(said: &str) -> bool {
    let emulation = "btu: the emulated link does not do what was asked: ";
    said.contains("exit status: 6") || (said.contains("exit status: 3") && said.contains(emulation))
}

/// Other tests of this process end meanwhile.
const ATTEMPTS: u32 = 5;
