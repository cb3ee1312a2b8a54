//! The answering end of a conversation: reads requests, sends what each asks for.

mod streams;

use std::collections::BTreeSet;
use std::io;
use std::net::TcpListener;
use std::net::TcpStream;
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::cpu::ThreadUse;
use btu_sys::socket;
use btu_sys::socket::Settings;

use super::connect::DATAGRAM_BUFFER;
use super::hands::start;
use super::job::QuicSettings;
use super::meeting::Reach;
use super::path_mtu::answer_probes;
use super::quic::Keys;
use super::quic::QuicTalk;
use super::request::Hearing;
use crate::door;
use crate::door::Hall;
use crate::door::Seat;
use crate::door::Stranger;
use crate::error::EngineError;
use crate::threads;

pub(super) use streams::answer_quic;

/// Who may ask, and what was moved for them.
#[derive(Debug, Default)]
pub struct Guests {
    /// What a connection has to know, and how many may be open at once; `None` between hosts of one process.
    known: Option<(Seat, usize)>,
    open: AtomicUsize,
    moved: AtomicU64,
    /// CPU time of connections that ended.
    cpu_ns: AtomicU64,
}

impl Guests {
    /// Whoever knows the token, as long as fewer than `most` are there.
    pub fn of(token: Seat, most: usize) -> Self {
        Self { known: Some((token, most)), ..Self::default() }
    }

    /// Whoever connects.
    pub(super) fn anybody() -> Self {
        Self::default()
    }

    /// CPU time that answering took, of the connections that ended.
    pub(super) fn cpu(&self) -> Nanos {
        Nanos::new(self.cpu_ns.load(Relaxed))
    }

    /// Answers every request of a connection, with a thread of its own.
    fn serve(&self, stream: &TcpStream, over: &AtomicBool) {
        let before = ThreadUse::now();
        answer(stream, over, &self.moved);
        self.cpu_ns.fetch_add(ThreadUse::now().since(&before).cpu_ns, Relaxed);
    }
}

/// Accepts until it is over; each connection has a thread, and ends when its asker closes it.
pub(super) fn answer_all(
    listener: &TcpListener,
    over: &AtomicBool,
    guests: &Guests,
) -> Result<(), EngineError> {
    match &guests.known {
        Some((token, most)) => answer_known(listener, over, guests, (token, *most)),
        None => answer_anybody(listener, over, guests),
    }
}

fn answer_anybody(
    listener: &TcpListener,
    over: &AtomicBool,
    guests: &Guests,
) -> Result<(), EngineError> {
    socket::bound_waits(listener, Duration::from_millis(20))?;
    thread::scope(|scope| {
        while !over.load(Relaxed) {
            if let Some(stream) = next_at(listener)? {
                // Whom no thread serves finds its connection closed.
                let _closed = start(scope, "traffic-guest", move || {
                    guests.serve(&stream, over);
                    Ok(())
                });
            }
        }
        Ok(())
    })
}

/// A place is taken by whoever knows the token. Where all are, the next one waits for the end of another,
/// as long as strangers may wait.
fn answer_known(
    listener: &TcpListener,
    over: &AtomicBool,
    guests: &Guests,
    (token, most): (&Seat, usize),
) -> Result<(), EngineError> {
    let (mut hall, mut came) = (Hall::new()?, BTreeSet::new());
    listener.set_nonblocking(true).map_err(EngineError::peer("set O_NONBLOCK"))?;
    hall.add_door(listener)?;
    thread::scope(|scope| {
        while !over.load(Relaxed) {
            hall.wait(LOOK)?;
            // An opening that was heard before was overheard by its sender.
            let knows = |stranger: &Stranger<TcpStream>| {
                stranger.knows(token) && !came.contains(&stranger.nonce())
            };
            let received = hall.receive(|| next_at(listener), &knows);
            hall.hear(&knows);
            while guests.open.load(Relaxed) < most
                && let Some(stranger) = hall.next_spoken()
            {
                let is_new = came.len() < MOST_GUESTS && came.insert(stranger.nonce());
                let Some(stream) = is_new.then(|| stranger.admitted(token)).flatten() else {
                    continue;
                };
                guests.open.fetch_add(1, Relaxed);
                let served = start(scope, "traffic-guest", move || {
                    guests.serve(&stream, over);
                    guests.open.fetch_sub(1, Relaxed);
                    Ok(())
                });
                if served.is_err() {
                    guests.open.fetch_sub(1, Relaxed);
                }
            }
            received?;
        }
        Ok(())
    })
}

