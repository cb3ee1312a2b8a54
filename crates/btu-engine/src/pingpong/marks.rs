//! The first byte of a block: what the other end must know, and who the block is.
//!
//! ```text
//! bit 0     the last exchange of the visit
//! bit 1     the end of a timed unit: acknowledge (streaming)
//! bits 2-7  in a checked pass, the number of the exchange
//! ```

/// This exchange is the last of the visit.
pub(super) const LAST: u8 = 1;

/// This block ends a timed unit of a one-way stream.
pub(super) const ACKNOWLEDGE: u8 = 2;

/// The bits that are marks.
pub(super) const MARKS: u8 = LAST | ACKNOWLEDGE;

/// Writes the marks into a block.
#[inline]
pub(super) fn put(block: &mut [u8], marks: u8) {
    if let Some(first) = block.first_mut() {
        *first = marks;
    }
}

/// The marks of a block.
#[inline]
pub(super) fn of(block: &[u8]) -> u8 {
    block.first().map_or(0, |first| first & MARKS)
}
