//! Two namespaces joined without the emulator, by a bare veth pair or by a program between two TUN
//! devices: the paths that it is compared with.

use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;

use crate::bench::contender;
use crate::bench::private::CONGESTION;
use crate::bench::private::ip;
use crate::repo::Repo;

/// Sender and receiver.
pub(super) const CPUS: [usize; 2] = [0, 1];

const PORT: u16 = 7411;
const PATIENCE: Duration = Duration::from_secs(10);
const TUN_NEAR: &str = "btu-tun-near";
const TUN_FAR: &str = "btu-tun-far";

/// The far namespace lives as long as the process that holds it.
pub(super) struct Pair {
    holder: Child,
    /// The program between two TUN devices.
    relay: Option<Child>,
    /// The first three numbers of both addresses.
    network: &'static str,
}

impl Pair {
    /// A bare veth pair.
    pub(super) fn veth(repo: &Repo) -> Result<Self> {
        let pair = Self::apart("10.77.0")?;
        let id = pair.holder.id();
        ip(repo, &format!("link add btu-near type veth peer name btu-far netns {id}"))?;
        pair.join(repo, "btu-near", "btu-far")?;
        Ok(pair)
    }

    /// Two TUN devices without `vnet_hdr`, each packet read from the one and written to the other.
    pub(super) fn tun(repo: &Repo) -> Result<Self> {
        let mut pair = Self::apart("10.78.0")?;
        let mut relay = repo.command(repo.path("target/release/examples/tun_relay"));
        let relay = relay.args([TUN_NEAR, TUN_FAR]).stdout(Stdio::piped()).spawn();
        let relay = pair.relay.insert(relay.context("run the example tun_relay")?);
        let mut line = String::new();
        let stdout = relay.stdout.take().context("read the example tun_relay")?;
        std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line)?;
        if line.trim() != "ready" {
            bail!("the example tun_relay did not start (is /dev/net/tun there and writable?)");
        }
        ip(repo, &format!("link set {TUN_FAR} netns {}", pair.holder.id()))?;
        pair.join(repo, TUN_NEAR, TUN_FAR)?;
        Ok(pair)
    }

    fn apart(network: &'static str) -> Result<Self> {
        let mut command = Command::new("unshare");
        let holder = command.args(["--net", "sleep", "infinity"]).spawn().context("run unshare")?;
        let pair = Self { holder, relay: None, network };
        pair.is_apart()?;
        Ok(pair)
    }

    /// Gives both devices their addresses.
    fn join(&self, repo: &Repo, near: &str, far: &str) -> Result<()> {
        let (network, here, there) = (self.network, self.near_address(), self.far_address());
        ip(repo, &format!("addr add {here}/24 dev {near}"))?;
        ip(repo, &format!("link set {near} up"))?;
        self.far(&format!("ip addr add {there}/24 dev {far}"))?;
        self.far(&format!("ip link set {far} up"))?;
        let route = format!("{network}.0/24 dev {near} src {here} congctl {CONGESTION}");
        ip(repo, &format!("route replace {route}"))
    }

    fn near_address(&self) -> String {
        format!("{}.1", self.network)
    }

    fn far_address(&self) -> String {
        format!("{}.2", self.network)
    }

    /// COMM over the pair.
    pub(super) fn goodput(&self, repo: &Repo, message: u64, seconds: u64) -> Result<f64> {
        let comm = repo.path("target/release/examples/comm").display().to_string();
        let common = format!("--message {message} --seconds {seconds}");
        let far = self.far_address();
        let server = format!("taskset -c {} {comm} --listen {far}:{PORT} {common}", CPUS[1]);
        let server = self.in_far(&server).stdout(Stdio::piped()).spawn().context("run nsenter")?;
        self.listens()?;
        let client = format!("-c {} {comm} --connect {far}:{PORT} {common}", CPUS[0]);
        let mut sender = Command::new("taskset");
        let sent = sender.args(client.split(' ')).stdout(Stdio::null()).status();
        let sent = sent.context("run taskset")?;
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
        for child in std::iter::once(&mut self.holder).chain(self.relay.as_mut()) {
            // Gone already is as good.
            let _ = child.kill();
            let _ = child.wait();
        }
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
