//! The asking end: does what its train wants, sends where there is room, and hears what comes meanwhile.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::sample::Outcome;
use btu_core::traffic::Action;
use btu_core::units::Nanos;
use btu_sys::cpu::ThreadUse;
use btu_sys::socket::Effective;
use btu_sys::wait::Ready;

use super::Dialogue;
use super::agenda::Agenda;
use super::agenda::Turn;
use super::line::Line;
use super::openings::Openings;
use super::talk::Talk;
use crate::error::EngineError;
use crate::time::now;
use crate::traffic::answerer::CHUNK;
use crate::traffic::answerer::may_go_on;
use crate::traffic::answerer::to_count;
use crate::traffic::job::FlowEnd;
use crate::traffic::opening::Respondent;
use crate::traffic::pacer::rest_until;
use crate::traffic::quic::QuicTalk;
use crate::traffic::request::Lengths;

/// The asking end.
pub(super) struct Asker {
    pub(super) dialogue: Dialogue,
    pub(super) agenda: Agenda,
    openings: Openings,
    /// Where flows are streams of one connection: that.
    quic: Option<QuicTalk>,
    pub(super) begin: Nanos,
    give_up: Nanos,
    /// Every line, by when it was opened.
    talks: BTreeMap<u64, Talk>,
    /// The line of each flow that has one.
    flows: BTreeMap<u32, u64>,
    opened: u64,
    /// What requests are filled with.
    filling: Vec<u8>,
    pub(super) sender: Effective,
}

