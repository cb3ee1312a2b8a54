//! The sending end of one flow: what is due, written as far as the transport takes it.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::sample::Outcome;
use btu_core::traffic::Drain;
use btu_core::traffic::burst::BlockRecord;
use btu_core::traffic::burst::Bursts;
use btu_core::traffic::burst::Discipline;
use btu_core::traffic::burst::Fate;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::socket;
use btu_sys::tcp_info::TcpInfo;

use super::connect::Socket;
use super::crew::Member;
use super::flow::Sent;
use super::flow::Shared;
use super::flow::datagram;
use super::job::Carrier;
use super::job::Flow;
use super::job::Offer;
use super::job::TcpEnd;
use super::pacer::Pacer;
use super::pacer::now;
use super::ration::Ration;
use super::receipts::Taking;

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
    pub(super) is_over: bool,
    refused: u64,
    tcp: Option<TcpEnd>,
    fault: Option<Outcome>,
    /// When a limit was met, or a fault ended it.
    cut_short: Option<Nanos>,
    /// What may be sent by now, where a rate holds that no kernel keeps.
    ration: Option<Ration>,
    /// Of datagrams to another host: whether they arrive.
    receipts: Option<Taking>,
    /// When somebody will come back because its rate allows more.
    pub(super) held_until: Option<Nanos>,
}

