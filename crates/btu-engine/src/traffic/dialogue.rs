//! A flow that waits for answers: one end asks as its train says, the other answers what it was asked for.
//!
//! A request begins with two numbers, its own length and that of the answer, so that the answering end
//! needs no train of its own. A request shorter than that is sent as that; an answer of no bytes is one
//! byte, which says that the request was read.

use std::collections::BTreeMap;
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use btu_core::sample::Outcome;
use btu_core::traffic::Action;
use btu_core::traffic::Closed;
use btu_core::traffic::Event;
use btu_core::traffic::burst::BlockRecord;
use btu_core::traffic::burst::Fate;
use btu_core::traffic::trace::Read;
use btu_core::traffic::trace::ReadTime;
use btu_core::traffic::trace::Trace;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::cpu::ThreadUse;
use btu_sys::socket;
use btu_sys::socket::Effective;
use btu_sys::socket::Settings;
use btu_sys::wait::Ready;

use super::answerer::CHUNK;
use super::answerer::Guests;
use super::answerer::HEAD;
use super::answerer::Respondent;
use super::answerer::answer_all;
use super::answerer::may_go_on;
use super::answerer::to_count;
use super::answerer::to_length;
use super::job::FlowEnd;
use super::meeting::Door;
use super::pacer::now;
use super::way::within;
use crate::error::EngineError;
use crate::place::Place;

/// A conversation over TCP.
#[derive(Debug)]
pub struct Dialogue {
    /// Where the asking end works.
    pub near: Place,
    /// Where the answering end works.
    pub far: Place,
    /// Where it listens; port 0 for any.
    pub address: SocketAddr,
    /// Options of both ends.
    pub settings: Settings,
    /// What is asked and when.
    pub train: Box<dyn Closed>,
    /// From the start of the job to that of the conversation.
    pub start: Nanos,
    /// How long it lasts; what was asked by then may still be answered for as long as `patience`.
    pub duration: Nanos,
    /// How long an answer may take.
    pub patience: Nanos,
    /// Ends it early.
    pub cancel: Arc<AtomicBool>,
    /// Counts payload that the asking end sends and reads, while it does.
    pub moved: Arc<AtomicU64>,
}

/// Carries a conversation whose answering end is behind a door of another host.
///
/// # Errors
/// A thread did not start.
pub fn converse_with(dialogue: Dialogue, door: Door) -> Result<FlowEnd, EngineError> {
    let place = dialogue.near.clone();
    let far = Respondent { at: door.at, token: Some(door.seat) };
    // The place of the thread is that of the conversation alone.
    let end = thread::scope(|scope| {
        let asking = scope.spawn(|| place.enter().and_then(|()| Asker::new(dialogue, far).run()));
        let panicked = || EngineError::Refused("a traffic thread panicked".to_owned());
        asking.join().unwrap_or_else(|_| Err(panicked()))
    });
    // What the answers took nobody says here.
    end.map(|end| FlowEnd { cpu: None, ..end })
}

/// Carries a conversation to its end.
///
/// # Errors
/// The answering end could not listen, or a thread did not start.
pub fn converse(dialogue: Dialogue) -> Result<FlowEnd, EngineError> {
    let (far, address) = (dialogue.far.clone(), dialogue.address);
    let settings = dialogue.settings.clone();
    let listener = within(&far, || Ok(socket::listen(address, &settings)?))?;
    let listening = listener.local_addr().map_err(EngineError::peer("listen"))?;
    let (over, guests) = (AtomicBool::new(false), Guests::anybody());
    let mut end = thread::scope(|scope| {
        let answering =
            scope.spawn(|| far.enter().and_then(|()| answer_all(&listener, &over, &guests)));
        let asking = scope.spawn(|| {
            let place = dialogue.near.clone();
            let far = Respondent { at: listening, token: None };
            place.enter().and_then(|()| Asker::new(dialogue, far).run())
        });
        let panicked = || EngineError::Refused("a traffic thread panicked".to_owned());
        let end = asking.join().unwrap_or_else(|_| Err(panicked()));
        over.store(true, Relaxed);
        answering.join().unwrap_or_else(|_| Err(panicked()))?;
        end
    })?;
    if let Some([_, answering]) = &mut end.cpu {
        *answering = guests.cpu();
    }
    Ok(end)
}

/// The asking end.
struct Asker {
    dialogue: Dialogue,
    far: Respondent,
    begin: Nanos,
    give_up: Nanos,
    flows: BTreeMap<u32, Talk>,
    exchanges: Vec<Exchange>,
    timer: Option<Nanos>,
    done: bool,
    sender: Effective,
}

