//! A connection to an answering end on its way: to that end, and past its door.

use std::io;
use std::net::SocketAddr;
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::units::Nanos;
use btu_sys::exchange;
use btu_sys::exchange::Ready;
use btu_sys::socket;
use btu_sys::socket::Settings;

use crate::door;
use crate::door::Introduction;
use crate::door::Seat;
use crate::error::EngineError;
use crate::time::now;

/// The answering end, as its askers reach it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Respondent {
    pub(super) at: SocketAddr,
    /// What is said first, where it is on another host.
    pub(super) token: Option<Seat>,
}

/// One connection, which whoever makes it may do something else beside.
pub(super) struct Opening {
    stream: TcpStream,
    far: Respondent,
    begun: Nanos,
    /// When the other end was reached.
    connected: Option<Nanos>,
    /// What is said first, where the other end wants to hear something.
    introduction: Option<Introduction>,
    /// How often it was made.
    tries: usize,
    /// When nobody waits for it any longer.
    end: Nanos,
}

/// How far a connection has come.
pub(super) enum Step {
    /// It was closed unanswered and is made again, over another socket.
    Anew,
    /// It waits for its other end.
    Awaited,
    /// It is there, and its other end has let it in.
    There,
}

/// A connection that is there, and has been let in; its calls wait.
pub(super) struct Met {
    pub(super) stream: TcpStream,
    /// What it took to reach the other end, without what the door took.
    pub(super) connect_ns: Nanos,
}

impl Respondent {
    /// A connection that it has let in, unless nobody wants that any more.
    pub(super) fn meet(
        &self,
        settings: &Settings,
        patience: Nanos,
        cancel: &AtomicBool,
    ) -> Result<Met, EngineError> {
        let mut opening = Opening::begin(self, settings, now().saturating_add(patience))?;
        while !matches!(opening.go_on(settings)?, Step::There) {
            if cancel.load(Relaxed) {
                let cause = format!("connect to {}: interrupted", self.at);
                return Err(EngineError::Refused(cause));
            }
            opening.wait()?;
        }
        let connect_ns = opening.connected.unwrap_or_else(now).since(opening.begun);
        let stream = opening.stream;
        stream.set_nonblocking(false).map_err(EngineError::peer("clear O_NONBLOCK"))?;
        Ok(Met { stream, connect_ns })
    }
}

impl Step {
    const fn of(is_let_in: bool) -> Self {
        if is_let_in { Self::There } else { Self::Awaited }
    }
}

impl Opening {
    /// Begins one that nobody waits for beyond `end`.
    pub(super) fn begin(
        far: &Respondent,
        settings: &Settings,
        end: Nanos,
    ) -> Result<Self, EngineError> {
        let begun = now();
        let stream = socket::begin_connect(far.at, settings)?;
        let introduction = far.token.map(Introduction::new);
        Ok(Self { stream, far: *far, begun, connected: None, introduction, tries: 1, end })
    }

    /// Goes on as far as that needs no waiting; what is made again has the same end.
    pub(super) fn go_on(&mut self, settings: &Settings) -> Result<Step, EngineError> {
        let gone_on = self.has_connected().and_then(|is_connected| match &mut self.introduction {
            _ if !is_connected => Ok(Step::Awaited),
            Some(introduction) => introduction.go_on(&self.stream).map(Step::of),
            None => Ok(Step::There),
        });
        match gone_on {
            Err(cause) if self.may_be_made_again(&cause) => {
                let tries = self.tries + 1;
                *self = Self { tries, ..Self::begin(&self.far, settings, self.end)? };
                Ok(Step::Anew)
            }
            gone_on => gone_on.map_err(|cause| self.failed(cause)),
        }
    }

    /// As [`door::introduced`] has it.
    fn may_be_made_again(&self, cause: &io::Error) -> bool {
        self.connected.is_some() && self.tries < door::TRIES && door::is_closed(cause)
    }

    fn has_connected(&mut self) -> io::Result<bool> {
        if self.connected.is_some() {
            return Ok(true);
        }
        if let Some(cause) = self.stream.take_error()? {
            return Err(cause);
        }
        match self.stream.peer_addr() {
            Ok(_) => {
                self.connected = Some(now());
                Ok(true)
            }
            Err(cause) if cause.kind() == io::ErrorKind::NotConnected => Ok(false),
            Err(cause) => Err(cause),
        }
    }

    /// Waits until it can go on, or for as long as nobody looks whether it is still wanted.
    fn wait(&self) -> Result<(), EngineError> {
        let left = self.end.since(now());
        if left == Nanos::ZERO {
            return Err(self.failed(io::ErrorKind::TimedOut.into()));
        }
        let next = if self.awaits_room() { Ready::Write } else { Ready::Read };
        let waited = exchange::poll(self.stream.as_fd(), next, Some(left.min(LOOK).into()));
        waited.map(drop).map_err(|cause| self.failed(cause))
    }

    /// Whether it goes on when its socket has room, and not only when something comes.
    pub(super) fn awaits_room(&self) -> bool {
        self.connected.is_none()
            || self.introduction.as_ref().is_some_and(Introduction::awaits_room)
    }

    /// When nobody waits for it any longer.
    pub(super) const fn end(&self) -> Nanos {
        self.end
    }

    /// Its socket, which does not block.
    pub(super) const fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// The same, of one that is there.
    pub(super) fn into_stream(self) -> TcpStream {
        self.stream
    }

    /// Why it did not come to its end, with its step.
    pub(super) fn failed(&self, cause: io::Error) -> EngineError {
        let what = if self.connected.is_some() { "show the token to" } else { "connect to" };
        EngineError::peer(format!("{what} {}", self.far.at))(cause)
    }
}

/// How long nobody looks whether it is still wanted.
const LOOK: Nanos = Nanos::from_millis(50);
