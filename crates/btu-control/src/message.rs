//! What conductor and agent say to each other: bytes become a message in two steps, syntax first,
//! then the bounds of every value, so that who holds a message checks nothing.

mod bounds;
mod run;
mod service;
mod status;
mod test;

use std::net::IpAddr;
use std::net::SocketAddr;

use btu_core::sample::CapturePoint;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use serde::Deserialize;
use serde::Serialize;

use crate::secret::Hex32;

pub use bounds::Bounded;
pub use bounds::MessageError;
pub use run::Carried;
pub use run::LinkOrder;
pub use run::LinkWish;
pub use run::MOST_PACKETS;
pub use run::Preparation;
pub use run::Which;
pub use service::ServiceOrder;
pub use service::ServiceWord;
pub use status::Status;
pub use test::BlackBox;
pub use test::Limits;
pub use test::RunOf;
pub use test::Signing;
pub use test::TestOrder;

/// The protocol's version: peers of another major version do not talk.
pub const MAJOR: u16 = 6;
/// Raised where messages gain fields.
pub const MINOR: u16 = 0;
/// How often a process that is metered tells its agent what it moved: what may be missing of one that is
/// killed.
pub const MOVED_EVERY: Nanos = Nanos::from_millis(100);

/// What a conductor says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Request {
    /// First words on a connection.
    Hello {
        /// [`MAJOR`] of the speaker.
        major: u16,
        /// [`MINOR`] of the speaker.
        minor: u16,
        /// Its version, for people.
        build: String,
    },
    /// A peer that is not known yet proves that it was invited.
    Join {
        /// See [`crate::invite::Secret::proof`].
        proof: Hex32,
        /// How the agent shall call it.
        name: String,
    },
    /// Still here.
    Ping {},
    /// Asks for the agent's time.
    Reserve(Reservation),
    /// What the host says of itself.
    Facts {
        /// Number of the request.
        seq: u64,
    },
    /// Asks the agent to take another host's word for the peer's own, for a while.
    Vouch {
        /// Its identity.
        guest: String,
        /// How long; nothing ends it.
        for_ns: Nanos,
    },
    /// Asks the agent to be the host under test.
    Test(Box<TestOrder>),
    /// A piece of the result that the next test goes on with; the first has all others before it
    /// forgotten.
    Given {
        /// Number of the request.
        seq: u64,
        /// Where the piece belongs in the bundle.
        offset: u64,
        /// The piece, hexadecimal.
        piece: String,
    },
    /// Asks for an FTP server until the end of the reservation.
    Serve {
        /// Number of the request.
        seq: u64,
        /// The name and password that it shall ask for.
        user: String,
        /// The same.
        password: String,
    },
    /// Asks for the far ends of one run.
    Prepare(Box<Preparation>),
    /// Begins work of a kind that has a name; what was begun before is over.
    Service(Box<ServiceOrder>),
    /// Says something to the service that was begun.
    Word(Box<ServiceWord>),
    /// Ends the connections of the run that is prepared, or the service that was begun.
    Cancel(Which),
    /// Asks for what the far ends saw, or for the account of a service.
    Collect(Which),
    /// Asks for the packets of the run that is over, as one end of its link saw them.
    Packets {
        /// Which request, run and attempt.
        #[serde(flatten)]
        which: Which,
        /// Whose times they shall have.
        seen_at: CapturePoint,
    },
    /// Asks for the agent's signature over what it measured itself in a test.
    Sign(Box<Signing>),
    /// The agent's time is not needed any more.
    Release {
        /// Number of the request.
        seq: u64,
    },
    /// Asks how the agent is.
    Status {},
    /// Ends all work, and refuses new work until [`Request::Resume`].
    StopAll {},
    /// Work is welcome again.
    Resume {},
}

/// What a conductor wants of an agent, as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reservation {
    /// Hash of the plan, for the agent's log.
    pub plan: String,
    /// The longest run that will be asked for.
    pub longest_run_ns: Nanos,
    /// The longest time without a word between two requests.
    pub silence_ns: Nanos,
    /// The most connections at once.
    pub flows: u32,
    /// Host activities that need this agent.
    pub activities: Vec<String>,
    /// Whether links will have to be emulated.
    pub emulation: bool,
    /// Services that will be begun.
    #[serde(default)]
    pub services: Vec<String>,
    /// Whether the agent shall be the host under test, and no black box.
    #[serde(default)]
    pub test: bool,
}

