//! A set of flows from the first connection to the last byte read.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use btu_core::sample::Outcome;
use btu_core::traffic::Drain;
use btu_core::traffic::Noticed;
use btu_core::traffic::Pace;
use btu_core::traffic::Transport;
use btu_core::traffic::figures::places::Glance;
use btu_core::traffic::sending::burst::Block;
use btu_core::traffic::sending::burst::Discipline;
use btu_core::traffic::sending::burst::Limits;
use btu_core::traffic::trace::Trace;
use btu_core::units::BitRate;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::socket::Effective;
use btu_sys::socket::Settings;

use super::connect;
use super::crew;
use super::crew::Carried;
use super::side::Watch;
use crate::error::EngineError;
use crate::place::Party;
use crate::time::now;

/// Flows that start together.
#[derive(Debug)]
pub struct Job<'a> {
    /// The hosts; flows name them by their place here.
    pub parties: &'a [Party],
    /// The flows.
    pub flows: &'a [Flow],
    /// How long a receiver may see nothing after its sender's end before what is missing counts as lost.
    pub linger: Nanos,
    /// How long nothing may move before the job is given up.
    pub stall: Nanos,
    /// Ends the job early.
    pub cancel: Arc<AtomicBool>,
}

/// One flow.
#[derive(Clone, Debug)]
pub struct Flow {
    /// The sending host.
    pub from: usize,
    /// The receiving host.
    pub to: usize,
    /// The address on which it is received, where it is not the party's own.
    pub address: Option<std::net::IpAddr>,
    /// What carries it.
    pub carrier: Carrier,
    /// The port that is listened on; 0 for any.
    pub port: u16,
    /// What is sent.
    pub offer: Offer,
    /// From the start of the job to that of the flow.
    pub start: Nanos,
    /// T: how long blocks fall due.
    pub duration: Nanos,
    /// The most that is given to the transport in one call.
    pub write: Bytes,
    /// The most that is read in one call.
    pub read: Bytes,
    /// What happens to the queue after T.
    pub drain: Drain,
    /// Whether the receiver answers each block in band.
    pub has_receipts: bool,
    /// How the sender waits; `None` for what suits the period.
    pub pace: Option<Pace>,
    /// The differentiated services code point.
    pub code_point: Option<u8>,
    /// What its sender may send, headers included, where those are datagrams; the kernel holds streams
    /// to theirs, by their options.
    pub held_to: Option<BitRate>,
}

impl Flow {
    /// Streams of QUIC that its sender opens and that go both ways.
    pub(super) fn answering_streams(&self) -> u32 {
        u32::from(self.has_receipts)
    }
}

#[cfg(test)]
impl Flow {
    /// A second from the first party to the second one, a thousand bytes in a call.
    pub(super) fn of_a_test(carrier: Carrier, offer: Offer) -> Self {
        Self {
            from: 0,
            to: 1,
            address: None,
            carrier,
            port: 0,
            offer,
            start: Nanos::ZERO,
            duration: Nanos::from_secs(1),
            write: Bytes::new(1000),
            read: Bytes::new(1000),
            drain: Drain::No,
            has_receipts: false,
            pace: None,
            code_point: None,
            held_to: None,
        }
    }
}

#[cfg(test)]
impl Offer {
    /// Blocks that wait for each other, of `(due, bytes)`.
    pub(super) fn queued(blocks: impl IntoIterator<Item = (Nanos, u64)>) -> Self {
        let block = |(due, size)| Block { due, size: Bytes::new(size) };
        let blocks = blocks.into_iter().map(block).collect();
        Self::Train { blocks, discipline: Discipline::Queue, limits: Limits::default() }
    }
}

/// What carries a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// A TCP connection with these options at both ends.
    Tcp(Settings),
    /// UDP datagrams; a block beyond the largest goes out as several.
    Udp,
    /// A QUIC connection with one unidirectional stream, with these settings at both ends.
    Quic(QuicSettings),
}

impl Carrier {
    /// What it is a connection of.
    pub const fn transport(&self) -> Transport {
        match self {
            Self::Quic(_) => Transport::Quic,
            Self::Tcp(_) => Transport::Tcp,
            Self::Udp => Transport::Udp,
        }
    }

