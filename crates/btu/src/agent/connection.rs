//! One connection of an agent: bytes in, frames out of them; answers in, bytes out. Never waits.

use std::io;
use std::io::Read;
use std::io::Write;
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use btu_control::HostId;
use btu_control::frame::Frame;
use btu_control::frame::FrameLimits;
use btu_control::frame::FrameReader;
use btu_control::tls;
use btu_core::units::Nanos;
use rustls::ServerConfig;
use rustls::ServerConnection;

/// A connection.
pub(super) struct Connection {
    carrier: Carrier,
    reader: FrameReader,
    /// Close once everything is sent.
    closing: bool,
    /// Since when the other end has taken nothing of what is to be sent.
    stuck: Option<Nanos>,
    /// More was to be sent than anybody is owed.
    overfull: bool,
}

enum Carrier {
    Local { stream: UnixStream, unsent: Vec<u8> },
    Tls { stream: TcpStream, tls: Box<ServerConnection>, announced: bool },
}

/// What a connection had to say.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// The peer's identity and the binding of the channel, once.
    pub(super) secured: Option<(HostId, [u8; 32])>,
    /// Whole frames, or why there will be none.
    pub(super) frames: Vec<Result<Frame, String>>,
    /// It is gone.
    pub(super) lost: bool,
}

impl Connection {
    /// Over the network.
    pub(super) fn tls(stream: TcpStream, config: &Arc<ServerConfig>) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        let mut tls = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
        tls.set_buffer_limit(Some(MOST_UNSENT));
        Ok(Self::over(Carrier::Tls { stream, tls: Box::new(tls), announced: false }))
    }

    /// On this host.
    pub(super) fn local(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self::over(Carrier::Local { stream, unsent: Vec::new() }))
    }

    const fn over(carrier: Carrier) -> Self {
        let reader = FrameReader::new(FrameLimits::STRANGER);
        Self { carrier, reader, closing: false, stuck: None, overfull: false }
    }

    /// The peer is known: it may say more than greetings.
    pub(super) const fn trust(&mut self) {
        self.reader.set_limits(FrameLimits::REQUESTS);
    }

    /// Takes bytes to send; they leave with the next [`Connection::flush`].
    pub(super) fn send(&mut self, bytes: &[u8]) {
        self.overfull |= match &mut self.carrier {
            Carrier::Local { unsent, .. } => {
                unsent.extend_from_slice(bytes);
                unsent.len() > MOST_UNSENT
            }
            // A buffer that is full takes a part.
            Carrier::Tls { tls, .. } => tls.writer().write_all(bytes).is_err(),
        };
    }

    /// Closes once everything is sent.
    pub(super) fn close(&mut self) {
        self.closing = true;
        // A stranger gets no answer, not even a farewell.
        if let Carrier::Tls { tls, announced: true, .. } = &mut self.carrier {
            tls.send_close_notify();
        }
    }

    /// True until everything is sent, and then for ever where it is not to be closed.
    pub(super) fn is_open(&self) -> bool {
        !self.closing || self.wants_write()
    }

    /// True where bytes wait for room in the socket.
    pub(super) fn wants_write(&self) -> bool {
        match &self.carrier {
            Carrier::Local { unsent, .. } => !unsent.is_empty(),
            Carrier::Tls { tls, .. } => tls.wants_write(),
        }
    }

    /// Sends what the socket takes; false where it is gone, or does not take what it asked for.
    pub(super) fn flush(&mut self, now: Nanos) -> bool {
        let mut moved = false;
        while self.wants_write() && !self.overfull {
            let written = match &mut self.carrier {
                Carrier::Local { stream, unsent } => stream.write(unsent).map(|n| {
                    unsent.drain(..n);
                }),
                Carrier::Tls { stream, tls, .. } => tls.write_tls(stream).map(drop),
            };
            match written {
                Ok(()) => moved = true,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_gone) => return false,
            }
        }
        // Of last words the other end has to take all in this time, of others some.
        let is_moving = moved && !self.closing;
        self.stuck = self.wants_write().then(|| self.stuck.filter(|_| !is_moving).unwrap_or(now));
        !self.overfull && self.stuck.is_none_or(|since| now.since(since) < STALL)
    }

    /// Reads what is there.
    pub(super) fn pump(&mut self) -> Said {
        let mut said = Said::default();
        if self.closing {
            return said;
        }
        for _ in 0..MOST_READS {
            match self.read(&mut said) {
                Ok(true) => {}
                Ok(false) => break,
                Err(_gone) => {
                    said.lost = true;
                    break;
                }
            }
        }
        loop {
            match self.reader.next_frame() {
                Ok(Some(frame)) => said.frames.push(Ok(frame)),
                Ok(None) => break,
                Err(error) => {
                    said.frames.push(Err(error.to_string()));
                    said.lost = true;
                    break;
                }
            }
        }
        said
    }

    /// One read; false where nothing more is there.
    fn read(&mut self, said: &mut Said) -> io::Result<bool> {
        let read = match &mut self.carrier {
            Carrier::Local { stream, .. } => {
                let mut space = [0; 4096];
                stream.read(&mut space).inspect(|count| self.reader.push(&space[..*count]))
            }
            Carrier::Tls { stream, tls, announced } => read_tls(stream, tls, &mut self.reader)
                .inspect(|_| {
                    if !*announced && !tls.is_handshaking() {
                        *announced = true;
                        said.secured = identity(tls);
                    }
                }),
        };
        match read {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(true),
            Err(error) => Err(error),
        }
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.carrier {
            Carrier::Local { stream, .. } => stream.as_fd(),
            Carrier::Tls { stream, .. } => stream.as_fd(),
        }
    }
}

