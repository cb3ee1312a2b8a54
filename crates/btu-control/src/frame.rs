//! Frames on a control connection: a length, then a JSON message or a piece of a document.
//!
//! A frame is a big-endian `u32` and as many bytes of payload. A payload that begins with `{` is a
//! message; one that begins with 0x01 is a chunk: document `u64`, offset `u64`, bytes. Nothing is
//! allocated because a header claims it: the buffer grows by what has arrived.

use serde::Serialize;

/// What arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// A piece of a document.
    Chunk(Chunk),
    /// The text of a message.
    Message(Vec<u8>),
}

/// A piece of a document that is too long for a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The number of the request that the document answers.
    pub document: u64,
    /// Where the piece belongs.
    pub offset: u64,
    /// The piece.
    pub bytes: Vec<u8>,
}

/// How long payloads may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameLimits {
    /// Of a message.
    pub message: usize,
    /// Of a chunk; 0 where none may come.
    pub chunk: usize,
}

/// A frame that nobody may send.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// A frame of no bytes.
    #[error("a frame is empty")]
    Empty,
    /// A payload of neither kind, or a chunk without its numbers.
    #[error("a frame is neither a message nor a chunk (first byte {first:#04x}, {length} bytes)")]
    Kind {
        /// The first byte.
        first: u8,
        /// How long the payload is.
        length: usize,
    },
    /// Longer than allowed here.
    #[error("a frame of {length} bytes, {limit} are allowed here")]
    TooLong {
        /// What its header says.
        length: usize,
        /// The limit.
        limit: usize,
    },
}

/// Parts a stream of bytes into frames.
#[derive(Clone, Debug)]
pub struct FrameReader {
    buffer: Vec<u8>,
    /// Where the next frame begins: bytes before it were read.
    start: usize,
    limits: FrameLimits,
}

impl FrameLimits {
    /// Before the peer is known: greetings only.
    pub const STRANGER: Self = Self { message: 4 << 10, chunk: 0 };
    /// What an agent hears.
    pub const REQUESTS: Self = Self { message: 64 << 10, chunk: 0 };
    /// What a process of an agent hears from the agent itself: both ends of as many connections as a
    /// run may have.
    pub const ORDERS: Self = Self { message: 256 << 10, chunk: 0 };
    /// What a conductor hears.
    pub const ANSWERS: Self = Self { message: 64 << 10, chunk: 256 << 10 };

    const fn longest(self) -> usize {
        if self.message > self.chunk { self.message } else { self.chunk }
    }
}

impl FrameReader {
    /// A reader at the start of a stream.
    pub const fn new(limits: FrameLimits) -> Self {
        Self { buffer: Vec::new(), start: 0, limits }
    }

    /// From the next frame on, other limits hold.
    pub const fn set_limits(&mut self, limits: FrameLimits) {
        self.limits = limits;
    }

    /// Takes bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        // Never more bytes are moved than were read since: however short frames are, each costs its own
        // length.
        if self.start > self.buffer.len() / 2 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole frame; `None` where more bytes are needed.
    ///
    /// # Errors
    /// The stream holds what nobody may send; it cannot be read on.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, FrameError> {
        let Some((header, rest)) = self.buffer[self.start..].split_first_chunk::<HEADER>() else {
            return Ok(None);
        };
        let length = usize::try_from(u32::from_be_bytes(*header)).unwrap_or(usize::MAX);
        within(length, self.limits.longest())?;
        let Some(first) = rest.first().copied() else {
            return if length == 0 { Err(FrameError::Empty) } else { Ok(None) };
        };
        match first {
            _ if length == 0 => return Err(FrameError::Empty),
            OPEN => within(length, self.limits.message)?,
            CHUNK => within(length, self.limits.chunk)?,
            _ => return Err(FrameError::Kind { first, length }),
        }
        let Some(payload) = rest.get(..length) else { return Ok(None) };
        let frame = Frame::of(first, payload)?;
        self.start += HEADER + length;
        Ok(Some(frame))
    }
}

impl Frame {
    fn of(first: u8, payload: &[u8]) -> Result<Self, FrameError> {
        if first == OPEN {
            return Ok(Self::Message(payload.to_vec()));
        }
        let broken = || FrameError::Kind { first, length: payload.len() };
        let (document, rest) = payload[1..].split_first_chunk().ok_or_else(broken)?;
        let (offset, bytes) = rest.split_first_chunk().ok_or_else(broken)?;
        let (document, offset) = (u64::from_be_bytes(*document), u64::from_be_bytes(*offset));
        Ok(Self::Chunk(Chunk { document, offset, bytes: bytes.to_vec() }))
    }
}

