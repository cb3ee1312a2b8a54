//! The programs that ask the servers of a cell, each for a bounded time.

use std::fs::File;
use std::io;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use btu_sys::process::dies_with_its_starter;

use crate::error::EngineError;

/// A program that runs. Dropped, it is killed and waited for.
#[derive(Debug)]
pub(super) struct Running(Child);

impl Running {
    /// Starts a program with nothing on its standard input. It dies with the calling thread, and no key of a terminal
    /// reaches it.
    pub(super) fn start(command: &mut Command) -> Result<Self, EngineError> {
        let named = EngineError::file("start", command.get_program().to_owned());
        let command = dies_with_its_starter(command.stdin(Stdio::null()).process_group(0));
        command.spawn().map(Self).map_err(named)
    }

    pub(super) fn id(&self) -> u32 {
        self.0.id()
    }

    /// True once it has ended.
    pub(super) fn has_ended(&mut self) -> bool {
        !matches!(self.0.try_wait(), Ok(None))
    }

    /// Waits for its end, which comes by itself; whether it was content.
    pub(super) fn end(&mut self) -> io::Result<bool> {
        self.0.wait().map(|status| status.success())
    }

    /// The same until a moment; `None` where it goes on.
    pub(super) fn end_before(&mut self, end: Instant) -> io::Result<Option<bool>> {
        loop {
            if let Some(status) = self.0.try_wait()? {
                return Ok(Some(status.success()));
            }
            if Instant::now() >= end {
                return Ok(None);
            }
            thread::sleep(GLANCE);
        }
    }

    /// What it had to complain of, after its end.
    pub(super) fn complaint(&mut self) -> String {
        let mut said = Vec::new();
        if let Some(pipe) = self.0.stderr.take() {
            // What cannot be read is not there.
            let _ = pipe.take(LONGEST).read_to_end(&mut said);
        }
        one_line(&String::from_utf8_lossy(&said))
    }

    pub(super) fn kill(&mut self) {
        // One that has ended cannot be killed, which is as good.
        let _ = self.0.kill();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
        let _ = self.0.wait();
    }
}

/// Runs a tool to its end, which has to come before `end`; what it wrote on its standard output.
pub(super) fn ask(tool: &str, words: &[&str], end: Instant) -> Result<String, EngineError> {
    let said = read_of(tool, words, end)?;
    said.map_err(|complaint| {
        EngineError::Refused(format!("afs: {}: {complaint}", shown(tool, words)))
    })
}

/// Asks until the answer has what is waited for.
pub(super) fn await_word(
    tool: &str,
    words: &[&str],
    wanted: &str,
    end: Instant,
) -> Result<(), EngineError> {
    loop {
        let said = read_of(tool, words, end)?;
        if said.is_ok_and(|text| text.contains(wanted)) {
            return Ok(());
        }
        if Instant::now() >= end {
            let tool = shown(tool, words);
            return Err(EngineError::Refused(format!("afs: {tool}: no {wanted:?} in time")));
        }
        thread::sleep(PAUSE);
    }
}

/// What a tool said; `Err` with its complaint where it was not content.
fn read_of(
    tool: &str,
    words: &[&str],
    end: Instant,
) -> Result<Result<String, String>, EngineError> {
    let named = || EngineError::peer(format!("afs: {}", shown(tool, words)));
    let (mut read, write) = io::pipe().map_err(named())?;
    let mut command = Command::new(tool);
    command.args(words).stdout(write).stderr(Stdio::piped());
    let mut running = Running::start(&mut command)?;
    // The end of the pipe comes with that of the tool alone.
    drop(command);
    let Some(is_content) = running.end_before(end).map_err(named())? else {
        return Err(named()(io::ErrorKind::TimedOut.into()));
    };
    let mut said = String::new();
    read.read_to_string(&mut said).map_err(named())?;
    Ok(if is_content { Ok(said) } else { Err(running.complaint()) })
}

/// An empty file for what a program says that nobody reads unless something is wrong.
pub(super) fn record(path: &Path) -> Result<File, EngineError> {
    File::create(path).map_err(EngineError::file("write", path))
}

fn shown(tool: &str, words: &[&str]) -> String {
    let name = tool.rsplit('/').next().unwrap_or(tool);
    format!("{name} {}", words.join(" "))
}

/// Lines of a program, for a sentence.
fn one_line(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join("; ")
}

pub(super) const AFSIO: &str = "/usr/bin/afsio";
pub(super) const CACHE_MANAGER: &str = "/usr/sbin/afsd.fuse";
pub(super) const PTS: &str = "/usr/bin/pts";
pub(super) const RXDEBUG: &str = "/usr/bin/rxdebug";
pub(super) const UDEBUG: &str = "/usr/bin/udebug";
pub(super) const VOS: &str = "/usr/bin/vos";

/// Between two looks whether a program has ended.
const GLANCE: Duration = Duration::from_millis(5);

/// Between two questions to a server that comes up.
const PAUSE: Duration = Duration::from_millis(100);

/// Bytes of a complaint.
const LONGEST: u64 = 2000;
