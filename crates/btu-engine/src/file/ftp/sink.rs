//! Where an FTP server puts what it receives, one buffer at a time.

use btu_sys::memory::Buffer;

use super::store::Draft;
use super::store::StoreError;

/// Takes the bytes of one transfer.
pub(super) trait Sink {
    /// Room for one call of the system, never empty.
    fn space(&mut self) -> Result<&mut [u8], StoreError>;

    /// So many bytes of the room are taken.
    fn filled(&mut self, count: usize);
}

/// Throws everything away.
#[derive(Debug)]
pub(super) struct Discard<'a>(pub(super) &'a mut Buffer);

impl Sink for Discard<'_> {
    fn space(&mut self) -> Result<&mut [u8], StoreError> {
        Ok(self.0)
    }

    fn filled(&mut self, _count: usize) {}
}

impl Sink for Draft {
    fn space(&mut self) -> Result<&mut [u8], StoreError> {
        self.room()
    }

    fn filled(&mut self, count: usize) {
        self.take(count);
    }
}
