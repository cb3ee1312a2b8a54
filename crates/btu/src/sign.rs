//! Signing a result: who stands for its files and for what each role measured.

use anyhow::Context;
use btu_control::HostId;
use btu_control::Identity;
use btu_control::JournalDir;
use btu_control::PublicKey;
use btu_control::Purpose;
use btu_control::state_directory;
use btu_core::journal::Journal;
use btu_core::journal::Record;
use btu_core::journal::file;
use btu_core::manifest::Covers;
use btu_core::manifest::Manifest;
use btu_core::manifest::Signature;
use btu_core::manifest::Statement;
use btu_core::manifest::hex;
use btu_core::manifest::signatures_json;
use btu_core::manifest::unhex;
use btu_core::role::Role;
use btu_report::Claim;
use btu_report::MANIFEST;
use btu_report::ResultFiles;
use btu_report::SIGNATURES;

use crate::exit::Failure;
use crate::measurement::journal::journal_failure;
use crate::output;

/// The program as manifests name it.
pub(crate) const PROGRAM: &str = concat!("btu ", env!("CARGO_PKG_VERSION"));

/// The identity of this host, made at first use.
pub(crate) fn own_identity() -> anyhow::Result<Identity> {
    let state = state_directory(|name| std::env::var_os(name));
    let state = state.context("no state directory: set BTU_STATE_DIR or HOME")?;
    Ok(Identity::load_or_create(&state)?)
}

/// Signs the finished result of a run: every file, and what this host measured. On the local testbed
/// that is what every role did; elsewhere the black boxes are other hosts, which signed `others`.
pub(crate) fn sign_run(
    directory: &JournalDir,
    journal: &Journal,
    others: &[Signature],
) -> Result<(), Failure> {
    sign(directory, |identity| {
        let measured = journal.records.iter().any(|record| matches!(record, Record::Cell(_)));
        let local = journal.plan.testbed_class.is_local();
        let roles: &[Role] = match (measured, local) {
            (false, _) => &[],
            (true, true) => &Role::ALL,
            (true, false) => &[Role::Test],
        };
        let own = roles.iter().map(|role| measurements(identity, *role, journal));
        own.chain(others.iter().cloned()).collect()
    })
}

/// Signs the finished result of a measurement that has no roles: a ping-pong, traffic.
pub(crate) fn sign_files(directory: &JournalDir) -> Result<(), Failure> {
    sign(directory, |_| Vec::new())
}

/// Takes away what only a result has that came to its end, before more is measured: it would be wrong, and a run that
/// is killed then has none of it. Signatures first, so that they never stand beside less than they cover.
pub(crate) fn reopen(directory: &JournalDir) {
    for name in [SIGNATURES, MANIFEST, file::REPORT, file::RESULT] {
        drop(std::fs::remove_file(directory.path().join(name)));
    }
}

/// True where the result has its manifest, and somebody signed that: who had no identity left an empty list.
pub(crate) fn is_signed(directory: &JournalDir) -> bool {
    let signatures = std::fs::read(directory.path().join(SIGNATURES)).unwrap_or_default();
    let signatures: Vec<Signature> = serde_json::from_slice(&signatures).unwrap_or_default();
    let signs_all = signatures.iter().any(|one| one.covers == Covers::Manifest);
    signs_all && directory.path().join(MANIFEST).is_file()
}

/// True where the manifest has a file of this name with this content.
pub(crate) fn has_signed(directory: &JournalDir, name: &str, content: &[u8]) -> bool {
    let manifest = std::fs::read(directory.path().join(MANIFEST)).ok();
    let manifest = manifest.and_then(|text| Manifest::parse(&text).ok());
    manifest.is_some_and(|manifest| manifest.has(name, content))
}

/// Writes the manifest and its signatures. Without an identity the result stays whole, unsigned.
fn sign(
    directory: &JournalDir,
    of_roles: impl Fn(&Identity) -> Vec<Signature>,
) -> Result<(), Failure> {
    let files = ResultFiles::read(directory.path()).map_err(Failure::environment)?;
    let manifest = Manifest::of(PROGRAM, files.signed()).to_json();
    let signatures = match own_identity() {
        Ok(identity) => {
            let mut signatures = vec![whole(&identity, Role::Test.name(), &manifest)];
            signatures.extend(of_roles(&identity));
            signatures
        }
        Err(error) => {
            output::message(&format!("btu: warning: the result is not signed: {error:#}"));
            Vec::new()
        }
    };
    directory.write(MANIFEST, manifest.as_bytes()).map_err(journal_failure)?;
    directory.write(SIGNATURES, signatures_json(&signatures).as_bytes()).map_err(journal_failure)
}

/// The signature over every file.
pub(crate) fn whole(identity: &Identity, role: &str, manifest: &str) -> Signature {
    signature(identity, role, Covers::Manifest, manifest.as_bytes())
}

/// The signature over what a role measured.
fn measurements(identity: &Identity, role: Role, journal: &Journal) -> Signature {
    let statement = Statement::of(role, journal.plan.seed, &journal.records).text();
    signature(identity, role.name(), Covers::Measurements, statement.as_bytes())
}

fn signature(identity: &Identity, role: &str, covers: Covers, message: &[u8]) -> Signature {
    Signature {
        role: role.to_owned(),
        covers,
        id: identity.id().to_string(),
        key: hex(&identity.public_key().spki()),
        signature: hex(&identity.sign(purpose(covers), message)),
    }
}

/// A black box's signature over what it measured, as it came from there.
pub(crate) fn of_another(role: Role, key: String, signature: String) -> Signature {
    let public = unhex(&key).and_then(|spki| PublicKey::from_spki(&spki));
    let id = public.map_or_else(String::new, |key| key.id().to_string());
    let covers = Covers::Measurements;
    Signature { role: role.name().to_owned(), covers, id, key, signature }
}

/// True where a host with this id signed these bytes.
pub(crate) fn holds(signed: &Signature, by: HostId, message: &[u8]) -> bool {
    let Some((key, signature)) = unhex(&signed.key).zip(unhex(&signed.signature)) else {
        return false;
    };
    let claim = Claim { key: &key, covers: signed.covers, message, signature: &signature };
    signer(&claim).is_some_and(|id| id == by.to_string())
}

/// The id of the host that made a signature; `None` where it does not hold.
pub(crate) fn signer(claim: &Claim<'_>) -> Option<String> {
    let key = PublicKey::from_spki(claim.key)?;
    let holds = key.verifies(purpose(claim.covers), claim.message, claim.signature);
    holds.then(|| key.id().to_string())
}

const fn purpose(covers: Covers) -> Purpose {
    match covers {
        Covers::Manifest => Purpose::Manifest,
        Covers::Measurements => Purpose::Measurements,
    }
}
