//! The frames of one rank: one ring for all that comes, a pair of boxes for each other rank.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use btu_core::app::frames::Header;
use btu_core::app::frames::Kind;
use btu_core::app::frames::Pair;
use btu_core::units::Nanos;
use btu_sys::exchange;
use btu_sys::exchange::Ready;
use btu_sys::packet::Inlet;

use super::route::ETHERNET;
use super::route::Route;
use crate::message::mesh::Wires;
use crate::time::now;

/// The frames of one rank.
#[derive(Debug)]
pub(super) struct FrameWires {
    inlet: Inlet,
    /// By rank; there is none to itself, nor to one that is gone.
    peers: Vec<Option<Peer>>,
    /// Ranks from which there is something to read.
    found: Vec<usize>,
}

/// What stands between this rank and another.
#[derive(Debug)]
pub(super) struct Peer {
    pair: Pair,
    route: Route,
}

impl Peer {
    pub(super) fn new(pair: Pair, route: Route) -> Self {
        Self { pair, route }
    }

    /// Sends as many bytes as there is credit for; tells how many.
    #[inline]
    fn send(&mut self, now: Nanos, mut head: &[u8], mut rest: &[u8]) -> io::Result<usize> {
        let whole = head.len() + rest.len();
        while !(head.is_empty() && rest.is_empty()) {
            let taken = self.pair.put(now, head, rest);
            if taken == 0 {
                break;
            }
            let of_head = taken.min(head.len());
            (head, rest) = (&head[of_head..], &rest[taken - of_head..]);
            self.send_due(now)?;
        }
        Ok(whole - head.len() - rest.len())
    }

    /// Sends whatever is due.
    #[inline]
    fn send_due(&mut self, now: Nanos) -> io::Result<()> {
        while let Some((header, payload)) = self.pair.due(now) {
            self.route.send(&header, payload)?;
        }
        Ok(())
    }
}

impl FrameWires {
    pub(super) fn new(inlet: Inlet, peers: Vec<Option<Peer>>) -> Self {
        let found = Vec::with_capacity(peers.len());
        Self { inlet, peers, found }
    }

    /// Shows the other rank that frames pass.
    pub(super) fn greet(&self, peer: usize) -> io::Result<()> {
        let Some(Some(peer)) = self.peers.get(peer) else { return Err(nobody(peer)) };
        peer.route.send(&HELLO, &[])
    }

    /// True once somebody's greeting came, within this time.
    pub(super) fn is_greeted(&mut self, longest: Duration) -> io::Result<bool> {
        exchange::poll(self.inlet.as_fd(), Ready::Read, Some(longest))?;
        let is_hello =
            |frame: &[u8]| parsed(frame).is_some_and(|(_, header, _)| header.kind == Kind::Hello);
        Ok(self.inlet.next_frame().is_some_and(is_hello))
    }

    fn peer(&mut self, peer: usize) -> io::Result<&mut Peer> {
        self.peers.get_mut(peer).and_then(Option::as_mut).ok_or_else(|| nobody(peer))
    }

    /// Handles every frame that came, in its turn.
    #[inline]
    fn take_in(&mut self) -> io::Result<()> {
        let Self { inlet, peers, .. } = self;
        while let Some(frame) = inlet.next_frame() {
            let Some((from, header, payload)) = parsed(frame) else { continue };
            let Some(Some(peer)) = peers.get_mut(from) else { continue };
            let now = now();
            peer.pair.take(now, &header, payload);
            peer.send_due(now)?;
        }
        Ok(())
    }

    /// Sends what is due by its time.
    fn look_at_clock(&mut self) -> io::Result<()> {
        let now = now();
        self.peers.iter_mut().flatten().try_for_each(|peer| peer.send_due(now))
    }

    fn find(&mut self) {
        self.found.clear();
        for (number, peer) in self.peers.iter().enumerate() {
            if peer.as_ref().is_some_and(|peer| peer.pair.has_bytes() || peer.pair.is_over()) {
                self.found.push(number);
            }
        }
    }

