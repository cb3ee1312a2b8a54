//! Who may come in to an end that answers: of all that connect, the one that knows the token.
//!
//! Between threads of one process there is no token, and whoever connects is the other end. Between
//! hosts a stream begins with the words of COMM's data connections ([`Seat`]); a stranger gets no
//! answer and makes nobody wait.

mod datagram;
mod hall;

use std::hash::BuildHasher;
use std::hash::RandomState;
use std::io;
use std::os::fd::AsFd;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use std::time::Instant;

use btu_sys::exchange;
use btu_sys::exchange::Address;
use btu_sys::exchange::Call;
use btu_sys::exchange::Family;
use btu_sys::exchange::Framing;
use btu_sys::exchange::Listening;
use btu_sys::exchange::Ready;
use btu_sys::socket::Settings;

use super::transport::Hookup;
use crate::comm::Seat;
use crate::error::EngineError;

pub(crate) use datagram::greet;
pub(crate) use datagram::hear;
pub(crate) use hall::Hall;
pub(crate) use hall::Stranger;

/// Listens on the first port that is free of those that the hookup allows.
pub(super) fn listen(
    family: Family,
    hookup: &Hookup<'_>,
    settings: &Settings,
) -> Result<Listening, EngineError> {
    let address = hookup.party.address;
    let at = |port| exchange::listen(family, Address::Inet((address, port).into()), settings);
    on_free_port(hookup, at)
}

/// What `open` makes on the first port that is free of those that the hookup allows.
pub(super) fn on_free_port<T>(
    hookup: &Hookup<'_>,
    open: impl FnMut(u16) -> btu_sys::Result<T>,
) -> Result<T, EngineError> {
    on_free_port_of(hookup.ports, open)
}

/// What `open` makes on the first free port from the first to the last; on any where none are named.
pub(crate) fn on_free_port_of<T>(
    ports: Option<(u16, u16)>,
    mut open: impl FnMut(u16) -> btu_sys::Result<T>,
) -> Result<T, EngineError> {
    let Some((first, last)) = ports else { return Ok(open(0)?) };
    for port in first..=last {
        match open(port) {
            Err(cause) if cause.kind() == io::ErrorKind::AddrInUse => {}
            outcome => return Ok(outcome?),
        }
    }
    Err(EngineError::Refused(format!("no port from {first} to {last} is free")))
}

/// The next connection of whoever may come in.
pub(super) fn accept(listening: &Listening, hookup: &Hookup<'_>) -> Result<OwnedFd, EngineError> {
    let Some(seat) = &hookup.token else { return Ok(listening.accept(hookup.within)?) };
    let (end, mut hall) = (Instant::now() + hookup.within, Hall::new()?);
    hall.add_door(listening)?;
    let knows = |stranger: &Stranger| stranger.knows(seat);
    loop {
        let now = Instant::now();
        if now >= end || hookup.cancel.load(Relaxed) {
            let reason = "nobody with the token of this connection came in time";
            return Err(EngineError::Refused(reason.to_owned()));
        }
        hall.wait(end.min(now + SLICE).duration_since(now))?;
        hall.receive(|| listening.accept(Duration::ZERO).ok(), &knows);
        hall.hear(&knows);
        while let Some(stranger) = hall.next_spoken() {
            if let Some(socket) = stranger.admitted(seat) {
                return Ok(socket);
            }
        }
    }
}

/// Connects, and says the token where there is one.
pub(super) fn connect(
    family: Family,
    at: Address,
    hookup: &Hookup<'_>,
    settings: &Settings,
) -> Result<OwnedFd, EngineError> {
    let socket = exchange::connect(family, at, settings, hookup.within)?;
    if let Some(seat) = &hookup.token {
        let told = introduce(&socket, seat, Instant::now() + hookup.within);
        told.map_err(EngineError::peer(format!("show the token to {at}")))?;
    }
    Ok(socket)
}

/// Says the token on a new connection and hears whether the far end knows it too.
pub(crate) fn introduce(socket: &impl AsFd, seat: &Seat, end: Instant) -> io::Result<()> {
    let mut introduction = Introduction::new(*seat);
    while !introduction.go_on(socket)? {
        let next = if introduction.awaits_room() { Ready::Write } else { Ready::Read };
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() || !exchange::poll(socket.as_fd(), next, Some(left))? {
            return Err(io::ErrorKind::TimedOut.into());
        }
    }
    Ok(())
}

/// The words of a token on a new connection, and the answer to them, for whoever does something else meanwhile.
#[derive(Debug)]
pub(crate) struct Introduction {
    seat: Seat,
    nonce: [u8; 12],
    /// Bytes of the words that were sent.
    said: usize,
    answer: [u8; ANSWER],
    heard: usize,
}

impl Introduction {
    /// One that knows this token.
    pub(crate) fn new(seat: Seat) -> Self {
        Self { seat, nonce: fresh_nonce(), said: 0, answer: [0; ANSWER], heard: 0 }
    }

    /// Whether words are left for which there was no room.
    pub(crate) const fn awaits_room(&self) -> bool {
        self.said < WORDS
    }

