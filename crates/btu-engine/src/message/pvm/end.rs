//! One rank's end of PVM.
//!
//! A message is one of PVM, its head and its payload packed one after the other. What nobody asked for yet the library keeps
//! itself, without a bound.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use btu_core::app::endpoint::Arrival;
use btu_core::app::endpoint::Endpoint;
use btu_core::app::endpoint::LayerError;
use btu_core::app::sample::Wait;
use btu_core::units::Nanos;
use btu_core::words::sentence;
use btu_sys::pvm::Encoding;

use super::machine::Machine;
use crate::error::EngineError;
use crate::message::Terms;
use crate::message::incoming::Head;
use crate::message::pause::Awaited;
use crate::message::pause::Pause;
use crate::time::now;

/// One rank.
#[derive(Debug)]
pub(super) struct PvmEnd {
    machine: Machine,
    encoding: Encoding,
    wait: Wait,
    patience: Nanos,
    stop: Arc<AtomicBool>,
    /// By rank.
    gone: Vec<bool>,
}

impl PvmEnd {
    pub(super) fn new(
        mut machine: Machine,
        encoding: Encoding,
        terms: &Terms,
    ) -> Result<Self, EngineError> {
        let Machine { task, rank, ranks, .. } = &mut machine;
        for (other, id) in (0..).zip(ranks.iter()).filter(|(other, _)| other != rank) {
            task.tell_of_the_end_of(*id, gone(other))?;
        }
        let gone = vec![false; ranks.len()];
        let (wait, patience, stop) = (terms.wait, terms.patience, Arc::clone(&terms.stop));
        Ok(Self { machine, encoding, wait, patience, stop, gone })
    }
}

impl Endpoint for PvmEnd {
    fn rank(&self) -> usize {
        self.machine.rank
    }

    fn ranks(&self) -> usize {
        self.machine.ranks.len()
    }

    fn now(&self) -> Nanos {
        now()
    }

    fn send(&mut self, to: usize, tag: u32, payload: &[u8]) -> Result<(), LayerError> {
        self.go_on()?;
        let head = self.head(tag, payload)?.encode();
        let tag = tag_of(to, tag)?;
        let Machine { task, ranks, .. } = &mut self.machine;
        let sent = task.send(ranks[to], tag, self.encoding, &[&head, payload]);
        sent.map_err(|cause| self.told(to, &cause))
    }

    fn receive(&mut self, from: usize, tag: u32, space: &mut [u8]) -> Result<Arrival, LayerError> {
        self.go_on()?;
        let pvm_tag = tag_of(from, tag)?;
        let mut pause = Pause::new(from, Awaited::Message);
        while !self.look(from, pvm_tag)? {
            self.pause(&mut pause)?;
        }
        let head = self.unpack(from, space)?;
        Ok(Arrival { sent_at: Some(head.sent_at()) })
    }
}

impl PvmEnd {
    /// The head of a message that is sent now.
    fn head(&self, tag: u32, payload: &[u8]) -> Result<Head, LayerError> {
        let too_long = |_| LayerError::Length {
            from: self.machine.rank,
            tag,
            got_bytes: u64::try_from(payload.len()).unwrap_or(u64::MAX),
            wanted_bytes: LONGEST.into(),
        };
        let length = i32::try_from(payload.len()).map_err(too_long)?;
        Ok(Head::new(length.unsigned_abs(), tag, now()))
    }

    /// Whether a message is there; a rank that blocks waits a little for it.
    fn look(&mut self, from: usize, tag: u32) -> Result<bool, LayerError> {
        let longest = match self.wait {
            Wait::Spin if !self.gone[from] => Duration::ZERO,
            _ => TURN,
        };
        let Machine { task, ranks, .. } = &mut self.machine;
        let came = task.receive(Some(ranks[from]), tag, longest);
        came.map_err(|cause| self.told(from, &cause))
    }

