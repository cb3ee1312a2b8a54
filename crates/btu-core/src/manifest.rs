//! What a result is made of, by hash: the text that its hosts sign.
//!
//! A manifest names every file of a result with its length and hash, and every line of its journal, so
//! that a change by hand is not only noticed but named.

mod measurements;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;

use crate::words::several;

pub use measurements::Accounts;
pub use measurements::RunLabel;
pub use measurements::Statement;
pub use measurements::account;
pub use measurements::accounts;

/// `manifest.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Version of this shape.
    pub manifest_version: u32,
    /// The program that wrote it: `btu 0.1.0`.
    pub program: String,
    /// The files, by name.
    pub files: BTreeMap<String, FileEntry>,
    /// BLAKE3 of the manifest that this result had before it was redacted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub redacted_from: Option<String>,
    /// What was taken out then, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub redactions: Vec<String>,
}

/// One file of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// Its length.
    pub bytes: u64,
    /// BLAKE3 of its content, hexadecimal.
    pub blake3: String,
    /// Of a journal file: the first 64 bits of BLAKE3 of each line, hexadecimal, without the newline.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lines: Option<Vec<String>>,
}

/// One entry of `signatures.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// `test`, `active` or `passive`: the part that the signing host had.
    pub role: String,
    /// What is signed.
    pub covers: Covers,
    /// The signing host: the hash of its public key.
    pub id: String,
    /// Its public key as `SubjectPublicKeyInfo`, hexadecimal.
    pub key: String,
    /// The ed25519 signature, hexadecimal.
    pub signature: String,
}

/// What a signature covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Covers {
    /// Every file, by the manifest.
    Manifest,
    /// What the role measured, by its [`Statement`].
    Measurements,
}

/// A file that is not as the manifest says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deviation {
    /// The file, with the number of the line where that is known: `samples.jsonl:12`.
    pub place: String,
    /// What is wrong with it.
    pub detail: String,
}

impl Manifest {
    /// The manifest of these files, by name.
    pub fn of<'f>(program: &str, files: impl IntoIterator<Item = (&'f str, &'f [u8])>) -> Self {
        let entry =
            |(name, content): (&str, &[u8])| (name.to_owned(), FileEntry::of(name, content));
        Self {
            manifest_version: VERSION,
            program: program.to_owned(),
            files: files.into_iter().map(entry).collect(),
            redacted_from: None,
            redactions: Vec::new(),
        }
    }

    /// As its file: pretty JSON and a newline. These bytes are what is signed.
    pub fn to_json(&self) -> String {
        pretty(self)
    }

    /// Reads `manifest.json`.
    ///
    /// # Errors
    /// It is no manifest, or one of a later version.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        let manifest: Self = serde_json::from_slice(text).map_err(|cause| cause.to_string())?;
        match manifest.manifest_version {
            VERSION => Ok(manifest),
            other => Err(format!("version {other}; this program reads version {VERSION}")),
        }
    }

    /// True where it holds a file of this name with this content.
    pub fn has(&self, name: &str, content: &[u8]) -> bool {
        self.files.get(name).is_some_and(|entry| entry.blake3 == hash(content))
    }

    /// Where the files are not as the manifest says. `content` gives a file by name.
    pub fn deviations<'f>(&self, content: impl Fn(&str) -> Option<&'f [u8]>) -> Vec<Deviation> {
        let of = |(name, entry): (&String, &FileEntry)| match content(name) {
            Some(content) => entry.deviation(name, content),
            None => Some(Deviation::new(name, "missing".to_owned())),
        };
        self.files.iter().filter_map(of).collect()
    }
}

impl FileEntry {
    fn of(name: &str, content: &[u8]) -> Self {
        Self {
            bytes: u64::try_from(content.len()).unwrap_or(u64::MAX),
            blake3: hash(content),
            lines: is_journal(name).then(|| lines(content).map(line_hash).collect()),
        }
    }

    fn deviation(&self, name: &str, content: &[u8]) -> Option<Deviation> {
        if self.blake3 == hash(content) {
            return None;
        }
        let line = self.lines.as_ref().map(|known| changed_line(known, content));
        Some(match line {
            Some((number, detail)) => Deviation::new(&format!("{name}:{number}"), detail),
            None => Deviation::new(name, "changed after it was signed".to_owned()),
        })
    }
}

impl Deviation {
    fn new(place: &str, detail: String) -> Self {
        Self { place: place.to_owned(), detail }
    }
}

