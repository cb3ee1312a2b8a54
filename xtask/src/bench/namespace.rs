//! A network namespace beside that of the bench: another host, as long as somebody holds it.

use std::process::Child;
use std::process::Command;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;

const PATIENCE: Duration = Duration::from_secs(10);

/// It lives as long as the process that holds it.
pub(super) struct Namespace {
    holder: Child,
}

impl Namespace {
    pub(super) fn new() -> Result<Self> {
        let mut command = Command::new("unshare");
        let holder = command.args(["--net", "sleep", "infinity"]).spawn().context("run unshare")?;
        let namespace = Self { holder };
        namespace.is_apart()?;
        Ok(namespace)
    }

    /// The process that holds it.
    pub(super) fn holder(&self) -> u32 {
        self.holder.id()
    }

    /// A command that starts inside.
    pub(super) fn command(&self, line: &str) -> Command {
        let words = self.line(line.split(' ').map(String::from));
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        command
    }

    /// The words that start a command inside.
    pub(super) fn line(&self, words: impl IntoIterator<Item = String>) -> Vec<String> {
        let target = self.holder.id().to_string();
        let enter = ["nsenter", "--net", "--target", &target];
        enter.into_iter().map(String::from).chain(words).collect()
    }

    /// Runs a command inside, which must succeed.
    pub(super) fn run(&self, line: &str) -> Result<()> {
        let status = self.command(line).status().with_context(|| format!("run nsenter {line}"))?;
        if status.success() { Ok(()) } else { bail!("{line}: {status}") }
    }

    /// Waits until the holder has its namespace.
    fn is_apart(&self) -> Result<()> {
        let theirs = format!("/proc/{}/ns/net", self.holder.id());
        waited("a namespace", || {
            let own = std::fs::read_link("/proc/self/ns/net")?;
            Ok(std::fs::read_link(&theirs)? != own)
        })
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // Gone already is as good.
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

/// Waits until something is reached.
pub(super) fn waited(what: &str, reached: impl Fn() -> std::io::Result<bool>) -> Result<()> {
    let started = Instant::now();
    while !reached().unwrap_or(false) {
        if started.elapsed() > PATIENCE {
            bail!("{what} is not there after {} s", PATIENCE.as_secs());
        }
        thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}
