//! The end that calls.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;

use btu_core::file::sample::Operation;
use btu_core::units::Bytes;
use btu_sys::memory::Buffer;
use btu_sys::socket;
use btu_sys::socket::Settings;

use super::pipe;
use super::server::TAKEN;
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

/// A connection whose server knows what is to come.
#[derive(Debug)]
pub(super) struct Client {
    stream: Arc<TcpStream>,
    errand: Errand,
    opening: Opening,
    /// A block, or what a file is sent from and received into.
    buffer: Buffer,
}

impl Client {
    pub(super) fn connect(visit: &Visit) -> Result<Self, EngineError> {
        let errand = visit.errand.clone();
        let buffer = buffer_for(&errand, "tcp-rpc")?;
        let begun = now();
        let settings = Settings { nodelay: Some(true), ..visit.settings.clone() };
        let stream = visit.sockets.connect(visit.server, &settings, visit.patience)?;
        let met = now();
        socket::bound_waits(&*stream, visit.patience)?;
        let taken = ask(&stream, &Order::encode(&errand));
        if taken.map_err(named("introduce"))? != TAKEN {
            return Err(EngineError::Refused("tcp-rpc: the server does not speak it".to_owned()));
        }
        let opening = Opening { connect_ns: met.since(begun), auth_ns: Some(now().since(met)) };
        Ok(Self { stream, errand, opening, buffer })
    }

    fn retrieve(&mut self, number: u32, moments: &mut Moments<'_>) -> Result<Bytes, EngineError> {
        let asked = pipe::send_all(&self.stream, &number.to_be_bytes(), |_| ());
        asked.map_err(named("ask for a file"))?;
        let mut left = self.errand.size.count();
        let note = |count| {
            left -= count as u64;
            moments.passed(count, left == 0);
        };
        let size = self.errand.size.count();
        let came = pipe::receive(&self.stream, &mut self.buffer, size, note);
        came.map_err(named("receive a file"))?;
        if left > 0 {
            return Err(self.errand.is_short("tcp-rpc", left));
        }
        // Nothing comes after the last byte.
        moments.commit = moments.last_byte;
        Ok(self.errand.size)
    }

    /// Sends `total` bytes, a buffer at a time, and hears that they came.
    fn give(&mut self, total: u64, moments: &mut Moments<'_>) -> Result<Bytes, EngineError> {
        let mut left = total;
        while left > 0 {
            let length = usize::try_from(left).unwrap_or(usize::MAX).min(self.buffer.len());
            let note = |count| {
                left -= count as u64;
                moments.passed(count, left == 0);
            };
            pipe::send_all(&self.stream, &self.buffer[..length], note).map_err(named("send"))?;
        }
        let heard = hear(&self.stream).map_err(named("hear the answer"))?;
        if heard != answer_to(total) {
            let what = format!("tcp-rpc: the server did not take {}", Bytes::new(total));
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

    fn close(self: Box<Self>) -> Result<(), EngineError> {
        socket::close_sending(&*self.stream).map_err(named("end the connection"))?;
        // Its end comes when the server has seen ours.
        pipe::fill(&self.stream, &mut [0], |_| ()).map_err(named("end the connection"))?;
        Ok(())
    }
}

fn ask(stream: &TcpStream, order: &[u8]) -> io::Result<[u8; 4]> {
    pipe::send_all(stream, order, |_| ())?;
    hear(stream)
}

fn hear(stream: &TcpStream) -> io::Result<[u8; 4]> {
    let mut answer = [0; 4];
    let came = pipe::fill(stream, &mut answer, |_| ())?;
    if came == answer.len() { Ok(answer) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Closes over the operation for `map_err`: no text is made where nothing fails.
fn named(operation: &'static str) -> impl FnOnce(io::Error) -> EngineError {
    move |cause| {
        // The end of a bounded wait, which the kernel calls a lack of resources.
        let is_late = cause.kind() == io::ErrorKind::WouldBlock;
        let cause = if is_late { io::ErrorKind::TimedOut.into() } else { cause };
        EngineError::peer(format!("tcp-rpc: {operation}"))(cause)
    }
}
