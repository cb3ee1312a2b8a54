//! The greeting of two UDP sockets on two hosts. Nothing is answered before a token, and no block goes
//! to an address that has not read what was sent there: a spoofed one gets 32 bytes for 64 (RFC 9000,
//! section 8.1).
//!
//! Near: words. Far: a challenge of its own and a tag. Near: a proof that it read it. Far: the greeting,
//! and speaks with that address alone from then on.
//!
//! Near repeats what is not answered, so what is slow or lost on the way is said again after one end is
//! through: it knows these [`Echoes`], and takes them for no block.

use std::hash::BuildHasher;
use std::hash::RandomState;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::os::fd::BorrowedFd;
use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use std::time::Instant;

use btu_sys::exchange;
use btu_sys::exchange::Call;
use btu_sys::exchange::Framing;
use btu_sys::exchange::Ready;

use super::SLICE;
use super::Seat;
use super::WORDS;
use super::is_passing;

/// What may still come of a greeting that is over.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Echoes {
    /// To the end that waited: the other one has not heard its greeting.
    Far {
        /// What it said first.
        words: [u8; WORDS],
        /// What is answered with the greeting.
        proof: [u8; WORDS / 2],
    },
    /// To the end that connected: each repetition is answered by itself.
    Near {
        /// What the other end says first.
        challenge: [u8; WORDS / 2],
    },
}

impl Echoes {
    /// True for a datagram that belongs to the greeting, by its length and as much of it as there was
    /// room for; it is answered where it has to be.
    pub(crate) fn take(&self, socket: BorrowedFd<'_>, length: usize, begin: &[u8]) -> bool {
        let begin = &begin[..length.min(begin.len())];
        let is = |said: &[u8]| length == said.len() && said.starts_with(begin);
        match self {
            Self::Far { proof, .. } if is(proof) => {
                // One that is lost is asked for again.
                let _ = exchange::send(socket, GREETING, Call::AtOnce);
                true
            }
            Self::Far { words, .. } => is(words),
            Self::Near { challenge } => is(challenge) || is(GREETING),
        }
    }
}

/// The end that connects; its socket speaks with the far end alone already.
pub(crate) fn greet(socket: &OwnedFd, seat: &Seat, end: Instant) -> io::Result<Echoes> {
    let words = seat.words(&NONCE);
    let mut says: Vec<u8> = words.to_vec();
    let mut challenge = [0; WORDS / 2];
    let mut space = [0; WORDS];
    exchange::send(socket.as_fd(), &says, Call::Sleeping)?;
    loop {
        let Some(got) = next(socket.as_fd(), &mut space, end)? else {
            // Lost on the way, there or back.
            exchange::send(socket.as_fd(), &says, Call::Sleeping)?;
            continue;
        };
        match space.get(..got) {
            Some(GREETING) => return Ok(Echoes::Near { challenge }),
            Some(said) => {
                let Ok(said) = <[u8; WORDS / 2]>::try_from(said) else { continue };
                challenge = said;
                says = proof(seat, &challenge).to_vec();
                exchange::send(socket.as_fd(), &says, Call::Sleeping)?;
            }
            None => {}
        }
    }
}

/// The end that waits; strangers hear nothing.
pub(crate) fn hear(
    socket: &OwnedFd,
    seat: &Seat,
    end: Instant,
    cancel: &AtomicBool,
) -> io::Result<Echoes> {
    let fresh = RandomState::new();
    let mut space = [0; WORDS];
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() || cancel.load(Relaxed) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        if !exchange::poll(socket.as_fd(), Ready::Read, Some(left.min(SLICE)))? {
            continue;
        }
        let (got, from) = match exchange::recv_from(socket, &mut space) {
            Err(cause) if is_passing(&cause) => continue,
            received => received?,
        };
        let challenge = challenge(seat, &fresh, from);
        let proof = proof(seat, &challenge);
        if got == WORDS && seat.answer_to(&space).is_some() {
            exchange::send_to(socket, &challenge, from)?;
        } else if space.get(..got) == Some(&proof[..]) {
            exchange::join(socket, from).map_err(io::Error::other)?;
            // Of the others that were heard until now nothing is left, unless the one that came in never pauses.
            while exchange::recv(socket.as_fd(), &mut space, Call::AtOnce, Framing::Message).is_ok()
            {
                if Instant::now() >= end || cancel.load(Relaxed) {
                    return Err(io::ErrorKind::TimedOut.into());
                }
            }
            exchange::send(socket.as_fd(), GREETING, Call::Sleeping)?;
            return Ok(Echoes::Far { words: seat.words(&NONCE), proof });
        }
    }
}

/// The length of the next datagram; nothing where none came for a while.
fn next(socket: BorrowedFd<'_>, space: &mut [u8], end: Instant) -> io::Result<Option<usize>> {
    let left = end.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    if !exchange::poll(socket, Ready::Read, Some(left.min(AGAIN)))? {
        return Ok(None);
    }
    match exchange::recv(socket, space, Call::AtOnce, Framing::Message) {
        Err(cause) if is_passing(&cause) => Ok(Some(0)),
        received => received.map(Some),
    }
}

