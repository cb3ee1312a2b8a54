//! Shared memory: a ring of bytes for each direction, and no kernel between two ends that spin.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::pingpong::configuration::Configuration;
use btu_core::pingpong::configuration::Wait;
use btu_core::pingpong::nature::Nature;
use btu_core::units::Bytes;
use btu_sys::exchange::Ready;
use btu_sys::shared;
use btu_sys::shared::Duct;

use super::Both;
use super::Hookup;
use super::Listener;
use super::Properties;
use super::Reach;
use super::Rendezvous;
use super::Transport;
use super::socket;
use crate::error::EngineError;
use crate::pingpong::channel::Aborter;
use crate::pingpong::channel::Channel;
use crate::pingpong::channel::End;

/// The transport `shm`.
#[derive(Debug)]
pub(super) struct Shm;

/// One end of the rings.
struct ShmEnd {
    duct: Duct,
    over: Arc<AtomicBool>,
    wait: Wait,
}

impl Transport for Shm {
    fn name(&self) -> &'static str {
        "shm"
    }

    fn about(&self) -> &'static str {
        "shared memory, two rings of 256 KiB; both ends on one host"
    }

    fn properties(&self) -> Properties {
        let waits = &[Wait::Block, Wait::Spin];
        Properties { reliable: true, bounded: false, reach: Reach::OneHost, waits }
    }

    fn nature(&self, _: &Configuration) -> Nature {
        Nature::of_copies()
    }

    fn largest(&self) -> Bytes {
        Bytes::new(socket::LARGEST_STREAM)
    }

    fn available(&self) -> Result<(), EngineError> {
        Ok(())
    }

    fn listen(&self, hookup: &Hookup<'_>) -> Result<Box<dyn Listener>, EngineError> {
        let (stays, leaves) = shared::ducts(RING)?;
        let end = |duct| ShmEnd { duct, over: Arc::default(), wait: hookup.wanted.wait };
        Ok(Both::boxed(end(stays), end(leaves)))
    }

    fn connect(&self, at: &Rendezvous, _: &Hookup<'_>) -> Result<Box<dyn End>, EngineError> {
        at.take()
    }
}

impl ShmEnd {
    /// Zero bytes moved are no news.
    fn at_once(&self, moved: io::Result<usize>) -> io::Result<usize> {
        match moved {
            Ok(0) if self.over.load(Relaxed) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(0) => Err(io::ErrorKind::WouldBlock.into()),
            moved => moved,
        }
    }
}

impl Channel for ShmEnd {
    #[inline]
    fn send(&mut self, data: &[u8]) -> io::Result<usize> {
        loop {
            match self.duct.write(data)? {
                0 if self.wait == Wait::Spin => std::hint::spin_loop(),
                0 => self.duct.sleep_for_room(),
                taken => return Ok(taken),
            }
        }
    }

    #[inline]
    fn recv(&mut self, space: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.duct.read(space)? {
                0 if self.wait == Wait::Spin => std::hint::spin_loop(),
                0 => self.duct.sleep_for_data(),
                got => return Ok(got),
            }
        }
    }

    fn try_send(&mut self, data: &[u8]) -> io::Result<usize> {
        let moved = self.duct.write(data);
        self.at_once(moved)
    }

    fn try_recv(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let moved = self.duct.read(space);
        self.at_once(moved)
    }

    fn wait_until(&mut self, ready: Ready) -> io::Result<()> {
        match ready {
            _ if self.wait == Wait::Spin => std::hint::spin_loop(),
            // Two rings have two bells; looking again costs less than a third one.
            Ready::Either => std::thread::yield_now(),
            Ready::Read => self.duct.sleep_for_data(),
            Ready::Write => self.duct.sleep_for_room(),
        }
        Ok(())
    }

    fn aborter(&self) -> Aborter {
        let (end, over) = (self.duct.end(), Arc::clone(&self.over));
        Aborter::new(move || {
            over.store(true, Relaxed);
            end.abort();
        })
    }
}

/// Large enough for a block of a few pages, small enough to stay in a second-level cache.
const RING: usize = 256 << 10;
