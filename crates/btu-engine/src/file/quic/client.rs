//! The end that calls.

use std::fmt;
use std::io;
use std::io::Read;
use std::io::Write;
use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::net::Ipv6Addr;
use std::net::SocketAddr;
use std::net::TcpStream;
use std::sync::Arc;

use btu_core::file::sample::Operation;
use btu_core::units::Bytes;
use btu_sys::memory::Buffer;
use btu_sys::socket;

use super::line::Line;
use super::server::SOCKET_BUFFER;
use crate::error::EngineError;
use crate::file::Errand;
use crate::file::Moments;
use crate::file::Opening;
use crate::file::Session;
use crate::file::Visit;
use crate::file::order::Order;
use crate::file::order::answer_to;
use crate::file::order::buffer_for;
use crate::time::now;
use crate::traffic::QuicSettings;
use crate::traffic::quic::QuicTalk;
use crate::traffic::quic::Trust;

/// A connection whose server knows what is to come.
pub(super) struct Client {
    line: Line,
    /// Its end is the server's.
    door: Arc<TcpStream>,
    errand: Errand,
    opening: Opening,
    buffer: Buffer,
}

impl Client {
    pub(super) fn connect(visit: &Visit) -> Result<Self, EngineError> {
        let errand = visit.errand.clone();
        let buffer = buffer_for(&errand, "quic")?;
        let door = visit.sockets.connect(visit.server, &visit.settings, visit.patience)?;
        socket::bound_waits(&*door, visit.patience)?;
        let invited = invited(&door, &errand).map_err(named("hear where the server waits"))?;
        let (far, trust) = (SocketAddr::new(visit.server.ip(), invited.0), Trust::of(&invited.1)?);
        let begun = now();
        let own = socket::bind_udp(unspecified(far), SOCKET_BUFFER)?;
        own.connect(far).map_err(named("connect"))?;
        let talk = QuicTalk::asker(own, &trust, &QuicSettings::default(), far)?;
        let line = Line::meet(talk, visit.sockets.closed(), visit.patience.into());
        let line = line.map_err(named("shake hands"))?;
        // A handshake connects and authenticates in the same packets (RFC 9001).
        let opening = Opening { connect_ns: now().since(begun), auth_ns: None };
        Ok(Self { line, door, errand, opening, buffer })
    }

    fn retrieve(&mut self, number: u32, moments: &mut Moments<'_>) -> Result<Bytes, EngineError> {
        let stream = self.line.open().map_err(named("open a stream"))?;
        let asked = self.line.send_all(stream, &number.to_be_bytes(), |_| ());
        asked.map_err(named("ask for a file"))?;
        self.line.finish(stream);
        let mut left = self.errand.size.count();
        let note = |count: usize| {
            left = left.saturating_sub(count as u64);
            moments.passed(count, left == 0);
        };
        let came = self.line.receive(stream, &mut self.buffer, note);
        let came = came.map_err(named("receive a file"))?;
        if came < self.errand.size.count() {
            return Err(self.errand.is_short("quic", left));
        }
        if came > self.errand.size.count() {
            return Err(self.errand.is_too_long("quic"));
        }
        // The end of the stream came with the last byte.
        moments.committed();
        Ok(self.errand.size)
    }

    /// Sends `total` bytes on a stream of their own, a buffer at a time, and hears that they came.
    fn give(&mut self, total: u64, moments: &mut Moments<'_>) -> Result<Bytes, EngineError> {
        let stream = self.line.open().map_err(named("open a stream"))?;
        let mut left = total;
        while left > 0 {
            let length = usize::try_from(left).unwrap_or(usize::MAX).min(self.buffer.len());
            let note = |count| {
                left -= count as u64;
                moments.passed(count, left == 0);
            };
            let sent = self.line.send_all(stream, &self.buffer[..length], note);
            sent.map_err(named("send"))?;
        }
        self.line.finish(stream);
        let heard = self.line.hear(stream).map_err(named("hear the answer"))?;
        if answer_to(total) != heard {
            let what = format!("quic: the server did not take {}", Bytes::new(total));
            return Err(EngineError::Refused(what));
        }
        moments.committed();
        Ok(Bytes::new(total))
    }
}

impl Session for Client {
    fn opening(&self) -> Opening {
        self.opening
    }

    fn run(&mut self, number: u32, moments: &mut Moments<'_>) -> Result<Bytes, EngineError> {
        match self.errand.operation {
            Operation::Get => self.retrieve(number, moments),
            Operation::Call | Operation::Put => self.give(self.errand.size.count(), moments),
            Operation::Stream => self.give(self.errand.total(), moments),
        }
    }

    /// The server ends the other connection once it has seen the end of this one.
    fn close(self: Box<Self>) -> Result<(), EngineError> {
        let Self { line, door, .. } = *self;
        drop(line);
        let ended = socket::close_sending(&*door).and_then(|()| (&*door).read(&mut [0]));
        ended.map(drop).map_err(named("end the connection"))
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Client").field("errand", &self.errand).finish_non_exhaustive()
    }
}

/// Says what it comes for, and hears port and certificate.
fn invited(door: &TcpStream, errand: &Errand) -> io::Result<(u16, Vec<u8>)> {
    let mut door = door;
    door.write_all(&Order::encode(errand))?;
    let (mut port, mut length) = ([0; 2], [0; 4]);
    door.read_exact(&mut port)?;
    door.read_exact(&mut length)?;
    let mut certificate = Vec::new();
    let length = u64::from(u32::from_be_bytes(length).min(LONGEST_CERTIFICATE));
    door.take(length).read_to_end(&mut certificate)?;
    Ok((u16::from_be_bytes(port), certificate))
}

/// Any address of the same family.
fn unspecified(far: SocketAddr) -> SocketAddr {
    let any = match far.ip() {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    SocketAddr::new(any, 0)
}

/// Closes over the operation for `map_err`: no text is made where nothing fails.
fn named(operation: &'static str) -> impl FnOnce(io::Error) -> EngineError {
    move |cause| EngineError::peer(format!("quic: {operation}"))(cause)
}

/// Ours has some hundred bytes.
const LONGEST_CERTIFICATE: u32 = 65536;
