//! Reading the kernel's text files below a root that tests can replace.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::path::PathBuf;

use btu_core::disclosure::Fact;

/// The file system below a root: `/` on a real host, a made-up tree in tests.
#[derive(Clone, Debug)]
pub struct Files {
    root: PathBuf,
}

impl Files {
    /// The host's own files.
    pub fn host() -> Self {
        Self::below("/")
    }

    /// Files below `root`.
    pub fn below(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// True where these are this host's own: what its kernel says otherwise then belongs to them.
    pub fn is_host(&self) -> bool {
        self.root == Path::new("/")
    }

    /// A whole file, without the white space at its end.
    pub fn text(&self, path: &str) -> io::Result<String> {
        let bytes = std::fs::read(self.at(path))?;
        Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
    }

    /// A file as a fact: a number where it is one, else text; or why there is none.
    pub fn fact(&self, path: &str) -> Fact {
        self.text(path).map_or_else(|error| unavailable(&error), |text| value(&text))
    }

    /// Names of the entries of a directory, ascending; none where it cannot be read.
    pub fn names(&self, path: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.at(path)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// The readable files of a directory as one fact: name to content.
    pub fn directory(&self, path: &str) -> Fact {
        let texts = self.names(path).into_iter().filter_map(|name| {
            let text = self.text(&format!("{path}/{name}")).ok()?;
            Some((name, serde_json::Value::String(text)))
        });
        let texts: serde_json::Map<String, serde_json::Value> = texts.collect();
        match (texts.is_empty(), std::fs::read_dir(self.at(path))) {
            (false, _) => Fact::known(texts),
            (true, Err(error)) => unavailable(&error),
            (true, Ok(_)) => Fact::unavailable("the directory has no readable file"),
        }
    }

    /// `key<separator>value` lines of a file; the first of each key counts.
    pub fn pairs(&self, path: &str, separator: char) -> io::Result<BTreeMap<String, String>> {
        let mut pairs = BTreeMap::new();
        for line in self.text(path)?.lines() {
            if let Some((key, value)) = line.split_once(separator) {
                let value = value.trim().trim_matches('"').to_owned();
                pairs.entry(key.trim().to_owned()).or_insert(value);
            }
        }
        Ok(pairs)
    }

    /// True where there is such a file or directory.
    pub fn exists(&self, path: &str) -> bool {
        self.at(path).exists()
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.join(Path::new(path).strip_prefix("/").unwrap_or(Path::new(path)))
    }
}

/// A number where the text is one, else the text.
pub(crate) fn value(text: &str) -> Fact {
    text.parse::<i64>().map_or_else(|_| Fact::known(text), Fact::known)
}

/// `ENOENT: no such file or directory`
pub(crate) fn unavailable(error: &io::Error) -> Fact {
    let name = match error.kind() {
        io::ErrorKind::NotFound => "ENOENT",
        io::ErrorKind::PermissionDenied => "EACCES",
        io::ErrorKind::InvalidInput => "EINVAL",
        io::ErrorKind::Unsupported => "EOPNOTSUPP",
        _ => "error",
    };
    Fact::unavailable(format!("{name}: {error}"))
}
