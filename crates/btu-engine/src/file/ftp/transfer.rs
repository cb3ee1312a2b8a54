//! A file on its way between the client and a server.

use std::io;
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;
use std::time::Instant;

use btu_core::units::Bytes;
use btu_sys::socket;

use super::client::held;
use super::dialogue::Class;
use super::dialogue::Dialogue;
use super::dialogue::FtpFault;
use super::dialogue::named;
use crate::error::EngineError;
use crate::transport::retried;

/// A file on its way. Dropped unfinished, it is abandoned; the server's last word on it is lost.
#[derive(Debug)]
pub struct Transfer {
    /// Goes before the last word, which is not waited for any more then.
    data: Arc<TcpStream>,
    last_word: LastWord,
    name: String,
    /// Of a file that is stored.
    outbound: Option<Outbound>,
}

/// What is known of a file that goes to the server. On a slow path a send buffer takes all of it at once, and it
/// arrives for minutes: patience is for the time in which nothing arrives.
#[derive(Debug)]
struct Outbound {
    patience: Duration,
    sent: u64,
    /// Acknowledged by the system of the server.
    arrived: u64,
    /// When something was sent or arrived last.
    moved: Instant,
    is_ended: bool,
}

/// What the server has still to say about a transfer.
#[derive(Debug)]
struct LastWord {
    dialogue: Arc<Mutex<Dialogue>>,
    is_heard: bool,
}

impl Transfer {
    /// One that comes from the server.
    pub(super) fn here(data: Arc<TcpStream>, dialogue: &Arc<Mutex<Dialogue>>, name: &str) -> Self {
        let last_word = LastWord { dialogue: Arc::clone(dialogue), is_heard: false };
        Self { data, last_word, name: name.to_owned(), outbound: None }
    }

    /// One that goes to the server.
    pub(super) fn there(
        data: Arc<TcpStream>,
        dialogue: &Arc<Mutex<Dialogue>>,
        name: &str,
        patience: Duration,
    ) -> Result<Self, EngineError> {
        let here = Self::here(data, dialogue, name);
        socket::bound_waits(&here.data, SLICE.min(patience))?;
        let (sent, arrived, moved) = (0, 0, Instant::now());
        let outbound = Outbound { patience, sent, arrived, moved, is_ended: false };
        Ok(Self { outbound: Some(outbound), ..here })
    }

    /// Receives at most `space`, in one call; 0 is the end of the file.
    pub fn receive(&self, space: &mut [u8]) -> Result<usize, EngineError> {
        let received = retried(|| socket::recv(self.data.as_fd(), space));
        // Text is made only where something fails.
        received.map_err(|cause| EngineError::peer(format!("ftp receive {}", self.name))(cause))
    }

    /// Sends at most `bytes`, in one call; 0 where there was no room for a moment.
    pub fn send(&mut self, bytes: &[u8]) -> Result<usize, EngineError> {
        match retried(|| socket::send(self.data.as_fd(), bytes)) {
            Ok(count) => {
                if let Some(outbound) = &mut self.outbound {
                    outbound.note_sent(count);
                }
                Ok(count)
            }
            Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => self.look().map(|()| 0),
            Err(cause) => Err(EngineError::peer(format!("ftp send {}", self.name))(cause)),
        }
    }

    /// What the system of the server has of a file that was sent to it.
    pub fn arrived(&mut self) -> Result<Bytes, EngineError> {
        let Some(outbound) = &mut self.outbound else { return Ok(Bytes::ZERO) };
        outbound.note_arrived(&self.data)?;
        Ok(Bytes::new(outbound.arrived))
    }

    /// Ends a file that was sent, and waits so long for the server to say that it has all of it.
    pub fn is_confirmed(&mut self, longest: Duration) -> Result<bool, EngineError> {
        self.end()?;
        let has_word = held(&self.last_word.dialogue).has_word(longest);
        if has_word.map_err(EngineError::peer(format!("ftp completion of {}", self.name)))? {
            return self.last_word.hear(&self.name).map(|()| true);
        }
        self.look().map(|()| false)
    }

    /// Ends the file and waits until the server says that it has all of it, or gave all of it.
    pub fn finish(mut self) -> Result<(), EngineError> {
        while self.outbound.is_some() && !self.last_word.is_heard {
            self.is_confirmed(SLICE)?;
        }
        let Self { data, mut last_word, name, .. } = self;
        // The connection ends with its last descriptor.
        drop(data);
        if last_word.is_heard { Ok(()) } else { last_word.hear(&name) }
    }

    /// Keeps the socket, which knows what has arrived and can still be told to discard the rest.
    fn end(&mut self) -> Result<(), EngineError> {
        let Some(outbound) = self.outbound.as_mut().filter(|outbound| !outbound.is_ended) else {
            return Ok(());
        };
        (outbound.is_ended, outbound.moved) = (true, Instant::now());
        match socket::close_sending(&self.data) {
            // The server ended it before, and says why.
            Err(cause) if cause.kind() == io::ErrorKind::NotConnected => Ok(()),
            outcome => outcome.map_err(EngineError::peer(format!("ftp end {}", self.name))),
        }
    }

    /// An error where nothing of the file moved for too long.
    fn look(&mut self) -> Result<(), EngineError> {
        let Some(outbound) = &mut self.outbound else { return Ok(()) };
        outbound.note_arrived(&self.data)?;
        if outbound.moved.elapsed() < outbound.patience {
            return Ok(());
        }
        let fault = FtpFault::Silent(outbound.patience);
        Err(named(&format!("completion of {}", self.name))(fault))
    }
}

impl Outbound {
    fn note_sent(&mut self, count: usize) {
        self.sent += count as u64;
        self.moved = Instant::now();
    }

    fn note_arrived(&mut self, data: &TcpStream) -> Result<(), EngineError> {
        // The end of the stream counts as a byte there until it, too, is acknowledged.
        let arrived = self.sent.saturating_sub(socket::unacknowledged(data)?);
        if arrived > self.arrived {
            (self.arrived, self.moved) = (arrived, Instant::now());
        }
        Ok(())
    }
}

impl LastWord {
    fn hear(&mut self, name: &str) -> Result<(), EngineError> {
        self.is_heard = true;
        held(&self.dialogue).reply(&format!("completion of {name}"), &[Class::Done]).map(drop)
    }
}

impl Drop for LastWord {
    fn drop(&mut self) {
        if !self.is_heard {
            held(&self.dialogue).abandon();
        }
    }
}

/// How long a call waits for room, and a look for the last word, before what has arrived is counted.
const SLICE: Duration = Duration::from_millis(10);
