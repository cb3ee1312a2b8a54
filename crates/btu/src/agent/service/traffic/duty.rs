//! One job of a conductor: connections are awaited, blocks carried, what was seen is read.

use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::thread::JoinHandle;

use btu_core::role::Role;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::EngineError;
use btu_engine::Party;
use btu_engine::Place;
use btu_engine::time::now;
use btu_engine::traffic::Answerer;
use btu_engine::traffic::CapacityEnd;
use btu_engine::traffic::Flow;
use btu_engine::traffic::Job;
use btu_engine::traffic::Reception;
use btu_engine::traffic::Side;
use btu_engine::traffic::SideEnd;
use btu_engine::traffic::Watch;
use btu_sys::socket::Settings;

use crate::traffic::remote::words::Told;

/// A job. Dropped, all of its connections end.
pub(super) struct Duty {
    stage: Stage,
    cancel: Arc<AtomicBool>,
    setting: Option<Arc<Setting>>,
    watch: Option<Watch>,
    answerers: Vec<Answerer>,
    /// Streams from here that may not go on once their places are free.
    held: Option<Vec<TcpStream>>,
    connections: usize,
    /// What is kept of its schedules.
    blocks: usize,
    /// Payload that was told already.
    told: Bytes,
    /// Payload of ends that are gone.
    past: Bytes,
}

enum Stage {
    /// Connections come in.
    Meeting(JoinHandle<Result<Side, EngineError>>),
    /// All are there.
    Met(Side),
    Running(JoinHandle<Result<SideEnd, EngineError>>),
    /// Datagrams of a capacity search come in.
    Searching(Box<CapacityEnd>),
    /// The report, as text.
    Over(String),
    Nothing,
}

/// What is awaited.
pub(super) struct Meeting {
    pub(super) reception: Reception,
    pub(super) flows: Vec<Flow>,
    /// The party that is this host.
    pub(super) here: usize,
    pub(super) linger: Nanos,
    pub(super) stall: Nanos,
    /// Whether nothing of its streams may be sent once it has ended.
    pub(super) held: bool,
}

/// What stays the same throughout.
struct Setting {
    flows: Vec<Flow>,
    linger: Nanos,
    stall: Nanos,
}

impl Duty {
    /// Awaits the connections of a job.
    pub(super) fn new(
        meeting: Meeting,
        answerers: Vec<Answerer>,
        [connections, blocks]: [usize; 2],
    ) -> Result<Self, String> {
        let Meeting { reception, flows, here, linger, stall, held } = meeting;
        let setting = Arc::new(Setting { flows, linger, stall });
        let cancel = Arc::<AtomicBool>::default();
        let (awaited, flag) = (Arc::clone(&setting), Arc::clone(&cancel));
        let wait = move || reception.receive(&awaited.flows, here, &flag);
        let stage = Stage::Meeting(spawn("traffic-meet", wait)?);
        let mut duty = Self::in_stage(stage);
        (duty.setting, duty.cancel) = (Some(setting), cancel);
        duty.held = held.then(Vec::new);
        (duty.answerers, duty.connections, duty.blocks) = (answerers, connections, blocks);
        Ok(duty)
    }

    /// Answers requests until it is closed.
    pub(super) fn responding(answerer: Answerer, connections: usize) -> Self {
        let mut duty = Self::in_stage(Stage::Nothing);
        (duty.answerers, duty.connections) = (vec![answerer], connections);
        duty
    }

    /// Receives the datagrams of a capacity search.
    pub(super) fn searching(end: CapacityEnd) -> Self {
        let mut duty = Self::in_stage(Stage::Searching(Box::new(end)));
        duty.connections = 1;
        duty
    }

    fn in_stage(stage: Stage) -> Self {
        Self {
            stage,
            cancel: Arc::default(),
            setting: None,
            watch: None,
            answerers: Vec::new(),
            held: None,
            connections: 0,
            blocks: 0,
            told: Bytes::ZERO,
            past: Bytes::ZERO,
        }
    }

    /// How many connections it may have.
    pub(super) const fn connections(&self) -> usize {
        self.connections
    }

    /// How many blocks it keeps.
    pub(super) const fn blocks(&self) -> usize {
        self.blocks
    }

    /// Whether all connections are there.
    pub(super) fn met(&mut self) -> Result<Told, String> {
        match std::mem::replace(&mut self.stage, Stage::Nothing) {
            Stage::Meeting(thread) if thread.is_finished() => {
                let side = joined(thread)?;
                if let Some(held) = &mut self.held {
                    *held = side.hold().map_err(|cause| cause.sentence())?;
                }
                self.watch = Some(side.watch());
                self.stage = Stage::Met(side);
                Ok(Told::Ready {})
            }
            Stage::Meeting(thread) => {
                self.stage = Stage::Meeting(thread);
                Ok(Told::Waiting {})
            }
            other => {
                self.stage = other;
                Ok(Told::Ready {})
            }
        }
    }

