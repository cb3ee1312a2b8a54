//! The audit log of an agent: who came, what was granted and refused, one line each, chained.

use std::fs::File;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;
use std::time::Instant;

use btu_control::agent::Entry;
use serde::Deserialize;
use serde::Serialize;

use crate::measurement::place::timestamp;
use crate::output;
use crate::state::ends_with_a_line;

/// The log. Each line holds a hash over the one before and itself, also over a restart: a line that is changed
/// or taken out afterwards shows.
#[derive(Debug)]
pub(super) struct Audit {
    path: PathBuf,
    file: Option<File>,
    number: u64,
    chain: String,
    /// Lines of this second, and since when it lasts.
    second: (Instant, u32),
    suppressed: u64,
    /// The last line could not be written whole.
    failing: bool,
}

#[derive(Serialize)]
struct Line<'a> {
    n: u64,
    at: String,
    #[serde(flatten)]
    entry: &'a Entry,
    #[serde(skip_serializing_if = "is_zero")]
    suppressed: u64,
}

impl Audit {
    /// Goes on with the log of earlier starts, where its last line left off.
    pub(super) fn open(path: PathBuf) -> Self {
        let second = (Instant::now(), 0);
        let (file, failing) = (None, false);
        let last = last(&path).or_else(|| last(&older(&path, 1)));
        let (number, chain) = last.map_or((0, String::new()), |last| (last.n, last.h));
        let mut log = Self { path, file, number, chain, second, suppressed: 0, failing };
        log.reopen();
        log
    }

    /// Appends a line. A log that cannot be written is said once, and work goes on; the first line
    /// that can be written again counts those that were lost.
    pub(super) fn append(&mut self, entry: &Entry) {
        if self.is_flooded() {
            self.suppressed += 1;
            return;
        }
        self.number += 1;
        let suppressed = self.suppressed;
        let line = Line { n: self.number, at: timestamp(), entry, suppressed };
        let Ok(mut value) = serde_json::to_value(&line) else { return };
        let hash = blake3::hash(format!("{}{value}", self.chain).as_bytes());
        self.chain = hash.to_hex().chars().take(16).collect();
        value["h"] = self.chain.clone().into();
        self.write(&format!("{value}\n"));
        if !self.failing {
            self.suppressed = 0;
        }
    }

    fn write(&mut self, line: &str) {
        let Some(file) = &mut self.file else { return };
        // A part of the line that failed may stand there.
        let end = if self.failing { "\n" } else { "" };
        match file.write_all(format!("{end}{line}").as_bytes()) {
            Ok(()) => self.failing = false,
            Err(error) => {
                if !self.failing {
                    output::message(&format!("btu agent: write {}: {error}", self.path.display()));
                }
                self.failing = true;
                self.suppressed += 1;
            }
        }
        if self
            .file
            .as_ref()
            .and_then(|file| file.metadata().ok())
            .is_some_and(|m| m.len() > LONGEST)
        {
            self.rotate();
        }
    }

    /// At most so many lines a second: a flood of strangers must not fill the disk.
    fn is_flooded(&mut self) -> bool {
        if self.second.0.elapsed() >= Duration::from_secs(1) {
            self.second = (Instant::now(), 0);
        }
        self.second.1 += 1;
        self.second.1 > MOST_PER_SECOND
    }

    fn rotate(&mut self) {
        let old = |n: u32| older(&self.path, n);
        for n in (1..KEPT).rev() {
            drop(std::fs::rename(old(n), old(n + 1)));
        }
        drop(std::fs::rename(&self.path, old(1)));
        self.reopen();
    }

    fn reopen(&mut self) {
        let mut options = OpenOptions::new();
        let opened = options.create(true).append(true).read(true).mode(0o600).open(&self.path);
        if let Err(error) = &opened {
            output::message(&format!("btu agent: open {}: {error}", self.path.display()));
        }
        self.file = opened.ok();
        // What a full disk or a kill left of a line is none, and nothing is joined to it.
        if let Some(file) =
            self.file.as_mut().filter(|file| !ends_with_a_line(file).unwrap_or(true))
        {
            drop(file.write_all(b"\n"));
        }
    }
}

/// What the next line goes on from.
#[derive(Deserialize)]
struct Last {
    n: u64,
    h: String,
}

/// Of a file of the log; `None` where there is no whole line.
fn last(path: &Path) -> Option<Last> {
    let text = std::fs::read(path).ok()?;
    text.split_inclusive(|byte| *byte == b'\n')
        .rev()
        .filter(|line| line.ends_with(b"\n"))
        .find_map(|line| serde_json::from_slice(line).ok())
}

/// A file of the log that was full.
fn older(path: &Path, n: u32) -> PathBuf {
    path.with_extension(format!("ndjson.{n}"))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

const MOST_PER_SECOND: u32 = 100;
const LONGEST: u64 = 10 << 20;
const KEPT: u32 = 5;

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn said(log: &mut Audit, detail: &str) {
        let detail = detail.to_owned();
        log.append(&Entry { event: "refused", peer: None, from: None, detail });
    }

    /// The details of all lines, each of which has to follow from the one before.
    fn chained(text: &str) -> Vec<String> {
        let mut before = String::new();
        let mut details = Vec::new();
        for (line, n) in text.lines().filter_map(|line| serde_json::from_str(line).ok()).zip(1..) {
            let mut line: Value = line;
            let told = line.as_object_mut().unwrap().remove("h").unwrap();
            let hash = blake3::hash(format!("{before}{line}").as_bytes()).to_hex();
            before = hash.chars().take(16).collect();
            assert_eq!((line["n"].as_u64(), &told), (Some(n), &before.clone().into()), "{line}");
            details.push(line["detail"].as_str().unwrap().to_owned());
        }
        details
    }

    #[test]
    fn the_chain_goes_on_when_the_agent_starts_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.ndjson");
        for start in ["a", "b"] {
            let mut log = Audit::open(path.clone());
            said(&mut log, start);
            said(&mut log, start);
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(chained(&text), ["a", "a", "b", "b"]);
        // A line that was torn is none, and takes no other along.
        std::fs::write(&path, &text[..text.len() - 9]).unwrap();
        said(&mut Audit::open(path.clone()), "c");
        assert_eq!(chained(&std::fs::read_to_string(&path).unwrap()), ["a", "a", "b", "c"]);
        // The file was full just before.
        std::fs::rename(&path, folder.path().join("audit.ndjson.1")).unwrap();
        said(&mut Audit::open(path.clone()), "d");
        let read = |path: &Path| std::fs::read_to_string(path).unwrap();
        let whole = read(&folder.path().join("audit.ndjson.1")) + &read(&path);
        assert_eq!(chained(&whole), ["a", "a", "b", "c", "d"]);
    }
}
