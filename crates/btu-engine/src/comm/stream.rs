//! The timed loops of COMM: one call per message, nothing else.
//!
//! Between two calls there is no clock, no allocation, no lock, no virtual call: two counters are
//! stored where others find them and one flag is read. About once a millisecond, after a number of
//! calls that is known before, the thread looks up: then its observer has its turn.

use std::fmt;
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use btu_sys::clock;
use btu_sys::errno::ENOBUFS;

use crate::transport::Receiving;
use crate::transport::Sending;
use crate::transport::retried;

/// How far a data thread is. Hardly anybody but that thread writes; on a cache line (and its
/// neighbour) of its own.
#[derive(Debug)]
#[repr(align(128))]
pub struct Progress {
    calls: AtomicU64,
    bytes: AtomicU64,
    /// The call after which the thread looks up.
    look_at: AtomicU64,
}

/// What a data thread does where it looks up.
pub trait Observer: fmt::Debug + Sync {
    /// A call has returned, and it is time to look: says with [`Progress::look_at`] when it is again.
    fn look(&self);
}

/// For a thread that never looks up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn look(&self) {}
}

/// What a data thread looks at once per message. Written once per run.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Cue {
    given: AtomicBool,
}

/// Messages to write.
#[derive(Debug)]
pub struct Outgoing<'a> {
    /// One message.
    pub block: &'a [u8],
    /// How many; `u64::MAX` for as many as there is time for.
    pub messages: u64,
    /// Given when no further message may be started.
    pub stop: &'a Cue,
    /// Where the thread shows how far it is.
    pub progress: &'a Progress,
    /// Who has a turn now and then.
    pub observer: &'a dyn Observer,
}

/// A stream to read to its end.
#[derive(Debug)]
pub struct Incoming<'a> {
    /// Room for one read, as a rule of a message.
    pub space: &'a mut [u8],
    /// How many bytes will come; `u64::MAX` where nobody knows.
    pub expected: u64,
    /// Given shortly before the end is due: from then on each read that may be the last is followed by a look at the clock.
    pub nearly_over: &'a Cue,
    /// Where the thread shows how far it is.
    pub progress: &'a Progress,
    /// Who has a turn now and then.
    pub observer: &'a dyn Observer,
    /// Where the time of the first byte is shown, 0 before.
    pub first_ns: &'a AtomicU64,
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Whole messages.
    pub messages: u64,
    /// Calls that it took.
    pub calls: u64,
}

/// What was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Bytes.
    pub bytes: u64,
    /// Calls that returned bytes.
    pub calls: u64,
    /// When the last byte was there, on the monotonic clock; 0 where none came.
    pub last_ns: u64,
}

impl Progress {
    /// Calls made so far.
    pub fn calls(&self) -> u64 {
        self.calls.load(Relaxed)
    }

    /// User bytes moved so far.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// From which call on the thread looks up after each; never before anybody said so.
    pub fn look_at(&self, calls: u64) {
        self.look_at.store(calls, Relaxed);
    }

    #[inline]
    fn show(&self, calls: u64, bytes: u64, observer: &dyn Observer) {
        self.calls.store(calls, Relaxed);
        self.bytes.store(bytes, Relaxed);
        if calls >= self.look_at.load(Relaxed) {
            observer.look();
        }
    }
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            calls: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            look_at: AtomicU64::new(u64::MAX),
        }
    }
}

impl Cue {
    /// Gives the cue; it cannot be taken back.
    pub fn give(&self) {
        self.given.store(true, Relaxed);
    }

    /// True once it was given.
    #[inline]
    pub fn is_given(&self) -> bool {
        self.given.load(Relaxed)
    }
}

/// Writes messages, each with one blocking call of exactly its size.
// Never inlined: `cargo xtask bench counts` counts the loop by its name.
#[inline(never)]
pub fn send_messages<C: Sending>(channel: &C, order: &Outgoing<'_>) -> io::Result<Sent> {
    let size = order.block.len();
    let (mut sent, mut bytes) = (Sent::default(), 0);
    while sent.messages < order.messages && !order.stop.is_given() {
        match channel.send(order.block) {
            Ok(taken) if taken == size => sent.calls += 1,
            outcome => sent.calls += finish_message(channel, order.block, outcome)?,
        }
        sent.messages += 1;
        bytes += size as u64;
        order.progress.show(sent.calls, bytes, order.observer);
    }
    Ok(sent)
}

/// Reads to the end of the stream with reads of the size of its space.
// Never inlined, as the other loop.
#[inline(never)]
pub fn receive_messages<C: Receiving>(channel: &C, order: Incoming<'_>) -> io::Result<Received> {
    let Incoming { space, expected, nearly_over, progress, observer, first_ns } = order;
    let shown = (progress, observer);
    let mut got = Received::default();
    if !read_once(channel, space, shown, &mut got)? {
        return Ok(got);
    }
    first_ns.store(clock::monotonic_ns(), Relaxed);
    while got.bytes < expected && !nearly_over.is_given() {
        if !read_once(channel, space, shown, &mut got)? {
            break;
        }
    }
    got.last_ns = clock::monotonic_ns();
    while drain(channel, space, shown, &mut got)? {}
    Ok(got)
}

