//! One end of a ping-pong's connection: the calls of the timed loops, and the end that forgot its type.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use btu_core::sample::SocketOptions;
use btu_sys::exchange::Ready;
use btu_sys::tcp_info::TcpInfo;
use btu_sys::wait::Waker;

use super::duty::Answer;
use super::duty::Broken;
use super::duty::Duty;
use super::regulator::Regulator;

/// One end of a connection.
///
/// A call returns as soon as it moved something; how it waits until then (asleep, spinning, in
/// `epoll_wait`) was settled when the end was made. Zero bytes received are the end of the
/// connection. Nothing waits on after the end's [`Aborter`] was used.
pub trait Channel: Send {
    /// True where a receive gives one whole message, told with its true length.
    const BOUNDED: bool = false;

    /// False where blocks that nobody reads in time are lost: such a sender must not run ahead.
    const RELIABLE: bool = true;

    /// Takes at least one byte of `data`; all of it where messages are bounded.
    fn send(&mut self, data: &[u8]) -> io::Result<usize>;

    /// Gives at least one byte, or 0 at the end of the connection.
    fn recv(&mut self, space: &mut [u8]) -> io::Result<usize>;

    /// As `send`, but fails with `WouldBlock` rather than wait.
    fn try_send(&mut self, data: &[u8]) -> io::Result<usize>;

    /// As `recv`, but fails with `WouldBlock` rather than wait.
    fn try_recv(&mut self, space: &mut [u8]) -> io::Result<usize>;

    /// Waits until `try_send`, `try_recv` or either may get on.
    fn wait_until(&mut self, ready: Ready) -> io::Result<()>;

    /// Called before the first exchange of a visit, by both ends, for a connection that is not there
    /// all the time.
    fn enter(&mut self) -> Result<(), Broken> {
        Ok(())
    }

    /// Called after the last exchange of a visit that was done.
    fn leave(&mut self) {}

    /// Waits for the bell between two visits, where the connection does not live by the kernel alone
    /// and needs its thread meanwhile. Returns now and then; false where nothing needs to be tended
    /// (any more), and orders can be waited for without the bell.
    fn tend(&mut self) -> bool {
        false
    }

    /// What ends [`tend`](Self::tend) from another thread.
    fn bell(&self) -> Option<Waker> {
        None
    }

    /// What ends the connection from another thread.
    fn aborter(&self) -> Aborter;

    /// What tells another thread whether anything moves while a call waits; nothing where nobody counts it.
    fn meter(&self) -> Option<Meter> {
        None
    }

    /// The options in effect; nothing where there are none.
    fn options(&self) -> Option<SocketOptions> {
        None
    }

    /// What sets the rate of the end from another thread; nothing where it cannot be held to one.
    fn regulator(&self) -> Option<Regulator> {
        None
    }

    /// What a reader should know of the connection that is no fault.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Ends a connection from any thread: every call of its end returns soon, now and later.
#[derive(Clone)]
pub struct Aborter(Arc<dyn Fn() + Send + Sync>);

/// Reads from any thread how much a connection has moved so far; another number each time means that it moves.
#[derive(Clone)]
pub struct Meter(Arc<dyn Fn() -> Option<u64> + Send + Sync>);

/// An end whose type is forgotten; its loops were compiled before that.
pub trait End: Send {
    /// Starts exchanges and times them.
    fn start(&mut self, duty: &mut Duty<'_>) -> Result<Answer, Broken>;

    /// Answers until the other end says that it is over.
    fn answer(&mut self, duty: &mut Duty<'_>) -> Result<Answer, Broken>;

    /// See [`Channel::tend`].
    fn tend(&mut self) -> bool;

    /// What ends `tend` from another thread.
    fn bell(&self) -> Option<Waker>;

    /// What ends the connection from another thread.
    fn aborter(&self) -> Aborter;

    /// See [`Channel::meter`].
    fn meter(&self) -> Option<Meter>;

    /// The options in effect.
    fn options(&self) -> Option<SocketOptions>;

    /// What sets the rate of the end from another thread.
    fn regulator(&self) -> Option<Regulator>;

    /// What a reader should know of the connection.
    fn remarks(&self) -> Vec<String>;
}

impl<C: Channel> End for C {
    fn start(&mut self, duty: &mut Duty<'_>) -> Result<Answer, Broken> {
        self.enter()?;
        let answer = duty.start(self)?;
        self.leave();
        Ok(answer)
    }

    fn answer(&mut self, duty: &mut Duty<'_>) -> Result<Answer, Broken> {
        self.enter()?;
        let answer = duty.answer(self)?;
        self.leave();
        Ok(answer)
    }

    fn tend(&mut self) -> bool {
        Channel::tend(self)
    }

    fn bell(&self) -> Option<Waker> {
        Channel::bell(self)
    }

    fn aborter(&self) -> Aborter {
        Channel::aborter(self)
    }

    fn meter(&self) -> Option<Meter> {
        Channel::meter(self)
    }

    fn options(&self) -> Option<SocketOptions> {
        Channel::options(self)
    }

    fn regulator(&self) -> Option<Regulator> {
        Channel::regulator(self)
    }

    fn remarks(&self) -> Vec<String> {
        Channel::remarks(self)
    }
}

impl Aborter {
    /// From what it does.
    pub fn new(end: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(end))
    }

    /// Ends the connection.
    pub fn abort(&self) {
        (self.0)();
    }
}

impl Meter {
    /// From what reads it.
    pub fn new(read: impl Fn() -> Option<u64> + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    /// That of a TCP socket: the kernel counts what is acknowledged and what comes.
    pub(super) fn of_tcp(socket: Arc<OwnedFd>) -> Self {
        Self::new(move || {
            let now = TcpInfo::of(&socket).ok()?;
            Some(now.bytes_acked()?.wrapping_add(now.bytes_received()?))
        })
    }

    /// What moved so far; nothing where the kernel does not tell.
    pub fn moved(&self) -> Option<u64> {
        (self.0)()
    }
}

impl fmt::Debug for Meter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Meter")
    }
}

impl fmt::Debug for Aborter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Aborter")
    }
}

