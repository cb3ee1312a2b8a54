//! Commands that cannot outlive the program that started them, however it ends.
//!
//! `PR_SET_PDEATHSIG` on the command is not enough: `ping` clears it (file capabilities do), and
//! grandchildren that forked twice never had it. So the commands live in a [`Compartment`]: a fresh
//! PID namespace whose init is a fork of the program. The kernel kills init with the program and
//! everything in the namespace with init.

mod alike;
mod capability;
mod compartment;
mod confine;
mod init;
pub(crate) mod landlock;
mod message;
mod mounts;
mod others;
mod sandbox;
pub(crate) mod seccomp;
mod second;
mod signals;
mod terminal;

use std::ffi::OsString;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;

pub use alike::Alike;
pub use alike::kill_group;
pub use alike::note_termination;
pub use compartment::Compartment;
pub use confine::die_with_parent;
pub use confine::dies_with_its_starter;
pub use confine::give_up_rights;
pub use confine::hide_memory;
pub use others::cpu_of_others;
pub use sandbox::Bounds;
pub use sandbox::Calls;
pub use sandbox::Confinement;
pub use sandbox::confine;
pub use sandbox::confine_thread;
pub use sandbox::confine_to_network;
pub use second::FirstSignal;
pub use signals::Arrived;
pub use signals::Origin;
pub use signals::SignalQueue;
pub use signals::ignores;
pub use terminal::Foreground;

/// A command to run inside a compartment.
#[derive(Clone, Debug)]
pub struct Program<'n> {
    /// The program, found by `PATH`, and its arguments.
    pub argv: Vec<OsString>,
    /// Variables that it has otherwise than the caller, who has the rest; one without a value is not there.
    pub environment: Vec<(OsString, Option<OsString>)>,
    /// The network namespace it runs in; `None` for the caller's.
    pub network: Option<BorrowedFd<'n>>,
    /// Where its standard output goes.
    pub stdout: Stdout,
    /// Where its standard input comes from.
    pub stdin: Stdin,
    /// The capabilities that it has.
    pub privileges: Privileges,
}

/// Where a program's standard output goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stdout {
    /// To the caller's standard output.
    Inherited,
    /// To the caller's standard error, so that standard output stays free for a document.
    Stderr,
}

/// Where a program's standard input comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stdin {
    /// From the caller's standard input.
    Inherited,
    /// From nowhere: it reads an end of file.
    Null,
}

/// The capabilities of a program inside the compartment's user namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privileges {
    /// `CAP_NET_ADMIN`, `CAP_NET_RAW` and `CAP_SYS_ADMIN` survive `exec`, so that links nest.
    Ambient,
    /// None but what the program's file or the user id 0 gives.
    Plain,
}

/// A file whose content is replaced inside the compartment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplacedFile {
    /// The file, which must exist; a symbolic link is followed.
    pub path: PathBuf,
    /// What programs in the compartment read there.
    pub content: Vec<u8>,
}

/// What happened inside a compartment. `program` counts from 0 in the order given at creation.
#[derive(Debug)]
pub enum Event {
    /// The program runs.
    Started {
        /// Which one.
        program: usize,
    },
    /// The program could not be executed.
    Refused {
        /// Which one.
        program: usize,
        /// The kernel's answer.
        cause: io::Error,
    },
    /// The program ended.
    Ended {
        /// Which one.
        program: usize,
        /// How.
        ended: Ended,
    },
}

/// What a wait ended with.
#[derive(Debug)]
pub enum Happening {
    /// Something happened in the compartment.
    Inside(Event),
    /// This process was sent a signal.
    Signal(Arrived),
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// With this status.
    Exited(u8),
    /// By this signal.
    Signalled(u8),
}

impl Ended {
    /// The status a shell would report: 128 + n for signal n.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Exited(status) => status,
            Self::Signalled(signal) => signal.wrapping_add(128),
        }
    }
}

/// What kept a compartment from being made or used.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// A program without a name was given.
    #[error("a command needs a program")]
    NoProgram,
    /// The fork would copy a process whose other threads may hold locks.
    #[error("fork init: the process has {0} threads, it must have one")]
    Threads(usize),
    /// A system call of the caller's side.
    #[error("{operation}")]
    Call {
        /// Operation and operand.
        operation: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },
    /// Init could not prepare the compartment.
    #[error("prepare the compartment: {step}")]
    Prepare {
        /// What init was doing.
        step: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },
    /// Init ended before the compartment was closed.
    #[error("the init of the compartment ended: {0}")]
    InitGone(String),
}

impl ProcessError {
    fn call(operation: &'static str) -> impl FnOnce(nix::Error) -> Self {
        move |errno| Self::Call { operation, source: errno.into() }
    }
}
