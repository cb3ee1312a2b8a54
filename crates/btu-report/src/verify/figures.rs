//! Every figure of `result.json` again, from the samples.

use btu_core::analysis::analyse;
use btu_core::journal::Journal;

use super::Finding;
use super::captures::Checked;
use super::comparison::against_stored;
use super::comparison::compared;
use super::comparison::other_version;
use super::journal;
use crate::files::ResultFiles;
use crate::result::result;
use crate::store::OpenMode;
use crate::store::StoreError;
use crate::store::open_files;

/// What the samples say, and where the result says something else.
#[derive(Debug, Default)]
pub(super) struct Recomputed {
    pub(super) findings: Vec<Finding>,
    pub(super) notes: Vec<String>,
    pub(super) figures: usize,
    pub(super) samples: usize,
    /// Of a run; a ping-pong has one host.
    pub(super) journal: Option<Journal>,
}

impl Recomputed {
    /// Computes everything again; the finding says why that cannot be done.
    pub(super) fn of(files: &ResultFiles) -> Result<Self, Finding> {
        if files.is_run() { of_run(files) } else { of_verb(files) }
    }
}

fn of_run(files: &ResultFiles) -> Result<Recomputed, Finding> {
    let opened = open_files(files, OpenMode::Strict).map_err(|error| unreadable(&error))?;
    // A line may have been torn after the result was written: that is a note, no other figure.
    let computed = result(&opened.journal, &analyse(&opened.journal));
    let document = serde_json::to_value(computed).map_err(|cause| not_json(&cause))?;
    let mut findings = against_stored(files, &document);
    findings.extend(journal::check_runs(&opened.journal));
    let captures = Checked::of(files, &opened.journal);
    findings.extend(captures.findings);
    let warned = opened.warnings.into_iter().map(|flag| flag.detail);
    Ok(Recomputed {
        findings,
        notes: warned.chain(captures.notes).chain(other_version(files, &document)).collect(),
        figures: compared(files, &document),
        samples: opened.journal.records.len(),
        journal: Some(opened.journal),
    })
}

fn of_verb(files: &ResultFiles) -> Result<Recomputed, Finding> {
    let stored = files.open(OpenMode::Strict).map_err(|error| unreadable(&error))?;
    let document = stored.figures().map_err(|cause| not_json(&cause))?;
    let warned = stored.warnings().iter().map(|flag| flag.detail.clone());
    Ok(Recomputed {
        findings: against_stored(files, &document),
        notes: warned.chain(other_version(files, &document)).collect(),
        figures: compared(files, &document),
        samples: stored.samples(),
        journal: None,
    })
}

fn not_json(cause: &serde_json::Error) -> Finding {
    Finding::new("figures", "the result computed again", cause.to_string())
}

/// The error with its causes: which file, which line.
fn unreadable(error: &StoreError) -> Finding {
    let causes = std::iter::successors(Some(error as &dyn std::error::Error), |one| one.source());
    let said: Vec<String> = causes.map(ToString::to_string).collect();
    Finding::new("journal", said.first().cloned().unwrap_or_default(), said[1..].join(": "))
}