/// Sends a whole block.
#[inline]
pub(super) fn send_block<C: Channel>(channel: &mut C, block: &[u8]) -> Result<(), Broken> {
    let mut rest = block;
    while !rest.is_empty() {
        match channel.send(rest) {
            Ok(taken) => rest = rest.get(taken..).unwrap_or_default(),
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(Broken::call("send", cause)),
        }
    }
    Ok(())
}

/// Receives a whole block.
#[inline]
pub(super) fn recv_block<C: Channel>(channel: &mut C, space: &mut [u8]) -> Result<(), Broken> {
    let mut filled = 0;
    while filled < space.len() {
        match channel.recv(&mut space[filled..]) {
            Ok(got) => filled = received::<C>(filled, got, space.len())?,
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(Broken::recv(filled, cause)),
        }
    }
    Ok(())
}

/// Sends one block while receiving another, so that two ends that do the same never wait for each other.
pub(super) fn swap_blocks<C: Channel>(
    channel: &mut C,
    block: &[u8],
    space: &mut [u8],
) -> Result<(), Broken> {
    let (mut rest, mut filled) = (block, 0);
    while !rest.is_empty() || filled < space.len() {
        let mut moved = false;
        if !rest.is_empty() {
            let taken = at_once(channel.try_send(rest));
            if let Some(taken) = taken.map_err(|cause| Broken::call("send", cause))? {
                (rest, moved) = (rest.get(taken..).unwrap_or_default(), true);
            }
        }
        if filled < space.len() {
            let got = at_once(channel.try_recv(&mut space[filled..]));
            if let Some(got) = got.map_err(|cause| Broken::recv(filled, cause))? {
                (filled, moved) = (received::<C>(filled, got, space.len())?, true);
            }
        }
        if !moved {
            let ready = match (rest.is_empty(), filled < space.len()) {
                (true, _) => Ready::Read,
                (false, true) => Ready::Either,
                (false, false) => Ready::Write,
            };
            channel.wait_until(ready).map_err(|cause| Broken::call("wait", cause))?;
        }
    }
    Ok(())
}

/// Bytes filled after a receive gave `got`.
#[inline]
fn received<C: Channel>(filled: usize, got: usize, wanted: usize) -> Result<usize, Broken> {
    let now = filled + got;
    if got == 0 || now > wanted || (C::BOUNDED && now < wanted) {
        return Err(if got == 0 {
            Broken::Gone { got: filled }
        } else {
            Broken::Length { got: now, wanted }
        });
    }
    Ok(now)
}

/// Nothing instead of an error for a call that would have to wait.
fn at_once(outcome: io::Result<usize>) -> io::Result<Option<usize>> {
    match outcome {
        Err(cause)
            if matches!(cause.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) =>
        {
            Ok(None)
        }
        outcome => outcome.map(Some),
    }
}
