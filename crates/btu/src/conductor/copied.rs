//! What another host measured so far, kept here as it comes: whatever becomes of that host, the runs that
//! are done are in the result directory.

use std::collections::BTreeMap;
use std::fs::File;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use anyhow::Context;
use anyhow::bail;
use btu_report::ResultFiles;

/// A result directory that another host fills, piece by piece.
#[derive(Clone, Debug)]
pub(crate) struct Copied(Arc<Mutex<Inner>>);

#[derive(Debug)]
struct Inner {
    out: PathBuf,
    /// What came before the first run: without one there is nothing to keep, and no directory.
    before: BTreeMap<String, Vec<u8>>,
    /// The file of samples, held so that nobody else goes on with it.
    held: Option<File>,
    bytes: u64,
    /// Why nothing more is kept, once something could not be.
    failed: Option<String>,
}

impl Copied {
    /// Into a directory that is free.
    pub(crate) fn into(out: &Path) -> Self {
        Self(Arc::new(Mutex::new(Inner {
            out: out.to_owned(),
            before: BTreeMap::new(),
            held: None,
            bytes: 0,
            failed: None,
        })))
    }

    /// Keeps what the result grew by. What cannot be kept is told once: the whole comes at the end, unless
    /// it is cut off.
    pub(super) fn keep(&self, packed: &[u8], tell: fn(&str)) {
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
        inner.held.take().map(|_| inner.out.clone())
    }

    /// True where a whole result begins with what was told of it before.
    pub(crate) fn begins(&self, files: &ResultFiles) -> bool {
        let inner = self.locked();
        JOURNAL.iter().all(|name| {
            let kept = match inner.held {
                None => inner.before.get(*name).cloned(),
                Some(_) => std::fs::read(inner.out.join(name)).ok(),
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
    fn keep(&mut self, packed: &[u8]) -> anyhow::Result<()> {
        let grown = btu_report::unpack(packed).context("what came is no part of a result")?;
        for (name, content) in grown {
            if !WHOLE.contains(&name.as_str()) && !JOURNAL.contains(&name.as_str()) {
                bail!("{name} is no file of a result that is being made");
            }
            self.bytes = self.bytes.saturating_add(content.len() as u64);
            if self.bytes > MOST {
                bail!("more than {} MiB", MOST >> 20);
            }
            self.add(&name, &content)?;
        }
        if self.held.is_none() && self.before.contains_key(SAMPLES) {
            self.begin()?;
        }
        Ok(())
    }

    fn add(&mut self, name: &str, content: &[u8]) -> anyhow::Result<()> {
        let is_whole = WHOLE.contains(&name);
        if self.held.is_none() {
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
        append(&path, content).map(drop)
    }

    /// The plan comes last, as in every result: a directory that has one has all that was told with it.
    fn begin(&mut self) -> anyhow::Result<()> {
        std::fs::create_dir_all(&self.out)
            .with_context(|| format!("create {}", self.out.display()))?;
        let files = std::mem::take(&mut self.before);
        let samples = append(&self.out.join(SAMPLES), &files[SAMPLES])?;
        samples.try_lock().context("another process writes to this result")?;
        self.held = Some(samples);
        for (name, content) in files.iter().filter(|(name, _)| *name != SAMPLES) {
            replace(&self.out.join(name), content)?;
        }
        Ok(())
    }
}

/// Writes a file beside the old one, then in its place.
pub(super) fn replace(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let fresh = path.with_added_extension("new");
    let written = std::fs::write(&fresh, content).and_then(|()| std::fs::rename(&fresh, path));
    written.with_context(|| format!("write {}", path.display()))
}

fn append(path: &Path, content: &[u8]) -> anyhow::Result<File> {
    let opened = OpenOptions::new().create(true).append(true).read(true).open(path);
    let written = opened.and_then(|mut file| {
        file.write_all(content)?;
        file.sync_data()?;
        Ok(file)
    });
    written.with_context(|| format!("write {}", path.display()))
}

const SAMPLES: &str = "samples.jsonl";
/// Files that come line by line.
const JOURNAL: [&str; 2] = ["events.jsonl", SAMPLES];
/// Files that come as a whole.
const WHOLE: [&str; 3] = ["hosts.json", "plan.given.toml", "plan.toml"];
/// No result is longer, all files together.
const MOST: u64 = 256 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(files: &[(&str, &str)]) -> Vec<u8> {
        let file = |(name, text): &(&str, &str)| ((*name).to_owned(), text.as_bytes().to_vec());
        btu_report::pack(&files.iter().map(file).collect())
    }

    fn silent(_: &str) {}

    #[test]
    fn runs_are_on_the_disk_when_they_were_told_and_nothing_is_there_before_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("result");
        let copied = Copied::into(&out);
        copied.keep(&packed(&[("plan.toml", "seed = 7\n"), ("hosts.json", "{}")]), silent);
        assert!(!out.exists());
        copied.keep(&packed(&[("samples.jsonl", "1\n"), ("events.jsonl", "a\n")]), silent);
        copied.keep(&packed(&[("samples.jsonl", "2\n"), ("hosts.json", "{\"a\":1}")]), silent);
        let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
        assert_eq!(read("samples.jsonl"), "1\n2\n");
        assert_eq!(
            (read("plan.toml").as_str(), read("hosts.json").as_str()),
            ("seed = 7\n", "{\"a\":1}")
        );
        let whole = |samples: &str| {
            let files = [("samples.jsonl", samples), ("events.jsonl", "a\nb\n")];
            let files = files.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
            ResultFiles::new(&out, files.into())
        };
        assert!(copied.begins(&whole("1\n2\n3\n")));
        assert!(!copied.begins(&whole("1\n3\n")), "a run was told otherwise before");
        assert!(!copied.begins(&whole("1\n")), "a run is missing");
        assert_eq!(copied.released(), Some(out));
        assert_eq!(copied.released(), None);
    }

    #[test]
    fn nothing_but_parts_of_a_result_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("result");
        for bad in [packed(&[("result.json", "{}"), ("samples.jsonl", "1\n")]), b"none".to_vec()] {
            let copied = Copied::into(&out);
            copied.keep(&bad, silent);
            copied.keep(&packed(&[("samples.jsonl", "1\n")]), silent);
            assert!(!out.exists(), "after a fault nothing more is believed");
        }
    }
}
