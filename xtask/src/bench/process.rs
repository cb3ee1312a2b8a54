//! Two ends of a measurement as processes: pinned, awaited, and their CPU time read from outside.

use std::io::Read;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;

/// The kernel counts CPU time of others in ticks of this length (`USER_HZ` is 100 everywhere).
const TICK_SECONDS: f64 = 0.01;

/// How long a forking server may take to reap a child whose connection is over.
const LEAVE: Duration = Duration::from_secs(1);

const PATIENCE: Duration = Duration::from_secs(30);

/// One end; killed if it still runs when it goes out of scope.
pub(super) struct End {
    child: Child,
    line: String,
}

impl End {
    /// Starts a command line on one CPU.
    pub(super) fn start(cpu: usize, words: &[String]) -> Result<Self> {
        let line = words.join(" ");
        let child = Command::new("taskset")
            .args(["-c", &cpu.to_string()])
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("run taskset -c {cpu} {line}"))?;
        Ok(Self { child, line })
    }

    /// Waits until the end listens on a TCP port of the namespace that it is in.
    pub(super) fn listens(&self, port: u16) -> Result<()> {
        let started = Instant::now();
        while !listening(self.child.id(), port)? {
            if started.elapsed() > PATIENCE {
                bail!("{}: does not listen on port {port}", self.line);
            }
            thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }

    /// What it printed, once it has closed its output.
    pub(super) fn output(&mut self) -> Result<String> {
        let mut text = String::new();
        let stdout = self.child.stdout.as_mut().context("read an end's output")?;
        stdout.read_to_string(&mut text).with_context(|| format!("read {}", self.line))?;
        Ok(text)
    }

    /// Waits for its end, which must be a good one.
    pub(super) fn succeeded(&mut self) -> Result<()> {
        let status = self.child.wait().with_context(|| format!("wait for {}", self.line))?;
        if !status.success() {
            bail!("{}: {status}", self.line);
        }
        Ok(())
    }

    /// User and system seconds so far, with those of its children once it has reaped them. An
    /// ended process keeps them until we reap it.
    pub(super) fn cpu_seconds(&self) -> Result<f64> {
        self.has_reaped();
        let path = format!("/proc/{}/stat", self.child.id());
        let stat = std::fs::read_to_string(&path).with_context(|| format!("read {path}"))?;
        ticks(&stat).map(|t| t * TICK_SECONDS).with_context(|| format!("read {path}"))
    }
}

impl End {
    /// Waits until a server that forks per connection (qperf) has taken leave of its children.
    fn has_reaped(&self) {
        let id = self.child.id();
        let children = format!("/proc/{id}/task/{id}/children");
        let started = Instant::now();
        while started.elapsed() < LEAVE {
            match std::fs::read_to_string(&children) {
                Ok(text) if !text.trim().is_empty() => thread::sleep(Duration::from_millis(2)),
                _ => return,
            }
        }
    }
}

impl Drop for End {
    fn drop(&mut self) {
        // An end that is gone already cannot be killed: nothing is lost then.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Fields 14 to 17 of `/proc/PID/stat`, after the name, which may hold anything: user and system
/// time of the process and of its reaped children.
fn ticks(stat: &str) -> Option<f64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let times: Vec<f64> =
        fields.split_whitespace().skip(11).take(4).filter_map(|field| field.parse().ok()).collect();
    (times.len() == 4).then(|| times.iter().sum())
}

/// Whether anybody listens on the port where the process is.
fn listening(process: u32, port: u16) -> Result<bool> {
    let path = format!("/proc/{process}/net/tcp");
    let tcp = std::fs::read_to_string(&path).with_context(|| format!("read {path}"))?;
    let tcp6 = std::fs::read_to_string(format!("{path}6")).unwrap_or_default();
    Ok(tcp.lines().chain(tcp6.lines()).any(|line| listens_on(line, port)))
}

/// State 0A is LISTEN.
fn listens_on(line: &str, port: u16) -> bool {
    let mut fields = line.split_whitespace().skip(1);
    let local = fields.next().unwrap_or_default();
    let state = fields.nth(1).unwrap_or_default();
    state == "0A" && local.ends_with(&format!(":{port:04X}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_found_behind_a_name_with_spaces_and_brackets() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 100 0 0 0 25 17 3 5 20 0 1 0";
        assert_eq!(ticks(stat), Some(50.0));
    }

    #[test]
    fn only_a_listening_socket_counts() {
        let listen = "   0: 0100007F:1451 00000000:0000 0A 00000000:00000000 00:00000000";
        assert!(listens_on(listen, 0x1451));
        assert!(!listens_on(listen, 80));
        assert!(!listens_on(&listen.replace("0A ", "01 "), 0x1451));
    }
}
