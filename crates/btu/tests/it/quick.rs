//! One real `btu run` that several tests look at.

use std::path::Path;
use std::path::PathBuf;
use std::process::Output;
use std::sync::OnceLock;

use btu_sys::process::dies_with_its_starter;

use crate::program::btu;
use crate::program::said;

/// A quick run that came to its end: its directory, its exit code, and what it printed.
pub(crate) struct QuickRun {
    pub(crate) folder: PathBuf,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) said: String,
}

/// The first quick run that was not disturbed, else the last of several. Made once per test process; the
/// folders stay for the tests that come later; they lie in the temporary folder, which `cargo xtask test`
/// takes away at the end.
pub(crate) fn last() -> &'static QuickRun {
    static RUN: OnceLock<QuickRun> = OnceLock::new();
    let attempt = |number: u32| ended(&number.to_string(), &[]);
    RUN.get_or_init(|| undisturbed(attempt, QuickRun::is_disturbed))
}

/// The first attempt that was not disturbed, else the last of several; each is told its number, from 1.
pub(crate) fn undisturbed<R>(attempt: impl Fn(u32) -> R, is_disturbed: impl Fn(&R) -> bool) -> R {
    let mut last = attempt(1);
    for number in 2..=ATTEMPTS {
        if is_disturbed(&last) {
            last = attempt(number);
        }
    }
    last
}

/// True of a run that found its packets late before the first cell.
pub(crate) fn is_late(ended: &Output) -> bool {
    ended.status.code() == Some(3) && said(ended).contains(LATE)
}

/// A complete and undisturbed quick run; `Err` tells why this machine is too busy for it.
pub(crate) fn made() -> Result<&'static QuickRun, String> {
    let last = last();
    match other_work() {
        _ if last.code == Some(0) => Ok(last),
        Some(busy) if last.is_disturbed() => {
            Err(format!("{ATTEMPTS} quick runs were disturbed; {busy}"))
        }
        _ => panic!("{:?}: {}", last.code, last.said),
    }
}

/// The directory of a quick result, disturbed or not. Where packets are late before the first cell, so that
/// there is none, it is one of the cases that pass no emulator.
pub(crate) fn shown() -> &'static Path {
    static PART: OnceLock<QuickRun> = OnceLock::new();
    let last = last();
    let shown = match last.code {
        Some(3) if last.is_disturbed() => {
            PART.get_or_init(|| ended("part", &["--cases", "SEND,RECV"]))
        }
        _ => last,
    };
    assert!(matches!(shown.code, Some(0 | 6)), "{:?}: {}", shown.code, shown.said);
    &shown.folder
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

fn ended(name: &str, options: &[&str]) -> QuickRun {
    let temporary = std::env::temp_dir();
    let folder = temporary.join(format!("btu-quick-run-{}-{name}", std::process::id()));
    let mut command = btu();
    command.arg("run").args(options).arg("--out").arg(&folder).current_dir(temporary);
    let output = dies_with_its_starter(&mut command).output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    QuickRun { folder, code: output.status.code(), stdout, said: said(&output) }
}

impl QuickRun {
    /// True of the two ways in which a run rightly ends early on a machine that has no CPU for it: a cell
    /// met its cap, or packets are always late before the first one.
    pub(crate) fn is_disturbed(&self) -> bool {
        match self.code {
            Some(3) => self.said.contains(LATE),
            code => code == Some(6),
        }
    }
}

/// What a run says that finds its packets late before the first cell.
pub(crate) const LATE: &str = "btu: the emulated link does not do what was asked: ";

/// Other tests of this process end meanwhile.
const ATTEMPTS: u32 = 5;
