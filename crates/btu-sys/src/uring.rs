//! Sends and receives through an `io_uring`, one at a time.
//!
//! An entry holds a pointer into the caller's memory until it is completed. So no call here returns
//! before its completion came, whatever interrupts the waiting; ending the socket completes it.

use std::fmt;
use std::io;
use std::os::fd::AsRawFd;
use std::os::fd::BorrowedFd;

use io_uring::IoUring;
use io_uring::opcode;
use io_uring::squeue;
use io_uring::types::Fd;

use crate::error::Error;
use crate::error::Result;
use crate::exchange::Call;

/// A ring with room for one entry.
pub struct Ring {
    ring: IoUring,
    wait: RingWait,
}

/// How a ring waits for a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RingWait {
    /// Asleep in `io_uring_enter`.
    Sleeping,
    /// Looking at the completion queue again and again.
    Spinning,
}

impl Ring {
    /// A ring for the calling thread alone.
    pub fn new(wait: RingWait) -> Result<Self> {
        let mut builder = IoUring::builder();
        builder.setup_single_issuer();
        if wait == RingWait::Sleeping {
            // Completions are worked on when this thread asks for them, and wake nobody else. A
            // thread that only looks would never see one.
            builder.setup_defer_taskrun();
        }
        let ring = builder.build(2).map_err(|cause| Error::new("set up an io_uring", cause))?;
        Ok(Self { ring, wait })
    }

    /// One send, without a signal where the peer is gone.
    pub fn send(&mut self, socket: BorrowedFd<'_>, data: &[u8], call: Call) -> io::Result<usize> {
        let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
        let entry = opcode::Send::new(Fd(socket.as_raw_fd()), data.as_ptr(), length);
        self.complete(&entry.flags(libc::MSG_NOSIGNAL | at_once(call)).build())
    }

    /// One receive; 0 is the end of the stream.
    pub fn recv(
        &mut self,
        socket: BorrowedFd<'_>,
        space: &mut [u8],
        call: Call,
    ) -> io::Result<usize> {
        let length = u32::try_from(space.len()).unwrap_or(u32::MAX);
        let entry = opcode::Recv::new(Fd(socket.as_raw_fd()), space.as_mut_ptr(), length);
        self.complete(&entry.flags(at_once(call)).build())
    }

    /// Submits the entry and returns once it is completed.
    fn complete(&mut self, entry: &squeue::Entry) -> io::Result<usize> {
        // SAFETY: the memory that the entry points to is borrowed by the caller of this function,
        // which does not return before the entry is completed (or was never taken by the kernel).
        let pushed = unsafe { self.ring.submission().push(entry) };
        pushed.map_err(io::Error::other)?;
        let mut is_taken = false;
        loop {
            if let Some(done) = self.ring.completion().next() {
                let result = done.result();
                return usize::try_from(result).map_err(|_| io::Error::from_raw_os_error(-result));
            }
            match (self.wait, is_taken) {
                (RingWait::Spinning, true) => std::hint::spin_loop(),
                (RingWait::Spinning, false) => is_taken = self.enter(0)?,
                (RingWait::Sleeping, _) => {
                    self.enter(1)?;
                }
            }
        }
    }

    /// Hands over what was pushed and waits for `completions`. True once the kernel has taken it.
    ///
    /// An error other than an interruption would leave an entry behind that points to memory which
    /// is given back: the kernel has no such error once the entry is taken, and before that there
    /// is only a lack of memory, which is waited out.
    fn enter(&mut self, completions: usize) -> io::Result<bool> {
        match self.ring.submit_and_wait(completions) {
            Ok(_) => Ok(true),
            Err(cause) => match cause.raw_os_error() {
                Some(libc::EINTR | libc::EAGAIN | libc::EBUSY) => Ok(false),
                // Not reachable with a ring of this thread's own; going on could only be unsound.
                _ => std::process::abort(),
            },
        }
    }
}

impl fmt::Debug for Ring {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Ring").field("wait", &self.wait).finish_non_exhaustive()
    }
}

fn at_once(call: Call) -> i32 {
    if call == Call::AtOnce { libc::MSG_DONTWAIT } else { 0 }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::net::TcpStream;
    use std::os::fd::AsFd;

    use super::*;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    #[test]
    fn bytes_go_through_the_ring_and_an_end_completes_what_waits() {
        for wait in [RingWait::Sleeping, RingWait::Spinning] {
            let (near, far) = pair();
            let mut ring = match Ring::new(wait) {
                Ok(ring) => ring,
                Err(cause) => skip!("kernel lacks: {cause}"),
            };
            assert_eq!(ring.send(near.as_fd(), b"bits", Call::Sleeping).unwrap(), 4);
            let mut space = [0; 16];
            assert_eq!(ring.recv(far.as_fd(), &mut space, Call::Sleeping).unwrap(), 4);
            assert_eq!(&space[..4], b"bits");
            let fault = ring.recv(far.as_fd(), &mut space, Call::AtOnce).unwrap_err();
            assert_eq!(fault.kind(), io::ErrorKind::WouldBlock);
            let other = far.try_clone().unwrap();
            let ender = std::thread::spawn(move || crate::socket::abort(&other));
            assert_eq!(ring.recv(far.as_fd(), &mut space, Call::Sleeping).unwrap(), 0);
            ender.join().unwrap();
        }
    }
}
