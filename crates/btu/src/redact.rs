//! The verb `redact`: a result without names, wherever they stand, signed anew.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::path::PathBuf;

use anyhow::anyhow;
use btu_control::Identity;
use btu_core::file::plan as file_service;
use btu_core::journal::file;
use btu_core::manifest::Covers;
use btu_core::manifest::Manifest;
use btu_core::manifest::Signature;
use btu_core::manifest::hash;
use btu_core::manifest::signatures_json;
use btu_core::mesh::plan as mesh;
use btu_core::redaction::Redactor;
use btu_core::traffic::plan as traffic;
use btu_report::BundleError;
use btu_report::MANIFEST;
use btu_report::OpenMode;
use btu_report::ResultFiles;
use btu_report::SIGNATURES;
use btu_report::Tier;

use crate::bundle;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::output;
use crate::sign;

/// Options of `btu redact`.
#[derive(Debug, clap::Args)]
pub(crate) struct RedactArgs {
    /// The directory of a result, or its bundle
    #[arg(value_name = "DIR|FILE")]
    result: PathBuf,
    /// Where the redacted result goes: a new directory, or a bundle where it ends in .btu
    #[arg(long, short, value_name = "OUT")]
    output: PathBuf,
    /// Keep the user's note (what is replaced elsewhere is replaced in it, too)
    #[arg(long)]
    keep_notes: bool,
    /// Write exactly one JSON document to stdout
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub(crate) fn redact(args: &RedactArgs) -> Result<Exit, Failure> {
    let files = ResultFiles::read(&args.result).map_err(Failure::usage)?;
    let is_signed = untouched(&files)?;
    let identity = sign::own_identity().map_err(Failure::environment)?;
    let mut redacted = Redacted::of(&files, &identity, args.keep_notes)?;
    if !is_signed && !redacted.told.is_empty() {
        redacted.told.push(UNSIGNED.to_owned());
    }
    let content = redacted.files(&files, &identity)?;
    write(&args.output, &content)?;
    if args.json {
        output::json(&serde_json::json!({
            "output": args.output,
            "redacted_from": files.get(MANIFEST).map(hash),
            "redactions": redacted.told,
        }))?;
    } else {
        let told = match &redacted.told[..] {
            [] => "nothing to redact; it is the same result".to_owned(),
            told => told.join("; "),
        };
        output::result(&format!("{}: {told}\n", args.output.display()))?;
    }
    Ok(Exit::Done)
}

/// The plan of a result.
enum Plan<'f> {
    /// It names the hosts of agents.
    OfAgents(Box<traffic::Plan>),
    /// It names the hosts of a mesh.
    OfMesh(Box<mesh::Plan>),
    /// It names a server of others.
    OfTarget(Box<file_service::Plan>),
    /// It holds no names.
    Plain(&'f [u8]),
}

impl<'f> Plan<'f> {
    fn of(files: &'f ResultFiles) -> Result<Self, Failure> {
        let content = files.get(file::PLAN).unwrap_or_default();
        let text = std::str::from_utf8(content).unwrap_or_default();
        if file_service::Plan::is_in(text) {
            let plan = file_service::Plan::stored(file::PLAN, text).map_err(Failure::usage)?;
            let is_plain = plan.target.is_none();
            return Ok(if is_plain {
                Self::Plain(content)
            } else {
                Self::OfTarget(Box::new(plan))
            });
        }
        if mesh::Plan::is_in(text) {
            let plan = mesh::Plan::stored(file::PLAN, text).map_err(Failure::usage)?;
            return Ok(Self::OfMesh(Box::new(plan)));
        }
        if !traffic::Plan::is_in(text) {
            return Ok(Self::Plain(content));
        }
        let plan = traffic::Plan::stored(file::PLAN, text).map_err(Failure::usage)?;
        let is_plain = plan.agents.is_empty();
        Ok(if is_plain { Self::Plain(content) } else { Self::OfAgents(Box::new(plan)) })
    }

    /// What hosts are called in it.
    fn names(&self) -> Vec<&str> {
        match self {
            Self::OfMesh(plan) => plan.hosts.iter().map(String::as_str).collect(),
            Self::OfTarget(plan) => vec![plan.far()],
            Self::OfAgents(plan) => plan.agents.values().map(String::as_str).collect(),
            Self::Plain(_) => Vec::new(),
        }
    }

