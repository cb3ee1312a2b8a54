//! A stored traffic measurement, read back and rendered again.

use std::path::Path;

use btu_core::traffic::sample::Journal;
use btu_core::traffic::study::Analysis;
use btu_core::traffic::study::analyse;
use btu_report::OpenMode;

use crate::exit::Failure;

/// What a directory holds, and what it says.
pub(crate) struct Stored {
    pub(super) journal: Journal,
    pub(super) analysis: Analysis,
}

impl Stored {
    /// Reads the directory of a traffic measurement.
    pub(crate) fn open(directory: &Path, mode: OpenMode) -> Result<Self, Failure> {
        let opened = btu_report::open_traffic(directory, mode).map_err(Failure::usage)?;
        crate::report::warn(&opened.warnings);
        let mut analysis = analyse(&opened.journal);
        analysis.complete &= !opened.salvaged;
        Ok(Self { journal: opened.journal, analysis })
    }

    /// In the format of this name or file ending.
    pub(crate) fn render(&self, format: &str) -> Result<Vec<u8>, Failure> {
        let document = btu_report::compose_traffic(&self.journal, &self.analysis);
        btu_report::render_traffic(format, &document, &self.journal, &self.analysis)
            .map_err(Failure::usage)
    }

    /// What a terminal shows at the end.
    pub(super) fn text(&self) -> String {
        btu_report::traffic_text(&btu_report::compose_traffic(&self.journal, &self.analysis))
    }
}
