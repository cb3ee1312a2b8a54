//! A rank among all others: one channel to each, over which messages are sent and received.

use std::fmt::Debug;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::app::endpoint::Arrival;
use btu_core::app::endpoint::Endpoint;
use btu_core::app::endpoint::LayerError;
use btu_core::app::sample::Wait;
use btu_core::units::Nanos;

use super::Terms;
use super::incoming::Head;
use super::incoming::Incoming;
use super::incoming::Keep;
use super::incoming::TakenIn;
use super::incoming::Wanted;
use super::incoming::is_nothing_yet;
use super::pause::Awaited;
use super::pause::Pause;
use crate::time::now;

/// The channels of one rank, by the number of the rank at their other end.
///
/// `read` and `write` move what can be moved at once: `WouldBlock` says nothing, `Ok(0)` of a read that the other end
/// is gone. What is written comes out whole and in order.
pub(super) trait Wires: Debug + Send {
    /// How much is read before it is asked for. Where a read is a system call, enough for a small message: its head and
    /// its payload are then one call.
    const AHEAD: usize;

    /// Writes a head and what follows it, in one call.
    fn write(&mut self, to: usize, head: &[u8], payload: &[u8]) -> io::Result<usize>;

    /// Reads.
    fn read(&mut self, from: usize, space: &mut [u8]) -> io::Result<usize>;

    /// Sleeps until something came from anyone, or this one has room, or for so long; with no time it only looks.
    fn sleep(&mut self, room_of: Option<usize>, longest: Nanos) -> io::Result<()>;

    /// The ranks from which something may have come, as the last sleep found them: the first, the second ...
    fn found(&self, nth: usize) -> Option<usize>;

    /// Nothing more comes from this rank.
    fn leave(&mut self, peer: usize);
}

/// One rank.
///
/// A send that fails in the middle of a message leaves its channel of no more use: what followed would be taken for the rest
/// of it. Kernels end with their first error.
#[derive(Debug)]
pub(super) struct Mesh<W> {
    rank: usize,
    wires: W,
    /// By rank; that of its own number is empty for ever.
    incoming: Vec<Incoming>,
    keep: Keep,
    wait: Wait,
    patience: Nanos,
    stop: Arc<AtomicBool>,
}

impl<W: Wires + 'static> Mesh<W> {
    /// A rank of so many.
    pub(super) fn boxed(
        rank: usize,
        ranks: usize,
        wires: W,
        terms: &Terms,
    ) -> Box<dyn Endpoint + Send> {
        Box::new(Self {
            rank,
            wires,
            incoming: (0..ranks).map(|peer| Incoming::new(peer, W::AHEAD)).collect(),
            keep: Keep::new(rank, terms.kept_limit.count()),
            wait: terms.wait,
            patience: terms.patience,
            stop: Arc::clone(&terms.stop),
        })
    }
}

impl<W: Wires> Endpoint for Mesh<W> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.incoming.len()
    }

    fn now(&self) -> Nanos {
        now()
    }

    fn send(&mut self, to: usize, tag: u32, payload: &[u8]) -> Result<(), LayerError> {
        self.send_whole(to, tag, payload).map_err(|cause| self.told(cause))
    }

    fn receive(&mut self, from: usize, tag: u32, space: &mut [u8]) -> Result<Arrival, LayerError> {
        let sent_at = self.receive_whole(from, Wanted { tag, space });
        let sent_at = sent_at.map_err(|cause| self.told(cause))?;
        Ok(Arrival { sent_at: Some(sent_at) })
    }
}

impl<W: Wires> Mesh<W> {
    fn send_whole(&mut self, to: usize, tag: u32, payload: &[u8]) -> Result<(), LayerError> {
        self.go_on()?;
        self.is_there(to)?;
        let head = self.head(tag, payload)?.encode();
        let mut pause = Pause::new(to, Awaited::Room);
        let (mut written, whole) = (0, head.len() + payload.len());
        loop {
            let count = self.write(to, &head, payload, written)?;
            written += count;
            if written == whole {
                return Ok(());
            }
            pause.note(count > 0);
            self.pause(&mut pause)?;
        }
    }