/// One connection of it.
struct Talk {
    stream: TcpStream,
    /// Places of unanswered requests among the exchanges, with the bytes that are still to come.
    waiting: VecDeque<(usize, u64)>,
}

/// A request and its answer.
struct Exchange {
    asked: Nanos,
    size: u64,
    answered: Option<Nanos>,
}

impl Asker {
    fn new(dialogue: Dialogue, far: Respondent) -> Self {
        let begin = now().saturating_add(dialogue.start);
        let end = begin.saturating_add(dialogue.duration);
        Self {
            give_up: end.saturating_add(dialogue.patience),
            dialogue,
            far,
            begin,
            flows: BTreeMap::new(),
            exchanges: Vec::new(),
            timer: None,
            done: false,
            sender: Effective::default(),
        }
    }

    fn run(mut self) -> Result<FlowEnd, EngineError> {
        let mut ready = Ready::new(64)?;
        btu_sys::clock::sleep_until(self.begin.count());
        let before = ThreadUse::now();
        let outcome = match self.talk(&mut ready) {
            Ok(()) => Outcome::Complete,
            Err(Stop::Capped(reason)) => Outcome::Capped { reason },
            Err(Stop::Failed(error)) => Outcome::Failed { reason: error.sentence() },
        };
        let cpu = Nanos::new(ThreadUse::now().since(&before).cpu_ns);
        Ok(self.end(outcome, cpu))
    }

    fn talk(&mut self, ready: &mut Ready) -> Result<(), Stop> {
        let end = self.begin.saturating_add(self.dialogue.duration);
        let give_up = self.give_up;
        let mut space = vec![0; CHUNK];
        self.tell(Event::Start, ready)?;
        loop {
            let time = now();
            let is_open = self.flows.values().any(|talk| !talk.waiting.is_empty());
            if !is_open && (time >= end || self.done) {
                return Ok(());
            }
            if self.dialogue.cancel.load(Relaxed) {
                return Err(Stop::Capped("interrupted".to_owned()));
            }
            if time >= give_up {
                let seconds = self.dialogue.patience.seconds();
                return Err(Stop::Capped(format!("an answer took longer than {seconds} s")));
            }
            if self.timer.is_some_and(|timer| timer <= time) && time < end {
                self.timer = None;
                self.tell(Event::Timer, ready)?;
                continue;
            }
            let next = if time < end { self.timer.unwrap_or(end).min(end) } else { give_up };
            let wait = next.since(time).min(LOOK);
            ready.wait(Some(wait.count())).map_err(|cause| Stop::failed("wait", cause))?;
            for place in 0..ready.len() {
                let flow = u32::try_from(ready.number(place)).unwrap_or(u32::MAX);
                for _ in 0..self.hear(flow, &mut space)? {
                    if now() < end {
                        self.tell(Event::Answered { flow }, ready)?;
                    }
                }
            }
        }
    }

    /// Does what the train wants after an event.
    fn tell(&mut self, event: Event, ready: &Ready) -> Result<(), Stop> {
        let mut actions = Vec::new();
        self.dialogue.train.on(now().since(self.begin), event, &mut actions);
        for action in actions {
            match action {
                Action::Ask { flow, request, answer } => self.ask(flow, request, answer, ready)?,
                Action::Close { flow } => drop(self.flows.remove(&flow)),
                Action::Done => self.done = true,
                Action::Wait { until } => self.timer = Some(self.begin.saturating_add(until)),
            }
        }
        Ok(())
    }

    fn ask(&mut self, flow: u32, request: Bytes, answer: Bytes, ready: &Ready) -> Result<(), Stop> {
        if !self.flows.contains_key(&flow) {
            let stream = self.open().map_err(Stop::Failed)?;
            ready.add_reader(&stream, u64::from(flow)).map_err(|e| Stop::Failed(e.into()))?;
            self.flows.insert(flow, Talk { stream, waiting: VecDeque::new() });
        }
        let length = request.count().max(to_count(HEAD));
        let size = length + answer.count().max(1);
        let place = self.exchanges.len();
        let asked = now().since(self.begin);
        self.exchanges.push(Exchange { asked, size, answered: None });
        let Some(talk) = self.flows.get_mut(&flow) else { return Ok(()) };
        talk.waiting.push_back((place, answer.count().max(1)));
        let mut data = vec![0; CHUNK.min(to_length(length))];
        data[..8].copy_from_slice(&length.to_le_bytes());
        data[8..HEAD].copy_from_slice(&answer.count().to_le_bytes());
        let mut left = length;
        while left > 0 {
            // What follows the head is only filling.
            let from = to_length(length - left);
            let part = data.get(from..).filter(|rest| !rest.is_empty()).unwrap_or(&data);
            match socket::send(talk.stream.as_fd(), &part[..to_length(left).min(part.len())]) {
                Ok(sent) => {
                    self.dialogue.moved.fetch_add(to_count(sent), Relaxed);
                    left -= to_count(sent).min(left);
                }
                Err(cause) if may_go_on(&cause) => {
                    if self.dialogue.cancel.load(Relaxed) || now() > self.give_up {
                        return Err(Stop::Capped("a request was not taken in time".to_owned()));
                    }
                }
                Err(cause) => return Err(Stop::failed("send a request", cause)),
            }
        }
        Ok(())
    }