impl Chunk {
    /// The chunk as it goes over the wire.
    pub fn encode(&self) -> Vec<u8> {
        let numbers = [self.document.to_be_bytes(), self.offset.to_be_bytes()].concat();
        framed(&[&[CHUNK], &numbers[..], &self.bytes])
    }

    /// A document in pieces, in order.
    pub fn of_document(document: u64, bytes: &[u8]) -> impl Iterator<Item = Self> {
        let pieces = bytes.chunks(PIECE).enumerate();
        pieces.map(move |(index, piece)| Self {
            document,
            offset: (index * PIECE) as u64,
            bytes: piece.to_vec(),
        })
    }
}

/// A message as it goes over the wire.
///
/// # Errors
/// The message cannot be written as JSON.
pub fn encode(message: &impl Serialize) -> Result<Vec<u8>, serde_json::Error> {
    Ok(framed(&[&serde_json::to_vec(message)?]))
}

fn framed(parts: &[&[u8]]) -> Vec<u8> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut frame = Vec::with_capacity(HEADER + length);
    frame.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes());
    for part in parts {
        frame.extend_from_slice(part);
    }
    frame
}

const fn within(length: usize, limit: usize) -> Result<(), FrameError> {
    if length > limit { Err(FrameError::TooLong { length, limit }) } else { Ok(()) }
}

const HEADER: usize = 4;
const OPEN: u8 = b'{';
const CHUNK: u8 = 1;
/// Bytes of a document per chunk.
const PIECE: usize = 128 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(bytes: &[u8], step: usize, limits: FrameLimits) -> Result<Vec<Frame>, FrameError> {
        let (mut reader, mut frames) = (FrameReader::new(limits), Vec::new());
        for piece in bytes.chunks(step.max(1)) {
            reader.push(piece);
            while let Some(frame) = reader.next_frame()? {
                frames.push(frame);
            }
        }
        Ok(frames)
    }

    #[test]
    fn frames_survive_every_cut_of_the_stream() {
        let chunk = Chunk { document: 7, offset: 9, bytes: vec![1, 2, 3] };
        let mut stream = framed(&[b"{}"]);
        stream.extend(chunk.encode());
        stream.extend(framed(&[b"{\"type\":\"ping\"}"]));
        let whole = read_all(&stream, stream.len(), FrameLimits::ANSWERS).unwrap();
        assert_eq!(whole.len(), 3);
        assert_eq!(whole[1], Frame::Chunk(chunk));
        for step in 1..stream.len() {
            assert_eq!(read_all(&stream, step, FrameLimits::ANSWERS).unwrap(), whole);
        }
    }

    #[test]
    fn what_was_read_is_not_kept() {
        let (frame, mut reader) = (framed(&[b"{}"]), FrameReader::new(FrameLimits::REQUESTS));
        let mut most = 0;
        for _ in 0..1000 {
            reader.push(&frame.repeat(10));
            reader.push(&frame[..3]);
            while let Some(Frame::Message(text)) = reader.next_frame().unwrap() {
                assert_eq!(text, b"{}");
            }
            reader.push(&frame[3..]);
            most = most.max(reader.buffer.len());
        }
        assert!(most <= 3 * 11 * frame.len(), "{most} bytes were kept");
    }

    #[test]
    fn a_header_is_judged_before_its_payload_arrives() {
        let claim = u32::MAX.to_be_bytes();
        let limits = FrameLimits::STRANGER;
        let refused = read_all(&claim, 4, limits).unwrap_err();
        assert_eq!(refused, FrameError::TooLong { length: 0xffff_ffff, limit: 4096 });
        assert_eq!(read_all(&[0; 4], 4, limits), Err(FrameError::Empty));
        assert!(matches!(read_all(b"\0\0\0\x02hi", 6, limits), Err(FrameError::Kind { .. })));
        let chunk = Chunk { document: 0, offset: 0, bytes: Vec::new() }.encode();
        assert_eq!(
            read_all(&chunk, chunk.len(), FrameLimits::REQUESTS),
            Err(FrameError::TooLong { length: 17, limit: 0 })
        );
        assert!(matches!(
            read_all(b"\0\0\0\x05\x01abcd", 9, FrameLimits::ANSWERS),
            Err(FrameError::Kind { first: 1, length: 5 })
        ));
    }

    #[test]
    fn a_document_in_pieces_is_whole_again() {
        let document: Vec<u8> = (0..300_000_u32).map(|n| n.to_le_bytes()[0]).collect();
        let pieces: Vec<Chunk> = Chunk::of_document(3, &document).collect();
        assert_eq!(pieces.len(), 3);
        assert_eq!(pieces.iter().flat_map(|p| p.bytes.clone()).collect::<Vec<_>>(), document);
        assert_eq!(pieces[2].offset, 2 * (128 << 10));
    }
}
