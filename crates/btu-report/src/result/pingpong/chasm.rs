//! A range of sizes that looked like a chasm, in `result.json`: what became of it.

use std::collections::BTreeMap;

use btu_core::pingpong::chasm::Chasm;
use btu_core::pingpong::chasm::Finding;
use serde::Deserialize;
use serde::Serialize;

/// A range of sizes that looked like a chasm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChasmResult {
    /// `confirmed`, `not_reproduced` or `incomplete`.
    pub finding: String,
    /// The first slow size.
    pub from_bytes: u64,
    /// The last slow size.
    pub to_bytes: u64,
    /// Whether both edges were confirmed beside their clean neighbours; null unless confirmed.
    pub edges_sure: Option<bool>,
    /// T over what is expected.
    pub factor: Option<f64>,
    /// In how many rounds it was slow again, of how many.
    pub confirmed: Option<[u32; 2]>,
    /// p value, corrected for all candidates.
    pub p: Option<f64>,
    /// Factors without which it is not there.
    pub removed_by: Vec<String>,
    /// Factors that move it, and where to.
    pub moved_by: Vec<MovedResult>,
    /// Factors that change nothing.
    pub without_effect: Vec<String>,
    /// Factors of which it could not be told what they do, with the reason.
    pub unclear: BTreeMap<String, String>,
    /// Factors that could not be tried, with the reason.
    pub untested: BTreeMap<String, String>,
    /// Ranges of good sizes inside.
    pub holes: Vec<[u64; 2]>,
    /// All of it in a sentence.
    pub sentence: String,
}

/// A factor that moves a chasm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MovedResult {
    /// The factor.
    pub factor: String,
    /// The first slow size with it.
    pub from_bytes: u64,
    /// The last slow size with it.
    pub to_bytes: u64,
}

pub(super) fn chasm(finding: &Finding) -> ChasmResult {
    let blank = ChasmResult {
        finding: String::new(),
        from_bytes: 0,
        to_bytes: 0,
        edges_sure: None,
        factor: None,
        confirmed: None,
        p: None,
        removed_by: Vec::new(),
        moved_by: Vec::new(),
        without_effect: Vec::new(),
        unclear: BTreeMap::new(),
        untested: BTreeMap::new(),
        holes: Vec::new(),
        sentence: finding.to_string(),
    };
    match finding {
        Finding::Confirmed(found) => confirmed(found, blank),
        Finding::NotReproduced { from, to, ratio_again, rounds, .. } => ChasmResult {
            finding: "not_reproduced".to_owned(),
            from_bytes: from.count(),
            to_bytes: to.count(),
            factor: Some(*ratio_again),
            confirmed: Some([rounds.0, rounds.1]),
            ..blank
        },
        Finding::Incomplete { from, to, .. } => ChasmResult {
            finding: "incomplete".to_owned(),
            from_bytes: from.count(),
            to_bytes: to.count(),
            ..blank
        },
    }
}

fn confirmed(chasm: &Chasm, blank: ChasmResult) -> ChasmResult {
    let moved = chasm.moved_by().map(|(factor, from, to)| MovedResult {
        factor: factor.to_owned(),
        from_bytes: from.count(),
        to_bytes: to.count(),
    });
    let owned = |(factor, why): (&str, &str)| (factor.to_owned(), why.to_owned());
    ChasmResult {
        finding: "confirmed".to_owned(),
        from_bytes: chasm.from.count(),
        to_bytes: chasm.to.count(),
        edges_sure: Some(chasm.from_sure && chasm.to_sure),
        factor: Some(chasm.ratio),
        confirmed: Some([chasm.confirmed.0, chasm.confirmed.1]),
        p: Some(chasm.p),
        removed_by: chasm.removed_by().map(str::to_owned).collect(),
        moved_by: moved.collect(),
        without_effect: chasm.without_effect().map(str::to_owned).collect(),
        unclear: chasm.unclear().map(owned).collect(),
        untested: chasm.untested().map(owned).collect(),
        holes: chasm.holes.iter().map(|hole| [*hole.start(), *hole.end()]).collect(),
        ..blank
    }
}
