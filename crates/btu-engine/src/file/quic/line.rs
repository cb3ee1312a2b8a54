//! A QUIC connection whose user waits: for streams, for room, for bytes.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::units::Nanos;

use crate::traffic::quic::QuicTalk;
use crate::traffic::quic::StreamId;

/// One end. Dropped, it tells the other end, as the kernel does for TCP.
pub(super) struct Line {
    talk: QuicTalk,
    /// Set by whoever wants it to end.
    over: Arc<AtomicBool>,
}

impl Line {
    /// Shakes hands with the other end.
    pub(super) fn meet(
        mut talk: QuicTalk,
        over: Arc<AtomicBool>,
        patience: Nanos,
    ) -> io::Result<Self> {
        talk.meet(patience, &over)?;
        Ok(Self { talk, over })
    }

    /// A new stream, once the other end allows one more.
    pub(super) fn open(&mut self) -> io::Result<StreamId> {
        loop {
            match self.talk.open() {
                Err(cause) if self.talk.is_gone() => return Err(cause),
                Err(_) => self.pause()?,
                opened => return opened,
            }
        }
    }

    /// The next stream that the other end opens; `None` where it has left.
    pub(super) fn accept(&mut self) -> io::Result<Option<StreamId>> {
        loop {
            match self.talk.accept() {
                None if self.talk.is_gone() => return Ok(None),
                None => self.pause()?,
                stream => return Ok(stream),
            }
        }
    }

    /// Sends all of `bytes`; `each` hears of every part that was taken.
    pub(super) fn send_all(
        &mut self,
        stream: StreamId,
        bytes: &[u8],
        mut each: impl FnMut(usize),
    ) -> io::Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            self.check()?;
            match self.talk.send(stream, rest) {
                // It has slept for a while.
                Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => {}
                sent => {
                    let sent = sent?;
                    each(sent);
                    rest = &rest[sent..];
                }
            }
        }
        Ok(())
    }

    /// Nothing more is sent on the stream.
    pub(super) fn finish(&mut self, stream: StreamId) {
        self.talk.finish(stream);
    }

    /// Receives to the end of the stream into `space`, over and over, which throws it away. Returns how many bytes
    /// came.
    pub(super) fn receive(
        &mut self,
        stream: StreamId,
        space: &mut [u8],
        mut each: impl FnMut(usize),
    ) -> io::Result<u64> {
        let mut all = 0;
        loop {
            let came = self.receive_part(stream, space)?;
            if came == 0 {
                return Ok(all);
            }
            each(came);
            all += came as u64;
        }
    }

    /// What is said of `N` bytes and the end of the stream; anything else is an error.
    pub(super) fn hear<const N: usize>(&mut self, stream: StreamId) -> io::Result<[u8; N]> {
        let mut said = [0; N];
        let mut filled = 0;
        while filled < N {
            match self.receive_part(stream, &mut said[filled..])? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                came => filled += came,
            }
        }
        // Read to its end, a stream makes room for the next one.
        let more = self.receive_part(stream, &mut [0])?;
        if more == 0 { Ok(said) } else { Err(io::ErrorKind::InvalidData.into()) }
    }

    fn receive_part(&mut self, stream: StreamId, space: &mut [u8]) -> io::Result<usize> {
        loop {
            // Where something comes all the time, nobody pauses.
            self.check()?;
            match self.talk.recv(stream, space) {
                Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => self.pause()?,
                came => return came,
            }
        }
    }

    fn pause(&mut self) -> io::Result<()> {
        self.check()?;
        self.talk.pause(GLANCE)
    }

    fn check(&self) -> io::Result<()> {
        let is_over = self.over.load(Relaxed);
        if is_over { Err(io::ErrorKind::ConnectionAborted.into()) } else { Ok(()) }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.talk.close();
    }
}

/// How long nobody looks whether it is over.
const GLANCE: Nanos = Nanos::from_millis(20);
