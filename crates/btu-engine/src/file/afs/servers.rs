//! The servers of a cell, started in the order in which they need each other.

use std::net::Ipv4Addr;
use std::process::Command;
use std::time::Duration;
use std::time::Instant;

use super::layout::Layout;
use super::tools;
use super::tools::Running;
use crate::error::EngineError;
use crate::file::Account;
use crate::file::account::Enrolled;

/// All servers that run, the last one first to end.
#[derive(Debug)]
pub(super) struct Servers<'a> {
    layout: &'a Layout,
    account: &'a Account,
    running: Vec<Server>,
}

/// One of them, on the roll of the account.
#[derive(Debug)]
struct Server {
    name: &'static str,
    process: Running,
    enrolled: Option<Enrolled>,
}

impl<'a> Servers<'a> {
    /// Brings up a cell from its empty directories; returns its servers with the volume that files are in.
    ///
    /// The calling thread is in the network and the mount namespace of the cell, and stays until the servers are dropped.
    pub(super) fn bring_up(
        layout: &'a Layout,
        account: &'a Account,
        address: Ipv4Addr,
    ) -> Result<(Self, String), EngineError> {
        let mut servers = Self { layout, account, running: Vec::new() };
        let volume = servers.prepare(address);
        // What a server says in its log is nearer to the cause than what was waited for.
        let blamed = |cause| servers.fallen().unwrap_or(cause);
        let volume = volume.map_err(blamed)?;
        Ok((servers, volume))
    }

    /// Each step waits for an answer of the servers: an open port is no server yet. One that is asked to write before its
    /// database has a quorum refuses, and a file server that starts then sleeps for half a minute.
    fn prepare(&mut self, address: Ipv4Addr) -> Result<String, EngineError> {
        let (end, network) = (Instant::now() + PATIENCE, network_of(address).to_string());
        let address = &*address.to_string();
        self.start(PROTECTION_SERVER)?;
        self.start(VOLUME_LOCATION_SERVER)?;
        for port in [PROTECTION_PORT, VOLUME_LOCATION_PORT] {
            tools::await_word(tools::UDEBUG, &[address, port], QUORUM, end)?;
        }
        // Who comes from this network may read and write: nobody else would, without a key.
        tools::ask(tools::PTS, &["createuser", &network, "-noauth"], end)?;
        let group = ["adduser", &network, "system:administrators", "-noauth"];
        tools::ask(tools::PTS, &group, end)?;
        self.start(FILE_SERVER)?;
        self.start(VOLUME_SERVER)?;
        self.start(SALVAGE_SERVER)?;
        tools::await_word(tools::VOS, &["listpart", address, "-noauth"], "/vicepa", end)?;
        tools::await_word(tools::RXDEBUG, &[address, "7000", "-version"], "AFS version", end)?;
        let create = |name| [&["create", address, "a", name, "-noauth"][..], UNLIMITED].concat();
        tools::ask(tools::VOS, &create("root.afs"), end)?;
        let said = tools::ask(tools::VOS, &create("root.cell"), end)?;
        let volume = said.split_ascii_whitespace().find(|word| word.parse::<u32>().is_ok());
        let unread = || EngineError::Refused(format!("afs: vos create: no volume in {said:?}"));
        volume.map(str::to_owned).ok_or_else(unread)
    }

    fn start(&mut self, path: &'static str) -> Result<(), EngineError> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let said = self.layout.at(name);
        let mut command = Command::new(path);
        command.stdout(tools::record(&said)?).stderr(tools::record(&said)?);
        let process = Running::start(&mut command)?;
        let enrolled = Some(self.account.enrol_process(process.id()));
        self.running.push(Server { name, process, enrolled });
        Ok(())
    }

    /// A server that ended by itself, with what it said last.
    fn fallen(&mut self) -> Option<EngineError> {
        let mut running = self.running.iter_mut();
        let name = running.find_map(|one| one.process.has_ended().then_some(one.name))?;
        let (_, log) = LOGS.iter().find(|(of, _)| *of == name)?;
        let said = self.layout.last_words(log).unwrap_or_else(|| "no word of why".to_owned());
        Some(EngineError::Refused(format!("afs: {name} ended: {said}")))
    }
}

impl Drop for Servers<'_> {
    /// Nothing of the cell is kept: nobody has to write anything first.
    fn drop(&mut self) {
        while self.running.pop().is_some() {}
    }
}

impl Drop for Server {
    /// What it used is read when it works no more, and before anybody waits for it.
    fn drop(&mut self) {
        self.process.kill();
        drop(self.enrolled.take());
    }
}

/// All addresses that begin alike, as the protection server writes them: the least that it tells from all others.
fn network_of(address: Ipv4Addr) -> Ipv4Addr {
    let [first, ..] = address.octets();
    Ipv4Addr::new(first, 0, 0, 0)
}

pub(super) const FILE_SERVER: &str = "/usr/lib/openafs/dafileserver";
pub(super) const PROTECTION_SERVER: &str = "/usr/lib/openafs/ptserver";
pub(super) const SALVAGE_SERVER: &str = "/usr/lib/openafs/salvageserver";
pub(super) const VOLUME_LOCATION_SERVER: &str = "/usr/lib/openafs/vlserver";
pub(super) const VOLUME_SERVER: &str = "/usr/lib/openafs/davolserver";

/// The files of their logs.
const LOGS: &[(&str, &str)] = &[
    ("dafileserver", "FileLog"),
    ("davolserver", "VolserLog"),
    ("ptserver", "PtLog"),
    ("salvageserver", "SalsrvLog"),
    ("vlserver", "VLLog"),
];

/// Ports of AFS that no option changes.
const PROTECTION_PORT: &str = "7002";
const VOLUME_LOCATION_PORT: &str = "7003";

/// A database that can be written; "I am sync site" comes at once, and too early.
const QUORUM: &str = "Recovery state 1f";

const UNLIMITED: &[&str] = &["-maxquota", "0"];

/// How long a cell may take to come up: 8 to 11 s were seen, more on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);