    fn open(&mut self) -> Result<TcpStream, EngineError> {
        let patience = Duration::from(self.dialogue.patience.max(Nanos::from_secs(1)));
        let stream = self.far.connect(&self.dialogue.settings, patience)?;
        self.far.greet(&stream, patience)?;
        socket::bound_waits(&stream, Duration::from_millis(100))?;
        self.sender = Effective::of(&stream);
        Ok(stream)
    }

    /// Reads once what came for a flow. Gives how many answers are whole now.
    fn hear(&mut self, flow: u32, space: &mut [u8]) -> Result<usize, Stop> {
        let Some(talk) = self.flows.get_mut(&flow) else { return Ok(0) };
        let mut came = match socket::recv(talk.stream.as_fd(), space) {
            Ok(0) => return Err(Stop::Capped("the answering end closed a connection".to_owned())),
            Ok(count) => to_count(count),
            Err(cause) if may_go_on(&cause) => return Ok(0),
            Err(cause) => return Err(Stop::failed("read an answer", cause)),
        };
        self.dialogue.moved.fetch_add(came, Relaxed);
        let time = now().since(self.begin);
        let mut whole = 0;
        while let Some((place, left)) = talk.waiting.front_mut() {
            let part = came.min(*left);
            *left -= part;
            came -= part;
            if *left > 0 {
                break;
            }
            self.exchanges[*place].answered = Some(time);
            talk.waiting.pop_front();
            whole += 1;
        }
        Ok(whole)
    }

    /// Each exchange is a block: due when it was asked, read when it was answered.
    fn end(self, outcome: Outcome, cpu: Nanos) -> FlowEnd {
        // What was cut short is averaged over the time that it had.
        let had = now().since(self.begin).min(self.dialogue.duration);
        let duration = if outcome.is_complete() { self.dialogue.duration } else { had };
        let block = |exchange: &Exchange| BlockRecord {
            due: exchange.asked,
            size: Bytes::new(exchange.size),
            start: Some(exchange.asked),
            end: exchange.answered,
            taken: Bytes::new(exchange.size),
            held_until: None,
            fate: if exchange.answered.is_some() { Fate::Sent } else { Fate::Unfinished },
        };
        let mut answered: Vec<(Nanos, u64)> =
            self.exchanges.iter().filter_map(|one| Some((one.answered?, one.size))).collect();
        answered.sort_unstable();
        let mut total = Bytes::ZERO;
        let reads = answered.into_iter().map(|(at, size)| {
            total += Bytes::new(size);
            Read { at, total }
        });
        let read_time = |one: &Exchange| {
            one.answered.map(|last| ReadTime { last, mean_ns: last.micros() * 1e3 })
        };
        let trace = Trace {
            duration,
            blocks: self.exchanges.iter().map(block).collect(),
            reads: reads.collect(),
            read_times: self.exchanges.iter().map(read_time).collect(),
            ..Trace::default()
        };
        FlowEnd {
            trace,
            glances: Vec::new(),
            outcome,
            tcp: None,
            receiver: self.sender.clone(),
            sender: self.sender,
            pace: "answers",
            refused: 0,
            cpu: Some([cpu, Nanos::ZERO]),
            noticed: self.dialogue.train.noticed(),
        }
    }
}

/// Why a conversation ended before its time.
enum Stop {
    Capped(String),
    Failed(EngineError),
}

impl Stop {
    fn failed(operation: &str, cause: io::Error) -> Self {
        Self::Failed(EngineError::peer(operation)(cause))
    }
}

/// How long nobody looks at interrupts.
const LOOK: Nanos = Nanos::from_millis(50);