    fn has_room(&self, room_of: Option<usize>) -> bool {
        let peer = room_of.and_then(|peer| self.peers.get(peer)?.as_ref());
        peer.is_some_and(|peer| peer.pair.has_room())
    }

    /// Until a frame comes, one is due, or so long.
    fn sleep_for_frames(&self, longest: Nanos) -> io::Result<()> {
        let due = self.peers.iter().flatten().filter_map(|peer| peer.pair.next_wakeup()).min();
        let longest = due.map_or(longest, |due| longest.min(due.since(now())));
        // poll(2) counts milliseconds: less than one would be a wait that keeps the CPU.
        let longest = Duration::from(longest).max(Duration::from_millis(1));
        exchange::poll(self.inlet.as_fd(), Ready::Read, Some(longest)).map(drop)
    }

    /// Stays until every other rank has what was sent to it, or takes nothing any more; not for long.
    fn finish(&mut self) -> io::Result<()> {
        self.peers.iter_mut().flatten().for_each(|peer| peer.pair.finish());
        self.look_at_clock()?;
        let end = now() + LONGEST_END;
        loop {
            self.take_in()?;
            let is_done = self.peers.iter().flatten().all(|peer| peer.pair.is_done());
            let left = end.since(now());
            if is_done || left.is_zero() {
                return Ok(());
            }
            self.sleep_for_frames(left)?;
            self.look_at_clock()?;
        }
    }
}

impl Wires for FrameWires {
    /// To read costs no system call, but each takes in what came: one more look per message is spared.
    const AHEAD: usize = 4096;

    #[inline]
    fn write(&mut self, to: usize, head: &[u8], payload: &[u8]) -> io::Result<usize> {
        if !self.peer(to)?.pair.has_room() {
            self.take_in()?;
        }
        let count = self.peer(to)?.send(now(), head, payload)?;
        if count == 0 { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(count) }
    }

    #[inline]
    fn read(&mut self, from: usize, space: &mut [u8]) -> io::Result<usize> {
        if !self.peer(from)?.pair.has_bytes() {
            self.take_in()?;
        }
        let peer = self.peer(from)?;
        let count = peer.pair.read(space);
        if count > 0 {
            peer.send_due(now())?;
        }
        match count {
            0 if peer.pair.is_over() => Ok(0),
            0 => Err(io::ErrorKind::WouldBlock.into()),
            count => Ok(count),
        }
    }

    fn sleep(&mut self, room_of: Option<usize>, longest: Nanos) -> io::Result<()> {
        self.take_in()?;
        self.look_at_clock()?;
        self.find();
        if self.found.is_empty() && !self.has_room(room_of) && !longest.is_zero() {
            self.sleep_for_frames(longest)?;
            self.take_in()?;
            self.find();
        }
        Ok(())
    }

    fn found(&self, nth: usize) -> Option<usize> {
        self.found.get(nth).copied()
    }

    fn leave(&mut self, peer: usize) {
        if let Some(peer) = self.peers.get_mut(peer) {
            *peer = None;
        }
    }
}

/// The others are told, and have what was sent last.
impl Drop for FrameWires {
    fn drop(&mut self) {
        // A device that is gone takes no last word; the others find this rank silent.
        let _ = self.finish();
    }
}

/// Who sent a frame, and what is in it.
#[inline]
fn parsed(frame: &[u8]) -> Option<(usize, Header, &[u8])> {
    let (addresses, header, payload) = Header::parse(frame.get(ETHERNET..)?)?;
    Some((usize::from(addresses.from), header, payload))
}

fn nobody(peer: usize) -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, format!("no way to rank {peer}"))
}

const HELLO: Header = Header {
    kind: Kind::Hello,
    asks: false,
    tells_loss: false,
    number: 0,
    taken: 0,
    limit: 0,
    length_bytes: 0,
};
/// A rank that computes does not answer; what was sent to it is in its ring already.
const LONGEST_END: Nanos = Nanos::from_millis(50);