/// The next one at the door. One that breaks is closed: who is in is served to the end, and who is not hears of it
/// at once.
fn next_at(listener: &TcpListener) -> Result<Option<TcpStream>, EngineError> {
    door::next_at(listener).inspect_err(|_| socket::abort(listener))
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
        let listener = door::on_free_port(reach.ports, open)?;
        let port = listener.local_addr().map_err(EngineError::peer("listen"))?.port();
        let work = move |over: &AtomicBool, guests: &Guests| answer_all(&listener, over, guests);
        Self::begin(port, guests, work)
    }

    /// Listens for the one guest of these keys, whose flows are streams of one QUIC connection.
    ///
    /// # Errors
    /// As those of [`Answerer::open`].
    pub fn open_quic(
        reach: &Reach,
        settings: &QuicSettings,
        keys: Keys,
    ) -> Result<Self, EngineError> {
        let open = |port| socket::bind_udp((reach.address, port).into(), DATAGRAM_BUFFER);
        let socket = door::on_free_port(reach.ports, open)?;
        let port = socket.local_addr().map_err(EngineError::peer("bind"))?.port();
        let (seat, settings) = (reach.seat, settings.clone());
        let work = move |over: &AtomicBool, guests: &Guests| {
            let socket = OwnedFd::from(socket);
            let heard = door::hear(&socket, &seat, Instant::now() + LONGEST_WAIT, over);
            heard.map_err(EngineError::peer("wait for a conversation"))?;
            let talk = QuicTalk::answerer(UdpSocket::from(socket), &keys, &settings)?;
            let cpu = answer_quic(talk, over, &guests.moved);
            guests.cpu_ns.fetch_add(cpu.count(), Relaxed);
            Ok(())
        };
        Self::begin(port, Guests::of(seat, 1), work)
    }

    /// Waits for whoever knows the token, and answers probes of a path MTU.
    ///
    /// # Errors
    /// As those of [`Answerer::open`].
    pub fn open_path_mtu(reach: &Reach) -> Result<Self, EngineError> {
        let open = |port| socket::bind_udp((reach.address, port).into(), DATAGRAM_BUFFER);
        let socket = door::on_free_port(reach.ports, open)?;
        let port = socket.local_addr().map_err(EngineError::peer("bind"))?.port();
        let seat = reach.seat;
        let work = move |over: &AtomicBool, guests: &Guests| {
            let socket = OwnedFd::from(socket);
            let heard = door::hear(&socket, &seat, Instant::now() + LONGEST_WAIT, over);
            heard.map_err(EngineError::peer("wait for probes of a path MTU"))?;
            answer_probes(&UdpSocket::from(socket), over, &guests.moved)
        };
        Self::begin(port, Guests::of(seat, 1), work)
    }

    fn begin(
        port: u16,
        guests: Guests,
        work: impl FnOnce(&AtomicBool, &Guests) -> Result<(), EngineError> + Send + 'static,
    ) -> Result<Self, EngineError> {
        let over = Arc::new(AtomicBool::new(false));
        let guests = Arc::new(guests);
        let (ended, served) = (Arc::clone(&over), Arc::clone(&guests));
        let work = move || work(&ended, &served);
        let thread = threads::start("traffic-answer", work)?;
        Ok(Self { port, over, guests, thread: Some(thread) })
    }

    /// Where it listens.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Payload that was read and sent so far.
    pub fn moved(&self) -> Bytes {
        Bytes::new(self.guests.moved.load(Relaxed))
    }

    /// Ends all of its connections. Gives the payload that was read and sent.
    pub fn finish(mut self) -> Bytes {
        self.end();
        self.moved()
    }

    fn end(&mut self) {
        self.over.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            // Nobody is left to hear how it ended.
            let _ = thread.join();
        }
    }
}

impl Drop for Answerer {
    fn drop(&mut self) {
        self.end();
    }
}

/// Answers every request of a connection. What counts as moved is what was read and sent.
fn answer(stream: &TcpStream, over: &AtomicBool, moved: &AtomicU64) {
    let goes_on = || !over.load(Relaxed);
    if socket::bound_waits(stream, Duration::from_millis(100)).is_err() {
        return;
    }
    let (mut space, mut hearing) = (vec![0; CHUNK], Hearing::default());
    while let Some(mut left) = request(stream, &mut hearing, &mut space, (&goes_on, moved)) {
        while left > 0 {
            if !goes_on() {
                return;
            }
            match socket::send(stream.as_fd(), &space[..to_length(left).min(CHUNK)]) {
                Ok(sent) => {
                    moved.fetch_add(to_count(sent), Relaxed);
                    left -= to_count(sent).min(left);
                }
                Err(cause) if may_go_on(&cause) => {}
                Err(_) => return,
            }
        }
    }
}

/// Reads a request to its end. Gives the length of the answer; none where nothing more is asked.
fn request(
    stream: &TcpStream,
    hearing: &mut Hearing,
    space: &mut [u8],
    (goes_on, moved): (&dyn Fn() -> bool, &AtomicU64),
) -> Option<u64> {
    while goes_on() {
        match socket::recv(stream.as_fd(), hearing.room(space)) {
            Ok(0) => return None,
            Ok(count) => {
                moved.fetch_add(to_count(count), Relaxed);
                if let Some(answer) = hearing.came(count).ok()? {
                    return Some(answer);
                }
            }
            Err(cause) if may_go_on(&cause) => {}
            Err(_) => return None,
        }
    }
    None
}

pub(super) fn may_go_on(cause: &io::Error) -> bool {
    matches!(cause.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

pub(super) fn to_count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

pub(super) fn to_length(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// The most in one call.
pub(super) const CHUNK: usize = 64 << 10;
/// How long nobody looks whether it is over, or a place is free.
const LOOK: Duration = Duration::from_millis(20);
/// For the one that asks over QUIC: whoever listens for it ends sooner.
const LONGEST_WAIT: Duration = Duration::from_hours(1);
/// Connections of one door, one after the other: what made each of them new is remembered.
const MOST_GUESTS: usize = 1 << 20;

#[cfg(test)]
mod tests;
