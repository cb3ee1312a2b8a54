//! What stands in a frame before its payload.

/// What a frame is for, and so what its receiver does with it at once: its handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only tells what came and how much more may come.
    Credit,
    /// A part of the bytes.
    Data,
    /// The last frame: no byte follows.
    End,
    /// Shows that frames pass at all.
    Hello,
}

/// A frame without its payload and its addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What it is for.
    pub kind: Kind,
    /// Its sender wants to be told at once what came.
    pub asks: bool,
    /// Frames from `taken` on were lost.
    pub tells_loss: bool,
    /// The frame's own number; 0 where it has none.
    pub number: u32,
    /// All frames of the other direction before this number came.
    pub taken: u32,
    /// Frames of the other direction before this number may be sent: the credit.
    pub limit: u32,
    /// The length of its payload, which is less than an Ethernet frame.
    pub length_bytes: u16,
}

/// Who sends a frame, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// The number by which one rank of one launch is known on a link.
    pub endpoint: u32,
    /// The rank that sends.
    pub from: u16,
}

impl Header {
    /// Bytes of a header with its addresses.
    pub const BYTES: usize = 22;

    /// The addresses first, each number with its highest byte first.
    #[inline]
    pub fn encode(&self, addresses: Addresses) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..4].copy_from_slice(&addresses.endpoint.to_be_bytes());
        bytes[4..6].copy_from_slice(&addresses.from.to_be_bytes());
        bytes[6] = self.kind.code();
        bytes[7] = u8::from(self.asks) * ASKS + u8::from(self.tells_loss) * TELLS_LOSS;
        bytes[8..12].copy_from_slice(&self.number.to_be_bytes());
        bytes[12..16].copy_from_slice(&self.taken.to_be_bytes());
        bytes[16..20].copy_from_slice(&self.limit.to_be_bytes());
        bytes[20..].copy_from_slice(&self.length_bytes.to_be_bytes());
        bytes
    }

    /// Addresses, header and payload of a frame, if it is one of ours and whole.
    #[inline]
    pub fn parse(bytes: &[u8]) -> Option<(Addresses, Self, &[u8])> {
        let header = bytes.first_chunk::<{ Self::BYTES }>()?;
        let two = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
        let four = |at: usize| u32::from(two(at)) << 16 | u32::from(two(at + 2));
        let length_bytes = two(20);
        let payload = bytes.get(Self::BYTES..Self::BYTES + usize::from(length_bytes))?;
        let addresses = Addresses { endpoint: four(0), from: two(4) };
        let (number, taken, limit) = (four(8), four(12), four(16));
        let kind = Kind::of(header[6])?;
        let (asks, tells_loss) = (header[7] & ASKS != 0, header[7] & TELLS_LOSS != 0);
        let header = Self { kind, asks, tells_loss, number, taken, limit, length_bytes };
        Some((addresses, header, payload))
    }
}

impl Kind {
    const fn code(self) -> u8 {
        match self {
            Self::Credit => 1,
            Self::Data => 2,
            Self::End => 3,
            Self::Hello => 4,
        }
    }

    const fn of(code: u8) -> Option<Self> {
        Some(match code {
            1 => Self::Credit,
            2 => Self::Data,
            3 => Self::End,
            4 => Self::Hello,
            _ => return None,
        })
    }
}

const ASKS: u8 = 1;
const TELLS_LOSS: u8 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: Header = Header {
        kind: Kind::Data,
        asks: true,
        tells_loss: false,
        number: 0xffff_fffe,
        taken: 0x0102_0304,
        limit: 7,
        length_bytes: 3,
    };

    #[test]
    fn a_header_is_read_as_it_was_written() {
        let addresses = Addresses { endpoint: 0xdead_beef, from: 300 };
        for kind in [Kind::Credit, Kind::Data, Kind::End, Kind::Hello] {
            let header = Header { kind, tells_loss: kind == Kind::End, ..HEADER };
            let mut frame = header.encode(addresses).to_vec();
            frame.extend(b"btu, then padding");
            assert_eq!(Header::parse(&frame), Some((addresses, header, &b"btu"[..])));
        }
    }

    #[test]
    fn a_cut_frame_or_one_of_another_kind_is_not_ours() {
        let mut frame = HEADER.encode(Addresses { endpoint: 1, from: 2 }).to_vec();
        assert!(Header::parse(&frame).is_none() && Header::parse(&frame[..21]).is_none());
        frame.extend(b"btu");
        assert!(Header::parse(&frame).is_some());
        frame[6] = 9;
        assert!(Header::parse(&frame).is_none());
    }
}
