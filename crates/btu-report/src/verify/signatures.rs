//! Who stands for a result, and whether they really do.

use btu_core::journal::Journal;
use btu_core::journal::file::HOSTS;
use btu_core::manifest::Covers;
use btu_core::manifest::Manifest;
use btu_core::manifest::Signature;
use btu_core::manifest::Statement;
use btu_core::manifest::accounts;
use btu_core::manifest::unhex;
use btu_core::role::Role;
use serde::Serialize;
use serde_json::Value;

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
    /// `manifest` (everything), `measurements` (what the role measured), or `earlier measurements` (what
    /// an earlier program stated of that).
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

/// A host that took part.
#[derive(Debug)]
struct Party {
    role: Role,
    /// Its agent's, where the disclosure still names it.
    id: Option<String>,
}

/// Checks every signature of a result.
pub(super) fn check(
    files: &ResultFiles,
    manifest: Option<&Manifest>,
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
        let (signer, finding) = signer(files, journal, entry, holds);
        signers.push(signer);
        findings.extend(finding);
    }
    let parties = parties(files, journal);
    let whole = Whole::of(&signers, manifest);
    let tier = tier(&signers, whole.as_ref(), &parties);
    if tier == Tier::Unsigned && findings.is_empty() && files.get(MANIFEST).is_some() {
        findings.push(Finding::new(UNSIGNED, SIGNATURES, "nobody signed this result"));
    }
    findings.extend(parties.iter().filter_map(|party| party.impostor(&signers)));
    let silent = parties.iter().filter_map(|party| party.silence(&signers));
    let doubt = whole.and_then(|whole| whole.doubt);
    let notes = silent.chain(doubt).chain(earlier_note(&signers)).collect();
    Signed { signers, findings, notes, tier }
}

