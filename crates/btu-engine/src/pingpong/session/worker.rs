//! The thread of one end: enters its place, makes its end, then does what it is ordered to.

use std::io;
use std::sync::mpsc;
use std::sync::mpsc::Receiver;
use std::sync::mpsc::Sender;
use std::sync::mpsc::TryRecvError;
use std::thread::JoinHandle;
use std::time::Duration;

use btu_core::pingpong::schedule::Division;
use btu_core::pingpong::schedule::Visit;
use btu_core::sample::SocketOptions;
use btu_sys::cpu::CpuSet;
use btu_sys::cpu::ThreadUse;
use btu_sys::wait::Waker;

use super::Opening;
use super::pinned;
use crate::error::EngineError;
use crate::pingpong::channel::Aborter;
use crate::pingpong::channel::End;
use crate::pingpong::channel::Meter;
use crate::pingpong::duty::Answer;
use crate::pingpong::duty::Broken;
use crate::pingpong::duty::Duty;
use crate::pingpong::pool::Blocks;
use crate::pingpong::regulator::Regulator;
use crate::pingpong::transport::Hookup;
use crate::pingpong::transport::Rendezvous;
use crate::pingpong::verify::Plant;

/// Which end a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Far,
    Near,
}

/// A visit to make.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) visit: Visit,
    /// Where the numbers of checked exchanges go on; `None` where time is measured.
    pub(super) verify_from: Option<u64>,
    /// Room for the times.
    pub(super) times: Vec<u64>,
    /// How a stream was divided.
    pub(super) division: Option<Division>,
}

/// A part of a visit that is over.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) side: Side,
    pub(super) outcome: Result<Answer, Broken>,
    pub(super) used: ThreadUse,
    pub(super) times: Vec<u64>,
    pub(super) division: Option<Division>,
}

/// A thread and what is known of its end.
#[derive(Debug)]
pub(super) struct Worker {
    orders: Option<Sender<Order>>,
    news: Receiver<News>,
    thread: Option<JoinHandle<Result<(), EngineError>>>,
    aborter: Option<Aborter>,
    bell: Option<Waker>,
    meter: Option<Meter>,
    pub(super) options: Option<SocketOptions>,
    pub(super) regulator: Option<Regulator>,
    pub(super) remarks: Vec<String>,
}

/// What a thread tells before its first order.
enum News {
    Listening(Rendezvous),
    Open {
        aborter: Aborter,
        bell: Option<Waker>,
        meter: Option<Meter>,
        options: Option<SocketOptions>,
        regulator: Option<Regulator>,
        remarks: Vec<String>,
    },
}

impl Worker {
    /// The thread that listens.
    pub(super) fn far(
        opening: &Opening,
        cpus: CpuSet,
        report: Sender<Done>,
    ) -> Result<Self, EngineError> {
        Self::spawn(opening, Side::Far, cpus, report, |opening, tell| {
            let hookup = hookup(opening, Side::Far);
            let listener = opening.transport.listen(&hookup)?;
            let _ = tell.send(News::Listening(listener.rendezvous()?));
            listener.accept(&hookup)
        })
    }

    /// The thread that connects.
    pub(super) fn near(
        opening: &Opening,
        cpus: CpuSet,
        at: Rendezvous,
        report: Sender<Done>,
    ) -> Result<Self, EngineError> {
        Self::spawn(opening, Side::Near, cpus, report, move |opening, _| {
            opening.transport.connect(&at, &hookup(opening, Side::Near))
        })
    }

    fn spawn(
        opening: &Opening,
        side: Side,
        cpus: CpuSet,
        report: Sender<Done>,
        open: impl FnOnce(&Opening, &Sender<News>) -> Result<Box<dyn End>, EngineError> + Send + 'static,
    ) -> Result<Self, EngineError> {
        let (orders, ordered) = mpsc::channel::<Order>();
        let (tell, news) = mpsc::channel();
        let place = pinned(&opening.party(side).place, cpus);
        let name = if side == Side::Near { "ping" } else { "pong" };
        let opening = opening.clone();
        let thread = place.spawn(name, move || {
            let mut end = open(&opening, &tell)?;
            let (aborter, bell, meter) = (end.aborter(), end.bell(), end.meter());
            let (options, regulator, remarks) = (end.options(), end.regulator(), end.remarks());
            let _ = tell.send(News::Open { aborter, bell, meter, options, regulator, remarks });
            drop(tell);
            serve(&mut *end, &opening, side, &ordered, &report);
            Ok(())
        })?;
        Ok(Self {
            orders: Some(orders),
            news,
            thread: Some(thread),
            aborter: None,
            bell: None,
            meter: None,
            options: None,
            regulator: None,
            remarks: Vec::new(),
        })
    }

