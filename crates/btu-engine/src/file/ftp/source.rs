//! What an FTP server sends: bytes that lie ready, one buffer at a time.

use std::sync::Arc;

use btu_core::units::Bytes;
use btu_sys::memory::Buffer;

use super::store::Object;
use crate::error::EngineError;

/// The content of a file that exists nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::file) enum Pattern {
    /// Bytes that repeat after a buffer of 64 KiB: farther than deflate (RFC 1951, 32 KiB), LZO (48 KiB) and LZ4
    /// (65535 bytes) look back, so that none of them on the way shrinks them, and near enough for the caches.
    Random,
    Zero,
}

/// Gives the bytes of one transfer.
pub(super) trait Source {
    /// The next bytes, for one call of the system; none at the end.
    fn chunk(&mut self) -> Option<&[u8]>;
}

/// One buffer of each pattern, made before the first transfer and shared by all.
#[derive(Debug)]
pub(in crate::file) struct Patterns {
    random: Arc<Buffer>,
    zero: Arc<Buffer>,
}

/// A pattern over and over, up to a size.
#[derive(Debug)]
pub(super) struct Synthetic {
    buffer: Arc<Buffer>,
    rest: u64,
}

/// A file of the store.
#[derive(Debug)]
pub(super) struct Stored {
    object: Arc<Object>,
    next: usize,
}

/// The text of a listing.
#[derive(Debug)]
pub(super) struct Text {
    text: String,
    sent: bool,
}

impl Patterns {
    pub(in crate::file) fn of(size: Bytes) -> Result<Self, EngineError> {
        let mut random = Buffer::prefaulted(size.len())?;
        scramble(&mut random);
        Ok(Self { random: Arc::new(random), zero: Arc::new(Buffer::prefaulted(size.len())?) })
    }

    pub(super) fn file(&self, pattern: Pattern, size: Bytes) -> Synthetic {
        Synthetic { buffer: Arc::clone(self.buffer(pattern)), rest: size.count() }
    }

    pub(in crate::file) fn buffer(&self, pattern: Pattern) -> &Arc<Buffer> {
        match pattern {
            Pattern::Random => &self.random,
            Pattern::Zero => &self.zero,
        }
    }
}

impl Source for Synthetic {
    fn chunk(&mut self) -> Option<&[u8]> {
        let length = usize::try_from(self.rest).unwrap_or(usize::MAX).min(self.buffer.len());
        self.rest -= length as u64;
        self.buffer.get(..length).filter(|chunk| !chunk.is_empty())
    }
}

impl Stored {
    pub(super) fn new(object: Arc<Object>) -> Self {
        Self { object, next: 0 }
    }
}

impl Source for Stored {
    fn chunk(&mut self) -> Option<&[u8]> {
        let chunk = self.object.chunk(self.next)?;
        self.next += 1;
        Some(chunk)
    }
}

impl Text {
    pub(super) fn new(text: String) -> Self {
        Self { text, sent: false }
    }
}

impl Source for Text {
    fn chunk(&mut self) -> Option<&[u8]> {
        let fresh = !std::mem::replace(&mut self.sent, true);
        Some(self.text.as_bytes()).filter(|text| fresh && !text.is_empty())
    }
}

/// Fills `space` with the output of `SplitMix64` (Steele, Lea, Flood 2014), the same each time.
pub(crate) fn scramble(space: &mut [u8]) {
    let mut state = 0_u64;
    for word in space.chunks_mut(8) {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        word.copy_from_slice(&mixed.to_le_bytes()[..word.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::ftp::limits::Limits;

    fn read(mut source: impl Source) -> Vec<u8> {
        let mut read = Vec::new();
        while let Some(chunk) = source.chunk() {
            read.extend_from_slice(chunk);
        }
        read
    }

    #[test]
    fn a_synthetic_file_has_its_size_to_the_byte() {
        let patterns = Patterns::of(Bytes::new(4096)).unwrap();
        for size in [0, 1, 4095, 4096, 4097, 10_000] {
            let zero = read(patterns.file(Pattern::Zero, Bytes::new(size)));
            assert_eq!(zero, vec![0; Bytes::new(size).len()]);
        }
        let random = read(patterns.file(Pattern::Random, Bytes::new(8192)));
        assert_eq!(random[..4096], random[4096..]);
    }

    /// LZ4 looks back 65535 bytes (the most of common compressors but zstd and xz).
    #[test]
    fn random_bytes_repeat_farther_than_compressors_on_the_way_look_back() {
        let size = Limits::default().buffer;
        let twice = Bytes::new(2 * size.count());
        let sent = read(Patterns::of(size).unwrap().file(Pattern::Random, twice));
        let start = &sent[..32];
        let again = (1..sent.len() - 32).find(|at| &sent[*at..*at + 32] == start);
        assert!(again > Some(65_535), "{again:?}");
    }

    /// The first outputs of the reference implementation for seed 0.
    #[test]
    fn random_bytes_are_those_of_splitmix64() {
        let mut words = [0; 16];
        scramble(&mut words);
        assert_eq!(words[..8], 0xe220_a839_7b1d_cdaf_u64.to_le_bytes());
        assert_eq!(words[8..], 0x6e78_9e6a_a1b9_65f4_u64.to_le_bytes());
    }
}
