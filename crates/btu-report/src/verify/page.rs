//! The page of a result beside the one that its journal gives: figures for people must be those for programs.

use btu_core::journal::file::REPORT;

use super::Finding;
use crate::files::ResultFiles;
use crate::format::UnknownFormat;

/// What was found of `report.html`: at most one of both.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) finding: Option<Finding>,
    pub(super) note: Option<String>,
}

impl Page {
    /// Compares the stored page with what `render` makes of the journal. `unlike` says why that may differ from an honest one.
    pub(super) fn of(
        files: &ResultFiles,
        unlike: Option<String>,
        render: impl Fn() -> Result<Vec<u8>, UnknownFormat>,
    ) -> Self {
        let Some(stored) = files.get(REPORT) else { return Self::default() };
        match (render(), unlike) {
            (Ok(page), _) if page == stored => Self::default(),
            (_, Some(why)) => {
                Self { note: Some(format!("{REPORT}: not verified: {why}")), ..Self::default() }
            }
            (Ok(page), None) => {
                let equal = page.iter().zip(stored).take_while(|(ours, theirs)| ours == theirs);
                let detail = format!(
                    "not the page that the samples give, from its byte {} on: it was changed, or another build of this version \
                     made it",
                    equal.count() + 1
                );
                Self { finding: Some(Finding::new("figures", REPORT, detail)), note: None }
            }
            (Err(cause), None) => {
                Self { note: Some(format!("{REPORT}: not verified: {cause}")), ..Self::default() }
            }
        }
    }
}
