//! The token of a run: what a data connection must know before it is one.
//!
//! The first 64 bytes of a connection: `BTUD`, version, flow, attempt, run and a nonce, 32 bytes in
//! all, and BLAKE3 over them, keyed with a secret that was drawn for this run. The answer is BLAKE3
//! over the same bytes with another purpose. Wrong or late: closed without a word. All of it comes
//! before the timed window and counts nowhere.

use std::io;
use std::time::Duration;
use std::time::Instant;

use super::Preamble;
use crate::transport::Channel;
use crate::transport::send_exact;

/// What both ends of a connection know.
#[derive(Clone, Copy)]
pub struct Seat {
    /// Drawn for this run and this black box.
    pub secret: [u8; 32],
    /// Number of the run.
    pub run: u64,
    /// Number of the attempt.
    pub attempt: u32,
    /// Place of the connection in the job of its black box.
    pub flow: u16,
}

/// The host under test: it speaks first.
#[derive(Clone, Debug)]
pub struct NearToken {
    /// One for each connection of the case, in its order.
    pub seats: Vec<Seat>,
    /// Makes no two openings equal.
    pub nonce: [u8; 12],
}

/// A black box: it hears, and answers what it knows.
#[derive(Clone, Debug)]
pub struct FarToken {
    /// Of the run; its `flow` is that of each connection.
    pub seat: Seat,
}

impl Seat {
    fn opening(&self, nonce: &[u8; 12]) -> [u8; HALF] {
        let mut opening = [0; HALF];
        opening[..4].copy_from_slice(MAGIC);
        opening[4] = VERSION;
        opening[6..8].copy_from_slice(&self.flow.to_be_bytes());
        opening[8..12].copy_from_slice(&self.attempt.to_be_bytes());
        opening[12..20].copy_from_slice(&self.run.to_be_bytes());
        opening[20..].copy_from_slice(nonce);
        opening
    }

    /// The place that words claim, true or not.
    pub(crate) const fn flow_of(words: &[u8; 2 * HALF]) -> u16 {
        u16::from_be_bytes([words[6], words[7]])
    }

    /// What words claim to be like no others, true or not.
    pub(crate) fn nonce_of(words: &[u8; 2 * HALF]) -> [u8; 12] {
        words[..HALF].last_chunk().copied().unwrap_or_default()
    }

    /// What the end that connects says first.
    pub(crate) fn words(&self, nonce: &[u8; 12]) -> [u8; 2 * HALF] {
        let opening = self.opening(nonce);
        let mut words = [0; 2 * HALF];
        words[..HALF].copy_from_slice(&opening);
        words[HALF..].copy_from_slice(self.tag(&opening).as_bytes());
        words
    }

    /// The answer to words that know the secret and mean this seat; nothing for all others.
    pub(crate) fn answer_to(&self, words: &[u8; 2 * HALF]) -> Option<[u8; HALF]> {
        let (mut opening, mut tag) = ([0; HALF], [0; HALF]);
        opening.copy_from_slice(&words[..HALF]);
        tag.copy_from_slice(&words[HALF..]);
        let nonce = opening.last_chunk().copied().unwrap_or_default();
        let is_ours = opening == self.opening(&nonce);
        // The comparison of hashes takes as long for a wrong one.
        let knows = blake3::Hash::from_bytes(tag) == self.tag(&opening);
        (knows && is_ours).then(|| *self.answer(&opening).as_bytes())
    }

    /// True for the answer of an end that knows the secret too.
    pub(crate) fn is_answer(&self, nonce: &[u8; 12], answer: [u8; HALF]) -> bool {
        blake3::Hash::from_bytes(answer) == self.answer(&self.opening(nonce))
    }

    /// A proof that its maker knows the secret and has just read `challenge`.
    pub(crate) fn proof(&self, challenge: &[u8; HALF]) -> blake3::Hash {
        blake3::keyed_hash(&self.secret, &[&challenge[..], b"here"].concat())
    }

    fn tag(&self, opening: &[u8; HALF]) -> blake3::Hash {
        blake3::keyed_hash(&self.secret, opening)
    }

    fn answer(&self, opening: &[u8; HALF]) -> blake3::Hash {
        blake3::keyed_hash(&self.secret, &[&opening[..], b"answer"].concat())
    }
}

impl std::fmt::Debug for Seat {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { run, attempt, flow, .. } = self;
        write!(out, "Seat(run {run}, attempt {attempt}, flow {flow})")
    }
}

impl Preamble for NearToken {
    fn near(&self, flow: usize, channel: &dyn Channel) -> io::Result<()> {
        let seat = self.seats.get(flow).ok_or_else(|| refused("a connection without a token"))?;
        channel.bound_waits(PATIENCE)?;
        send_exact(channel, &seat.words(&self.nonce))?;
        let mut answer = [0; HALF];
        receive(channel, &mut answer)?;
        if !seat.is_answer(&self.nonce, answer) {
            return Err(refused("the black box does not know the token"));
        }
        channel.bound_waits(Duration::ZERO)
    }

