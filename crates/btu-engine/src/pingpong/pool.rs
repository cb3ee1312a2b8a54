//! Memory for the blocks of a visit: one place that stays in the cache, or a walk through more than
//! the cache holds.

use std::fs;

use btu_core::pingpong::configuration::Cache;
use btu_core::pingpong::configuration::Configuration;
use btu_core::pingpong::configuration::Mode;
use btu_sys::memory::Buffer;
use btu_sys::memory::Pages;

use super::numbers::Numbers;
use crate::error::EngineError;

/// The blocks that one end sends from and receives into.
#[derive(Debug)]
pub(super) struct Blocks {
    sending: Pool,
    /// `None` where a block is sent from where it was received.
    receiving: Option<Pool>,
    size: usize,
    numbers: Numbers,
}

/// Places of one size at one distance from a page, taken in turn.
#[derive(Debug)]
struct Pool {
    memory: Buffer,
    stride: usize,
    places: usize,
    next: usize,
    offset: usize,
    cache: Cache,
}

impl Blocks {
    /// Blocks of `size` as the configuration wants them. As in `NetPIPE` one buffer serves both ways
    /// where nothing asks for two.
    pub(super) fn new(size: usize, wanted: &Configuration) -> Result<Self, EngineError> {
        let [sending, receiving] = [wanted.send_offset_bytes, wanted.receive_offset_bytes];
        let pool =
            |offset: btu_core::units::Bytes| Pool::new(size, offset.len() % PAGE, wanted.cache);
        let two = wanted.cache == Cache::Cold
            || wanted.mode == Mode::Bidirectional
            || wanted.verify
            || sending != receiving;
        Ok(Self {
            sending: pool(sending)?,
            receiving: if two { Some(pool(receiving)?) } else { None },
            size,
            numbers: Numbers::default(),
        })
    }

    /// Makes the blocks `size` long, in the memory that is there if it suffices.
    pub(super) fn resize(&mut self, size: usize) -> Result<(), EngineError> {
        self.sending.resize(size)?;
        if let Some(receiving) = &mut self.receiving {
            receiving.resize(size)?;
        }
        self.size = size;
        Ok(())
    }

    /// The size of a block.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// The next block to send.
    #[inline]
    pub(super) fn out(&mut self) -> &mut [u8] {
        self.sending.place(self.size)
    }

    /// The next place to receive into.
    #[inline]
    pub(super) fn space(&mut self) -> &mut [u8] {
        self.receiving.as_mut().unwrap_or(&mut self.sending).place(self.size)
    }

    /// The numbers of the blocks, where they have some.
    #[inline]
    pub(super) fn numbers(&mut self) -> &mut Numbers {
        &mut self.numbers
    }

    /// The next place to receive into, with the numbers.
    #[inline]
    pub(super) fn space_and_numbers(&mut self) -> (&mut [u8], &mut Numbers) {
        let pool = self.receiving.as_mut().unwrap_or(&mut self.sending);
        (pool.place(self.size), &mut self.numbers)
    }

    /// The next block to send, with the numbers.
    #[inline]
    pub(super) fn out_and_numbers(&mut self) -> (&mut [u8], &mut Numbers) {
        (self.sending.place(self.size), &mut self.numbers)
    }

    /// A block to send and a place to receive into at the same time, with the numbers.
    pub(super) fn both(&mut self) -> Option<(&mut [u8], &mut [u8], &mut Numbers)> {
        let receiving = self.receiving.as_mut()?;
        Some((self.sending.place(self.size), receiving.place(self.size), &mut self.numbers))
    }
}

impl Pool {
    fn new(size: usize, offset: usize, cache: Cache) -> Result<Self, EngineError> {
        let stride = (offset + size.max(1)).next_multiple_of(PAGE);
        let places = match cache {
            Cache::Cold => (cold_bytes() / stride).max(2),
            Cache::Warm => 1,
        };
        let memory = Buffer::new(stride * places - offset, offset, Pages::Now)?;
        Ok(Self { memory, stride, places, next: 0, offset, cache })
    }

