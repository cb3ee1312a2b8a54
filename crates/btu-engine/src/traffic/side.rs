//! One host's side of a job whose flows lead to other hosts: the same threads carry the ends that are
//! here, and what they saw is put together with what the other side says of its own.

mod bounds;
mod report;

use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::sample::Outcome;
use btu_core::traffic::clock::Shift;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::socket;
use btu_sys::socket::Effective;

use super::connect::Ends;
use super::connect::Socket;
use super::crew;
use super::crew::Carried;
use super::flow;
use super::flow::Received;
use super::flow::Sent;
use super::flow::Shared;
use super::job::Flow;
use super::job::FlowEnd;
use super::job::Job;
use super::job::JobEnd;
use super::keeper::Keeper;
use super::receipts::Mark;
use crate::error::EngineError;

pub use report::SideReport;

/// The ends of a job that are on this host, connected.
#[derive(Debug)]
pub struct Side {
    ends: Vec<Ends>,
    /// Until they are carried.
    keeper: Option<Keeper>,
}

/// What can be asked of a side while it runs, and what it must be told.
#[derive(Clone, Debug)]
pub struct Watch {
    /// By flow; true where it is sent from here.
    shared: Vec<(bool, Arc<Shared>)>,
}

/// What a side saw.
#[derive(Debug, Default)]
pub struct SideEnd {
    flows: Vec<Part>,
    /// CPU time and threads; without flows.
    used: JobEnd,
}

/// What was seen of one flow.
#[derive(Debug, Default)]
struct Part {
    sent: Option<Sent>,
    received: Option<Received>,
    datagrams: u64,
    options: Effective,
}

impl Side {
    /// No end yet, of a job of so many flows.
    pub(super) fn new(flows: usize) -> Self {
        Self { ends: (0..flows).map(|_| Ends::default()).collect(), keeper: None }
    }

    /// Moves on what nobody else does, until it is carried.
    pub(super) fn keep(&mut self) -> Result<(), EngineError> {
        self.keeper = Keeper::of(self.ends.iter().flat_map(Ends::sockets))?;
        Ok(())
    }

    /// Adds an end: the sending one, or the receiving one. `said` is what was sent on it already, `mark`
    /// what its receipts begin with.
    pub(super) fn put(
        &mut self,
        number: usize,
        sends: bool,
        socket: Socket,
        (said, mark): (Bytes, Mark),
    ) {
        let Some(ends) = self.ends.get_mut(number) else { return };
        ends.said = said;
        ends.receipts = matches!(socket, Socket::Datagram(_)).then_some(mark);
        *(if sends { &mut ends.near } else { &mut ends.far }) = Some(socket);
    }

    /// What can be asked meanwhile.
    pub fn watch(&self) -> Watch {
        Watch::of(&self.ends)
    }

    /// The streams that are sent from here, held open: once these are dropped, and not before, each is
    /// closed, and what it still has to send is discarded.
    ///
    /// # Errors
    /// There are too few descriptors.
    pub fn hold(&self) -> Result<Vec<TcpStream>, EngineError> {
        let streams = self.ends.iter().filter_map(|ends| match &ends.near {
            Some(Socket::Stream(stream)) => Some(stream),
            _ => None,
        });
        let hold = |stream: &TcpStream| {
            socket::reset_on_close(stream)?;
            stream.try_clone().map_err(EngineError::peer("hold a stream open"))
        };
        streams.map(hold).collect()
    }

    /// Carries the ends that are here, the first block due at `begin`. What is sent elsewhere is
    /// awaited until [`Watch::sent_elsewhere`] says that it was.
    ///
    /// # Errors
    /// A thread did not start.
    pub fn carry(self, job: &Job<'_>, begin: Nanos) -> Result<SideEnd, EngineError> {
        let Self { ends, keeper } = self;
        drop(keeper);
        let Carried { sent, received, used, .. } = crew::carry(job, &ends, begin)?;
        let part = |ends: &Ends| Part {
            datagrams: ends.shared.datagrams.load(Relaxed),
            options: flow::effective(ends.sockets().next()),
            ..Part::default()
        };
        let mut flows: Vec<Part> = ends.iter().map(part).collect();
        for one in sent {
            let number = one.number;
            flows[number].sent = Some(one);
        }
        for one in received {
            let number = one.number;
            flows[number].received = Some(one);
        }
        Ok(SideEnd { flows, used })
    }
}

