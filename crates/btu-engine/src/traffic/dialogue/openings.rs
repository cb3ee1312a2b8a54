//! Connections on their way: some at a time, while the conversation goes on over those that are there.

use std::collections::BTreeMap;
use std::collections::VecDeque;
use std::io;
use std::net::TcpStream;

use btu_core::units::Nanos;
use btu_sys::socket::Settings;
use btu_sys::wait::Ready;

use crate::error::EngineError;
use crate::traffic::connect::AT_ONCE;
use crate::traffic::opening::Opening;
use crate::traffic::opening::Respondent;
use crate::traffic::opening::Step;

/// The connections that a conversation awaits, each by the number of its line.
pub(super) struct Openings {
    far: Respondent,
    settings: Settings,
    /// How long each may take.
    patience: Nanos,
    /// Not begun yet, because enough others are under way.
    waiting: VecDeque<u64>,
    begun: BTreeMap<u64, Opening>,
}

impl Openings {
    pub(super) fn new(far: Respondent, settings: Settings, patience: Nanos) -> Self {
        let patience = patience.max(SHORTEST);
        Self { far, settings, patience, waiting: VecDeque::new(), begun: BTreeMap::new() }
    }

    /// One connection more is wanted.
    pub(super) fn want(&mut self, line: u64) {
        self.waiting.push_back(line);
    }

    /// Begins the next one, if it may begin by now. Gives its line.
    pub(super) fn begin(&mut self, now: Nanos, ready: &Ready) -> Result<Option<u64>, EngineError> {
        if self.begun.len() >= AT_ONCE {
            return Ok(None);
        }
        let Some(line) = self.waiting.pop_front() else { return Ok(None) };
        let end = now.saturating_add(self.patience);
        let opening = Opening::begin(&self.far, &self.settings, end)?;
        watch(&opening, line, ready)?;
        self.begun.insert(line, opening);
        Ok(Some(line))
    }

    /// Goes on with the connection of a line as far as that needs no waiting. Gives it once it is there; then its
    /// socket tells of what comes.
    pub(super) fn go_on(
        &mut self,
        line: u64,
        ready: &Ready,
    ) -> Result<Option<TcpStream>, EngineError> {
        let Some(opening) = self.begun.get_mut(&line) else { return Ok(None) };
        let step = opening.go_on(&self.settings)?;
        if matches!(step, Step::Anew) {
            watch(opening, line, ready)?;
        } else if !opening.awaits_room() {
            ready.only_read(opening.stream(), line)?;
        }
        let is_there = matches!(step, Step::There);
        Ok(is_there.then(|| self.begun.remove(&line)).flatten().map(Opening::into_stream))
    }

    /// Why nobody waits any longer for one of them, if that is so.
    pub(super) fn overdue(&self, now: Nanos, give_up: Nanos) -> Option<EngineError> {
        let late = self.begun.values().find(|opening| opening.end().min(give_up) <= now)?;
        Some(late.failed(io::ErrorKind::TimedOut.into()))
    }
}

/// Lets the socket of a connection that was just begun tell of what comes, and of room.
fn watch(opening: &Opening, line: u64, ready: &Ready) -> Result<(), EngineError> {
    ready.add_reader(opening.stream(), line)?;
    Ok(ready.await_room_too(opening.stream(), line)?)
}

/// No connection has less time than that.
const SHORTEST: Nanos = Nanos::from_secs(1);
