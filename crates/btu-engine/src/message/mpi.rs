//! What the layers of MPI share: a rank's end upon messages of the library.
//!
//! A message of up to [`TOGETHER`] bytes is one of MPI, with its head before it; a longer one is two, head and payload, so
//! that the payload is not copied. All calls come back at once but the receipt of what was found, so that a rank that
//! waits can be stopped.

mod kept;
mod launcher;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use btu_core::app::endpoint::Arrival;
use btu_core::app::endpoint::Endpoint;
use btu_core::app::endpoint::LayerError;
use btu_core::app::sample::Wait;
use btu_core::units::Nanos;
use btu_core::words::sentence;
use btu_sys::mpi::Family;
use btu_sys::mpi::Found;
use btu_sys::mpi::Mail;
use btu_sys::mpi::World;

use self::kept::Kept;
use super::Entered;
use super::Terms;
use super::incoming::Head;
use super::incoming::Wanted;
use super::pause::Awaited;
use super::pause::Pause;
use crate::error::EngineError;
use crate::time::now;

pub(super) use self::launcher::Launcher;

/// One rank.
#[derive(Debug)]
pub(super) struct MpiEnd<F: Family> {
    world: World<F>,
    inbox: Inbox,
    /// Head and payload of a message that is sent in one piece.
    together: Vec<u8>,
}

/// What a rank does beside sending.
#[derive(Debug)]
struct Inbox {
    rank: usize,
    kept: Kept,
    /// Where a message of MPI is received before it is known what it is.
    landing: Vec<u8>,
    wait: Wait,
    patience: Nanos,
    stop: Arc<AtomicBool>,
}

/// A call that waits.
#[derive(Debug)]
struct Turn {
    pause: Pause,
    beside: Beside,
    /// When it first found nothing.
    begun: Option<Nanos>,
}

/// What a rank does while it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beside {
    /// It keeps what comes from anyone.
    Keeping,
    /// It does so after a while: whoever is awaited may wait for one whose long message is not taken in.
    KeepingLater,
    Nothing,
}

/// A call of the library did not work, or the rank should not go on.
#[derive(Debug)]
enum Broken {
    Call(btu_sys::Error),
    Layer(LayerError),
}

impl<F: Family> MpiEnd<F> {
    /// Becomes a rank. `remedy` says how to get the library.
    pub(super) fn enter(terms: &Terms, remedy: &str) -> Result<Entered, EngineError> {
        let world = World::<F>::enter().map_err(|cause| {
            EngineError::Refused(format!("not available: {}: {remedy}", sentence(&cause)))
        })?;
        let inbox = Inbox {
            rank: world.rank(),
            kept: Kept::new(world.rank(), world.ranks(), terms.kept_limit.count()),
            landing: vec![0; TOGETHER],
            wait: terms.wait,
            patience: terms.patience,
            stop: Arc::clone(&terms.stop),
        };
        let library = brief(&world.library()?);
        let end = Box::new(Self { world, inbox, together: Vec::with_capacity(TOGETHER) });
        Ok(Entered { end, library })
    }

    fn send_whole(&mut self, to: usize, tag: u32, payload: &[u8]) -> Result<(), Broken> {
        self.inbox.go_on()?;
        let head = self.inbox.head(tag, payload)?.encode();
        if Head::BYTES + payload.len() > TOGETHER {
            // Whoever took the head waits for the payload: nobody waits for another in between.
            self.put(to, tag, &head, Beside::Nothing)?;
            return self.put(to, tag, payload, Beside::Keeping);
        }
        let mut together = std::mem::take(&mut self.together);
        together.clear();
        together.extend_from_slice(&head);
        together.extend_from_slice(payload);
        let put = self.put(to, tag, &together, Beside::Keeping);
        self.together = together;
        put
    }

    /// Sends bytes as one message of MPI.
    fn put(&mut self, to: usize, tag: u32, bytes: &[u8], beside: Beside) -> Result<(), Broken> {
        let (inbox, mut turn) = (&mut self.inbox, Turn::new(to, Awaited::Room, beside));
        self.world.send(to, folded(tag), bytes, |mail| inbox.look_around(mail, &mut turn))
    }

