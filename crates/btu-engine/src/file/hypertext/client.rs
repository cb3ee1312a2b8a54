//! A client's session: its errand, request by request.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::file::sample::Operation;
use btu_core::units::Bytes as Size;
use btu_core::units::Nanos;
use hyper::Method;
use hyper::body::Bytes;
use hyper::body::Incoming;

use super::Version;
use super::body::Content;
use super::body::shared;
use super::chunk::Passage;
use super::chunk::Watch;
use super::dialogue::Dialogue;
use super::dialogue::Fault;
use super::door::Door;
use super::incoming::receive;
use crate::error::EngineError;
use crate::file::Errand;
use crate::file::Keeping;
use crate::file::Moments;
use crate::file::Opening;
use crate::file::Session;
use crate::file::Visit;
use crate::file::order::answer_to;
use crate::file::order::buffer_for;
use crate::file::site::Stay;
use crate::time::now;

/// A client with a connection.
#[derive(Debug)]
pub(super) struct Client {
    protocol: &'static str,
    dialogue: Dialogue,
    errand: Errand,
    /// At a server of others.
    stay: Option<Stay>,
    opening: Opening,
    /// What is sent, over and over.
    block: Bytes,
    /// Where it goes.
    sink: String,
}

impl Client {
    pub(super) fn connect(visit: &Visit, version: Version) -> Result<Self, EngineError> {
        let (errand, stay, protocol) =
            (visit.errand.clone(), visit.stay.clone(), version.protocol());
        let block = shared(&Arc::new(buffer_for(&errand, protocol)?));
        let door = Door::of(visit)?;
        let sink = stay.as_ref().map_or_else(|| SINK.to_owned(), |stay| door.path(&stay.stored));
        let begun = now();
        let dialogue = Dialogue::begin(door, version)?;
        // Who asks is not known by anything that it says before.
        let opening = Opening { connect_ns: now().since(begun), auth_ns: None };
        Ok(Self { protocol, dialogue, errand, stay, opening, block, sink })
    }

    /// Throws away what comes.
    fn retrieve(&mut self, number: u32, moments: &mut Moments<'_>) -> Result<Size, EngineError> {
        let (errand, protocol) = (self.errand.clone(), self.protocol);
        let path = match &self.stay {
            Some(stay) => self.dialogue.path(&stay.retrieved),
            None => errand.name(number),
        };
        let mut left = errand.size.count();
        let note = |bytes: &[u8]| {
            let less = left.checked_sub(bytes.len() as u64);
            left = less.ok_or_else(|| errand.is_too_long(protocol))?;
            moments.passed(bytes.len(), left == 0);
            Ok(())
        };
        let hear = async |body: &mut Incoming| receive::<Fault>(body, note).await;
        self.dialogue.ask((Method::GET, &path), Content::nothing(), hear, || ())?;
        if left > 0 {
            return Err(errand.is_short(protocol, left));
        }
        moments.committed();
        Ok(errand.size)
    }

    /// Sends `total` bytes, a block at a time, and hears that they came.
    fn give(
        &mut self,
        method: Method,
        total: u64,
        moments: &mut Moments<'_>,
    ) -> Result<Size, EngineError> {
        let passage = Passage::of(total);
        let watch = Watch::Passage(Arc::clone(&passage));
        let content = Content::repeated(self.block.clone(), total, watch);
        let mut told = total;
        let mut follow = || {
            let left = passage.left();
            moments.follow(told - left, passage.moments());
            told = left;
        };
        let has_words = method == Method::POST;
        let heard = self.dialogue.ask((method, &self.sink), content, first_words, &mut follow)?;
        follow();
        let is_said = !has_words || heard == answer_to(total);
        if told > 0 || !is_said {
            let (protocol, total) = (self.protocol, Size::new(total));
            let what = format!("{protocol}: the server did not take {total}");
            return Err(EngineError::Refused(what));
        }
        moments.committed();
        Ok(Size::new(total))
    }
}

impl Session for Client {
    fn opening(&self) -> Opening {
        self.opening
    }

    fn run(&mut self, number: u32, moments: &mut Moments<'_>) -> Result<Size, EngineError> {
        match self.errand.operation {
            Operation::Call => self.give(Method::POST, self.errand.size.count(), moments),
            Operation::Get => self.retrieve(number, moments),
            Operation::Put => self.give(Method::PUT, self.errand.size.count(), moments),
            Operation::Stream => self.give(Method::POST, self.errand.total(), moments),
        }
    }

    fn close(self: Box<Self>) -> Result<(), EngineError> {
        self.dialogue.end()
    }

    fn keeping(&mut self) -> Option<&mut dyn Keeping> {
        Some(&mut self.dialogue)
    }
}

impl Moments<'_> {
    /// So many bytes more have passed: the first and the last of all at these times.
    fn follow(&mut self, count: u64, [first, last]: [Option<Nanos>; 2]) {
        self.progress.fetch_add(count, Relaxed);
        self.first_byte = self.first_byte.or(first);
        self.last_byte = self.last_byte.or(last);
    }
}

/// The first four bytes of an answer, as far as it has any.
async fn first_words(body: &mut Incoming) -> Result<[u8; 4], Fault> {
    let (mut words, mut count) = ([0; 4], 0);
    let add = |bytes: &[u8]| {
        for (word, byte) in words[count..].iter_mut().zip(bytes) {
            *word = *byte;
            count += 1;
        }
        Ok(())
    };
    receive::<Fault>(body, add).await?;
    Ok(words)
}

/// What goes there is thrown away.
const SINK: &str = "/null/btu";