    /// Files and directories of a server of others.
    fn operands(&self) -> Vec<String> {
        let Self::OfTarget(plan) = self else { return Vec::new() };
        let directories = plan.target.iter().flat_map(|target| target.directories.clone());
        directories.chain(plan.object.clone()).collect()
    }

    /// What is sent is drawn by the names of its tests: those stay.
    fn redacted(self, redactor: &mut Redactor) -> Vec<u8> {
        let mut plan = match self {
            Self::OfAgents(plan) => plan,
            Self::OfMesh(mut plan) => {
                plan.hosts = plan.hosts.iter().map(|host| redactor.agent(host)).collect();
                plan.racks = plan.racks.iter().map(|rack| redactor.words(rack)).collect();
                return plan.to_toml().into_bytes();
            }
            Self::OfTarget(mut plan) => {
                plan.target = plan.target.map(|target| redactor.target(&target));
                plan.object = plan.object.map(|object| redactor.path(&object));
                return plan.to_toml().into_bytes();
            }
            Self::Plain(content) => return content.to_vec(),
        };
        for name in plan.agents.values_mut() {
            *name = redactor.agent(name);
        }
        for cell in &mut plan.cells {
            cell.label = redactor.words(&cell.label);
        }
        plan.to_toml().into_bytes()
    }
}

/// Whoever redacts signs anew, and must not sign what somebody else changed. True where somebody stands for the whole.
fn untouched(files: &ResultFiles) -> Result<bool, Failure> {
    let found = btu_report::verify(files, &sign::signer).accepting_unsigned();
    let Some(first) = found.violations.first() else { return Ok(found.tier != Tier::Unsigned) };
    let cause = anyhow!("not what was measured: {}: {}", first.place, first.detail);
    Err(Failure::usage(cause).hint("btu verify names every violation"))
}

/// A result's own files without names, and what was replaced.
struct Redacted {
    own: BTreeMap<String, Vec<u8>>,
    told: Vec<String>,
}

impl Redacted {
    fn of(files: &ResultFiles, identity: &Identity, keep_notes: bool) -> Result<Self, Failure> {
        let mut disclosure = files.disclosure().map_err(Failure::usage)?;
        let key = blake3::derive_key(KEY, identity.pkcs8());
        let plan = Plan::of(files)?;
        let mut redactor =
            Redactor::new(key, &disclosure).knowing(plan.names()).knowing_operands(plan.operands());
        let note = if keep_notes { None } else { disclosure.note.take() };
        let hosts = serde_json::to_vec_pretty(&redactor.disclosure(disclosure));
        let mut own = BTreeMap::from([
            (file::HOSTS.to_owned(), hosts.map_err(Failure::environment)?),
            (file::PLAN.to_owned(), plan.redacted(&mut redactor)),
        ]);
        let mut torn = Vec::new();
        for name in [file::SAMPLES, file::EVENTS] {
            let (whole, rest) = whole_lines(files.get(name).unwrap_or_default());
            own.insert(name.to_owned(), lines(whole, &mut redactor));
            torn.extend((!rest.is_empty()).then(|| format!("torn line of {name} left out")));
        }
        knows_its_plan(&mut own, files.get(file::PLAN).unwrap_or_default());
        let mut told = redactor.told();
        told.extend(torn);
        told.extend(note.map(|_| "the note left out".to_owned()));
        let dropped = LEFT_OUT.into_iter().filter(|name| files.get(name).is_some());
        told.extend(dropped.map(|name| format!("{name} left out")));
        Ok(Self { own, told })
    }

