//! The threads of a job: the ends of flows that are on this host, spread over its CPUs.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use btu_core::traffic::figures::places::Glance;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::cpu::CpuSet;

use super::connect::Ends;
use super::connect::Socket;
use super::flow::Received;
use super::flow::Sent;
use super::flow::Shared;
use super::hands;
use super::hands::Started;
use super::hands::join;
use super::job::Flow;
use super::job::Job;
use super::job::JobEnd;
use super::receipts::Mark;
use super::receiver;
use super::sampler;
use super::sampler::Watched;
use super::sender;
use crate::error::EngineError;
use crate::place::Place;
use crate::time::now;

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
///
/// # Errors
/// A thread did not start, or failed: then all others end as well, for what it owes them never comes.
pub(super) fn carry(job: &Job<'_>, ends: &[Ends], begin: Nanos) -> Result<Carried, EngineError> {
    carry_by(&OVER_SOCKETS, job, ends, begin)
}

/// What the threads do.
struct Work {
    send: Carry<sender::Done>,
    receive: Carry<receiver::Done>,
    watch: fn(&Watched<'_>, Nanos, &AtomicBool) -> Vec<Vec<Glance>>,
}

/// Serves some ends of a job that begins at this time.
type Carry<T> = fn(&Job<'_>, &Crew<'_>, Nanos) -> Result<T, EngineError>;

const OVER_SOCKETS: Work = Work { send: sender::run, receive: receiver::run, watch: sampler::run };

fn carry_by(
    work: &Work,
    job: &Job<'_>,
    ends: &[Ends],
    begin: Nanos,
) -> Result<Carried, EngineError> {
    let senders = crews(job, ends, |flow| flow.from, |ends| ends.near.as_ref());
    let receivers = crews(job, ends, |flow| flow.to, |ends| ends.far.as_ref());
    let sender_threads = senders.len();
    let common = Common { job, ends, begin, stop: AtomicBool::new(false) };
    let (sent, received, glances) = thread::scope(|scope| {
        let receiving = common.serve(scope, "traffic-sink", receivers, work.receive);
        let sending = common.serve(scope, "traffic-send", senders, work.send);
        let watching = watched(job, ends).map(|(place, watched)| {
            let stop = &common.stop;
            let watch = move || Ok((work.watch)(&watched, begin, stop));
            common.start(scope, "traffic-watch", place, watch)
        });
        let (sent, received) = (all(sending), all(receiving));
        common.stop.store(true, Relaxed);
        (sent, received, watching.map(join).transpose())
    });
    let (sent, received, glances) = (sent?, received?, glances?.unwrap_or_default());
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

/// What the threads of a job have in common.
struct Common<'a> {
    job: &'a Job<'a>,
    ends: &'a [Ends],
    begin: Nanos,
    /// Nobody needs to watch any more.
    stop: AtomicBool,
}

impl<'a> Common<'a> {
    /// Starts a thread for each crew.
    fn serve<'scope, T: Send + 'scope>(
        &'scope self,
        scope: &'scope thread::Scope<'scope, '_>,
        name: &'static str,
        crews: Vec<Crew<'a>>,
        work: Carry<T>,
    ) -> Vec<Started<'scope, T>> {
        let serve = |crew: Crew<'a>| {
            let place = crew.place.clone();
            self.start(scope, name, place, move || work(self.job, &crew, self.begin))
        };
        crews.into_iter().map(serve).collect()
    }

    /// Starts a thread that first goes to its place.
    fn start<'scope, T: Send + 'scope>(
        &'scope self,
        scope: &'scope thread::Scope<'scope, '_>,
        name: &'static str,
        place: Place,
        work: impl FnOnce() -> Result<T, EngineError> + Send + 'scope,
    ) -> Started<'scope, T> {
        let inside = move || {
            let ended = hands::caught(name, || place.enter().and_then(|()| work()));
            if ended.is_err() {
                self.let_go();
            }
            ended
        };
        hands::start(scope, name, inside).inspect_err(|_| self.let_go())
    }

    /// One is missing: nobody waits for its ends any more.
    fn let_go(&self) {
        self.ends.iter().for_each(|ends| ends.shared.abandoned.store(true, Relaxed));
        self.stop.store(true, Relaxed);
    }
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

/// What all of them leave behind; where one failed, why. No thread is left running.
fn all<T>(threads: Vec<Started<'_, T>>) -> Result<Vec<T>, EngineError> {
    let ended: Vec<_> = threads.into_iter().map(join).collect();
    ended.into_iter().collect()
}

/// Flows whose queue is watched at most.
const MOST_WATCHED: usize = 64;

#[cfg(test)]
mod tests;
