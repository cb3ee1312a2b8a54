//! Frames of one `EtherType` past the protocols of the kernel: a socket of the family `AF_XDP`, and
//! the program that hands it its frames.
//!
//! Frames lie in memory that is shared with the kernel, in chunks of 2 KiB; four rings say whose a
//! chunk is. Copy mode, and the generic mode of XDP: they work on every link, veth included, and
//! change nothing on the device. The program leaves the link with the descriptor that holds it, so
//! however the process ends; it can also be attached and detached while the socket stays.
//!
//! A frame with a VLAN tag is of another `EtherType` to the program, and passes; where the device takes
//! the tag out, nobody can tell any more.

mod mapping;
mod program;
mod ring;

use std::fmt;
use std::io;
use std::os::fd::AsFd;
use std::os::fd::AsRawFd;
use std::os::fd::BorrowedFd;
use std::os::fd::FromRawFd;
use std::os::fd::OwnedFd;

use crate::error::Error;
use crate::error::Result;
use crate::option;
use mapping::Mapping;
use program::Anchor;
use program::Attached;
use program::Program;
use ring::Kind;
use ring::Ring;

pub use program::PROGRAM_NAME;
pub use program::name_of as program_name;

/// A socket on the first queue of a link, and the program that serves it while it is attached.
pub struct XdpSocket {
    // Dropped in this order: no frame may be handed to a socket that is gone.
    attached: Option<Attached>,
    _anchor: Option<Anchor>,
    program: Program,
    link: u32,
    socket: OwnedFd,
    fill: Ring<u64>,
    received: Ring<libc::xdp_desc>,
    send: Ring<libc::xdp_desc>,
    done: Ring<u64>,
    memory: Mapping,
    /// Chunks to send from that nobody has.
    free: Vec<u64>,
    /// The chunk of the frame that was received last.
    lent: Option<u64>,
}

/// The longest frame, Ethernet header included: the kernel keeps 256 bytes of each chunk.
pub const LONGEST_FRAME: usize = CHUNK - 256;

/// How many received frames may wait.
pub const WAITING_FRAMES: u32 = ENTRIES;

/// Tells whether the caller may use such sockets at all; leaves nothing behind.
pub fn permitted() -> Result<()> {
    Program::load(0)?;
    new_socket().map(drop)
}

impl XdpSocket {
    /// Opens a socket on the link of this index, for frames of `ether_type` that arrive on its first
    /// queue. None comes before [`attach`](Self::attach).
    pub fn open(link: u32, ether_type: u16) -> Result<Self> {
        let socket = new_socket()?;
        let memory = Mapping::anonymous(CHUNK * CHUNKS)?;
        register(&socket, &memory)?;
        let mut fill = Ring::new(&socket, Kind::Fill, ENTRIES)?;
        let done = Ring::new(&socket, Kind::Completion, ENTRIES)?;
        let received = Ring::new(&socket, Kind::Receive, ENTRIES)?;
        let send = Ring::new(&socket, Kind::Send, ENTRIES)?;
        bind(&socket, link)?;
        let program = Program::load(ether_type)?;
        program.hand_over(&socket)?;
        let anchor = Anchor::of(&program);
        let mut chunks = (0..CHUNKS).map(|place| (place * CHUNK) as u64);
        for chunk in chunks.by_ref().take(ENTRIES as usize) {
            fill.put(chunk);
        }
        fill.publish();
        let (attached, free, lent) = (None, chunks.collect(), None);
        Ok(Self {
            attached,
            _anchor: anchor,
            program,
            link,
            socket,
            fill,
            received,
            send,
            done,
            memory,
            free,
            lent,
        })
    }

    /// Puts the program on the link: it takes the frames of this socket, every other one passes as
    /// before. Call it in the network namespace of the link.
    pub fn attach(&mut self) -> Result<()> {
        self.attached = Some(self.program.attach(self.link)?);
        Ok(())
    }

    /// Takes the program from the link.
    pub fn detach(&mut self) {
        self.attached = None;
    }

