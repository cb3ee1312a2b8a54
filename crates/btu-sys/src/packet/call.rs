//! The receive form of privileged processes: one `recvmsg` per frame.

use std::io;
use std::io::IoSliceMut;
use std::os::fd::AsRawFd;
use std::os::fd::BorrowedFd;
use std::os::fd::OwnedFd;

use nix::errno::Errno;
use nix::sys::socket::ControlMessageOwned;
use nix::sys::socket::MsgFlags;
use nix::sys::socket::TimestampingFlag;
use nix::sys::socket::Timestamps;
use nix::sys::socket::recvmsg;
use nix::sys::time::TimeValLike;

use super::CALLS_BUFFER;
use super::Losses;
use super::MAX_FRAME;
use super::Received;
use super::VNET_HDR_LEN;
use super::tag;
use super::tag::TAG_LEN;
use super::tag::Tag;
use crate::link_layer;
use crate::option;

/// Buffers of the calls, reused for every frame.
#[derive(Debug)]
pub(super) struct Calls {
    vnet: [u8; VNET_HDR_LEN],
    /// Room for a tag, and the frame.
    space: Vec<u8>,
    control: Vec<u8>,
    buffer: usize,
    losses: Losses,
}

/// A frame that arrived, and what the kernel says beside it.
struct Arrival {
    length: usize,
    stamp_ns: u64,
    tag: Option<Tag>,
}

/// Asks for a socket buffer beyond `rmem_max`; true where it was granted.
pub(super) fn force_buffer(socket: &OwnedFd) -> bool {
    let wanted = i32::try_from(CALLS_BUFFER).unwrap_or(i32::MAX);
    option::set(socket, (libc::SOL_SOCKET, libc::SO_RCVBUFFORCE), wanted).is_ok()
}

/// `SO_TIMESTAMPING`, since `SO_TIMESTAMPNS` never gives back what it asked for before its socket is closed
/// (`__sock_set_timestamps` in `net/core/sock.c`).
pub(super) fn stamp(socket: &OwnedFd, wanted: bool) -> io::Result<()> {
    let asked = if wanted { STAMPS } else { TimestampingFlag::empty() };
    option::set(socket, (libc::SOL_SOCKET, libc::SO_TIMESTAMPING), asked.bits())
}

const STAMPS: TimestampingFlag = TimestampingFlag::SOF_TIMESTAMPING_RX_SOFTWARE
    .union(TimestampingFlag::SOF_TIMESTAMPING_SOFTWARE);

impl Calls {
    pub(super) fn new(socket: &OwnedFd) -> io::Result<Self> {
        stamp(socket, true)?;
        link_layer::set(socket, libc::PACKET_AUXDATA, 1)?;
        Ok(Self {
            vnet: [0; VNET_HDR_LEN],
            space: vec![0; TAG_LEN + MAX_FRAME],
            control: nix::cmsg_space!(Timestamps, libc::tpacket_auxdata),
            buffer: socket2::SockRef::from(socket).recv_buffer_size()?,
            losses: Losses::default(),
        })
    }

    /// `None` where nothing waits. A frame that has no `virtio_net_hdr` is refused by the kernel
    /// with EINVAL and lost; the next one is tried.
    pub(super) fn receive(&mut self, socket: BorrowedFd<'_>) -> io::Result<Option<Received<'_>>> {
        let Arrival { length, stamp_ns, tag } = loop {
            match self.call(socket) {
                Ok(Some(found)) => break found,
                Ok(None) => self.losses.truncated += 1,
                Err(Errno::EINVAL) => self.losses.dropped += 1,
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => return Ok(None),
                Err(cause) => return Err(cause.into()),
            }
        };
        let frame = tag::restored(tag, &mut self.vnet, &mut self.space[..TAG_LEN + length]);
        Ok(Some(Received { vnet: self.vnet, frame, stamp_ns }))
    }

    /// One frame; `None` for one that did not fit.
    fn call(&mut self, socket: BorrowedFd<'_>) -> nix::Result<Option<Arrival>> {
        let frame = &mut self.space[TAG_LEN..];
        let mut parts = [IoSliceMut::new(&mut self.vnet), IoSliceMut::new(frame)];
        let control = Some(self.control.as_mut_slice());
        let flags = MsgFlags::MSG_DONTWAIT;
        let message = recvmsg::<()>(socket.as_raw_fd(), &mut parts, control, flags)?;
        let (mut stamp, mut tag) = (None, None);
        for beside in message.cmsgs()? {
            match beside {
                ControlMessageOwned::ScmTimestampsns(at) => {
                    stamp = u64::try_from(at.system.num_nanoseconds()).ok();
                }
                ControlMessageOwned::Unknown(other) => tag = tag_beside(&other.data_bytes),
                _ => {}
            }
        }
        let is_whole = !message.flags.contains(MsgFlags::MSG_TRUNC);
        let length = message.bytes.saturating_sub(VNET_HDR_LEN);
        let stamp_ns = stamp.unwrap_or_else(crate::clock::realtime_ns);
        Ok(is_whole.then_some(Arrival { length, stamp_ns, tag }))
    }

    pub(super) fn take_losses(&mut self) -> Losses {
        std::mem::take(&mut self.losses)
    }

    pub(super) fn buffer_bytes(&self) -> usize {
        self.buffer
    }
}

/// The tag in a `tpacket_auxdata`, the only message of a packet socket that nix does not know.
fn tag_beside(auxiliary: &[u8]) -> Option<Tag> {
    let status = auxiliary.first_chunk().copied().map(u32::from_ne_bytes)?;
    let [.., control, protocol] = auxiliary.as_chunks().0 else { return None };
    Tag::of(status, u16::from_ne_bytes(*control), u16::from_ne_bytes(*protocol))
}
