//! Ethernet frames of our own as a stream of bytes, for every transport that sends such frames.
//!
//! A block is cut into frames of one MTU. Each direction has an `EtherType` of its own, the two that
//! IEEE 802 leaves to local experiments, so that an end never sees what it sent itself. Frames are
//! numbered; a gap is a loss and ends the connection, since nothing is sent twice. The receiver
//! tells how many frames it has taken (a credit), and a sender never has more on their way than fit
//! into the receiver's buffer.

mod format;
mod wire;

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use btu_core::pingpong::configuration::Wait;
use btu_core::pingpong::nature::Layer;
use btu_core::pingpong::nature::Nature;
use btu_core::pingpong::nature::Setting;
use btu_sys::clock;
use btu_sys::exchange::Ready;
use btu_sys::frame::link_with;
use btu_sys::netlink::Mac;

use self::format::Kind;
use self::wire::Frames;
use super::Hookup;
use super::Listener;
use super::Rendezvous;
use crate::error::EngineError;
use crate::pingpong::channel::Aborter;
use crate::pingpong::channel::Channel;
use crate::pingpong::channel::End;
use crate::pingpong::duty::Broken;

pub(super) use self::wire::Wire;

/// The end that waits for a greeting.
struct Waiting<W> {
    session: u32,
    mac: Mac,
    frames: Frames<W>,
}

/// One end of a connection.
struct FrameEnd<W> {
    frames: Frames<W>,
    side: Side,
    wait: Wait,
    /// Of the connection; each visit over a wire that was left has the next one.
    session: u32,
    /// Frames that were sent, and those of them that the other end has taken.
    sent: u32,
    credited: u32,
    /// Frames that came in order, and those of them that the other end knows of.
    taken: u32,
    told: u32,
    /// Bytes that came while this end was sending, or beyond the space of a receive.
    stash: Vec<u8>,
    used: usize,
}

/// Which end greets first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Far,
    Near,
}

/// Neither sockets nor segments: a link alone.
pub(super) fn nature() -> Nature {
    use Setting::{MaxSegment, Nodelay, QuickAck, ReceiveBuffer, SendBuffer};
    let lacks = vec![MaxSegment, Nodelay, QuickAck, ReceiveBuffer, SendBuffer];
    Nature { layer: Layer::Frames, lacks, cut_at_mtu: true, bound: None }
}

/// Prepares the end that answers.
pub(super) fn listen<W: Wire + 'static>(
    hookup: &Hookup<'_>,
) -> Result<Box<dyn Listener>, EngineError> {
    let link = link_with(hookup.party.address)?;
    // Tells concurrent sessions of one link apart.
    let session = u32::try_from(clock::monotonic_ns() & 0xffff_ffff).unwrap_or(1);
    let frames = Frames::<W>::open(link, [TO_FAR, TO_NEAR], session)?;
    Ok(Box::new(Waiting { session, mac: link.mac, frames }))
}

/// Makes the end that starts.
pub(super) fn connect<W: Wire + 'static>(
    at: &Rendezvous,
    hookup: &Hookup<'_>,
) -> Result<Box<dyn End>, EngineError> {
    let Rendezvous::Link { mac, session } = at else { return Err(super::wrong_rendezvous()) };
    let link = link_with(hookup.party.address)?;
    let mut frames = Frames::<W>::open(link, [TO_NEAR, TO_FAR], *session)?;
    frames.send_to(*mac);
    let met = meet(&mut frames, Side::Near, wanted(hookup));
    met.map_err(EngineError::peer("greet the far end by a frame"))?;
    Ok(Box::new(FrameEnd::new(frames, Side::Near, *session, hookup.wanted.wait)))
}

