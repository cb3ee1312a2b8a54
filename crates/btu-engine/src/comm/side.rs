//! The data threads of one side under their supervisor, from the handshake to the report.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::thread::ScopedJoinHandle;

use btu_core::role::Role;
use btu_core::sample::SessionUse;
use btu_core::units::Nanos;
use btu_sys::cpu;
use btu_sys::cpu::CpuSet;

use super::Terms;
use super::data::Side;
use super::data::Task;
use super::end::Account;
use super::end::EndReport;
use super::end::Part;
use super::end::Shared;
use super::series::PERIOD;
use super::supervisor;
use super::supervisor::Ending;
use super::supervisor::Limits;
use super::supervisor::Watch;
use super::supervisor::Watched;
use crate::error::EngineError;
use crate::file::ftp::Gauge;
use crate::lineup::Lineup;
use crate::lineup::Start;
use crate::place::Place;
use crate::threads;
use crate::time::now;

/// The connected ends of one side.
#[derive(Debug)]
pub(super) struct Ends<'a> {
    pub(super) side: Side,
    pub(super) terms: &'a Terms,
    pub(super) place: &'a Place,
    pub(super) parts: Vec<Part>,
    pub(super) shared: Vec<Arc<Shared>>,
}

impl Ends<'_> {
    /// Runs every end to its end. `ready` is called once all threads wait for the start.
    pub(super) fn run(
        &self,
        lineup: &Lineup,
        ready: impl FnOnce(),
    ) -> Result<(Vec<EndReport>, Ending), EngineError> {
        let cpus = self.place.cpus()?;
        let (pinning, role) = (self.terms.pinning, self.place.role);
        let ends = 0..self.shared.len();
        let given: Vec<CpuSet> = ends.map(|end| pinning.cpus_of(role, end, &cpus)).collect();
        keep_clear(&cpus, &given)?;
        let watches = self.watches();
        let (accounts, (seen, served)) = thread::scope(|scope| {
            let threads = given.into_iter().enumerate().map(|(end, cpus)| {
                let task = self.task(end, cpus);
                let name = format!("comm-{}-{end}", self.place.role);
                threads::start_in(scope, &name, move || task.run(self.side, lineup))
            });
            let threads: Result<Vec<_>, _> = threads.collect();
            if threads.is_err() {
                lineup.decide(Start::Cancelled);
                self.abort();
            }
            let threads = threads?;
            let seen = self.supervise(lineup, ready, &watches);
            Ok::<_, EngineError>((threads.into_iter().map(account_of).collect::<Vec<_>>(), seen))
        })?;
        let reports = accounts.into_iter().zip(&watches).map(|(account, watch)| {
            let mut report = EndReport::new(self.place.role, watch, account, seen.stood_still);
            report.sample.ftp_session = served;
            report
        });
        Ok((reports.collect(), seen.ending))
    }

    fn supervise(
        &self,
        lineup: &Lineup,
        ready: impl FnOnce(),
        watches: &[Watch],
    ) -> (Watched, Option<SessionUse>) {
        let ready_in_time = self.wait_ready(lineup);
        if !ready_in_time || lineup.has_ended_early() {
            lineup.decide(Start::Cancelled);
        }
        ready();
        if self.side == Side::Near && lineup.wait_decided() == Start::Cancelled {
            self.abort();
        }
        let limits = Limits::new(self.terms, self.grace());
        let before = self.gauge().map(Gauge::read);
        let seen = supervisor::watch(watches, lineup, &limits, &self.terms.cancel);
        let served =
            before.zip(self.gauge()).and_then(|(then, gauge)| gauge.read().busiest_since(&then));
        (seen, served)
    }

    /// The account of the FTP server, which only the far side of its own host tells.
    fn gauge(&self) -> Option<&Gauge> {
        let is_its_host = self.side == Side::Far && self.place.role == Role::Active;
        self.terms.ftp.as_ref().filter(|_| is_its_host)
    }

    /// True once all threads are ready; false where it takes too long or nobody wants it any more.
    fn wait_ready(&self, lineup: &Lineup) -> bool {
        let deadline = now().saturating_add(HANDSHAKE);
        while now() < deadline && !self.terms.cancel.load(Relaxed) {
            let patience = now().saturating_add(PERIOD).min(deadline);
            if lineup.wait_ready(self.shared.len(), patience) {
                return true;
            }
        }
        false
    }

    fn watches(&self) -> Vec<Watch> {
        let ends = self.shared.iter().zip(&self.parts);
        self.shared.iter().for_each(|shared| shared.diary.reserve(self.terms.cap));
        ends.map(|(shared, part)| Watch::new(shared, *part)).collect()
    }

    fn task(&self, end: usize, cpus: CpuSet) -> Task<'_> {
        let Terms { message, amount, calls, .. } = *self.terms;
        let (shared, part) = (&self.shared[end], self.parts[end]);
        let read_call = calls.read_by(self.place.role);
        Task { shared, part, message, write_call: calls.write, read_call, amount, cpus }
    }

    /// The near side gives up first, so that its cap is what ends a run.
    fn grace(&self) -> Nanos {
        match self.side {
            Side::Far => Nanos::from_secs(1),
            Side::Near => Nanos::ZERO,
        }
    }

    fn abort(&self) {
        self.shared.iter().for_each(|shared| shared.connection.abort());
    }
}

/// Keeps the calling thread off the CPUs of the data threads where others exist.
fn keep_clear(cpus: &CpuSet, given: &[CpuSet]) -> Result<(), EngineError> {
    let taken: CpuSet = given.iter().flat_map(CpuSet::iter).collect();
    let others: CpuSet = cpus.iter().filter(|cpu| !taken.contains(*cpu)).collect();
    if others.is_empty() {
        return Ok(());
    }
    Ok(cpu::pin(&others)?)
}

fn account_of(thread: ScopedJoinHandle<'_, Account>) -> Account {
    thread.join().unwrap_or_else(|_| Account {
        fault: Some("the data thread panicked".to_owned()),
        ..Account::default()
    })
}

/// How long the 'ready' of the far end may take.
const HANDSHAKE: Nanos = Nanos::from_secs(10);
