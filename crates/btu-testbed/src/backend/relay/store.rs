//! Where the bytes of packets wait while their handles are in a chain.
//!
//! Places come in four sizes, each in a mapping of its own, of which the kernel gives memory only
//! for what was touched. The place used last is used first, so that without delay the same few
//! stay in the cache.

use std::ops::Range;

use btu_core::link::Slot;
use btu_core::units::Bytes;
use btu_sys::memory::Buffer;
use btu_sys::memory::Pages;

use crate::segment::Frame;
use crate::segment::Shape;
use crate::segment::Vnet;

/// Places for packets, up to a limit.
#[derive(Debug)]
pub(super) struct Store {
    classes: Vec<Class>,
    used: usize,
    limit: usize,
}

/// Places of one size.
#[derive(Debug)]
struct Class {
    size: usize,
    memory: Buffer,
    places: Vec<Place>,
    free: Vec<u32>,
    /// Number of the first slot of this class.
    base: u32,
    capacity: u32,
}

/// What is kept of a packet beside its bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) vnet: Vnet,
    /// How it divides; `None` for an opaque one.
    pub(super) shape: Option<Shape>,
    pub(super) length: usize,
    /// Where the records of its wire packets start, if they are recorded.
    pub(super) records: Option<usize>,
    live: bool,
}

impl Place {
    /// The records of its wire packets.
    pub(super) fn recorded(&self) -> Option<Range<usize>> {
        let first = self.records?;
        Some(first..first + index(self.shape?.count))
    }
}

impl Store {
    /// Places for up to `limit` bytes.
    pub(super) fn new(limit: Bytes) -> btu_sys::Result<Self> {
        let mut classes = Vec::new();
        let mut base = 0;
        for size in SIZES {
            let capacity = capacity(limit, size);
            let memory = Buffer::new(index(capacity) * size, 0, Pages::OnTouch)?;
            let (places, free) = (Vec::new(), Vec::new());
            classes.push(Class { size, memory, places, free, base, capacity });
            base += capacity;
        }
        Ok(Self { classes, used: 0, limit: limit.len() })
    }

    /// One more than the largest slot number of a store for `limit` bytes.
    pub(super) fn slots(limit: Bytes) -> u32 {
        SIZES.iter().map(|size| capacity(limit, *size)).sum()
    }

    /// A place for a frame; `None` where the memory is full. Its bytes are not there yet.
    pub(super) fn take(&mut self, vnet: Vnet, frame: &Frame, length: usize) -> Option<Slot> {
        let class = self.classes.iter_mut().find(|class| class.size >= length)?;
        if self.used + class.size > self.limit {
            return None;
        }
        let shape = match frame {
            Frame::Counted(shape) => Some(*shape),
            Frame::Opaque { .. } | Frame::Uncounted => None,
        };
        let slot = class.take(Place { vnet, shape, length, records: None, live: true })?;
        self.used += class.size;
        Some(slot)
    }

    /// Copies the bytes in, where the packet is still inside.
    pub(super) fn fill(&mut self, slot: Slot, frame: &[u8]) {
        if let Some((class, index)) = self.find_mut(slot)
            && class.places[index].live
        {
            let start = index * class.size;
            class.memory[start..start + frame.len()].copy_from_slice(frame);
        }
    }

    /// Remembers where the records of a packet start.
    pub(super) fn note_records(&mut self, slot: Slot, records: Option<usize>) {
        if let Some((class, index)) = self.find_mut(slot) {
            class.places[index].records = records;
        }
    }

    /// Forgets the records of all packets: the capture is over.
    pub(super) fn forget_records(&mut self) {
        let places = self.classes.iter_mut().flat_map(|class| &mut class.places);
        places.for_each(|place| place.records = None);
    }

    /// What is kept of a packet, and its bytes.
    pub(super) fn packet(&self, slot: Slot) -> Option<(&Place, &[u8])> {
        let class = self.classes.iter().rfind(|class| class.base <= slot.0)?;
        let index = index(slot.0 - class.base);
        let place = class.places.get(index)?;
        let start = index * class.size;
        Some((place, &class.memory[start..start + place.length]))
    }

    /// The place is free again.
    pub(super) fn give_back(&mut self, slot: Slot) {
        let Some((class, index)) = self.find_mut(slot) else { return };
        if std::mem::take(&mut class.places[index].live) {
            class.free.push(slot.0 - class.base);
            let size = class.size;
            self.used -= size;
        }
    }

    fn find_mut(&mut self, slot: Slot) -> Option<(&mut Class, usize)> {
        let class = self.classes.iter_mut().rfind(|class| class.base <= slot.0)?;
        let index = index(slot.0 - class.base);
        (index < class.places.len()).then_some((class, index))
    }
}

impl Class {
    fn take(&mut self, place: Place) -> Option<Slot> {
        if let Some(number) = self.free.pop() {
            self.places[index(number)] = place;
            return Some(Slot(self.base + number));
        }
        let number = u32::try_from(self.places.len()).ok().filter(|next| *next < self.capacity)?;
        self.places.push(place);
        Some(Slot(self.base + number))
    }
}

/// How many places of a size there are, at least one.
fn capacity(limit: Bytes, size: usize) -> u32 {
    u32::try_from(limit.len() / size).unwrap_or(u32::MAX).max(1)
}

pub(super) fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// One MTU; a few segments; what a window of 16 segments fills; the largest super-packet.
const SIZES: [usize; 4] = [2048, 8192, 24 * 1024, btu_sys::packet::MAX_FRAME];

#[cfg(test)]
mod tests {
    use super::*;

    fn take(store: &mut Store, length: usize) -> Option<Slot> {
        store.take(Vnet::default(), &Frame::Opaque { l3: 0 }, length)
    }

    #[test]
    fn places_keep_their_bytes_apart() {
        let limit = Bytes::new(1 << 20);
        let mut store = Store::new(limit).unwrap();
        let lengths = [60, 1514, 2048, 2049, 9000, 24_576, 24_577, 65_550];
        let slots: Vec<Slot> = lengths.map(|length| take(&mut store, length).unwrap()).to_vec();
        for (slot, length) in slots.iter().zip(lengths) {
            let frame = vec![u8::try_from(length % 251).unwrap(); length];
            store.fill(*slot, &frame);
        }
        for (slot, length) in slots.iter().zip(lengths) {
            let (place, bytes) = store.packet(*slot).unwrap();
            assert_eq!(place.length, length);
            assert!(bytes.iter().all(|byte| usize::from(*byte) == length % 251));
            assert!(slot.0 < Store::slots(limit));
        }
    }

    #[test]
    fn the_limit_holds_and_a_freed_place_is_used_first() {
        let mut store = Store::new(Bytes::new(100_000)).unwrap();
        let taken: Vec<Slot> = std::iter::from_fn(|| take(&mut store, 1514)).collect();
        assert_eq!(taken.len(), 100_000 / 2048);
        assert_eq!(take(&mut store, 60), None);
        store.give_back(taken[7]);
        store.give_back(taken[7]);
        assert_eq!(take(&mut store, 60), Some(taken[7]));
        assert_eq!(take(&mut store, 60), None);
    }

    #[test]
    fn a_frame_beyond_the_largest_has_no_place() {
        let mut store = Store::new(Bytes::new(1 << 20)).unwrap();
        assert_eq!(take(&mut store, 70_000), None);
    }
}
