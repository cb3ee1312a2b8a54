//! The frames of our own, byte by byte.
//!
//! ```text
//! 0  destination, source (6 + 6)   14  session (4)   18  kind (1), 0 (1)
//! 12 EtherType                     20  length (2)    22  number (4)   26  data, then zeros to 60
//! ```

use btu_sys::netlink::Mac;

/// What a frame is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The number says how many data frames were taken.
    Credit,
    /// The number is that of the frame.
    Data,
    /// The first frame of each end.
    Hello,
}

/// A frame that came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<'f> {
    pub(super) kind: Kind,
    pub(super) number: u32,
    pub(super) from: Mac,
    pub(super) data: &'f [u8],
}

/// What all frames of one end begin with.
#[derive(Clone, Debug)]
pub(super) struct Header([u8; HEADER]);

impl Header {
    /// Nobody is its destination yet.
    pub(super) fn new(from: Mac, ether_type: u16) -> Self {
        let mut bytes = [0; HEADER];
        bytes[6..12].copy_from_slice(&from.0);
        bytes[12..14].copy_from_slice(&ether_type.to_be_bytes());
        Self(bytes)
    }

    /// Frames go there from now on.
    pub(super) fn send_to(&mut self, mac: Mac) {
        self.0[..6].copy_from_slice(&mac.0);
    }

    /// Frames belong to this session from now on.
    pub(super) fn set_session(&mut self, session: u32) {
        self.0[14..18].copy_from_slice(&session.to_be_bytes());
    }

    /// Completes the header and writes the whole frame, which is as long as [`length_of`] says.
    #[inline]
    pub(super) fn write(&mut self, kind: Kind, number: u32, data: &[u8], frame: &mut [u8]) {
        let told = u16::try_from(data.len()).unwrap_or(0);
        self.0[18] = kind.code();
        self.0[20..22].copy_from_slice(&told.to_be_bytes());
        self.0[22..26].copy_from_slice(&number.to_be_bytes());
        let (header, rest) = frame.split_at_mut(HEADER);
        header.copy_from_slice(&self.0);
        let (place, padding) = rest.split_at_mut(data.len());
        place.copy_from_slice(data);
        padding.fill(0);
    }
}

/// The length of a frame with so much data.
pub(super) const fn length_of(data: usize) -> usize {
    if HEADER + data < LEAST { LEAST } else { HEADER + data }
}

/// A frame of the session, if it is one and whole.
#[inline]
pub(super) fn parse(frame: &[u8], session: u32) -> Option<Found<'_>> {
    let header = frame.first_chunk::<HEADER>()?;
    let four = |at: usize| [header[at], header[at + 1], header[at + 2], header[at + 3]];
    if u32::from_be_bytes(four(14)) != session {
        return None;
    }
    let length = usize::from(u16::from_be_bytes([header[20], header[21]]));
    let data = frame.get(HEADER..HEADER + length)?;
    let from = Mac([header[6], header[7], header[8], header[9], header[10], header[11]]);
    let number = u32::from_be_bytes(four(22));
    Kind::of(header[18]).map(|kind| Found { kind, number, from, data })
}

impl Kind {
    const fn code(self) -> u8 {
        match self {
            Self::Credit => 1,
            Self::Data => 2,
            Self::Hello => 3,
        }
    }

    const fn of(code: u8) -> Option<Self> {
        Some(match code {
            1 => Self::Credit,
            2 => Self::Data,
            3 => Self::Hello,
            _ => return None,
        })
    }
}

/// Of the Ethernet header alone.
pub(super) const ETHERNET: usize = 14;
/// Of both headers.
pub(super) const HEADER: usize = 26;
/// The shortest frame without its check sequence.
pub(super) const LEAST: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;

    const NEAR: Mac = Mac([2, 0, 0, 0, 0, 1]);

    #[test]
    fn a_frame_is_read_as_it_was_written() {
        let mut header = Header::new(NEAR, 0x88b5);
        header.send_to(Mac([2, 0, 0, 0, 0, 2]));
        header.set_session(7);
        for data in [&b""[..], b"bits", &[9; 1400]] {
            let mut frame = vec![0xff; length_of(data.len())];
            header.write(Kind::Data, 99, data, &mut frame);
            assert_eq!(frame[..14], [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xb5]);
            assert!(frame.len() >= 60 && frame[HEADER + data.len()..].iter().all(|b| *b == 0));
            let found = parse(&frame, 7).unwrap();
            assert_eq!((found.kind, found.number, found.from), (Kind::Data, 99, NEAR));
            assert_eq!(found.data, data);
        }
    }

    #[test]
    fn a_frame_of_another_session_or_a_cut_one_is_not_ours() {
        let mut frame = [0; 60];
        let mut header = Header::new(NEAR, 0x88b5);
        header.set_session(7);
        header.write(Kind::Data, 99, &[1; 34], &mut frame);
        assert!(parse(&frame, 7).is_some());
        assert!(parse(&frame, 8).is_none());
        assert!(parse(&frame[..59], 7).is_none());
        frame[18] = 9;
        assert!(parse(&frame, 7).is_none());
    }
}
