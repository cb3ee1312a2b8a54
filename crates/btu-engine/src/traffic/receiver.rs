//! A receiving thread: reads whatever came for any of its flows, and notes when.

use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::sample::Outcome;
use btu_core::traffic::trace::Arrived;
use btu_core::traffic::trace::Read;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::cpu::ThreadUse;
use btu_sys::socket;
use btu_sys::wait::Ready;

use super::alarms::Alarms;
use super::answers::Answering;
use super::answers::OF_BLOCK;
use super::connect::Socket;
use super::crew::Crew;
use super::crew::Member;
use super::flow::LARGEST_DATAGRAM;
use super::flow::Received;
use super::flow::Shared;
use super::flow::datagram;
use super::flow::since;
use super::job::Carrier;
use super::job::Flow;
use super::job::Job;
use super::job::Offer;
use super::numbers;
use super::numbers::Arrival;
use super::numbers::Numbers;
use super::outgoing;
use super::quic::QuicEnd;
use super::receipts::Giving;
use crate::error::EngineError;
use crate::time::now;

/// What a receiving thread leaves behind.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) flows: Vec<Received>,
    pub(super) cpu: Nanos,
}

/// Reads the receiving ends of some flows until all have ended.
pub(super) fn run(job: &Job<'_>, crew: &Crew<'_>, begin: Nanos) -> Result<Done, EngineError> {
    let mut ready = Ready::new(256)?;
    let members = crew.members.iter();
    let mut sinks: Vec<Sink<'_>> = members.map(|one| Sink::new(one, begin)).collect();
    for (place, sink) in (0..).zip(&sinks) {
        ready.add_reader(sink.socket, place)?;
    }
    let longest = sinks.iter().map(|sink| sink.flow.read).max().unwrap_or_default();
    let mut space = vec![0; longest.clamp(LARGEST_DATAGRAM, LONGEST_READ).len()];
    let before = ThreadUse::now();
    let mut looked = Nanos::ZERO;
    let mut alarms = Alarms::default();
    for (place, sink) in sinks.iter_mut().enumerate() {
        alarms.set(place, sink.alarm());
    }
    while sinks.iter().any(|sink| !sink.is_over) {
        let wait = alarms.first().map_or(LOOK, |first| first.since(now()).min(LOOK));
        ready.wait(Some(wait.count())).map_err(EngineError::peer("wait"))?;
        for at in 0..ready.len() {
            let place = usize::try_from(ready.number(at)).unwrap_or(usize::MAX);
            serve(&mut sinks, place, (&ready, &mut alarms), &mut space)?;
        }
        while let Some(place) = alarms.take(now()) {
            serve(&mut sinks, place, (&ready, &mut alarms), &mut space)?;
        }
        let time = now();
        if time.since(looked) > LOOK {
            looked = time;
            look_at(&mut sinks, &ready, job, time)?;
        }
    }
    let used = ThreadUse::now().since(&before);
    let flows = sinks.into_iter().map(Sink::finish).collect();
    Ok(Done { flows, cpu: Nanos::new(used.cpu_ns) })
}