impl<W: Wire + 'static> Listener for Waiting<W> {
    fn rendezvous(&self) -> Result<Rendezvous, EngineError> {
        Ok(Rendezvous::Link { mac: self.mac, session: self.session })
    }

    fn accept(mut self: Box<Self>, hookup: &Hookup<'_>) -> Result<Box<dyn End>, EngineError> {
        let met = meet(&mut self.frames, Side::Far, wanted(hookup));
        met.map_err(EngineError::peer("wait for the near end's frame"))?;
        let wait = hookup.wanted.wait;
        Ok(Box::new(FrameEnd::new(self.frames, Side::Far, self.session, wait)))
    }
}

/// Each end hears of the other: the near one greets until it is answered. What else there is in the
/// queue is old.
fn meet<W: Wire>(
    frames: &mut Frames<W>,
    side: Side,
    go_on: impl Fn() -> io::Result<()>,
) -> io::Result<()> {
    loop {
        go_on()?;
        if side == Side::Near {
            frames.send(Kind::Hello, 0, &[])?;
        }
        frames.rest()?;
        while let Some(found) = unless_empty(frames.recv(Wait::Spin))? {
            let Some((Kind::Hello, from)) = found.map(|found| (found.kind, found.from)) else {
                continue;
            };
            if side == Side::Far {
                frames.send_to(from);
                frames.send(Kind::Hello, 0, &[])?;
            }
            return Ok(());
        }
    }
}

/// An error once the time of the hookup is over, or nobody wants the end any more.
fn wanted(hookup: &Hookup<'_>) -> impl Fn() -> io::Result<()> {
    let deadline = Instant::now() + hookup.within;
    move || {
        let is_wanted = Instant::now() < deadline && !hookup.cancel.load(Relaxed);
        if is_wanted { Ok(()) } else { Err(io::ErrorKind::TimedOut.into()) }
    }
}

impl<W: Wire> FrameEnd<W> {
    fn new(mut frames: Frames<W>, side: Side, session: u32, wait: Wait) -> Self {
        if W::FOR_A_VISIT {
            frames.leave();
        }
        Self {
            frames,
            side,
            wait,
            session,
            sent: 0,
            credited: 0,
            taken: 0,
            told: 0,
            stash: Vec::new(),
            used: 0,
        }
    }

    /// Enters the wire, and greets under a number of the visit's own: frames of an earlier one that
    /// are still in a queue are those of another session.
    fn enter_for_a_visit(&mut self) -> io::Result<()> {
        self.session = self.session.wrapping_add(1);
        self.frames.enter(self.session)?;
        (self.sent, self.credited, self.taken, self.told) = (0, 0, 0, 0);
        self.stash.clear();
        self.used = 0;
        let over = Arc::clone(&self.frames.over);
        meet(&mut self.frames, self.side, || wire::unless(&over))
    }

    /// Frames that may be sent.
    fn credit(&self) -> usize {
        self.frames.window().saturating_sub(self.sent.wrapping_sub(self.credited)) as usize
    }

    /// Sends as many frames as there is credit for, within reason; there must be credit.
    #[inline]
    fn send_frames(&mut self, data: &[u8]) -> io::Result<usize> {
        let mut taken = 0;
        for part in data.chunks(self.frames.payload()).take(self.credit().min(BATCH)) {
            self.frames.queue(Kind::Data, self.sent, part)?;
            self.sent = self.sent.wrapping_add(1);
            taken += part.len();
        }
        self.frames.flush()?;
        Ok(taken)
    }

    /// Takes one frame. Bytes go to `space`, the rest of them is kept; tells how many went there.
    #[inline]
    fn take_frame(&mut self, space: &mut [u8], wait: Wait) -> io::Result<usize> {
        let Some(found) = self.frames.recv(wait)? else { return Ok(0) };
        match found.kind {
            Kind::Credit => {
                self.credited = found.number;
                Ok(0)
            }
            Kind::Data if found.number == self.taken => {
                let here = found.data.len().min(space.len());
                space[..here].copy_from_slice(&found.data[..here]);
                self.stash.extend_from_slice(&found.data[here..]);
                self.taken = self.taken.wrapping_add(1);
                self.tell_credit()?;
                Ok(here)
            }
            Kind::Data => Err(io::Error::other(format!(
                "frame {} came, {} was lost",
                found.number, self.taken
            ))),
            Kind::Hello => Ok(0),
        }
    }

