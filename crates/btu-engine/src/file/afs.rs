//! AFS: a cell of OpenAFS's own servers on the host of the server, and its `afsio` on that of the clients.
//!
//! No module of the kernel, no key and no Kerberos: servers and tools run as they are, as root, in a mount namespace in
//! which `/etc/openafs`, `/var/lib/openafs`, `/var/log/openafs` and `/vicepa` are directories of this program. A cell takes
//! ten seconds to come up and serves all trials of its place. Its files are written through `afsd.fuse` once, and read by
//! their FIDs, a process for each file.

mod cell;
mod client;
mod layout;
mod servers;
mod tools;
mod volume;

use std::fs;
use std::net::IpAddr;
use std::path::Path;

use btu_core::file::sample::Operation;
use btu_sys::namespace;

use self::cell::Cell;
use self::client::Client;
use super::FileProtocol;
use super::Offer;
use super::Served;
use super::Session;
use super::Tenure;
use super::Visit;
use crate::error::EngineError;

/// The protocol `afs`.
#[derive(Debug)]
pub(super) struct Afs;

impl FileProtocol for Afs {
    fn name(&self) -> &'static str {
        "afs"
    }

    fn about(&self) -> &'static str {
        "a cell of OpenAFS, read with afsio: needs root and its packages"
    }

    fn operations(&self) -> &'static [Operation] {
        &[Operation::Get]
    }

    fn has_processes(&self) -> bool {
        true
    }

    fn tenure(&self) -> Tenure {
        Tenure::WholeService
    }

    fn serve(&self, offer: &Offer) -> Result<Box<dyn Served>, EngineError> {
        if let Some(lack) = lack() {
            return Err(EngineError::Refused(lack));
        }
        match offer.address.to_canonical() {
            IpAddr::V4(address) if !address.is_loopback() => {
                Ok(Box::new(Cell::bring_up(offer, address)?))
            }
            other => Err(EngineError::Refused(format!("afs: a cell has no address like {other}"))),
        }
    }

    fn open(&self, visit: &Visit) -> Result<Box<dyn Session>, EngineError> {
        Ok(Box::new(Client::introduce(visit)?))
    }
}

/// What this machine lacks for a cell.
fn lack() -> Option<String> {
    if !namespace::is_privileged() || !has_all_ids() {
        return Some("afs: not root".to_owned());
    }
    let missing = PROGRAMS.iter().find(|program| !Path::new(program).exists());
    let named = |program: &&str| Path::new(program).file_name().map(ToOwned::to_owned);
    if let Some(name) = missing.and_then(named) {
        let name = name.to_string_lossy();
        return Some(format!("afs: {name} not found: apt-get install {PACKAGES}"));
    }
    let device = Path::new("/dev/fuse");
    (!device.exists()).then(|| "afs: no /dev/fuse: modprobe fuse".to_owned())
}

/// True where no user namespace leaves ids out: the file server keeps what it knows of a file in the owner of its inode.
fn has_all_ids() -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    map.split_ascii_whitespace().eq(["0", "0", "4294967295"])
}

/// All that a cell and its clients need, as the packages of Debian have them.
const PROGRAMS: &[&str] = &[
    servers::FILE_SERVER,
    servers::PROTECTION_SERVER,
    servers::SALVAGE_SERVER,
    servers::VOLUME_LOCATION_SERVER,
    servers::VOLUME_SERVER,
    tools::AFSIO,
    tools::CACHE_MANAGER,
    tools::PTS,
    tools::RXDEBUG,
    tools::UDEBUG,
    tools::VOS,
];

const PACKAGES: &str = "openafs-fileserver openafs-dbserver openafs-client openafs-fuse";

/// The name of the cell: it exists in no other place.
const CELL: &str = "btu.test";
