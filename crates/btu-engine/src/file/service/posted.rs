//! The server of one way of a trial, ours or that of others, and what is known of it.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::net::SocketAddr;
use std::path::PathBuf;

use btu_core::file::sample::ServerSample;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

use crate::file::Served;
use crate::file::Usage;

/// A server, and whose it is.
#[derive(Debug)]
pub(super) struct Posted {
    pub(super) address: SocketAddr,
    /// `None` where somebody else runs it.
    server: Option<Box<dyn Served>>,
    /// The name of its protocol; empty where nobody asks for it again.
    protocol: &'static str,
    /// `a` or `b`.
    host: &'static str,
}

impl Posted {
    pub(super) fn own(server: Box<dyn Served>, protocol: &'static str, host: &'static str) -> Self {
        Self { address: server.address(), server: Some(server), protocol, host }
    }

    pub(super) fn of_others(address: SocketAddr, host: &'static str) -> Self {
        Self { address, server: None, protocol: "", host }
    }

    /// True for a server of this protocol at this place.
    pub(super) fn serves(&self, protocol: &str, host: &str, address: IpAddr) -> bool {
        self.protocol == protocol && self.host == host && self.address.ip() == address
    }

    /// Where it has its own copy of a file of the directory; `None` where it gives the file itself.
    pub(super) fn copy_of(&self, name: &str) -> Option<PathBuf> {
        self.server.as_ref()?.copy_of(name)
    }

    /// Bytes of files and blocks that it has sent and received, as far as anybody here sees them.
    pub(super) fn moved(&self) -> Bytes {
        self.server.as_ref().map_or(Bytes::ZERO, |server| server.moved())
    }

    /// What it has used so far.
    pub(super) fn usage(&self) -> Option<Usage> {
        Some(self.server.as_ref()?.account().usage())
    }

    /// What it used since then.
    pub(super) fn sample(&self, before: Option<&Usage>, elapsed_ns: Nanos) -> ServerSample {
        match (self.usage(), before) {
            (Some(usage), Some(before)) => usage.since(before).sample(self.host, elapsed_ns),
            _ => self.unseen(elapsed_ns),
        }
    }

    fn unseen(&self, elapsed_ns: Nanos) -> ServerSample {
        let reason = |field: &str| (field.to_owned(), NOT_OURS.to_owned());
        let not_available: BTreeMap<String, String> = FIELDS.map(reason).into();
        ServerSample {
            host: self.host.to_owned(),
            elapsed_ns,
            not_available,
            ..ServerSample::default()
        }
    }
}

/// What is told of a server.
const FIELDS: [&str; 4] = ["calls", "cpu_ns", "disk_read", "disk_written"];
const NOT_OURS: &str = "the server is not this program's";