    fn far(&self, _flow: usize, _channel: &dyn Channel) -> io::Result<()> {
        Err(refused("the host under test accepts no connections"))
    }
}

impl Preamble for FarToken {
    fn near(&self, _flow: usize, _channel: &dyn Channel) -> io::Result<()> {
        Err(refused("a black box makes no connections"))
    }

    fn far(&self, flow: usize, channel: &dyn Channel) -> io::Result<()> {
        let flow = u16::try_from(flow).map_err(|_| refused("too many connections"))?;
        let seat = Seat { flow, ..self.seat };
        channel.bound_waits(PATIENCE)?;
        let mut words = [0; 2 * HALF];
        receive(channel, &mut words)?;
        let answer = seat.answer_to(&words).ok_or_else(|| refused("a wrong token"))?;
        send_exact(channel, &answer)?;
        channel.bound_waits(Duration::ZERO)
    }
}

/// All of `space`, within one patience: a byte a second is too slow.
fn receive(channel: &dyn Channel, space: &mut [u8]) -> io::Result<()> {
    let end = Instant::now() + PATIENCE;
    let mut filled = 0;
    while filled < space.len() {
        match channel.recv(&mut space[filled..]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(got) => filled += got,
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(cause),
        }
        if filled < space.len() && Instant::now() >= end {
            return Err(io::ErrorKind::TimedOut.into());
        }
    }
    Ok(())
}

fn refused(reason: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, reason)
}

const MAGIC: &[u8; 4] = b"BTUD";
const VERSION: u8 = 1;
const HALF: usize = 32;
/// For the words of either end.
const PATIENCE: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::io::Write;
    use std::net::SocketAddr;
    use std::net::TcpStream;
    use std::thread;

    use btu_sys::socket::Settings;

    use super::super::doorway;
    use super::*;
    use crate::transport::TRANSPORTS;

    const SEAT: Seat = Seat { secret: [7; 32], run: 3, attempt: 1, flow: 0 };
    const NONCE: [u8; 12] = [5; 12];

    /// Seats that somebody else may have words of: of another run, attempt or connection, or a guess.
    const OTHERS: [Seat; 4] = [
        Seat { run: 2, ..SEAT },
        Seat { attempt: 2, ..SEAT },
        Seat { flow: 1, ..SEAT },
        Seat { secret: [8; 32], ..SEAT },
    ];

    #[test]
    fn words_are_good_for_their_run_attempt_and_connection_alone() {
        let words = SEAT.words(&NONCE);
        let answer = SEAT.answer_to(&words).unwrap();
        assert!(SEAT.is_answer(&NONCE, answer) && !SEAT.is_answer(&[6; 12], answer));
        for other in OTHERS {
            assert_eq!(SEAT.answer_to(&other.words(&NONCE)), None, "{other:?}");
            assert!(!other.is_answer(&NONCE, answer), "{other:?}");
        }
        for bit in 0..8 * words.len() {
            let mut altered = words;
            altered[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(SEAT.answer_to(&altered), None, "bit {bit}");
        }
    }

    /// What a stranger hears that says this; where it is not let in at all, that is nothing, too.
    fn heard(at: SocketAddr, words: &[u8]) -> usize {
        let Ok(mut stranger) = TcpStream::connect(at) else { return 0 };
        let said = stranger.write_all(words);
        stranger.set_read_timeout(Some(PATIENCE / 4)).unwrap();
        said.and_then(|()| stranger.read(&mut [0; 64])).unwrap_or(0)
    }

    #[test]
    fn strangers_hear_nothing_at_the_door_of_a_run_and_its_own_connection_comes_in() {
        let listener = TRANSPORTS[0].listen(([127, 0, 0, 1], 0).into(), &Settings::default());
        let listener = listener.unwrap();
        let at = listener.address().unwrap();
        let right = SEAT.words(&NONCE);
        thread::scope(|scope| {
            let token = FarToken { seat: SEAT };
            let door = scope.spawn(move || doorway::first_known(&*listener, 0, &token, |_| Ok(())));
            for other in OTHERS {
                assert_eq!(heard(at, &other.words(&NONCE)), 0, "{other:?}");
            }
            let mut garbage = right;
            garbage.reverse();
            for words in [&garbage[..], &right[..63], b"GET / HTTP/1.0\r\n\r\n", &[]] {
                assert_eq!(heard(at, words), 0, "{words:?}");
            }
            let mut own = TcpStream::connect(at).unwrap();
            own.write_all(&right).unwrap();
            let mut answer = [0; HALF];
            own.read_exact(&mut answer).unwrap();
            assert!(SEAT.is_answer(&NONCE, answer));
            let _let_in = door.join().unwrap().unwrap();
            assert_eq!(heard(at, &right), 0, "the words were good once");
        });
    }
}