    /// Whether what is sent comes as one stream of bytes, in order and whole.
    pub(super) const fn is_stream(&self) -> bool {
        !matches!(self, Self::Udp)
    }
}

/// What can be chosen of a QUIC connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuicSettings {
    /// What a stream holds at each end at most; `None` for what the library has.
    pub window: Option<Bytes>,
    /// `cubic`, `reno` or `bbr`; `None` for cubic.
    pub congestion: Option<String>,
    /// What each end may send, headers included, where a policy has a rate: acknowledgements as well.
    pub held_to: Option<BitRate>,
}

/// What a flow sends.
#[derive(Clone, Debug)]
pub enum Offer {
    /// Writes back to back, of these sizes over and over.
    Endless(Arc<[Bytes]>),
    /// Blocks on a schedule.
    Train {
        /// The blocks by rising due time, from the start of the flow.
        blocks: Arc<[Block]>,
        /// What happens to a block that is due while an earlier one is unfinished.
        discipline: Discipline,
        /// What the sender does not put up with.
        limits: Limits,
    },
}

/// What became of a job.
#[derive(Clone, Debug, Default)]
pub struct JobEnd {
    /// The flows, in the order of the job.
    pub flows: Vec<FlowEnd>,
    /// CPU time of all sending threads.
    pub sender_cpu: Nanos,
    /// CPU time of all receiving threads.
    pub receiver_cpu: Nanos,
    /// Time that sending threads could have run and did not.
    pub sender_run_delay: Option<Nanos>,
    /// Sending threads.
    pub sender_threads: usize,
    /// From the start to the last thread's end.
    pub elapsed: Nanos,
}

/// What became of a flow.
#[derive(Clone, Debug)]
pub struct FlowEnd {
    /// Both ends on one clock.
    pub trace: Trace,
    /// Where the queue stood, 100 times a second.
    pub glances: Vec<Glance>,
    /// How it ended.
    pub outcome: Outcome,
    /// The kernel's account of the sender; `None` for datagrams.
    pub tcp: Option<TcpEnd>,
    /// Socket options of the sender as the kernel has them.
    pub sender: Effective,
    /// Of the receiver.
    pub receiver: Effective,
    /// How the sender waited: `sleep`, `hybrid`, `spin`.
    pub pace: &'static str,
    /// Datagrams that the kernel of the sender threw away, for want of room or by a rule: they count as sent and lost.
    pub refused: u64,
    /// What the user of the application of a conversation, or of media, noticed.
    pub noticed: Vec<Noticed>,
    /// CPU time of the asking and of the answering threads of a conversation, or of those of media, whose ends are both here; `None`
    /// between hosts, and for flows, which share threads.
    pub cpu: Option<[Nanos; 2]>,
}

/// The kernel's account of a TCP sender, read at T.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpEnd {
    /// Payload acknowledged at T: what was transmitted.
    pub acknowledged: Bytes,
    /// Payload sent, retransmissions included.
    pub sent: Bytes,
    /// Retransmitted payload.
    pub retransmitted: Bytes,
    /// Smoothed round-trip time.
    pub rtt: Nanos,
    /// The smallest.
    pub least_rtt: Nanos,
}

/// Runs a job to its end.
///
/// # Errors
/// A connection did not come up, or a thread did not start. What happens later ends one flow and is
/// told in its outcome.
pub fn run(job: &Job<'_>) -> Result<JobEnd, EngineError> {
    run_seen(job, drop)
}

/// The same, seen by somebody who is given what can be asked meanwhile.
///
/// # Errors
/// As those of [`run`].
pub fn run_seen(job: &Job<'_>, see: impl FnOnce(Watch)) -> Result<JobEnd, EngineError> {
    btu_sys::limit::raise_descriptors()?;
    let ends = connect::connect(job)?;
    see(Watch::of(&ends));
    // Threads need a moment to get into place before the first block is due.
    let begin = now().saturating_add(LEAD);
    let Carried { sent, received, glances, used } = crew::carry(job, &ends, begin)?;
    Ok(JobEnd { flows: super::flow::together(job, &ends, sent, received, glances), ..used })
}

/// From the last connection to the first block.
const LEAD: Nanos = Nanos::from_millis(30);
