//! Flipping a bit so that the receiver can notice it.
//!
//! A frame whose checksum is still to be completed is trusted by the receiving kernel: a bit
//! flipped in it would reach the application. So the checksum is completed first.

use super::Frame;
use super::checksum::Sum;
use super::vnet::NEEDS_CSUM;
use super::vnet::Vnet;

/// One wire packet with bit `choice` (modulo its length) behind the IP header flipped; the frame
/// starts with its Ethernet header. Returns the header to send it with.
pub fn corrupted(vnet: Vnet, frame: &mut [u8], choice: u64) -> Vnet {
    let Frame::Counted(shape) = super::read(vnet, frame) else { return vnet };
    complete_checksum(vnet, &mut frame[..shape.layout.end]);
    let body = &mut frame[shape.layout.l4..shape.layout.end];
    let bits = u64::try_from(body.len()).unwrap_or(u64::MAX).saturating_mul(8);
    if let Some(bit) = choice.checked_rem(bits) {
        let byte = usize::try_from(bit / 8).unwrap_or(usize::MAX);
        body[byte] ^= 1 << (bit % 8);
    }
    Vnet::default()
}

/// Does what the last sender's hardware would do for a frame marked `NEEDS_CSUM`.
pub(super) fn complete_checksum(vnet: Vnet, frame: &mut [u8]) {
    let start = usize::from(vnet.csum_start);
    let place = start + usize::from(vnet.csum_offset);
    if vnet.flags & NEEDS_CSUM == 0 || place + 2 > frame.len() {
        return;
    }
    let sum = !Sum::default().bytes(&frame[start..]).fold();
    // RFC 768: a UDP sum of zero means "none", so zero is sent as all ones.
    let sum = if sum == 0 { 0xffff } else { sum };
    frame[place..place + 2].copy_from_slice(&sum.to_be_bytes());
}
