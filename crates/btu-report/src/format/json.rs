//! `result.json`.

use super::Format;
use super::Report;
use crate::result::result;

/// For programs.
#[derive(Debug)]
pub(super) struct Json;

impl Format for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn extension(&self) -> &'static str {
        "json"
    }

    fn summary(&self) -> &'static str {
        "the result for programs, with units in its keys"
    }

    fn render(&self, report: &Report<'_>) -> Vec<u8> {
        result(report.journal, report.analysis).to_json().into_bytes()
    }
}
