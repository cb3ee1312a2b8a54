//! The process that is called: one service takes bytes, one gives files.

use std::cell::RefCell;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::units::Bytes;
use btu_sys::memory::Buffer;
use btu_sys::rx;
use btu_sys::rx::Call;
use btu_sys::rx::Procedure;

use super::FAULT;
use super::GIVING;
use super::TAKING;
use super::progress::Telling;
use super::words::Begin;
use super::words::Channel;
use super::words::Serving;
use super::words::Word;
use crate::error::EngineError;
use crate::file::disk::Directory;
use crate::file::disk::Reading;
use crate::file::ftp::scramble;
use crate::file::order::BUFFER;
use crate::file::order::answer_to;

/// Serves until the channel ends.
pub(super) fn serve(serving: Serving, channel: &mut Channel) -> Result<(), EngineError> {
    let moved = Arc::<AtomicU64>::default();
    let services = [
        (TAKING, procedure(Arc::clone(&moved), take)),
        (GIVING, giving(Arc::clone(&moved), serving.directory)),
    ];
    match rx::serve(serving.address, serving.at_once, services) {
        Ok(address) => channel.say(&Word::Serves(address))?,
        Err(cause) => return channel.say(&Word::Failed(EngineError::from(cause).sentence())),
    }
    let _telling = Telling::of(&moved, &channel.voice()?)?;
    // A server is told nothing more.
    while channel.hear::<Begin>()?.is_some() {}
    Ok(())
}

/// A procedure with a buffer of its thread.
fn procedure(
    moved: Arc<AtomicU64>,
    work: impl Fn(&mut Call<'_>, &mut Buffer, &AtomicU64) -> io::Result<()> + Send + Sync + 'static,
) -> Procedure {
    Box::new(move |call| {
        let done = with_buffer(|buffer| work(call, buffer, &moved));
        done.map_or(FAULT, |()| 0)
    })
}

fn giving(moved: Arc<AtomicU64>, directory: Option<PathBuf>) -> Procedure {
    let directory = directory.map(Directory);
    procedure(moved, move |call, buffer, moved| give(call, buffer, moved, directory.as_ref()))
}

/// Takes all that comes, and says how much that was.
fn take(call: &mut Call<'_>, buffer: &mut Buffer, moved: &AtomicU64) -> io::Result<()> {
    let mut total = 0;
    loop {
        let came = call.read(buffer)?;
        total += came as u64;
        moved.fetch_add(came as u64, Relaxed);
        if came < buffer.len() {
            return call.write(&answer_to(total));
        }
    }
}

/// Hears the size of a file in 8 bytes and its name, none for one that is made up, and sends it.
fn give(
    call: &mut Call<'_>,
    buffer: &mut Buffer,
    moved: &AtomicU64,
    directory: Option<&Directory>,
) -> io::Result<()> {
    let came = call.read(buffer)?;
    let (size, name) = buffer[..came].split_first_chunk().ok_or(io::ErrorKind::InvalidData)?;
    let size = u64::from_be_bytes(*size);
    let name = std::str::from_utf8(name).map_err(io::Error::other)?.to_owned();
    let mut send = |chunk: &[u8]| {
        moved.fetch_add(chunk.len() as u64, Relaxed);
        call.write(chunk)
    };
    if name.is_empty() {
        return made_up(buffer, size, send);
    }
    let (file, found) = directory.ok_or(io::ErrorKind::NotFound)?.open(&name)?;
    if found != Bytes::new(size) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut reading = Reading::of(file, buffer);
    while let Some(chunk) = reading.chunk() {
        send(chunk)?;
    }
    reading.end()
}

fn made_up(
    buffer: &Buffer,
    size: u64,
    mut send: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut left = size;
    while left > 0 {
        let length = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        send(&buffer[..length])?;
        left -= length as u64;
    }
    Ok(())
}

/// Each thread of the library has a buffer, made at its first call.
fn with_buffer<T>(work: impl FnOnce(&mut Buffer) -> io::Result<T>) -> io::Result<T> {
    thread_local! {
        static BUFFER: RefCell<Option<Buffer>> = const { RefCell::new(None) };
    }
    BUFFER.with_borrow_mut(|kept| match kept {
        Some(buffer) => work(buffer),
        None => work(kept.insert(fresh()?)),
    })
}

fn fresh() -> io::Result<Buffer> {
    let mut buffer = Buffer::prefaulted(BUFFER).map_err(io::Error::other)?;
    scramble(&mut buffer);
    Ok(buffer)
}
