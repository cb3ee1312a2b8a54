//! Whole frames from and to one link, with their `virtio_net_hdr` and the kernel's arrival stamp.
//!
//! An `AF_PACKET` socket with `PACKET_VNET_HDR` sees super-packets as the offloading kernel hands
//! them over, and can send them again unharmed. Two receive forms: `recvmsg` calls where the
//! kernel grants a large socket buffer (root), else a mapped ring, since an ordinary user's socket
//! buffer holds only a few super-packets.

mod call;
mod filter;
mod inlet;
mod ring;
mod tag;
mod tap;

use std::fmt;
use std::io;
use std::io::IoSlice;
use std::os::fd::AsFd;
use std::os::fd::BorrowedFd;
use std::os::fd::OwnedFd;

use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::SendTimeout;
use nix::sys::time::TimeVal;

use crate::Error;
use crate::Result;
use crate::link_layer;
use crate::link_layer::EVERY_TYPE;
use crate::option;

use call::Calls;
use ring::Geometry;
use ring::Ring;

pub use inlet::Inlet;
pub use tap::Tap;

/// Size of the `virtio_net_hdr` before each frame.
pub const VNET_HDR_LEN: usize = 10;

/// The largest frame that a kernel with `gso_max_size` 65536 hands over, and some room.
pub const MAX_FRAME: usize = 68 * 1024;

/// How frames reach user space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveForm {
    /// One `recvmsg` per frame, out of the socket's buffer.
    Calls,
    /// A `TPACKET_V2` ring that the kernel copies frames into.
    Ring,
}

/// A frame that arrived.
#[derive(Clone, Copy, Debug)]
pub struct Received<'a> {
    /// The `virtio_net_hdr`.
    pub vnet: [u8; VNET_HDR_LEN],
    /// From the Ethernet header on, with the VLAN tag that the kernel took out.
    pub frame: &'a [u8],
    /// When the kernel took it from the link, nanoseconds of `CLOCK_REALTIME`.
    pub stamp_ns: u64,
}

/// The beginning of a frame that passed.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// From the Ethernet header on, as much as was kept; without the VLAN tag that the kernel took out.
    pub bytes: &'a [u8],
    /// Size of the whole frame.
    pub length: usize,
    /// When the kernel saw it, nanoseconds of `CLOCK_REALTIME`.
    pub stamp_ns: u64,
    /// True for what this host sent.
    pub is_outgoing: bool,
}

/// Frames that did not reach user space since the previous reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Frames that found ring or socket buffer full, or of a kind that has no `virtio_net_hdr`.
    pub dropped: u64,
    /// Frames longer than [`MAX_FRAME`], lost as well.
    pub truncated: u64,
}

/// A socket on one link.
#[derive(Debug)]
pub struct PacketSocket {
    socket: OwnedFd,
    receive: Receive,
}

#[derive(Debug)]
enum Receive {
    Calls(Calls),
    Ring(Ring),
}

impl PacketSocket {
    /// Opens a socket on `link` (an interface index of the calling thread's namespace). Without a
    /// `form`, calls where the kernel grants [`CALLS_BUFFER`], else the ring.
    pub fn open(link: u32, form: Option<ReceiveForm>) -> Result<Self> {
        let what = |step: &str| format!("{step} of a packet socket on link {link}");
        let socket = link_layer::open().map_err(|cause| Error::new(what("creation"), cause))?;
        let options = [
            (libc::PACKET_VNET_HDR, "PACKET_VNET_HDR"),
            (libc::PACKET_IGNORE_OUTGOING, "PACKET_IGNORE_OUTGOING"),
            (libc::PACKET_QDISC_BYPASS, "PACKET_QDISC_BYPASS"),
        ];
        for (option, name) in options {
            link_layer::set(&socket, option, 1).map_err(|cause| Error::new(what(name), cause))?;
        }
        // A device that stalls must not stop whoever sends: it is an error then.
        setsockopt(&socket, SendTimeout, &LONGEST_SEND)
            .map_err(|cause| Error::new(what("SO_SNDTIMEO"), cause))?;
        let calls = form != Some(ReceiveForm::Ring)
            && (call::force_buffer(&socket) || form == Some(ReceiveForm::Calls));
        let receive = if calls {
            Calls::new(&socket).map(Receive::Calls)
        } else {
            Ring::new(&socket, Geometry::WHOLE).map(Receive::Ring)
        };
        let receive = receive.map_err(|cause| Error::new(what("receive buffer"), cause))?;
        link_layer::bind(&socket, link, EVERY_TYPE)
            .map_err(|cause| Error::new(what("binding"), cause))?;
        Ok(Self { socket, receive })
    }

