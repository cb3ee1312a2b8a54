//! A document that comes in pieces: each in time, and all of them in time.

use btu_core::units::Bytes;
use btu_core::units::Nanos;

use super::Client;
use super::ClientAction;
use super::State;
use super::step_end;
use crate::frame::Chunk;
use crate::message::Request;
use crate::policy::LEAST_RATE;

/// What came of a document so far.
#[derive(Debug)]
pub(super) struct Pieces {
    seq: u64,
    document: Vec<u8>,
    length: u64,
    end: Nanos,
}

impl Pieces {
    /// Of a document that was announced now.
    pub(super) fn of(seq: u64, length: u64, now: Nanos) -> Self {
        // As a whole, however steadily its pieces come.
        let end = now.saturating_add(STALL).saturating_add(LEAST_RATE.time_for(Bytes::new(length)));
        Self { seq, document: Vec::new(), length, end }
    }

    /// False for a piece that is not the next one.
    pub(super) fn take(&mut self, chunk: &Chunk) -> bool {
        let grown = self.document.len().saturating_add(chunk.bytes.len()) as u64;
        let is_next = self.seq == chunk.document
            && chunk.offset == self.document.len() as u64
            && grown <= self.length
            && !chunk.bytes.is_empty();
        if is_next {
            self.document.extend_from_slice(&chunk.bytes);
        }
        is_next
    }

    /// True where nothing is missing.
    pub(super) const fn are_all(&self) -> bool {
        self.document.len() as u64 >= self.length
    }

    /// The document.
    pub(super) fn document(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.document)
    }

    /// When all of it has to be there.
    pub(super) const fn end(&self) -> Nanos {
        self.end
    }
}

impl Client {
    /// What a step added to the result comes before its answer.
    pub(super) fn copy(&mut self, now: Nanos, text: String, pieces: Pieces) -> Vec<ClientAction> {
        if !matches!(&self.state, State::Asked { request: Request::Test(o), .. } if o.copies) {
            return self.lied("a copy of a result that nobody asked for");
        }
        let asked = Box::new(std::mem::replace(&mut self.state, State::Ready));
        self.state = State::Copying { asked, text, pieces };
        self.deadline = step_end(now, STALL, self.state.whole());
        Vec::new()
    }

    /// The next piece of a document, at its place.
    pub(super) fn piece(&mut self, now: Nanos, chunk: &Chunk) -> Vec<ClientAction> {
        if let Some(endless) = self.endless(now) {
            return self.fail(endless);
        }
        let whole = self.state.whole();
        let (State::Receiving { pieces, .. } | State::Copying { pieces, .. }) = &mut self.state
        else {
            return self.lied("a piece of a document that nobody asked for");
        };
        if !pieces.take(chunk) {
            return self.lied("a piece of a document at a wrong place");
        }
        self.deadline = step_end(now, STALL, whole).min(pieces.end());
        if !pieces.are_all() {
            return Vec::new();
        }
        let document = pieces.document();
        match std::mem::replace(&mut self.state, State::Ready) {
            State::Copying { asked, text, .. } => self.copied(now, *asked, document, text),
            State::Receiving { answer, .. } => self.done(answer, document),
            _ => Vec::new(),
        }
    }

    /// The agent goes on when it hears that its step was heard, and what it added is kept by then.
    fn copied(
        &mut self,
        now: Nanos,
        asked: State,
        document: Vec<u8>,
        text: String,
    ) -> Vec<ClientAction> {
        if let State::Asked { patience, whole, .. } = &asked {
            self.deadline = step_end(now, *patience, *whole);
        }
        self.state = asked;
        vec![
            ClientAction::Kept(document),
            ClientAction::Send(Request::Ping {}),
            ClientAction::Progress(text),
        ]
    }
}

/// Without progress of a document.
pub(super) const STALL: Nanos = Nanos::from_secs(10);
