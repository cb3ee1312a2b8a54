//! The ways to write and to read that have a name, as the data threads use them.
//!
//! A new write is a variant of [`WriteCall`] and of [`Pen`] here; its call is in `btu_sys::socket`.

use std::io;
use std::os::fd::BorrowedFd;

use btu_core::run::calls::MessageFile;
use btu_core::run::calls::ReadCall;
use btu_core::run::calls::WriteCall;
use btu_sys::socket;
use btu_sys::socket::FiledMessage;
use btu_sys::socket::Settings;

use super::stream;
use super::stream::Incoming;
use super::stream::Outgoing;
use super::stream::Received;
use super::stream::Sent;
use crate::transport::Connection;
use crate::transport::Receiving;
use crate::transport::Sending;

/// What a writer has in hand before the clock runs.
#[derive(Debug)]
pub(super) enum Pen {
    /// The call of the transport.
    Own,
    Batched,
    Sendfile(FiledMessage),
}

impl Pen {
    /// The pen of a write for this connection, of which messages look like `block`.
    pub(super) fn prepare(
        write: WriteCall,
        connection: &dyn Connection,
        block: &[u8],
    ) -> btu_sys::Result<Self> {
        match write {
            WriteCall::Plain => Ok(Self::Own),
            WriteCall::NoDelay => {
                let options = Settings { nodelay: Some(true), ..Settings::default() };
                options.apply(&connection).map(|()| Self::Own)
            }
            WriteCall::Batched => Ok(Self::Batched),
            WriteCall::Sendfile => {
                FiledMessage::new(&std::env::temp_dir(), block).map(Self::Sendfile)
            }
        }
    }

    /// What it sends from, where that is a file.
    pub(super) fn file(&self) -> Option<MessageFile> {
        let Self::Sendfile(message) = self else { return None };
        Some(if message.in_memory() { MessageFile::Memory } else { MessageFile::Disk })
    }

    /// Writes what was ordered.
    pub(super) fn write(
        &self,
        connection: &dyn Connection,
        order: &Outgoing<'_>,
    ) -> io::Result<Sent> {
        let socket = connection.as_fd();
        match self {
            Self::Own => connection.send_messages(order),
            Self::Batched => stream::send_messages(&Batched(socket), order),
            Self::Sendfile(message) => stream::send_messages(&Sendfile { socket, message }, order),
        }
    }
}

/// Has the kernel wake a reader as its way of reading wants it.
pub(super) fn set_low_water(way: ReadCall, connection: &dyn Connection) -> btu_sys::Result<()> {
    let Some(bytes) = way.low_water() else { return Ok(()) };
    socket::set_low_water(&connection, u32::try_from(bytes.count()).unwrap_or(u32::MAX))
}

/// Reads to the end of the stream in this way.
pub(super) fn read(
    way: ReadCall,
    connection: &dyn Connection,
    order: Incoming<'_>,
) -> io::Result<Received> {
    if way.reaches_the_user() {
        connection.receive_messages(order)
    } else {
        stream::receive_messages(&Sink(connection.as_fd()), order)
    }
}

struct Batched<'a>(BorrowedFd<'a>);

impl Sending for Batched<'_> {
    #[inline]
    fn send(&self, data: &[u8]) -> io::Result<usize> {
        socket::send_more(self.0, data)
    }
}

struct Sendfile<'a> {
    socket: BorrowedFd<'a>,
    message: &'a FiledMessage,
}

impl Sending for Sendfile<'_> {
    /// `data` is the end of a message, as everything that the loop sends.
    #[inline]
    fn send(&self, data: &[u8]) -> io::Result<usize> {
        self.message.send_last(self.socket, data.len())
    }
}

struct Sink<'a>(BorrowedFd<'a>);

impl Receiving for Sink<'_> {
    #[inline]
    fn recv(&self, space: &mut [u8]) -> io::Result<usize> {
        socket::discard(self.0, space)
    }

    fn waiting(&self) -> u64 {
        socket::unread(&self.0).unwrap_or(0)
    }
}
