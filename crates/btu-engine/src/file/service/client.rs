//! The thread of one client: it opens a session, waits for the others, does its errand, and takes leave.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::Sender;

use btu_core::file::sample::Operation;
use btu_core::file::sample::Phases;
use btu_core::file::sample::Sent;
use btu_core::units::Nanos;

use super::gate::Gate;
use crate::error::EngineError;
use crate::file::FileProtocol;
use crate::file::Moments;
use crate::file::Opening;
use crate::file::Session;
use crate::file::Visit;
use crate::place::Place;
use crate::time::now;

/// What a client needs.
pub(super) struct Client {
    /// Its place in the crew.
    pub(super) number: usize,
    pub(super) protocol: &'static dyn FileProtocol,
    pub(super) place: Place,
    pub(super) visit: Visit,
    pub(super) gates: Arc<Gates>,
    pub(super) progress: Arc<AtomicU64>,
    pub(super) words: Sender<(usize, Word)>,
}

/// What all clients wait for.
#[derive(Debug, Default)]
pub(super) struct Gates {
    /// Until everybody has a session.
    pub(super) begin: Gate,
    /// Until everybody has done its errand: taking leave is no part of anybody's.
    pub(super) leave: Gate,
}

/// What a client says to whoever watches it.
#[derive(Debug)]
pub(super) enum Word {
    /// It has a session.
    Ready(Opening),
    /// It has done what it could.
    Worked(Worked),
    /// It has taken leave, which took so long.
    Left(Nanos),
    /// It could not open its session, or not close it.
    Failed(String),
}

/// What a client did.
#[derive(Debug, Default)]
pub(super) struct Worked {
    pub(super) phases: Phases,
    pub(super) took_ns: Vec<Nanos>,
    pub(super) sent: Option<Sent>,
    /// When it was done, by its own look at the clock: whoever watches may hear of it late.
    pub(super) done: Nanos,
    pub(super) failure: Option<String>,
}

impl Client {
    /// Whoever does not hear what it says has given it up.
    pub(super) fn attend(self) {
        if let Err(cause) = self.come_and_go() {
            self.say(Word::Failed(cause.sentence()));
        }
    }

    fn come_and_go(&self) -> Result<(), EngineError> {
        self.place.enter()?;
        let mut session = self.protocol.open(&self.visit)?;
        let mut worked = Worked { took_ns: Vec::with_capacity(self.turns()), ..Worked::default() };
        self.say(Word::Ready(session.opening()));
        let Some(released) = self.gates.begin.wait() else { return Ok(()) };
        self.work(&mut *session, released, &mut worked);
        worked.sent = session.sent();
        let has_failed = worked.failure.is_some();
        self.say(Word::Worked(worked));
        if has_failed || self.gates.leave.wait().is_none() {
            return Ok(());
        }
        let begun = now();
        session.close()?;
        self.say(Word::Left(now().since(begun)));
        Ok(())
    }

    fn work(&self, session: &mut dyn Session, released: Nanos, worked: &mut Worked) {
        for number in (0..u32::MAX).take(self.turns()) {
            let mut moments = Moments::from_now(&self.progress);
            let outcome = session.run(number, &mut moments);
            worked.note(&moments, released);
            if let Err(cause) = outcome {
                worked.failure = Some(cause.sentence());
                break;
            }
        }
        worked.done = now();
    }

    /// All blocks of a stream are one errand.
    fn turns(&self) -> usize {
        let errand = &self.visit.errand;
        let count = usize::try_from(errand.count).unwrap_or(usize::MAX);
        if errand.operation == Operation::Stream { 1 } else { count }
    }

    fn say(&self, word: Word) {
        let _ = self.words.send((self.number, word));
    }
}

impl Worked {
    fn note(&mut self, moments: &Moments<'_>, released: Nanos) {
        let since = |at: Nanos| at.since(released);
        let phases = &mut self.phases;
        phases.request_ns = phases.request_ns.or(Some(since(moments.request)));
        phases.first_byte_ns = phases.first_byte_ns.or(moments.first_byte.map(since));
        phases.last_byte_ns = moments.last_byte.map(since).or(phases.last_byte_ns);
        if let Some(commit) = moments.commit {
            phases.commit_ns = Some(since(commit));
            self.took_ns.push(commit.since(moments.request));
        }
    }
}
