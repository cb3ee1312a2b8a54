//! What an FTP server grants: to whom, how much, how long.

use std::ops::RangeInclusive;
use std::time::Duration;

use btu_core::units::Bytes;

/// Who may use the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Login {
    /// Everybody, by any name and password.
    Anybody,
    /// Who knows both.
    Only {
        /// The argument of USER.
        user: String,
        /// The argument of PASS.
        password: String,
    },
}

/// Bounds of the server. The defaults suit a test network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Sessions at once that are logged in; one more is told so with code 421.
    pub sessions: usize,
    /// Memory for files that were put.
    pub store: Bytes,
    /// Bytes per call on a data connection.
    pub buffer: Bytes,
    /// Ports for data connections; when all are taken, any other.
    pub data_ports: RangeInclusive<u16>,
    /// How long a session may say nothing.
    pub control_idle: Duration,
    /// How long a data connection may stand still.
    pub data_idle: Duration,
    /// How long the server waits for a client's data connection.
    pub connect: Duration,
}

impl Login {
    pub(super) fn admits(&self, user: &str, password: &str) -> bool {
        match self {
            Self::Anybody => true,
            Self::Only { user: name, password: secret } => user == name && password == secret,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            sessions: 64,
            store: Bytes::new(256 << 20),
            buffer: Bytes::new(65536),
            // Below the range from which Linux takes ports by itself.
            data_ports: 20_000..=29_999,
            // RFC 1123, 4.1.3.2: at least five minutes.
            control_idle: Duration::from_mins(5),
            data_idle: Duration::from_mins(1),
            connect: Duration::from_secs(20),
        }
    }
}

/// The longest command, its end included.
pub(super) const LINE: usize = 4096;

/// Wrong passwords before the connection is closed.
pub(super) const LOGINS: u32 = 3;