    fn resize(&mut self, size: usize) -> Result<(), EngineError> {
        let stride = (self.offset + size.max(1)).next_multiple_of(PAGE);
        let least = if self.cache == Cache::Cold { 2 } else { 1 };
        let places = (self.memory.len() + self.offset) / stride;
        if places < least {
            *self = Self::new(size, self.offset, self.cache)?;
        } else {
            let places = if self.cache == Cache::Cold { places } else { 1 };
            (self.stride, self.places, self.next) = (stride, places, 0);
        }
        Ok(())
    }

    #[inline]
    fn place(&mut self, size: usize) -> &mut [u8] {
        let start = self.next * self.stride;
        self.next = if self.next + 1 == self.places { 0 } else { self.next + 1 };
        &mut self.memory[start..start + size]
    }
}

/// How much memory a walk needs so that each block has left the caches: `NetPIPE`'s 200 MB, or more
/// where the last-level cache is larger, within reason.
fn cold_bytes() -> usize {
    let largest = (0..8).filter_map(|index| {
        let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size");
        let text = fs::read_to_string(path).ok()?;
        text.trim().strip_suffix('K')?.parse::<usize>().ok().map(|kib| kib << 10)
    });
    largest.max().unwrap_or(0).clamp(COLD_LEAST, COLD_MOST)
}

const PAGE: usize = 4096;

/// `NetPIPE`'s pool.
const COLD_LEAST: usize = 200 << 20;

/// Guests report caches that they share with strangers; four pools of this must fit into memory.
const COLD_MOST: usize = 320 << 20;

#[cfg(test)]
mod tests {
    use btu_core::units::Bytes;

    use super::*;

    fn distance(block: &[u8]) -> usize {
        block.as_ptr().addr() % PAGE
    }

    #[test]
    fn blocks_lie_at_their_distance_from_a_page() {
        let wanted = Configuration {
            send_offset_bytes: Bytes::new(1),
            receive_offset_bytes: Bytes::new(2048),
            ..Configuration::new("tcp")
        };
        let mut blocks = Blocks::new(10_000, &wanted).unwrap();
        assert_eq!((distance(blocks.out()), distance(blocks.space())), (1, 2048));
        assert_eq!((blocks.out().len(), blocks.size()), (10_000, 10_000));
    }

    #[test]
    fn one_buffer_serves_both_ways_unless_something_asks_for_two() {
        let mut one = Blocks::new(64, &Configuration::new("tcp")).unwrap();
        assert_eq!(one.out().as_ptr(), one.space().as_ptr());
        assert!(one.both().is_none());
        let both = Configuration { mode: Mode::Bidirectional, ..Configuration::new("tcp") };
        let mut two = Blocks::new(64, &both).unwrap();
        assert!(two.both().is_some_and(|(out, space, _)| out.as_ptr() != space.as_ptr()));
    }

    #[test]
    fn blocks_change_their_size_and_keep_their_distance() {
        for cache in [Cache::Warm, Cache::Cold] {
            let mut pool = Pool::new(100, 8, cache).unwrap();
            for size in [1, 4088, 4089, 1 << 20, 3] {
                pool.resize(size).unwrap();
                for _ in 0..2 {
                    let place = pool.place(size);
                    assert_eq!((place.len(), distance(place)), (size, 8));
                }
            }
        }
    }

    #[test]
    fn a_cold_pool_walks_through_all_its_places() {
        let mut pool = Pool::new(1 << 20, 64, Cache::Cold).unwrap();
        let first = pool.place(1 << 20).as_ptr();
        let others = (1..pool.places).filter(|_| pool.place(1 << 20).as_ptr() != first).count();
        assert_eq!(others, pool.places - 1);
        assert_eq!(pool.place(1 << 20).as_ptr(), first);
        assert_eq!(distance(pool.place(1 << 20)), 64);
    }
}