impl Asker {
    pub(super) fn new(dialogue: Dialogue, far: Respondent) -> Self {
        let begin = now().saturating_add(dialogue.start);
        let end = begin.saturating_add(dialogue.duration);
        let openings = Openings::new(far, dialogue.settings.clone(), dialogue.patience);
        Self {
            give_up: end.saturating_add(dialogue.patience),
            dialogue,
            agenda: Agenda::default(),
            openings,
            quic: None,
            begin,
            talks: BTreeMap::new(),
            flows: BTreeMap::new(),
            opened: 0,
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
        keep_time();
        rest_until(self.begin, &self.dialogue.cancel);
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
        // One that is given up before its time asks for nothing.
        self.is_wanted()?;
        let first = self.agenda.begin(&mut *self.dialogue.train);
        self.carry_out(&first, ready)?;
        loop {
            let time = now();
            // First: what fell due before the end is asked for, even if that is noticed after it.
            let is_served = self.serve_timer(time, ready)?;
            let is_open = self.talks.values().any(Talk::awaits_answers);
            if !is_served && !is_open && (time >= end || self.agenda.is_done()) {
                return Ok(());
            }
            self.may_go_on(time)?;
            let wait = if is_served {
                // However late the next one is, what came meanwhile is heard first.
                Nanos::ZERO
            } else {
                self.pause(time, end)
            };
            ready.wait(Some(wait.count())).map_err(|cause| Stop::failed("wait", cause))?;
            for line in self.stirred(ready)? {
                self.let_in(line, ready)?;
                self.send(line, ready)?;
                self.listen(line, &mut space, (end, ready))?;
            }
            self.open_more(ready)?;
        }
    }

    /// Asks for what a timer has made due. False where none has.
    fn serve_timer(&mut self, time: Nanos, ready: &Ready) -> Result<bool, Stop> {
        let Dialogue { train, duration, .. } = &mut self.dialogue;
        let turn = self.agenda.fell_due(&mut **train, time.since(self.begin), *duration);
        let Some(turn) = turn else { return Ok(false) };
        self.carry_out(&turn, ready)?;
        Ok(true)
    }

    /// How long there is nothing to do by itself.
    fn pause(&mut self, time: Nanos, end: Nanos) -> Nanos {
        let timer = self.agenda.next_due().map(|due| self.begin.saturating_add(due));
        let next = if time < end { timer.unwrap_or(end).min(end) } else { self.give_up };
        let due = self.quic.as_mut().and_then(QuicTalk::due);
        due.map_or(next, |due| due.min(next)).since(time).min(LOOK)
    }

    fn is_wanted(&self) -> Result<(), Stop> {
        let is_cancelled = self.dialogue.cancel.load(Relaxed);
        if is_cancelled { Err(Stop::Capped("interrupted".to_owned())) } else { Ok(()) }
    }

    /// Why it does not go on.
    fn may_go_on(&self, time: Nanos) -> Result<(), Stop> {
        self.is_wanted()?;
        let (elapsed, is_over) = (time.since(self.begin), time >= self.give_up);
        if is_over && !self.agenda.is_unanswered(elapsed, self.dialogue.patience) {
            // Neither the far end nor the path has used up its time: the asker gave what is open less of it.
            return match self.agenda.lag(elapsed, self.dialogue.duration) {
                Some(late) => Err(Stop::behind(late)),
                None => Ok(()),
            };
        }
        if let Some(cause) = self.openings.overdue(time, self.give_up) {
            return Err(Stop::Failed(cause));
        }
        if !is_over {
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
        while let Some((whole, at)) = self.hear(line, space)? {
            let Some(talk) = self.talks.get(&line) else { return Ok(()) };
            let flow = talk.flow;
            if talk.is_left && !talk.awaits_answers() {
                self.talks.remove(&line);
            }
            for _ in 0..whole {
                if self.begin.saturating_add(at) < end {
                    let turn = self.agenda.answered(&mut *self.dialogue.train, flow, at);
                    self.carry_out(&turn, ready)?;
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
    fn carry_out(&mut self, turn: &Turn, ready: &Ready) -> Result<(), Stop> {
        for action in &turn.actions {
            match *action {
                Action::Ask { flow, request, answer } => {
                    self.ask(turn, (flow, Lengths::of(request.count(), answer.count())), ready)?;
                }
                Action::Close { flow } => self.close(flow),
                Action::Done | Action::Wait { .. } => {}
            }
        }
        Ok(())
    }

    /// Sends what there is room for; the rest while answers are heard.
    fn ask(
        &mut self,
        turn: &Turn,
        (flow, lengths): (u32, Lengths),
        ready: &Ready,
    ) -> Result<(), Stop> {
        let place = self.agenda.ask(turn, lengths.sum(), now().since(self.begin));
        let line = match self.flows.get(&flow) {
            Some(line) => *line,
            None => self.open(flow)?,
        };
        if let Some(talk) = self.talks.get_mut(&line) {
            talk.ask(lengths, place);
        }
        self.open_more(ready)?;
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
    fn open(&mut self, flow: u32) -> Result<u64, Stop> {
        let number = self.opened;
        self.opened += 1;
        let line = if let Some(quic) = &mut self.quic {
            Line::Quic(quic.open().map_err(|cause| Stop::failed("open a stream", cause))?)
        } else {
            self.openings.want(number);
            Line::Awaited
        };
        self.talks.insert(number, Talk::new(line, flow));
        self.flows.insert(flow, number);
        Ok(number)
    }

    /// Begins connections that are awaited, as many as may be under way at once.
    fn open_more(&mut self, ready: &Ready) -> Result<(), Stop> {
        while let Some(line) = self.openings.begin(now(), ready).map_err(Stop::Failed)? {
            // On one machine it may be there already.
            self.let_in(line, ready)?;
            self.send(line, ready)?;
        }
        Ok(())
    }

    /// Goes on with the connection of a line, if that is not there yet.
    fn let_in(&mut self, line: u64, ready: &Ready) -> Result<(), Stop> {
        let stream = self.openings.go_on(line, ready).map_err(Stop::Failed)?;
        let Some(stream) = stream else { return Ok(()) };
        self.sender = Effective::of(&stream);
        if let Some(talk) = self.talks.get_mut(&line) {
            talk.line = Line::Tcp(stream);
        }
        Ok(())
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

    /// Reads once what came on a line. Gives how many answers are whole now, and when that was; nothing where none
    /// came.
    fn hear(&mut self, line: u64, space: &mut [u8]) -> Result<Option<(usize, Nanos)>, Stop> {
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
            self.agenda.hear(*place, time);
        }
        Ok(Some((answered.len(), time)))
    }
}

/// The timers of a conversation are as exact as those of other senders that sleep. Without the right to that the
/// default slack of 50 us stays, which figures of its pacing then show.
fn keep_time() {
    let _ = btu_sys::cpu::set_timer_slack(1);
    btu_sys::cpu::prefer_latency();
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

    fn behind(late: Nanos) -> Self {
        Self::Capped(format!("the asker was {:.1} s behind its schedule", late.seconds()))
    }
}

/// How long nobody looks at interrupts.
const LOOK: Nanos = Nanos::from_millis(50);