/// Ciphertext from the socket, plaintext to the frames.
fn read_tls(
    stream: &mut TcpStream,
    tls: &mut ServerConnection,
    frames: &mut FrameReader,
) -> io::Result<usize> {
    let count = tls.read_tls(stream)?;
    tls.process_new_packets().map_err(io::Error::other)?;
    let mut space = [0; 4096];
    loop {
        match tls.reader().read(&mut space) {
            Ok(0) => break,
            Ok(got) => frames.push(&space[..got]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}

fn identity(tls: &ServerConnection) -> Option<(HostId, [u8; 32])> {
    let peer = tls::peer_of(tls.peer_certificates())?;
    let binding = tls.export_keying_material([0; 32], tls::BINDING, None).ok()?;
    Some((peer, binding))
}

/// Reads of one connection before the others have their turn.
const MOST_READS: usize = 16;
/// For one connection: the longest document, and words.
const MOST_UNSENT: usize = 72 << 20;
/// Without progress of what is to be sent.
const STALL: Nanos = Nanos::from_secs(30);

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (Connection, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        (Connection::local(ours).unwrap(), theirs)
    }

    /// Takes what is there.
    fn read(from: &mut UnixStream) -> usize {
        from.set_nonblocking(true).unwrap();
        from.read(&mut vec![0; 1 << 20]).unwrap()
    }

    #[test]
    fn who_takes_nothing_of_what_it_asked_for_is_let_go() {
        let (mut connection, mut other) = pair();
        let at = Nanos::from_secs;
        connection.send(&vec![7; 4 << 20]);
        assert!(connection.flush(at(100)) && connection.wants_write());
        assert!(connection.flush(at(129)));
        // Some of it is enough, as long as the connection is to stay.
        assert!(read(&mut other) > 0);
        assert!(connection.flush(at(129)) && connection.flush(at(158)) && connection.wants_write());
        assert!(!connection.flush(at(159)));
        let (mut connection, mut other) = pair();
        connection.send(&vec![7; 4 << 20]);
        connection.close();
        assert!(connection.flush(at(100)) && connection.is_open());
        assert!(read(&mut other) > 0);
        assert!(connection.flush(at(129)) && !connection.flush(at(130)));
        // Whoever has everything may be silent for as long as its state allows.
        let (mut connection, _other) = pair();
        connection.send(b"pong");
        assert!(connection.flush(at(100)) && connection.flush(at(1000)));
    }

    #[test]
    fn nobody_is_owed_more_than_a_document() {
        let (mut connection, _other) = pair();
        connection.send(&vec![7; MOST_UNSENT]);
        assert!(connection.flush(Nanos::ZERO));
        connection.send(&vec![7; MOST_UNSENT]);
        assert!(!connection.flush(Nanos::ZERO));
    }
}