    /// Gives when the message was sent.
    fn receive_whole(&mut self, from: usize, mut wanted: Wanted<'_>) -> Result<Nanos, Broken> {
        self.inbox.go_on()?;
        let mut turn = Turn::new(from, Awaited::Message, Beside::KeepingLater);
        let mail = self.world.mail()?;
        loop {
            // What is kept was sent before what the library has.
            if let Some(sent_at) = self.inbox.kept.take(from, &mut wanted)? {
                return Ok(sent_at);
            }
            match mail.find(Some((from, folded(wanted.tag))))? {
                Some(found) => {
                    if let Some(sent_at) = self.inbox.take(mail, &found, Some(&mut wanted))? {
                        return Ok(sent_at);
                    }
                }
                None => self.inbox.look_around(mail, &mut turn)?,
            }
        }
    }

    /// The cause in the words of the layer.
    fn told(&self, peer: usize, broken: Broken) -> LayerError {
        match broken {
            Broken::Layer(cause) => cause,
            Broken::Call(_) if self.inbox.stop.load(Relaxed) => LayerError::Stopped,
            Broken::Call(cause) => LayerError::Gone { peer, cause: sentence(&cause) },
        }
    }
}

impl<F: Family> Endpoint for MpiEnd<F> {
    fn rank(&self) -> usize {
        self.inbox.rank
    }

    fn ranks(&self) -> usize {
        self.world.ranks()
    }

    fn now(&self) -> Nanos {
        now()
    }

    fn send(&mut self, to: usize, tag: u32, payload: &[u8]) -> Result<(), LayerError> {
        self.send_whole(to, tag, payload).map_err(|broken| self.told(to, broken))
    }

    fn receive(&mut self, from: usize, tag: u32, space: &mut [u8]) -> Result<Arrival, LayerError> {
        let sent_at = self.receive_whole(from, Wanted { tag, space });
        let sent_at = sent_at.map_err(|broken| self.told(from, broken))?;
        Ok(Arrival { sent_at: Some(sent_at) })
    }
}

impl Inbox {
    /// The head of a message that is sent now.
    fn head(&self, tag: u32, payload: &[u8]) -> Result<Head, LayerError> {
        // A count of MPI has 31 bits.
        let too_long = |_| LayerError::Length {
            from: self.rank,
            tag,
            got_bytes: u64::try_from(payload.len()).unwrap_or(u64::MAX),
            wanted_bytes: i32::MAX.unsigned_abs().into(),
        };
        let length = i32::try_from(payload.len()).map_err(too_long)?;
        Ok(Head::new(length.unsigned_abs(), tag, now()))
    }

    /// Lets time pass, and keeps what comes from anyone meanwhile, where that is asked for.
    fn look_around<F: Family>(
        &mut self,
        mail: &mut Mail<F>,
        turn: &mut Turn,
    ) -> Result<(), Broken> {
        if !turn.pause.is_over(self.wait) {
            return Ok(());
        }
        let has_kept = turn.keeps() && self.keep_one(mail)?;
        turn.pause.note(has_kept);
        self.go_on()?;
        if self.wait == Wait::Block && !has_kept {
            turn.rest();
        }
        Ok(turn.pause.go_on(self.wait, self.patience)?)
    }

    /// Keeps the next message of anyone, where there is one.
    fn keep_one<F: Family>(&mut self, mail: &mut Mail<F>) -> Result<bool, Broken> {
        let Some(found) = mail.find(None)? else { return Ok(false) };
        self.take(mail, &found, None)?;
        Ok(true)
    }

