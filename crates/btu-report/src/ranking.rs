//! Several results in one table: the paper's final ranking, with intervals.

mod build;
mod compose;
mod rows;

use serde::Serialize;

use crate::document::Document;
use crate::format::Content;
use crate::format::UnknownFormat;
use crate::format::render_content;

pub use build::Candidate;
pub use build::ranking;
pub use compose::compose_ranking;

pub(crate) use rows::csv_rows;

/// The ranking of several results, for programs. Keys are only added within a major version.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranking {
    /// Version of this shape, semantic.
    pub schema_version: &'static str,
    /// True where results that may not be ranked stand among the others: then it is no ranking.
    pub unranked_shown: bool,
    /// Under what rules all of them were measured.
    pub setting: Vec<SettingField>,
    /// The results, the highest score first.
    pub hosts: Vec<RankedHost>,
    /// Results that may not be ranked, each with its reasons.
    pub not_ranked: Vec<RankedHost>,
    /// Whether price or marks predict the score.
    pub correlations: Vec<CorrelationResult>,
}

/// One rule that all results share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SettingField {
    /// `edition`, `testbed class` ...
    pub name: String,
    /// Its value.
    pub value: String,
}

/// One result.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RankedHost {
    /// The rank as it is printed: `2`, `1-3`, with a star where figures alone decide; null outside.
    pub rank: Option<String>,
    /// The best rank that it may have.
    pub rank_first: Option<usize>,
    /// The worst.
    pub rank_last: Option<usize>,
    /// What it is called here.
    pub name: String,
    /// The host in one line.
    pub host: String,
    /// The score, Mb/s.
    pub btu_mbps: Option<f64>,
    /// 95 % interval of the score, Mb/s.
    pub btu_ci95_mbps: Option<[f64; 2]>,
    /// Why there is no interval, or no score.
    pub btu_reason: Option<String>,
    /// The penalty, percent.
    pub penalty_percent: Option<f64>,
    /// 95 % interval of the penalty, percent.
    pub penalty_ci95_percent: Option<[f64; 2]>,
    /// Complete passes.
    pub passes: usize,
    /// Marks in other benchmarks.
    pub marks: Vec<MarkResult>,
    /// The price.
    pub price: Option<PriceResult>,
    /// Who stands for the result.
    pub trust: String,
    /// Why it may not be ranked.
    pub not_rankable_reasons: Vec<String>,
    /// True where something else than the host may have made its figures: DISTURBED, for people. The comparison and the
    /// report have it for programs.
    #[serde(skip)]
    pub is_disturbed: bool,
    /// The application classes.
    pub applications: Vec<ClassFigures>,
}

/// A mark in another benchmark.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MarkResult {
    /// Of which benchmark.
    pub name: String,
    /// How much.
    pub value: f64,
    /// Where it was published.
    pub source: Option<String>,
}

/// A price.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PriceResult {
    /// How much.
    pub amount: f64,
    /// Of which currency.
    pub currency: String,
    /// When.
    pub date: Option<String>,
}

/// One application class of one host: a bar of Figure 2 and one of Figure 3.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassFigures {
    /// The class.
    pub name: String,
    /// Size of one message.
    pub message_bytes: u64,
    /// Score of the class, Mb/s.
    pub btu_mbps: Option<f64>,
    /// Its 95 % interval, Mb/s.
    pub btu_ci95_mbps: Option<[f64; 2]>,
    /// Penalty of the class, percent.
    pub penalty_percent: Option<f64>,
    /// Its 95 % interval, percent.
    pub penalty_ci95_percent: Option<[f64; 2]>,
}

/// Whether another figure predicts the score. A figure that is null has its reason beside it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CorrelationResult {
    /// `price`, or the name of a mark.
    pub with: String,
    /// Hosts that have both figures.
    pub n: usize,
    /// Spearman's rho.
    pub rho: Option<f64>,
    /// Why there is none.
    pub rho_reason: Option<String>,
    /// Its 95 % interval.
    pub rho_ci95: Option<[f64; 2]>,
    /// Why there is none.
    pub rho_ci95_reason: Option<String>,
    /// Permutation p value of "no relation", two-sided.
    pub p: Option<f64>,
    /// Why there is none.
    pub p_reason: Option<String>,
}

impl Ranking {
    /// As its file: pretty JSON and a newline.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

/// The ranking in the format of this name or file ending.
///
/// # Errors
/// There is no such format.
pub fn render_ranking(
    format: &str,
    document: &Document,
    ranking: &Ranking,
) -> Result<Vec<u8>, UnknownFormat> {
    render_content(format, document, Content::Ranking(ranking))
}
