//! The frames of the transport `raw`, byte by byte.
//!
//! ```text
//! 0  destination, source (6 + 6)   14  session (4)   18  kind (1), 0 (1)
//! 12 EtherType                     20  length (2)    22  number (4)   26  data, then zeros to 60
//! ```

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use btu_core::pingpong::configuration::Wait;
use btu_sys::exchange;
use btu_sys::exchange::Call;
use btu_sys::exchange::Framing;
use btu_sys::exchange::Ready;
use btu_sys::frame::FrameSocket;
use btu_sys::frame::OwnLink;
use btu_sys::netlink::Mac;

use crate::error::EngineError;

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
pub(super) struct Found {
    pub(super) kind: Kind,
    pub(super) number: u32,
    pub(super) from: Mac,
    length: usize,
}

/// A socket with the memory for one frame in each direction.
pub(super) struct Frames {
    socket: FrameSocket,
    out: Vec<u8>,
    space: Vec<u8>,
    session: u32,
}

impl Frames {
    /// `types`: the one to receive and the one to send.
    pub(super) fn open(link: OwnLink, types: [u16; 2], session: u32) -> Result<Self, EngineError> {
        let socket = FrameSocket::open(link.index, types[0], RECEIVE_BUFFER)?;
        socket.bound_waits(GLANCE)?;
        // The loopback would take 64 KiB: a frame here is what a cable carries.
        let length = usize::try_from(link.mtu.min(LARGEST_MTU)).unwrap_or(0) + ETHERNET;
        let mut out = vec![0; length.max(LEAST)];
        out[6..12].copy_from_slice(&link.mac.0);
        out[12..14].copy_from_slice(&types[1].to_be_bytes());
        out[14..18].copy_from_slice(&session.to_be_bytes());
        let space = vec![0; out.len()];
        Ok(Self { socket, out, space, session })
    }

    /// Frames go there from now on.
    pub(super) fn send_to(&mut self, mac: Mac) {
        self.out[..6].copy_from_slice(&mac.0);
    }

    /// Bytes of a block that one frame holds.
    pub(super) fn payload(&self) -> usize {
        self.out.len() - HEADER
    }

    /// How many frames the receive buffer holds for sure: the kernel counts more than their bytes.
    pub(super) fn window(&self) -> u32 {
        let cost = self.out.len().next_power_of_two() + 1024;
        let fit = self.socket.buffer_bytes() / 2 / cost;
        u32::try_from(fit).unwrap_or(u32::MAX).clamp(8, 1024)
    }

    #[inline]
    pub(super) fn send(&mut self, kind: Kind, number: u32, data: &[u8]) -> io::Result<()> {
        let length = HEADER + data.len();
        self.out[18] = kind.code();
        let told = u16::try_from(data.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        self.out[20..22].copy_from_slice(&told.to_be_bytes());
        self.out[22..26].copy_from_slice(&number.to_be_bytes());
        self.out[HEADER..length].copy_from_slice(data);
        if length < LEAST {
            self.out[length..LEAST].fill(0);
        }
        let frame = &self.out[..length.max(LEAST)];
        loop {
            match exchange::send(self.socket.as_fd(), frame, Call::AtOnce) {
                // The link's queue is full for a moment.
                Err(cause) if is_full(&cause) => std::thread::yield_now(),
                outcome => return outcome.map(drop),
            }
        }
    }

    /// The next frame of this session; nothing for one of another.
    #[inline]
    pub(super) fn recv(&mut self, wait: Wait) -> io::Result<Option<Found>> {
        let call = if wait == Wait::Spin { Call::AtOnce } else { Call::Sleeping };
        let socket = self.socket.as_fd();
        let length = exchange::recv(socket, &mut self.space, call, Framing::Message)?;
        Ok(self.space.get(..length).and_then(|frame| parse(frame, self.session)))
    }

    /// The bytes of the frame that came last.
    #[inline]
    pub(super) fn data(&self, found: Found) -> &[u8] {
        &self.space[HEADER..HEADER + found.length]
    }

    /// Sleeps until a frame came, or a moment is over.
    pub(super) fn wait(&self) -> io::Result<()> {
        exchange::poll(self.socket.as_fd(), Ready::Read, Some(Duration::from_millis(1))).map(drop)
    }
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

/// A frame of the session, if it is one and whole.
#[inline]
fn parse(frame: &[u8], session: u32) -> Option<Found> {
    let header = frame.first_chunk::<HEADER>()?;
    let four = |at: usize| [header[at], header[at + 1], header[at + 2], header[at + 3]];
    let length = usize::from(u16::from_be_bytes([header[20], header[21]]));
    let is_ours = u32::from_be_bytes(four(14)) == session && HEADER + length <= frame.len();
    let from = Mac([header[6], header[7], header[8], header[9], header[10], header[11]]);
    let number = u32::from_be_bytes(four(22));
    Kind::of(header[18]).filter(|_| is_ours).map(|kind| Found { kind, number, from, length })
}

fn is_full(cause: &io::Error) -> bool {
    const ENOBUFS: i32 = 105;
    cause.kind() == io::ErrorKind::WouldBlock || cause.raw_os_error() == Some(ENOBUFS)
}

/// Local Experimental `EtherType` 1 of IEEE 802, here from the near to the far end.
pub(super) const TO_FAR: u16 = 0x88b5;

/// Local Experimental `EtherType` 2 of IEEE 802, here from the far to the near end.
pub(super) const TO_NEAR: u16 = 0x88b6;

const ETHERNET: usize = 14;
const HEADER: usize = 26;
/// The shortest frame without its check sequence.
const LEAST: usize = 60;
const LARGEST_MTU: u32 = 9000;
const RECEIVE_BUFFER: usize = 8 << 20;
/// How long a sleeping end takes to see that its connection was ended.
const GLANCE: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_of_another_session_or_a_cut_one_is_not_ours() {
        let mut frame = [0; 60];
        frame[14..18].copy_from_slice(&7_u32.to_be_bytes());
        frame[18] = Kind::Data.code();
        frame[20..22].copy_from_slice(&34_u16.to_be_bytes());
        frame[22..26].copy_from_slice(&99_u32.to_be_bytes());
        let found = parse(&frame, 7).unwrap();
        assert_eq!((found.kind, found.number, found.length), (Kind::Data, 99, 34));
        assert!(parse(&frame, 8).is_none());
        assert!(parse(&frame[..59], 7).is_none());
        frame[18] = 9;
        assert!(parse(&frame, 7).is_none());
    }
}
