//! The data door of a host: of all that connect, who knows the token of a connection comes in.
//!
//! COMM, the ping-pong and traffic have the same one. A connection between hosts begins with the words of
//! its [`Seat`]; a stranger gets no answer, makes nobody wait, and leaves no descriptor behind.

mod datagram;
mod hall;
#[cfg(test)]
pub(crate) mod lossy;
#[cfg(test)]
pub(crate) mod reluctant;
mod seat;

use std::fmt;
use std::fmt::Display;
use std::hash::BuildHasher;
use std::hash::RandomState;
use std::io;
use std::net::TcpListener;
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::time::Duration;
use std::time::Instant;

use btu_sys::exchange;
use btu_sys::exchange::Call;
use btu_sys::exchange::Framing;
use btu_sys::exchange::Ready;

use crate::error::EngineError;

pub(crate) use datagram::Echoes;
pub(crate) use datagram::greet;
pub(crate) use datagram::hear;
pub(crate) use hall::Hall;
pub(crate) use hall::Stranger;
pub use seat::Seat;

/// What `open` makes on the first free port from the first to the last; on any where none are named.
pub(crate) fn on_free_port<T>(
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

/// A connection that is awaited at a door.
#[derive(Clone, Copy)]
pub struct Awaited<'a> {
    /// What it has to know.
    pub seat: &'a Seat,
    /// Where the door is.
    pub at: &'a dyn Display,
    /// How long it may take.
    pub patience: Duration,
    /// False once nobody wants it any more.
    pub is_wanted: &'a dyn Fn() -> bool,
}

impl fmt::Debug for Awaited<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.at.to_string();
        out.debug_struct("Awaited")
            .field("seat", self.seat)
            .field("at", &at)
            .finish_non_exhaustive()
    }
}

impl Awaited<'_> {
    /// Why it is not waited for beyond `end`, if that is so.
    fn given_up(&self, now: Instant, end: Instant) -> Result<(), EngineError> {
        let reason = if !(self.is_wanted)() {
            "it is not wanted any more".to_owned()
        } else if now >= end {
            let seconds = self.patience.as_secs_f64();
            format!("nobody with its token came within {seconds} s; is this port open on the way?")
        } else {
            return Ok(());
        };
        let Self { seat, at, .. } = self;
        Err(EngineError::Refused(format!("connection {} at {at}: {reason}", seat.flow)))
    }
}

/// The first that knows the token, of all whom `next` gives: it must not wait, and is asked while somebody
/// stands at the door or speaks. All others are closed, and nothing is left of them.
pub fn first_known<S: AsFd>(
    door: &impl AsFd,
    awaited: &Awaited<'_>,
    mut next: impl FnMut() -> Result<Option<S>, EngineError>,
) -> Result<S, EngineError> {
    let (mut hall, end) = (Hall::new()?, Instant::now() + awaited.patience);
    hall.add_door(door)?;
    let seat = awaited.seat;
    let knows = |stranger: &Stranger<S>| stranger.knows(seat);
    loop {
        let now = Instant::now();
        awaited.given_up(now, end)?;
        hall.wait(end.min(now + SLICE).duration_since(now))?;
        let received = hall.receive(&mut next, &knows);
        hall.hear(&knows);
        while let Some(stranger) = hall.next_spoken() {
            if let Some(socket) = stranger.admitted(seat) {
                return Ok(socket);
            }
        }
        received?;
    }
}

/// The next of those that stand at a door that does not make anybody wait.
pub(crate) fn next_at(door: &TcpListener) -> Result<Option<TcpStream>, EngineError> {
    match door.accept() {
        Ok((stream, _)) => Ok(Some(stream)),
        Err(cause) => nobody_there(EngineError::peer("accept a connection")(cause)),
    }
}

/// Nobody, where somebody else may come: nobody stands at the door, or went away before it was opened. Every other
/// fault stays one: a door that is ready and lets nobody in, such as for want of descriptors, would be looked at
/// without a pause.
pub(crate) fn nobody_there<S>(cause: EngineError) -> Result<Option<S>, EngineError> {
    let kind = match &cause {
        EngineError::Peer { source, .. } => source.kind(),
        EngineError::System(source) => source.kind(),
        _ => return Err(cause),
    };
    let is_passing = matches!(
        kind,
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::Interrupted
            | io::ErrorKind::TimedOut
            | io::ErrorKind::WouldBlock
    );
    if is_passing { Ok(None) } else { Err(cause) }
}

/// A connection to the end `at` that has shown its token, of those that `connect` gives, each with the time until
/// which it may take. One that is closed unanswered is made again: if its words were lost on the way, it was silent
/// among strangers, and a crowd of them took its place.
pub(crate) fn introduced<S: AsFd>(
    seat: &Seat,
    at: &dyn Display,
    mut connect: impl FnMut() -> Result<(S, Instant), EngineError>,
) -> Result<S, EngineError> {
    let mut more = 1..TRIES;
    loop {
        let (socket, end) = connect()?;
        match introduce(&socket, seat, end) {
            Ok(()) => return Ok(socket),
            Err(cause) if is_closed(&cause) && more.next().is_some() => {}
            Err(cause) => return Err(EngineError::peer(format!("show the token to {at}"))(cause)),
        }
    }
}

