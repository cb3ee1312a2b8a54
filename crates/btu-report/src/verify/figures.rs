//! Every figure of `result.json` again, from the samples.

use btu_core::journal::Journal;
use btu_core::journal::Record;
use btu_core::journal::file::REPORT;
use btu_core::journal::file::RESULT;
use btu_core::run::analysis::Analysis;
use btu_core::run::analysis::analyse;
use btu_core::sample::Flag;
use serde_json::Value;

use super::Finding;
use super::captures::Checked;
use super::comparison::against_stored;
use super::comparison::compared;
use super::comparison::other_version;
use super::journal;
use super::page::Page;
use crate::captures::Captures;
use crate::files::ResultFiles;
use crate::result::result;
use crate::section::render_run;
use crate::store::OpenMode;
use crate::store::Opened;
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
    let page =
        page_of_run(files, &opened, unlike(files, &document, &opened.warnings), captures.missing);
    findings.extend(page.finding);
    let warned = opened.warnings.into_iter().map(|flag| flag.detail);
    Ok(Recomputed {
        findings,
        notes: warned
            .chain(captures.notes)
            .chain(page.note)
            .chain(other_version(files, &document))
            .collect(),
        figures: compared(files, &document),
        samples: opened.journal.records.len(),
        journal: Some(opened.journal),
    })
}

fn of_verb(files: &ResultFiles) -> Result<Recomputed, Finding> {
    let stored = files.open(OpenMode::Strict).map_err(|error| unreadable(&error))?;
    let document = stored.figures().map_err(|cause| not_json(&cause))?;
    let page =
        Page::of(files, unlike(files, &document, stored.warnings()), || stored.render("html"));
    let warned = stored.warnings().iter().map(|flag| flag.detail.clone());
    Ok(Recomputed {
        findings: against_stored(files, &document).into_iter().chain(page.finding).collect(),
        notes: warned.chain(page.note).chain(other_version(files, &document)).collect(),
        figures: compared(files, &document),
        samples: stored.samples(),
        journal: None,
    })
}

/// With its packets a page shows them; a redacted one never does.
fn page_of_run(
    files: &ResultFiles,
    opened: &Opened,
    unlike: Option<String>,
    missing: usize,
) -> Page {
    let page = |analysis: &Analysis| render_run("html", &opened.journal, analysis);
    let without = || page(&opened.analyse_without_packets());
    let stored = files.get(REPORT);
    let has_captures = opened.journal.records.iter().any(|one| matches!(one, Record::Capture(_)));
    if has_captures && without().ok().as_deref() == stored {
        return Page::default();
    }
    let gone = || (missing > 0).then(|| "packets that it may show are not there".to_owned());
    Page::of(files, unlike.or_else(gone), || page(&opened.analyse(Captures::Extracted)))
}

/// Why another page than ours may be an honest one: another program wrote it, or lines have been torn since.
fn unlike(files: &ResultFiles, computed: &Value, warnings: &[Flag]) -> Option<String> {
    let stored: Value = serde_json::from_slice(files.get(RESULT)?).ok()?;
    let is_ours = ["schema_version", "tool_version"].iter().all(|key| stored[key] == computed[key])
        && computed["tool_version"] == env!("CARGO_PKG_VERSION");
    let other = || "another version of the program wrote it".to_owned();
    let torn = || "its journal was damaged since".to_owned();
    (!is_ours).then(other).or_else(|| (!warnings.is_empty()).then(torn))
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
