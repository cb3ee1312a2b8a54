//! What both ends of a flow saw, put together.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::sample::Outcome;
pub(super) use btu_core::traffic::LARGEST_DATAGRAM;
use btu_core::traffic::figures::places::Glance;
use btu_core::traffic::sending::burst::BlockRecord;
use btu_core::traffic::sending::burst::Discipline;
use btu_core::traffic::trace::Arrived;
use btu_core::traffic::trace::Read;
use btu_core::traffic::trace::Trace;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::socket::Effective;

use super::connect::Ends;
use super::connect::Socket;
use super::job::Carrier;
use super::job::Flow;
use super::job::FlowEnd;
use super::job::Job;
use super::job::Offer;
use super::job::TcpEnd;

/// What the two ends of a flow and its watcher tell each other.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// Bytes that the transport took.
    pub(super) taken: AtomicU64,
    /// Bytes that the receiving user read.
    pub(super) read: AtomicU64,
    /// Bytes of receipts of blocks that were sent or came here.
    pub(super) receipts: AtomicU64,
    /// Datagrams sent.
    pub(super) datagrams: AtomicU64,
    /// Nothing more will be sent.
    pub(super) sender_done: AtomicBool,
    /// The receiving user has read to the end of the stream.
    pub(super) receiver_done: AtomicBool,
    /// The host of the other end says nothing of it any more.
    pub(super) abandoned: AtomicBool,
}

/// What a sender leaves behind.
#[derive(Debug, Default)]
pub(super) struct Sent {
    pub(super) number: usize,
    pub(super) blocks: Vec<BlockRecord>,
    pub(super) tcp: Option<TcpEnd>,
    pub(super) pace: &'static str,
    pub(super) refused: u64,
    /// When the receipt of each block came, where they are answered.
    pub(super) receipts: Option<Vec<Option<Nanos>>>,
    pub(super) fault: Option<Outcome>,
    /// When a limit or a fault ended it, before T or after.
    pub(super) ended: Option<Nanos>,
}

/// What a receiver leaves behind, in times of the flow.
#[derive(Debug, Default)]
pub(super) struct Received {
    pub(super) number: usize,
    pub(super) reads: Vec<Read>,
    pub(super) arrived: Vec<Arrived>,
    pub(super) fault: Option<Outcome>,
    /// When a fault ended it, before T or after.
    pub(super) ended: Option<Nanos>,
}

impl Shared {
    pub(super) fn is_done(&self) -> bool {
        self.sender_done.load(Relaxed)
    }

    pub(super) fn is_abandoned(&self) -> bool {
        self.abandoned.load(Relaxed)
    }

    /// Payload that was taken here and read here, receipts of it included.
    pub(super) fn moved(&self) -> Bytes {
        let all = [&self.taken, &self.read, &self.receipts].map(|count| count.load(Relaxed));
        all.into_iter().map(Bytes::new).fold(Bytes::ZERO, Bytes::saturating_add)
    }
}

/// The flows of a job, each with its two ends and its glances, by number.
pub(super) fn together(
    job: &Job<'_>,
    ends: &[Ends],
    mut sent: Vec<Sent>,
    mut received: Vec<Received>,
    glances: Vec<Vec<Glance>>,
) -> Vec<FlowEnd> {
    sent.sort_by_key(|one| one.number);
    received.sort_by_key(|one| one.number);
    let mut glances = glances.into_iter();
    let both = job.flows.iter().zip(ends).zip(sent.into_iter().zip(received));
    both.map(|((flow, ends), (sent, received))| FlowEnd {
        glances: glances.next().unwrap_or_default(),
        sender: effective(ends.near.as_ref()),
        receiver: effective(ends.far.as_ref()),
        ..whole(flow, sent, received, ends.shared.datagrams.load(Relaxed))
    })
    .collect()
}

/// A flow of which both ends are known, but for the options of their sockets.
pub(super) fn whole(flow: &Flow, sent: Sent, received: Received, datagrams: u64) -> FlowEnd {
    let Sent { blocks, tcp, pace, refused, receipts, fault, ended, .. } = sent;
    let (discipline, endless) = match &flow.offer {
        Offer::Endless(_) => (Discipline::Queue, true),
        Offer::Train { discipline, .. } => (*discipline, false),
    };
    // What was cut short is averaged over the time that it had.
    let duration = ended.into_iter().chain(received.ended).fold(flow.duration, Nanos::min);
    let trace = Trace { duration, discipline, endless, blocks, receipts, ..Trace::default() };
    FlowEnd {
        trace: match &flow.carrier {
            Carrier::Udp => trace.of_datagrams(&received.arrived, datagram(flow), datagrams),
            Carrier::Tcp(_) | Carrier::Quic(_) => trace.of_stream(received.reads),
        },
        glances: Vec::new(),
        outcome: fault.or(received.fault).unwrap_or(Outcome::Complete),
        tcp,
        sender: Effective::default(),
        receiver: Effective::default(),
        pace,
        refused,
        noticed: Vec::new(),
        cpu: None,
    }
}

/// The largest datagram of a flow.
pub(super) fn datagram(flow: &Flow) -> Bytes {
    flow.write.min(LARGEST_DATAGRAM).max(Bytes::new(1))
}

/// The options of an end that is here.
pub(super) fn effective(socket: Option<&Socket>) -> Effective {
    match socket {
        Some(Socket::Stream(stream)) => Effective::of(stream),
        Some(Socket::Datagram(socket)) => Effective::of(socket),
        Some(Socket::Quic(held)) => held.effective(),
        None => Effective::default(),
    }
}

/// Why an end ends whose other end is on a host that was given up.
pub(super) const ABANDONED: &str = "the other host was given up";

/// Times of the clock as times of the flow; what came before its start is at its start.
pub(super) fn since(at: u64, start: Nanos) -> Nanos {
    Nanos::new(at).since(start)
}
