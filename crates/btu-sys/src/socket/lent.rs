//! Receiving into memory that hyper lends before anything was written there: no copy, and no zeros first.

use std::io;
use std::os::fd::BorrowedFd;

use hyper::rt::ReadBufCursor;
use rustix::net::RecvFlags;

/// One `recv` into what is left of `space`; nothing is added at the end of the stream.
#[inline]
pub fn recv_lent(socket: BorrowedFd<'_>, space: &mut ReadBufCursor<'_>) -> io::Result<usize> {
    // SAFETY: the kernel only writes into it: no byte that was initialised ceases to be so.
    let room = unsafe { space.as_mut() };
    let (_, received) = rustix::net::recv(socket, room, RecvFlags::empty())?;
    // SAFETY: the call says that it wrote so many bytes at the start of the room.
    unsafe { space.advance(received) };
    Ok(received)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::mem::MaybeUninit;
    use std::net::TcpListener;
    use std::net::TcpStream;
    use std::os::fd::AsFd;

    use hyper::rt::ReadBuf;

    use super::*;

    #[test]
    fn what_comes_stands_behind_what_came_before_and_the_end_adds_nothing() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut far = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (near, _) = listener.accept().unwrap();
        let mut memory = [MaybeUninit::uninit(); 8];
        let mut space = ReadBuf::uninit(&mut memory);
        far.write_all(b"bits").unwrap();
        assert_eq!(recv_lent(near.as_fd(), &mut space.unfilled()).unwrap(), 4);
        far.write_all(b"more, and more").unwrap();
        assert_eq!(recv_lent(near.as_fd(), &mut space.unfilled()).unwrap(), 4);
        assert_eq!(space.filled(), b"bitsmore");
        drop(far);
        let mut rest = [MaybeUninit::uninit(); 64];
        let mut rest = ReadBuf::uninit(&mut rest);
        assert_eq!(recv_lent(near.as_fd(), &mut rest.unfilled()).unwrap(), 10);
        assert_eq!(recv_lent(near.as_fd(), &mut rest.unfilled()).unwrap(), 0);
    }
}