    /// Receives what was found: when it was sent, where it is the wanted message, which goes to its space. Others are kept.
    fn take<F: Family>(
        &mut self,
        mail: &mut Mail<F>,
        found: &Found,
        wanted: Option<&mut Wanted<'_>>,
    ) -> Result<Option<Nanos>, Broken> {
        let space = self.landing.get_mut(..found.bytes).ok_or_else(|| foreign(found))?;
        mail.receive(found, space)?;
        let (head, first) = space.split_first_chunk().ok_or_else(|| foreign(found))?;
        let head = Head::decode(*head);
        let mut rest = |space: &mut [u8]| -> Result<(), Broken> {
            if first.is_empty() && !space.is_empty() {
                let (from, tag, bytes) = (found.from, found.tag, space.len());
                return Ok(mail.receive(&Found { from, tag, bytes }, space)?);
            }
            space.copy_from_slice(first);
            Ok(())
        };
        if let Some(wanted) = wanted.filter(|wanted| wanted.tag == head.tag()) {
            head.fits(found.from, wanted.space)?;
            rest(wanted.space)?;
            return Ok(Some(head.sent_at()));
        }
        let mut payload = self.kept.room(head.length())?;
        rest(&mut payload)?;
        self.kept.put(found.from, head, payload);
        Ok(None)
    }

    fn go_on(&self) -> Result<(), LayerError> {
        if self.stop.load(Relaxed) { Err(LayerError::Stopped) } else { Ok(()) }
    }
}

impl Turn {
    fn new(peer: usize, awaited: Awaited, beside: Beside) -> Self {
        Self { pause: Pause::new(peer, awaited), beside, begun: None }
    }

    fn keeps(&mut self) -> bool {
        match self.beside {
            Beside::Keeping => true,
            Beside::KeepingLater => self.is_long(),
            Beside::Nothing => false,
        }
    }

    /// MPI wakes nobody: others get the CPU after each look, and for longer where the wait is long anyway.
    fn rest(&mut self) {
        if self.is_long() {
            std::thread::sleep(ASLEEP);
        } else {
            std::thread::yield_now();
        }
    }

    fn is_long(&mut self) -> bool {
        now().since(*self.begun.get_or_insert_with(now)) >= LONG
    }
}

impl From<btu_sys::Error> for Broken {
    fn from(cause: btu_sys::Error) -> Self {
        Self::Call(cause)
    }
}

impl From<LayerError> for Broken {
    fn from(cause: LayerError) -> Self {
        Self::Layer(cause)
    }
}

/// `Open MPI v4.1.4`: of what a library says it is, name and version; the rest tells who built it, and how.
fn brief(library: &str) -> String {
    let first = library.lines().next().unwrap_or_default();
    let words = first.split(',').next().unwrap_or_default().split_whitespace();
    words.collect::<Vec<_>>().join(" ")
}

/// Nobody but ranks of this launch sends in its world, and they send heads first.
fn foreign(found: &Found) -> LayerError {
    let cause = format!("it sent {} B that begin with no head", found.bytes);
    LayerError::Gone { peer: found.from, cause }
}

/// A tag of MPI, of which 0 to 32,767 are there in every library (MPI 4.1, 9.1.2, `MPI_TAG_UB`). Where two tags come to the same one,
/// heads tell them apart.
fn folded(tag: u32) -> i32 {
    ((tag ^ (tag >> 16)) & 0x7fff).cast_signed()
}

/// After this a rank that blocks sleeps between its looks, and one that awaits a message keeps those of others.
const LONG: Nanos = Nanos::from_micros(500);
/// It is late by a tenth or two of the wait.
const ASLEEP: Duration = Duration::from_micros(50);
/// Head and payload that are sent together: below this a copy costs less than a second message.
const TOGETHER: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_what_a_library_says_name_and_version_are_told() {
        let open_mpi =
            "Open MPI v4.1.4, package: Open MPI somebody@host Distribution, ident: 4.1.4";
        assert_eq!(brief(open_mpi), "Open MPI v4.1.4");
        let mpich = "MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr  7 12:34:45 CDT 2022\n";
        assert_eq!(brief(mpich), "MPICH Version: 4.0.2");
        assert_eq!(brief(""), "");
    }

    #[test]
    fn tags_of_kernels_and_collectives_come_to_tags_of_their_own() {
        let all = (0..16).chain(0xffff_0000..=0xffff_000f);
        let folded: std::collections::BTreeSet<i32> = all.map(folded).collect();
        assert!(folded.len() == 32 && folded.iter().all(|tag| (0..0x8000).contains(tag)));
    }
}
