//! Who stands for a result, and whether they really do.

use btu_core::cell::Role;
use btu_core::journal::Journal;
use btu_core::manifest::Covers;
use btu_core::manifest::Signature;
use btu_core::manifest::Statement;
use btu_core::manifest::unhex;
use serde::Serialize;

use super::Finding;
use super::Tier;
use super::UNSIGNED;
use crate::files::MANIFEST;
use crate::files::ResultFiles;
use crate::files::SIGNATURES;

/// A signature to be checked by whoever knows keys.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// The public key as `SubjectPublicKeyInfo`.
    pub key: &'a [u8],
    /// What is signed: each kind of text has its own prefix.
    pub covers: Covers,
    /// The signed bytes.
    pub message: &'a [u8],
    /// The signature.
    pub signature: &'a [u8],
}

/// One entry of `signatures.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Signer {
    /// `test`, `active`, `passive`, or `redactor`.
    pub role: String,
    /// `manifest` (everything) or `measurements` (what the role measured).
    pub covers: &'static str,
    /// The host's id.
    pub id: String,
    /// True where the signature is this host's.
    pub holds: bool,
}

/// What the signatures are worth.
#[derive(Debug)]
pub(super) struct Signed {
    pub(super) signers: Vec<Signer>,
    pub(super) findings: Vec<Finding>,
    pub(super) tier: Tier,
}

/// Checks every signature of a result.
pub(super) fn check(
    files: &ResultFiles,
    journal: Option<&Journal>,
    holds: &dyn Fn(&Claim<'_>) -> Option<String>,
) -> Signed {
    let entries = match entries(files) {
        Ok(entries) => entries,
        Err(finding) => {
            return Signed { signers: Vec::new(), findings: vec![finding], tier: Tier::Unsigned };
        }
    };
    let mut signers = Vec::new();
    let mut findings = Vec::new();
    for entry in &entries {
        let claim = message(files, journal, entry).and_then(|text| verdict(entry, &text, holds));
        let fault = claim.err();
        signers.push(Signer {
            role: entry.role.clone(),
            covers: words(entry.covers),
            id: entry.id.clone(),
            holds: fault.is_none(),
        });
        let place = format!("{SIGNATURES}: {} of {}", words(entry.covers), entry.role);
        findings.extend(fault.map(|detail| Finding::new("signatures", place, detail)));
    }
    let tier = tier(&signers);
    if tier == Tier::Unsigned && findings.is_empty() && files.get(MANIFEST).is_some() {
        findings.push(Finding::new(UNSIGNED, SIGNATURES, "nobody signed this result"));
    }
    Signed { signers, findings, tier }
}

fn entries(files: &ResultFiles) -> Result<Vec<Signature>, Finding> {
    let Some(text) = files.get(SIGNATURES) else { return Ok(Vec::new()) };
    let entries: Vec<Signature> = serde_json::from_slice(text)
        .map_err(|cause| Finding::new("signatures", SIGNATURES, cause.to_string()))?;
    if entries.len() > MOST_SIGNATURES {
        let detail = format!("{} signatures, at most {MOST_SIGNATURES} are read", entries.len());
        return Err(Finding::new("signatures", SIGNATURES, detail));
    }
    Ok(entries)
}

/// The bytes that an entry says to have signed.
fn message(
    files: &ResultFiles,
    journal: Option<&Journal>,
    entry: &Signature,
) -> Result<Vec<u8>, String> {
    match entry.covers {
        Covers::Manifest => {
            files.get(MANIFEST).map(ToOwned::to_owned).ok_or_else(|| "there is no manifest".into())
        }
        Covers::Measurements => {
            let role = Role::ALL.into_iter().find(|role| role.name() == entry.role);
            let role = role.ok_or_else(|| format!("\"{}\" is no role", entry.role))?;
            let journal = journal.ok_or("there are no samples that can be read")?;
            let statement = Statement::of(role, journal.plan.seed, &journal.records);
            Ok(statement.text().into_bytes())
        }
    }
}

/// What is wrong with an entry, if anything.
fn verdict(
    entry: &Signature,
    message: &[u8],
    holds: &dyn Fn(&Claim<'_>) -> Option<String>,
) -> Result<(), String> {
    let bytes = |what: &str, text: &str| unhex(text).ok_or(format!("its {what} is no hexadecimal"));
    let (key, signature) = (bytes("key", &entry.key)?, bytes("signature", &entry.signature)?);
    let claim = Claim { key: &key, covers: entry.covers, message, signature: &signature };
    match holds(&claim) {
        None => Err("the signature does not hold: what it covers was changed".to_owned()),
        Some(id) if id == entry.id => Ok(()),
        Some(id) => Err(format!("says to be of {}, but its key is that of {id}", entry.id)),
    }
}

/// Everything must be signed by somebody; three hosts that stand for themselves are worth more.
fn tier(signers: &[Signer]) -> Tier {
    let valid = |covers: &str, role: &str| {
        let of = |one: &&Signer| one.holds && one.covers == covers && one.role == role;
        signers.iter().find(of).map(|one| one.id.as_str())
    };
    let manifest = words(Covers::Manifest);
    let whole = valid(manifest, Role::Test.name()).or_else(|| valid(manifest, REDACTOR));
    let of_role = |role: Role| valid(words(Covers::Measurements), role.name());
    let all = [of_role(Role::Test), of_role(Role::Active), of_role(Role::Passive)];
    match (whole, all) {
        (None, _) => Tier::Unsigned,
        (_, [Some(test), Some(active), Some(passive)]) if test != active && test != passive => {
            Tier::AllRolesSigned
        }
        _ => Tier::SelfSigned,
    }
}

const fn words(covers: Covers) -> &'static str {
    match covers {
        Covers::Manifest => "manifest",
        Covers::Measurements => "measurements",
    }
}

/// Who signs a result after something was taken out of its disclosure.
const REDACTOR: &str = "redactor";
/// Three roles, each twice, and a redactor.
const MOST_SIGNATURES: usize = 16;
