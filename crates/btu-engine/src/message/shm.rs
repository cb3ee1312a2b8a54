//! The message layer `shm`: a ring of shared memory for each ordered pair of ranks.

use std::io;
use std::sync::Arc;

use btu_core::app::endpoint::Endpoint;
use btu_core::app::sample::Wait;
use btu_core::units::Nanos;
use btu_sys::bell::Bell;
use btu_sys::shared;
use btu_sys::shared::Duct;

use super::MessageLayer;
use super::RanksAre;
use super::Seat;
use super::Terms;
use super::ThreadLayer;
use super::incoming::Head;
use super::mesh::Mesh;
use super::mesh::Wires;
use crate::error::EngineError;

/// The message layer `shm`.
#[derive(Debug)]
pub(super) struct Shm;

/// The rings of one rank.
///
/// Each rank has one bell, since it sleeps for data of anyone: whoever wrote to one of its rings, or made room in one that
/// was full, rings it. To ring costs a fence and a load where the other rank is awake.
#[derive(Debug)]
struct ShmWires {
    rank: usize,
    /// By rank; there is none to itself.
    ducts: Vec<Option<Duct>>,
    bells: Arc<[Bell]>,
}

impl MessageLayer for Shm {
    fn name(&self) -> &'static str {
        "shm"
    }

    fn about(&self) -> &'static str {
        "shared memory, a ring for each ordered pair of ranks; all on one host"
    }

    fn spans_hosts(&self) -> bool {
        false
    }

    fn waits(&self) -> &'static [Wait] {
        &[Wait::Block, Wait::Spin]
    }

    fn ranks(&self) -> RanksAre<'_> {
        RanksAre::Threads(self)
    }
}

impl ThreadLayer for Shm {
    fn join(
        &self,
        seats: &[Seat],
        terms: &Terms,
    ) -> Result<Vec<Box<dyn Endpoint + Send>>, EngineError> {
        let ranks = seats.len();
        let bells: Arc<[Bell]> = (0..ranks).map(|_| Bell::default()).collect();
        let of_all = super::between_all(ranks, |_, _| Ok(shared::ducts(ring_bytes(ranks))?))?;
        let end = |(rank, ducts)| {
            let wires = ShmWires { rank, ducts, bells: Arc::clone(&bells) };
            Mesh::boxed(rank, ranks, wires, terms)
        };
        Ok(of_all.into_iter().enumerate().map(end).collect())
    }
}

impl ShmWires {
    fn duct(&mut self, peer: usize) -> io::Result<&mut Duct> {
        let duct = self.ducts.get_mut(peer).and_then(Option::as_mut);
        duct.ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    fn is_idle(&self, room_of: Option<usize>) -> bool {
        let has_room =
            room_of.and_then(|peer| self.ducts[peer].as_ref()).is_some_and(Duct::can_write);
        !has_room && !self.ducts.iter().flatten().any(Duct::can_read)
    }

    /// Looks some times before it sleeps: a message that is about to come costs no system call. With more ranks each look
    /// takes longer, and there are fewer.
    fn is_idle_for_a_while(&self, room_of: Option<usize>) -> bool {
        (0..LOOKS.div_ceil(self.ducts.len())).all(|_| {
            std::hint::spin_loop();
            self.is_idle(room_of)
        })
    }
}

impl Wires for ShmWires {
    /// A head: to read it costs no system call, and each payload is then copied once.
    const AHEAD: usize = Head::BYTES;

    #[inline]
    fn write(&mut self, to: usize, head: &[u8], payload: &[u8]) -> io::Result<usize> {
        let duct = self.duct(to)?;
        let mut moved = duct.write(head);
        if let Ok(count) = &mut moved
            && *count == head.len()
        {
            *count += duct.write(payload).unwrap_or(0);
        }
        let count = some(moved)?;
        self.bells[to].ring();
        Ok(count)
    }

    #[inline]
    fn read(&mut self, from: usize, space: &mut [u8]) -> io::Result<usize> {
        let duct = self.duct(from)?;
        let count = some(duct.read(space))?;
        // A rank that waits for a message, and not for room, would be woken for nothing.
        if duct.was_full_before(count) {
            self.bells[from].ring();
        }
        Ok(count)
    }

    fn sleep(&mut self, room_of: Option<usize>, longest: Nanos) -> io::Result<()> {
        if !longest.is_zero() && self.is_idle_for_a_while(room_of) {
            self.bells[self.rank].sleep_while(longest.count(), || self.is_idle(room_of));
        }
        Ok(())
    }

    fn found(&self, nth: usize) -> Option<usize> {
        let peer = nth + usize::from(nth >= self.rank);
        (peer < self.ducts.len()).then_some(peer)
    }

    fn leave(&mut self, peer: usize) {
        self.ducts[peer] = None;
    }
}

/// Who sleeps for this rank learns that it is gone.
impl Drop for ShmWires {
    fn drop(&mut self) {
        for (duct, bell) in self.ducts.iter_mut().zip(&*self.bells) {
            if duct.take().is_some() {
                bell.ring();
            }
        }
    }
}

/// Zero bytes moved say that there was nothing to move.
fn some(moved: io::Result<usize>) -> io::Result<usize> {
    match moved? {
        0 => Err(io::ErrorKind::WouldBlock.into()),
        count => Ok(count),
    }
}

/// 256 KiB where few ranks are joined, less where their rings together would be more than 64 MiB.
fn ring_bytes(ranks: usize) -> usize {
    let rings = ranks.saturating_mul(ranks).max(1);
    let share = (ALL_RINGS / rings).clamp(LEAST_RING, LARGEST_RING);
    1 << share.ilog2()
}

const ALL_RINGS: usize = 64 << 20;
const LEAST_RING: usize = 16 << 10;
/// Large enough for a message of a few pages, small enough to stay in a second-level cache.
const LARGEST_RING: usize = 256 << 10;
/// Looks at a ring: about two microseconds.
const LOOKS: usize = 200;