impl Watch {
    pub(super) fn of(ends: &[Ends]) -> Self {
        let shared = |ends: &Ends| (ends.near.is_some(), Arc::clone(&ends.shared));
        Self { shared: ends.iter().map(shared).collect() }
    }

    /// Payload that was read here.
    pub fn read(&self) -> Bytes {
        let read = self.shared.iter().map(|(_, shared)| shared.read.load(Relaxed));
        read.map(Bytes::new).fold(Bytes::ZERO, Bytes::saturating_add)
    }

    /// How many datagrams each flow sent that is sent from here, once all of them have ended.
    pub fn sent_here(&self) -> Option<Vec<Option<u64>>> {
        self.sent_of(|_| true)
    }

    /// The same of these flows alone, once all of them have ended, whatever others do.
    pub fn sent_of(&self, flows: impl Fn(usize) -> bool) -> Option<Vec<Option<u64>>> {
        let told = |(number, (is_here, shared)): (usize, &(bool, Arc<Shared>))| {
            let count = || Some(shared.datagrams.load(Relaxed));
            if *is_here && flows(number) { shared.is_done().then(count) } else { Some(None) }
        };
        self.shared.iter().enumerate().map(told).collect()
    }

    /// Nothing more comes from elsewhere: by flow, how many datagrams there were; `None` for those that
    /// this says nothing of.
    pub fn sent_elsewhere(&self, datagrams: &[Option<u64>]) {
        for ((is_here, shared), count) in self.shared.iter().zip(datagrams) {
            if let (false, Some(count)) = (is_here, count) {
                shared.datagrams.store(*count, Relaxed);
                shared.sender_done.store(true, Relaxed);
            }
        }
    }

    /// Nothing more comes from elsewhere, whatever there was.
    pub fn give_up(&self) {
        self.sent_elsewhere(&vec![Some(0); self.shared.len()]);
    }

    /// The host of the other ends of these flows is not waited for any more: their ends here end.
    pub fn abandon(&self, flows: impl Fn(usize) -> bool) {
        for (_, (_, shared)) in self.shared.iter().enumerate().filter(|(flow, _)| flows(*flow)) {
            shared.abandoned.store(true, Relaxed);
        }
    }

    /// Payload of these flows that was sent from here and read here.
    pub fn moved_of(&self, flows: impl Fn(usize) -> bool) -> Bytes {
        let own = self.shared.iter().enumerate().filter(|(flow, _)| flows(*flow));
        own.map(|(_, (_, shared))| shared.moved()).fold(Bytes::ZERO, Bytes::saturating_add)
    }

    /// The longest text in which the host `there` can tell what it saw, once all that is sent here was.
    pub fn longest_report(&self, flows: &[Flow], there: usize) -> usize {
        bounds::longest_report(flows, there, |number| {
            let own = self.shared.get(number).map(|(_, shared)| shared);
            let sent = own.map(|own| (own.taken.load(Relaxed), own.datagrams.load(Relaxed)));
            sent.map_or((Bytes::ZERO, 0), |(bytes, datagrams)| (Bytes::new(bytes), datagrams))
        })
    }

    /// Payload that was sent from here and read here.
    pub fn moved(&self) -> Bytes {
        self.moved_of(|_| true)
    }
}

impl SideEnd {
    /// Moves what was read of the flows that `of` chooses to the clock of their senders.
    pub fn shift(&mut self, flows: &[Flow], shift: &Shift, of: impl Fn(&Flow) -> bool) {
        for (part, flow) in self.flows.iter_mut().zip(flows).filter(|(_, flow)| of(flow)) {
            if let Some(received) = &mut part.received {
                shift.reads(&mut received.reads, flow.start);
                shift.arrivals(&mut received.arrived, flow.start);
            }
        }
    }
}

