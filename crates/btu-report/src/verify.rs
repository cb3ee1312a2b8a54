//! Is a stored result what was measured? Every figure again from the samples, every hash, every
//! signature.

mod captures;
mod comparison;
mod figures;
mod journal;
mod page;
mod signatures;
mod text;

use btu_core::journal::EventRecord;
use btu_core::journal::codec;
use btu_core::journal::file;
use btu_core::manifest;
use btu_core::manifest::Manifest;
use serde::Serialize;

use crate::files::MANIFEST;
use crate::files::ResultFiles;

pub use journal::check_runs;
pub use signatures::Claim;
pub use signatures::Signer;
pub use text::verification_text;

use figures::Recomputed;

/// What was found of one result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// Where the result lies, as it was asked for.
    pub result: String,
    /// True without any violation.
    pub valid: bool,
    /// What does not hold.
    pub violations: Vec<Finding>,
    /// What a reader should know and what breaks no rule.
    pub notes: Vec<String>,
    /// Who signed what.
    pub signers: Vec<Signer>,
    /// How far the result can be trusted.
    pub tier: Tier,
    /// BLAKE3 of the manifest: what names this result for ever; null without one.
    pub manifest_blake3: Option<String>,
    /// How many figures were computed again and compared; none of a result whose keys meant something else.
    pub figures: usize,
    /// How many samples they came from.
    pub samples: usize,
}

/// One thing that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Which rule: `files`, `figures`, `journal`, `order`, `plausibility`, `signatures`, `unfinished`,
    /// `unsigned`.
    pub rule: &'static str,
    /// The file, the line, the figure.
    pub place: String,
    /// What is wrong with it.
    pub detail: String,
}

/// How far a result can be trusted: a signature says who, not that it is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Nobody stands for it.
    Unsigned,
    /// One host stands for everything.
    SelfSigned,
    /// All hosts that took part, each for what it measured.
    AllRolesSigned,
}

/// Verifies a result. `holds` says whether a signature is its key's, and under which id.
pub fn verify(files: &ResultFiles, holds: &dyn Fn(&Claim<'_>) -> Option<String>) -> Verification {
    let (manifest, mut violations) = as_in_manifest(files);
    let recomputed = Recomputed::of(files).unwrap_or_else(|finding| {
        violations.push(finding);
        Recomputed::default()
    });
    violations.extend(recomputed.findings);
    violations.extend(other_plan(files));
    let signed = signatures::check(files, manifest.as_ref(), recomputed.journal.as_ref(), holds);
    violations.extend(signed.findings);
    let others = files.others().iter();
    let mut notes: Vec<String> =
        others.map(|name| format!("{name}: no part of the result, not verified")).collect();
    notes.extend(recomputed.notes);
    notes.extend(signed.notes);
    notes.extend(manifest.iter().flat_map(redaction));
    Verification {
        result: files.origin().display().to_string(),
        valid: violations.is_empty(),
        violations,
        notes,
        signers: signed.signers,
        tier: signed.tier,
        manifest_blake3: files.get(MANIFEST).map(manifest::hash),
        figures: recomputed.figures,
        samples: recomputed.samples,
    }
}

impl Verification {
    /// The same without the demand that somebody signed it.
    #[must_use]
    pub fn accepting_unsigned(mut self) -> Self {
        self.violations.retain(|finding| finding.rule != UNSIGNED);
        self.valid = self.violations.is_empty();
        self
    }

    /// The same with a violation where none of these hosts signed everything.
    #[must_use]
    pub fn demanding(mut self, ids: &[String]) -> Self {
        let covers_all = |signer: &&Signer| signer.holds && signer.covers == "manifest";
        let signed = self.signers.iter().filter(covers_all).any(|one| ids.contains(&one.id));
        if !ids.is_empty() && !signed {
            let detail = format!("not signed by {}", ids.join(" or "));
            self.violations.push(Finding::new("signatures", "signatures.json", detail));
            self.valid = false;
        }
        self
    }
}

impl Finding {
    /// The rule of a run that was cut short and has no figures yet: nothing of it is known to be changed.
    pub const UNFINISHED: &'static str = "unfinished";

    fn new(rule: &'static str, place: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { rule, place: place.into(), detail: detail.into() }
    }
}

impl Tier {
    /// As people read it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::AllRolesSigned => "all roles signed",
            Self::SelfSigned => "self-signed",
            Self::Unsigned => "unsigned",
        }
    }
}

/// The manifest, and what is not as it says.
fn as_in_manifest(files: &ResultFiles) -> (Option<Manifest>, Vec<Finding>) {
    let Some(text) = files.get(MANIFEST) else {
        let detail = "missing: whether the samples are as they were measured cannot be told";
        return (None, vec![Finding::new(UNSIGNED, MANIFEST, detail)]);
    };
    let manifest = match Manifest::parse(text) {
        Ok(manifest) => manifest,
        Err(cause) => return (None, vec![Finding::new("files", MANIFEST, cause)]),
    };
    let deviations = manifest.deviations(|name| files.get(name)).into_iter();
    let mut found: Vec<Finding> =
        deviations.map(|one| Finding::new("files", one.place, one.detail)).collect();
    let unknown = files.signed().filter(|(name, _)| !manifest.files.contains_key(*name));
    found.extend(unknown.map(|(name, _)| Finding::new("files", name, "not in the manifest")));
    (Some(manifest), found)
}

/// The plan, where it is not the one that the first sample was made by: it may be signed all the same.
fn other_plan(files: &ResultFiles) -> Option<Finding> {
    let events = codec::salvage::<EventRecord>(files.get(file::EVENTS)?).records;
    let other = EventRecord::other_plan(&events, files.get(file::PLAN)?)?;
    Some(Finding::new("files", file::PLAN, other))
}

fn redaction(manifest: &Manifest) -> Vec<String> {
    let from = manifest.redacted_from.iter();
    let mut notes: Vec<String> =
        from.map(|hash| format!("redacted from manifest {hash}")).collect();
    notes.extend(manifest.redactions.iter().cloned());
    notes
}

/// The rule that somebody stands for a result.
const UNSIGNED: &str = "unsigned";
