//! The error of every wrapper: which call, on what, and why not.

use std::io;

/// A system call that did not work: operation and operand in the text, the cause as its source.
#[derive(Debug, thiserror::Error)]
#[error("{operation}")]
pub struct Error {
    operation: String,
    #[source]
    cause: io::Error,
}

impl Error {
    /// `operation` says the call and its operand (`bind 10.9.0.2:5001`), `cause` says why not.
    pub fn new(operation: impl Into<String>, cause: impl Into<io::Error>) -> Self {
        Self { operation: operation.into(), cause: cause.into() }
    }

    /// The last error of this thread (`errno`).
    pub fn last(operation: impl Into<String>) -> Self {
        Self::new(operation, io::Error::last_os_error())
    }

    /// The kind of the cause.
    pub fn kind(&self) -> io::ErrorKind {
        self.cause.kind()
    }

    /// The number of the cause, where it came from the kernel.
    pub fn errno(&self) -> Option<i32> {
        self.cause.raw_os_error()
    }
}

/// The result of a wrapper.
pub type Result<T> = std::result::Result<T, Error>;
