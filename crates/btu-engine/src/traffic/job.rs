//! A set of flows from the first connection to the last byte read.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use btu_core::sample::Outcome;
use btu_core::traffic::analysis::places::Glance;
use btu_core::traffic::burst::Block;
use btu_core::traffic::burst::Discipline;
use btu_core::traffic::burst::Limits;
use btu_core::traffic::trace::Trace;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::clock;
use btu_sys::cpu::CpuSet;
use btu_sys::socket::Effective;
use btu_sys::socket::Settings;

use super::connect;
use super::connect::Ends;
use super::pacer::Pace;
use super::receiver;
use super::sampler;
use super::sender;
use crate::error::EngineError;
use crate::place::Party;
use crate::place::Place;

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
    /// How the sender waits; `None` for what suits the period.
    pub pace: Option<Pace>,
    /// The differentiated services code point.
    pub code_point: Option<u8>,
}

/// What carries a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// A TCP connection with these options at both ends.
    Tcp(Settings),
    /// UDP datagrams; a block beyond the largest goes out as several.
    Udp,
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

/// What happens to queued blocks after T.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Drain {
    /// They are not sent.
    #[default]
    No,
    /// They are sent, for at most this long.
    UpTo(Nanos),
    /// They are sent.
    Yes,
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
    /// Calls that the kernel refused for want of memory: datagrams that never left.
    pub refused: u64,
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
    btu_sys::limit::raise_descriptors()?;
    let ends = connect::connect(job)?;
    // Threads need a moment to get into place before the first block is due.
    let begin = Nanos::new(clock::monotonic_ns()).saturating_add(LEAD);
    let stop = AtomicBool::new(false);
    let mut end = JobEnd::default();
    let outcomes = thread::scope(|scope| {
        let senders = crews(job, &ends, |flow| flow.from);
        let receivers = crews(job, &ends, |flow| flow.to);
        end.sender_threads = senders.len();
        let mut receiving = Vec::new();
        for crew in receivers {
            receiving
                .push(spawn(scope, "traffic-sink", crew, |crew| receiver::run(job, &crew, begin))?);
        }
        let mut sending = Vec::new();
        for crew in senders {
            sending
                .push(spawn(scope, "traffic-send", crew, |crew| sender::run(job, &crew, begin))?);
        }
        let watch = spawn(scope, "traffic-watch", watched(job, &ends), |crew| {
            Ok(sampler::run(&crew, begin, &stop))
        })?;
        let sent: Vec<_> = sending.into_iter().map(join).collect::<Result<_, _>>()?;
        let received: Vec<_> = receiving.into_iter().map(join).collect::<Result<_, _>>()?;
        stop.store(true, Relaxed);
        Ok::<_, EngineError>((sent, received, join(watch)?))
    })?;
    let (sent, received, glances) = outcomes;
    end.elapsed = Nanos::new(clock::monotonic_ns()).since(begin);
    end.sender_cpu = sent.iter().map(|done| done.cpu).sum();
    end.receiver_cpu = received.iter().map(|done| done.cpu).sum();
    end.sender_run_delay = sent.iter().map(|done| done.run_delay).sum();
    let sent = sent.into_iter().flat_map(|done| done.flows);
    let received = received.into_iter().flat_map(|done| done.flows);
    end.flows = super::flow::together(job, &ends, sent.collect(), received.collect(), glances);
    Ok(end)
}

/// Some flows, one end of each, that a thread serves.
#[derive(Debug)]
pub(super) struct Crew<'a> {
    pub(super) place: Place,
    /// Number in the job, order and sockets.
    pub(super) members: Vec<(usize, &'a Flow, &'a Ends)>,
}

/// Flows by host, spread over as many threads as the host has CPUs.
fn crews<'a>(job: &'a Job<'_>, ends: &'a [Ends], host: fn(&Flow) -> usize) -> Vec<Crew<'a>> {
    let mut crews = Vec::new();
    for (number, party) in job.parties.iter().enumerate() {
        let all = job.flows.iter().zip(ends).enumerate();
        let own: Vec<_> = all
            .filter(|(_, (flow, _))| host(flow) == number)
            .map(|(at, (flow, ends))| (at, flow, ends))
            .collect();
        let cpus = party.place.cpus().unwrap_or_default();
        let threads = cpus.len().clamp(1, own.len().max(1));
        for thread in 0..threads {
            let members: Vec<_> = own.iter().skip(thread).step_by(threads).copied().collect();
            if members.is_empty() {
                continue;
            }
            let one: CpuSet = cpus.nth_round(thread).into_iter().collect();
            crews.push(Crew { place: Place { cpus: one, ..party.place.clone() }, members });
        }
    }
    crews
}

/// The flows whose queues are watched, at the host of the first.
fn watched<'a>(job: &'a Job<'_>, ends: &'a [Ends]) -> Crew<'a> {
    let members: Vec<_> = job
        .flows
        .iter()
        .zip(ends)
        .enumerate()
        .map(|(at, (flow, ends))| (at, flow, ends))
        .take(MOST_WATCHED)
        .collect();
    let place = members.first().map(|(_, flow, _)| job.parties[flow.from].place.clone());
    let place = place.unwrap_or_else(|| Place::here(btu_core::cell::Role::Test));
    Crew { place, members }
}

type Running<'scope, T> = thread::ScopedJoinHandle<'scope, Result<T, EngineError>>;

fn spawn<'scope, 'a: 'scope, T: Send + 'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    name: &str,
    crew: Crew<'a>,
    work: impl FnOnce(Crew<'a>) -> Result<T, EngineError> + Send + 'scope,
) -> Result<Running<'scope, T>, EngineError> {
    let inside = move || crew.place.enter().and_then(|()| work(crew));
    let started = thread::Builder::new().name(name.to_owned()).spawn_scoped(scope, inside);
    started.map_err(|source| EngineError::Thread { name: name.to_owned(), source })
}

fn join<T>(thread: Running<'_, T>) -> Result<T, EngineError> {
    let ended = thread.join();
    ended.unwrap_or_else(|_| Err(EngineError::Refused("a traffic thread panicked".to_owned())))
}

/// From the last connection to the first block.
const LEAD: Nanos = Nanos::from_millis(30);
/// Flows whose queue is watched at most.
const MOST_WATCHED: usize = 64;
