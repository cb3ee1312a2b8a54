//! The sending end of one flow: what is due, written as far as the transport takes it.

mod ending;
mod hearing;

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::sample::Outcome;
use btu_core::traffic::Drain;
use btu_core::traffic::sending::burst::Bursts;
use btu_core::traffic::sending::burst::Discipline;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::socket;

use super::answers;
use super::answers::Awaiting;
use super::connect::Socket;
use super::crew::Member;
use super::flow::Shared;
use super::flow::datagram;
use super::job::Carrier;
use super::job::Flow;
use super::job::Offer;
use super::job::TcpEnd;
use super::quic::QuicEnd;
use super::ration::Ration;
use super::receipts::Taking;
use crate::time::now;

/// The sending end of a flow.
pub(super) struct Sender<'a> {
    number: usize,
    flow: &'a Flow,
    pub(super) socket: &'a Socket,
    pub(super) shared: &'a Shared,
    is_read_here: bool,
    said: Bytes,
    load: Load,
    /// The most in one call.
    pub(super) chunk: usize,
    pub(super) start: Nanos,
    end: Nanos,
    give_up: Nanos,
    blocked: bool,
    /// When T was first seen to have come.
    stopped: Option<Nanos>,
    stage: Stage,
    quic: Option<Box<QuicEnd>>,
    /// Datagrams that the kernel threw away, and why it did the last one.
    refused: u64,
    refusal: Option<String>,
    tcp: Option<TcpEnd>,
    fault: Option<Outcome>,
    /// When a limit was met, or a fault ended it.
    cut_short: Option<Nanos>,
    /// What may be sent by now, where a rate holds that no kernel keeps.
    ration: Option<Ration>,
    /// Of datagrams to another host: whether they arrive.
    receipts: Option<Taking>,
    /// Where blocks are answered: when.
    awaiting: Option<Awaiting>,
    /// Of a socket that is read as well: what wakes this thread for it.
    pub(super) heed: Heed,
    /// When somebody will come back because its rate allows more.
    pub(super) held_until: Option<Nanos>,
}

/// What a flow has to send.
enum Load {
    Blocks(Bursts),
    Endless { sizes: Arc<[Bytes]>, next: usize, left: usize, taken: u64 },
}

/// What wakes a thread for a sender whose socket it reads as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heed {
    /// What comes.
    Receipts,
    /// That, and room.
    Both,
    /// Nothing comes any more: room alone, where it is waited for.
    Room,
}

/// How far a flow is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Sends,
    /// Its user sends nothing more.
    Over,
    /// Nor does its transport, as far as that is in this process.
    Gone,
}

/// What became of an attempt to send.
pub(super) enum Progress {
    Blocked,
    /// Until then its rate forbids the next datagram.
    Held(Nanos),
    Idle,
    More,
    Over,
}

impl<'a> Sender<'a> {
    pub(super) fn new(member: &Member<'a>, begin: Nanos) -> Self {
        let Member { number, flow, socket, shared, is_read_here, said, receipts } = *member;
        let start = begin.saturating_add(flow.start);
        let end = start.saturating_add(flow.duration);
        let unqueued = matches!(&flow.offer, Offer::Train { discipline, .. } if *discipline != Discipline::Queue);
        let give_up = match flow.drain {
            // An unqueued block that was begun is finished, for some time.
            Drain::No if unqueued => end.saturating_add(FINISH),
            Drain::No => end,
            Drain::UpTo(time) => end.saturating_add(time),
            Drain::Yes => Nanos::MAX,
        };
        let load = match &flow.offer {
            Offer::Endless(sizes) => {
                Load::Endless { sizes: Arc::clone(sizes), next: 0, left: 0, taken: 0 }
            }
            Offer::Train { blocks, discipline, limits } => {
                Load::Blocks(Bursts::new(Arc::clone(blocks), *discipline, *limits))
            }
        };
        let chunk = match flow.carrier {
            Carrier::Tcp(_) | Carrier::Quic(_) => flow.write.min(LONGEST_WRITE),
            Carrier::Udp => datagram(flow),
        };
        Self {
            number,
            flow,
            socket,
            shared,
            is_read_here,
            said,
            load,
            chunk: chunk.len().max(1),
            start,
            end,
            give_up,
            blocked: false,
            stopped: None,
            stage: Stage::Sends,
            quic: socket.take_quic(),
            refused: 0,
            refusal: None,
            tcp: None,
            fault: None,
            cut_short: None,
            ration: ration(flow, socket, datagram(flow).len()),
            receipts: receipts.map(|mark| Taking::new(mark, start)),
            awaiting: Awaiting::of(flow, receipts),
            heed: Heed::Receipts,
            held_until: None,
        }
    }