    /// Where the far end is to be met.
    pub(super) fn rendezvous(&mut self) -> Result<Rendezvous, EngineError> {
        match self.news.recv() {
            Ok(News::Listening(at)) => Ok(at),
            Ok(News::Open { .. }) | Err(_) => Err(self.failure()),
        }
    }

    /// Returns once the end is connected.
    pub(super) fn wait_until_open(&mut self) -> Result<(), EngineError> {
        match self.news.recv() {
            Ok(News::Open { aborter, bell, meter, options, regulator, remarks }) => {
                (self.aborter, self.bell, self.meter) = (Some(aborter), bell, meter);
                (self.options, self.regulator, self.remarks) = (options, regulator, remarks);
                Ok(())
            }
            Ok(News::Listening(_)) | Err(_) => Err(self.failure()),
        }
    }

    pub(super) fn order(&self, order: Order) {
        if let Some(orders) = &self.orders {
            // A thread that is gone shows as an end that never reports.
            let _ = orders.send(order);
        }
        if let Some(bell) = &self.bell {
            bell.wake();
        }
    }

    /// True once its end is connected.
    pub(super) const fn is_open(&self) -> bool {
        self.aborter.is_some()
    }

    /// How much its connection has moved so far; nothing where nobody counts it.
    pub(super) fn moved(&self) -> Option<u64> {
        self.meter.as_ref().and_then(Meter::moved)
    }

    pub(super) fn abort(&self) {
        if let Some(aborter) = &self.aborter {
            aborter.abort();
        }
    }

    /// Why the thread ended before its end was open.
    fn failure(&mut self) -> EngineError {
        let gone = || EngineError::Refused("an end of the ping-pong panicked".to_owned());
        let Some(thread) = self.thread.take() else { return gone() };
        thread.join().ok().and_then(Result::err).unwrap_or_else(gone)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.abort();
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What a transport needs to know to make an end.
fn hookup(opening: &Opening, side: Side) -> Hookup<'_> {
    Hookup {
        party: opening.party(side),
        wanted: &opening.configuration,
        within: Duration::from(opening.patience),
        token: opening.token,
        ports: opening.ports,
        cancel: &opening.cancel,
    }
}

/// Makes visits until nobody orders any more, or one broke off.
fn serve(
    end: &mut dyn End,
    opening: &Opening,
    side: Side,
    ordered: &Receiver<Order>,
    report: &Sender<Done>,
) {
    let mut blocks = None;
    while let Some(mut order) = next_order(end, ordered) {
        let before = ThreadUse::now();
        let outcome = attempt(end, opening, side, &mut order, &mut blocks);
        let (used, is_over) = (ThreadUse::now().since(&before), outcome.is_err());
        let done = Done { side, outcome, used, times: order.times, division: order.division };
        if report.send(done).is_err() || is_over {
            return;
        }
    }
}

/// Waits for an order; nothing once there will be none.
fn next_order(end: &mut dyn End, ordered: &Receiver<Order>) -> Option<Order> {
    while end.tend() {
        match ordered.try_recv() {
            Ok(order) => return Some(order),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => {}
        }
    }
    ordered.recv().ok()
}

/// True for a visit in which a planted fault shows.
fn strikes(plant: Plant, order: &Order) -> bool {
    order.verify_from.is_some() || (order.visit.round > 1 && plant.shows_unchecked())
}

fn attempt(
    end: &mut dyn End,
    opening: &Opening,
    side: Side,
    order: &mut Order,
    blocks: &mut Option<Blocks>,
) -> Result<Answer, Broken> {
    let (length, wanted) = (order.visit.size.len().max(1), &opening.configuration);
    let memory = |cause: EngineError| Broken::Call {
        call: "memory for the blocks",
        source: io::Error::other(cause.sentence()),
    };
    let blocks = match blocks {
        Some(blocks) => {
            blocks.resize(length).map_err(memory)?;
            blocks
        }
        None => blocks.insert(Blocks::new(length, wanted).map_err(memory)?),
    };
    let plant = opening.plant.filter(|plant| strikes(*plant, order));
    let mut duty = Duty {
        blocks,
        unit_ns: &mut order.times,
        mode: wanted.mode,
        writes: wanted.writes,
        warm_up: order.visit.warm_up,
        units: order.visit.units.max(1),
        batch: order.visit.batch.max(1),
        stream: order.visit.stream,
        division: None,
        limit: order.visit.limit,
        verify_from: order.verify_from,
        plant,
    };
    let outcome = match side {
        Side::Far => end.answer(&mut duty),
        Side::Near => end.start(&mut duty),
    };
    order.division = duty.division;
    outcome
}
