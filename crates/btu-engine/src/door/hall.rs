//! Where all that connect are heard, and none makes another wait: who knows the token comes in.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;
use std::time::Instant;

use btu_sys::exchange;
use btu_sys::exchange::Call;
use btu_sys::exchange::Framing;
use btu_sys::wait::Ready;

use super::PATIENCE;
use super::Seat;
use super::WORDS;
use crate::error::EngineError;

/// Those that have connected and are not yet let in. Whoever leaves it uninvited is closed.
#[derive(Debug)]
pub(crate) struct Hall<S> {
    ready: Ready,
    /// The one that came first is first.
    strangers: Vec<Stranger<S>>,
}

/// Whether one that has spoken said what it has to know.
type Knows<'a, S> = dyn Fn(&Stranger<S>) -> bool + 'a;

/// A connection that has not been answered yet.
#[derive(Debug)]
pub(crate) struct Stranger<S> {
    socket: S,
    since: Instant,
    words: [u8; WORDS],
    heard: usize,
}

impl<S: AsFd> Hall<S> {
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

    /// Takes in those that stand at a door; no more at once than are heard, which want to be heard too.
    /// Where too many are there, all are heard once and not for each that comes. A fault of the door is told when
    /// those before it are in.
    pub(crate) fn receive(
        &mut self,
        mut next: impl FnMut() -> Result<Option<S>, EngineError>,
        knows: &Knows<'_, S>,
    ) -> Result<(), EngineError> {
        let mut are_heard = false;
        for _ in 0..MOST_HEARD {
            let Some(socket) = next()? else { return Ok(()) };
            if self.is_full() && !are_heard {
                self.hear(knows);
                are_heard = true;
            }
            self.enter(socket, knows);
        }
        Ok(())
    }

    fn enter(&mut self, socket: S, knows: &Knows<'_, S>) {
        if self.has_room(knows) && self.ready.add_reader(&socket, 0).is_ok() {
            self.strangers.push(Stranger::new(socket));
        }
    }

    const fn is_full(&self) -> bool {
        self.strangers.len() >= MOST_HEARD
    }

    /// Where too many are heard, the first that is silent has had its time: whoever knows the token says
    /// it at once. One that has said it by now stays. False where all have.
    fn has_room(&mut self, knows: &Knows<'_, S>) -> bool {
        while self.is_full() {
            let silent = self.strangers.iter().position(|stranger| !stranger.has_spoken());
            let Some(at) = silent else { return false };
            let Self { ready, strangers } = self;
            let stays = strangers[at].hear(ready, knows);
            if !stays || !strangers[at].has_spoken() {
                strangers.remove(at);
            }
        }
        true
    }

    /// Takes what all have said; those that are gone, too slow or say what nobody wants to hear are sent
    /// away.
    pub(crate) fn hear(&mut self, knows: &Knows<'_, S>) {
        let Self { ready, strangers } = self;
        strangers.retain_mut(|stranger| stranger.hear(ready, knows));
    }

    /// The first that has said what it had to know; it is in the hall no more.
    pub(crate) fn next_spoken(&mut self) -> Option<Stranger<S>> {
        let at = self.strangers.iter().position(Stranger::has_spoken)?;
        Some(self.strangers.remove(at))
    }
}

impl<S: AsFd> Stranger<S> {
    fn new(socket: S) -> Self {
        Self { socket, since: Instant::now(), words: [0; WORDS], heard: 0 }
    }

    /// Takes what it has said. False for one that is not heard any more.
    fn hear(&mut self, ready: &Ready, knows: &Knows<'_, S>) -> bool {
        let had_spoken = self.has_spoken();
        let stays = self.is_still_heard();
        if !stays || had_spoken || !self.has_spoken() {
            return stays;
        }
        // What follows its words is for whoever lets it in. Once added, it can be taken out.
        let _ = ready.remove(&self.socket);
        knows(self)
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

    /// False for one that is gone or too slow.
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
    pub(crate) fn admitted(self, seat: &Seat) -> Option<S> {
        let answer = seat.answer_to(&self.words)?;
        // The send buffer of a new connection is empty: the answer is taken as a whole.
        let told = exchange::send(self.socket.as_fd(), &answer, Call::AtOnce);
        told.is_ok_and(|count| count == answer.len()).then_some(self.socket)
    }
}

/// Strangers that are heard at once.
const MOST_HEARD: usize = 64;

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use super::*;

