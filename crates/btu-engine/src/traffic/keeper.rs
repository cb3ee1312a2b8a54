//! Moves QUIC connections on between their handshake and their flow.
//!
//! The end that connects may have shaken hands while the other one lacks its last packet, and answers that
//! nobody sends would be counted into the round trip. For TCP the kernel does this.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;

use btu_core::units::Nanos;
use btu_sys::wait::Ready;

use super::connect::HeldQuic;
use super::connect::Socket;
use crate::error::EngineError;
use crate::threads;
use crate::time::now;

/// A thread that does it until this is dropped.
#[derive(Debug)]
pub(super) struct Keeper {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    /// Keeps those of these sockets that need it; nothing where none does.
    pub(super) fn of<'a>(
        sockets: impl Iterator<Item = &'a Socket>,
    ) -> Result<Option<Self>, EngineError> {
        let held = sockets.filter_map(|socket| match socket {
            Socket::Quic(held) => Some(Arc::clone(held)),
            Socket::Datagram(_) | Socket::Stream(_) => None,
        });
        let held: Vec<Arc<HeldQuic>> = held.collect();
        if held.is_empty() {
            return Ok(None);
        }
        let mut ready = Ready::new(held.len())?;
        for (place, one) in (0..).zip(&held) {
            ready.add_reader(&*one.socket, place)?;
        }
        let over = Arc::<AtomicBool>::default();
        let until = Arc::clone(&over);
        let work = move || keep(&held, &mut ready, &until);
        let thread = threads::start("traffic-keep", work)?;
        Ok(Some(Self { over, thread: Some(thread) }))
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.over.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            // Nobody is left to hear how it ended.
            let _ = thread.join();
        }
    }
}

fn keep(held: &[Arc<HeldQuic>], ready: &mut Ready, over: &AtomicBool) {
    while !over.load(Relaxed) {
        let due = held.iter().filter_map(|one| one.end().as_mut().and_then(|end| end.due())).min();
        let wait = due.map_or(GLANCE, |due| due.since(now()).min(GLANCE));
        if ready.wait(Some(wait.count())).is_err() {
            return;
        }
        for at in 0..ready.len() {
            let place = usize::try_from(ready.number(at)).unwrap_or(usize::MAX);
            held.get(place).into_iter().for_each(|one| turn(one));
        }
        let time = now();
        for one in held {
            let is_due =
                one.end().as_mut().and_then(|end| end.due()).is_some_and(|due| due <= time);
            if is_due {
                turn(one);
            }
        }
    }
}

fn turn(held: &HeldQuic) {
    // Of a connection that is gone its flow tells.
    let _ = held.end().as_mut().map_or(Ok(()), |end| end.turn());
}

/// How long a flow waits at most before it may begin.
const GLANCE: Nanos = Nanos::from_millis(5);
