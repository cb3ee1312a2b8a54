//! What the two hosts of a ping-pong say to each other between visits, and the host that starts, which
//! asks for ends on the other one.
//!
//! Words and what is told go over a control connection, never over the one that is measured. Whoever
//! carries them fills [`Talk`].

use std::fmt::Debug;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use btu_core::pingpong::configuration::Configuration;
use btu_core::pingpong::sample::Fault;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::cpu::ThreadUse;
use btu_sys::exchange::Address;
use serde::Deserialize;
use serde::Serialize;

use super::transport::Rendezvous;
use super::verify::Plant;
use crate::door::Seat;
use crate::error::EngineError;

/// What the host that starts says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "word", rename_all = "snake_case")]
pub enum Word {
    /// Ends a connection, whatever it does.
    Close {
        /// Its number.
        connection: u32,
    },
    /// Wants an end that listens.
    Listen {
        /// The number of the connection: of every one another.
        connection: u32,
        /// Transport, waiting, buffers, options.
        configuration: Box<Configuration>,
        /// How long to wait for the other end.
        patience_ns: Nanos,
        /// CPUs of the end, such as `0-3`; the host's own choice where none are named.
        cpus: Option<String>,
        /// A fault to make on purpose in checked visits.
        plant: Option<Plant>,
    },
    /// Wants to know when the connection stands.
    Opened {
        /// Its number.
        connection: u32,
    },
    /// Wants to know how the visit came out.
    Over {
        /// The number of the connection.
        connection: u32,
        /// True where it broke off here: nothing comes any more.
        broken: bool,
    },
    /// The next visit begins.
    Visit {
        /// The number of the connection.
        connection: u32,
        /// The block.
        size_bytes: Bytes,
        /// Where the numbers of checked exchanges go on; `None` where time is measured.
        verify_from: Option<u64>,
    },
}

/// What the host that answers says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "told", rename_all = "snake_case")]
pub enum Told {
    /// The connection is closed, or never was.
    Closed {},
    /// The end listens.
    Listening {
        /// Where.
        at: Meeting,
    },
    /// The connection stands.
    Open {
        /// What a reader should know of it.
        remarks: Vec<String>,
    },
    /// The visit is over.
    Over {
        /// How.
        account: Account,
    },
    /// The end waits for the first block.
    Ready {},
    /// It cannot be done.
    Refused {
        /// Operation, operand and cause.
        reason: String,
    },
}

/// Where an end on another host is to be found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Meeting {
    /// By an address.
    At(SocketAddr),
    /// By an address and the only certificate to be accepted there, in DER.
    Secure(SocketAddr, Vec<u8>),
}

/// What the end that answers says of a visit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// What went wrong, with operation, operand and cause.
    pub fault: Option<(Fault, String)>,
    /// Exchanges whose every byte was checked.
    pub verified: u64,
    /// CPU time of the end.
    pub cpu_ns: u64,
    /// Time that it was runnable and not running; `None` where the kernel does not say.
    pub run_delay_ns: Option<u64>,
    /// Its context switches because it had to wait.
    pub voluntary_switches: u64,
    /// Its context switches because somebody else was given the CPU.
    pub involuntary_switches: u64,
}

/// Carries words to the host that answers.
pub trait Talk: Debug + Send {
    /// Says a word and waits for what is told, which may take `within` beside the way.
    fn say(&mut self, word: &Word, within: Nanos) -> Result<Told, EngineError>;

    /// What data connections have to know now; the `attempt` of each is its number.
    fn seat(&self) -> Seat;

    /// Why the other host is lost, if it is.
    fn lost(&self) -> Option<String>;
}

/// The other host, shared by all connections to it.
#[derive(Clone, Debug)]
pub struct Host {
    shared: Arc<Mutex<Shared>>,
    /// CPUs that its ends shall use.
    pub cpus: Option<String>,
}

#[derive(Debug)]
struct Shared {
    talk: Box<dyn Talk>,
    connections: u32,
}

impl Host {
    /// A host that hears what is said by `talk`.
    pub fn new(talk: impl Talk + 'static) -> Self {
        let shared = Shared { talk: Box::new(talk), connections: 0 };
        Self { shared: Arc::new(Mutex::new(shared)), cpus: None }
    }

    /// Why it is lost, if it is.
    pub fn lost(&self) -> Option<String> {
        self.lock().talk.lost()
    }

    /// A number for the next connection.
    pub(super) fn next_connection(&self) -> u32 {
        let mut shared = self.lock();
        shared.connections += 1;
        shared.connections
    }

    /// What a connection has to know.
    pub(super) fn seat(&self, connection: u32) -> Seat {
        Seat { attempt: connection, ..self.lock().talk.seat() }
    }

    /// Says a word; a refusal is an error.
    pub(super) fn say(&self, word: &Word, within: Nanos) -> Result<Told, EngineError> {
        match self.lock().talk.say(word, within)? {
            Told::Refused { reason } => Err(EngineError::Refused(format!("far end: {reason}"))),
            told => Ok(told),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What does not fit the word that was said.
pub(super) fn misfit(told: &Told) -> EngineError {
    EngineError::Refused(format!("far end: an answer that does not fit ({told:?})"))
}

impl Meeting {
    /// In words that another host understands; an error for what only this one does.
    pub(super) fn of(rendezvous: &Rendezvous) -> Result<Self, EngineError> {
        match rendezvous {
            Rendezvous::At(Address::Inet(address)) => Ok(Self::At(*address)),
            Rendezvous::Secure { address: Address::Inet(address), certificate } => {
                Ok(Self::Secure(*address, certificate.clone()))
            }
            _ => Err(EngineError::Refused("both ends have to be on one host".to_owned())),
        }
    }
}

impl From<Meeting> for Rendezvous {
    fn from(meeting: Meeting) -> Self {
        match meeting {
            Meeting::At(address) => Self::At(Address::Inet(address)),
            Meeting::Secure(address, certificate) => {
                Self::Secure { address: Address::Inet(address), certificate }
            }
        }
    }
}

impl Account {
    /// What a thread used.
    pub(super) fn of_use(used: &ThreadUse) -> Self {
        Self {
            cpu_ns: used.cpu_ns,
            run_delay_ns: used.run_delay_ns,
            voluntary_switches: used.voluntary_switches,
            involuntary_switches: used.involuntary_switches,
            ..Self::default()
        }
    }

    /// The same as it is told of a thread.
    pub(super) fn used(&self) -> ThreadUse {
        ThreadUse {
            cpu_ns: self.cpu_ns,
            run_delay_ns: self.run_delay_ns,
            voluntary_switches: self.voluntary_switches,
            involuntary_switches: self.involuntary_switches,
        }
    }
}