    /// The next moment at which something happens by itself.
    pub(super) fn next_look(&self) -> Option<Nanos> {
        if self.is_over() {
            return None;
        }
        let due = match &self.load {
            Load::Blocks(bursts) => bursts.next_due().map(|due| self.start.saturating_add(due)),
            Load::Endless { .. } => None,
        };
        let end = if self.stopped.is_some() { self.give_up } else { self.end };
        Some(due.map_or(end, |due| due.min(end)))
    }

    /// What shows that the flow goes on: bytes that were read. Where they are read on another host, bytes
    /// that the transport took, which it does for a while although nobody reads; where this process is the
    /// transport, what the other end acknowledged as well.
    pub(super) fn arrived(&self) -> u64 {
        let answered = self.shared.receipts.load(Relaxed);
        if self.is_read_here {
            return self.shared.read.load(Relaxed).saturating_add(answered);
        }
        let told = self.quic.as_ref().map_or(0, |quic| quic.acknowledgements());
        self.shared.taken.load(Relaxed).saturating_add(told).saturating_add(answered)
    }

    /// True while somebody else decides when this flow goes on.
    pub(super) fn is_held_up(&self) -> bool {
        match self.stage {
            Stage::Sends => self.blocked,
            Stage::Over => true,
            Stage::Gone => false,
        }
    }

    /// True where room comes by what the other end says, and not by the socket.
    pub(super) fn is_quic(&self) -> bool {
        self.quic.is_some()
    }

    /// When its connection wants a turn, where this process moves it on.
    pub(super) fn alarm(&mut self) -> Option<Nanos> {
        self.quic.as_mut().filter(|_| self.stage != Stage::Gone).and_then(|quic| quic.due())
    }

    /// Takes what came for a connection that this process moves on.
    pub(super) fn tend(&mut self) {
        // Of a connection that is gone the next write tells.
        let _ = self.quic.as_mut().map_or(Ok(()), |quic| quic.turn());
        if self.quic.is_some() {
            self.hear();
        }
    }

    /// Sends what is due, as far as the transport takes it.
    pub(super) fn pump(&mut self, data: &mut [u8]) -> Progress {
        let was_blocked = std::mem::replace(&mut self.blocked, false);
        self.tend();
        for _ in 0..AT_ONCE {
            let time = now();
            if time < self.start {
                return Progress::Idle;
            }
            if let Some(over) = self.look_at_the_end(time, was_blocked) {
                return over;
            }
            let Some(left) = self.wanted(time) else { return self.nothing_left(time) };
            let length = left.min(self.chunk);
            if let Some(until) = self.rationed(time, length) {
                return self.not_yet(until);
            }
            match self.write(&mut data[..length], length == left) {
                Ok(taken) => self.took(time, taken),
                Err(cause) if self.is_lost(&cause) => {
                    self.refused += 1;
                    self.refusal = Some(cause.to_string());
                    self.took(time, length);
                }
                Err(cause) => return self.not_taken(&cause),
            }
        }
        Progress::More
    }

    /// How many bytes are to be written now.
    fn wanted(&mut self, time: Nanos) -> Option<usize> {
        let since = time.since(self.start);
        match &mut self.load {
            Load::Blocks(bursts) => {
                bursts.advance(since);
                bursts.offer(since).map(Bytes::len)
            }
            Load::Endless { .. } if self.stopped.is_some() => None,
            Load::Endless { sizes, next, left, .. } => {
                if *left == 0 {
                    *left = sizes[*next].len().max(1);
                    *next = (*next + 1) % sizes.len();
                }
                Some(*left)
            }
        }
    }

    /// Until when the rate of the flow forbids so long a datagram.
    fn rationed(&self, time: Nanos, length: usize) -> Option<Nanos> {
        self.ration.as_ref()?.wait_for(time, length)
    }

    /// As where a transport has no room: what may not be sent before the end is not sent.
    fn not_yet(&mut self, until: Nanos) -> Progress {
        if self.is_past_giving_up() {
            self.end();
            return Progress::Over;
        }
        self.refuse();
        Progress::Held(until)
    }

