//! Other calls than `send` and `recv` for a message, one call for each as well.

use std::io;
use std::io::IoSlice;
use std::os::fd::AsFd;
use std::os::fd::AsRawFd;
use std::os::fd::BorrowedFd;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::net::RecvFlags;
use rustix::net::SendAncillaryBuffer;
use rustix::net::SendFlags;

use crate::disk;
use crate::error::Error;
use crate::error::Result;
use crate::memory;
use crate::option;

/// One `send` of `data` with `MSG_MORE`: the kernel keeps what fills no segment until more comes, the end of the
/// stream, or 200 ms.
#[inline]
pub fn send_more(socket: BorrowedFd<'_>, data: &[u8]) -> io::Result<usize> {
    Ok(rustix::net::send(socket, data, SendFlags::NOSIGNAL | SendFlags::MORE)?)
}

/// One `sendmsg` of a head and what follows it, without a signal where the peer is gone.
#[inline]
pub fn send_both(socket: BorrowedFd<'_>, head: &[u8], rest: &[u8]) -> io::Result<usize> {
    send_parts(socket, &[IoSlice::new(head), IoSlice::new(rest)])
}

/// One `sendmsg` of all parts, without a signal where the peer is gone.
#[inline]
pub fn send_parts(socket: BorrowedFd<'_>, parts: &[IoSlice<'_>]) -> io::Result<usize> {
    let mut nothing = SendAncillaryBuffer::default();
    Ok(rustix::net::sendmsg(socket, parts, &mut nothing, SendFlags::NOSIGNAL)?)
}

/// One `recv` of at most `space` bytes that are thrown away (`MSG_TRUNC`, tcp(7)); 0 is the end of the stream.
#[inline]
pub fn discard(socket: BorrowedFd<'_>, space: &mut [u8]) -> io::Result<usize> {
    let (_, received) = rustix::net::recv(socket, space, RecvFlags::TRUNC)?;
    Ok(received)
}

/// A message in a file without a name, from which the kernel sends it: no copy from memory of the user's own.
///
/// What kind of file it is decides what it costs: the pages of a file on a disk lie beside each other in memory
/// (large folios), and a segment refers to them as one; those of a file in memory are single.
#[derive(Debug)]
pub struct FiledMessage {
    file: OwnedFd,
    length: usize,
    in_memory: bool,
}

impl FiledMessage {
    /// A file with this content in `folder`, or in memory where none can be made there.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn new(folder: &Path, content: &[u8]) -> Result<Self> {
        Self::within(folder, content).or_else(|_| Self::of_memory(content))
    }

    fn within(folder: &Path, content: &[u8]) -> Result<Self> {
        let file = disk::nameless_file(folder)?.into();
        fill(&file, content)?;
        Ok(Self { file, length: content.len(), in_memory: disk::file_system(folder)?.in_memory })
    }

    fn of_memory(content: &[u8]) -> Result<Self> {
        let file = memory::file(c"btu-message").map_err(|cause| {
            Error::new("make a file in memory (a confined agent can from Linux 6.3 on)", cause)
        })?;
        fill(&file, content)?;
        Ok(Self { file, length: content.len(), in_memory: true })
    }

    /// True of one on no disk (memfd, tmpfs, ramfs).
    pub fn in_memory(&self) -> bool {
        self.in_memory
    }

    /// One `sendfile` of its last `rest` bytes; returns how many were taken.
    ///
    /// Where the peer is gone the kernel raises SIGPIPE, which programs in Rust ignore from their start.
    #[inline]
    pub fn send_last(&self, socket: BorrowedFd<'_>, rest: usize) -> io::Result<usize> {
        let mut from = libc::off_t::try_from(self.length.saturating_sub(rest)).unwrap_or(0);
        let (to, file) = (socket.as_raw_fd(), self.file.as_raw_fd());
        // SAFETY: both descriptors are open, and `from` is a live offset that we hold exclusively.
        let taken = unsafe { libc::sendfile(to, file, &raw mut from, rest) };
        usize::try_from(taken).map_err(|_| io::Error::last_os_error())
    }
}

