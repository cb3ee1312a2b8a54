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
    /// True where it is opened for each visit and closed after it, because other traffic of the
    /// link, or another session, pays for its being open.
    const FOR_A_VISIT: bool;

    /// The longest frame, Ethernet header included, whatever the link's MTU.
    const LONGEST: usize;

    /// Receives frames of this type; sends whatever it is given.
    fn open(link: OwnLink, ether_type: u16) -> Result<Self, btu_sys::Error>;

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
    wire: Option<W>,
    link: OwnLink,
    received_type: u16,
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
        let wire = patiently::<W>(link, types[0])?;
        let mut header = Header::new(link.mac, types[1]);
        header.set_session(session);
        let (window, over) = (wire.window(longest), Arc::default());
        let [received_type, _] = types;
        Ok(Self { wire: Some(wire), link, received_type, header, session, longest, window, over })
    }

    /// Opens the wire again, for another session.
    pub(super) fn reopen(&mut self, session: u32) -> io::Result<()> {
        let wire = patiently::<W>(self.link, self.received_type).map_err(io::Error::other)?;
        self.wire = Some(wire);
        self.session = session;
        self.header.set_session(session);
        Ok(())
    }

    pub(super) fn close(&mut self) {
        self.wire = None;
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
        let wire = wire.as_mut().ok_or_else(closed)?;
        let length = format::length_of(data.len());
        while !done(over, wire.push(length, |frame| header.write(kind, number, data, frame)))? {
            done(over, wire.flush())?;
        }
        Ok(())
    }

    /// Sends what was queued.
    #[inline]
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let wire = self.wire.as_mut().ok_or_else(closed)?;
        while !done(&self.over, wire.flush())? {}
        Ok(())
    }

    /// The next frame of this session; nothing for one of another.
    #[inline]
    pub(super) fn recv(&mut self, wait: Wait) -> io::Result<Option<Found<'_>>> {
        let wire = self.wire.as_mut().ok_or_else(closed)?;
        Ok(format::parse(wire.next(wait)?, self.session))
    }

    /// Sleeps until a frame came, or for a millisecond.
    pub(super) fn rest(&self) -> io::Result<()> {
        self.wire.as_ref().ok_or_else(closed)?.rest()
    }
}

/// Opens a wire. The kernel gives back some things after the call that closed them: a wire of a
/// visit that has just ended may be in the way for a moment.
fn patiently<W: Wire>(link: OwnLink, ether_type: u16) -> Result<W, btu_sys::Error> {
    let deadline = Instant::now() + STILL_BUSY;
    loop {
        match W::open(link, ether_type) {
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

fn closed() -> io::Error {
    io::ErrorKind::NotConnected.into()
}

/// How long a link may stay taken by a session that is over.
const STILL_BUSY: Duration = Duration::from_secs(2);
