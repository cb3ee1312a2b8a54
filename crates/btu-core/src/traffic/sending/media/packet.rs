//! What a packet of media says of itself.

use crate::units::Nanos;

/// The head of a packet; what follows is filling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Its number among all packets, from 0. What is sent again has a new one.
    pub number: u64,
    /// What it is.
    pub kind: Kind,
    /// How long its receiver may wait for what is missing of a frame, as it can still be sent again.
    pub patience: Nanos,
}

/// What a packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 20 ms of speech.
    Speech,
    /// A part of a frame.
    Video {
        /// The frame, from 0.
        frame: u32,
        /// Which of its packets, from 0.
        part: u16,
        /// How many it has.
        parts: u16,
        /// Whether it can be shown without the frames before it.
        is_key: bool,
    },
}

impl Head {
    /// The bytes with which the packet begins.
    pub fn write(&self) -> [u8; HEAD] {
        let mut data = [0; HEAD];
        data[..8].copy_from_slice(&self.number.to_le_bytes());
        let patience_us = u32::try_from(self.patience.count() / 1000).unwrap_or(u32::MAX);
        data[8..12].copy_from_slice(&patience_us.to_le_bytes());
        if let Kind::Video { frame, part, parts, is_key } = self.kind {
            data[12] = if is_key { KEY } else { PLAIN };
            data[13..17].copy_from_slice(&frame.to_le_bytes());
            data[17..19].copy_from_slice(&part.to_le_bytes());
            data[19..21].copy_from_slice(&parts.to_le_bytes());
        }
        data
    }

    /// What a packet says; nothing where it is none of these.
    pub fn read(data: &[u8]) -> Option<Self> {
        let number = u64::from_le_bytes(at(data, 0)?);
        let patience = Nanos::from_micros(u32::from_le_bytes(at(data, 8)?).into());
        let [flag] = at(data, 12)?;
        let frame = u32::from_le_bytes(at(data, 13)?);
        let [part, parts] = [u16::from_le_bytes(at(data, 17)?), u16::from_le_bytes(at(data, 19)?)];
        let kind = match flag {
            SPEECH => Kind::Speech,
            PLAIN | KEY if part < parts => Kind::Video { frame, part, parts, is_key: flag == KEY },
            _ => return None,
        };
        Some(Self { number, kind, patience })
    }
}

/// So many bytes from a place on.
pub(super) fn at<const N: usize>(data: &[u8], place: usize) -> Option<[u8; N]> {
    data.get(place..place.checked_add(N)?)?.try_into().ok()
}

/// Bytes of a head: no packet is shorter.
pub const HEAD: usize = 21;
const SPEECH: u8 = 0;
const PLAIN: u8 = 1;
const KEY: u8 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_as_it_was_written_and_nothing_else_is() {
        let video = Kind::Video { frame: 77, part: 2, parts: 9, is_key: true };
        for kind in [Kind::Speech, video] {
            let head = Head { number: 1 << 33, kind, patience: Nanos::from_millis(150) };
            let data = head.write();
            assert_eq!(Head::read(&[&data[..], &[9; 50]].concat()), Some(head));
            assert_eq!(Head::read(&data[..HEAD - 1]), None);
        }
        let mut data = Head { number: 1, kind: video, patience: Nanos::ZERO }.write();
        data[12] = 7;
        assert_eq!(Head::read(&data), None, "no kind");
        data[12] = PLAIN;
        data[19] = 2;
        assert_eq!(Head::read(&data), None, "part 2 of 2");
    }
}