    /// What waits from now on does not wait for this thread.
    fn refuse(&mut self) {
        let since = now().since(self.start);
        if let Load::Blocks(bursts) = &mut self.load {
            bursts.refused(since);
        }
    }

    fn took(&mut self, began: Nanos, bytes: usize) {
        let count = u64::try_from(bytes).unwrap_or(0);
        if let Some(ration) = &mut self.ration {
            ration.sent(now(), bytes);
        }
        self.shared.taken.fetch_add(count, Relaxed);
        if self.flow.carrier == Carrier::Udp {
            self.shared.datagrams.fetch_add(1, Relaxed);
        }
        match &mut self.load {
            // A block is finished when the call has returned; the clock need not be asked before each.
            Load::Blocks(bursts) => bursts.took(now().since(self.start), Bytes::new(count)),
            Load::Endless { left, taken, .. } => {
                *left -= bytes.min(*left);
                *taken += count;
            }
        }
        debug_assert!(began >= self.start, "nothing is sent before the start");
    }

    /// Nothing of a datagram is taken, or all. What is written into it for this flow is taken out again: others send of the
    /// same data.
    fn write(&mut self, data: &mut [u8], ends_block: bool) -> io::Result<usize> {
        let socket = self.socket.as_fd();
        let is_stream = self.flow.carrier.is_stream();
        let length = data.len();
        if is_stream && !(ends_block && self.awaiting.is_some()) {
            return self.quic.as_mut().map_or_else(|| socket::send(socket, data), |q| q.send(data));
        }
        let number = self.shared.datagrams.load(Relaxed).to_le_bytes();
        let (at, say) = if is_stream {
            (length.saturating_sub(1), &[answers::LAST][..])
        } else {
            (0, &number[..length.min(number.len())])
        };
        lent(data, (at, say), |data| match &mut self.quic {
            Some(quic) => quic.send(data),
            None => socket::send(socket, data),
        })
    }

    /// True for a datagram that the kernel threw away: a full device, a firewall. It was sent as far as its user
    /// knows, and never comes.
    fn is_lost(&self, cause: &io::Error) -> bool {
        let other = [
            io::ErrorKind::ConnectionRefused,
            io::ErrorKind::Interrupted,
            io::ErrorKind::WouldBlock,
        ];
        self.flow.carrier == Carrier::Udp && !other.contains(&cause.kind())
    }

    fn not_taken(&mut self, cause: &io::Error) -> Progress {
        match (cause.kind(), &self.flow.carrier) {
            (io::ErrorKind::WouldBlock, _) if self.is_past_giving_up() => {
                self.end();
                Progress::Over
            }
            (io::ErrorKind::WouldBlock, _) => {
                self.refuse();
                self.blocked = true;
                Progress::Blocked
            }
            // Nobody listens any more, says an answer to an earlier datagram; this one is still to be sent.
            (io::ErrorKind::Interrupted, _) | (_, Carrier::Udp) => Progress::More,
            (_, Carrier::Tcp(_) | Carrier::Quic(_)) => self.fail(format!("send: {cause}")),
        }
    }
}

/// Data in which some bytes say something until they are sent.
fn lent<T>(data: &mut [u8], (at, say): (usize, &[u8]), work: impl FnOnce(&[u8]) -> T) -> T {
    let mut kept = [0; 8];
    let (own, kept) = (at..at + say.len(), &mut kept[..say.len()]);
    kept.copy_from_slice(&data[own.clone()]);
    data[own.clone()].copy_from_slice(say);
    let done = work(data);
    data[own].copy_from_slice(kept);
    done
}

/// The rate of a flow of datagrams, where one holds.
pub(super) fn ration(flow: &Flow, socket: &Socket, largest: usize) -> Option<Ration> {
    let Socket::Datagram(socket) = socket else { return None };
    Some(Ration::new(flow.held_to?, largest, socket.peer_addr().ok()))
}

/// Writes of one flow before the others are looked at.
const AT_ONCE: usize = 16;
/// The longest write: what a flow has beyond waits until others were looked at.
const LONGEST_WRITE: Bytes = Bytes::new(1 << 20);
/// How long an unqueued block may take to be finished after T.
const FINISH: Nanos = Nanos::from_secs(10);

#[cfg(test)]
mod tests;
