//! The end that is called, in the thread of one client.

use std::io;
use std::io::Write;
use std::net::SocketAddr;
use std::net::TcpStream;
use std::sync::Arc;

use btu_core::file::sample::Operation;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::memory::Buffer;
use btu_sys::socket;

use super::line::Line;
use crate::file::Errand;
use crate::file::disk::Reading;
use crate::file::ftp::scramble;
use crate::file::order::BUFFER;
use crate::file::order::Order;
use crate::file::order::answer_to;
use crate::file::reception::House;
use crate::traffic::QuicSettings;
use crate::traffic::quic::Keys;
use crate::traffic::quic::QuicTalk;
use crate::traffic::quic::StreamId;

/// A client that is served.
struct Guest<'a> {
    line: Line,
    house: &'a House,
    buffer: Buffer,
}

/// Shows the client where it is awaited, and does what it comes for until it leaves.
pub(super) fn serve(door: &Arc<TcpStream>, house: &Arc<House>) -> io::Result<()> {
    let mut buffer = Buffer::prefaulted(BUFFER).map_err(io::Error::other)?;
    scramble(&mut buffer);
    let errand = Order::decode(&**door)?;
    let keys = Keys::new().map_err(io::Error::other)?;
    let own = SocketAddr::new(door.local_addr()?.ip(), 0);
    let socket = socket::bind_udp(own, SOCKET_BUFFER).map_err(io::Error::other)?;
    let port = socket.local_addr()?.port();
    let talk = QuicTalk::answerer(socket, &keys, &QuicSettings::default());
    let talk = talk.map_err(io::Error::other)?;
    (&**door).write_all(&invitation(port, keys.certificate()))?;
    let line = Line::meet(talk, house.sockets.closed(), PATIENCE)?;
    Guest { line, house, buffer }.answer_all(&errand)
}

impl Guest<'_> {
    fn answer_all(&mut self, errand: &Errand) -> io::Result<()> {
        while let Some(stream) = self.line.accept()? {
            match errand.operation {
                Operation::Get => self.give(stream, errand)?,
                Operation::Call | Operation::Put | Operation::Stream => self.take(stream)?,
            }
            self.line.finish(stream);
        }
        Ok(())
    }

    /// Takes what comes, and says how much came.
    fn take(&mut self, stream: StreamId) -> io::Result<()> {
        let house = self.house;
        let came = self.line.receive(stream, &mut self.buffer, |count| house.count(count))?;
        self.line.send_all(stream, &answer_to(came), |_| ())
    }

    fn give(&mut self, stream: StreamId, errand: &Errand) -> io::Result<()> {
        let number = u32::from_be_bytes(self.line.hear(stream)?);
        match errand.file(number) {
            Some(name) => self.give_from_disk(stream, name, errand.size),
            None => self.give_made_up(stream, errand.size),
        }
    }

    fn give_from_disk(&mut self, stream: StreamId, name: &str, size: Bytes) -> io::Result<()> {
        let house = self.house;
        let mut reading = Reading::of(house.file(name, size)?, &mut self.buffer);
        while let Some(chunk) = reading.chunk() {
            self.line.send_all(stream, chunk, |count| house.count(count))?;
        }
        reading.end()
    }

    fn give_made_up(&mut self, stream: StreamId, size: Bytes) -> io::Result<()> {
        let (house, mut left) = (self.house, size.count());
        while left > 0 {
            let length = usize::try_from(left).unwrap_or(usize::MAX).min(self.buffer.len());
            let chunk = &self.buffer[..length];
            self.line.send_all(stream, chunk, |count| house.count(count))?;
            left -= length as u64;
        }
        Ok(())
    }
}

/// Port and certificate: 2 bytes, 4 bytes with its length, and itself.
fn invitation(port: u16, certificate: &[u8]) -> Vec<u8> {
    let length = u32::try_from(certificate.len()).unwrap_or(u32::MAX);
    [&port.to_be_bytes()[..], &length.to_be_bytes(), certificate].concat()
}

/// How long a client that knows the way takes to come.
const PATIENCE: Nanos = Nanos::from_secs(60);

/// Room for what comes while the thread has no CPU; the system grants what it allows.
pub(super) const SOCKET_BUFFER: usize = 4 << 20;