/// Some reads, of which any may be the last; false at the end of the stream.
fn drain<C: Receiving>(
    channel: &C,
    space: &mut [u8],
    shown: (&Progress, &dyn Observer),
    got: &mut Received,
) -> io::Result<bool> {
    for _ in 0..LOOKS {
        if !read_once(channel, space, shown, got)? {
            return Ok(false);
        }
        got.last_ns = clock::monotonic_ns();
    }
    // What is there already is followed by more, or by a look at the clock: a reader that has fallen behind reads it as
    // fast as before.
    for _ in 1..channel.waiting() / space.len().max(1) as u64 {
        if !read_once(channel, space, shown, got)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Reads between two questions for what is there: where that is little, questions would take longer than looks.
const LOOKS: usize = 8;

/// One read; false at the end of the stream.
#[inline]
fn read_once<C: Receiving>(
    channel: &C,
    space: &mut [u8],
    (progress, observer): (&Progress, &dyn Observer),
    got: &mut Received,
) -> io::Result<bool> {
    let outcome = if space.len() < LARGE {
        channel.recv(space)
    } else {
        channel.recv_ready(rest_of_message(space, got.bytes))
    };
    let bytes = match outcome {
        Ok(bytes) => bytes,
        Err(cause) => interrupted_read(channel, space, cause)?,
    };
    if bytes == 0 {
        return Ok(false);
    }
    got.bytes += bytes as u64;
    got.calls += 1;
    progress.show(got.calls, got.bytes, observer);
    Ok(true)
}

/// Sends what is left of a message after a short or interrupted call; returns the calls that it took.
#[cold]
fn finish_message<C: Sending>(
    channel: &C,
    block: &[u8],
    outcome: io::Result<usize>,
) -> io::Result<u64> {
    let (mut done, mut calls, mut last) = (0, 1, outcome);
    loop {
        match last {
            Ok(taken) => done += taken,
            Err(cause) if is_passing(&cause) => {}
            Err(cause) => return Err(cause),
        }
        if done >= block.len() {
            return Ok(calls);
        }
        last = channel.send(&block[done..]);
        calls += 1;
    }
}

#[cold]
fn interrupted_read<C: Receiving>(
    channel: &C,
    space: &mut [u8],
    cause: io::Error,
) -> io::Result<usize> {
    if cause.kind() != io::ErrorKind::Interrupted {
        return Err(cause);
    }
    retried(|| channel.recv(space))
}

/// Room for what is left of the message of which so much came.
fn rest_of_message(space: &mut [u8], bytes: u64) -> &mut [u8] {
    let came = usize::try_from(bytes % space.len() as u64).unwrap_or(0);
    &mut space[came..]
}

/// Size of a read from which on it is made in parts, each as large as what there is: whoever waits for data
/// apart from reading it comes back later and finds more. Smaller ones lose by the second call
/// (docs/decisions/0099).
pub const LARGE: usize = 1 << 20;

/// Errors after which the same call may be made again.
fn is_passing(cause: &io::Error) -> bool {
    cause.kind() == io::ErrorKind::Interrupted || cause.raw_os_error() == Some(ENOBUFS)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A stream of which everything has come, and which may not know it.
    #[derive(Debug)]
    struct Backlog {
        left: Cell<usize>,
        tells: bool,
        asked: Cell<u32>,
        last_read_ns: Cell<u64>,
    }

    impl Backlog {
        fn of(bytes: usize, tells: bool) -> Self {
            let (left, asked, last_read_ns) = (Cell::new(bytes), Cell::new(0), Cell::new(0));
            Self { left, tells, asked, last_read_ns }
        }
    }

    impl Receiving for Backlog {
        fn recv(&self, space: &mut [u8]) -> io::Result<usize> {
            let bytes = self.left.get().min(space.len());
            self.left.set(self.left.get() - bytes);
            if bytes > 0 {
                self.last_read_ns.set(clock::monotonic_ns());
            }
            Ok(bytes)
        }

        fn waiting(&self) -> u64 {
            self.asked.set(self.asked.get() + 1);
            if self.tells { self.left.get() as u64 } else { 0 }
        }
    }

    /// What a reader got whose end was due before it began.
    fn drained(channel: &Backlog) -> Received {
        let (nearly_over, progress) = (Cue::default(), Progress::default());
        nearly_over.give();
        let order = Incoming {
            space: &mut [0; 100],
            expected: u64::MAX,
            nearly_over: &nearly_over,
            progress: &progress,
            observer: &Unobserved,
            first_ns: &AtomicU64::new(0),
        };
        receive_messages(channel, order).unwrap()
    }

    #[test]
    fn a_reader_that_has_fallen_behind_asks_once_and_knows_when_the_last_byte_came() {
        for (bytes, tells, asked) in
            [(100_000, true, 1), (100_050, true, 1), (1, true, 0), (10_000, false, 12)]
        {
            let channel = Backlog::of(bytes, tells);
            let got = drained(&channel);
            assert_eq!((got.bytes, got.calls), (bytes as u64, bytes.div_ceil(100) as u64));
            assert!(got.last_ns >= channel.last_read_ns.get(), "{bytes} bytes, {tells}");
            assert_eq!(channel.asked.get(), asked, "{bytes} bytes, {tells}: {channel:?}");
        }
    }
}