    /// Every file of the redacted result: what is computed of the journal is computed anew.
    fn files(
        &self,
        before: &ResultFiles,
        identity: &Identity,
    ) -> Result<BTreeMap<String, Vec<u8>>, Failure> {
        if self.told.is_empty() {
            return Ok(before.all().clone());
        }
        let mut own = ResultFiles::new(before.origin(), self.own.clone());
        let mut files = self.own.clone();
        for (format, name) in [("json", file::RESULT), ("html", file::REPORT)] {
            if before.get(name).is_some() {
                files.insert(name.to_owned(), rendered(&own, format)?);
            }
        }
        own = ResultFiles::new(before.origin(), files);
        let mut manifest = Manifest::of(sign::PROGRAM, own.signed());
        manifest.redacted_from = before.get(MANIFEST).map(hash);
        manifest.redactions.clone_from(&self.told);
        let manifest = manifest.to_json();
        let mut signatures = vec![sign::whole(identity, "redactor", &manifest)];
        signatures.extend(of_roles(before));
        let mut files = own.all().clone();
        files.insert(MANIFEST.to_owned(), manifest.into_bytes());
        files.insert(SIGNATURES.to_owned(), signatures_json(&signatures).into_bytes());
        Ok(files)
    }
}

/// The start of a measurement knows its plan by a hash: where names were taken out of the plan, it gets that of the new one.
fn knows_its_plan(own: &mut BTreeMap<String, Vec<u8>>, before: &[u8]) {
    let hashes = [before, &own[file::PLAN]].map(hash);
    let Some(events) = own.get_mut(file::EVENTS) else { return };
    let [was, is] = hashes;
    *events = String::from_utf8_lossy(events).replace(&was, &is).into_bytes();
}

/// What the roles measured has no names in it, so their signatures still hold.
fn of_roles(files: &ResultFiles) -> Vec<Signature> {
    let text = files.get(SIGNATURES).unwrap_or(b"[]");
    let all: Vec<Signature> = serde_json::from_slice(text).unwrap_or_default();
    all.into_iter().filter(|one| one.covers == Covers::Measurements).collect()
}

fn rendered(files: &ResultFiles, format: &str) -> Result<Vec<u8>, Failure> {
    if !files.is_run() {
        let stored = files.open(OpenMode::Strict).map_err(Failure::unreadable)?;
        return stored.render(format).map_err(Failure::usage);
    }
    // The packets of second runs are full of names and stay behind.
    let opened = btu_report::open_files(files, OpenMode::Strict).map_err(Failure::unreadable)?;
    let analysis = opened.analyse_without_packets();
    btu_report::render_run(format, &opened.journal, &analysis).map_err(Failure::usage)
}

/// The lines of a journal, and what a crash left of another one: nobody can tell which names are in that.
fn whole_lines(content: &[u8]) -> (&[u8], &[u8]) {
    let end = content.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    content.split_at(end)
}

/// The lines of a journal; those without names stay as they are, byte by byte.
fn lines(content: &[u8], redactor: &mut Redactor) -> Vec<u8> {
    let text = String::from_utf8_lossy(content);
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        out += redactor.line(line).as_deref().unwrap_or(line);
        out.push('\n');
    }
    out.into_bytes()
}

/// A new directory, or a new bundle.
fn write(path: &Path, files: &BTreeMap<String, Vec<u8>>) -> Result<(), Failure> {
    if path.extension().is_some_and(|ending| ending == "btu") {
        let packed = btu_report::pack(files).map_err(|error| too_large(path, error))?;
        return bundle::write(path, &packed);
    }
    std::fs::create_dir(path).map_err(|cause| not_made(path, cause))?;
    files.iter().try_for_each(|(name, content)| bundle::write(&path.join(name), content))
}

/// Another name helps where this one is taken, or in a directory that is not there.
fn not_made(path: &Path, cause: io::Error) -> Failure {
    let of_name = matches!(cause.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound);
    let cause = anyhow::Error::new(cause).context(format!("create {}", path.display()));
    if of_name {
        return Failure::usage(cause).hint("name a new directory in one that is there");
    }
    Failure::environment(cause)
}

fn too_large(path: &Path, error: BundleError) -> Failure {
    let cause = anyhow::Error::new(error).context(format!("write {}", path.display()));
    Failure::usage(cause).hint("name an output that does not end in .btu: it is made a directory")
}

/// What the key of the aliases is derived for: they are those of this host, and of nobody else's.
const KEY: &str = "btu 2026-11 aliases of redacted results";
/// What a redactor says of a result that may have been changed before it came there.
const UNSIGNED: &str = "nobody had signed the whole of it";
/// The user's own texts.
const LEFT_OUT: [&str; 3] = [file::PLAN_GIVEN, "samples.torn", "events.torn"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_that_is_too_large_for_a_bundle_is_redacted_into_a_directory() {
        let refused = too_large(Path::new("public.btu"), BundleError::TooLarge(64));
        let told = format!("{:#}", refused.cause);
        assert_eq!(told, "write public.btu: too large: more than 64 MiB");
        assert!(refused.hint.unwrap().contains("does not end in .btu"));
    }
}