    /// Reads the message that came.
    fn unpack(&mut self, from: usize, space: &mut [u8]) -> Result<Head, LayerError> {
        let mut head = [0; Head::BYTES];
        let begun = self.machine.task.unpack(&mut head);
        begun.map_err(|cause| self.told(from, &cause))?;
        let head = Head::decode(head);
        head.fits(from, space)?;
        let rest = self.machine.task.unpack(space);
        rest.map_err(|cause| self.told(from, &cause))?;
        Ok(head)
    }

    fn pause(&mut self, pause: &mut Pause) -> Result<(), LayerError> {
        if !pause.is_over(self.wait) && !self.gone[pause.peer()] {
            return Ok(());
        }
        self.go_on()?;
        self.is_there(pause.peer())?;
        pause.go_on(self.wait, self.patience)
    }

    /// What a rank sent before its end may come after the news of it: there is one more look then, which waits a little.
    fn is_there(&mut self, peer: usize) -> Result<(), LayerError> {
        if self.gone[peer] {
            return Err(LayerError::Gone { peer, cause: "it ended".to_owned() });
        }
        self.gone[peer] = self.is_news_of(peer, Duration::ZERO)?;
        Ok(())
    }

    /// Whether a rank has ended. The daemon says so of a task that left; the first rank, which stays for the others, of itself.
    fn is_news_of(&mut self, peer: usize, longest: Duration) -> Result<bool, LayerError> {
        let came = self.machine.task.receive(None, gone(peer), longest);
        came.map_err(|cause| self.told(peer, &cause))
    }

    /// Once all are told to end, the first who does, with the daemon, is no cause for the others.
    fn told(&self, peer: usize, cause: &btu_sys::Error) -> LayerError {
        let gone = || LayerError::Gone { peer, cause: sentence(cause) };
        if self.stop.load(Relaxed) { LayerError::Stopped } else { gone() }
    }

    fn go_on(&self) -> Result<(), LayerError> {
        if self.stop.load(Relaxed) { Err(LayerError::Stopped) } else { Ok(()) }
    }

    /// The daemon ends with the first rank, and takes with it what is on its way.
    fn see_the_others_off(&mut self) -> Result<(), LayerError> {
        for peer in 1..self.ranks() {
            let Machine { task, ranks, .. } = &mut self.machine;
            // One that has left by now needs no word.
            let _ = task.send(ranks[peer], gone(0), Encoding::Default, &[]);
        }
        for peer in 1..self.ranks() {
            let mut pause = Pause::new(peer, Awaited::Message);
            while !self.gone[peer] && !self.is_news_of(peer, TURN)? {
                self.go_on()?;
                pause.go_on(Wait::Block, self.patience)?;
            }
        }
        Ok(())
    }
}

impl Drop for PvmEnd {
    fn drop(&mut self) {
        if self.machine.rank == 0 {
            // Whom that does not reach learns it by the end of the daemon.
            let _ = self.see_the_others_off();
        }
    }
}

/// Tags of PVM have 31 bits: those of kernels, then those of collectives, then its own.
fn tag_of(peer: usize, tag: u32) -> Result<u32, LayerError> {
    match tag {
        0..OF_COLLECTIVES => Ok(tag),
        COLLECTIVES.. => Ok(tag - COLLECTIVES + OF_COLLECTIVES),
        _ => Err(LayerError::Gone { peer, cause: format!("PVM has no tag {tag}") }),
    }
}

/// The tag of the news that a rank has ended.
fn gone(rank: usize) -> u32 {
    OF_GONE.saturating_add(u32::try_from(rank).unwrap_or(u32::MAX))
}

/// How long a rank sleeps before it looks whether it should end.
const TURN: Duration = Duration::from_millis(50);
/// The longest message.
const LONGEST: u32 = i32::MAX.unsigned_abs();
/// The first tag of collectives, and where they begin among those of PVM.
const COLLECTIVES: u32 = 0xffff_0000;
const OF_COLLECTIVES: u32 = 1 << 30;
const OF_GONE: u32 = OF_COLLECTIVES + (1 << 16);
