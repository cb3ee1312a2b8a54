//! Two namespaces joined by a bare veth pair: the path that the emulator is compared with.

use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;

use super::contender;
use super::private::CONGESTION;
use super::private::ip;
use crate::repo::Repo;

/// Sender and receiver.
pub(super) const CPUS: [usize; 2] = [0, 1];

const NEAR: &str = "10.77.0.1";
const FAR: &str = "10.77.0.2";
const PORT: u16 = 7411;
const PATIENCE: Duration = Duration::from_secs(10);

/// The far namespace lives as long as the process that holds it.
pub(super) struct Pair {
    holder: Child,
}

impl Pair {
    pub(super) fn new(repo: &Repo) -> Result<Self> {
        let mut command = Command::new("unshare");
        let holder = command.args(["--net", "sleep", "infinity"]).spawn().context("run unshare")?;
        let pair = Self { holder };
        pair.is_apart()?;
        let id = pair.holder.id();
        ip(repo, &format!("link add btu-near type veth peer name btu-far netns {id}"))?;
        ip(repo, &format!("addr add {NEAR}/24 dev btu-near"))?;
        ip(repo, "link set btu-near up")?;
        let route = format!("10.77.0.0/24 dev btu-near src {NEAR} congctl {CONGESTION}");
        pair.far(&format!("ip addr add {FAR}/24 dev btu-far"))?;
        pair.far("ip link set btu-far up")?;
        ip(repo, &format!("route replace {route}"))?;
        Ok(pair)
    }

    /// COMM over the pair.
    pub(super) fn goodput(&self, repo: &Repo, message: u64, seconds: u64) -> Result<f64> {
        let comm = repo.path("target/release/examples/comm").display().to_string();
        let common = format!("--message {message} --seconds {seconds}");
        let server = format!("taskset -c {} {comm} --listen {FAR}:{PORT} {common}", CPUS[1]);
        let server = self.in_far(&server).stdout(Stdio::piped()).spawn().context("run nsenter")?;
        self.listens()?;
        let client = format!("-c {} {comm} --connect {FAR}:{PORT} {common}", CPUS[0]);
        let sent =
            Command::new("taskset").args(client.split(' ')).status().context("run taskset")?;
        let output = server.wait_with_output().context("wait for the receiver")?;
        if !sent.success() {
            bail!("the sender over the veth pair: {sent}");
        }
        goodput_of(&String::from_utf8_lossy(&output.stdout))
    }

    fn in_far(&self, line: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--net", "--target", &self.holder.id().to_string()]).args(line.split(' '));
        command
    }

    fn far(&self, line: &str) -> Result<()> {
        let status = self.in_far(line).status().with_context(|| format!("run nsenter {line}"))?;
        if status.success() { Ok(()) } else { bail!("{line}: {status}") }
    }

    /// Waits until the holder has its namespace.
    fn is_apart(&self) -> Result<()> {
        let theirs = format!("/proc/{}/ns/net", self.holder.id());
        waited("the far namespace", || {
            let own = std::fs::read_link("/proc/self/ns/net")?;
            Ok(std::fs::read_link(&theirs)? != own)
        })
    }

    fn listens(&self) -> Result<()> {
        let table = format!("/proc/{}/net/tcp", self.holder.id());
        let wanted = format!(":{PORT:04X} 00000000:0000 0A");
        waited("the receiver", || Ok(std::fs::read_to_string(&table)?.contains(&wanted)))
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        // Gone already is as good.
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

/// The receiver's rate, as the example comm prints it.
pub(super) fn goodput_of(text: &str) -> Result<f64> {
    contender::comm(text).with_context(|| format!("no rate in `{}`", text.trim()))
}

fn waited(what: &str, reached: impl Fn() -> std::io::Result<bool>) -> Result<()> {
    let started = Instant::now();
    while !reached().unwrap_or(false) {
        if started.elapsed() > PATIENCE {
            bail!("{what} is not there after {} s", PATIENCE.as_secs());
        }
        thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}
