//! Lines of a journal file to records and back, and what to do with lines that are damaged.
//!
//! A line is whole when it ends in a newline: it was written by one write. A last line without one
//! is *torn* (the process or the machine died inside the write) and its run is repeated; any other
//! line that cannot be read is *corrupted* and is never passed over in silence. Empty lines at the end
//! (an editor leaves them) hold nothing and are passed over; one in the middle is corrupted.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::EventRecord;
use super::Record;
use super::plausible::implausible;
use super::plausible::implausible_point;
use crate::app;
use crate::file;
use crate::mesh;
use crate::pingpong;
use crate::traffic;
use crate::words::several;

/// One line of a journal file.
///
/// Its own implementation for each kind, so that the reading is compiled here, once and optimised, and not in
/// every crate that reads journals.
pub trait StoredLine: Sized {
    /// A line without its newline as a record, or why it is none.
    ///
    /// # Errors
    /// What is no JSON, no such record, or one that nobody can have measured, by place and cause.
    fn parse(line: &[u8]) -> Result<Self, String>;
}

impl StoredLine for EventRecord {
    fn parse(line: &[u8]) -> Result<Self, String> {
        from_json(line)
    }
}

impl StoredLine for Record {
    fn parse(line: &[u8]) -> Result<Self, String> {
        let record = from_json(line)?;
        implausible(&record).map_or(Ok(record), Err)
    }
}

impl StoredLine for pingpong::sample::Line {
    fn parse(line: &[u8]) -> Result<Self, String> {
        let line = from_json(line)?;
        let wrong = match &line {
            Self::PingPongForeign(curve) => curve.points.iter().find_map(implausible_point),
            _ => None,
        };
        wrong.map_or(Ok(line), Err)
    }
}

impl StoredLine for app::sample::Line {
    fn parse(line: &[u8]) -> Result<Self, String> {
        from_json(line)
    }
}

impl StoredLine for file::sample::Line {
    fn parse(line: &[u8]) -> Result<Self, String> {
        from_json(line)
    }
}

impl StoredLine for mesh::sample::Line {
    fn parse(line: &[u8]) -> Result<Self, String> {
        from_json(line)
    }
}

impl StoredLine for traffic::sample::Line {
    fn parse(line: &[u8]) -> Result<Self, String> {
        from_json(line)
    }
}

/// What a journal file held.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines<R> {
    /// The records, in order.
    pub records: Vec<R>,
    /// The torn last line.
    pub torn: Option<TornLine>,
    /// Numbers of the lines that [`salvage`] left out; empty from [`read`].
    pub unreadable: Vec<usize>,
    /// Length of the whole lines: the file beyond is torn or empty.
    pub end: usize,
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
#[error("{file}:{line}: corrupted line ({cause}); {}", following(*valid_after))]
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

/// `3 valid lines follow it`
fn following(lines: usize) -> String {
    let verb = if lines == 1 { "follows" } else { "follow" };
    format!("{} {verb} it", several(lines, "valid line"))
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
pub fn read<R: StoredLine>(file: &str, bytes: &[u8]) -> Result<Lines<R>, CorruptedLine> {
    let Split { whole, torn, end } = split(bytes);
    let mut records = Vec::with_capacity(whole.len());
    for (index, text) in whole.iter().enumerate() {
        match R::parse(text) {
            Ok(record) => records.push(record),
            Err(cause) => {
                let valid_after = whole[index + 1..].iter().filter(|l| R::parse(l).is_ok()).count();
                return Err(CorruptedLine {
                    file: file.to_owned(),
                    line: index + 1,
                    cause,
                    valid_after,
                });
            }
        }
    }
    Ok(Lines { records, torn, unreadable: Vec::new(), end })
}

/// Reads every line that can be read, and names the others.
pub fn salvage<R: StoredLine>(bytes: &[u8]) -> Lines<R> {
    let Split { whole, torn, end } = split(bytes);
    let mut lines = Lines { records: Vec::new(), torn, unreadable: Vec::new(), end };
    for (index, text) in whole.iter().enumerate() {
        match R::parse(text) {
            Ok(record) => lines.records.push(record),
            Err(_) => lines.unreadable.push(index + 1),
        }
    }
    lines
}

/// A file, taken apart.
struct Split<'b> {
    /// The whole lines, without their newlines.
    whole: Vec<&'b [u8]>,
    torn: Option<TornLine>,
    /// Where the whole lines end.
    end: usize,
}

fn split(bytes: &[u8]) -> Split<'_> {
    let last = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |last| last + 1);
    let text = without_empty_end(&bytes[..last]);
    let (whole, end) = (lines_of(text), text.len());
    let rest = &bytes[end..];
    let torn = (!rest.trim_ascii().is_empty()).then(|| TornLine {
        number: whole.len() + 1,
        offset: end,
        bytes: rest.to_vec(),
    });
    Split { whole, torn, end }
}

/// Whole lines without the empty ones at their end.
fn without_empty_end(mut text: &[u8]) -> &[u8] {
    while let Some(body) = text.strip_suffix(b"\n") {
        let begin = body.iter().rposition(|b| *b == b'\n').map_or(0, |newline| newline + 1);
        if !body[begin..].trim_ascii().is_empty() {
            break;
        }
        text = &text[..begin];
    }
    text
}

fn from_json<R: DeserializeOwned>(line: &[u8]) -> Result<R, String> {
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
    #[test]
    fn empty_lines_at_the_end_hold_nothing_and_one_in_the_middle_is_corrupted() {
        for tail in ["\n", "\n\n", " \t\r\n", "\n  "] {
            let whole = file(&["a", "b"]);
            let bytes = [&whole[..], tail.as_bytes()].concat();
            let lines = read::<EventRecord>("events.jsonl", &bytes).unwrap();
            assert_eq!((lines.records.len(), lines.torn, lines.end), (2, None, whole.len()));
            assert_eq!(salvage::<EventRecord>(&bytes).unreadable, [0_usize; 0]);
        }
        let torn = [&file(&["a"])[..], b"\n{\"at\""].concat();
        let torn = read::<EventRecord>("events.jsonl", &torn).unwrap().torn.unwrap();
        assert_eq!((torn.number, torn.bytes), (2, b"\n{\"at\"".to_vec()));
        let middle = [&file(&["a"])[..], b"\n", &file(&["c"])].concat();
        let error = read::<EventRecord>("events.jsonl", &middle).unwrap_err();
        assert_eq!((error.line, error.valid_after), (2, 1));
        assert!(read::<EventRecord>("events.jsonl", b"\n\n").unwrap().records.is_empty());
    }
}
