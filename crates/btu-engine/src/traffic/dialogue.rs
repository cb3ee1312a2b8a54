//! A flow that waits for answers: one end asks as its train says, the other answers what it was asked for.
//!
//! A request begins with two numbers, its own length and that of the answer, so that the answering end
//! needs no train of its own. A request shorter than that is sent as that; an answer of no bytes is one
//! byte, which says that the request was read.

mod ending;
mod line;
mod over_quic;

use std::collections::BTreeMap;
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::net::TcpStream;
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
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::cpu::ThreadUse;
use btu_sys::socket;
use btu_sys::socket::Effective;
use btu_sys::socket::Settings;
use btu_sys::wait::Ready;

use self::line::Line;
use super::answerer::CHUNK;
use super::answerer::Guests;
use super::answerer::HEAD;
use super::answerer::Respondent;
use super::answerer::answer_all;
use super::answerer::may_go_on;
use super::answerer::to_count;
use super::answerer::to_length;
use super::job::FlowEnd;
use super::job::QuicSettings;
use super::meeting::Door;
use super::pacer::now;
use super::quic::QuicTalk;
use super::way::within;
use crate::error::EngineError;
use crate::place::Place;

/// A conversation over TCP, or over the streams of one QUIC connection.
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
    /// Those of QUIC, where it goes over that; then its flows are streams of one connection (RFC 9000, 2.1).
    pub quic: Option<QuicSettings>,
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

/// Carries a conversation whose answering end is behind a door of another host, from `begin` on.
///
/// # Errors
/// A thread did not start.
pub fn converse_with(
    dialogue: Dialogue,
    door: &Door,
    begin: Nanos,
) -> Result<FlowEnd, EngineError> {
    let (place, quic) = (dialogue.near.clone(), dialogue.quic.clone());
    let talk = || {
        if let Some(settings) = &quic {
            return over_quic::converse_with(dialogue, door, settings, begin);
        }
        btu_sys::clock::sleep_until(begin.count());
        Asker::new(dialogue, Respondent { at: door.at, token: Some(door.seat) }).run()
    };
    // The place of the thread is that of the conversation alone.
    let end = thread::scope(|scope| {
        let asking = scope.spawn(|| place.enter().and_then(|()| talk()));
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
    if let Some(settings) = dialogue.quic.clone() {
        return over_quic::converse(dialogue, &settings);
    }
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
    /// Where flows are streams of one connection: that.
    quic: Option<QuicTalk>,
    begin: Nanos,
    give_up: Nanos,
    flows: BTreeMap<u32, Talk>,
    exchanges: Vec<Exchange>,
    timer: Option<Nanos>,
    done: bool,
    sender: Effective,
}

/// A line of it.
struct Talk {
    line: Line,
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
            quic: None,
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
        self.quic.iter_mut().for_each(QuicTalk::close);
        let cpu = Nanos::new(ThreadUse::now().since(&before).cpu_ns);
        Ok(self.end(outcome, cpu))
    }

    fn talk(&mut self, ready: &mut Ready) -> Result<(), Stop> {
        let end = self.begin.saturating_add(self.dialogue.duration);
        let give_up = self.give_up;
        let mut space = vec![0; CHUNK];
        if let Some(quic) = &self.quic {
            ready.add_reader(quic.socket(), 0).map_err(|e| Stop::Failed(e.into()))?;
        }
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
            let due = self.quic.as_mut().and_then(QuicTalk::due);
            let next = due.map_or(next, |due| due.min(next));
            let wait = next.since(time).min(LOOK);
            ready.wait(Some(wait.count())).map_err(|cause| Stop::failed("wait", cause))?;
            for flow in self.heard(ready)? {
                while let Some(whole) = self.hear(flow, &mut space)? {
                    for _ in 0..whole {
                        if now() < end {
                            self.tell(Event::Answered { flow }, ready)?;
                        }
                    }
                    // A socket of the kernel's would wait for more, and tells of it anyhow.
                    if self.quic.is_none() {
                        break;
                    }
                }
            }
        }
    }

    /// Flows for which something may have come.
    fn heard(&mut self, ready: &Ready) -> Result<Vec<u32>, Stop> {
        if let Some(quic) = &mut self.quic {
            quic.turn().map_err(|cause| Stop::failed("read an answer", cause))?;
            let waits = self.flows.iter().filter(|(_, talk)| !talk.waiting.is_empty());
            return Ok(waits.map(|(flow, _)| *flow).collect());
        }
        let number = |place| u32::try_from(ready.number(place)).unwrap_or(u32::MAX);
        Ok((0..ready.len()).map(number).collect())
    }

    /// Does what the train wants after an event.
    fn tell(&mut self, event: Event, ready: &Ready) -> Result<(), Stop> {
        let mut actions = Vec::new();
        self.dialogue.train.on(now().since(self.begin), event, &mut actions);
        for action in actions {
            match action {
                Action::Ask { flow, request, answer } => self.ask(flow, request, answer, ready)?,
                Action::Close { flow } => self.close(flow),
                Action::Done => self.done = true,
                Action::Wait { until } => self.timer = Some(self.begin.saturating_add(until)),
            }
        }
        Ok(())
    }

    fn ask(&mut self, flow: u32, request: Bytes, answer: Bytes, ready: &Ready) -> Result<(), Stop> {
        if !self.flows.contains_key(&flow) {
            let line = self.line(flow, ready)?;
            self.flows.insert(flow, Talk { line, waiting: VecDeque::new() });
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
            let part = &part[..to_length(left).min(part.len())];
            match talk.line.send(&mut self.quic, part) {
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

    fn line(&mut self, flow: u32, ready: &Ready) -> Result<Line, Stop> {
        if let Some(quic) = &mut self.quic {
            let opened = quic.open().map_err(|cause| Stop::failed("open a stream", cause))?;
            return Ok(Line::Quic(opened));
        }
        let stream = self.open().map_err(Stop::Failed)?;
        ready.add_reader(&stream, u64::from(flow)).map_err(|e| Stop::Failed(e.into()))?;
        Ok(Line::Tcp(stream))
    }

    fn close(&mut self, flow: u32) {
        if let Some(Talk { line: Line::Quic(stream), .. }) = self.flows.remove(&flow) {
            self.quic.iter_mut().for_each(|quic| quic.finish(stream));
        }
    }

    fn open(&mut self) -> Result<TcpStream, EngineError> {
        let patience = Duration::from(self.dialogue.patience.max(Nanos::from_secs(1)));
        let stream = self.far.connect(&self.dialogue.settings, patience)?;
        self.far.greet(&stream, patience)?;
        socket::bound_waits(&stream, Duration::from_millis(100))?;
        self.sender = Effective::of(&stream);
        Ok(stream)
    }

    /// Reads once what came for a flow. Gives how many answers are whole now; nothing where none came.
    fn hear(&mut self, flow: u32, space: &mut [u8]) -> Result<Option<usize>, Stop> {
        let Some(talk) = self.flows.get_mut(&flow) else { return Ok(None) };
        let mut came = match talk.line.recv(&mut self.quic, space) {
            Ok(0) => return Err(Stop::Capped("the answering end closed a connection".to_owned())),
            Ok(count) => to_count(count),
            Err(cause) if may_go_on(&cause) => return Ok(None),
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
        Ok(Some(whole))
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
