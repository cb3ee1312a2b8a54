//! What comes from one rank: frames, taken apart as they come, and those that are kept until somebody asks for them.

use std::collections::VecDeque;
use std::io;

use btu_core::app::endpoint::LayerError;
use btu_core::units::Nanos;

/// What stands before the payload of each message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    length_bytes: u32,
    tag: u32,
    sent_at: Nanos,
}

/// The message that a rank asks for, and where it goes.
#[derive(Debug)]
pub(super) struct Wanted<'s> {
    pub(super) tag: u32,
    pub(super) space: &'s mut [u8],
}

/// What a look at one rank brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TakenIn {
    /// Something came.
    Moved,
    /// There was nothing.
    Nothing,
    /// The wanted message is whole; it was sent at this time.
    Whole(Nanos),
}

/// Room for messages that nobody asked for yet, of one rank from all others.
#[derive(Debug)]
pub(super) struct Keep {
    rank: usize,
    kept_bytes: u64,
    limit_bytes: u64,
    spare: Vec<Vec<u8>>,
}

/// One rank, as what comes from it.
#[derive(Debug)]
pub(super) struct Incoming {
    peer: usize,
    /// Bytes that were read and not taken apart yet: `ahead[start..end]`.
    ahead: Box<[u8]>,
    start: usize,
    end: usize,
    /// The frame whose payload is not whole yet.
    open: Option<Open>,
    kept: VecDeque<Kept>,
    over: Option<String>,
}

#[derive(Debug)]
struct Open {
    head: Head,
    got: usize,
    into: Into,
}

/// Where the payload of a frame goes.
#[derive(Debug)]
enum Into {
    /// Among what is kept.
    Kept(Vec<u8>),
    /// To whoever asked for it.
    Space,
}

#[derive(Debug)]
struct Kept {
    head: Head,
    payload: Vec<u8>,
}

impl Head {
    /// Bytes of a head.
    pub(super) const BYTES: usize = 16;

    /// The head of a message to be sent now.
    pub(super) fn new(length_bytes: u32, tag: u32, sent_at: Nanos) -> Self {
        Self { length_bytes, tag, sent_at }
    }

    /// Length, tag and time of sending, each with its lowest byte first.
    pub(super) fn encode(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..4].copy_from_slice(&self.length_bytes.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.tag.to_le_bytes());
        bytes[8..].copy_from_slice(&self.sent_at.count().to_le_bytes());
        bytes
    }

    /// A head that came.
    pub(super) fn decode(bytes: [u8; Self::BYTES]) -> Self {
        let (mut length, mut tag, mut time) = ([0; 4], [0; 4], [0; 8]);
        length.copy_from_slice(&bytes[..4]);
        tag.copy_from_slice(&bytes[4..8]);
        time.copy_from_slice(&bytes[8..]);
        Self {
            length_bytes: u32::from_le_bytes(length),
            tag: u32::from_le_bytes(tag),
            sent_at: Nanos::new(u64::from_le_bytes(time)),
        }
    }

    /// What the message is for.
    pub(super) fn tag(self) -> u32 {
        self.tag
    }

    /// When it was sent.
    pub(super) fn sent_at(self) -> Nanos {
        self.sent_at
    }

    /// Bytes of the payload.
    pub(super) fn length(self) -> usize {
        usize::try_from(self.length_bytes).unwrap_or(usize::MAX)
    }

    /// Fails where the message does not fill the space.
    pub(super) fn fits(self, from: usize, space: &[u8]) -> Result<(), LayerError> {
        if self.length() == space.len() {
            return Ok(());
        }
        let (got_bytes, wanted_bytes) = (u64::from(self.length_bytes), wide(space.len()));
        Err(LayerError::Length { from, tag: self.tag, got_bytes, wanted_bytes })
    }
}

impl Keep {
    /// Of this rank, for so many bytes.
    pub(super) fn new(rank: usize, limit_bytes: u64) -> Self {
        Self { rank, kept_bytes: 0, limit_bytes, spare: Vec::new() }
    }

