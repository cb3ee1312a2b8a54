//! What goes into the agent's state machine, and what it asks for.

use std::net::IpAddr;

use btu_core::units::BitRate;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use serde::Serialize;

use super::Account;
use crate::HostId;
use crate::frame::Chunk;
use crate::invite::OpenInvite;
use crate::invite::Rights;
use crate::message::Answer;
use crate::message::Request;

/// A connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnId(pub u64);

/// A process that does the work of one reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkerId(pub u64);

/// A host that proved an invitation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joiner {
    /// The connection.
    pub conn: ConnId,
    /// Who it is.
    pub id: HostId,
    /// How people call it.
    pub name: String,
    /// What it may do.
    pub rights: Rights,
    /// The invitations that still hold, without its own.
    pub left: Vec<OpenInvite>,
}

/// What happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// Somebody connected over the network.
    Accepted {
        /// The connection.
        conn: ConnId,
        /// From where.
        from: IpAddr,
    },
    /// Somebody connected on this host, by a socket that only its owner can use.
    Local {
        /// The connection.
        conn: ConnId,
    },
    /// The channel is secure, and the peer's identity is proved.
    Secured {
        /// The connection.
        conn: ConnId,
        /// Who it is.
        peer: HostId,
        /// What is unique to this channel (`EXPORTER-btu-join`).
        binding: [u8; 32],
    },
    /// A message came.
    Heard {
        /// The connection.
        conn: ConnId,
        /// What it says.
        request: Request,
    },
    /// A new peer was kept, or why it could not be.
    Kept {
        /// The peer.
        joiner: Joiner,
        /// The reason.
        kept: Result<(), String>,
    },
    /// Something came that is no message.
    Garbage {
        /// The connection.
        conn: ConnId,
        /// What is wrong with it.
        reason: String,
    },
    /// The connection is gone.
    Lost {
        /// The connection.
        conn: ConnId,
    },
    /// A worker did what it was told, or could not.
    Answered {
        /// The worker.
        worker: WorkerId,
        /// What it says.
        answer: Answer,
    },
    /// A piece of a worker's document.
    Piece {
        /// The worker.
        worker: WorkerId,
        /// The piece.
        chunk: Chunk,
    },
    /// A worker was killed, which had moved so much that the agent had not heard of.
    Settled {
        /// Payload.
        moved_bytes: Bytes,
    },
    /// A worker is gone.
    Ended {
        /// The worker.
        worker: WorkerId,
        /// How it ended.
        how: String,
    },
    /// Time has passed.
    Tick,
}

/// What is to be done, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Append to the audit log.
    Audit(Entry),
    /// Send what is unsent, then close.
    Close {
        /// The connection.
        conn: ConnId,
    },
    /// Keep what was said of a run.
    KeepAccount(Account),
    /// Keep the invitations that still hold.
    KeepInvites(Vec<OpenInvite>),
    /// Keep a new peer, and that its invitation is spent; answered by [`Event::Kept`].
    KeepPeer(Joiner),
    /// Keep whether all work is stopped.
    KeepStopped(bool),
    /// End a worker and all it does, now.
    Kill {
        /// The worker.
        worker: WorkerId,
    },
    /// Tell a worker what to do.
    Order {
        /// The worker.
        worker: WorkerId,
        /// What to do.
        request: Request,
    },
    /// Send a piece of a document.
    Pass {
        /// The connection.
        conn: ConnId,
        /// The piece.
        chunk: Chunk,
    },
    /// Send a message.
    Send {
        /// The connection.
        conn: ConnId,
        /// The message.
        answer: Answer,
    },
    /// Sign a statement with this host's key, and answer with [`Answer::Signed`].
    Sign {
        /// Whose reservation it is.
        worker: WorkerId,
        /// Number of the request.
        seq: u64,
        /// What is signed.
        statement: String,
    },
    /// Start a worker.
    Start {
        /// The worker.
        worker: WorkerId,
        /// Whom it works for: the only address that its FTP server hears. Data connections show a token
        /// instead; over an emulated link they may come from another address of that host.
        peer: IpAddr,
        /// Ports of its data connections; `None` for any.
        ports: Option<(u16, u16)>,
        /// What its data connections may send at the most, and its FTP server, if it is reserved,
        /// as much again.
        rate: Option<BitRate>,
        /// The longest run that was announced.
        longest_run: Nanos,
        /// Whether it tells while it works what it moves: the policy bounds that.
        metered: bool,
        /// Whether its links may be emulated.
        emulation: bool,
        /// Whether it puts this host under test, and is no black box.
        test: bool,
    },
}

/// A line of the audit log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// `accepted`, `joined`, `granted`, `refused`, `ended` ...
    pub event: &'static str,
    /// The peer's name, or its identity where it has none.
    pub peer: Option<String>,
    /// Its address.
    pub from: Option<IpAddr>,
    /// What else there is to say.
    pub detail: String,
}