    /// Begins: the first block is due at `at` on this host's clock.
    pub(super) fn start(&mut self, at: Nanos) -> Result<Told, String> {
        let now = now();
        if at.since(now) > SOON || now.since(at) > SOON {
            return Err(format!("a start {} s from now", at.since(now).seconds()));
        }
        let Some(setting) = self.setting.clone() else { return Err("nothing to start".to_owned()) };
        match std::mem::replace(&mut self.stage, Stage::Nothing) {
            Stage::Met(side) => {
                let cancel = Arc::clone(&self.cancel);
                let work = move || carry(side, &setting, cancel, at);
                self.stage = Stage::Running(spawn("traffic-job", work)?);
                Ok(Told::Ready {})
            }
            other => {
                self.stage = other;
                Err("not all connections are there".to_owned())
            }
        }
    }

    /// All that comes from the conductor was sent.
    pub(super) fn sent_elsewhere(&mut self, datagrams: &[Option<u64>]) {
        self.watch.iter().for_each(|watch| watch.sent_elsewhere(datagrams));
        if let Stage::Searching(end) = &mut self.stage {
            end.sender_has_ended();
        }
    }

    /// How it goes.
    pub(super) fn ask(&mut self) -> Result<Told, String> {
        match std::mem::replace(&mut self.stage, Stage::Nothing) {
            Stage::Running(thread) if thread.is_finished() => {
                self.over(&joined(thread)?.report())?;
            }
            Stage::Searching(end) if end.is_over() => {
                self.past = self.past.saturating_add(end.moved());
                let sample = end.finish().map_err(|cause| cause.sentence())?;
                self.over(&sample)?;
            }
            other => self.stage = other,
        }
        match &self.stage {
            Stage::Over(report) => {
                Ok(Told::Over { length: report.len(), sent: self.sent().unwrap_or_default() })
            }
            Stage::Running(_) | Stage::Searching(_) => {
                Ok(Told::Running { sent: self.sent(), moved_bytes: self.moved() })
            }
            Stage::Meeting(_) | Stage::Met(_) | Stage::Nothing => Ok(Told::Waiting {}),
        }
    }

    fn sent(&self) -> Option<Vec<Option<u64>>> {
        self.watch.as_ref().and_then(Watch::sent_here)
    }

    fn over(&mut self, report: &impl serde::Serialize) -> Result<(), String> {
        self.stage = Stage::Over(serde_json::to_string(report).map_err(|c| c.to_string())?);
        Ok(())
    }

    /// A part of the report.
    pub(super) fn read(&self, from: usize) -> Result<Told, String> {
        let Stage::Over(report) = &self.stage else { return Err("it is not over".to_owned()) };
        let mut end = from.saturating_add(PART).min(report.len());
        while !report.is_char_boundary(end) {
            end -= 1;
        }
        let text = report.get(from..end).ok_or("no such part of a report")?;
        Ok(Told::Part { text: text.to_owned() })
    }

    /// Payload since this was asked last.
    pub(super) fn take_moved(&mut self) -> Bytes {
        let all = self.moved();
        all.saturating_sub(std::mem::replace(&mut self.told, all))
    }

    /// Payload so far.
    fn moved(&self) -> Bytes {
        let flows = self.watch.as_ref().map_or(Bytes::ZERO, Watch::moved);
        let searched = match &self.stage {
            Stage::Searching(end) => end.moved(),
            _ => Bytes::ZERO,
        };
        let answered = self.answerers.iter().map(Answerer::moved);
        [flows, searched, self.past]
            .into_iter()
            .chain(answered)
            .fold(Bytes::ZERO, Bytes::saturating_add)
    }

    /// Ends all of its connections.
    pub(super) fn end(&mut self) {
        self.cancel.store(true, Relaxed);
        self.watch.iter().for_each(Watch::give_up);
        for answerer in self.answerers.drain(..) {
            self.past = self.past.saturating_add(answerer.finish());
        }
        match std::mem::replace(&mut self.stage, Stage::Nothing) {
            // Nobody is left to hear how they ended.
            Stage::Meeting(thread) => drop(thread.join()),
            Stage::Running(thread) => drop(thread.join()),
            Stage::Searching(mut end) => {
                end.cancel();
                self.past = self.past.saturating_add(end.moved());
            }
            _ => {}
        }
        // After the threads: these are the last to close, and closing them discards what is unsent.
        self.held = None;
    }
}

impl Drop for Duty {
    fn drop(&mut self) {
        self.end();
    }
}

fn carry(
    side: Side,
    setting: &Setting,
    cancel: Arc<AtomicBool>,
    begin: Nanos,
) -> Result<SideEnd, EngineError> {
    btu_sys::limit::raise_descriptors()?;
    // Hosts by their parts; all that is done here is done by this one.
    let parties = Role::ALL.map(|role| Party {
        place: Place::here(role),
        address: [0, 0, 0, 0].into(),
        sockets: Settings::default(),
    });
    let Setting { flows, linger, stall } = setting;
    let job = Job { parties: &parties, flows, linger: *linger, stall: *stall, cancel };
    side.carry(&job, begin)
}

fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, String> {
    let started = thread::Builder::new().name(name.to_owned()).spawn(work);
    started.map_err(|cause| format!("start thread {name}: {cause}"))
}

fn joined<T>(thread: JoinHandle<Result<T, EngineError>>) -> Result<T, String> {
    let ended = thread.join().map_err(|_| "a traffic thread panicked".to_owned())?;
    ended.map_err(|cause| cause.sentence())
}

/// How far away a start may be.
const SOON: Nanos = Nanos::from_secs(60);
/// Of a report in one answer: half of what a frame holds, because quotes take two bytes there.
const PART: usize = 30_000;
