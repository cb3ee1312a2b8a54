//! The server of one way of a trial, ours or that of others, and what is known of it.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use btu_core::file::sample::ServerSample;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

use crate::file::Served;
use crate::file::Usage;

/// A server, and whose it is.
pub(super) struct Posted {
    pub(super) address: SocketAddr,
    /// `None` where somebody else runs it.
    server: Option<Box<dyn Served>>,
    /// `a` or `b`.
    host: &'static str,
}

impl Posted {
    pub(super) fn own(server: Box<dyn Served>, host: &'static str) -> Self {
        Self { address: server.address(), server: Some(server), host }
    }

    pub(super) fn of_others(address: SocketAddr, host: &'static str) -> Self {
        Self { address, server: None, host }
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
