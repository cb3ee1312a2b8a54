//! What is sent: bytes that lie ready, over and over, or a file that is read as it is sent.

use std::fmt;
use std::io;
use std::io::Read;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::task::Context;
use std::task::Poll;

use btu_core::units::Bytes as Size;
use btu_sys::memory::Buffer;
use hyper::body::Body;
use hyper::body::Bytes;
use hyper::body::Frame;
use hyper::body::SizeHint;

use super::BUFFER;
use super::chunk::Chunk;
use super::chunk::Watch;
use crate::transport::retried;

/// The body of a request or an answer, whose length is known before.
#[derive(Debug)]
pub(super) struct Content {
    source: Source,
    left: u64,
    watch: Watch,
}

enum Source {
    /// These, until it is enough.
    Ready(Bytes),
    /// A buffer of it at a time.
    Reading(Box<dyn Read + Send>, Shelf),
}

/// Buffers that are not on their way.
#[derive(Clone, Debug, Default)]
struct Shelf(Arc<Mutex<Vec<Buffer>>>);

/// A buffer on its way, with so many bytes. It comes back by itself.
struct Lent {
    buffer: Option<Buffer>,
    length: usize,
    shelf: Shelf,
}

/// Memory that several bodies share.
struct Shared(Arc<Buffer>);

impl Content {
    pub(super) fn nothing() -> Self {
        Self { source: Source::Ready(Bytes::new()), left: 0, watch: Watch::Nobody }
    }

    /// A few bytes, which are no part of any file.
    pub(super) fn words(words: &[u8]) -> Self {
        let left = words.len() as u64;
        Self { source: Source::Ready(Bytes::copy_from_slice(words)), left, watch: Watch::Nobody }
    }

    /// So many bytes, of these over and over: each time a part of the body.
    pub(super) fn repeated(bytes: Bytes, total: u64, watch: Watch) -> Self {
        Self { source: Source::Ready(bytes), left: total, watch }
    }

    /// So many bytes that `from` has.
    pub(super) fn read(from: impl Read + Send + 'static, size: Size, watch: Watch) -> Self {
        let source = Source::Reading(Box::new(from), Shelf::default());
        Self { source, left: size.count(), watch }
    }

    fn next(&mut self) -> io::Result<Bytes> {
        let left = usize::try_from(self.left).unwrap_or(usize::MAX);
        let bytes = match &mut self.source {
            Source::Ready(bytes) => bytes.slice(..left.min(bytes.len())),
            Source::Reading(from, idle) => idle.fill(from, left)?,
        };
        if bytes.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= bytes.len() as u64;
        Ok(bytes)
    }
}

impl Body for Content {
    type Data = Chunk;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Chunk>>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let next = self.next();
        let frame = next.map(|bytes| Frame::data(Chunk::new(bytes, self.watch.clone())));
        Poll::Ready(Some(frame))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

/// The same memory for hyper, which counts who has it.
pub(super) fn shared(buffer: &Arc<Buffer>) -> Bytes {
    Bytes::from_owner(Shared(Arc::clone(buffer)))
}

impl Shelf {
    fn fill(&self, from: &mut dyn Read, left: usize) -> io::Result<Bytes> {
        let idle = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let buffer = idle.map_or_else(|| Buffer::prefaulted(BUFFER), Ok);
        let mut buffer = buffer.map_err(io::Error::other)?;
        let length = retried(|| from.read(&mut buffer[..left.min(BUFFER)]))?;
        Ok(Bytes::from_owner(Lent { buffer: Some(buffer), length, shelf: self.clone() }))
    }
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        self.buffer.as_ref().map_or(&[], |buffer| &buffer[..self.length])
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let mut idle = self.shelf.0.lock().unwrap_or_else(PoisonError::into_inner);
        idle.extend(self.buffer.take());
    }
}

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Ready(_) => "Ready",
            Self::Reading(..) => "Reading",
        })
    }
}