    /// Says and hears what it can without waiting. True once the far end has shown that it knows the token, too.
    pub(crate) fn go_on(&mut self, socket: &impl AsFd) -> io::Result<bool> {
        let words = self.seat.words(&self.nonce);
        while self.said < WORDS {
            match exchange::send(socket.as_fd(), &words[self.said..], Call::AtOnce) {
                Ok(sent) => self.said += sent,
                Err(cause) if is_passing(&cause) => return Ok(false),
                Err(cause) => return Err(cause),
            }
        }
        while self.heard < ANSWER {
            let space = &mut self.answer[self.heard..];
            match exchange::recv(socket.as_fd(), space, Call::AtOnce, Framing::Stream) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(got) => self.heard += got,
                Err(cause) if is_passing(&cause) => return Ok(false),
                Err(cause) => return Err(cause),
            }
        }
        let is_known = self.seat.is_answer(&self.nonce, self.answer);
        if is_known { Ok(true) } else { Err(wrong_answer()) }
    }
}

/// Another one for each connection, secret to nobody. A seat is taken once, and where it is that of several
/// connections each opening lets one in: what was overheard opens nothing.
fn fresh_nonce() -> [u8; 12] {
    let (fresh, mut nonce) = (RandomState::new(), [0; 12]);
    for (part, bytes) in nonce.chunks_mut(8).enumerate() {
        bytes.copy_from_slice(&fresh.hash_one(part).to_be_bytes()[..bytes.len()]);
    }
    nonce
}

fn wrong_answer() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, "the far end does not know the token")
}

fn is_passing(cause: &io::Error) -> bool {
    matches!(cause.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// Bytes of a token's words: an opening, and its tag.
pub(crate) const WORDS: usize = 64;
/// Bytes of the answer to them.
pub(crate) const ANSWER: usize = WORDS / 2;
/// For the words of a stranger.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often one that waits looks whether it is still wanted, and sends slow strangers away.
pub(crate) const SLICE: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::io::Write;
    use std::net::TcpStream;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use btu_core::cell::Role;
    use btu_core::pingpong::configuration::Configuration;

    use super::*;
    use crate::place::Party;
    use crate::place::Place;

    fn seat(secret: u8) -> Seat {
        Seat { secret: [secret; 32], run: 3, attempt: 4, flow: 0 }
    }

    /// Calls `check` with the hookup of an end whose connections carry this token.
    pub(super) fn hooked<T>(secret: u8, check: impl FnOnce(&Hookup<'_>) -> T) -> T {
        let party = Party {
            place: Place::here(Role::Active),
            address: [127, 0, 0, 1].into(),
            sockets: Settings::default(),
        };
        let wanted = Configuration::new("tcp");
        check(&Hookup {
            party: &party,
            wanted: &wanted,
            within: Duration::from_mins(1),
            token: Some(seat(secret)),
            ports: None,
            cancel: &AtomicBool::new(false),
        })
    }

    #[test]
    fn strangers_get_no_answer_and_the_right_one_comes_in() {
        let settings = Settings::default();
        let listening = hooked(7, |hookup| listen(Family::Tcp, hookup, &settings)).unwrap();
        let Address::Inet(at) = listening.address().unwrap() else { panic!("no address") };
        let far = thread::spawn(move || hooked(7, |hookup| accept(&listening, hookup)).unwrap());
        // One that says nothing, one that says something else, one with another secret.
        let silent = TcpStream::connect(at).unwrap();
        let mut wrong = TcpStream::connect(at).unwrap();
        wrong.write_all(&[7; 64]).unwrap();
        assert_eq!(wrong.read(&mut [0; 64]).unwrap_or(0), 0, "a stranger got an answer");
        let short = Settings::default();
        let refused = hooked(8, |hookup| connect(Family::Tcp, Address::Inet(at), hookup, &short));
        let refused = refused.unwrap_err().sentence();
        assert!(refused.starts_with("show the token to 127.0.0.1:"), "{refused}");
        let near = hooked(7, |hookup| connect(Family::Tcp, Address::Inet(at), hookup, &short));
        exchange::send(near.unwrap().as_fd(), b"bits", Call::Sleeping).unwrap();
        let (far, mut space) = (far.join().unwrap(), [0; 4]);
        exchange::recv(far.as_fd(), &mut space, Call::Sleeping, Framing::Stream).unwrap();
        assert_eq!(&space, b"bits");
        drop(silent);
    }

    #[test]
    fn ports_are_those_that_are_allowed() {
        let settings = Settings::default();
        let taken = hooked(7, |hookup| listen(Family::Tcp, hookup, &settings)).unwrap();
        let Address::Inet(at) = taken.address().unwrap() else { panic!("no address") };
        let only = |ports| {
            hooked(7, |hookup| {
                listen(Family::Tcp, &Hookup { ports, ..*hookup }, &settings).map(drop)
            })
        };
        let refused = only(Some((at.port(), at.port()))).unwrap_err().sentence();
        assert_eq!(refused, format!("no port from {0} to {0} is free", at.port()));
        only(None).unwrap();
    }
}