/// Who an entry is of, and what is wrong with it, if anything.
fn signer(
    files: &ResultFiles,
    journal: Option<&Journal>,
    entry: &Signature,
    holds: &dyn Fn(&Claim<'_>) -> Option<String>,
) -> (Signer, Option<Finding>) {
    let whole = message(files, journal, entry).and_then(|text| verdict(entry, &text, holds));
    let earlier = || earlier(journal, entry).map(|text| verdict(entry, &text, holds));
    let (covers, fault) = match whole {
        Err(_) if earlier() == Some(Ok(())) => (EARLIER, None),
        whole => (words(entry.covers), whole.err()),
    };
    let (role, id) = (entry.role.clone(), entry.id.clone());
    let place = format!("{SIGNATURES}: {covers} of {role}");
    let signer = Signer { role, covers, id, holds: fault.is_none() };
    (signer, fault.map(|detail| Finding::new("signatures", place, detail)))
}

/// Whose agents the disclosure names, and the black boxes of which there are samples: the host under test writes the
/// disclosure, and must not choose who has to sign.
fn parties(files: &ResultFiles, journal: Option<&Journal>) -> Vec<Party> {
    let hosts = files.get(HOSTS).and_then(|text| serde_json::from_slice::<Value>(text).ok());
    let hosts = hosts.unwrap_or_default();
    let measured = |role: Role| {
        role != Role::Test
            && journal.is_some_and(|journal| !accounts(role, &journal.records).is_empty())
    };
    let of = |role: Role| {
        let id = hosts["hosts"][role.name()]["agent"]["identity"]["value"].as_str();
        (id.is_some() || measured(role)).then(|| Party { role, id: id.map(ToOwned::to_owned) })
    };
    Role::ALL.into_iter().filter_map(of).collect()
}

impl Party {
    /// A signature of this role by another host than the one that measured.
    fn impostor(&self, signers: &[Signer]) -> Option<Finding> {
        let own = self.id.as_ref()?;
        let other = measured(signers, self.role).find(|id| id != own)?;
        let place =
            format!("{SIGNATURES}: {} of {}", words(Covers::Measurements), self.role.name());
        let detail = format!("signed by {other}, but the host that measured is {own} ({HOSTS})");
        Some(Finding::new("signatures", place, detail))
    }

    fn silence(&self, signers: &[Signer]) -> Option<String> {
        let nobody = measured(signers, self.role).next().is_none() && !signers.is_empty();
        let id = self.id.as_ref().map(|id| format!(" ({id})")).unwrap_or_default();
        nobody.then(|| format!("{}{id} did not sign what it measured", self.role.name()))
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

/// The bytes that the test host signed with an earlier program.
fn earlier(journal: Option<&Journal>, entry: &Signature) -> Option<Vec<u8>> {
    let is_test = entry.covers == Covers::Measurements && entry.role == Role::Test.name();
    let journal = journal.filter(|_| is_test)?;
    Some(Statement::earlier(journal.plan.seed, &journal.records).text().into_bytes())
}

/// An honest result of then says less than one of today, and is no forgery.
fn earlier_note(signers: &[Signer]) -> Option<String> {
    let role = Role::Test.name();
    let id = valid(signers, EARLIER, role).next()?;
    Some(format!(
        "{role} ({id}) signed its measurements with an earlier program: the activities alone and how \
         runs ended are no part of that, so it counts as self-signed"
    ))
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

/// Who really signed this, in this role.
fn valid<'s>(signers: &'s [Signer], covers: &str, role: &str) -> impl Iterator<Item = &'s str> {
    let of = move |one: &&Signer| one.holds && one.covers == covers && one.role == role;
    signers.iter().filter(of).map(|one| one.id.as_str())
}

/// Who really signed what this role measured, as it is stated now or as an earlier program did.
fn measured(signers: &[Signer], role: Role) -> impl Iterator<Item = &str> {
    let now = valid(signers, words(Covers::Measurements), role.name());
    now.chain(valid(signers, EARLIER, role.name()))
}

/// Who stands for the whole of a result.
struct Whole {
    /// Why that is worth less than what the roles signed.
    doubt: Option<String>,
}

impl Whole {
    /// The first without a doubt, else the first; `None` where nobody does.
    fn of(signers: &[Signer], manifest: Option<&Manifest>) -> Option<Self> {
        let redacted = manifest.is_some_and(|manifest| manifest.redacted_from.is_some());
        let covers = words(Covers::Manifest);
        let tests = valid(signers, covers, Role::Test.name());
        let tests = tests.map(|id| Self { doubt: another_measured(signers, id) });
        let redactors = valid(signers, covers, REDACTOR);
        let doubt = |id| nothing_redacted(redacted, id).or_else(|| another_redacted(signers, id));
        let redactors = redactors.map(|id| Self { doubt: doubt(id) });
        tests.chain(redactors).min_by_key(|whole| whole.doubt.is_some())
    }
}

/// The host under test keeps the journal: who stands for all of it is who measured.
fn another_measured(signers: &[Signer], id: &str) -> Option<String> {
    let measured = || measured(signers, Role::Test);
    let other = measured().next().filter(|_| !measured().any(|own| own == id))?;
    let role = Role::Test.name();
    Some(format!("{id} signed everything as {role}, but what {role} measured is signed by {other}"))
}

fn nothing_redacted(redacted: bool, id: &str) -> Option<String> {
    let told =
        || format!("{id} signed everything as {REDACTOR}, but nothing says what was redacted");
    (!redacted).then(told)
}

/// What the roles measured is a part of a result. Of the rest (price, disclosure, plan) a redactor may have made what it
/// likes before it took names out: the signature that the whole had before cannot be kept, as its hashes would tell the names.
fn another_redacted(signers: &[Signer], id: &str) -> Option<String> {
    let role = Role::Test;
    let measured = measured(signers, role).any(|own| own == id);
    (!measured).then(|| {
        format!(
            "{id} signed everything as {REDACTOR}, and nothing shows that it is the host that measured: what \
             {} did not sign as measured is the word of {REDACTOR}",
            role.name()
        )
    })
}

/// Everything must be signed by somebody; hosts of which each stands for itself are worth more, where the
/// whole is signed by the one that measured.
fn tier(signers: &[Signer], whole: Option<&Whole>, parties: &[Party]) -> Tier {
    let of_role = |role: Role| valid(signers, words(Covers::Measurements), role.name()).next();
    let others = || parties.iter().map(|one| one.role).filter(|role| *role != Role::Test);
    let test = of_role(Role::Test);
    let stands = |role: Role| of_role(role).is_some_and(|id| Some(id) != test);
    let all = test.is_some() && others().next().is_some() && others().all(stands);
    match whole {
        None => Tier::Unsigned,
        Some(Whole { doubt: None }) if all => Tier::AllRolesSigned,
        Some(_) => Tier::SelfSigned,
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
/// What a role measured, as an earlier program stated it.
const EARLIER: &str = "earlier measurements";
/// Three roles, each twice, and a redactor.
const MOST_SIGNATURES: usize = 16;
