//! The threads of a launch, and who watches their time.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::Receiver;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::Duration;

use btu_core::app::endpoint::Endpoint;
use btu_core::app::sample::RankSample;
use btu_core::units::Nanos;
use btu_sys::cpu;
use btu_sys::cpu::CpuSet;

use super::cpus::Berths;
use super::left::LEFT;
use super::life;
use super::life::Ended;
use super::life::How;
use super::life::Work;
use super::reason::GRACE;
use super::reason::Reason;
use crate::error::EngineError;
use crate::message::Seat;
use crate::place::Place;
use crate::threads;
use crate::time::now;

/// The ranks of a launch, each a thread. None of them can be forced to end: a message call sees that it should.
#[derive(Debug)]
pub(super) struct Crew {
    begun: Nanos,
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
    reports: Receiver<Ended>,
    ended: Vec<Option<Ended>>,
}

impl Crew {
    /// Starts them. Where a thread cannot be started, those before it are ended again.
    pub(super) fn start(
        work: Work,
        seats: &[Seat],
        berths: &Berths,
        ends: Vec<Box<dyn Endpoint + Send>>,
        over: Arc<AtomicBool>,
    ) -> Result<Self, EngineError> {
        let (report, reports) = channel();
        let mut crew = Self { begun: now(), over, threads: Vec::new(), reports, ended: Vec::new() };
        for ((seat, cpus), end) in seats.iter().zip(&berths.cpus).zip(ends) {
            let (place, cpus, report) = (seat.place.clone(), cpus.clone(), report.clone());
            let name = format!("rank-{}", end.rank());
            // Nobody listens any more where this rank was left behind.
            let life = move || drop(report.send(live(work, &place, &cpus, end)));
            match threads::start(&name, life) {
                Ok(thread) => crew.threads.push(thread),
                Err(cause) => {
                    crew.collect(Nanos::ZERO, &AtomicBool::new(true));
                    return Err(cause);
                }
            }
        }
        Ok(crew)
    }

    /// Waits until all have ended, until `cap` has passed, or until `stop` is set; then a little longer.
    pub(super) fn collect(mut self, cap: Nanos, stop: &AtomicBool) -> Vec<Ended> {
        self.ended.resize_with(self.threads.len(), || None);
        let why = self.until(self.begun.saturating_add(cap), stop).map(|reason| {
            self.over.store(true, Relaxed);
            let _ = self.until(now().saturating_add(GRACE), &AtomicBool::new(false));
            reason.sentence(cap)
        });
        self.accounts(&why.unwrap_or_default())
    }

    /// Takes reports until all are there (`None`), or until there is a reason to wait no longer.
    fn until(&mut self, deadline: Nanos, stop: &AtomicBool) -> Option<Reason> {
        while self.ended.iter().any(Option::is_none) {
            match self.reports.recv_timeout(TURN) {
                Ok(ended) => self.note(ended),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
            if let Some(reason) = Reason::of(deadline, stop) {
                return Some(reason);
            }
        }
        None
    }

    fn note(&mut self, ended: Ended) {
        let rank = usize::try_from(ended.sample.rank).unwrap_or(usize::MAX);
        if let Some(slot) = self.ended.get_mut(rank) {
            *slot = Some(ended);
        }
    }

    fn accounts(self, why: &str) -> Vec<Ended> {
        let lived_ns = now().since(self.begun);
        let account = |(rank, (ended, thread)): (u32, (Option<Ended>, JoinHandle<()>))| {
            let Some(mut ended) = ended else {
                let left = left_behind(rank, lived_ns, &thread, why);
                LEFT.add(thread);
                return left;
            };
            // It has reported: what is left of it ends at once, and its panics were caught.
            let _ = thread.join();
            if ended.how == How::Stopped {
                ended.sample.failure = Some(why.to_owned());
            }
            ended
        };
        (0..).zip(self.ended.into_iter().zip(self.threads)).map(account).collect()
    }
}

/// The life of a rank. Its end of the layer goes with it, so that the others learn of its death.
fn live(work: Work, place: &Place, cpus: &CpuSet, mut end: Box<dyn Endpoint + Send>) -> Ended {
    let rank = u32::try_from(end.rank()).unwrap_or(u32::MAX);
    let there = place.enter().and_then(|()| Ok(cpu::pin(cpus)?));
    let ended = match there {
        Ok(()) => life::run(work, &mut *end),
        Err(cause) => {
            let failure = Some(cause.sentence());
            Ended { sample: RankSample { failure, ..RankSample::default() }, how: How::Returned }
        }
    };
    Ended { sample: RankSample { rank, ..ended.sample }, ..ended }
}

fn left_behind(rank: u32, lived_ns: Nanos, thread: &JoinHandle<()>, why: &str) -> Ended {
    let failure =
        Some(format!("{why}; {} s later it still computed, and was left behind", GRACE.seconds()));
    let cpu_ns = cpu::cpu_ns_of(thread).map(Nanos::new);
    let sample = RankSample { rank, lived_ns, cpu_ns, failure, ..RankSample::default() };
    Ended { sample, how: How::LeftBehind }
}

/// How soon an interruption is noticed.
const TURN: Duration = Duration::from_millis(50);
