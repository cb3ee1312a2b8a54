//! The audit log of an agent: who came, what was granted and refused, one line each, chained.

use std::fs::File;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::time::Duration;
use std::time::Instant;

use btu_control::agent::Entry;
use serde::Serialize;

use crate::output;
use crate::run::place::timestamp;

/// The log. Each line holds a hash over the one before and itself: a line that is changed or taken
/// out afterwards shows.
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
    /// Goes on with the log of earlier starts.
    pub(super) fn open(path: PathBuf) -> Self {
        let second = (Instant::now(), 0);
        let (file, chain, failing) = (None, String::new(), false);
        let mut log = Self { path, file, number: 0, chain, second, suppressed: 0, failing };
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
        let old = |n: u32| self.path.with_extension(format!("ndjson.{n}"));
        for n in (1..KEPT).rev() {
            drop(std::fs::rename(old(n), old(n + 1)));
        }
        drop(std::fs::rename(&self.path, old(1)));
        self.reopen();
    }

    fn reopen(&mut self) {
        let opened = OpenOptions::new().create(true).append(true).mode(0o600).open(&self.path);
        if let Err(error) = &opened {
            output::message(&format!("btu agent: open {}: {error}", self.path.display()));
        }
        self.file = opened.ok();
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

const MOST_PER_SECOND: u32 = 100;
const LONGEST: u64 = 10 << 20;
const KEPT: u32 = 5;
