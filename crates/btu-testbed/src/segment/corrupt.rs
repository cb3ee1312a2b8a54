//! Flipping a bit so that the receiver can notice it.
//!
//! A frame whose checksum is still to be completed is trusted by the receiving kernel: a bit
//! flipped in it would reach the application. So the checksum is completed first.

use super::Frame;
use super::checksum::Sum;
use super::vnet::NEEDS_CSUM;
use super::vnet::Vnet;

/// Flips one bit of a wire packet, counted from the first of its IP header, and modulo its length;
/// the frame starts with its Ethernet header. Returns the header to send it with.
pub fn corrupted(vnet: Vnet, frame: &mut [u8], bit: u32) -> Vnet {
    let Frame::Counted(shape) = super::read(vnet, frame) else { return vnet };
    complete_checksum(vnet, &mut frame[..shape.layout.end]);
    let packet = &mut frame[shape.layout.l3..shape.layout.end];
    let bit = usize::try_from(bit).unwrap_or(usize::MAX);
    if let Some(place) = (bit / 8).checked_rem(packet.len()) {
        packet[place] ^= 0x80 >> (bit % 8);
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
