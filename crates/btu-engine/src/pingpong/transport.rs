//! What carries the blocks of a ping-pong, each by its own file, and the registry of them.

mod frames;
#[cfg(any(test, not(all(feature = "quic", feature = "tls"))))]
mod left_out;
mod mptcp;
#[cfg(feature = "quic")]
mod quic;
mod raw;
mod seqpacket;
mod shm;
mod socket;
mod tcp;
#[cfg(feature = "tls")]
mod tls;
mod udp;
mod unix;
mod uring;
mod vsock;
mod xdp;

use std::fmt;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;

use btu_core::pingpong::configuration::Configuration;
use btu_core::pingpong::configuration::Wait;
use btu_core::pingpong::nature::Nature;
use btu_core::units::Bytes;
use btu_sys::exchange::Address;
use btu_sys::netlink::Mac;

use super::channel::End;
use crate::error::EngineError;

pub use super::hookup::Hookup;

/// Every transport of this build, in the order in which lists and charts show them.
pub static TRANSPORTS: &[&dyn Transport] = &[
    &tcp::Tcp,
    &udp::Udp,
    &unix::Unix,
    &seqpacket::SeqPacket,
    &mptcp::Mptcp,
    &vsock::VSOCK,
    &shm::Shm,
    &raw::Raw,
    &xdp::Xdp,
    &uring::Uring,
    #[cfg(feature = "tls")]
    &tls::Tls,
    #[cfg(not(feature = "tls"))]
    &left_out::LeftOut { name: "tls", about: TLS },
    #[cfg(feature = "quic")]
    &quic::Quic,
    #[cfg(not(feature = "quic"))]
    &left_out::LeftOut { name: "quic", about: QUIC },
];

/// The transport called `name`.
pub fn by_name(name: &str) -> Option<&'static dyn Transport> {
    TRANSPORTS.iter().copied().find(|transport| transport.name() == name)
}

/// A way to carry blocks between two ends.
///
/// To add one: a file with a [`Channel`](super::channel::Channel) and this trait, a line in
/// [`TRANSPORTS`], a section in `docs/pingpong-transports.md`. The conformance suite then holds it to
/// the contract: blocks of every size up to the largest come back unchanged and in order, in every
/// wait mode and every mode of exchange; nothing waits for ever once an end was aborted; a peer that
/// closes, stalls or answers wrongly is noticed.
pub trait Transport: fmt::Debug + Sync {
    /// The name in options and results.
    fn name(&self) -> &'static str;

    /// One line for people.
    fn about(&self) -> &'static str;

    /// What it promises and how it can wait.
    fn properties(&self) -> Properties;

    /// What it is, kept with each result for those who have only its name. Where the settings of a
    /// configuration bound its blocks, it says how.
    fn nature(&self, _wanted: &Configuration) -> Nature {
        Nature::default()
    }

    /// True where its ends have a regulator, and can be held to the rate of an agent's policy.
    fn is_paced(&self) -> bool {
        false
    }

    /// The largest block.
    fn largest(&self) -> Bytes;

    /// The largest block with the settings of a configuration, where they bound it.
    fn largest_with(&self, _wanted: &Configuration) -> Bytes {
        self.largest()
    }

    /// Why this machine cannot use it; `Ok` where it can. Asked within the network that is measured.
    fn available(&self) -> Result<(), EngineError>;

    /// Prepares the end that answers.
    fn listen(&self, hookup: &Hookup<'_>) -> Result<Box<dyn Listener>, EngineError>;

    /// Makes the end that starts.
    fn connect(&self, at: &Rendezvous, hookup: &Hookup<'_>) -> Result<Box<dyn End>, EngineError>;
}

/// What a transport promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// Nothing is lost, whatever the reader does.
    pub reliable: bool,
    /// Messages stay apart, and have a largest size.
    pub bounded: bool,
    /// How far apart the ends may be.
    pub reach: Reach,
    /// How an end can wait.
    pub waits: &'static [Wait],
}

/// How far apart the ends of a transport may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// On one link, and both of this program: nothing that is sent says who sent it.
    Link,
    /// On any two hosts, whose connections begin with a token.
    Network,
    /// On one host: the "network" is a copy of memory.
    OneHost,
}

/// An end that waits for the other one.
pub trait Listener {
    /// Where the other end finds it.
    fn rendezvous(&self) -> Result<Rendezvous, EngineError>;

    /// Waits for the other end, within the time of the hookup.
    fn accept(self: Box<Self>, hookup: &Hookup<'_>) -> Result<Box<dyn End>, EngineError>;
}

/// Where the end that listens is to be found.
#[derive(Clone, Debug)]
pub enum Rendezvous {
    /// By an address.
    At(Address),
    /// Both ends were made at once; this is the other one.
    Handed(Handed),
    /// By a hardware address on the same network.
    Link {
        /// Whose.
        mac: Mac,
        /// Tells it from other pairs of ends.
        session: u32,
    },
    /// By an address and the only certificate to be accepted there, in DER.
    Secure {
        /// Where.
        address: Address,
        /// Whose.
        certificate: Vec<u8>,
    },
}

/// An end to be taken once.
#[derive(Clone)]
pub struct Handed(Arc<Mutex<Option<Box<dyn End>>>>);

impl Reach {
    /// Why it does not go to another host; `None` where it does.
    pub const fn ends_here(self) -> Option<&'static str> {
        match self {
            Self::Link => Some("frames carry no token between hosts"),
            Self::Network => None,
            Self::OneHost => Some("both ends have to be on one host"),
        }
    }
}

impl Rendezvous {
    /// The address, for a transport that has one.
    fn address(&self) -> Result<Address, EngineError> {
        match self {
            Self::At(address) => Ok(*address),
            _ => Err(wrong_rendezvous()),
        }
    }

    /// The address and the certificate, for a transport that has both.
    #[cfg(feature = "tls")]
    fn secure(&self) -> Result<(Address, &[u8]), EngineError> {
        match self {
            Self::Secure { address, certificate } => Ok((*address, certificate)),
            _ => Err(wrong_rendezvous()),
        }
    }

    /// The other end, for a transport that made both.
    fn take(&self) -> Result<Box<dyn End>, EngineError> {
        match self {
            Self::Handed(Handed(end)) => {
                let mut end = end.lock().unwrap_or_else(PoisonError::into_inner);
                end.take().ok_or_else(wrong_rendezvous)
            }
            _ => Err(wrong_rendezvous()),
        }
    }
}

impl Handed {
    fn new(end: impl End + 'static) -> Self {
        Self(Arc::new(Mutex::new(Some(Box::new(end)))))
    }
}

impl fmt::Debug for Handed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Handed")
    }
}

fn wrong_rendezvous() -> EngineError {
    EngineError::Refused("the other end listens for another transport".to_owned())
}

/// Both ends, made at once: one is handed over, the other stays.
struct Both<E> {
    stays: E,
    handed: Handed,
}

impl<E: End + 'static> Both<E> {
    fn boxed(stays: E, leaves: E) -> Box<Self> {
        Box::new(Self { stays, handed: Handed::new(leaves) })
    }
}

impl<E: End + 'static> Listener for Both<E> {
    fn rendezvous(&self) -> Result<Rendezvous, EngineError> {
        Ok(Rendezvous::Handed(self.handed.clone()))
    }

    fn accept(self: Box<Self>, _: &Hookup<'_>) -> Result<Box<dyn End>, EngineError> {
        Ok(Box::new(self.stays))
    }
}

// Told with and without their code.
const QUIC: &str = "QUIC, one stream (quinn)";
const TLS: &str = "TLS 1.3 over TCP (rustls)";
