//! What carries frames, and the writing and reading of ours on it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use btu_core::pingpong::configuration::Wait;
use btu_sys::frame::OwnLink;
use btu_sys::netlink::Mac;

use super::format;
use super::format::ETHERNET;
use super::format::Found;
use super::format::HEADER;
use super::format::Header;
use super::format::Kind;
use super::format::LEAST;

/// Carries whole frames of one `EtherType` over one link.
pub(in super::super) trait Wire: Send + Sized {
    /// True where it carries frames between [`enter`](Self::enter) and [`leave`](Self::leave) only,
    /// which is for one visit, because other traffic of the link pays for it.
    const FOR_A_VISIT: bool;

    /// The longest frame, Ethernet header included, whatever the link's MTU.
    const LONGEST: usize;

    /// Receives frames of this type; sends whatever it is given.
    fn open(link: OwnLink, ether_type: u16) -> Result<Self, btu_sys::Error>;

    /// Begins to carry frames. Fails with `ResourceBusy` where another session does that just now.
    fn enter(&mut self) -> Result<(), btu_sys::Error> {
        Ok(())
    }

    /// Carries no frames any more.
    fn leave(&mut self) {}

    /// How many frames of this length wait for their reader without loss.
    fn window(&self, longest: usize) -> u32;

    /// Writes a frame of `length` bytes; it may leave with [`flush`](Self::flush) only. Fails with
    /// `WouldBlock` where there is no room.
    fn push(&mut self, length: usize, write: impl FnOnce(&mut [u8])) -> io::Result<()>;

    /// Sends what was pushed. Fails with `WouldBlock` where something is left.
    fn flush(&mut self) -> io::Result<()>;

    /// The next frame. Fails with `WouldBlock` after a moment without one, at once for `Spin`.
    fn next(&mut self, wait: Wait) -> io::Result<&[u8]>;

    /// Sleeps until a frame came, or for a millisecond.
    fn rest(&self) -> io::Result<()>;
}

/// A wire, and what the frames of one end have in common.
pub(super) struct Frames<W> {
    wire: W,
    header: Header,
    session: u32,
    longest: usize,
    window: u32,
    /// True once the connection was ended: nothing waits any more.
    pub(super) over: Arc<AtomicBool>,
}

impl<W: Wire> Frames<W> {
    /// `types`: the one to receive and the one to send.
    pub(super) fn open(
        link: OwnLink,
        types: [u16; 2],
        session: u32,
    ) -> Result<Self, btu_sys::Error> {
        let mtu = usize::try_from(link.mtu).unwrap_or(usize::MAX);
        let longest = mtu.saturating_add(ETHERNET).clamp(LEAST, W::LONGEST);
        let mut wire = patiently(|| W::open(link, types[0]))?;
        patiently(|| wire.enter())?;
        let mut header = Header::new(link.mac, types[1]);
        header.set_session(session);
        let (window, over) = (wire.window(longest), Arc::default());
        Ok(Self { wire, header, session, longest, window, over })
    }

    /// Begins to carry frames again, those of another session.
    pub(super) fn enter(&mut self, session: u32) -> io::Result<()> {
        patiently(|| self.wire.enter()).map_err(io::Error::other)?;
        self.session = session;
        self.header.set_session(session);
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.wire.leave();
    }

    /// Frames go there from now on.
    pub(super) fn send_to(&mut self, mac: Mac) {
        self.header.send_to(mac);
    }

    /// Bytes of a block that one frame holds.
    pub(super) fn payload(&self) -> usize {
        self.longest - HEADER
    }

    /// How many frames may be on their way.
    pub(super) fn window(&self) -> u32 {
        self.window
    }

    /// Sends one frame.
    #[inline]
    pub(super) fn send(&mut self, kind: Kind, number: u32, data: &[u8]) -> io::Result<()> {
        self.queue(kind, number, data)?;
        self.flush()
    }

    /// Writes a frame that leaves with [`flush`](Self::flush) at the latest.
    #[inline]
    pub(super) fn queue(&mut self, kind: Kind, number: u32, data: &[u8]) -> io::Result<()> {
        let Self { wire, header, over, .. } = self;
        let length = format::length_of(data.len());
        while !done(over, wire.push(length, |frame| header.write(kind, number, data, frame)))? {
            done(over, wire.flush())?;
        }
        Ok(())
    }

    /// Sends what was queued.
    #[inline]
    pub(super) fn flush(&mut self) -> io::Result<()> {
        while !done(&self.over, self.wire.flush())? {}
        Ok(())
    }

    /// The next frame of this session; nothing for one of another.
    #[inline]
    pub(super) fn recv(&mut self, wait: Wait) -> io::Result<Option<Found<'_>>> {
        Ok(format::parse(self.wire.next(wait)?, self.session))
    }

    /// Sleeps until a frame came, or for a millisecond.
    pub(super) fn rest(&self) -> io::Result<()> {
        self.wire.rest()
    }
}

/// Tries again while a link is taken. The kernel gives back some things after the call that closed
/// them, so that a session which has just ended may be in the way for a moment.
fn patiently<T>(mut call: impl FnMut() -> Result<T, btu_sys::Error>) -> Result<T, btu_sys::Error> {
    let deadline = Instant::now() + STILL_BUSY;
    loop {
        match call() {
            Err(cause)
                if cause.kind() == io::ErrorKind::ResourceBusy && Instant::now() < deadline =>
            {
                thread::sleep(Duration::from_micros(200));
            }
            outcome => return outcome,
        }
    }
}

/// False for a queue that is full for a moment, which was waited for a little.
#[inline]
fn done(over: &AtomicBool, outcome: io::Result<()>) -> io::Result<bool> {
    match outcome {
        Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => {
            unless(over)?;
            thread::yield_now();
            Ok(false)
        }
        outcome => outcome.map(|()| true),
    }
}

/// An error once the connection was ended.
#[inline]
pub(super) fn unless(over: &AtomicBool) -> io::Result<()> {
    if over.load(Relaxed) { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}

/// How long a link may stay taken by a session that is over.
const STILL_BUSY: Duration = Duration::from_secs(2);
