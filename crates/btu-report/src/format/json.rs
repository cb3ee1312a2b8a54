//! `result.json`.

use super::Content;
use super::Format;
use super::Report;
use crate::result::app_result;
use crate::result::file_result;
use crate::result::mesh_result;
use crate::result::pingpong_result;
use crate::result::result;
use crate::result::traffic_result;

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
        match report.content {
            Content::App { journal, analysis } => app_result(journal, analysis).to_json(),
            Content::Comparison(found) => found.to_json(),
            Content::File { journal, analysis } => file_result(journal, analysis).to_json(),
            Content::History(found) => found.to_json(),
            Content::Mesh { journal, analysis } => mesh_result(journal, analysis).to_json(),
            Content::Paired(found) => found.to_json(),
            Content::PingPong { journal, analysis } => pingpong_result(journal, analysis).to_json(),
            Content::Ranking(ranking) => ranking.to_json(),
            Content::Run { journal, analysis } => result(journal, analysis).to_json(),
            Content::Traffic { journal, analysis } => traffic_result(journal, analysis).to_json(),
        }
        .into_bytes()
    }
}