/// Writes the whole content.
fn fill(file: &OwnedFd, content: &[u8]) -> Result<()> {
    let mut rest = content;
    while !rest.is_empty() {
        let written = nix::unistd::write(file, rest);
        let named = || format!("write {} bytes of a message into a file", content.len());
        rest = &rest[written.map_err(|cause| Error::new(named(), cause))?..];
    }
    Ok(())
}

/// Lets the kernel wake a reader for no less than `bytes`, but for the end of the stream (`SO_RCVLOWAT`).
pub fn set_low_water(socket: &impl AsFd, bytes: u32) -> Result<()> {
    let value = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
    let set = option::set(socket, LOW_WATER, value);
    super::named(set, || format!("set SO_RCVLOWAT to {bytes}"))
}

/// For how many bytes a reader is woken.
pub(super) fn low_water(socket: BorrowedFd<'_>) -> io::Result<u64> {
    option::get(&socket, LOW_WATER, 0_u32).map(u64::from)
}

const LOW_WATER: (libc::c_int, libc::c_int) = (libc::SOL_SOCKET, libc::SO_RCVLOWAT);

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::Shutdown;
    use std::net::TcpListener;
    use std::net::TcpStream;

    use super::super::Effective;
    use super::*;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    #[test]
    fn the_last_bytes_of_a_filed_message_are_sent() {
        let (near, mut far) = pair();
        for folder in [&std::env::temp_dir(), Path::new("/proc")] {
            let message = FiledMessage::new(folder, b"bits to the user").unwrap();
            assert_eq!(message.send_last(near.as_fd(), 16).unwrap(), 16);
            assert_eq!(message.send_last(near.as_fd(), 4).unwrap(), 4);
        }
        near.shutdown(Shutdown::Write).unwrap();
        let mut came = String::new();
        far.read_to_string(&mut came).unwrap();
        assert_eq!(came, "bits to the useruser".repeat(2));
    }

    #[test]
    fn a_message_is_in_memory_where_no_file_can_be_made_and_says_so() {
        let filed = |folder: &Path| FiledMessage::new(folder, b"bits").unwrap().in_memory();
        assert!(filed(Path::new("/proc")));
        let folder = std::env::temp_dir();
        assert_eq!(filed(&folder), disk::file_system(&folder).unwrap().in_memory);
    }

    #[test]
    fn a_peer_that_is_gone_ends_a_sendfile_with_an_error() {
        let (near, far) = pair();
        near.shutdown(Shutdown::Both).unwrap();
        let message = FiledMessage::new(&std::env::temp_dir(), b"bits").unwrap();
        let outcome = message.send_last(near.as_fd(), 4);
        assert_eq!(outcome.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        drop(far);
    }

    #[test]
    fn what_is_discarded_is_counted_and_not_seen() {
        let (near, far) = pair();
        assert_eq!(send_more(near.as_fd(), b"bits to").unwrap(), 7);
        assert_eq!(super::super::send(near.as_fd(), b" the user").unwrap(), 9);
        let mut space = [b'?'; 7];
        assert_eq!(discard(far.as_fd(), &mut space).unwrap(), 7);
        assert_eq!(&space, b"???????");
        let mut rest = [0; 9];
        (&far).read_exact(&mut rest).unwrap();
        assert_eq!(&rest, b" the user");
    }

    #[test]
    fn a_head_and_what_follows_it_are_one_message() {
        let (near, far) = pair();
        assert_eq!(send_both(near.as_fd(), b"bits to", b" the user").unwrap(), 16);
        assert_eq!(send_both(near.as_fd(), b"", b"!").unwrap(), 1);
        let mut got = [0; 17];
        (&far).read_exact(&mut got).unwrap();
        assert_eq!(&got, b"bits to the user!");
    }

    #[test]
    fn a_low_water_is_read_back() {
        let (near, _far) = pair();
        assert_eq!(Effective::of(&near).low_water, Some(1));
        set_low_water(&near, 4096).unwrap();
        assert_eq!(Effective::of(&near).low_water, Some(4096));
    }
}
