//! The receive form of privileged processes: one `recvmsg` per frame.

use std::io;
use std::io::IoSliceMut;
use std::os::fd::AsRawFd;
use std::os::fd::BorrowedFd;
use std::os::fd::OwnedFd;

use nix::errno::Errno;
use nix::sys::socket::ControlMessageOwned;
use nix::sys::socket::MsgFlags;
use nix::sys::socket::recvmsg;
use nix::sys::time::TimeSpec;
use nix::sys::time::TimeValLike;

use super::CALLS_BUFFER;
use super::Losses;
use super::MAX_FRAME;
use super::Received;
use super::VNET_HDR_LEN;

/// Buffers of the calls, reused for every frame.
#[derive(Debug)]
pub(super) struct Calls {
    vnet: [u8; VNET_HDR_LEN],
    frame: Vec<u8>,
    control: Vec<u8>,
    buffer: usize,
    losses: Losses,
}

/// Asks for a socket buffer beyond `rmem_max`; true where it was granted.
pub(super) fn force_buffer(socket: &OwnedFd) -> bool {
    let wanted = i32::try_from(CALLS_BUFFER).unwrap_or(i32::MAX);
    super::set_option(socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &wanted).is_ok()
}

impl Calls {
    pub(super) fn new(socket: &OwnedFd) -> io::Result<Self> {
        super::set_option(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &1_i32)?;
        Ok(Self {
            vnet: [0; VNET_HDR_LEN],
            frame: vec![0; MAX_FRAME],
            control: nix::cmsg_space!(TimeSpec),
            buffer: socket2::SockRef::from(socket).recv_buffer_size()?,
            losses: Losses::default(),
        })
    }

    /// `None` where nothing waits. A frame that has no `virtio_net_hdr` is refused by the kernel
    /// with EINVAL and lost; the next one is tried.
    pub(super) fn receive(&mut self, socket: BorrowedFd<'_>) -> io::Result<Option<Received<'_>>> {
        let (length, stamp_ns) = loop {
            match self.call(socket) {
                Ok(Some(found)) => break found,
                Ok(None) => self.losses.truncated += 1,
                Err(Errno::EINVAL) => self.losses.dropped += 1,
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => return Ok(None),
                Err(cause) => return Err(cause.into()),
            }
        };
        let frame = self.frame.get(..length).unwrap_or_default();
        Ok(Some(Received { vnet: self.vnet, frame, stamp_ns }))
    }

    /// Length and stamp of one frame; `None` for one that did not fit.
    fn call(&mut self, socket: BorrowedFd<'_>) -> nix::Result<Option<(usize, u64)>> {
        let mut parts = [IoSliceMut::new(&mut self.vnet), IoSliceMut::new(&mut self.frame)];
        let control = Some(self.control.as_mut_slice());
        let flags = MsgFlags::MSG_DONTWAIT;
        let message = recvmsg::<()>(socket.as_raw_fd(), &mut parts, control, flags)?;
        let stamp = message.cmsgs()?.find_map(|control| match control {
            ControlMessageOwned::ScmTimestampns(stamp) => {
                u64::try_from(stamp.num_nanoseconds()).ok()
            }
            _ => None,
        });
        let is_whole = !message.flags.contains(MsgFlags::MSG_TRUNC);
        let length = message.bytes.saturating_sub(VNET_HDR_LEN);
        Ok(is_whole.then(|| (length, stamp.unwrap_or_else(crate::clock::realtime_ns))))
    }

    pub(super) fn take_losses(&mut self) -> Losses {
        std::mem::take(&mut self.losses)
    }

    pub(super) fn buffer_bytes(&self) -> usize {
        self.buffer
    }
}
