//! Why the engine could not do what it was told.

use btu_core::words::sentence;
use std::any::Any;
use std::error::Error;
use std::io;
use std::path::PathBuf;

use btu_sys::limit;
use btu_sys::namespace::NamespaceError;

/// An operation that did not work: operation and operand in the text, the cause as its source.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A file or a directory.
    #[error("{operation} {}", path.display())]
    File {
        /// What was tried.
        operation: &'static str,
        /// On which file.
        path: PathBuf,
        /// Why it did not work.
        source: io::Error,
    },
    /// A namespace could not be entered.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    /// The other end of a connection.
    #[error("{operation}")]
    Peer {
        /// What was tried, and with whom.
        operation: String,
        /// Why it did not work.
        source: io::Error,
    },
    /// A file transfer.
    #[error("ftp {operation}")]
    Ftp {
        /// The command and its operand.
        operation: String,
        /// What the server said.
        source: crate::file::ftp::FtpFault,
    },
    /// A system call.
    #[error(transparent)]
    System(#[from] btu_sys::Error),
    /// A thread could not be started.
    #[error("start thread {name}; {}", limit::of_threads())]
    Thread {
        /// Its name.
        name: String,
        /// Why not.
        source: io::Error,
    },
    /// A thread panicked.
    #[error("thread {name} panicked: {what}")]
    Panicked {
        /// Its name.
        name: String,
        /// What it said.
        what: String,
    },
    /// What was asked for is refused, with the reason and the remedy.
    #[error("{0}")]
    Refused(String),
}

impl EngineError {
    /// Closes over the path for `map_err`.
    pub(crate) fn file(
        operation: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { operation, path, source }
    }

    /// Closes over the operation for `map_err`.
    pub(crate) fn peer(operation: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let operation = operation.into();
        move |source| Self::Peer { operation, source }
    }

    /// A thread of this name panicked, and said this.
    pub fn panicked(name: &str, said: &(dyn Any + Send)) -> Self {
        let text = said.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| said.downcast_ref::<&str>().copied());
        let what = text.unwrap_or("no word of why").to_owned();
        Self::Panicked { name: name.to_owned(), what }
    }

    /// True where the other end did not answer in time: it may the next time.
    pub fn is_late(&self) -> bool {
        let late = |cause: &io::Error| cause.kind() == io::ErrorKind::TimedOut;
        match self {
            Self::Peer { source, .. } => late(source),
            Self::System(cause) => cause.kind() == io::ErrorKind::TimedOut,
            _ => false,
        }
    }

    /// The error and its causes on one line, for records that keep text.
    pub fn sentence(&self) -> String {
        sentence(self)
    }
}

/// True where a limit keeps threads from starting: nothing that was measured is to blame. Also inside of an error of
/// I/O, which does not show itself in a chain of causes.
pub fn is_of_threads(cause: &(dyn Error + 'static)) -> bool {
    let inner = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    let inner = inner.map(|inner| inner as &(dyn Error + 'static));
    [Some(cause), inner].into_iter().flatten().any(names_a_thread)
}

fn names_a_thread(cause: &(dyn Error + 'static)) -> bool {
    let of_engine = matches!(
        cause.downcast_ref(),
        Some(EngineError::Thread { .. } | EngineError::Namespace(NamespaceError::Thread(_)))
    );
    of_engine
        || matches!(cause.downcast_ref(), Some(NamespaceError::Thread(_)))
        || cause.is::<limit::NoThread>()
}
