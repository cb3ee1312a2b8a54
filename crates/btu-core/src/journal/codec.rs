//! Lines of a journal file to records and back, and what to do with lines that are damaged.
//!
//! A line is whole when it ends in a newline: it was written by one write. A last line without one
//! is *torn* (the process or the machine died inside the write) and its run is repeated; any other
//! line that cannot be read is *corrupted* and is never passed over in silence.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// What a journal file held.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines<R> {
    /// The records, in order.
    pub records: Vec<R>,
    /// The torn last line.
    pub torn: Option<TornLine>,
    /// Numbers of the lines that [`salvage`] left out; empty from [`read`].
    pub unreadable: Vec<usize>,
}

/// A last line that was cut off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornLine {
    /// Its number, from 1.
    pub number: usize,
    /// Where it begins in the file: everything before it is whole.
    pub offset: usize,
    /// What is left of it.
    pub bytes: Vec<u8>,
}

/// A line in the middle of a journal cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{file}:{line}: corrupted line ({cause}); {valid_after} valid lines follow it")]
pub struct CorruptedLine {
    /// Name of the file.
    pub file: String,
    /// Number of the line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub cause: String,
    /// How many lines after it can be read.
    pub valid_after: usize,
}

/// One record as its line, newline included.
///
/// # Errors
/// A value that JSON cannot express (a map with keys that are no text).
pub fn line<R: Serialize>(record: &R) -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string(record)?;
    text.push('\n');
    Ok(text)
}

/// Reads a journal file whole.
///
/// # Errors
/// The first corrupted line, with the number of valid lines after it.
pub fn read<R: DeserializeOwned>(file: &str, bytes: &[u8]) -> Result<Lines<R>, CorruptedLine> {
    let (whole, torn) = split(bytes);
    let mut records = Vec::with_capacity(whole.len());
    for (index, text) in whole.iter().enumerate() {
        match parse(text) {
            Ok(record) => records.push(record),
            Err(cause) => {
                let valid_after =
                    whole[index + 1..].iter().filter(|l| parse::<R>(l).is_ok()).count();
                return Err(CorruptedLine {
                    file: file.to_owned(),
                    line: index + 1,
                    cause,
                    valid_after,
                });
            }
        }
    }
    Ok(Lines { records, torn, unreadable: Vec::new() })
}

/// Reads every line that can be read, and names the others.
pub fn salvage<R: DeserializeOwned>(bytes: &[u8]) -> Lines<R> {
    let (whole, torn) = split(bytes);
    let mut lines = Lines { records: Vec::new(), torn, unreadable: Vec::new() };
    for (index, text) in whole.iter().enumerate() {
        match parse(text) {
            Ok(record) => lines.records.push(record),
            Err(_) => lines.unreadable.push(index + 1),
        }
    }
    lines
}

/// The whole lines, without their newlines, and the torn one.
fn split(bytes: &[u8]) -> (Vec<&[u8]>, Option<TornLine>) {
    let end = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |last| last + 1);
    let whole = lines_of(&bytes[..end]);
    let rest = &bytes[end..];
    let torn = (!rest.is_empty()).then(|| TornLine {
        number: whole.len() + 1,
        offset: end,
        bytes: rest.to_vec(),
    });
    (whole, torn)
}

/// One line as a record, or why it is none.
fn parse<R: DeserializeOwned>(line: &[u8]) -> Result<R, String> {
    serde_json::from_slice(line).map_err(|cause| cause.to_string())
}

/// The lines of a text that ends in a newline, or is empty.
fn lines_of(text: &[u8]) -> Vec<&[u8]> {
    match text.strip_suffix(b"\n") {
        Some(body) => body.split(|b| *b == b'\n').collect(),
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::EventRecord;

    fn event(detail: &str) -> EventRecord {
        EventRecord {
            at: "2026-11-21T00:00:00Z".into(),
            event: "warning".into(),
            detail: detail.into(),
        }
    }

    fn file(details: &[&str]) -> Vec<u8> {
        details.iter().flat_map(|d| line(&event(d)).unwrap().into_bytes()).collect()
    }

    #[test]
    fn a_journal_round_trips() {
        let lines = read::<EventRecord>("events.jsonl", &file(&["a", "b"])).unwrap();
        assert_eq!(lines.records, [event("a"), event("b")]);
        assert_eq!(lines.torn, None);
    }

    #[test]
    fn an_empty_file_holds_nothing() {
        assert!(read::<EventRecord>("events.jsonl", b"").unwrap().records.is_empty());
    }

    #[test]
    fn every_cut_gives_the_whole_lines_and_the_torn_rest() {
        let bytes = file(&["a", "b"]);
        let first = line(&event("a")).unwrap().len();
        for cut in 0..bytes.len() {
            let lines = read::<EventRecord>("events.jsonl", &bytes[..cut]).unwrap();
            assert_eq!(lines.records.len(), usize::from(cut >= first));
            let offset = if cut >= first { first } else { 0 };
            assert_eq!(lines.torn.map(|t| t.offset), (cut != offset).then_some(offset));
        }
    }

    #[test]
    fn a_corrupted_middle_is_named_with_what_follows() {
        let mut bytes = file(&["a"]);
        bytes.extend_from_slice(b"{\"at\":7}\n");
        bytes.extend(file(&["c", "d"]));
        let error = read::<EventRecord>("events.jsonl", &bytes).unwrap_err();
        assert_eq!((error.line, error.valid_after), (2, 2));
        assert!(error.to_string().starts_with("events.jsonl:2: corrupted line (invalid type"));
        let lines = salvage::<EventRecord>(&bytes);
        assert_eq!((lines.records.len(), lines.unreadable), (3, vec![2]));
    }
}
