//! The files of a result, read from its directory or its bundle.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::path::PathBuf;

use btu_core::disclosure::Disclosure;
use btu_core::journal::file;
use btu_core::sample::CaptureFile;

use crate::bundle;
use crate::bundle::RESULT_FILES;
use crate::store::StoreError;
use crate::store::hosts;

/// The files of one result, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultFiles {
    origin: PathBuf,
    files: BTreeMap<String, Vec<u8>>,
    others: Vec<String>,
}

impl ResultFiles {
    /// Reads a directory, or a bundle where `path` is a file.
    ///
    /// # Errors
    /// There is no result there, a file cannot be read, or the bundle is damaged.
    pub fn read(path: &Path) -> Result<Self, StoreError> {
        let read = if path.is_file() { Self::new(path, unbundled(path)?) } else { listed(path)? };
        if !read.files.contains_key(file::PLAN) {
            return Err(StoreError::NoResult { directory: path.to_owned() });
        }
        Ok(read)
    }

    /// These files, as if they had been read from `origin`.
    pub fn new(origin: &Path, files: BTreeMap<String, Vec<u8>>) -> Self {
        Self { origin: origin.to_owned(), files, others: Vec::new() }
    }

    /// Where they were read from.
    pub fn origin(&self) -> &Path {
        &self.origin
    }

    /// The content of a file.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.files.get(name).map(Vec::as_slice)
    }

    /// All files, in the order of their names.
    pub const fn all(&self) -> &BTreeMap<String, Vec<u8>> {
        &self.files
    }

    /// What a manifest names: all but itself and what signs it.
    pub fn signed(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let signed = |name: &str| name != MANIFEST && name != SIGNATURES;
        let all = self.files.iter().map(|(name, content)| (name.as_str(), content.as_slice()));
        all.filter(move |(name, _)| signed(name))
    }

    /// Other files beside them, which are no part of the result.
    pub fn others(&self) -> &[String] {
        &self.others
    }

    /// What is disclosed of the hosts.
    ///
    /// # Errors
    /// `hosts.json` is missing or not what it should be.
    pub fn disclosure(&self) -> Result<Disclosure, StoreError> {
        hosts(self)
    }

    /// A file of captured packets or the extract of one; `None` where it is not there, as in every bundle.
    pub(crate) fn capture(&self, path: &str) -> Option<Vec<u8>> {
        let name = path.strip_prefix(CaptureFile::FOLDER)?.strip_prefix('/')?;
        let plain = |c: char| c.is_ascii_alphanumeric() || "+_-.%".contains(c);
        if name.starts_with('.') || !name.chars().all(plain) {
            return None;
        }
        let path = self.origin.join(CaptureFile::FOLDER).join(name);
        let is_file = std::fs::metadata(&path).is_ok_and(|found| found.is_file());
        is_file.then(|| std::fs::read(path).ok()).flatten()
    }

    /// A file that must be there.
    pub(crate) fn required(&self, name: &str) -> Result<&[u8], StoreError> {
        self.get(name).ok_or_else(|| StoreError::Read {
            path: self.origin.join(name),
            source: std::io::Error::from_raw_os_error(NO_SUCH_FILE),
        })
    }

    /// A text that must be there.
    pub(crate) fn text(&self, name: &str) -> Result<&str, StoreError> {
        std::str::from_utf8(self.required(name)?).map_err(|cause| StoreError::Read {
            path: self.origin.join(name),
            source: std::io::Error::new(std::io::ErrorKind::InvalidData, cause),
        })
    }
}

/// Name of the manifest.
pub const MANIFEST: &str = "manifest.json";
/// Name of the file of signatures.
pub const SIGNATURES: &str = "signatures.json";
/// ENOENT: a file that is not there is told as the system would tell it.
const NO_SUCH_FILE: i32 = 2;

fn unbundled(path: &Path) -> Result<BTreeMap<String, Vec<u8>>, StoreError> {
    let bytes = limited(path, bundle::LONGEST_BUNDLE)?;
    let files = bundle::unpack(&bytes);
    files.map_err(|source| StoreError::Bundle { path: path.to_owned(), source })
}

/// The files of a result in a directory, and the names of all others.
fn listed(path: &Path) -> Result<ResultFiles, StoreError> {
    let (mut files, mut others) = (BTreeMap::new(), Vec::new());
    let entries = std::fs::read_dir(path)
        .map_err(|source| StoreError::Read { path: path.to_owned(), source })?;
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if RESULT_FILES.contains(&name.as_str()) {
            files.insert(name, regular(&entry.path())?);
        } else if name != CaptureFile::FOLDER {
            others.push(name);
        }
    }
    others.sort();
    Ok(ResultFiles { origin: path.to_owned(), files, others })
}

/// A whole file of a result: whatever else lies there might be waited for without end.
fn regular(path: &Path) -> Result<Vec<u8>, StoreError> {
    match std::fs::metadata(path) {
        Ok(found) if !found.is_file() => {
            let source = std::io::Error::other("it is no regular file");
            Err(StoreError::Read { path: path.to_owned(), source })
        }
        _ => limited(path, bundle::LONGEST_RESULT),
    }
}

/// A whole file, unless it is longer than any of a result.
fn limited(path: &Path, longest: usize) -> Result<Vec<u8>, StoreError> {
    let read = |source| StoreError::Read { path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(read)?;
    let mut bytes = Vec::new();
    let limit = u64::try_from(longest).unwrap_or(u64::MAX).saturating_add(1);
    file.take(limit).read_to_end(&mut bytes).map_err(read)?;
    if bytes.len() > longest {
        let source = bundle::BundleError::TooLarge(longest >> 20);
        return Err(StoreError::Bundle { path: path.to_owned(), source });
    }
    Ok(bytes)
}