/// What an agent says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Answer {
    /// To [`Request::Hello`].
    Welcome {
        /// [`MAJOR`] of the agent.
        major: u16,
        /// [`MINOR`] of the agent.
        minor: u16,
        /// Its version, for people.
        build: String,
        /// False where the peer has to join first.
        known: bool,
    },
    /// The peer is known from now on.
    Joined {},
    /// To [`Request::Ping`].
    Pong {},
    /// The agent works for others; the place in the queue, from 1.
    Queued {
        /// The place.
        position: u32,
    },
    /// The agent works for this conductor.
    Granted {
        /// How many may share the agent's time; 1 for nobody else.
        shared: u32,
        /// Where links can be emulated, and the address of those data sockets, or why not.
        emulation: Offer,
    },
    /// Not what the policy allows, or not now.
    Refused {
        /// Why.
        reason: String,
    },
    /// To [`Request::Vouch`].
    Vouched {},
    /// To [`Request::Given`].
    Taken {
        /// Number of the request.
        seq: u64,
    },
    /// A step of a test is done; the conductor answers with [`Request::Ping`].
    Progress {
        /// Number of the request.
        seq: u64,
        /// Which, for people.
        text: String,
        /// Payload that was moved since the last step.
        #[serde(default)]
        moved_bytes: Bytes,
        /// Length of what the result grew by, which follows in chunks; 0 where nothing does.
        #[serde(default)]
        kept_bytes: u64,
    },
    /// The FTP server listens.
    Serving {
        /// Number of the request.
        seq: u64,
        /// Where.
        address: SocketAddr,
    },
    /// The far ends listen.
    Prepared {
        /// Which request, run and attempt.
        #[serde(flatten)]
        which: Which,
        /// One address per connection.
        addresses: Vec<SocketAddr>,
    },
    /// A data connection knew its token: what a worker tells its agent, and no agent anybody.
    Connected {
        /// Which request, run and attempt.
        #[serde(flatten)]
        which: Which,
        /// The worker's end.
        local: SocketAddr,
        /// The other end.
        remote: SocketAddr,
    },
    /// Payload was moved, whatever comes of it: what a worker tells its agent, and no agent anybody.
    Moved {
        /// Since the worker told of some last, with this or any other answer.
        moved_bytes: Bytes,
    },
    /// The service began, or heard a word.
    Said {
        /// Which request, run and attempt.
        #[serde(flatten)]
        which: Which,
        /// Its answer, in the service's own form.
        said: serde_json::Value,
        /// Payload that it moved since it said something last.
        moved_bytes: Bytes,
    },
    /// The connections are ended.
    Cancelled {
        /// Number of the request.
        seq: u64,
    },
    /// A document follows in chunks.
    Document {
        /// Number of the request.
        seq: u64,
        /// Its length.
        length: u64,
        /// Payload that the run moved, where it was one.
        moved_bytes: Bytes,
        /// Hash of what can be signed of it, where it is an account of a run.
        #[serde(default)]
        account: Option<Hex32>,
    },
    /// To [`Request::Sign`].
    Signed {
        /// Number of the request.
        seq: u64,
        /// The agent's public key as `SubjectPublicKeyInfo`, hexadecimal.
        key: String,
        /// The ed25519 signature, hexadecimal.
        signature: String,
    },
    /// The reservation is over.
    Released {
        /// Number of the request.
        seq: u64,
    },
    /// The request could not be done; the reservation stands.
    Failed {
        /// Number of the request.
        seq: u64,
        /// Operation, operand and cause.
        reason: String,
    },
    /// The request is of an older attempt, and has no effect.
    Stale {
        /// Number of the request.
        seq: u64,
    },
    /// To [`Request::Status`], [`Request::StopAll`] and [`Request::Resume`].
    Status(Box<Status>),
    /// Last words: the connection is closed.
    Bye {
        /// Why.
        reason: String,
    },
}

/// Whether links can be emulated in front of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Offer {
    /// Not here, with the reason.
    None(String),
    /// Behind an emulator, at this address.
    At(IpAddr),
    /// Behind the kernel's own netem, which does not do every element, at this address.
    ByNetem(IpAddr),
}

impl Offer {
    /// Where data sockets are behind an emulator; `None` where none is.
    pub const fn address(&self) -> Option<IpAddr> {
        match self {
            Self::None(_) => None,
            Self::At(address) | Self::ByNetem(address) => Some(*address),
        }
    }
}

impl Request {
    /// The number of the request, where it has one.
    pub fn seq(&self) -> Option<u64> {
        match self {
            Self::Facts { seq }
            | Self::Given { seq, .. }
            | Self::Release { seq }
            | Self::Serve { seq, .. } => Some(*seq),
            Self::Prepare(order) => Some(order.which.seq),
            Self::Sign(wanted) => Some(wanted.seq),
            Self::Service(order) => Some(order.which.seq),
            Self::Word(word) => Some(word.which.seq),
            Self::Test(order) => Some(order.seq),
            Self::Cancel(which) | Self::Collect(which) | Self::Packets { which, .. } => {
                Some(which.seq)
            }
            _ => None,
        }
    }

    /// The run that it is about.
    pub fn which(&self) -> Option<Which> {
        match self {
            Self::Prepare(order) => Some(order.which),
            Self::Service(order) => Some(order.which),
            Self::Word(word) => Some(word.which),
            Self::Cancel(which) | Self::Collect(which) | Self::Packets { which, .. } => {
                Some(*which)
            }
            _ => None,
        }
    }
}

impl Answer {
    /// Payload that a worker tells of with it.
    pub const fn moved_bytes(&self) -> Bytes {
        match self {
            Self::Document { moved_bytes, .. }
            | Self::Moved { moved_bytes }
            | Self::Progress { moved_bytes, .. }
            | Self::Said { moved_bytes, .. } => *moved_bytes,
            _ => Bytes::ZERO,
        }
    }

    /// The number of the request that it answers, where that has one.
    pub const fn seq(&self) -> Option<u64> {
        match self {
            Self::Serving { seq, .. }
            | Self::Cancelled { seq }
            | Self::Document { seq, .. }
            | Self::Signed { seq, .. }
            | Self::Progress { seq, .. }
            | Self::Released { seq }
            | Self::Taken { seq }
            | Self::Failed { seq, .. }
            | Self::Stale { seq } => Some(*seq),
            Self::Prepared { which, .. } | Self::Said { which, .. } => Some(which.seq),
            _ => None,
        }
    }
}
