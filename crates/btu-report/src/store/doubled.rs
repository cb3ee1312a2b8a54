//! Runs that a journal has twice: no program writes that, and a figure would count one of them more.

use std::collections::BTreeSet;

use btu_core::journal::Record;
use btu_core::journal::file;
use btu_core::run::schedule::Step;
use btu_core::sample::Flag;

/// One warning for each of them.
pub(super) fn warnings(records: &[Record]) -> Vec<Flag> {
    let mut seen = BTreeSet::new();
    let again = records.iter().filter_map(name).filter(|run| !seen.insert(run.clone()));
    again.collect::<BTreeSet<String>>().iter().map(|run| warning(run)).collect()
}

fn warning(run: &str) -> Flag {
    let detail =
        format!("{}: {run}: there more than once; btu verify checks every line", file::SAMPLES);
    Flag::new("doubled-line", detail)
}

/// What no other run is: its step, its pass, its attempt. Checks of the emulation and second runs are made again, and not
/// scored.
fn name(record: &Record) -> Option<String> {
    let (step, pass, attempt) = match record {
        Record::Alone(alone) => (Step::Alone(alone.activity.clone()), alone.pass, alone.attempt),
        Record::Cell(run) => (Step::Cell(run.cell.clone()), run.pass, run.attempt),
        Record::Capture(_) | Record::Verification(_) => return None,
    };
    Some(format!("{step}, pass {pass}, attempt {attempt}"))
}
