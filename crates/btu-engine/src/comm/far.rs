//! The far side: a black box listens, accepts, and sends or reads.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use btu_core::units::Bytes;

use super::FarJob;
use super::Preamble;
use super::data::Side;
use super::end::EndReport;
use super::end::Part;
use super::end::Shared;
use super::side::Ends;
use crate::door;
use crate::door::Awaited;
use crate::error::EngineError;
use crate::lineup::Lineup;
use crate::transport::Connection;
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
    pub fn moved(&self) -> Bytes {
        let state = self.doors.state();
        let ends = state.accepted.iter().map(|end| Bytes::new(end.progress.bytes()));
        ends.fold(Bytes::ZERO, Bytes::saturating_add)
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

    /// Waits for the connection of one flow, and for no other: whoever knocked beside the run would have the kernel
    /// shake hands, and keep what is said, on CPUs that are measured.
    fn accept(&self, job: &FarJob, flow: usize) -> Result<Arc<Shared>, EngineError> {
        let listener = &*self.listeners[flow];
        let connection = match &job.terms.preamble {
            None => listener.accept()?,
            Some(preamble) => self.first_known(listener, flow, &**preamble)?,
        };
        listener.abort();
        let shared = Shared::new(connection);
        self.admit(&shared)?;
        Ok(shared)
    }

    /// The first of all that connect that knows the token of this connection.
    fn first_known(
        &self,
        listener: &dyn Listener,
        flow: usize,
        preamble: &dyn Preamble,
    ) -> Result<Box<dyn Connection>, EngineError> {
        let seat = preamble.seat(flow).ok_or_else(super::no_seat)?;
        listener.never_wait()?;
        let is_wanted = || !self.state().cancelled;
        let next = || listener.accept().map(Some).or_else(door::nobody_there);
        let at = listener.address()?;
        let awaited = Awaited { seat: &seat, at: &at, patience: PATIENCE, is_wanted: &is_wanted };
        let known = door::first_known(&listener.as_fd(), &awaited, next)?;
        preamble.came_in(&*known);
        Ok(known)
    }

    /// From now on the connection can be cancelled.
    fn admit(&self, shared: &Arc<Shared>) -> Result<(), EngineError> {
        let mut state = self.state();
        state.accepted.push(Arc::clone(shared));
        if state.cancelled { Err(ended_early()) } else { Ok(()) }
    }

    fn close(&self) {
        self.listeners.iter().for_each(|listener| listener.abort());
        let mut state = self.state();
        state.cancelled = true;
        state.accepted.iter().for_each(|shared| shared.connection.abort());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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

/// How long the connection of a run may take after its far end listens: a host activity starts
/// meanwhile.
const PATIENCE: Duration = Duration::from_secs(20);

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::ErrorKind;
    use std::net::TcpStream;

    use btu_core::role::Role;
    use btu_core::run::cell::Direction;
    use btu_core::units::Nanos;
    use btu_sys::socket::Settings;

    use super::*;
    use crate::comm::Amount;
    use crate::comm::FarFlow;
    use crate::comm::FarToken;
    use crate::comm::NearFlow;
    use crate::comm::NearJob;
    use crate::comm::NearSide;
    use crate::comm::NearToken;
    use crate::comm::Terms;
    use crate::door::Seat;
    use crate::place::Place;
    use crate::transport::TRANSPORTS;
    use crate::wait::wait_until;

    const SEAT: Seat = Seat { secret: [7; 32], run: 3, attempt: 1, flow: 0 };

    fn terms(preamble: impl Preamble + 'static) -> Terms {
        let (message, cap) = (Bytes::new(1000), Nanos::from_secs(60));
        let mut terms = Terms::new(TRANSPORTS[0], message, Amount::Messages(20), cap);
        terms.preamble = Some(Arc::new(preamble));
        terms
    }

    /// Accepted connections of this port that a process has a descriptor of: the inode of others is 0.
    fn held(port: u16) -> usize {
        let table = fs::read_to_string("/proc/self/net/tcp").unwrap();
        let is_held = |line: &&str| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let is_listening = fields[3] == "0A";
            fields[1].ends_with(&format!(":{port:04X}")) && !is_listening && fields[9] != "0"
        };
        table.lines().skip(1).filter(is_held).count()
    }

    #[test]
    fn a_crowd_of_silent_strangers_is_closed_and_the_right_one_comes_in() {
        let flow = FarFlow { direction: Direction::Send, listen: ([127, 0, 0, 1], 0).into() };
        let (sockets, place) = (Settings::default(), Place::here(Role::Active));
        let terms_far = terms(FarToken { seat: SEAT });
        let far = FarSide::listen(FarJob { flows: vec![flow], terms: terms_far, sockets, place });
        let far = far.unwrap();
        let address = far.addresses()[0];
        let crowd: Vec<TcpStream> =
            (0..300).map(|_| TcpStream::connect(address).unwrap()).collect();
        wait_until("the hall is full", || held(address.port()) == 64);
        let flow = NearFlow { peer: Role::Active, direction: Direction::Send, address };
        let (sockets, place) = (Settings::default(), Place::here(Role::Test));
        let terms = terms(NearToken { seats: vec![SEAT] });
        let near = NearSide::connect(NearJob { flows: vec![flow], terms, sockets, place });
        let near = near.unwrap();
        wait_until("the strangers are gone", || held(address.port()) == 1);
        wait_until("nobody is let in any more", || {
            let knocked = TcpStream::connect(address);
            knocked.is_err_and(|cause| cause.kind() == ErrorKind::ConnectionRefused)
        });
        let report = near.go().unwrap();
        assert_eq!((report.gave_up, far.finish().unwrap()[0].bytes.count()), (false, 20_000));
        drop(crowd);
    }
}
