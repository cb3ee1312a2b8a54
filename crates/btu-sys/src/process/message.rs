//! The words between the program and its init: one datagram of six bytes each.

use std::io;
use std::os::fd::AsFd;
use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::sys::socket::MsgFlags;

/// From the program to init.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Execute the program with this index.
    Start(u8),
    /// Send a signal to the program with this index, if it runs.
    Signal(u8, i32),
}

/// From init to the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The compartment is prepared; 1 if `/proc` shows only what is inside.
    Ready(i32),
    /// A step of the preparation failed with this errno.
    Unprepared(u8, i32),
    /// The program runs.
    Started(u8),
    /// The program could not be executed: errno.
    Refused(u8, i32),
    /// The program exited with a status.
    Exited(u8, i32),
    /// The program was ended by a signal.
    Signalled(u8, i32),
}

impl Order {
    pub(super) fn encode(self) -> Words {
        match self {
            Self::Start(program) => words(b'S', program, 0),
            Self::Signal(program, signal) => words(b'K', program, signal),
        }
    }

    pub(super) fn decode(words: Words) -> Option<Self> {
        let (kind, program, value) = parts(words);
        match kind {
            b'S' => Some(Self::Start(program)),
            b'K' => Some(Self::Signal(program, value)),
            _ => None,
        }
    }
}

impl Answer {
    pub(super) fn encode(self) -> Words {
        match self {
            Self::Ready(fresh) => words(b'r', 0, fresh),
            Self::Unprepared(step, errno) => words(b'u', step, errno),
            Self::Started(program) => words(b's', program, 0),
            Self::Refused(program, errno) => words(b'f', program, errno),
            Self::Exited(program, status) => words(b'e', program, status),
            Self::Signalled(program, signal) => words(b'k', program, signal),
        }
    }

    pub(super) fn decode(words: Words) -> Option<Self> {
        let (kind, program, value) = parts(words);
        match kind {
            b'r' => Some(Self::Ready(value)),
            b'u' => Some(Self::Unprepared(program, value)),
            b's' => Some(Self::Started(program)),
            b'f' => Some(Self::Refused(program, value)),
            b'e' => Some(Self::Exited(program, value)),
            b'k' => Some(Self::Signalled(program, value)),
            _ => None,
        }
    }
}

/// Kind, index of the program, value.
pub(super) type Words = [u8; 6];

/// Sends one datagram; a peer that is gone is an error, never a signal.
pub(super) fn send(socket: impl AsFd, words: Words) -> nix::Result<()> {
    let socket = socket.as_fd().as_raw_fd();
    nix::sys::socket::send(socket, &words, MsgFlags::MSG_NOSIGNAL).map(|_| ())
}

/// Waits for one datagram; `None` once the peer is gone.
pub(super) fn receive(socket: impl AsFd) -> io::Result<Option<Words>> {
    let mut words = Words::default();
    loop {
        let socket = socket.as_fd().as_raw_fd();
        match nix::sys::socket::recv(socket, &mut words, MsgFlags::empty()) {
            Ok(0) | Err(Errno::ECONNRESET) => return Ok(None),
            Ok(_) => return Ok(Some(words)),
            Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

fn words(kind: u8, program: u8, value: i32) -> Words {
    let [a, b, c, d] = value.to_le_bytes();
    [kind, program, a, b, c, d]
}

fn parts([kind, program, a, b, c, d]: Words) -> (u8, u8, i32) {
    (kind, program, i32::from_le_bytes([a, b, c, d]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_and_answers_round_trip() {
        for order in [Order::Start(1), Order::Signal(0, libc::SIGTERM)] {
            assert_eq!(Order::decode(order.encode()), Some(order));
        }
        let answers = [
            Answer::Ready(1),
            Answer::Unprepared(2, libc::EPERM),
            Answer::Started(0),
            Answer::Refused(1, libc::ENOENT),
            Answer::Exited(0, 255),
            Answer::Signalled(0, 9),
        ];
        for answer in answers {
            assert_eq!(Answer::decode(answer.encode()), Some(answer));
        }
        assert_eq!(Order::decode(*b"?12345"), None);
    }
}