/// What a flow has to send.
enum Load {
    Blocks(Bursts),
    Endless { sizes: Arc<[Bytes]>, next: usize, left: usize, taken: u64 },
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
            Carrier::Tcp(_) => flow.write.min(LONGEST_WRITE),
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
            is_over: false,
            refused: 0,
            tcp: None,
            fault: None,
            cut_short: None,
            ration: ration(flow, socket),
            receipts: receipts.map(|mark| Taking::new(mark, start)),
            held_until: None,
        }
    }

    /// The next moment at which something happens by itself.
    pub(super) fn next_look(&self) -> Option<Nanos> {
        if self.is_over {
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
    /// that the transport took, which it does for a while although nobody reads.
    pub(super) fn arrived(&self) -> u64 {
        let counted = if self.is_read_here { &self.shared.read } else { &self.shared.taken };
        counted.load(Relaxed)
    }

    /// Ends the flow where nobody tells any more that it arrives; true where it did.
    pub(super) fn is_broken(&mut self, time: Nanos) -> bool {
        let (sent, socket) = (self.shared.datagrams.load(Relaxed), self.socket);
        let takes = self.receipts.as_mut().filter(|_| !self.is_over && time >= self.start);
        let Some(trip) = takes.and_then(|one| one.take(time, sent, socket)) else { return false };
        self.cut_short(time, Outcome::Capped { reason: trip.to_string() });
        true
    }

    /// True while somebody else decides when this flow goes on.
    pub(super) fn is_held_up(&self) -> bool {
        self.blocked
    }

    /// Sends what is due, as far as the transport takes it.
    pub(super) fn pump(&mut self, data: &mut [u8]) -> Progress {
        let was_blocked = std::mem::replace(&mut self.blocked, false);
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
            match self.write(&mut data[..length]) {
                Ok(taken) => self.took(time, taken),
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
        Progress::Held(until)
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

    /// Nothing of a datagram is taken, or all.
    fn write(&self, data: &mut [u8]) -> io::Result<usize> {
        if self.flow.carrier == Carrier::Udp {
            let number = self.shared.datagrams.load(Relaxed).to_le_bytes();
            let room = data.len().min(number.len());
            data[..room].copy_from_slice(&number[..room]);
        }
        socket::send(self.socket.as_fd(), data)
    }

    fn not_taken(&mut self, cause: &io::Error) -> Progress {
        match (cause.kind(), &self.flow.carrier) {
            (io::ErrorKind::Interrupted, _) => Progress::More,
            (io::ErrorKind::WouldBlock, _) if self.is_past_giving_up() => {
                self.end();
                Progress::Over
            }
            (io::ErrorKind::WouldBlock, _) => {
                self.blocked = true;
                Progress::Blocked
            }
            // A full device or a port where nobody listens any more: this datagram is lost.
            (_, Carrier::Udp) => {
                self.refused += 1;
                if self.refused > MOST_REFUSED {
                    return self.fail(format!("send: {cause}"));
                }
                Progress::More
            }
            (_, Carrier::Tcp(_)) => self.fail(format!("send: {cause}")),
        }
    }

    fn is_past_giving_up(&self) -> bool {
        self.stopped.is_some_and(|stopped| stopped >= self.give_up)
    }

    fn fail(&mut self, reason: String) -> Progress {
        self.cut_short(now(), Outcome::Failed { reason });
        Progress::Over
    }

    /// Ends it although it has more: what it sent is averaged over the time that it had.
    pub(super) fn cut_short(&mut self, time: Nanos, fault: Outcome) {
        self.fault = Some(fault);
        self.cut_short = Some(time.since(self.start));
        self.end();
    }

    /// T has come, or the end of the time to drain, or a limit was met.
    fn look_at_the_end(&mut self, time: Nanos, was_blocked: bool) -> Option<Progress> {
        let since = time.since(self.start);
        if let Load::Blocks(bursts) = &mut self.load {
            // What was due before T is due, however late somebody looks.
            bursts.advance(since.min(self.flow.duration));
            if let Some(overflow) = bursts.overflow(since) {
                let reason = format!("{overflow}, at t = {:.3} s", since.seconds());
                self.cut_short(time, Outcome::Capped { reason });
                return Some(Progress::Over);
            }
        }
        if time >= self.end && self.stopped.is_none() {
            self.stopped = Some(time);
            self.tcp = self.account();
            if let Load::Blocks(bursts) = &mut self.load {
                bursts.stop();
            }
        }
        // What was due is offered once, where only this thread was late and not the transport.
        let stopped = self.stopped?;
        let tries = !was_blocked && time < stopped.saturating_add(LAST_TRY);
        (time >= self.give_up && !tries).then(|| {
            self.end();
            Progress::Over
        })
    }

    /// Nothing is due now: the flow waits, or is over.
    fn nothing_left(&mut self, time: Nanos) -> Progress {
        let has_more = match &self.load {
            Load::Blocks(bursts) => bursts.next_due().is_some(),
            Load::Endless { .. } => false,
        };
        if has_more || (time < self.end && self.stopped.is_none()) {
            return Progress::Idle;
        }
        self.end();
        Progress::Over
    }

    /// Nothing more is sent: the receiver sees the end once it has read what was.
    fn end(&mut self) {
        self.is_over = true;
        if self.tcp.is_none() {
            self.tcp = self.account();
        }
        if let Socket::Stream(stream) = self.socket {
            // A connection that is gone has nothing left to end.
            let _ = stream.shutdown(std::net::Shutdown::Write);
        }
        self.shared.sender_done.store(true, Relaxed);
    }

    fn account(&self) -> Option<TcpEnd> {
        let Socket::Stream(stream) = self.socket else { return None };
        let read = TcpInfo::of(stream).ok()?;
        let bytes = |count: Option<u64>| Bytes::new(count.unwrap_or(0));
        let own = |count: u64| count.saturating_sub(self.said.count());
        let micros = |count: Option<u64>| Nanos::from_micros(count.unwrap_or(0));
        Some(TcpEnd {
            // The SYN counts as a byte.
            acknowledged: bytes(read.bytes_acked().map(|acked| own(acked.saturating_sub(1)))),
            sent: bytes(read.bytes_sent().map(own)),
            retransmitted: bytes(read.bytes_retrans()),
            rtt: micros(read.rtt_us()),
            least_rtt: micros(read.min_rtt_us()),
        })
    }

    pub(super) fn finish(self, pacer: &Pacer) -> Sent {
        let blocks = match self.load {
            Load::Blocks(bursts) => bursts.into_records(),
            Load::Endless { taken, .. } => vec![BlockRecord {
                size: Bytes::new(taken),
                start: Some(Nanos::ZERO),
                end: Some(self.cut_short.unwrap_or(self.flow.duration).min(self.flow.duration)),
                taken: Bytes::new(taken),
                fate: Fate::Sent,
                ..BlockRecord::default()
            }],
        };
        Sent {
            number: self.number,
            blocks,
            tcp: self.tcp,
            pace: pacer.pace.name(),
            refused: self.refused,
            fault: self.fault,
            ended: self.cut_short,
        }
    }
}

/// The rate of a flow of datagrams, where one holds.
fn ration(flow: &Flow, socket: &Socket) -> Option<Ration> {
    let Socket::Datagram(socket) = socket else { return None };
    Some(Ration::new(flow.held_to?, datagram(flow).len(), socket.peer_addr().ok()))
}

/// Writes of one flow before the others are looked at.
const AT_ONCE: usize = 16;
/// The longest write: what a flow has beyond waits until others were looked at.
const LONGEST_WRITE: Bytes = Bytes::new(1 << 20);
/// How long what was due at T is still offered to a transport that has room.
const LAST_TRY: Nanos = Nanos::from_millis(20);
/// How long an unqueued block may take to be finished after T.
const FINISH: Nanos = Nanos::from_secs(10);
/// Datagrams that the kernel may refuse before the flow is given up.
const MOST_REFUSED: u64 = 1_000_000;
