//! Where all that connect are heard, and none makes another wait: who knows the token comes in.

use std::io;
use std::os::fd::AsFd;
use std::os::fd::OwnedFd;
use std::time::Duration;
use std::time::Instant;

use btu_sys::exchange;
use btu_sys::exchange::Call;
use btu_sys::exchange::Framing;
use btu_sys::wait::Ready;

use super::PATIENCE;
use super::WORDS;
use crate::comm::Seat;
use crate::error::EngineError;

/// Those that have connected and are not yet let in.
#[derive(Debug)]
pub(crate) struct Hall {
    ready: Ready,
    /// The one that came first is first.
    strangers: Vec<Stranger>,
}

/// A connection that has not been answered yet.
#[derive(Debug)]
pub(crate) struct Stranger {
    socket: OwnedFd,
    since: Instant,
    words: [u8; WORDS],
    heard: usize,
}

impl Hall {
    /// Nobody is there, and no door.
    pub(crate) fn new() -> Result<Self, EngineError> {
        Ok(Self { ready: Ready::new(1)?, strangers: Vec::new() })
    }

    /// One door more; it must not block.
    pub(crate) fn add_door(&self, listener: &impl AsFd) -> Result<(), EngineError> {
        Ok(self.ready.add_reader(listener, 0)?)
    }

    /// Waits until somebody comes or says something, no longer than `left`.
    pub(crate) fn wait(&mut self, left: Duration) -> Result<(), EngineError> {
        let left = u64::try_from(left.as_nanos()).ok();
        self.ready.wait(left).map_err(EngineError::peer("accept"))
    }

    /// One that has just come. Where too many are heard, the first has had its time: whoever knows the
    /// token says it at once.
    pub(crate) fn enter(&mut self, socket: OwnedFd) {
        if self.ready.add_reader(&socket, 0).is_err() {
            return;
        }
        if self.strangers.len() >= MOST_HEARD {
            self.strangers.remove(0);
        }
        self.strangers.push(Stranger::new(socket));
    }

    /// Takes what all have said; those that are gone, too slow or say too much are sent away.
    pub(crate) fn hear(&mut self) {
        let Self { ready, strangers } = self;
        strangers.retain_mut(|stranger| {
            let had_spoken = stranger.has_spoken();
            let stays = stranger.is_still_heard();
            if stays && stranger.has_spoken() && !had_spoken {
                // What follows its words is for whoever lets it in. Once added, it can be taken out.
                let _ = ready.remove(&stranger.socket);
            }
            stays
        });
    }

    /// The first whose words are all there; it is in the hall no more.
    pub(crate) fn next_spoken(&mut self) -> Option<Stranger> {
        let at = self.strangers.iter().position(Stranger::has_spoken)?;
        Some(self.strangers.remove(at))
    }
}

impl Stranger {
    fn new(socket: OwnedFd) -> Self {
        Self { socket, since: Instant::now(), words: [0; WORDS], heard: 0 }
    }

    const fn has_spoken(&self) -> bool {
        self.heard == WORDS
    }

    /// The place in its job that it says it has.
    pub(crate) fn flow(&self) -> u16 {
        Seat::flow_of(&self.words)
    }

    /// What makes its opening another than all others, it says.
    pub(crate) fn nonce(&self) -> [u8; 12] {
        Seat::nonce_of(&self.words)
    }

    /// False for one that is gone, too slow or says too much.
    fn is_still_heard(&mut self) -> bool {
        while self.heard < WORDS {
            let space = &mut self.words[self.heard..];
            match exchange::recv(self.socket.as_fd(), space, Call::AtOnce, Framing::Stream) {
                Ok(0) => return false,
                Ok(got) => self.heard += got,
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => return false,
            }
        }
        self.since.elapsed() < PATIENCE
    }

    /// True for one that knows the token.
    pub(crate) fn knows(&self, seat: &Seat) -> bool {
        seat.answer_to(&self.words).is_some()
    }

    /// The socket of one that knows the token, answered.
    pub(crate) fn admitted(self, seat: &Seat) -> Option<OwnedFd> {
        let answer = seat.answer_to(&self.words)?;
        // The send buffer of a new connection is empty: the answer is taken as a whole.
        let told = exchange::send(self.socket.as_fd(), &answer, Call::AtOnce);
        told.is_ok_and(|count| count == answer.len()).then_some(self.socket)
    }
}

/// Strangers that are heard at once.
const MOST_HEARD: usize = 64;
