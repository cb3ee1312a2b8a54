//! The far side: a black box listens, accepts, and sends or reads.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::mpsc;
use std::thread::JoinHandle;

use super::FarJob;
use super::data::Side;
use super::doorway;
use super::end::EndReport;
use super::end::Part;
use super::end::Shared;
use super::side::Ends;
use crate::error::EngineError;
use crate::lineup::Lineup;
use crate::transport::Listener;

/// A far side that listens. Dropped, it stops at once.
#[derive(Debug)]
pub struct FarSide {
    doors: Arc<Doors>,
    addresses: Vec<SocketAddr>,
    thread: Option<JoinHandle<Result<Vec<EndReport>, EngineError>>>,
    /// How it ended, where that was waited for.
    ended: Option<Result<Vec<EndReport>, EngineError>>,
}

/// Everything that a far side may be waiting on, so that it can be told to stop.
#[derive(Debug)]
struct Doors {
    listeners: Vec<Box<dyn Listener>>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    cancelled: bool,
    accepted: Vec<Arc<Shared>>,
}

impl FarSide {
    /// Listens; returns once the addresses are known.
    pub fn listen(job: FarJob) -> Result<Self, EngineError> {
        let (tell, told) = mpsc::channel();
        let place = job.place.clone();
        let thread = place.spawn("comm-far", move || {
            let doors = Arc::new(Doors::open(&job)?);
            // A receiver that is gone has dropped its interest in the run: nobody will connect.
            let _ = tell.send(Arc::clone(&doors));
            serve(&job, &doors)
        })?;
        let Ok(doors) = told.recv() else {
            return Err(joined(Some(thread)).err().unwrap_or_else(ended_early));
        };
        let addresses: Result<_, _> = doors.listeners.iter().map(|door| door.address()).collect();
        let mut side = Self { doors, addresses: Vec::new(), thread: Some(thread), ended: None };
        side.addresses = addresses?;
        Ok(side)
    }

    /// Where it listens, one address per connection of the job.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// User bytes written and read so far.
    pub fn moved(&self) -> u64 {
        let state = self.doors.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.accepted.iter().fold(0, |sum, end| sum.saturating_add(end.progress.bytes()))
    }

    /// True once every connection has ended.
    pub fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the end of every connection, which the watchdog bounds.
    pub fn finish(mut self) -> Result<Vec<EndReport>, EngineError> {
        self.ended.take().unwrap_or_else(|| joined(self.thread.take()))
    }

    /// Ends every connection as [`cancel`](Self::cancel), and returns when nobody works at them any more.
    pub fn end(&mut self) {
        self.cancel();
        if let Some(thread) = self.thread.take() {
            self.ended = Some(joined(Some(thread)));
        }
    }

    /// Stops listening and ends every connection, now.
    pub fn cancel(&self) {
        self.doors.close();
    }
}

impl Drop for FarSide {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.doors.close();
            // Its report is of no use to anybody any more.
            let _ = joined(self.thread.take());
        }
    }
}

impl Doors {
    fn open(job: &FarJob) -> Result<Self, EngineError> {
        let listen = |address| job.terms.transport.listen(address, &job.sockets);
        let listeners: Result<_, _> = job.flows.iter().map(|flow| listen(flow.listen)).collect();
        Ok(Self { listeners: listeners?, state: Mutex::default() })
    }

    /// Waits for the connection of one flow.
    fn accept(&self, job: &FarJob, flow: usize) -> Result<Arc<Shared>, EngineError> {
        if let Some(preamble) = &job.terms.preamble {
            return doorway::first_known(&*self.listeners[flow], flow, &**preamble, |shared| {
                self.admit(shared)
            });
        }
        let shared = Shared::new(self.listeners[flow].accept()?);
        self.admit(&shared)?;
        Ok(shared)
    }

    /// From now on the connection can be cancelled.
    fn admit(&self, shared: &Arc<Shared>) -> Result<(), EngineError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.accepted.push(Arc::clone(shared));
        if state.cancelled { Err(ended_early()) } else { Ok(()) }
    }

    fn close(&self) {
        self.listeners.iter().for_each(|listener| listener.abort());
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.cancelled = true;
        state.accepted.iter().for_each(|shared| shared.connection.abort());
    }
}

fn serve(job: &FarJob, doors: &Doors) -> Result<Vec<EndReport>, EngineError> {
    let accepted: Result<Vec<_>, _> =
        (0..job.flows.len()).map(|flow| doors.accept(job, flow)).collect();
    let parts = job.flows.iter().map(|flow| Part::far(flow.direction)).collect();
    let (terms, place) = (&job.terms, &job.place);
    let ends = Ends { side: Side::Far, terms, place, parts, shared: accepted? };
    let (reports, _) = ends.run(&Lineup::default(), || ())?;
    Ok(reports)
}

fn joined(
    thread: Option<JoinHandle<Result<Vec<EndReport>, EngineError>>>,
) -> Result<Vec<EndReport>, EngineError> {
    thread.and_then(|thread| thread.join().ok()).unwrap_or_else(|| Err(ended_early()))
}

fn ended_early() -> EngineError {
    EngineError::Refused("the far side was cancelled".to_owned())
}