    /// Gives when the message was sent.
    fn receive_whole(&mut self, from: usize, mut wanted: Wanted<'_>) -> Result<Nanos, LayerError> {
        self.go_on()?;
        if let Some(sent_at) = self.incoming[from].take_kept(&mut wanted, &mut self.keep)? {
            return Ok(sent_at);
        }
        let mut pause = Pause::new(from, Awaited::Message);
        loop {
            match self.take_in(from, Some(&mut wanted))? {
                TakenIn::Whole(sent_at) => return Ok(sent_at),
                moved => pause.note(moved == TakenIn::Moved),
            }
            self.is_there(from)?;
            self.pause(&mut pause)?;
        }
    }

    /// Once all are told to end, the first who does is no cause for the others.
    fn told(&self, cause: LayerError) -> LayerError {
        match cause {
            LayerError::Gone { .. } if self.stop.load(Relaxed) => LayerError::Stopped,
            cause => cause,
        }
    }

    /// The head of a message that is sent now.
    fn head(&self, tag: u32, payload: &[u8]) -> Result<Head, LayerError> {
        let too_long = |_| LayerError::Length {
            from: self.rank,
            tag,
            got_bytes: u64::try_from(payload.len()).unwrap_or(u64::MAX),
            wanted_bytes: u32::MAX.into(),
        };
        let length_bytes = u32::try_from(payload.len()).map_err(too_long)?;
        Ok(Head::new(length_bytes, tag, now()))
    }

    /// Writes on after so many bytes of a frame.
    fn write(
        &mut self,
        to: usize,
        head: &[u8],
        payload: &[u8],
        written: usize,
    ) -> Result<usize, LayerError> {
        let head_left = head.get(written..).unwrap_or_default();
        let payload_left = &payload[written.saturating_sub(head.len())..];
        match self.wires.write(to, head_left, payload_left) {
            Err(cause) if is_nothing_yet(&cause) => Ok(0),
            Err(cause) => Err(LayerError::Gone { peer: to, cause: cause.to_string() }),
            Ok(count) => Ok(count),
        }
    }

    fn take_in(
        &mut self,
        from: usize,
        wanted: Option<&mut Wanted<'_>>,
    ) -> Result<TakenIn, LayerError> {
        let Self { incoming, wires, keep, .. } = self;
        let taken_in = incoming[from].take_in(|space| wires.read(from, space), wanted, keep)?;
        if incoming[from].over().is_some() {
            wires.leave(from);
        }
        Ok(taken_in)
    }

    fn is_there(&self, peer: usize) -> Result<(), LayerError> {
        match self.incoming[peer].over() {
            Some(cause) => Err(LayerError::Gone { peer, cause: cause.to_owned() }),
            None => Ok(()),
        }
    }

    /// Lets time pass, and takes in what comes from others meanwhile: they may have to send on before the awaited rank
    /// does anything.
    fn pause(&mut self, pause: &mut Pause) -> Result<(), LayerError> {
        if !pause.is_over(self.wait) {
            return Ok(());
        }
        self.look_around(pause)?;
        self.go_on()?;
        pause.go_on(self.wait, self.patience)
    }

    fn look_around(&mut self, pause: &Pause) -> Result<(), LayerError> {
        let longest = match self.wait {
            Wait::Block => TURN,
            Wait::Spin => Nanos::ZERO,
        };
        let room_of = (pause.awaited() == Awaited::Room).then_some(pause.peer());
        let slept = self.wires.sleep(room_of, longest);
        slept.map_err(|cause| LayerError::Gone { peer: pause.peer(), cause: cause.to_string() })?;
        let mut nth = 0;
        while let Some(peer) = self.wires.found(nth) {
            // What comes from the awaited rank goes to whoever waits for it.
            if peer != pause.peer() || room_of.is_some() {
                self.take_in(peer, None)?;
            }
            nth += 1;
        }
        room_of.map_or(Ok(()), |peer| self.is_there(peer))
    }

    fn go_on(&self) -> Result<(), LayerError> {
        if self.stop.load(Relaxed) { Err(LayerError::Stopped) } else { Ok(()) }
    }
}

/// How long a rank sleeps before it looks whether it should end.
const TURN: Nanos = Nanos::from_millis(50);