    /// Memory for a message, that of an earlier one where there is some. Its head counts, too: else there would be room
    /// for any number of empty messages.
    pub(super) fn take(&mut self, length: usize) -> Result<Vec<u8>, LayerError> {
        let kept_bytes = self.kept_bytes + wide(Head::BYTES) + wide(length);
        if kept_bytes > self.limit_bytes {
            let (rank, limit_bytes) = (self.rank, self.limit_bytes);
            return Err(LayerError::Flooded { rank, kept_bytes, limit_bytes });
        }
        self.kept_bytes = kept_bytes;
        let mut memory = self.spare.pop().unwrap_or_default();
        memory.resize(length, 0);
        Ok(memory)
    }

    pub(super) fn give_back(&mut self, memory: Vec<u8>) {
        self.kept_bytes = self.kept_bytes.saturating_sub(wide(Head::BYTES) + wide(memory.len()));
        if memory.capacity() <= SPARE_BYTES && self.spare.len() < SPARES {
            self.spare.push(memory);
        }
    }
}

impl Incoming {
    /// Nothing yet from this rank, of which up to `ahead` bytes are read before they are asked for.
    pub(super) fn new(peer: usize, ahead: usize) -> Self {
        let ahead = vec![0; ahead.max(Head::BYTES)].into_boxed_slice();
        Self { peer, ahead, start: 0, end: 0, open: None, kept: VecDeque::new(), over: None }
    }

    /// Why nothing more comes; `None` while something may.
    pub(super) fn over(&self) -> Option<&str> {
        self.over.as_deref()
    }

    /// The oldest kept message of the wanted tag: when it was sent.
    ///
    /// Where the one that is on its way is the wanted one, what came of it moves to its space, and the rest follows there.
    pub(super) fn take_kept(
        &mut self,
        wanted: &mut Wanted<'_>,
        keep: &mut Keep,
    ) -> Result<Option<Nanos>, LayerError> {
        let Some(place) = self.kept.iter().position(|kept| kept.head.tag == wanted.tag) else {
            self.adopt(wanted, keep)?;
            return Ok(None);
        };
        self.kept[place].head.fits(self.peer, wanted.space)?;
        let Some(kept) = self.kept.remove(place) else { return Ok(None) };
        wanted.space.copy_from_slice(&kept.payload);
        keep.give_back(kept.payload);
        Ok(Some(kept.head.sent_at))
    }

    fn adopt(&mut self, wanted: &mut Wanted<'_>, keep: &mut Keep) -> Result<(), LayerError> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let Into::Kept(payload) = &mut open.into else { return Err(torn(self.peer)) };
        if open.head.tag == wanted.tag {
            open.head.fits(self.peer, wanted.space)?;
            wanted.space[..open.got].copy_from_slice(&payload[..open.got]);
            keep.give_back(std::mem::take(payload));
            open.into = Into::Space;
        }
        Ok(())
    }

    /// Reads until there is nothing, or until the wanted message is whole; keeps what is not wanted.
    pub(super) fn take_in(
        &mut self,
        mut read: impl FnMut(&mut [u8]) -> io::Result<usize>,
        mut wanted: Option<&mut Wanted<'_>>,
        keep: &mut Keep,
    ) -> Result<TakenIn, LayerError> {
        let mut taken_in = TakenIn::Nothing;
        loop {
            self.begin(wanted.as_deref(), keep)?;
            self.use_ahead(wanted.as_deref_mut())?;
            if let Some(sent_at) = self.finish() {
                return Ok(TakenIn::Whole(sent_at));
            }
            if self.has_next() {
                continue;
            }
            if self.read_more(&mut read, wanted.as_deref_mut())? == 0 {
                return Ok(taken_in);
            }
            taken_in = TakenIn::Moved;
        }
    }

    /// True where a further frame can be begun with what was read.
    fn has_next(&self) -> bool {
        self.open.is_none() && self.end - self.start >= Head::BYTES
    }

