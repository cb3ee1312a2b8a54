//! Who stands for a result, and whether they really do.

use btu_core::cell::Role;
use btu_core::journal::Journal;
use btu_core::manifest::Covers;
use btu_core::manifest::Signature;
use btu_core::manifest::Statement;
use btu_core::manifest::unhex;
use serde::Serialize;
use serde_json::Value;

use super::Finding;
use super::Tier;
use super::UNSIGNED;
use crate::files::HOSTS;
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
    pub(super) notes: Vec<String>,
    pub(super) tier: Tier,
}

/// A host with an agent that took part, as the disclosure names it.
#[derive(Debug)]
struct Party {
    role: Role,
    id: String,
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
            let (signers, notes) = (Vec::new(), Vec::new());
            return Signed { signers, findings: vec![finding], notes, tier: Tier::Unsigned };
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
    let parties = parties(files);
    let tier = tier(&signers, &parties);
    if tier == Tier::Unsigned && findings.is_empty() && files.get(MANIFEST).is_some() {
        findings.push(Finding::new(UNSIGNED, SIGNATURES, "nobody signed this result"));
    }
    findings.extend(parties.iter().filter_map(|party| party.impostor(&signers)));
    let notes = parties.iter().filter_map(|party| party.silence(&signers)).collect();
    Signed { signers, findings, notes, tier }
}

/// Whose agents took part, where the disclosure still says so.
fn parties(files: &ResultFiles) -> Vec<Party> {
    let hosts = files.get(HOSTS).and_then(|text| serde_json::from_slice::<Value>(text).ok());
    let hosts = hosts.unwrap_or_default();
    let of = |role: Role| {
        let id = hosts["hosts"][role.name()]["agent"]["identity"]["value"].as_str()?;
        Some(Party { role, id: id.to_owned() })
    };
    Role::ALL.into_iter().filter_map(of).collect()
}

impl Party {
    /// Who signed what this host measured, and really did.
    fn signed<'s>(&self, signers: &'s [Signer]) -> impl Iterator<Item = &'s str> {
        let (covers, role) = (words(Covers::Measurements), self.role.name());
        let of = move |one: &&Signer| one.holds && one.covers == covers && one.role == role;
        signers.iter().filter(of).map(|one| one.id.as_str())
    }

    /// A signature of this role by another host than the one that measured.
    fn impostor(&self, signers: &[Signer]) -> Option<Finding> {
        let other = self.signed(signers).find(|id| *id != self.id)?;
        let place =
            format!("{SIGNATURES}: {} of {}", words(Covers::Measurements), self.role.name());
        let detail =
            format!("signed by {other}, but the host that measured is {} ({HOSTS})", self.id);
        Some(Finding::new("signatures", place, detail))
    }

    fn silence(&self, signers: &[Signer]) -> Option<String> {
        let nobody = self.signed(signers).next().is_none() && !signers.is_empty();
        let (role, id) = (self.role.name(), &self.id);
        nobody.then(|| format!("{role} ({id}) did not sign what it measured"))
    }
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

/// Everything must be signed by somebody; hosts of which each stands for itself are worth more. Where the
/// disclosure names no agent, those are all three.
fn tier(signers: &[Signer], parties: &[Party]) -> Tier {
    let valid = |covers: &str, role: &str| {
        let of = |one: &&Signer| one.holds && one.covers == covers && one.role == role;
        signers.iter().find(of).map(|one| one.id.as_str())
    };
    let manifest = words(Covers::Manifest);
    let whole = valid(manifest, Role::Test.name()).or_else(|| valid(manifest, REDACTOR));
    let of_role = |role: Role| valid(words(Covers::Measurements), role.name());
    let others: Vec<Role> = match parties {
        [] => vec![Role::Active, Role::Passive],
        parties => parties.iter().map(|one| one.role).filter(|role| *role != Role::Test).collect(),
    };
    let test = of_role(Role::Test);
    let stands = |role: &Role| of_role(*role).is_some_and(|id| Some(id) != test);
    match (whole, test) {
        (None, _) => Tier::Unsigned,
        (_, Some(_)) if !others.is_empty() && others.iter().all(stands) => Tier::AllRolesSigned,
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