    /// Lets the other end know what was taken, once that is worth a frame.
    fn tell_credit(&mut self) -> io::Result<()> {
        if self.taken.wrapping_sub(self.told) >= self.frames.window() / 4 {
            self.frames.send(Kind::Credit, self.taken, &[])?;
            self.told = self.taken;
        }
        Ok(())
    }

    /// What is left of an earlier frame.
    fn take_stashed(&mut self, space: &mut [u8]) -> usize {
        let kept = &self.stash[self.used..];
        let count = kept.len().min(space.len());
        space[..count].copy_from_slice(&kept[..count]);
        self.used += count;
        if self.used == self.stash.len() {
            self.stash.clear();
            self.used = 0;
        }
        count
    }

    /// An error once the connection was ended.
    #[inline]
    fn check(&self) -> io::Result<()> {
        wire::unless(&self.frames.over)
    }
}

impl<W: Wire> Channel for FrameEnd<W> {
    #[inline]
    fn send(&mut self, data: &[u8]) -> io::Result<usize> {
        while self.credit() == 0 {
            self.check()?;
            unless_empty(self.take_frame(&mut [], self.wait))?;
        }
        self.send_frames(data)
    }

    #[inline]
    fn recv(&mut self, space: &mut [u8]) -> io::Result<usize> {
        if !self.stash.is_empty() {
            return Ok(self.take_stashed(space));
        }
        loop {
            match unless_empty(self.take_frame(space, self.wait))? {
                None | Some(0) => self.check()?,
                Some(got) => return Ok(got),
            }
        }
    }

    fn try_send(&mut self, data: &[u8]) -> io::Result<usize> {
        self.check()?;
        if self.credit() == 0 {
            unless_empty(self.take_frame(&mut [], Wait::Spin))?;
        }
        if self.credit() == 0 {
            Err(io::ErrorKind::WouldBlock.into())
        } else {
            self.send_frames(data)
        }
    }

    fn try_recv(&mut self, space: &mut [u8]) -> io::Result<usize> {
        self.check()?;
        if !self.stash.is_empty() {
            return Ok(self.take_stashed(space));
        }
        match self.take_frame(space, Wait::Spin)? {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            got => Ok(got),
        }
    }

    fn wait_until(&mut self, _: Ready) -> io::Result<()> {
        if self.wait == Wait::Spin {
            std::hint::spin_loop();
            return Ok(());
        }
        self.frames.rest()
    }

    fn enter(&mut self) -> Result<(), Broken> {
        if !W::FOR_A_VISIT {
            return Ok(());
        }
        self.enter_for_a_visit().map_err(|cause| Broken::call("enter the link", cause))
    }

    fn leave(&mut self) {
        if W::FOR_A_VISIT {
            self.frames.leave();
        }
    }

    fn aborter(&self) -> Aborter {
        let over = Arc::clone(&self.frames.over);
        Aborter::new(move || over.store(true, Relaxed))
    }
}

/// Nothing instead of an error for a receive that found nothing.
#[inline]
fn unless_empty<T>(outcome: io::Result<T>) -> io::Result<Option<T>> {
    match outcome {
        Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => Ok(None),
        outcome => outcome.map(Some),
    }
}

/// Local Experimental `EtherType` 1 of IEEE 802, here from the near to the far end.
const TO_FAR: u16 = 0x88b5;

/// Local Experimental `EtherType` 2 of IEEE 802, here from the far to the near end.
const TO_NEAR: u16 = 0x88b6;

/// Frames that are handed to the kernel in one go, where it takes several: as many as it sends in
/// one call of an `AF_XDP` socket in copy mode.
const BATCH: usize = 32;
