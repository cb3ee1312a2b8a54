//! Two namespaces joined without the emulator, by a bare veth pair or by a program between two TUN
//! devices: what the emulator is compared with, and the path of cells without impairment.

use std::process::Child;
use std::process::Command;
use std::process::Stdio;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;

use super::contender;
use super::namespace::Namespace;
use super::namespace::waited;
use super::private::CONGESTION;
use super::private::ip;
use crate::repo::Repo;

/// Sender and receiver.
pub(super) const CPUS: [usize; 2] = [0, 1];

const PORT: u16 = 7411;
const TUN_NEAR: &str = "btu-tun-near";
const TUN_FAR: &str = "btu-tun-far";

/// This namespace and another one.
pub(super) struct Pair {
    far: Namespace,
    /// The program between two TUN devices.
    relay: Option<Child>,
    /// The first three numbers of both addresses.
    network: &'static str,
}

impl Pair {
    /// A bare veth pair.
    pub(super) fn veth(repo: &Repo) -> Result<Self> {
        let pair = Self::apart("10.77.0")?;
        let id = pair.far.holder();
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
        ip(repo, &format!("link set {TUN_FAR} netns {}", pair.far.holder()))?;
        pair.join(repo, TUN_NEAR, TUN_FAR)?;
        Ok(pair)
    }

    fn apart(network: &'static str) -> Result<Self> {
        Ok(Self { far: Namespace::new()?, relay: None, network })
    }

    /// Gives both devices their addresses.
    fn join(&self, repo: &Repo, near: &str, far: &str) -> Result<()> {
        let (network, here, there) = (self.network, self.near_address(), self.far_address());
        ip(repo, &format!("addr add {here}/24 dev {near}"))?;
        ip(repo, &format!("link set {near} up"))?;
        self.far.run(&format!("ip addr add {there}/24 dev {far}"))?;
        self.far.run(&format!("ip link set {far} up"))?;
        let route = format!("{network}.0/24 dev {near} src {here} congctl {CONGESTION}");
        ip(repo, &format!("route replace {route}"))
    }

    /// Where the receiver is.
    pub(super) fn far(&self) -> &Namespace {
        &self.far
    }

    fn near_address(&self) -> String {
        format!("{}.1", self.network)
    }

    pub(super) fn far_address(&self) -> String {
        format!("{}.2", self.network)
    }

    /// COMM over the pair.
    pub(super) fn goodput(&self, repo: &Repo, message: u64, seconds: u64) -> Result<f64> {
        let comm = repo.path("target/release/examples/comm").display().to_string();
        let common = format!("--message {message} --seconds {seconds}");
        let far = self.far_address();
        let server = format!("taskset -c {} {comm} --listen {far}:{PORT} {common}", CPUS[1]);
        let server =
            self.far.command(&server).stdout(Stdio::piped()).spawn().context("run nsenter")?;
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

    fn listens(&self) -> Result<()> {
        let table = format!("/proc/{}/net/tcp", self.far.holder());
        let wanted = format!(":{PORT:04X} 00000000:0000 0A");
        waited("the receiver", || Ok(std::fs::read_to_string(&table)?.contains(&wanted)))
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        if let Some(relay) = &mut self.relay {
            // Gone already is as good.
            let _ = relay.kill();
            let _ = relay.wait();
        }
    }
}

/// The receiver's rate, as the example comm prints it.
pub(super) fn goodput_of(text: &str) -> Result<f64> {
    contender::comm(text).with_context(|| format!("no rate in `{}`", text.trim()))
}