/// The flows of a job as all sides saw them together. A flow of which one end is missing has failed
/// for the reason that `missing` gives.
pub fn together(flows: &[Flow], sides: Vec<SideEnd>, missing: impl Fn(&Flow) -> String) -> JobEnd {
    let mut end = JobEnd::default();
    let mut parts: Vec<(Part, Effective)> = flows.iter().map(|_| Default::default()).collect();
    for side in sides {
        end.sender_cpu = end.sender_cpu.saturating_add(side.used.sender_cpu);
        end.receiver_cpu = end.receiver_cpu.saturating_add(side.used.receiver_cpu);
        end.sender_threads = end.sender_threads.saturating_add(side.used.sender_threads);
        end.elapsed = end.elapsed.max(side.used.elapsed);
        for ((whole, receiver), part) in parts.iter_mut().zip(side.flows) {
            if part.sent.is_some() {
                (whole.sent, whole.datagrams) = (part.sent, part.datagrams);
                whole.options = part.options;
            } else if part.received.is_some() {
                (whole.received, *receiver) = (part.received, part.options);
            }
        }
    }
    let parts = flows.iter().zip(parts);
    end.flows =
        parts.map(|(flow, (part, receiver))| whole(flow, part, receiver, &missing)).collect();
    end
}

fn whole(
    flow: &Flow,
    part: Part,
    at_sink: Effective,
    missing: impl Fn(&Flow) -> String,
) -> FlowEnd {
    let Part { sent, received, datagrams, options: sender } = part;
    let is_whole = sent.is_some() && received.is_some();
    let (sent, received) = (sent.unwrap_or_default(), received.unwrap_or_default());
    let end = FlowEnd { sender, receiver: at_sink, ..flow::whole(flow, sent, received, datagrams) };
    if is_whole {
        return end;
    }
    FlowEnd { outcome: Outcome::Failed { reason: missing(flow) }, ..end }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::io::Read;
    use std::io::Write;
    use std::time::Duration;

    use btu_sys::socket::Settings;

    use super::*;
    use crate::door::Seat;

    /// Reads to the end of what is there, and says how it ended.
    fn rest(stream: &mut TcpStream) -> (usize, io::ErrorKind) {
        let (mut space, mut count) = ([0; 4096], 0);
        loop {
            match stream.read(&mut space) {
                Ok(0) => return (count, io::ErrorKind::UnexpectedEof),
                Ok(more) => count += more,
                Err(cause) => return (count, cause.kind()),
            }
        }
    }

    #[test]
    fn a_stream_that_is_held_ends_with_its_holder_and_sends_nothing_more() {
        // The far end has room for less than the near one.
        let [near, far] = [(Some(1 << 17), None), (None, Some(1 << 14))].map(|(send, receive)| {
            Settings { send_buffer: send, receive_buffer: receive, ..Settings::default() }
        });
        let listener = socket::listen("127.0.0.1:0".parse().unwrap(), &near).unwrap();
        let connect = || {
            let at = listener.local_addr().unwrap();
            let far = socket::connect(at, &far, Duration::from_mins(1)).unwrap();
            let mut side = Side::new(1);
            let (mut near, _) = listener.accept().unwrap();
            near.set_nonblocking(true).unwrap();
            let sent: usize = std::iter::from_fn(|| near.write(&[0; 4096]).ok()).sum();
            near.shutdown(std::net::Shutdown::Write).unwrap();
            let mark = Mark::of(&Seat { secret: [1; 32], run: 1, attempt: 1, flow: 0 });
            side.put(0, true, Socket::Stream(near), (Bytes::ZERO, mark));
            (side, far, sent)
        };
        // Whoever reads to the end first has everything.
        let (side, mut far, sent) = connect();
        let held = side.hold().unwrap();
        drop(side);
        assert_eq!(rest(&mut far), (sent, io::ErrorKind::UnexpectedEof));
        drop(held);
        let (side, mut far, sent) = connect();
        let held = side.hold().unwrap();
        drop((side, held));
        let (read, end) = rest(&mut far);
        assert_eq!(end, io::ErrorKind::ConnectionReset);
        assert!(read < sent, "read {read} of {sent}");
    }

    #[test]
    fn what_was_sent_to_one_host_is_known_while_another_flow_drains() {
        let shared = |is_here| (is_here, Arc::<Shared>::default());
        let watch = Watch { shared: vec![shared(true), shared(true), shared(false)] };
        let to_other = |number| number > 0;
        assert_eq!(watch.sent_of(to_other), None);
        let done = &watch.shared[1].1;
        done.datagrams.store(9, Relaxed);
        done.sender_done.store(true, Relaxed);
        assert_eq!(watch.sent_of(to_other), Some(vec![None, Some(9), None]));
        assert_eq!((watch.sent_of(|number| number == 0), watch.sent_here()), (None, None));
    }
}
