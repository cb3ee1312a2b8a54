//! Answers on the streams of a QUIC connection, by one thread.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::units::Nanos;
use btu_sys::cpu::ThreadUse;

use super::CHUNK;
use super::to_count;
use super::to_length;
use crate::traffic::quic::QuicTalk;
use crate::traffic::quic::StreamId;
use crate::traffic::request::Hearing;

/// How far a stream is with its request and the answer to it.
#[derive(Debug, Default)]
struct Exchange {
    hearing: Hearing,
    unsent: u64,
    is_over: bool,
}

/// Answers every request of every stream until it is over, or the asking end is gone. Gives the CPU time.
/// What counts as moved is what was read and sent.
pub(in crate::traffic) fn answer_quic(
    mut talk: QuicTalk,
    over: &AtomicBool,
    moved: &AtomicU64,
) -> Nanos {
    let before = ThreadUse::now();
    let mut streams: BTreeMap<StreamId, Exchange> = BTreeMap::new();
    let mut space = vec![0; CHUNK];
    while !over.load(Relaxed) && !talk.is_gone() {
        // Of an asking end that left without a word nobody hears: then it is over with the whole measurement.
        if talk.pause(LOOK).is_err() {
            break;
        }
        while let Some(stream) = talk.accept() {
            streams.insert(stream, Exchange::default());
        }
        for (stream, exchange) in &mut streams {
            match exchange.go_on(&mut talk, *stream, &mut space, moved) {
                Ok(()) => {}
                Err(cause) if super::may_go_on(&cause) => {}
                Err(_) => exchange.is_over = true,
            }
        }
        streams.retain(|_, exchange| !exchange.is_over);
    }
    talk.close();
    Nanos::new(ThreadUse::now().since(&before).cpu_ns)
}

impl Exchange {
    /// Until nothing has come, or there is no room.
    fn go_on(
        &mut self,
        talk: &mut QuicTalk,
        stream: StreamId,
        space: &mut [u8],
        moved: &AtomicU64,
    ) -> io::Result<()> {
        loop {
            if self.unsent > 0 {
                let part = to_length(self.unsent).min(CHUNK);
                let sent = to_count(talk.send(stream, &space[..part])?);
                moved.fetch_add(sent, Relaxed);
                self.unsent -= sent.min(self.unsent);
                continue;
            }
            let came = talk.recv(stream, self.hearing.room(space))?;
            moved.fetch_add(to_count(came), Relaxed);
            if came == 0 {
                self.is_over = true;
                talk.finish(stream);
                return Ok(());
            }
            self.unsent = self.hearing.came(came)?.unwrap_or(0);
        }
    }
}

/// How long nobody looks whether it is over.
const LOOK: Nanos = Nanos::from_millis(20);