    fn seat() -> Seat {
        Seat { secret: [5; 32], run: 1, attempt: 2, flow: 3 }
    }

    fn enter(hall: &mut Hall<UnixStream>) -> UnixStream {
        let (near, far) = UnixStream::pair().unwrap();
        near.set_nonblocking(true).unwrap();
        hall.enter(far, &|stranger| stranger.knows(&seat()));
        near
    }

    fn hear(hall: &mut Hall<UnixStream>) {
        hall.hear(&|stranger| stranger.knows(&seat()));
    }

    fn say(near: &mut UnixStream, nonce: u8) {
        near.write_all(&seat().words(&[nonce; 12])).unwrap();
    }

    #[test]
    fn the_silent_make_room_and_not_one_whose_words_are_there() {
        let mut hall = Hall::new().unwrap();
        let (mut silent, mut known) = (enter(&mut hall), enter(&mut hall));
        say(&mut known, 7);
        let crowd: Vec<UnixStream> = (0..2 * MOST_HEARD).map(|_| enter(&mut hall)).collect();
        assert_eq!(hall.strangers.len(), MOST_HEARD);
        assert_eq!(silent.read(&mut [0; 1]).unwrap(), 0, "the first stayed");
        assert_eq!(hall.next_spoken().unwrap().nonce(), [7; 12]);
        assert!(hall.next_spoken().is_none());
        drop(crowd);
    }

    /// All are heard when the first of them comes; who speaks after that is heard before it has to go.
    #[test]
    fn words_that_come_while_a_crowd_is_taken_in_are_not_lost() {
        let mut hall = Hall::new().unwrap();
        let mut silent: Vec<UnixStream> = (0..MOST_HEARD).map(|_| enter(&mut hall)).collect();
        let (mut crowd, mut others) = (Vec::new(), silent.split_off(1));
        let next = || {
            let (near, far) = UnixStream::pair().unwrap();
            crowd.push(near);
            if crowd.len() == 2 {
                say(&mut others[0], 9);
            }
            Ok(Some(far))
        };
        hall.receive(next, &|stranger| stranger.knows(&seat())).unwrap();
        assert_eq!(silent[0].read(&mut [0; 1]).unwrap(), 0, "the first stayed");
        assert_eq!((hall.strangers.len(), crowd.len()), (MOST_HEARD, MOST_HEARD));
        assert_eq!(hall.next_spoken().unwrap().nonce(), [9; 12]);
    }

    #[test]
    fn where_all_know_the_token_another_is_refused() {
        let mut hall = Hall::new().unwrap();
        let mut known: Vec<UnixStream> = (0..MOST_HEARD).map(|_| enter(&mut hall)).collect();
        for one in &mut known {
            say(one, 1);
        }
        assert_eq!(enter(&mut hall).read(&mut [0; 1]).unwrap(), 0, "one more came in");
        assert_eq!(hall.strangers.len(), MOST_HEARD);
    }

    #[test]
    fn one_that_says_something_else_takes_nobodys_place() {
        let mut hall = Hall::new().unwrap();
        let mut wrong: Vec<UnixStream> = (0..MOST_HEARD).map(|_| enter(&mut hall)).collect();
        for one in &mut wrong {
            one.write_all(&[1; WORDS]).unwrap();
        }
        let mut known = enter(&mut hall);
        say(&mut known, 2);
        hear(&mut hall);
        assert_eq!(hall.strangers.len(), 1);
        assert_eq!(hall.next_spoken().unwrap().nonce(), [2; 12]);
    }

    #[test]
    fn a_crowd_at_the_door_is_taken_in_by_and_by() {
        let (mut hall, mut crowd) = (Hall::new().unwrap(), Vec::new());
        let next = || {
            let (near, far) = UnixStream::pair().unwrap();
            crowd.push(near);
            Ok(Some(far))
        };
        hall.receive(next, &|_| true).unwrap();
        assert_eq!((hall.strangers.len(), crowd.len()), (MOST_HEARD, MOST_HEARD));
    }
}