/// BLAKE3, hexadecimal.
pub fn hash(content: &[u8]) -> String {
    blake3::hash(content).to_hex().to_string()
}

/// `signatures.json`: pretty JSON and a newline.
pub fn signatures_json(signatures: &[Signature]) -> String {
    pretty(&signatures)
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Hexadecimal digits as bytes; `None` for anything else.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> =
        text.chars().map(|c| c.to_digit(16)?.try_into().ok()).collect::<Option<_>>()?;
    let pairs = digits.chunks(2).map(|pair| Some(pair.first()? << 4 | pair.get(1)?));
    pairs.collect()
}

fn pretty(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

/// The first line that is not as it was, and how the number of lines changed.
fn changed_line(known: &[String], content: &[u8]) -> (usize, String) {
    let found: Vec<String> = lines(content).map(line_hash).collect();
    let same = known.iter().zip(&found).take_while(|(before, now)| before == now).count();
    let detail = match (known.len(), found.len()) {
        (before, now) if now < before => {
            format!("{} of {before} gone", several(before - now, "line"))
        }
        (before, now) if now > before => {
            format!("{} added to {before}", several(now - before, "line"))
        }
        _ => "changed after it was signed".to_owned(),
    };
    (same + 1, detail)
}

fn lines(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    content.strip_suffix(b"\n").unwrap_or(content).split(|byte| *byte == b'\n')
}

fn line_hash(line: &[u8]) -> String {
    blake3::hash(line).to_hex().chars().take(16).collect()
}

fn is_journal(name: &str) -> bool {
    std::path::Path::new(name).extension().is_some_and(|ending| ending == "jsonl")
}

const VERSION: u32 = 1;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const JOURNAL: &[u8] = b"{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n";

    fn manifest() -> Manifest {
        Manifest::of("btu 1.0", [("plan.toml", &b"seed = 7\n"[..]), ("samples.jsonl", JOURNAL)])
    }

    fn deviations(plan: Option<&[u8]>, journal: &[u8]) -> Vec<String> {
        let content = |name: &str| if name == "plan.toml" { plan } else { Some(journal) };
        let found = manifest().deviations(content);
        found.into_iter().map(|one| format!("{}: {}", one.place, one.detail)).collect()
    }

    #[test]
    fn whole_files_have_no_deviation_and_the_text_reads_back() {
        assert!(deviations(Some(b"seed = 7\n"), JOURNAL).is_empty());
        assert_eq!(Manifest::parse(manifest().to_json().as_bytes()), Ok(manifest()));
    }

    #[test]
    fn a_change_is_named_by_file_and_line() {
        let journals: [(&[u8], &str); 3] = [
            (b"{\"a\":1}\n{\"a\":9}\n{\"a\":3}\n", "samples.jsonl:2: changed after it was signed"),
            (b"{\"a\":1}\n{\"a\":3}\n", "samples.jsonl:2: 1 line of 3 gone"),
            (b"{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n{}\n", "samples.jsonl:4: 1 line added to 3"),
        ];
        for (journal, said) in journals {
            assert_eq!(deviations(Some(b"seed = 7\n"), journal), [said]);
        }
        let changed = deviations(Some(b"seed = 8\n"), JOURNAL);
        assert_eq!(changed, ["plan.toml: changed after it was signed"]);
        assert_eq!(deviations(None, JOURNAL), ["plan.toml: missing"]);
    }

    #[test]
    fn a_manifest_of_tomorrow_and_unknown_keys_are_refused() {
        let later =
            manifest().to_json().replace("\"manifest_version\": 1", "\"manifest_version\": 2");
        assert_eq!(
            Manifest::parse(later.as_bytes()),
            Err("version 2; this program reads version 1".to_owned())
        );
        let more = manifest().to_json().replace("\"program\"", "\"extra\": 1, \"program\"");
        assert!(Manifest::parse(more.as_bytes()).is_err());
    }

    proptest! {
        #[test]
        fn any_changed_byte_is_noticed(at in 0..JOURNAL.len(), by in 1..=255_u8) {
            let mut changed = JOURNAL.to_vec();
            changed[at] = changed[at].wrapping_add(by);
            prop_assert_eq!(deviations(Some(b"seed = 7\n"), &changed).len(), 1);
        }

        #[test]
        fn hexadecimal_reads_back(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            prop_assert_eq!(unhex(&hex(&bytes)), Some(bytes));
        }
    }

    #[test]
    fn half_a_byte_is_no_hexadecimal() {
        assert_eq!([unhex("abc"), unhex("0g")], [None, None]);
    }
}
