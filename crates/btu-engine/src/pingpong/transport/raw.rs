//! Raw Ethernet frames: user-level networking without any protocol of the kernel (`AF_PACKET`).
//!
//! A block is cut into frames of one MTU. Each direction has an `EtherType` of its own, the two that
//! IEEE 802 leaves to local experiments, so that an end never sees what it sent itself. Frames are
//! numbered; a gap is a loss and ends the connection, since nothing is sent twice. The receiver
//! tells how many frames it has taken (a credit), and a sender never has more on their way than fit
//! into the receiver's buffer.

mod frame;

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use std::time::Instant;

use btu_core::pingpong::configuration::Wait;
use btu_core::units::Bytes;
use btu_sys::clock;
use btu_sys::exchange::Ready;
use btu_sys::frame::FrameSocket;
use btu_sys::frame::OwnLink;
use btu_sys::frame::link_with;
use btu_sys::netlink::Mac;

use self::frame::Frames;
use self::frame::Kind;
use super::Hookup;
use super::Listener;
use super::Properties;
use super::Rendezvous;
use super::Transport;
use super::socket;
use crate::error::EngineError;
use crate::pingpong::channel::Aborter;
use crate::pingpong::channel::Channel;
use crate::pingpong::channel::End;

/// The transport `raw`.
#[derive(Debug)]
pub(super) struct Raw;

/// The end that waits for a greeting.
struct Waiting {
    link: OwnLink,
    session: u32,
    frames: Frames,
}

/// One end of a connection.
struct RawEnd {
    frames: Frames,
    over: Arc<AtomicBool>,
    wait: Wait,
    /// Frames that were sent, and those of them that the other end has taken.
    sent: u32,
    credited: u32,
    /// Frames that came in order, and those of them that the other end knows of.
    taken: u32,
    told: u32,
    /// Frames that may be on their way.
    window: u32,
    /// Bytes that came while this end was sending, or beyond the space of a receive.
    stash: Vec<u8>,
    used: usize,
}

impl Transport for Raw {
    fn name(&self) -> &'static str {
        "raw"
    }

    fn about(&self) -> &'static str {
        "Ethernet frames of an own EtherType (AF_PACKET), cut at the MTU"
    }

    fn properties(&self) -> Properties {
        let waits = &[Wait::Block, Wait::Spin];
        Properties { reliable: true, bounded: false, one_host: false, waits }
    }

    fn largest(&self) -> Bytes {
        Bytes::new(socket::LARGEST_STREAM)
    }

    /// Needs `CAP_NET_RAW` over the network; a user has it in a namespace of his own.
    fn available(&self) -> Result<(), EngineError> {
        FrameSocket::open(0, frame::TO_FAR, 4096)?;
        Ok(())
    }

    fn listen(&self, hookup: &Hookup<'_>) -> Result<Box<dyn Listener>, EngineError> {
        let link = link_with(hookup.party.address)?;
        // Tells concurrent sessions of one link apart.
        let session = u32::try_from(clock::monotonic_ns() & 0xffff_ffff).unwrap_or(1);
        let frames = Frames::open(link, [frame::TO_FAR, frame::TO_NEAR], session)?;
        Ok(Box::new(Waiting { link, session, frames }))
    }

    fn connect(&self, at: &Rendezvous, hookup: &Hookup<'_>) -> Result<Box<dyn End>, EngineError> {
        let Rendezvous::Link { mac, session } = at else { return Err(super::wrong_rendezvous()) };
        let link = link_with(hookup.party.address)?;
        let mut frames = Frames::open(link, [frame::TO_NEAR, frame::TO_FAR], *session)?;
        frames.send_to(*mac);
        let named = || EngineError::peer("greet the far end by a frame");
        frames.send(Kind::Hello, 0, &[]).map_err(named())?;
        await_hello(&mut frames, hookup.within).map_err(named())?;
        Ok(Box::new(RawEnd::new(frames, hookup.wanted.wait)))
    }
}

impl Listener for Waiting {
    fn rendezvous(&self) -> Result<Rendezvous, EngineError> {
        Ok(Rendezvous::Link { mac: self.link.mac, session: self.session })
    }

    fn accept(mut self: Box<Self>, hookup: &Hookup<'_>) -> Result<Box<dyn End>, EngineError> {
        let named = || EngineError::peer("wait for the near end's frame");
        let near = await_hello(&mut self.frames, hookup.within).map_err(named())?;
        self.frames.send_to(near);
        self.frames.send(Kind::Hello, 0, &[]).map_err(named())?;
        Ok(Box::new(RawEnd::new(self.frames, hookup.wanted.wait)))
    }
}

/// Waits for the greeting of the other end and tells its hardware address.
fn await_hello(frames: &mut Frames, within: Duration) -> io::Result<Mac> {
    let deadline = Instant::now() + within;
    while Instant::now() < deadline {
        match frames.recv(Wait::Block) {
            Ok(Some(found)) if found.kind == Kind::Hello => return Ok(found.from),
            Ok(_) => {}
            Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => {}
            Err(cause) => return Err(cause),
        }
    }
    Err(io::ErrorKind::TimedOut.into())
}

impl RawEnd {
    fn new(frames: Frames, wait: Wait) -> Self {
        let window = frames.window();
        Self {
            frames,
            over: Arc::default(),
            wait,
            sent: 0,
            credited: 0,
            taken: 0,
            told: 0,
            window,
            stash: Vec::new(),
            used: 0,
        }
    }

    fn has_credit(&self) -> bool {
        self.sent.wrapping_sub(self.credited) < self.window
    }

    /// Sends as much as one frame holds; there must be credit.
    fn send_frame(&mut self, data: &[u8]) -> io::Result<usize> {
        let part = &data[..data.len().min(self.frames.payload())];
        self.frames.send(Kind::Data, self.sent, part)?;
        self.sent = self.sent.wrapping_add(1);
        Ok(part.len())
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
                let data = self.frames.data(found);
                let here = data.len().min(space.len());
                space[..here].copy_from_slice(&data[..here]);
                self.stash.extend_from_slice(&data[here..]);
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
        if self.taken.wrapping_sub(self.told) >= self.window / 4 {
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
        if self.over.load(Relaxed) { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }
}

impl Channel for RawEnd {
    #[inline]
    fn send(&mut self, data: &[u8]) -> io::Result<usize> {
        while !self.has_credit() {
            self.check()?;
            waiting(self.take_frame(&mut [], self.wait))?;
        }
        self.send_frame(data)
    }

    #[inline]
    fn recv(&mut self, space: &mut [u8]) -> io::Result<usize> {
        if !self.stash.is_empty() {
            return Ok(self.take_stashed(space));
        }
        loop {
            match waiting(self.take_frame(space, self.wait))? {
                0 => self.check()?,
                got => return Ok(got),
            }
        }
    }

    fn try_send(&mut self, data: &[u8]) -> io::Result<usize> {
        self.check()?;
        if !self.has_credit() {
            waiting(self.take_frame(&mut [], Wait::Spin))?;
        }
        if self.has_credit() {
            self.send_frame(data)
        } else {
            Err(io::ErrorKind::WouldBlock.into())
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
        self.frames.wait()
    }

    fn aborter(&self) -> Aborter {
        let over = Arc::clone(&self.over);
        Aborter::new(move || over.store(true, Relaxed))
    }
}

/// Nothing instead of an error for a receive that found nothing.
#[inline]
fn waiting(outcome: io::Result<usize>) -> io::Result<usize> {
    match outcome {
        Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => Ok(0),
        outcome => outcome,
    }
}
