//! Emulator backends: what carries packets between the ends of emulated links.
//!
//! To add a backend: one file in this folder with a type that implements [`Backend`], and a line
//! in [`BACKENDS`]. A backend moves packets through `btu_core::link` chains, or makes the kernel
//! do the same; it never decides what happens to a packet.

pub mod netem;
pub mod relay;

use std::fmt;

use btu_core::link::ChainSpec;
use btu_core::link::LinkError;
use btu_core::link::NotForNetem;
use btu_core::link::Wire;
use btu_core::sample::DirectionSample;
use btu_core::units::Bytes;
use btu_sys::cpu::CpuSet;
use btu_sys::namespace::NamespaceError;
use btu_sys::namespace::NetNs;
use btu_sys::packet::ReceiveForm;

use crate::capture::Capture;

/// A way to emulate links.
pub trait Backend: fmt::Debug + Sync {
    /// Its name on the command line and in records.
    fn name(&self) -> &'static str;

    /// One sentence: what it uses and what it needs.
    fn help(&self) -> &'static str;

    /// Starts emulating `links` in the namespace `wire`. Packets pass unchanged until
    /// [`Emulator::configure`] says otherwise; they stop passing when the emulator is dropped.
    fn start(
        &self,
        wire: &NetNs,
        links: &[LinkPorts],
        settings: &Settings,
    ) -> Result<Box<dyn Emulator>, BackendError>;
}

/// A running emulator.
pub trait Emulator: fmt::Debug + Send + Sync {
    /// Gives links their elements and starts a new run: counters, patterns and random streams of
    /// every link begin anew, links that `orders` does not name pass packets unchanged. Returns
    /// once it is in force.
    fn configure(&self, orders: &[Order], seed: u64) -> Result<(), BackendError>;

    /// Records the wire packets of every link from now on, up to `limit` in each direction; what
    /// comes beyond is counted as lost to the capture, never to the link.
    fn start_capture(&self, limit: usize) -> Result<(), BackendError>;

    /// Ends the recording and hands it over, one capture per link.
    fn end_capture(&self) -> Result<Vec<Capture>, BackendError>;

    /// What each direction of each link did since the run started. To be asked when it is over: what comes next may have no
    /// stamp.
    fn samples(&self) -> Result<Vec<DirectionSample>, BackendError>;
}

/// Every emulator backend of this build, the default first.
pub static BACKENDS: &[&dyn Backend] = &[&relay::RelayBackend, &netem::NetemBackend];

/// One link: two devices of the emulator's namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkPorts {
    /// The link's name in records: `test-active`.
    pub name: String,
    /// The device whose packets travel `up`.
    pub near: String,
    /// The device whose packets travel `down`.
    pub far: String,
}

/// What a link shall do.
#[derive(Clone, Debug)]
pub struct Order {
    /// The link's name.
    pub link: String,
    /// For packets from near to far.
    pub up: ChainSpec,
    /// For packets from far to near.
    pub down: ChainSpec,
}

/// How an emulator waits for the next packet to be due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaitChoice {
    /// Hybrid on CPUs of its own, else sleep.
    #[default]
    Auto,
    /// Sleep until shortly before, then spin: precise, and takes CPU time.
    Hybrid,
    /// Sleep until due: some ten microseconds late, and spares the CPU for others.
    Sleep,
}

/// How the links of an emulator are divided among threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threads {
    /// One thread carries all: links that share a line have to be asked in one order.
    #[default]
    One,
    /// One for each link, as far as the emulator has CPUs for itself.
    PerLink,
}

/// What all links of an emulator share.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Where it may run; anywhere without one.
    pub cpus: Option<CpuSet>,
    /// True where others run on the same CPUs: the emulator must not spin there.
    pub shared_cpus: bool,
    /// How its links are divided.
    pub threads: Threads,
    /// How it waits.
    pub wait: WaitChoice,
    /// Sizes on the line.
    pub wire: Wire,
    /// The receive form; without one the best that the kernel grants.
    pub form: Option<ReceiveForm>,
    /// Memory for packets inside a link, per direction; [`DEFAULT_MEMORY`] without one.
    pub memory: Option<Bytes>,
    /// Drop positions to keep per direction; 10,000 without one.
    pub positions: Option<usize>,
    /// What each of its threads gives up once its sockets are open.
    pub give_up: Option<fn() -> std::io::Result<()>>,
}

/// Memory of one direction where nothing else is said.
pub const DEFAULT_MEMORY: Bytes = Bytes::new(512 << 20);

/// What kept an emulator from starting or obeying.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    /// An element cannot be made.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// An element is none that the kernel's own emulator has.
    #[error(transparent)]
    Netem(#[from] NotForNetem),
    /// The kernel was built without its own emulator, or cannot load it.
    #[error("the kernel has no sch_netem, which the mechanism netem needs")]
    NoNetem(#[source] btu_sys::Error),
    /// Packets are recorded by what carries them, and that is the kernel.
    #[error("{backend} records no packets; the relay does")]
    NoCapture {
        /// The backend's name.
        backend: &'static str,
    },
    /// The emulator's namespace was refused.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    /// A chain holds more than the emulator may keep.
    #[error(
        "{link} {direction}: {rate} for {delay} takes {needed} of memory, allowed are {allowed}"
    )]
    Memory {
        /// The link.
        link: String,
        /// `up` or `down`.
        direction: &'static str,
        /// The rate asked for.
        rate: btu_core::units::BitRate,
        /// The delay asked for.
        delay: btu_core::units::Nanos,
        /// What it takes.
        needed: Bytes,
        /// The limit.
        allowed: Bytes,
    },
    /// The emulator ended by itself.
    #[error("the emulator stopped: {cause}")]
    Stopped {
        /// Why.
        cause: String,
    },
    /// A device, a socket or memory was refused.
    #[error("start the emulator")]
    Start(#[from] btu_sys::Error),
    /// An order names a link that the emulator does not have.
    #[error("no link has the name {name}")]
    UnknownLink {
        /// The name.
        name: String,
    },
}

impl Threads {
    /// The most that so many links keep busy.
    pub fn most(self, links: usize) -> usize {
        match self {
            Self::One => 1,
            Self::PerLink => links,
        }
    }
}

impl fmt::Display for WaitChoice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Auto => "auto",
            Self::Hybrid => "hybrid",
            Self::Sleep => "sleep",
        })
    }
}

impl std::str::FromStr for WaitChoice {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        [Self::Auto, Self::Hybrid, Self::Sleep]
            .into_iter()
            .find(|choice| choice.to_string() == text)
            .ok_or_else(|| format!("unknown wait \"{text}\"; write auto, hybrid or sleep"))
    }
}
