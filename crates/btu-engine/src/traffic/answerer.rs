//! The answering end of a conversation: reads requests, sends what each asks for.

use std::io;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use btu_sys::socket;
use btu_sys::socket::Settings;

use super::meeting::Reach;
use crate::comm::Seat;
use crate::error::EngineError;
use crate::pingpong::door;

/// Who may ask, and what was moved for them.
#[derive(Debug, Default)]
pub struct Guests {
    /// What a connection has to know; `None` between hosts of one process.
    token: Option<Seat>,
    /// Connections at once, with those of others that share the count.
    most: Option<usize>,
    open: Arc<AtomicUsize>,
    moved: AtomicU64,
}

impl Guests {
    /// Whoever knows the token, as long as fewer than `most` of all that share `open` are there.
    pub fn of(token: Seat, most: usize, open: &Arc<AtomicUsize>) -> Self {
        let (token, most, open) = (Some(token), Some(most), Arc::clone(open));
        Self { token, most, open, moved: AtomicU64::new(0) }
    }

    /// Whoever connects.
    pub(super) fn anybody() -> Self {
        Self::default()
    }

    /// True for a connection that said the token in time, where there is one.
    fn admit(&self, stream: &TcpStream, over: &AtomicBool) -> bool {
        let Some(seat) = &self.token else { return true };
        let (mut words, since) = ([0; door::WORDS], Instant::now());
        let is_patient = || !over.load(Relaxed) && since.elapsed() < PATIENCE;
        if !read_all(stream, &mut words, &is_patient) {
            return false;
        }
        let Some(answer) = seat.answer_to(&words) else { return false };
        socket::send(stream.as_fd(), &answer).is_ok_and(|sent| sent == answer.len())
    }
}

/// Accepts until it is over; each connection has a thread, and ends when its asker closes it.
pub(super) fn answer_all(
    listener: &TcpListener,
    over: &AtomicBool,
    guests: &Guests,
) -> Result<(), EngineError> {
    socket::bound_waits(listener, Duration::from_millis(20))?;
    thread::scope(|scope| {
        while !over.load(Relaxed) {
            let Ok((stream, _)) = listener.accept() else { continue };
            let before = guests.open.fetch_add(1, Relaxed);
            if guests.most.is_some_and(|most| before >= most) {
                guests.open.fetch_sub(1, Relaxed);
                continue;
            }
            scope.spawn(move || {
                answer(&stream, over, guests);
                guests.open.fetch_sub(1, Relaxed);
            });
        }
    });
    Ok(())
}

/// The end that answers, for askers on another host. Dropped, it ends all of its connections.
#[derive(Debug)]
pub struct Answerer {
    port: u16,
    over: Arc<AtomicBool>,
    guests: Arc<Guests>,
    thread: Option<thread::JoinHandle<Result<(), EngineError>>>,
}

impl Answerer {
    /// Listens for these guests.
    ///
    /// # Errors
    /// No port is free, or a thread did not start.
    pub fn open(reach: &Reach, settings: &Settings, guests: Guests) -> Result<Self, EngineError> {
        let open = |port| socket::listen((reach.address, port).into(), settings);
        let listener = door::on_free_port_of(reach.ports, open)?;
        let port = listener.local_addr().map_err(EngineError::peer("listen"))?.port();
        let over = Arc::new(AtomicBool::new(false));
        let guests = Arc::new(guests);
        let (ended, served) = (Arc::clone(&over), Arc::clone(&guests));
        let work = move || answer_all(&listener, &ended, &served);
        let name = "traffic-answer";
        let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
        let thread = thread.map_err(|source| EngineError::Thread { name: name.to_owned(), source });
        Ok(Self { port, over, guests, thread: Some(thread?) })
    }

    /// Where it listens.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Payload that was read and sent so far.
    pub fn moved(&self) -> u64 {
        self.guests.moved.load(Relaxed)
    }
}

impl Drop for Answerer {
    fn drop(&mut self) {
        self.over.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            // Nobody is left to hear how it ended.
            let _ = thread.join();
        }
    }
}

/// The answering end, as its askers reach it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Respondent {
    pub(super) at: SocketAddr,
    /// What is said first, where it is on another host.
    pub(super) token: Option<Seat>,
}

impl Respondent {
    /// A new connection to it, not yet admitted.
    pub(super) fn connect(
        &self,
        settings: &Settings,
        patience: Duration,
    ) -> Result<TcpStream, EngineError> {
        Ok(socket::connect(self.at, settings, patience)?)
    }

    /// Shows the token on a new connection.
    pub(super) fn greet(&self, stream: &TcpStream, patience: Duration) -> Result<(), EngineError> {
        let Some(seat) = &self.token else { return Ok(()) };
        let greeted = door::introduce(stream, seat, Instant::now() + patience);
        greeted.map_err(EngineError::peer(format!("show the token to {}", self.at)))
    }
}

/// Answers every request of a connection.
fn answer(stream: &TcpStream, over: &AtomicBool, guests: &Guests) {
    let goes_on = || !over.load(Relaxed);
    let bounded = socket::bound_waits(stream, Duration::from_millis(100)).is_ok();
    if !bounded || !guests.admit(stream, over) {
        return;
    }
    let mut space = vec![0; CHUNK];
    loop {
        let mut head = [0; HEAD];
        if !read_all(stream, &mut head, &goes_on) {
            return;
        }
        let [request, answer] = lengths(&head);
        let mut left = request.saturating_sub(to_count(HEAD));
        while left > 0 {
            let part = to_length(left).min(CHUNK);
            if !read_all(stream, &mut space[..part], &goes_on) {
                return;
            }
            left -= to_count(part);
        }
        guests.moved.fetch_add(request.saturating_add(answer), Relaxed);
        let mut left = answer.max(1);
        while left > 0 {
            match socket::send(stream.as_fd(), &space[..to_length(left).min(CHUNK)]) {
                Ok(sent) => left -= to_count(sent).min(left),
                Err(cause) if may_go_on(&cause) && goes_on() => {}
                Err(_) => return,
            }
        }
    }
}

fn read_all(stream: &TcpStream, mut space: &mut [u8], goes_on: &dyn Fn() -> bool) -> bool {
    while !space.is_empty() {
        match socket::recv(stream.as_fd(), space) {
            Ok(0) => return false,
            Ok(count) => space = &mut space[count..],
            Err(cause) if may_go_on(&cause) && goes_on() => {}
            Err(_) => return false,
        }
    }
    true
}

pub(super) fn may_go_on(cause: &io::Error) -> bool {
    matches!(cause.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn lengths(head: &[u8; HEAD]) -> [u64; 2] {
    let number = |from: usize| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&head[from..from + 8]);
        u64::from_le_bytes(bytes)
    };
    [number(0), number(8)]
}

pub(super) fn to_count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

pub(super) fn to_length(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// The two numbers at the beginning of a request.
pub(super) const HEAD: usize = 16;
/// The most in one call.
pub(super) const CHUNK: usize = 64 << 10;
/// For the words of a stranger.
const PATIENCE: Duration = Duration::from_secs(2);
