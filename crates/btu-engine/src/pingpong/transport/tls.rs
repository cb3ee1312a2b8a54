//! TLS 1.3 over TCP: what encryption costs a block.
//!
//! The library allocates while it works; that is part of what an application pays and is measured.

use std::io;
use std::io::Read;
use std::io::Write;
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use btu_core::sample::SocketOptions;
use btu_core::units::Bytes;
use btu_sys::exchange::Family;
use btu_sys::exchange::Listening;
use btu_sys::exchange::Ready;
use rustls::ClientConnection;
use rustls::Connection;
use rustls::ServerConfig;
use rustls::ServerConnection;

use super::Hookup;
use super::Listener;
use super::Properties;
use super::Reach;
use super::Rendezvous;
use super::Transport;
use super::socket;
use super::socket::StreamEnd;
use crate::error::EngineError;
use crate::pingpong::channel::Aborter;
use crate::pingpong::channel::Channel;
use crate::pingpong::channel::End;
use crate::pingpong::channel::Meter;
use crate::pingpong::regulator::Regulator;
use crate::pinned;
use crate::pinned::refused;

/// The transport `tls`.
#[derive(Debug)]
pub(super) struct Tls;

/// A TCP socket that waits for a connection, and the certificate to show there.
struct Waiting {
    listening: Listening,
    config: ServerConfig,
    certificate: Vec<u8>,
}

/// One end of an encrypted stream.
struct TlsEnd {
    wire: StreamEnd,
    session: Connection,
    /// Bytes that `try_send` has handed over and not told yet, since they are not on the wire.
    untold: usize,
}

impl Transport for Tls {
    fn name(&self) -> &'static str {
        "tls"
    }

    fn about(&self) -> &'static str {
        super::TLS
    }

    fn properties(&self) -> Properties {
        Properties { reliable: true, bounded: false, reach: Reach::Network, waits: socket::WAITS }
    }

    fn is_paced(&self) -> bool {
        true
    }

    fn largest(&self) -> Bytes {
        Bytes::new(socket::LARGEST_STREAM)
    }

    fn available(&self) -> Result<(), EngineError> {
        Ok(())
    }

    fn listen(&self, hookup: &Hookup<'_>) -> Result<Box<dyn Listener>, EngineError> {
        let (config, certificate) = pinned::server()?;
        let listening = hookup.listen(Family::Tcp, &hookup.tcp_settings())?;
        Ok(Box::new(Waiting { listening, config, certificate }))
    }

    fn connect(&self, at: &Rendezvous, hookup: &Hookup<'_>) -> Result<Box<dyn End>, EngineError> {
        let (address, certificate) = at.secure()?;
        let config = Arc::new(pinned::client(certificate)?);
        let settings = hookup.tcp_settings();
        let socket = hookup.connect(Family::Tcp, address, &settings)?;
        let name = pinned::NAME.try_into().map_err(refused("name the far end"))?;
        let session = ClientConnection::new(config, name).map_err(refused("start TLS"))?;
        Ok(Box::new(TlsEnd::new(socket, session.into(), hookup)?))
    }
}

impl Listener for Waiting {
    fn rendezvous(&self) -> Result<Rendezvous, EngineError> {
        let (address, certificate) = (self.listening.address()?, self.certificate.clone());
        Ok(Rendezvous::Secure { address, certificate })
    }

    fn accept(self: Box<Self>, hookup: &Hookup<'_>) -> Result<Box<dyn End>, EngineError> {
        let socket = hookup.accept(&self.listening)?;
        let session = ServerConnection::new(Arc::new(self.config));
        let session = session.map_err(refused("start TLS"))?;
        Ok(Box::new(TlsEnd::new(socket, session.into(), hookup)?))
    }
}

impl TlsEnd {
    /// Shakes hands, asleep and in time, whatever the way to wait is afterwards.
    fn new(
        socket: OwnedFd,
        mut session: Connection,
        hookup: &Hookup<'_>,
    ) -> Result<Self, EngineError> {
        btu_sys::socket::bound_waits(&socket, hookup.within)?;
        let mut stream = TcpStream::from(socket);
        while session.is_handshaking() || session.wants_write() {
            let done = session.complete_io(&mut stream);
            done.map_err(EngineError::peer("shake hands by TLS"))?;
        }
        let socket = OwnedFd::from(stream);
        btu_sys::socket::bound_waits(&socket, Duration::ZERO)?;
        Ok(Self { wire: StreamEnd::new(socket, hookup.wanted)?, session, untold: 0 })
    }

    /// Puts everything on the wire.
    fn flush(&mut self, wait: Patience) -> io::Result<()> {
        while self.session.wants_write() {
            self.session.write_tls(&mut Wire { end: &mut self.wire, wait })?;
        }
        Ok(())
    }

    /// Bytes that were decrypted, after as many reads from the wire as it takes.
    fn decrypt(&mut self, space: &mut [u8], wait: Patience) -> io::Result<usize> {
        loop {
            match self.session.reader().read(space) {
                Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => {}
                outcome => return outcome,
            }
            if self.session.read_tls(&mut Wire { end: &mut self.wire, wait })? == 0 {
                return Ok(0);
            }
            let understood = self.session.process_new_packets();
            // An alert also, which tells the other end what was wrong with its bytes.
            let flushed = self.flush(wait);
            understood.map_err(|cause| io::Error::new(io::ErrorKind::InvalidData, cause))?;
            flushed?;
        }
    }
}

impl Channel for TlsEnd {
    fn send(&mut self, data: &[u8]) -> io::Result<usize> {
        let taken = self.session.writer().write(data)?;
        self.flush(Patience::AsConfigured)?;
        Ok(taken)
    }

    fn recv(&mut self, space: &mut [u8]) -> io::Result<usize> {
        self.decrypt(space, Patience::AsConfigured)
    }

    /// Tells what it took only once that is on the wire; the caller comes again with the same bytes.
    fn try_send(&mut self, data: &[u8]) -> io::Result<usize> {
        if self.untold == 0 {
            self.untold = self.session.writer().write(data)?;
        }
        self.flush(Patience::None)?;
        Ok(std::mem::take(&mut self.untold))
    }

    fn try_recv(&mut self, space: &mut [u8]) -> io::Result<usize> {
        self.decrypt(space, Patience::None)
    }

    fn wait_until(&mut self, ready: Ready) -> io::Result<()> {
        self.wire.wait_until(ready)
    }

    fn aborter(&self) -> Aborter {
        Channel::aborter(&self.wire)
    }

    fn meter(&self) -> Option<Meter> {
        Channel::meter(&self.wire)
    }

    fn options(&self) -> Option<SocketOptions> {
        Channel::options(&self.wire)
    }

    fn regulator(&self) -> Option<Regulator> {
        Channel::regulator(&self.wire)
    }

    fn remarks(&self) -> Vec<String> {
        Channel::remarks(&self.wire)
    }
}

/// Whether a call on the wire may wait.
#[derive(Clone, Copy)]
enum Patience {
    AsConfigured,
    None,
}

/// The socket as the library wants it.
struct Wire<'e> {
    end: &'e mut StreamEnd,
    wait: Patience,
}

impl Read for Wire<'_> {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        match self.wait {
            Patience::AsConfigured => self.end.recv(space),
            Patience::None => self.end.try_recv(space),
        }
    }
}

impl Write for Wire<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        match self.wait {
            Patience::AsConfigured => self.end.send(data),
            Patience::None => self.end.try_send(data),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