    /// The next frame, if there is one. In a ring its place is given back at the next call.
    pub fn receive(&mut self) -> io::Result<Option<Received<'_>>> {
        match &mut self.receive {
            Receive::Calls(calls) => calls.receive(self.socket.as_fd()),
            Receive::Ring(ring) => Ok(ring.receive()),
        }
    }

    /// Whether the kernel stamps what arrives; a new socket has stamps. Where one call receives one frame, the kernel
    /// then reads the clock for every packet of the machine, whoever it is for (`netstamp_needed_key`): who waits for
    /// nothing need not have that. A frame that has no stamp counts as come when it is received.
    pub fn stamp(&self, wanted: bool) -> io::Result<()> {
        match &self.receive {
            Receive::Calls(_) => call::stamp(&self.socket, wanted),
            Receive::Ring(_) => Ok(()),
        }
    }

    /// Sends one frame: its `virtio_net_hdr`, its headers, its payload.
    pub fn send(
        &self,
        vnet: &[u8; VNET_HDR_LEN],
        headers: &[u8],
        payload: &[u8],
    ) -> io::Result<()> {
        let parts = [IoSlice::new(vnet), IoSlice::new(headers), IoSlice::new(payload)];
        nix::sys::uio::writev(&self.socket, &parts)?;
        Ok(())
    }

    /// Takes what the device reported: that it went down, or is gone. Until then every wait for this
    /// socket ends at once; a receive by call takes it by itself.
    pub fn take_error(&self) -> io::Result<()> {
        nix::sys::socket::getsockopt(&self.socket, nix::sys::socket::sockopt::SocketError)?;
        Ok(())
    }

    /// What was lost since the previous call.
    pub fn losses(&mut self) -> io::Result<Losses> {
        let dropped = u64::from(read_statistics(&self.socket)?.tp_drops);
        let own = match &mut self.receive {
            Receive::Calls(calls) => calls.take_losses(),
            Receive::Ring(ring) => ring.take_losses(),
        };
        Ok(Losses { dropped: dropped + own.dropped, truncated: own.truncated })
    }

    /// The receive form in use.
    pub fn form(&self) -> ReceiveForm {
        match &self.receive {
            Receive::Calls(_) => ReceiveForm::Calls,
            Receive::Ring(_) => ReceiveForm::Ring,
        }
    }

    /// Bytes that may wait for user space.
    pub fn buffer_bytes(&self) -> usize {
        match &self.receive {
            Receive::Calls(calls) => calls.buffer_bytes(),
            Receive::Ring(ring) => ring.bytes(),
        }
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl fmt::Display for ReceiveForm {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Calls => "recvmsg",
            Self::Ring => "ring",
        })
    }
}

/// The buffer that makes the calls form lossless; `SO_RCVBUFFORCE` is refused to ordinary users.
pub const CALLS_BUFFER: usize = 64 << 20;

/// A tenth of a second: much longer than any device takes for what its queue holds.
const LONGEST_SEND: TimeVal = TimeVal::new(0, 100_000);

/// Counters since the previous reading (`PACKET_STATISTICS` resets them).
fn read_statistics(socket: &OwnedFd) -> io::Result<libc::tpacket_stats> {
    let none = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
    option::get(socket, (libc::SOL_PACKET, libc::PACKET_STATISTICS), none)
}
