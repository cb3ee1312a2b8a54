//! `virtio_net_hdr`: the ten bytes before a frame that say what is left to do to it.

/// Size of the header.
pub const VNET_LEN: usize = 10;

/// The header (`linux/virtio_net.h`), native byte order on packet sockets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vnet {
    /// 1: the checksum is still to be completed; 2: it was verified.
    pub flags: u8,
    /// 0 none, 1 TCP over IPv4, 3 UDP fragmentation, 4 TCP over IPv6, 5 UDP; 0x80 added for ECN.
    pub gso_type: u8,
    /// Bytes of all headers; a hint.
    pub hdr_len: u16,
    /// Payload bytes of each wire packet but the last.
    pub gso_size: u16,
    /// Where summing starts, from the Ethernet header.
    pub csum_start: u16,
    /// Where the checksum goes, from there.
    pub csum_offset: u16,
}

impl Vnet {
    /// Reads the header.
    pub fn from_bytes(bytes: [u8; VNET_LEN]) -> Self {
        let [flags, gso_type, rest @ ..] = bytes;
        let field = |at: usize| u16::from_ne_bytes([rest[at], rest[at + 1]]);
        Self {
            flags,
            gso_type,
            hdr_len: field(0),
            gso_size: field(2),
            csum_start: field(4),
            csum_offset: field(6),
        }
    }

    /// True of a frame that stands for several packets.
    pub const fn is_super(self) -> bool {
        self.gso_type != GSO_NONE
    }

    /// Writes the header.
    pub fn to_bytes(self) -> [u8; VNET_LEN] {
        let mut bytes = [0; VNET_LEN];
        bytes[0] = self.flags;
        bytes[1] = self.gso_type;
        let fields = [self.hdr_len, self.gso_size, self.csum_start, self.csum_offset];
        for (place, field) in bytes[2..].chunks_exact_mut(2).zip(fields) {
            place.copy_from_slice(&field.to_ne_bytes());
        }
        bytes
    }
}

pub(super) const NEEDS_CSUM: u8 = 1;
pub(super) const GSO_NONE: u8 = 0;
pub(super) const GSO_TCPV4: u8 = 1;
pub(super) const GSO_TCPV6: u8 = 4;
pub(super) const GSO_UDP_L4: u8 = 5;
pub(super) const GSO_ECN: u8 = 0x80;
