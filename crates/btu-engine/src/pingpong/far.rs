//! The ends that answer, for another host that asks for them word by word.
//!
//! Nothing that is said is believed: sizes, numbers and times are bounded here, and what a policy
//! bounds besides is bounded by whoever lets the words through.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use btu_core::pingpong::configuration::Configuration;
use btu_core::units::BitRate;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::cpu::CpuSet;

use super::host::Meeting;
use super::host::Told;
use super::host::Word;
use super::regulator;
use super::regulator::Regulator;
use super::session::FarEnd;
use super::session::Opening;
use super::transport;
use super::verify::Plant;
use crate::door::Seat;
use crate::error::EngineError;
use crate::place::Party;

/// What every end of a service has in common.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Where the ends run, and the address on which they listen.
    pub party: Party,
    /// Ports to listen on, the first and the last; `None` for any.
    pub ports: Option<(u16, u16)>,
    /// What data connections have to know; the `attempt` of each is its number.
    pub seat: Seat,
    /// The most connections at once.
    pub most: usize,
    /// What all of them together may send; `None` for what the path takes.
    pub rate: Option<BitRate>,
}

/// The ends that listen or are connected. Dropped, they are closed.
#[derive(Debug)]
pub struct FarEnds {
    setting: Setting,
    ends: BTreeMap<u32, FarEnd>,
    moved: Bytes,
}

impl FarEnds {
    /// No end yet.
    pub fn new(setting: Setting) -> Self {
        Self { setting, ends: BTreeMap::new(), moved: Bytes::ZERO }
    }

    /// Does what is said, and tells what came of it.
    pub fn hear(&mut self, word: Word) -> Told {
        let told = match word {
            Word::Close { connection } => {
                self.ends.remove(&connection);
                Ok(Told::Closed {})
            }
            Word::Listen { connection, configuration, patience_ns, cpus, plant } => {
                self.listen(connection, *configuration, patience_ns, cpus.as_deref(), plant)
            }
            Word::Opened { connection } => self.end(connection).and_then(|end| {
                let remarks = end.wait_until_open()?.to_vec();
                Ok(Told::Open { remarks })
            }),
            Word::Over { connection, broken } => self.over(connection, broken),
            Word::Visit { connection, size_bytes, verify_from } => {
                self.visit(connection, size_bytes, verify_from)
            }
        };
        told.unwrap_or_else(|cause| Told::Refused { reason: cause.sentence() })
    }

    /// Payload bytes since this was asked last.
    pub fn take_moved(&mut self) -> Bytes {
        std::mem::take(&mut self.moved)
    }

    fn end(&mut self, connection: u32) -> Result<&mut FarEnd, EngineError> {
        let unknown = || EngineError::Refused(format!("there is no connection {connection}"));
        self.ends.get_mut(&connection).ok_or_else(unknown)
    }

    fn listen(
        &mut self,
        connection: u32,
        configuration: Configuration,
        patience: Nanos,
        cpus: Option<&str>,
        plant: Option<Plant>,
    ) -> Result<Told, EngineError> {
        let refuse = |reason: String| Err(EngineError::Refused(reason));
        let Some(transport) = transport::by_name(&configuration.transport) else {
            return refuse(format!("no transport is called \"{}\"", configuration.transport));
        };
        if let Some(reason) = transport.properties().reach.ends_here() {
            return refuse(format!("{}: {reason}", transport.name()));
        }
        if self.ends.contains_key(&connection) {
            return refuse(format!("there is a connection {connection} already; close it first"));
        }
        let most = self.setting.most;
        if self.ends.len() >= most {
            let reason =
                format!("connection {connection} is one too many: {most} may be open at once");
            return refuse(reason);
        }
        let mut party = self.setting.party.clone();
        if let Some(list) = cpus {
            let named = list.parse::<CpuSet>();
            party.place.cpus = named.map_err(|cause| EngineError::Refused(cause.to_string()))?;
        }
        let opening = Opening {
            patience: patience.min(LONGEST_PATIENCE),
            plant: plant.filter(|_| configuration.verify),
            token: Some(Seat { attempt: connection, ..self.setting.seat }),
            ports: self.setting.ports,
            ..Opening::new(transport, configuration, party.clone(), party)
        };
        let (end, rendezvous) = FarEnd::listen(&opening)?;
        let at = Meeting::of(&rendezvous)?;
        self.ends.insert(connection, end);
        Ok(Told::Listening { at })
    }

    fn visit(
        &mut self,
        connection: u32,
        size: Bytes,
        verify_from: Option<u64>,
    ) -> Result<Told, EngineError> {
        if size > LARGEST_BLOCK {
            let reason = format!("a block of {size}: an agent answers up to {LARGEST_BLOCK}");
            return Err(EngineError::Refused(reason));
        }
        self.share_out(connection)?;
        self.end(connection)?.order(size, verify_from)?;
        Ok(Told::Ready {})
    }

    /// The rate goes to those that may send: the one that is visited, those whose visit is not over, and
    /// those of which something is left that may be sent (again). Each has the same part; nobody else
    /// sends, so the sum is never more.
    fn share_out(&self, visited: u32) -> Result<(), EngineError> {
        let Some(rate) = self.setting.rate else { return Ok(()) };
        self.settle(visited);
        let sends = |(number, end): &(&u32, &FarEnd)| {
            **number == visited || end.is_under_way() || has_unsent(end)
        };
        let ends = self.ends.iter();
        let ends = ends.filter_map(|one| Some((one.1.regulator()?, sends(&one))));
        regulator::share_out(rate, &ends.collect::<Vec<_>>())
    }

    /// Waits for the acknowledgements of visits that are over: what is acknowledged is sent no more, and
    /// the next visit has all of the rate. They may be delayed (RFC 9293, 3.8.6.3), and no longer than
    /// this is waited for.
    fn settle(&self, visited: u32) {
        let end = Instant::now() + SETTLING;
        let left = |(number, end): (&u32, &FarEnd)| {
            *number != visited && !end.is_under_way() && has_unsent(end)
        };
        while self.ends.iter().any(left) && Instant::now() < end {
            thread::park_timeout(SLICE);
        }
    }

    fn over(&mut self, connection: u32, broken: bool) -> Result<Told, EngineError> {
        let (account, moved) = self.end(connection)?.over(broken)?;
        self.moved = self.moved.saturating_add(moved);
        Ok(Told::Over { account })
    }
}

fn has_unsent(end: &FarEnd) -> bool {
    end.regulator().is_some_and(Regulator::has_unsent)
}

/// The largest block that an end answers for another host: its memory is this host's.
pub const LARGEST_BLOCK: Bytes = Bytes::new(64 << 20);
/// The longest wait for a connection.
const LONGEST_PATIENCE: Nanos = Nanos::from_secs(60);
/// Longer than Linux delays an acknowledgement on a path without losses.
const SETTLING: Duration = Duration::from_millis(60);
const SLICE: Duration = Duration::from_millis(1);