/// Reads what came for one of them.
fn serve(
    sinks: &mut [Sink<'_>],
    place: usize,
    (ready, alarms): (&Ready, &mut Alarms),
    space: &mut [u8],
) -> Result<(), EngineError> {
    let Some(sink) = sinks.get_mut(place).filter(|sink| !sink.is_over) else { return Ok(()) };
    sink.read(space);
    if sink.leaves() {
        ready.remove(sink.socket)?;
    }
    alarms.set(place, sink.alarm());
    Ok(())
}

/// Ends what is over. What still comes for it wakes nobody any more: it is not read.
fn look_at(
    sinks: &mut [Sink<'_>],
    ready: &Ready,
    job: &Job<'_>,
    time: Nanos,
) -> Result<(), EngineError> {
    for sink in sinks.iter_mut().filter(|sink| !sink.is_over) {
        sink.look(job, time);
        if sink.leaves() {
            ready.remove(sink.socket)?;
        }
    }
    Ok(())
}

/// The receiving end of a flow.
struct Sink<'a> {
    number: usize,
    flow: &'a Flow,
    socket: &'a Socket,
    shared: &'a Shared,
    start: Nanos,
    reads: Vec<Read>,
    arrived: Vec<Arrived>,
    /// Of datagrams.
    numbers: Option<Numbers>,
    /// How many of them came, each counted once.
    different: u64,
    total: u64,
    highest: u64,
    /// Reads closer together than this are noted as one.
    grain: Nanos,
    last: Nanos,
    /// For the sender, where that is on another host.
    receipts: Option<Giving>,
    /// For the sender, where it wants receipts of blocks.
    answering: Option<Answering>,
    /// A connection that this process moves on.
    quic: Option<Box<QuicEnd>>,
    /// All was read, and the other end has yet to hear of it.
    is_read: bool,
    /// Nobody waits for its socket any more.
    has_left: bool,
    is_over: bool,
    fault: Option<Outcome>,
    /// When that ended it.
    ended: Option<Nanos>,
}

impl<'a> Sink<'a> {
    fn new(member: &Member<'a>, begin: Nanos) -> Self {
        let Member { number, flow, socket, shared, receipts, .. } = *member;
        let start = begin.saturating_add(flow.start);
        let room = expected(flow);
        let is_stream = flow.carrier != Carrier::Udp;
        let (reads, arrived) = if is_stream { (room, 0) } else { (0, room) };
        let is_endless = matches!(flow.offer, Offer::Endless(_));
        Self {
            number,
            flow,
            socket,
            shared,
            start,
            reads: Vec::with_capacity(reads),
            arrived: Vec::with_capacity(arrived),
            numbers: (!is_stream).then(Numbers::default),
            different: 0,
            total: 0,
            highest: 0,
            grain: if is_endless { Nanos::from_millis(1) } else { Nanos::ZERO },
            last: start,
            receipts: receipts.map(Giving::new),
            answering: Answering::of(flow, receipts, outgoing::ration(flow, socket, OF_BLOCK)),
            quic: socket.take_quic(),
            is_read: false,
            has_left: false,
            is_over: false,
            fault: None,
            ended: None,
        }
    }

    /// Reads what is there, as often as another flow can wait.
    fn read(&mut self, space: &mut [u8]) {
        if let Some(quic) = &mut self.quic {
            // Of a connection that is gone the next read tells.
            let _ = quic.turn();
            self.is_over |= self.is_read && quic.is_gone();
        }
        for _ in 0..AT_ONCE {
            if self.is_read || self.is_over {
                return;
            }
            let length = match self.flow.carrier {
                Carrier::Tcp(_) | Carrier::Quic(_) => self.flow.read.len().clamp(1, space.len()),
                Carrier::Udp => space.len(),
            };
            match self.receive(&mut space[..length]) {
                Ok(0) if self.flow.carrier != Carrier::Udp => self.read_all(),
                Ok(count) => self.came(&space[..count]),
                Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => return,
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                // A receipt came to a sender that has ended.
                Err(cause) if self.is_refused(&cause) => {}
                Err(cause) => {
                    let reason = format!("receive: {cause}");
                    return self.fail(now(), Outcome::Failed { reason });
                }
            }
        }
    }

    fn receive(&mut self, space: &mut [u8]) -> io::Result<usize> {
        match &mut self.quic {
            Some(quic) => quic.recv(space),
            None => socket::recv(self.socket.as_fd(), space),
        }
    }

    /// The end of a stream. What acknowledges it the kernel sends for TCP.
    fn read_all(&mut self) {
        (self.is_read, self.last) = (true, now());
        self.shared.receiver_done.store(true, Relaxed);
        self.pay();
        self.is_over |= self.has_ended();
    }

    /// True once nobody waits any more for what this end has to say of a stream that was read whole.
    fn has_ended(&self) -> bool {
        let owes = || self.answering.as_ref().is_some_and(Answering::owes);
        self.is_read && self.quic.as_ref().map_or_else(|| !owes(), |quic| quic.is_gone())
    }

    /// True once: when nothing is read any more.
    fn leaves(&mut self) -> bool {
        let leaves = self.is_over || (self.is_read && self.quic.is_none());
        leaves && !std::mem::replace(&mut self.has_left, true)
    }

    /// Sends the receipts of a stream that are owed, as far as there is room: else once somebody looks again.
    fn pay(&mut self) {
        let Self { answering, quic, socket, shared, .. } = self;
        let Some(answering) = answering.as_mut().filter(|one| one.owes()) else { return };
        let bytes = answering.pay(|data| match quic {
            Some(quic) => quic.send(data),
            None => socket::send(socket.as_fd(), data),
        });
        shared.receipts.fetch_add(bytes, Relaxed);
    }

    /// Answers the block that is whole with this datagram, which came for the first time.
    fn answer(&mut self, time: Nanos, number: u64) {
        let receipt = self.answering.as_mut().and_then(|one| one.came(time, number));
        let Some(receipt) = receipt else { return };
        // One that has no room is lost, as one on the way is.
        if let Ok(sent) = socket::send(self.socket.as_fd(), &receipt) {
            self.shared.receipts.fetch_add(u64::try_from(sent).unwrap_or(0), Relaxed);
        }
    }

    /// When its connection wants a turn, where this process moves it on.
    fn alarm(&mut self) -> Option<Nanos> {
        self.quic.as_mut().filter(|_| !self.is_over).and_then(|quic| quic.due())
    }

    fn fail(&mut self, time: Nanos, fault: Outcome) {
        self.ended = Some(time.since(self.start));
        self.fault = Some(fault);
        self.is_over = true;
    }

    fn is_refused(&self, cause: &io::Error) -> bool {
        let gives = self.receipts.is_some() || self.answering.is_some();
        gives && cause.kind() == io::ErrorKind::ConnectionRefused
    }

    fn came(&mut self, data: &[u8]) {
        let time = now();
        let count = u64::try_from(data.len()).unwrap_or(0);
        self.total += count;
        self.shared.read.fetch_add(count, Relaxed);
        let at = since(time.count(), self.start);
        match self.flow.carrier {
            Carrier::Tcp(_) | Carrier::Quic(_) => {
                self.last = time;
                self.note(Read { at, total: Bytes::new(self.total) });
                self.answering.iter_mut().for_each(|one| one.saw(data));
                self.pay();
            }
            Carrier::Udp => {
                let number = unwrapped(data, self.highest);
                if self.is_new(number) {
                    self.highest = self.highest.max(number);
                    // One that came before, or was never sent, is nothing to wait on for.
                    if number < self.shared.datagrams.load(Relaxed) {
                        self.last = time;
                    }
                    self.different += 1;
                    self.answer(time, number);
                }
                self.arrived.push(Arrived { at, number, size: Bytes::new(count) });
            }
        }
    }

    /// False for one that came before, and for a number that its sender cannot have reached or is not believed to have.
    fn is_new(&mut self, number: u64) -> bool {
        let known = self.numbers.as_mut().filter(|_| number < numbers::MOST);
        let arrival = known.map(|known| known.record(number));
        matches!(arrival, Some(Arrival::Late | Arrival::Newest { .. }))
    }

    fn note(&mut self, read: Read) {
        match self.reads.last_mut() {
            Some(last) if self.grain > Nanos::ZERO && read.at.since(last.at) < self.grain => {
                last.total = read.total;
            }
            _ => self.reads.push(read),
        }
    }

    /// Datagrams have no end of their own: all came, or nothing came for long enough.
    fn look(&mut self, job: &Job<'_>, time: Nanos) {
        let shared = self.shared;
        if shared.is_abandoned() {
            return self.fail(time, Outcome::Capped { reason: super::flow::ABANDONED.to_owned() });
        }
        self.pay();
        self.is_over |= self.quic.is_none() && self.has_ended();
        if !shared.is_done() {
            let came = u64::try_from(self.arrived.len()).unwrap_or(u64::MAX);
            self.receipts.iter_mut().for_each(|one| one.give(time, came, self.socket));
            // The sender has its own deadline, and always ends.
            self.last = self.last.max(time);
            return;
        }
        let quiet = time.since(self.last);
        match self.flow.carrier {
            Carrier::Udp => {
                let all = self.different >= shared.datagrams.load(Relaxed);
                self.is_over = all || quiet > job.linger;
            }
            // Its sender heard of everything, or will not.
            Carrier::Quic(_) if self.is_read => self.is_over = quiet > job.linger,
            // What it has to say nobody takes.
            Carrier::Tcp(_) if self.is_read && quiet > job.stall => self.is_over = true,
            Carrier::Tcp(_) | Carrier::Quic(_) if quiet > job.stall => {
                let reason = format!("nothing arrived for {} s", job.stall.seconds());
                self.fail(time, Outcome::Capped { reason });
            }
            Carrier::Tcp(_) | Carrier::Quic(_) => self.is_over |= job.cancel.load(Relaxed),
        }
    }

    fn finish(self) -> Received {
        let Self { number, reads, arrived, fault, ended, .. } = self;
        Received { number, reads, arrived, fault, ended }
    }
}

/// The number of a datagram from as many of its low bytes as fit into it: the one next to what is
/// expected that ends in them.
fn unwrapped(data: &[u8], highest: u64) -> u64 {
    let room = data.len().min(8);
    let mut bytes = [0; 8];
    bytes[..room].copy_from_slice(&data[..room]);
    let low = u64::from_le_bytes(bytes);
    if room == 8 {
        return low;
    }
    let span = 1_u64 << (8 * room);
    let base = highest / span * span;
    let candidates = [base.checked_sub(span), Some(base), base.checked_add(span)];
    let near = candidates.into_iter().flatten().map(|base| base + low);
    near.min_by_key(|number| number.abs_diff(highest)).unwrap_or(low)
}

/// How many reads to keep room for, so that none waits for memory.
fn expected(flow: &Flow) -> usize {
    let Offer::Train { blocks, .. } = &flow.offer else { return 65_536 };
    let unit = match flow.carrier {
        Carrier::Tcp(_) | Carrier::Quic(_) => Bytes::new(1448),
        Carrier::Udp => datagram(flow),
    };
    let parts: u64 = blocks.iter().map(|block| block.size.count().div_ceil(unit.count())).sum();
    usize::try_from(parts).unwrap_or(MOST_ROOM).min(MOST_ROOM)
}

/// The longest read: memory is kept for it.
const LONGEST_READ: Bytes = Bytes::new(1 << 20);
/// Reads of one flow before the others are looked at.
const AT_ONCE: usize = 32;
/// How long nobody looks whether flows have ended.
const LOOK: Nanos = Nanos::from_millis(10);
/// Reads with room from the beginning; more take memory as they come.
const MOST_ROOM: usize = 1 << 20;

#[cfg(test)]
mod tests;