/// What nobody can know who does not read at `address`: chance for this socket, bound to the address.
fn challenge(seat: &Seat, fresh: &RandomState, address: SocketAddr) -> [u8; WORDS / 2] {
    let mut chance = [0; WORDS / 2];
    for (part, bytes) in chance.chunks_mut(8).enumerate() {
        bytes.copy_from_slice(&fresh.hash_one((part, address)).to_be_bytes());
    }
    proof(seat, &chance)
}

fn proof(seat: &Seat, challenge: &[u8; WORDS / 2]) -> [u8; WORDS / 2] {
    *seat.proof(challenge).as_bytes()
}

const GREETING: &[u8] = b"btu ping";
/// Words that were overheard get a challenge, and what answers it has to know the secret.
const NONCE: [u8; 12] = [0; 12];
/// How long an answer is waited for before the words are said again.
const AGAIN: Duration = Duration::from_millis(200);

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::thread;

    use btu_sys::socket::Settings;

    use super::*;

    fn seat() -> Seat {
        Seat { secret: [5; 32], run: 1, attempt: 9, flow: 0 }
    }

    fn later() -> Instant {
        Instant::now() + Duration::from_mins(1)
    }

    fn heard(far: &OwnedFd) -> io::Result<Echoes> {
        hear(far, &seat(), later(), &AtomicBool::new(false))
    }

    fn listening() -> (OwnedFd, SocketAddr) {
        exchange::datagram(([127, 0, 0, 1], 0).into(), &Settings::default()).unwrap()
    }

    #[test]
    fn two_ends_with_the_same_token_meet_and_strangers_hear_nothing() {
        let (far, at) = listening();
        let answering = thread::spawn(move || heard(&far).map(|_| far));
        let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
        stranger.connect(at).unwrap();
        for length in [0, 8, 32, 64, 1400] {
            stranger.send(&vec![1; length]).unwrap();
        }
        let (near, _) = listening();
        exchange::join(&near, at).unwrap();
        greet(&near, &seat(), later()).unwrap();
        let far = answering.join().unwrap().unwrap();
        exchange::send(near.as_fd(), b"block", Call::Sleeping).unwrap();
        let mut space = [0; 8];
        let got = exchange::recv(far.as_fd(), &mut space, Call::Sleeping, Framing::Message);
        assert_eq!((got.unwrap(), &space[..5]), (5, &b"block"[..]));
        // All of it came before the greeting: an answer would be here.
        stranger.set_nonblocking(true).unwrap();
        assert_eq!(stranger.recv(&mut space).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }

    #[test]
    fn what_comes_late_of_a_greeting_is_no_block() {
        let (far, at) = listening();
        let answering = thread::spawn(move || heard(&far).map(|echoes| (echoes, far)));
        let (near, _) = listening();
        exchange::join(&near, at).unwrap();
        let to_near = greet(&near, &seat(), later()).unwrap();
        let (to_far, far) = answering.join().unwrap().unwrap();
        let Echoes::Near { challenge } = to_near else { panic!("{to_near:?}") };
        let proof = proof(&seat(), &challenge);
        assert!(to_far.take(far.as_fd(), proof.len(), &proof), "it was not heard");
        assert!(to_far.take(far.as_fd(), proof.len(), &proof[..8]), "as much as there is room for");
        assert!(to_far.take(far.as_fd(), WORDS, &seat().words(&NONCE)), "they were repeated");
        assert!(!to_far.take(far.as_fd(), challenge.len(), &challenge), "as long as a proof");
        let mut space = [0; WORDS];
        for _ in 0..2 {
            let got =
                exchange::recv(near.as_fd(), &mut space, Call::Sleeping, Framing::Message).unwrap();
            assert_eq!(&space[..got], GREETING);
            assert!(to_near.take(near.as_fd(), got, &space));
        }
        assert!(to_near.take(near.as_fd(), challenge.len(), &challenge));
        assert!(!to_near.take(near.as_fd(), proof.len(), &proof));
    }

    /// Whoever knows the secret and speaks under a foreign address cannot read the challenge, and gets
    /// no socket that sends there.
    #[test]
    fn a_token_without_the_challenge_of_its_address_opens_nothing() {
        let (far, at) = listening();
        let answering = thread::spawn(move || heard(&far).map(drop));
        let reader = UdpSocket::bind("127.0.0.1:0").unwrap();
        reader.send_to(&seat().words(&NONCE), at).unwrap();
        let mut challenge = [0; WORDS / 2];
        assert_eq!(reader.recv(&mut challenge).unwrap(), WORDS / 2);
        let other = UdpSocket::bind("127.0.0.1:0").unwrap();
        other.send_to(&proof(&seat(), &challenge)[..], at).unwrap();
        reader.send_to(&proof(&seat(), &challenge)[..], at).unwrap();
        answering.join().unwrap().unwrap();
        let mut space = [0; WORDS];
        assert_eq!(reader.recv(&mut space).unwrap(), GREETING.len());
        other.set_nonblocking(true).unwrap();
        assert_eq!(other.recv(&mut space).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }
}
