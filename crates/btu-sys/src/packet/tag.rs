//! VLAN tags: the kernel takes them out of a frame before packet sockets see it, and says beside the
//! frame what they were (`linux/if_packet.h`).

use super::VNET_HDR_LEN;

/// Size of a tag.
pub(super) const TAG_LEN: usize = GROWTH as usize;

/// A tag that was taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag {
    protocol: u16,
    control: u16,
}

impl Tag {
    /// What stands beside a frame: status, control information, protocol.
    pub(super) fn of(status: u32, control: u16, protocol: u16) -> Option<Self> {
        let says = |bit| status & bit != 0;
        let protocol =
            if says(libc::TP_STATUS_VLAN_TPID_VALID) { protocol } else { ETHERTYPE_VLAN };
        says(libc::TP_STATUS_VLAN_VALID).then_some(Self { protocol, control })
    }

    /// What `vnet` counts from the start of the frame moves along.
    fn put(self, vnet: &mut [u8; VNET_HDR_LEN], space: &mut [u8]) {
        let Some(head) = space.first_chunk_mut::<{ ADDRESSES + TAG_LEN }>() else { return };
        head.copy_within(TAG_LEN.., 0);
        let [.., first, second, third, fourth] = head;
        [*first, *second] = self.protocol.to_be_bytes();
        [*third, *fourth] = self.control.to_be_bytes();
        if vnet[FLAGS] & NEEDS_CHECKSUM != 0 {
            lengthen(vnet, CHECKSUM_START);
        }
        if vnet[GSO_TYPE] != 0 {
            lengthen(vnet, HEADERS_LENGTH);
        }
    }
}

/// The frame that begins [`TAG_LEN`] bytes into `space`, with its tag behind the addresses again.
pub(super) fn restored<'a>(
    tag: Option<Tag>,
    vnet: &mut [u8; VNET_HDR_LEN],
    space: &'a mut [u8],
) -> &'a [u8] {
    let Some(tag) = tag else { return space.get(TAG_LEN..).unwrap_or_default() };
    tag.put(vnet, space);
    space
}

/// A field of the `virtio_net_hdr` in the byte order of this machine.
fn lengthen(vnet: &mut [u8; VNET_HDR_LEN], at: usize) {
    let length = u16::from_ne_bytes([vnet[at], vnet[at + 1]]).saturating_add(GROWTH);
    [vnet[at], vnet[at + 1]] = length.to_ne_bytes();
}

const GROWTH: u16 = 4;
const ADDRESSES: usize = 12;
const ETHERTYPE_VLAN: u16 = 0x8100;
/// Offsets in a `virtio_net_hdr` (`linux/virtio_net.h`).
const FLAGS: usize = 0;
const GSO_TYPE: usize = 1;
const HEADERS_LENGTH: usize = 2;
const CHECKSUM_START: usize = 6;
/// Of its flags.
const NEEDS_CHECKSUM: u8 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    const VALID: u32 = libc::TP_STATUS_VLAN_VALID;

    #[test]
    fn a_tag_stands_behind_the_addresses_and_offsets_move_along() {
        let mut space = *b"room<dest><from>type";
        let mut vnet = [NEEDS_CHECKSUM, 1, 0, 0, 0, 0, 0, 0, 16, 0];
        [vnet[2], vnet[3]] = 54_u16.to_ne_bytes();
        [vnet[6], vnet[7]] = 34_u16.to_ne_bytes();
        let tag = Tag::of(VALID | libc::TP_STATUS_VLAN_TPID_VALID, 0x2064, 0x88a8).unwrap();
        assert_eq!(restored(None, &mut vnet, &mut space), b"<dest><from>type");
        let frame = restored(Some(tag), &mut vnet, &mut space);
        assert_eq!(frame, b"<dest><from>\x88\xa8\x20\x64type");
        assert_eq!((vnet[2], vnet[6]), (58_u16.to_ne_bytes()[0], 38_u16.to_ne_bytes()[0]));
        let mut plain = [0; VNET_HDR_LEN];
        restored(Some(tag), &mut plain, &mut space);
        assert_eq!(plain, [0; VNET_HDR_LEN], "nothing is left to do to this one");
    }

    #[test]
    fn a_frame_has_a_tag_where_the_kernel_says_so() {
        assert_eq!(Tag::of(libc::TP_STATUS_USER, 5, 0x8100), None);
        let priority = Tag::of(VALID, 0, 0).unwrap();
        assert_eq!(priority, Tag { protocol: 0x8100, control: 0 });
    }
}