    /// Opens the next frame, where its head is there.
    fn begin(&mut self, wanted: Option<&Wanted<'_>>, keep: &mut Keep) -> Result<(), LayerError> {
        let unread = &self.ahead[self.start..self.end];
        let Some(bytes) = unread.first_chunk().filter(|_| self.open.is_none()) else {
            return Ok(());
        };
        let head = Head::decode(*bytes);
        let into = match wanted.filter(|wanted| wanted.tag == head.tag) {
            Some(wanted) => head.fits(self.peer, wanted.space).map(|()| Into::Space)?,
            None => Into::Kept(keep.take(head.length())?),
        };
        self.start += Head::BYTES;
        self.open = Some(Open { head, got: 0, into });
        Ok(())
    }

    /// Moves what was read already to where the payload of the open frame goes.
    fn use_ahead(&mut self, wanted: Option<&mut Wanted<'_>>) -> Result<(), LayerError> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let rest = rest_of(open, wanted, self.peer)?;
        let count = rest.len().min(self.end - self.start);
        rest[..count].copy_from_slice(&self.ahead[self.start..self.start + count]);
        self.start += count;
        open.got += count;
        Ok(())
    }

    /// Closes a frame that is whole; tells when it was sent where it was the wanted one.
    fn finish(&mut self) -> Option<Nanos> {
        let open = self.open.take_if(|open| open.got == open.head.length())?;
        match open.into {
            Into::Kept(payload) => {
                self.kept.push_back(Kept { head: open.head, payload });
                None
            }
            Into::Space => Some(open.head.sent_at),
        }
    }

    /// Reads once: the rest of a payload to where it goes, all else ahead. Gives how much came.
    fn read_more(
        &mut self,
        read: &mut impl FnMut(&mut [u8]) -> io::Result<usize>,
        wanted: Option<&mut Wanted<'_>>,
    ) -> Result<usize, LayerError> {
        if self.over.is_some() {
            return Ok(0);
        }
        let outcome = if let Some(open) = &mut self.open {
            let outcome = read(rest_of(open, wanted, self.peer)?);
            open.got += *outcome.as_ref().unwrap_or(&0);
            outcome
        } else {
            self.ahead.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            let outcome = read(&mut self.ahead[self.end..]);
            self.end += *outcome.as_ref().unwrap_or(&0);
            outcome
        };
        Ok(self.note_end(outcome))
    }

    /// A stream that ended, or failed, is over; one that has nothing at this moment is not.
    fn note_end(&mut self, outcome: io::Result<usize>) -> usize {
        match outcome {
            Ok(0) => self.over = Some("it ended".to_owned()),
            Ok(count) => return count,
            Err(cause) if is_nothing_yet(&cause) => {}
            Err(cause) if cause.kind() == io::ErrorKind::UnexpectedEof => {
                self.over = Some("it ended".to_owned());
            }
            Err(cause) => self.over = Some(cause.to_string()),
        }
        0
    }
}

/// True where a call on a channel should be repeated, now or later.
pub(super) fn is_nothing_yet(cause: &io::Error) -> bool {
    matches!(cause.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// What the open frame still lacks.
fn rest_of<'o>(
    open: &'o mut Open,
    wanted: Option<&'o mut Wanted<'_>>,
    peer: usize,
) -> Result<&'o mut [u8], LayerError> {
    match (&mut open.into, wanted) {
        (Into::Kept(payload), _) => Ok(&mut payload[open.got..]),
        (Into::Space, Some(wanted)) => Ok(&mut wanted.space[open.got..]),
        (Into::Space, None) => Err(torn(peer)),
    }
}

/// A receive failed in the middle of a message: what follows it cannot be told from its rest.
fn torn(peer: usize) -> LayerError {
    LayerError::Gone { peer, cause: "a message of it was received in part".to_owned() }
}

fn wide(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Memory that is used again: so many pieces of at most so many bytes.
const SPARES: usize = 64;
const SPARE_BYTES: usize = 64 << 10;

#[cfg(test)]
mod tests;
