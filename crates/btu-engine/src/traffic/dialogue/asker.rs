//! The asking end: does what its train wants, sends where there is room, and hears what comes meanwhile.

use std::collections::BTreeMap;
use std::io;
use std::net::TcpStream;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use btu_core::sample::Outcome;
use btu_core::traffic::Action;
use btu_core::traffic::Event;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::cpu::ThreadUse;
use btu_sys::socket::Effective;
use btu_sys::wait::Ready;

use super::Dialogue;
use super::line::Line;
use super::talk::Talk;
use crate::error::EngineError;
use crate::traffic::answerer::CHUNK;
use crate::traffic::answerer::Respondent;
use crate::traffic::answerer::may_go_on;
use crate::traffic::answerer::to_count;
use crate::traffic::job::FlowEnd;
use crate::traffic::pacer::now;
use crate::traffic::quic::QuicTalk;
use crate::traffic::request::Lengths;

/// The asking end.
pub(super) struct Asker {
    pub(super) dialogue: Dialogue,
    far: Respondent,
    /// Where flows are streams of one connection: that.
    quic: Option<QuicTalk>,
    pub(super) begin: Nanos,
    give_up: Nanos,
    /// Every line, by when it was opened.
    talks: BTreeMap<u64, Talk>,
    /// The line of each flow that has one.
    flows: BTreeMap<u32, u64>,
    opened: u64,
    pub(super) exchanges: Vec<Exchange>,
    timer: Option<Nanos>,
    done: bool,
    /// What requests are filled with.
    filling: Vec<u8>,
    pub(super) sender: Effective,
}

/// A request and its answer.
pub(super) struct Exchange {
    pub(super) asked: Nanos,
    pub(super) size: u64,
    pub(super) answered: Option<Nanos>,
}

impl Asker {
    pub(super) fn new(dialogue: Dialogue, far: Respondent) -> Self {
        let begin = now().saturating_add(dialogue.start);
        let end = begin.saturating_add(dialogue.duration);
        Self {
            give_up: end.saturating_add(dialogue.patience),
            dialogue,
            far,
            quic: None,
            begin,
            talks: BTreeMap::new(),
            flows: BTreeMap::new(),
            opened: 0,
            exchanges: Vec::new(),
            timer: None,
            done: false,
            filling: vec![0; CHUNK],
            sender: Effective::default(),
        }
    }

    /// The same, whose flows are streams of this connection.
    pub(super) fn over(self, quic: QuicTalk) -> Self {
        Self { quic: Some(quic), ..self }
    }

    pub(super) fn run(mut self) -> Result<FlowEnd, EngineError> {
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
        let mut space = vec![0; CHUNK];
        if let Some(quic) = &self.quic {
            ready.add_reader(quic.socket(), 0).map_err(|e| Stop::Failed(e.into()))?;
        }
        self.tell(Event::Start, ready)?;
        loop {
            let time = now();
            let is_open = self.talks.values().any(Talk::awaits_answers);
            if !is_open && (time >= end || self.done) {
                return Ok(());
            }
            self.may_go_on(time)?;
            if self.timer.is_some_and(|timer| timer <= time) && time < end {
                self.timer = None;
                self.tell(Event::Timer, ready)?;
                continue;
            }
            let next = if time < end { self.timer.unwrap_or(end).min(end) } else { self.give_up };
            let due = self.quic.as_mut().and_then(QuicTalk::due);
            let next = due.map_or(next, |due| due.min(next));
            let wait = next.since(time).min(LOOK);
            ready.wait(Some(wait.count())).map_err(|cause| Stop::failed("wait", cause))?;
            for line in self.stirred(ready)? {
                self.send(line, ready)?;
                self.listen(line, &mut space, (end, ready))?;
            }
        }
    }

    /// Why it does not go on.
    fn may_go_on(&self, time: Nanos) -> Result<(), Stop> {
        if self.dialogue.cancel.load(Relaxed) {
            return Err(Stop::Capped("interrupted".to_owned()));
        }
        if time < self.give_up {
            return Ok(());
        }
        if self.talks.values().any(Talk::awaits_room) {
            return Err(Stop::Capped("a request was not taken in time".to_owned()));
        }
        let seconds = self.dialogue.patience.seconds();
        Err(Stop::Capped(format!("an answer took longer than {seconds} s")))
    }

    /// Lines for which something may have come, or that may have room.
    fn stirred(&mut self, ready: &Ready) -> Result<Vec<u64>, Stop> {
        if let Some(quic) = &mut self.quic {
            quic.turn().map_err(|cause| Stop::failed("read an answer", cause))?;
            let waits = self.talks.iter().filter(|(_, talk)| talk.awaits_answers());
            return Ok(waits.map(|(line, _)| *line).collect());
        }
        Ok((0..ready.len()).map(|place| ready.number(place)).collect())
    }

