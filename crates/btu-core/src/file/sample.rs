//! What was seen of a file service: the journal's lines, one per trial.
//!
//! Raw first: times are those of the clock, from the moment at which all clients were released; rates are for who reads.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;

use crate::sample::Flag;
use crate::sample::HostSample;
use crate::units::Bytes;
use crate::units::Nanos;

/// One line of a file service's part of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Line {
    /// What is about to be made at a server of others: a directory that begins with nobody else's name, or a file in it.
    FileMade {
        /// Its name, from the directory of the target; a directory ends with `/`.
        name: String,
    },
    /// A protocol that was asked for and is not there.
    FileMissing {
        /// Its name.
        protocol: String,
        /// What the machine or the protocol lacks.
        reason: String,
    },
    /// All that was made at a server of others is gone from there.
    FileRemoved {
        /// The directory, as it was called when it was made.
        name: String,
    },
    /// The night begins: what a later part of it counts its slots from.
    FileNight {
        /// When the first slot is due, in nanoseconds since 1970, UTC.
        first_unix_ns: Nanos,
    },
    /// A slot of a night that was not made, and never will be.
    FileSlotMissed {
        /// Its number, from 1: that of its round.
        slot: u32,
        /// Why.
        reason: String,
    },
    /// A trial.
    FileTrial(Box<TrialSample>),
}

impl Line {
    /// The trial of this line.
    pub fn trial(&self) -> Option<&TrialSample> {
        match self {
            Self::FileTrial(sample) => Some(sample),
            _ => None,
        }
    }
}

/// What is measured at once, between clients and one server (or two, one on each host).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Trial {
    /// The protocol.
    pub protocol: String,
    /// What a client does.
    pub operation: Operation,
    /// From which host to which the bytes go.
    pub direction: Direction,
    /// The file, or the block of one call.
    pub size_bytes: Bytes,
    /// Files or calls of each client, one after the other over one connection.
    pub count: u32,
    /// How many clients at once, of each direction.
    pub clients: u32,
    /// The MTU of the path; `None` for the one that it has.
    pub mtu_bytes: Option<Bytes>,
    /// Where the server has the file.
    pub held: Held,
}

/// What a client does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Sends a block and waits for an answer of 4 bytes: a remote procedure call.
    Call,
    /// Retrieves a file and throws it away.
    Get,
    /// Stores a file, which the server throws away.
    Put,
    /// Sends blocks one behind the other, and waits for one answer after the last.
    Stream,
}

impl Operation {
    /// The largest block of a call or a stream, which a client holds in memory as a whole.
    pub const LARGEST_BLOCK: Bytes = Bytes::new(64 << 20);

    /// True where a size is that of a block, not of a file.
    pub fn is_of_blocks(self) -> bool {
        matches!(self, Self::Call | Self::Stream)
    }
}

/// Between which hosts the bytes of files go: A is the test host, B the other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From A to B.
    AToB,
    /// From B to A.
    BToA,
    /// Both at once, released together.
    Both,
    /// Within A, over its loopback.
    WithinA,
    /// Within B, over its loopback.
    WithinB,
}

/// Where the server has the file before a client asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    /// On a disk; its pages were given up before the trial.
    Cold,
    /// Nowhere: it is made while it is sent, or thrown away while it comes.
    Nowhere,
    /// At a server of others: whether in its cache or on its disk, nobody here knows.
    Unknown,
    /// On a disk, and in the page cache.
    Warm,
}

/// One trial, seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialSample {
    /// What was asked for.
    pub trial: Trial,
    /// Number of the round, from 1, warm-up rounds first.
    pub round: u32,
    /// Place in the random order of the round, from 1.
    pub position: u32,
    /// True where it warms up: kept, and never part of a figure.
    pub warm_up: bool,
    /// When it began, UTC, RFC 3339.
    pub started_at: String,
    /// Each client of each direction.
    pub clients: Vec<ClientSample>,
    /// What each server did meanwhile, by the host that it runs on.
    pub servers: Vec<ServerSample>,
    /// The machine around the trial; `None` where it could not be watched.
    pub host: Option<HostSample>,
    /// The MTU that the path had; `None` where it has none of its own (loopback) or it cannot be read.
    pub path_mtu_bytes: Option<Bytes>,
    /// Whether the path's devices segment for the system (TSO, GSO): an MTU then says little of what the CPU does.
    pub offload: Option<bool>,
    /// What a reader should know of the trial.
    pub flags: Vec<Flag>,
}

/// One client of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientSample {
    /// Its number, from 1.
    pub client: u32,
    /// Which way its bytes went: never [`Direction::Both`].
    pub direction: Direction,
    /// Bytes of files that it passed.
    pub bytes: Bytes,
    /// When it came so far, since all were released.
    pub phases: Phases,
    /// How long each of its files or calls took, from request to commit, in their order.
    pub took_ns: Vec<Nanos>,
    /// What its protocol's own library sent for that; `None` where the protocol has none that counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<Sent>,
    /// Why it did not come to its end; `None` where it did.
    pub failure: Option<String>,
}

/// What a library that makes its own packets sent with data, by its own count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// Datagrams.
    pub datagrams: u64,
    /// Packets, of which a datagram may have several.
    pub packets: u64,
    /// Packets that were sent again.
    pub resent_packets: u64,
}

/// Moments of a client since all were released; connecting comes before that, and is told as a length.
///
/// A phase that a protocol does not have is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phases {
    /// How long connecting took.
    pub connect_ns: Option<Nanos>,
    /// How long it took to be known to the server: a login, a handshake of TLS.
    pub auth_ns: Option<Nanos>,
    /// The first request was sent.
    pub request_ns: Option<Nanos>,
    /// The first byte of a file came, or was sent.
    pub first_byte_ns: Option<Nanos>,
    /// The last byte of the last file came, or was sent.
    pub last_byte_ns: Option<Nanos>,
    /// The server had said that the last file is there: 226 of FTP, the answer to the last call.
    pub commit_ns: Option<Nanos>,
    /// How long ending the session took.
    pub teardown_ns: Option<Nanos>,
}

/// What a server did during a trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerSample {
    /// `a` or `b`: the host that it runs on.
    pub host: String,
    /// From the release of the clients to the end of the last.
    pub elapsed_ns: Nanos,
    /// CPU time of its threads, those that ended among them.
    pub cpu_ns: Option<Nanos>,
    /// System calls that read and wrote (files and sockets alike).
    pub calls: Option<u64>,
    /// Bytes that were read from a disk for it.
    pub disk_read: Option<Bytes>,
    /// Bytes that were written to a disk for it.
    pub disk_written: Option<Bytes>,
    /// What could not be seen, with its reason, by the name of the field.
    pub not_available: BTreeMap<String, String>,
}