    /// Puts a frame of `length` bytes into the queue, written by `write` into memory that holds
    /// whatever was there before. Fails with `WouldBlock` where every chunk is on its way.
    #[inline]
    pub fn push(&mut self, length: usize, write: impl FnOnce(&mut [u8])) -> io::Result<()> {
        if length > LONGEST_FRAME {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let Some(addr) = self.free.pop().or_else(|| self.reclaim()) else {
            return Err(io::ErrorKind::WouldBlock.into());
        };
        // SAFETY: the chunk is mapped, and nobody else's until it is published: it was in the list
        // of free ones, or the kernel has given it back.
        let frame = unsafe { std::slice::from_raw_parts_mut(self.memory.at(place(addr)), length) };
        write(frame);
        let len = u32::try_from(length).map_err(|_| io::ErrorKind::InvalidInput)?;
        self.send.put(libc::xdp_desc { addr, len, options: 0 });
        Ok(())
    }

    /// Hands the queue to the kernel. Fails with `WouldBlock` where it could not take all of it;
    /// then call again.
    #[inline]
    pub fn flush(&mut self) -> io::Result<()> {
        self.send.publish();
        let (fd, nothing) = (self.socket.as_raw_fd(), std::ptr::null());
        // SAFETY: sends no bytes from nowhere to nowhere: a call that only wakes the kernel.
        let woken = unsafe {
            libc::sendto(fd, nothing, 0, libc::MSG_DONTWAIT, nothing.cast::<libc::sockaddr>(), 0)
        };
        if woken >= 0 {
            return Ok(());
        }
        let cause = io::Error::last_os_error();
        match cause.raw_os_error() {
            Some(libc::EAGAIN | libc::EBUSY | libc::ENOBUFS | libc::EINTR) => {
                Err(io::ErrorKind::WouldBlock.into())
            }
            _ => Err(cause),
        }
    }

    /// The next frame, if one waits. No system call.
    #[inline]
    pub fn receive(&mut self) -> Option<&[u8]> {
        if let Some(chunk) = self.lent.take() {
            self.fill.put(chunk);
            self.fill.publish();
        }
        let found = self.received.take()?;
        let (start, length) = (place(found.addr), found.len as usize);
        self.lent = Some(found.addr & !(CHUNK as u64 - 1));
        if start.saturating_add(length) > CHUNK * CHUNKS {
            // Not from this memory: the kernel does not do that.
            return Some(&[]);
        }
        // SAFETY: the bytes are mapped (checked above), and the chunk is ours until it is put into
        // the fill ring again, which needs `&mut self`.
        Some(unsafe { std::slice::from_raw_parts(self.memory.at(start), length) })
    }

    /// True where a frame waits. No system call.
    #[inline]
    pub fn has_frame(&self) -> bool {
        self.received.has_entry()
    }

    /// A chunk whose frame has left; keeps what else came back.
    #[cold]
    fn reclaim(&mut self) -> Option<u64> {
        while let Some(chunk) = self.done.take() {
            self.free.push(chunk);
        }
        self.free.pop()
    }
}

impl AsFd for XdpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl fmt::Debug for XdpSocket {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("XdpSocket").field("socket", &self.socket).finish_non_exhaustive()
    }
}

fn new_socket() -> Result<OwnedFd> {
    // SAFETY: takes numbers only.
    let fd = unsafe { libc::socket(libc::AF_XDP, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
    if fd < 0 {
        return Err(Error::last("make an AF_XDP socket"));
    }
    // SAFETY: the descriptor was made by the call above and belongs to nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Tells the kernel of the memory.
fn register(socket: &OwnedFd, memory: &Mapping) -> Result<()> {
    let wanted = libc::xdp_umem_reg {
        addr: memory.at(0).expose_provenance() as u64,
        len: (CHUNK * CHUNKS) as u64,
        chunk_size: u32::try_from(CHUNK).unwrap_or(0),
        headroom: 0,
        flags: 0,
        tx_metadata_len: 0,
    };
    let registered = option::set(socket, (libc::SOL_XDP, libc::XDP_UMEM_REG), wanted);
    registered.map_err(|cause| Error::new("share memory with an AF_XDP socket", cause))
}

/// Binds to the first queue of the link.
fn bind(socket: &OwnedFd, link: u32) -> Result<()> {
    let address = libc::sockaddr_xdp {
        sxdp_family: u16::try_from(libc::AF_XDP).unwrap_or(0),
        sxdp_flags: libc::XDP_COPY | libc::XDP_USE_NEED_WAKEUP,
        sxdp_ifindex: link,
        sxdp_queue_id: program::QUEUE,
        sxdp_shared_umem_fd: 0,
    };
    let length = u32::try_from(size_of::<libc::sockaddr_xdp>()).unwrap_or(0);
    // SAFETY: pointer and size describe one live sockaddr_xdp, which the kernel only reads.
    let status = unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) };
    if status < 0 {
        return Err(Error::last(format!("bind an AF_XDP socket to link {link}")));
    }
    Ok(())
}

/// An address within the memory as a number of bytes.
fn place(addr: u64) -> usize {
    usize::try_from(addr).unwrap_or(usize::MAX)
}

/// The smaller of the two sizes that every kernel takes.
const CHUNK: usize = 2048;
/// Of each ring; a power of two.
const ENTRIES: u32 = 1024;
/// Half of them receive, half send.
const CHUNKS: usize = 2 * ENTRIES as usize;