    /// Hears what came on a line, and tells the train of each answer before the end.
    fn listen(
        &mut self,
        line: u64,
        space: &mut [u8],
        (end, ready): (Nanos, &Ready),
    ) -> Result<(), Stop> {
        while let Some(whole) = self.hear(line, space)? {
            let Some(talk) = self.talks.get(&line) else { return Ok(()) };
            let flow = talk.flow;
            if talk.is_left && !talk.awaits_answers() {
                self.talks.remove(&line);
            }
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
        Ok(())
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

    /// Sends what there is room for; the rest while answers are heard.
    fn ask(&mut self, flow: u32, request: Bytes, answer: Bytes, ready: &Ready) -> Result<(), Stop> {
        let line = match self.flows.get(&flow) {
            Some(line) => *line,
            None => self.open(flow, ready)?,
        };
        let lengths = Lengths::of(request.count(), answer.count());
        let place = self.exchanges.len();
        let asked = now().since(self.begin);
        self.exchanges.push(Exchange { asked, size: lengths.sum(), answered: None });
        if let Some(talk) = self.talks.get_mut(&line) {
            talk.ask(lengths, place);
        }
        self.send(line, ready)
    }

    fn send(&mut self, line: u64, ready: &Ready) -> Result<(), Stop> {
        let Some(talk) = self.talks.get_mut(&line) else { return Ok(()) };
        let sent = talk.send(&mut self.quic, &mut self.filling);
        let sent = sent.map_err(|cause| Stop::failed("send a request", cause))?;
        self.dialogue.moved.fetch_add(sent, Relaxed);
        let Line::Tcp(stream) = &talk.line else { return Ok(()) };
        let changed = match (talk.is_watched, talk.awaits_room()) {
            (false, true) => ready.await_room_too(stream, line),
            (true, false) => ready.only_read(stream, line),
            _ => return Ok(()),
        };
        talk.is_watched = talk.awaits_room();
        changed.map_err(|e| Stop::Failed(e.into()))
    }

    /// The new line of a flow.
    fn open(&mut self, flow: u32, ready: &Ready) -> Result<u64, Stop> {
        let number = self.opened;
        self.opened += 1;
        let line = if let Some(quic) = &mut self.quic {
            Line::Quic(quic.open().map_err(|cause| Stop::failed("open a stream", cause))?)
        } else {
            let stream = self.connect().map_err(Stop::Failed)?;
            ready.add_reader(&stream, number).map_err(|e| Stop::Failed(e.into()))?;
            Line::Tcp(stream)
        };
        self.talks.insert(number, Talk::new(line, flow));
        self.flows.insert(flow, number);
        Ok(number)
    }

    /// Whoever closes a line still gets the answers to what was asked on it.
    fn close(&mut self, flow: u32) {
        let Some(line) = self.flows.remove(&flow) else { return };
        let Some(talk) = self.talks.get_mut(&line) else { return };
        // The other end has a place for so many lines alone, and gives that of this one to the next.
        talk.leave(&mut self.quic);
        if !talk.awaits_answers() {
            self.talks.remove(&line);
        }
    }

    fn connect(&mut self) -> Result<TcpStream, EngineError> {
        let patience = Duration::from(self.dialogue.patience.max(Nanos::from_secs(1)));
        let stream = self.far.connect(&self.dialogue.settings, patience)?;
        self.far.greet(&stream, patience)?;
        stream.set_nonblocking(true).map_err(EngineError::peer("set O_NONBLOCK"))?;
        self.sender = Effective::of(&stream);
        Ok(stream)
    }

    /// Reads once what came on a line. Gives how many answers are whole now; nothing where none came.
    fn hear(&mut self, line: u64, space: &mut [u8]) -> Result<Option<usize>, Stop> {
        let Some(talk) = self.talks.get_mut(&line) else { return Ok(None) };
        let came = match talk.line.recv(&mut self.quic, space) {
            Ok(0) => return Err(Stop::Capped("the answering end closed a connection".to_owned())),
            Ok(count) => to_count(count),
            Err(cause) if may_go_on(&cause) => return Ok(None),
            Err(cause) => return Err(Stop::failed("read an answer", cause)),
        };
        self.dialogue.moved.fetch_add(came, Relaxed);
        let time = now().since(self.begin);
        let answered = talk.hear(came);
        for place in &answered {
            self.exchanges[*place].answered = Some(time);
        }
        Ok(Some(answered.len()))
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
