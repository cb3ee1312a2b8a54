//! The threads of a job: the ends of flows that are on this host, spread over its CPUs.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use btu_core::traffic::analysis::places::Glance;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::cpu::CpuSet;

use super::connect::Ends;
use super::connect::Socket;
use super::flow::Received;
use super::flow::Sent;
use super::flow::Shared;
use super::job::Flow;
use super::job::Job;
use super::job::JobEnd;
use super::pacer::now;
use super::receipts::Mark;
use super::receiver;
use super::sampler;
use super::sampler::Watched;
use super::sender;
use crate::error::EngineError;
use crate::place::Place;

/// Some ends of flows that a thread serves.
#[derive(Debug)]
pub(super) struct Crew<'a> {
    pub(super) place: Place,
    pub(super) members: Vec<Member<'a>>,
}

/// One end of a flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member<'a> {
    /// Of the flow in the job.
    pub(super) number: usize,
    pub(super) flow: &'a Flow,
    pub(super) socket: &'a Socket,
    pub(super) shared: &'a Shared,
    /// Whether what it sends is read on this host.
    pub(super) is_read_here: bool,
    /// Bytes that were sent on it before the flow.
    pub(super) said: Bytes,
    /// What receipts begin with, where some are given.
    pub(super) receipts: Option<Mark>,
}

/// What the threads leave behind.
#[derive(Debug)]
pub(super) struct Carried {
    pub(super) sent: Vec<Sent>,
    pub(super) received: Vec<Received>,
    pub(super) glances: Vec<Vec<Glance>>,
    /// CPU time and threads; without flows.
    pub(super) used: JobEnd,
}

/// Carries the ends that are here, the first block due at `begin`.
pub(super) fn carry(job: &Job<'_>, ends: &[Ends], begin: Nanos) -> Result<Carried, EngineError> {
    let stop = AtomicBool::new(false);
    let senders = crews(job, ends, |flow| flow.from, |ends| ends.near.as_ref());
    let receivers = crews(job, ends, |flow| flow.to, |ends| ends.far.as_ref());
    let sender_threads = senders.len();
    let (sent, received, glances) = thread::scope(|scope| {
        let mut receiving = Vec::new();
        for crew in receivers {
            let work = move || inside(&crew.place, || receiver::run(job, &crew, begin));
            receiving.push(spawn(scope, "traffic-sink", work)?);
        }
        let mut sending = Vec::new();
        for crew in senders {
            let work = move || inside(&crew.place, || sender::run(job, &crew, begin));
            sending.push(spawn(scope, "traffic-send", work)?);
        }
        let stop = &stop;
        let watch = watched(job, ends).map(|(place, watched)| {
            let work = move || inside(&place, || Ok(sampler::run(&watched, begin, stop)));
            spawn(scope, "traffic-watch", work)
        });
        let watch = watch.transpose()?;
        let sent: Vec<_> = sending.into_iter().map(join).collect::<Result<_, _>>()?;
        let received: Vec<_> = receiving.into_iter().map(join).collect::<Result<_, _>>()?;
        stop.store(true, Relaxed);
        let glances = watch.map(join).transpose()?.unwrap_or_default();
        Ok::<_, EngineError>((sent, received, glances))
    })?;
    let used = JobEnd {
        flows: Vec::new(),
        sender_cpu: sent.iter().map(|done| done.cpu).sum(),
        receiver_cpu: received.iter().map(|done| done.cpu).sum(),
        sender_run_delay: sent.iter().map(|done| done.run_delay).sum(),
        sender_threads,
        elapsed: now().since(begin),
    };
    let sent = sent.into_iter().flat_map(|done| done.flows).collect();
    let received = received.into_iter().flat_map(|done| done.flows).collect();
    Ok(Carried { sent, received, glances, used })
}

/// Ends by host, spread over as many threads as the host has CPUs.
fn crews<'a>(
    job: &'a Job<'_>,
    ends: &'a [Ends],
    host: fn(&Flow) -> usize,
    socket: fn(&Ends) -> Option<&Socket>,
) -> Vec<Crew<'a>> {
    let mut crews = Vec::new();
    for (party_number, party) in job.parties.iter().enumerate() {
        let all = job.flows.iter().zip(ends).enumerate();
        let own = all.filter(|(_, (flow, _))| host(flow) == party_number);
        let own = own.filter_map(|(number, (flow, ends))| {
            let (socket, is_read_here) = (socket(ends)?, ends.far.is_some());
            Some(Member {
                number,
                flow,
                socket,
                shared: &ends.shared,
                is_read_here,
                said: ends.said,
                receipts: ends.receipts,
            })
        });
        let own: Vec<Member<'_>> = own.collect();
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

/// The flows whose queues are watched, at the host of the first; nothing where none can be.
fn watched<'a>(job: &'a Job<'_>, ends: &'a [Ends]) -> Option<(Place, Watched<'a>)> {
    let watched: Watched<'_> = job.flows.iter().zip(ends).take(MOST_WATCHED).collect();
    watched.iter().find(|(_, ends)| sampler::can_watch(ends))?;
    let (first, _) = watched.first()?;
    Some((job.parties[first.from].place.clone(), watched))
}

fn inside<T>(
    place: &Place,
    work: impl FnOnce() -> Result<T, EngineError>,
) -> Result<T, EngineError> {
    place.enter().and_then(|()| work())
}

type Running<'scope, T> = thread::ScopedJoinHandle<'scope, Result<T, EngineError>>;

fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    name: &str,
    work: impl FnOnce() -> Result<T, EngineError> + Send + 'scope,
) -> Result<Running<'scope, T>, EngineError> {
    let started = thread::Builder::new().name(name.to_owned()).spawn_scoped(scope, work);
    started.map_err(|source| EngineError::Thread { name: name.to_owned(), source })
}

fn join<T>(thread: Running<'_, T>) -> Result<T, EngineError> {
    let ended = thread.join();
    ended.unwrap_or_else(|_| Err(EngineError::Refused("a traffic thread panicked".to_owned())))
}

/// Flows whose queue is watched at most.
const MOST_WATCHED: usize = 64;
