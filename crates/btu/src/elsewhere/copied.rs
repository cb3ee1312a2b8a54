//! What another host measured so far, kept here as it comes: whatever becomes of that host, the runs that
//! are done are in the result directory.

use btu_core::journal::file::SAMPLES;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use anyhow::Context;
use anyhow::bail;
use btu_control::HostId;
use btu_report::MANIFEST;
use btu_report::ResultFiles;
use btu_report::SIGNATURES;

use super::claim::Claim;
use super::disk::append;
use super::disk::replace;
use super::proof;
use super::proof::Files;
use super::proof::Proof;
use super::told::announce;
use super::told::settle;
use super::told::stored;
use crate::exit::Failure;
use crate::measurement::place;

/// A result directory that another host fills, piece by piece.
#[derive(Clone, Debug)]
pub(crate) struct Copied(Arc<Mutex<Inner>>);

#[derive(Debug)]
struct Inner {
    out: PathBuf,
    /// What came before the first run: without one there is nothing to keep, and no directory that stays.
    before: Files,
    /// What the other host stands for of that.
    proof: Option<Proof>,
    /// The directory, until the end is told: nobody else writes to it.
    claim: Option<Claim>,
    /// Whether a run is in it.
    begun: bool,
    bytes: u64,
    /// Why nothing more is kept, once something could not be.
    failed: Option<String>,
}

impl Copied {
    /// Into a new directory: the one that is named, or the first default one that nobody else takes meanwhile.
    pub(super) fn anew(
        named: Option<&Path>,
        default: impl Fn() -> PathBuf,
    ) -> Result<Self, Failure> {
        place::first_free(named, default, Self::into)
    }

    /// Into a directory that is free, and from now on taken.
    fn into(out: &Path) -> Result<Self, Failure> {
        Ok(Self::of(Inner::new(out, Claim::free(out)?)))
    }

    fn of(inner: Inner) -> Self {
        Self(Arc::new(Mutex::new(inner)))
    }

    /// Into the directory of a test that was cut off, with what `host` told of it and what it needs to
    /// know that again, as a bundle. What came without its proof is taken away: it was not acknowledged,
    /// and is made again.
    pub(super) fn going_on(out: &Path, host: HostId) -> anyhow::Result<(Self, Vec<u8>)> {
        let claim = Claim::held(out)?;
        let (proof, mut part) = stored(out, host)?;
        claim.cut(part.get(SAMPLES).map_or(0, Vec::len))?;
        for (name, content) in part.iter().filter(|(name, _)| *name != SAMPLES) {
            replace(&out.join(name), content)?;
        }
        announce(out, &proof).and_then(|()| settle(out))?;
        // They are of a result that was whole, or looked so.
        for name in [MANIFEST, SIGNATURES] {
            drop(std::fs::remove_file(out.join(name)));
        }
        let bytes = part.values().map(|content| content.len() as u64).sum();
        proof.join(&mut part);
        let inner = Inner { begun: true, bytes, ..Inner::new(out, claim) };
        Ok((Self::of(inner), btu_report::pack(&part)?))
    }

    /// The directory.
    pub(crate) fn out(&self) -> PathBuf {
        self.locked().out.clone()
    }

    /// Keeps what the result grew by. What cannot be kept is told once: the whole comes at the end, unless
    /// it is cut off.
    pub(crate) fn keep(&self, packed: &[u8], tell: fn(&str)) {
        let mut inner = self.locked();
        if inner.failed.is_some() {
            return;
        }
        if let Err(error) = inner.keep(packed) {
            let reason = format!("{error:#}");
            tell(&format!("btu: warning: runs are not kept here before the end: {reason}"));
            inner.failed = Some(reason);
        }
    }

    /// Where the runs are that were kept, if there is one. From now on nothing more is kept, and the
    /// directory is free for whoever opens it.
    pub(super) fn released(&self) -> Option<PathBuf> {
        let mut inner = self.locked();
        inner.failed.get_or_insert_with(|| "the end was told".to_owned());
        drop(inner.claim.take()?);
        inner.begun.then(|| inner.out.clone())
    }

    /// True where a whole result begins with what was told of it before.
    pub(super) fn begins(&self, files: &ResultFiles) -> bool {
        let inner = self.locked();
        proof::APPENDED.iter().all(|name| {
            let kept = if inner.begun {
                std::fs::read(inner.out.join(name)).ok()
            } else {
                inner.before.get(*name).cloned()
            };
            let whole = files.all().get(*name).map_or(&[][..], Vec::as_slice);
            kept.is_none_or(|kept| whole.starts_with(&kept))
        })
    }

    fn locked(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Nothing was told yet for this directory.
    fn new(out: &Path, claim: Claim) -> Self {
        Self {
            out: out.to_owned(),
            before: Files::new(),
            proof: None,
            claim: Some(claim),
            begun: false,
            bytes: 0,
            failed: None,
        }
    }

    fn keep(&mut self, packed: &[u8]) -> anyhow::Result<()> {
        let mut grown = btu_report::unpack(packed).context("what came is no part of a result")?;
        let proof = Proof::part(&mut grown);
        if let Some(proof) = proof.as_ref().filter(|_| self.begun) {
            announce(&self.out, proof)?;
        }
        for (name, content) in grown {
            if !proof::is_kept(&name) {
                bail!("{name} is no file of a result that is being made");
            }
            self.bytes = self.bytes.saturating_add(content.len() as u64);
            if self.bytes > MOST {
                bail!("more than {} MiB", MOST >> 20);
            }
            self.add(&name, &content)?;
        }
        if self.begun {
            return proof.map_or(Ok(()), |_| settle(&self.out));
        }
        self.proof = proof;
        if self.before.contains_key(SAMPLES) { self.begin() } else { Ok(()) }
    }

    fn add(&mut self, name: &str, content: &[u8]) -> anyhow::Result<()> {
        let is_whole = proof::WHOLE.contains(&name);
        if !self.begun {
            let file = self.before.entry(name.to_owned()).or_default();
            if is_whole {
                file.clear();
            }
            file.extend_from_slice(content);
            return Ok(());
        }
        let path = self.out.join(name);
        if is_whole {
            return replace(&path, content);
        }
        append(&path, content)
    }

    /// The plan comes last, as in every result: a directory that has one has all that was told with it.
    fn begin(&mut self) -> anyhow::Result<()> {
        let claim = self.claim.as_mut().context("the end was told")?;
        let files = std::mem::take(&mut self.before);
        claim.begin(&files[SAMPLES])?;
        self.begun = true;
        for (name, content) in files.iter().filter(|(name, _)| *name != SAMPLES) {
            replace(&self.out.join(name), content)?;
        }
        match self.proof.take() {
            Some(proof) => announce(&self.out, &proof).and_then(|()| settle(&self.out)),
            None => Ok(()),
        }
    }
}

/// No result is longer, all files together.
const MOST: u64 = 256 << 20;

#[cfg(test)]
mod tests;
