//! One call of Rx, at either end: bytes there, bytes back, and an end.

use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::ptr::NonNull;

use super::functions::Functions;
use super::functions::Opaque;

/// A call that goes on. At a client it ends when it is dropped, unless it was ended before.
pub struct Call<'c> {
    functions: &'static Functions,
    pointer: NonNull<Opaque>,
    owner: Owner,
    /// A connection goes on as long as its calls.
    connection: PhantomData<&'c mut ()>,
}

/// Who ends a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Client,
    /// The library, when the procedure returns.
    Server,
}

impl Call<'_> {
    pub(super) fn of_client(functions: &'static Functions, pointer: NonNull<Opaque>) -> Self {
        Self { functions, pointer, owner: Owner::Client, connection: PhantomData }
    }

    pub(super) fn of_server(functions: &'static Functions, pointer: NonNull<Opaque>) -> Self {
        Self { functions, pointer, owner: Owner::Server, connection: PhantomData }
    }

    /// Writes all of `data`, one write of Rx.
    ///
    /// # Errors
    /// The call was broken off.
    #[inline]
    pub fn write(&mut self, data: &[u8]) -> io::Result<()> {
        let length = i32::try_from(data.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        let (call, from) = (self.pointer.as_ptr(), data.as_ptr().cast_mut().cast());
        // SAFETY: the call goes on; the library reads `length` bytes of `data` and, in spite of its type, changes none.
        let written = unsafe { (self.functions.write)(call, from, length) };
        if written == length { Ok(()) } else { Err(self.fault()) }
    }

    /// Fills `space`, or as much as the other end sends before its end. Returns how much came.
    ///
    /// # Errors
    /// The call was broken off.
    #[inline]
    pub fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let length = i32::try_from(space.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        // SAFETY: the call goes on; the library writes at most `length` bytes to `space`.
        let came = unsafe {
            (self.functions.read)(self.pointer.as_ptr(), space.as_mut_ptr().cast(), length)
        };
        let came = usize::try_from(came).unwrap_or(0);
        // The library tells an end and a fault by the same number.
        if came == space.len() || self.code() == 0 { Ok(came) } else { Err(self.fault()) }
    }

    /// Ends the call and waits until the other end has.
    ///
    /// # Errors
    /// It was broken off, or the procedure said a number other than 0.
    pub fn end(mut self) -> io::Result<()> {
        match self.finish() {
            0 => Ok(()),
            code => Err(fault(code)),
        }
    }

    fn finish(&mut self) -> i32 {
        if self.owner == Owner::Server {
            return 0;
        }
        self.owner = Owner::Server;
        // SAFETY: the call goes on, and is not used after this.
        unsafe { (self.functions.end_call)(self.pointer.as_ptr(), 0) }
    }

    fn fault(&self) -> io::Error {
        fault(self.code())
    }

    fn code(&self) -> i32 {
        // SAFETY: the call goes on.
        unsafe { (self.functions.error)(self.pointer.as_ptr()) }
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.finish();
    }
}

impl fmt::Debug for Call<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Call").field("owner", &self.owner).finish_non_exhaustive()
    }
}

/// What a number of Rx means (`rx.h`).
fn fault(code: i32) -> io::Error {
    let (kind, what) = match code {
        -1 => (io::ErrorKind::ConnectionAborted, "no answer of the other end (RX_CALL_DEAD)"),
        -2 => (io::ErrorKind::InvalidInput, "an invalid operation (RX_INVALID_OPERATION)"),
        -3 => (io::ErrorKind::TimedOut, "the time of the call was over (RX_CALL_TIMEOUT)"),
        -5 => (io::ErrorKind::InvalidData, "an error of the protocol (RX_PROTOCOL_ERROR)"),
        -6 => (io::ErrorKind::ConnectionAborted, "the other end broke it off (RX_USER_ABORT)"),
        -7 => (io::ErrorKind::AddrInUse, "the address is in use (RX_ADDRINUSE)"),
        -8 => (io::ErrorKind::InvalidData, "a packet was too long (RX_MSGSIZE)"),
        -100 => (io::ErrorKind::ConnectionRefused, "the other end restarts (RX_RESTARTING)"),
        0 => (io::ErrorKind::UnexpectedEof, "the other end ended first"),
        other => return io::Error::other(format!("the other end said {other}")),
    };
    io::Error::new(kind, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_rx_is_told_in_words() {
        assert_eq!(fault(-1).kind(), io::ErrorKind::ConnectionAborted);
        assert!(fault(-1).to_string().contains("RX_CALL_DEAD"));
        assert_eq!(fault(17).to_string(), "the other end said 17");
    }
}
