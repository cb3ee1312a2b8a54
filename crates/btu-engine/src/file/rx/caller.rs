//! The process that calls: it does its errands in a row whenever it is told to, and says then when each came how far.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc;
use std::sync::mpsc::Receiver;

use btu_core::file::sample::Operation;
use btu_core::file::sample::Sent;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::memory::Buffer;
use btu_sys::rx;
use btu_sys::rx::Connection;
use btu_sys::rx::Statistics;

use super::GIVING;
use super::TAKING;
use super::progress::Telling;
use super::words::Begin;
use super::words::Calling;
use super::words::Channel;
use super::words::Times;
use super::words::Word;
use super::words::say;
use crate::error::EngineError;
use crate::file::Errand;
use crate::file::order::answer_to;
use crate::file::order::buffer_for;
use crate::threads;
use crate::time::now;

/// A client that has a connection.
struct Caller {
    connection: Connection,
    errand: Errand,
    /// A block, or what a file is sent from and received into.
    buffer: Buffer,
    moved: Arc<AtomicU64>,
    /// What had been sent when the session was open.
    before: Option<Statistics>,
}

/// Calls in a thread of its own: this one sees the end of the channel, with which the process ends, whatever that thread
/// waits for.
pub(super) fn call(calling: Calling, channel: &mut Channel) -> Result<(), EngineError> {
    let (orders, ordered) = mpsc::channel();
    let voice = channel.voice()?;
    let work = move || {
        if let Err(cause) = attend(calling, &ordered, &voice) {
            // Whoever does not hear it has left.
            let _ = say(&voice, &Word::Failed(cause.sentence()));
        }
    };
    let _working = threads::start("rx-calling", work)?;
    while let Some(order) = channel.hear::<Begin>()? {
        if orders.send(order).is_err() {
            break;
        }
    }
    Ok(())
}

/// Opens a session and does its errands as often as it is told.
fn attend(
    calling: Calling,
    ordered: &Receiver<Begin>,
    voice: &UnixStream,
) -> Result<(), EngineError> {
    let tell = |word: &Word| say(voice, word).map_err(EngineError::peer("tell of a call of Rx"));
    let begun = now();
    let mut caller = Caller::connect(calling)?;
    tell(&Word::Ready(now().since(begun)))?;
    let mut done = Vec::with_capacity(caller.turns());
    while ordered.recv().is_ok() {
        let telling = Telling::of(&caller.moved, voice)?;
        let outcome = caller.work(&mut done);
        drop(telling);
        tell(&Word::Moved(Bytes::new(caller.moved.load(Relaxed))))?;
        for some in done.chunks(AT_ONCE) {
            tell(&Word::Done(some.to_vec()))?;
        }
        done.clear();
        outcome.map_err(EngineError::peer("call"))?;
        tell(&Word::Ended(caller.sent()))?;
    }
    Ok(())
}

impl Caller {
    /// Makes the connection at the server by a first call, of nothing.
    fn connect(Calling { server, errand }: Calling) -> Result<Self, EngineError> {
        let is_get = errand.operation == Operation::Get;
        let (service, nothing) = if is_get { (GIVING, &NO_FILE[..]) } else { (TAKING, &[][..]) };
        let mut connection = rx::Client::start()?.connect(server, service)?;
        let knocked = knock(&mut connection, nothing);
        knocked.map_err(EngineError::peer(format!("call {server}")))?;
        let buffer = buffer_for(&errand, "rx")?;
        let (moved, before) = (Arc::default(), rx::statistics());
        Ok(Self { connection, errand, buffer, moved, before })
    }

    fn sent(&self) -> Option<Sent> {
        let (before, now) = (self.before?, rx::statistics()?);
        Some(Sent {
            datagrams: now.datagrams.saturating_sub(before.datagrams),
            packets: now.data_packets.saturating_sub(before.data_packets),
            resent_packets: now.resent_packets.saturating_sub(before.resent_packets),
        })
    }

    fn work(&mut self, done: &mut Vec<Times>) -> io::Result<()> {
        for number in (0..u32::MAX).take(self.turns()) {
            let times = match self.errand.operation {
                Operation::Get => self.retrieve(number)?,
                Operation::Call | Operation::Put => self.give(self.errand.size.count())?,
                Operation::Stream => self.give(self.errand.total())?,
            };
            done.push(times);
        }
        Ok(())
    }

    /// All blocks of a stream are one errand.
    fn turns(&self) -> usize {
        let is_one = self.errand.operation == Operation::Stream;
        if is_one { 1 } else { usize::try_from(self.errand.count).unwrap_or(usize::MAX) }
    }

    /// Sends `total` bytes, a write of a buffer at a time, and hears that they came.
    fn give(&mut self, total: u64) -> io::Result<Times> {
        let request = now();
        let mut call = self.connection.call().map_err(io::Error::other)?;
        let (mut left, mut first) = (total, None);
        while left > 0 {
            let length = usize::try_from(left).unwrap_or(usize::MAX).min(self.buffer.len());
            call.write(&self.buffer[..length])?;
            first = first.or_else(|| Some(now()));
            left -= length as u64;
            self.moved.fetch_add(length as u64, Relaxed);
        }
        let last = now();
        let mut answer = [0; 4];
        let came = call.read(&mut answer)?;
        call.end()?;
        if came != answer.len() || answer != answer_to(total) {
            return Err(io::Error::other("the server did not take all"));
        }
        Ok([request, first.unwrap_or(last), last, now()])
    }

    fn retrieve(&mut self, number: u32) -> io::Result<Times> {
        let size = self.errand.size.count();
        let request = now();
        let mut call = self.connection.call().map_err(io::Error::other)?;
        call.write(&size.to_be_bytes())?;
        if let Some(name) = self.errand.file(number) {
            call.write(name.as_bytes())?;
        }
        let (mut left, mut first) = (size, None::<Nanos>);
        while left > 0 {
            let length = usize::try_from(left).unwrap_or(usize::MAX).min(self.buffer.len());
            let came = call.read(&mut self.buffer[..length])?;
            if came == 0 {
                call.end()?;
                return Err(io::Error::other(format!("{left} of {size} bytes did not come")));
            }
            first = first.or_else(|| Some(now()));
            left -= came as u64;
            self.moved.fetch_add(came as u64, Relaxed);
        }
        let last = now();
        call.end()?;
        Ok([request, first.unwrap_or(last), last, now()])
    }
}

fn knock(connection: &mut Connection, request: &[u8]) -> io::Result<()> {
    let mut call = connection.call().map_err(io::Error::other)?;
    call.write(request)?;
    call.read(&mut [0; 4])?;
    call.end()
}

/// A file without a name and without a byte.
const NO_FILE: [u8; 8] = [0; 8];
/// Errands in a word.
const AT_ONCE: usize = 1000;
