//! The near side: the host under test connects, starts all connections together, and times them.

use std::sync::Arc;
use std::sync::mpsc;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::Duration;
use std::time::Instant;

use btu_core::units::Nanos;

use super::NearFlow;
use super::NearJob;
use super::data::Side;
use super::end::EndReport;
use super::end::Part;
use super::end::Shared;
use super::side::Ends;
use super::supervisor::Ending;
use crate::door;
use crate::error::EngineError;
use crate::lineup::Lineup;
use crate::lineup::Start;
use crate::time::now;

/// A near side that is connected and waits for its start. Dropped before that, it goes away quietly.
#[derive(Debug)]
pub struct NearSide {
    lineup: Arc<Lineup>,
    thread: Option<JoinHandle<Result<NearReport, EngineError>>>,
}

/// What the host under test saw of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct NearReport {
    /// The connections, in the case's order.
    pub flows: Vec<NearFlow>,
    /// This end of each.
    pub ends: Vec<EndReport>,
    /// True where the watchdog had to end the run.
    pub gave_up: bool,
    /// When it would give up.
    pub cap: Nanos,
    /// When all of its threads had ended.
    pub over: Nanos,
}

impl NearSide {
    /// Connects everything and waits until all data threads are ready.
    pub fn connect(job: NearJob) -> Result<Self, EngineError> {
        let lineup = Arc::new(Lineup::default());
        let (tell, told) = mpsc::channel();
        let thread = {
            let (place, lineup) = (job.place.clone(), Arc::clone(&lineup));
            place.spawn("comm-near", move || work(&job, &lineup, tell))?
        };
        let side = Self { lineup, thread: Some(thread) };
        match told.recv() {
            Ok(()) => Ok(side),
            // The thread ended before it was ready: it holds the reason.
            Err(mpsc::RecvError) => side.report().and_then(|_| Err(ended_early())),
        }
    }

    /// Starts the clock, waits for the end.
    pub fn go(self) -> Result<NearReport, EngineError> {
        self.lineup.decide(Start::Given);
        self.report()
    }

    fn report(mut self) -> Result<NearReport, EngineError> {
        let thread = self.thread.take();
        thread.and_then(|thread| thread.join().ok()).unwrap_or_else(|| Err(ended_early()))
    }
}

impl Drop for NearSide {
    fn drop(&mut self) {
        self.lineup.decide(Start::Cancelled);
        if let Some(thread) = self.thread.take() {
            // Its report is of no use to anybody any more.
            let _ = thread.join();
        }
    }
}

impl NearReport {
    /// The common start: the first write or go-ahead of any connection.
    pub fn started(&self) -> Option<Nanos> {
        self.ends.iter().filter_map(|end| end.started).min()
    }

    /// From the common start to the end of the later connection, or to the cap where that came first; where one
    /// failed, to the moment at which all of them were over. Zero where none began.
    //= maly1996#5 eq. 4
    pub fn elapsed(&self) -> Nanos {
        let ended: Option<Vec<Nanos>> = self.ends.iter().map(|end| end.ended).collect();
        let last = ended.and_then(|ended| ended.into_iter().max());
        let faultless = self.ends.iter().all(|end| end.fault.is_none());
        let Some(started) = self.started() else { return Nanos::ZERO };
        if self.gave_up {
            return self.cap;
        }
        last.filter(|_| faultless).unwrap_or(self.over).since(started)
    }
}

fn work(job: &NearJob, lineup: &Lineup, tell: Sender<()>) -> Result<NearReport, EngineError> {
    let shared: Result<Vec<_>, _> =
        job.flows.iter().enumerate().map(|(flow, _)| open(job, flow)).collect();
    let parts = job.flows.iter().map(|flow| Part::near(flow.direction)).collect();
    let (terms, place) = (&job.terms, &job.place);
    let ends = Ends { side: Side::Near, terms, place, parts, shared: shared? };
    // A receiver that is gone wants no report either: nothing to do about it.
    let ready = move || {
        let _ = tell.send(());
    };
    let (reports, ending) = ends.run(lineup, ready)?;
    let gave_up = ending == Ending::Overdue;
    let (flows, cap, over) = (job.flows.clone(), job.terms.cap, now());
    Ok(NearReport { flows, ends: reports, gave_up, cap, over })
}

/// A connection that has shown its token, where there is one.
fn open(job: &NearJob, flow: usize) -> Result<Arc<Shared>, EngineError> {
    let NearFlow { peer, address, .. } = job.flows[flow];
    let connect = || job.terms.transport.connect(address, &job.sockets, CONNECT_TIMEOUT);
    let Some(preamble) = &job.terms.preamble else { return Ok(Shared::new(connect()?)) };
    let seat = preamble.seat(flow).ok_or_else(super::no_seat)?;
    let connect = || Ok((connect()?, Instant::now() + door::PATIENCE));
    let connection = door::introduced(&seat, &format_args!("{peer} at {address}"), connect)?;
    Ok(Shared::new(connection))
}

fn ended_early() -> EngineError {
    EngineError::Refused("the near side ended before it was ready".to_owned())
}

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpListener;
    use std::thread;

    use btu_core::role::Role;
    use btu_core::run::cell::Direction;
    use btu_core::units::Bytes;
    use btu_sys::socket::Settings;

    use super::*;
    use crate::comm::Amount;
    use crate::comm::NearToken;
    use crate::comm::Terms;
    use crate::door::Seat;
    use crate::door::TRIES;
    use crate::door::reluctant::let_in_after;
    use crate::place::Place;
    use crate::transport::TRANSPORTS;

    const SEAT: Seat = Seat { secret: [7; 32], run: 3, attempt: 1, flow: 0 };

    /// What comes of a connection to a far end that closes the first `closes` unanswered.
    fn opened(closes: usize) -> Result<(), String> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (message, cap) = (Bytes::new(100), Nanos::from_secs(60));
        let mut terms = Terms::new(TRANSPORTS[0], message, Amount::Messages(1), cap);
        terms.preamble = Some(Arc::new(NearToken { seats: vec![SEAT] }));
        let flows = vec![NearFlow { peer: Role::Active, direction: Direction::Send, address }];
        let (sockets, place) = (Settings::default(), Place::here(Role::Test));
        let job = NearJob { flows, terms, sockets, place };
        thread::scope(|scope| {
            let near = scope.spawn(move || open(&job, 0).map(drop));
            if closes < TRIES {
                let_in_after(closes, &listener, &SEAT);
            } else {
                let close = || listener.accept().unwrap().0.read_exact(&mut [0; 64]).unwrap();
                (0..closes).for_each(|_| close());
            }
            near.join().unwrap().map_err(|cause| cause.sentence())
        })
    }

    #[test]
    fn a_connection_that_is_closed_unanswered_is_made_again_and_not_for_ever() {
        for closes in 0..TRIES {
            assert_eq!(opened(closes), Ok(()), "{closes}");
        }
        let told = opened(TRIES).unwrap_err();
        assert!(told.starts_with("show the token to active at 127.0.0.1:"), "{told}");
    }
}