/// Whether an introduction ended so that another one may go better.
pub(crate) fn is_closed(cause: &io::Error) -> bool {
    matches!(
        cause.kind(),
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset | io::ErrorKind::UnexpectedEof
    )
}

/// Says the token on a new connection and hears whether the far end knows it too.
fn introduce(socket: &impl AsFd, seat: &Seat, end: Instant) -> io::Result<()> {
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
/// How often a connection is made: whoever closes that many does not want it.
pub(crate) const TRIES: usize = 3;
/// For the words of either end.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);
/// How often one that waits looks whether it is still wanted, and sends slow strangers away.
pub(crate) const SLICE: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::io::Write;
    use std::net::SocketAddr;
    use std::thread;

    use super::*;

    const SEAT: Seat = Seat { secret: [7; 32], run: 3, attempt: 1, flow: 0 };
    const NONCE: [u8; 12] = [5; 12];

    /// What a stranger hears that says this; where it is not let in at all, that is nothing, too.
    fn heard(at: SocketAddr, words: &[u8]) -> usize {
        let Ok(mut stranger) = TcpStream::connect(at) else { return 0 };
        let said = stranger.write_all(words);
        stranger.set_read_timeout(Some(PATIENCE / 4)).unwrap();
        said.and_then(|()| stranger.read(&mut [0; 64])).unwrap_or(0)
    }

    fn first_of(door: &TcpListener) -> Result<TcpStream, EngineError> {
        door.set_nonblocking(true).unwrap();
        let (at, patience) = (&door.local_addr().unwrap(), Duration::from_mins(1));
        let awaited = Awaited { seat: &SEAT, at, patience, is_wanted: &|| true };
        first_known(door, &awaited, || next_at(door))
    }

    #[test]
    fn strangers_hear_nothing_and_who_knows_the_token_comes_in() {
        let door = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = door.local_addr().unwrap();
        let right = SEAT.words(&NONCE);
        let let_in = thread::spawn(move || first_of(&door));
        let others = [
            Seat { run: 2, ..SEAT },
            Seat { attempt: 2, ..SEAT },
            Seat { flow: 1, ..SEAT },
            Seat { secret: [8; 32], ..SEAT },
        ];
        for other in others {
            assert_eq!(heard(at, &other.words(&NONCE)), 0, "{other:?}");
        }
        let mut garbage = right;
        garbage.reverse();
        for words in [&garbage[..], &right[..63], b"GET / HTTP/1.0\r\n\r\n", &[]] {
            assert_eq!(heard(at, words), 0, "{words:?}");
        }
        let own = TcpStream::connect(at).unwrap();
        introduce(&own, &SEAT, Instant::now() + PATIENCE).unwrap();
        let _let_in = let_in.join().unwrap().unwrap();
        assert_eq!(heard(at, &right), 0, "the words were good once");
    }

    #[test]
    fn who_went_away_is_nobody_and_want_of_descriptors_is_a_fault() {
        let nobody = |cause: io::Error| nobody_there::<()>(EngineError::peer("accept")(cause));
        for kind in
            [io::ErrorKind::ConnectionAborted, io::ErrorKind::TimedOut, io::ErrorKind::WouldBlock]
        {
            assert!(nobody(kind.into()).unwrap().is_none(), "{kind}");
        }
        // EMFILE.
        let told = nobody(io::Error::from_raw_os_error(24)).unwrap_err().sentence();
        assert!(told.contains("open files"), "{told}");
    }

    #[test]
    fn a_door_that_breaks_or_is_not_wanted_any_more_ends_the_waiting() {
        let door = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = door.local_addr().unwrap();
        let ended = |patience: Duration, is_wanted: bool, fault: Option<io::ErrorKind>| {
            let _visitor = TcpStream::connect(at).unwrap();
            let next = || match fault {
                None => Ok(None),
                Some(kind) => Err(EngineError::peer("accept")(kind.into())),
            };
            let seat = &Seat { flow: 1, ..SEAT };
            let awaited = Awaited { seat, at: &at, patience, is_wanted: &|| is_wanted };
            let none: Result<TcpStream, EngineError> = first_known(&door, &awaited, next);
            none.unwrap_err().sentence()
        };
        let minute = Duration::from_mins(1);
        let broken = ended(minute, true, Some(io::ErrorKind::OutOfMemory));
        assert!(broken.starts_with("accept: "), "{broken}");
        let told = |reason: &str| format!("connection 1 at {at}: {reason}");
        assert_eq!(ended(minute, false, None), told("it is not wanted any more"));
        let late = "nobody with its token came within 0.02 s; is this port open on the way?";
        assert_eq!(ended(Duration::from_millis(20), true, None), told(late));
    }
}
