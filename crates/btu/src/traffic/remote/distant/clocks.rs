//! The clocks of agents around a run: read before and after it, compared with ours.

use std::collections::BTreeMap;

use btu_core::role::Role;
use btu_core::traffic::clock::ClockError;
use btu_core::traffic::clock::ClockSample;
use btu_core::traffic::clock::Line;
use btu_core::traffic::clock::Offset;
use btu_core::traffic::clock::Reading;
use btu_core::traffic::clock::Shift;
use btu_core::units::Nanos;
use btu_engine::EngineError;

use super::super::peers::Peers;

/// One agent's clock and ours.
#[derive(Clone, Debug)]
pub(in crate::traffic) struct Between {
    before: Offset,
    readings: Vec<Reading>,
    /// Over the whole run.
    line: Result<Line, String>,
    /// When the run began, on our clock and on that one.
    begin: (Nanos, Nanos),
}

/// The clocks of all agents of a run.
pub(super) struct Clocks(BTreeMap<Role, Between>);

impl Clocks {
    /// Reads all of them.
    pub(super) fn before(peers: &Peers, roles: &[Role]) -> Result<Self, EngineError> {
        let mut clocks = BTreeMap::new();
        for role in roles {
            peers.feed();
            let readings = peers.read_clock(*role)?;
            let refused = |cause: ClockError| EngineError::Refused(cause.to_string());
            let before = Offset::of(&readings).map_err(refused)?;
            let line = Err("the clock was not read after the run".to_owned());
            let begin = (Nanos::ZERO, Nanos::ZERO);
            clocks.insert(*role, Between { before, readings, line, begin });
        }
        Ok(Self(clocks))
    }

    /// The slowest way there and back.
    pub(super) fn slowest(&self) -> Nanos {
        self.0.values().filter_map(Between::least_round_trip).max().unwrap_or(Nanos::ZERO)
    }

    /// What an agent's clock will say when ours says `begin`.
    pub(super) fn start(&mut self, role: Role, begin: Nanos) -> Nanos {
        let Some(between) = self.0.get_mut(&role) else { return begin };
        let there = between.before.there(begin);
        between.begin = (begin, there);
        there
    }

    /// Reads all of them again.
    pub(super) fn after(&mut self, peers: &Peers) {
        for (role, between) in &mut self.0 {
            peers.feed();
            between.line = between.until(peers, *role);
        }
    }

    /// For times of ours, as an agent counts them.
    pub(super) fn shift_there(&self, role: Role) -> Shift {
        self.shift(role, Shift::to_there)
    }

    /// For times of an agent, as we count them.
    pub(super) fn shift_here(&self, role: Role) -> Shift {
        self.shift(role, Shift::to_here)
    }

    fn shift(&self, role: Role, of: fn(&Line, Nanos, Nanos) -> Shift) -> Shift {
        let shift = |between: &Between| {
            let (here, there) = between.begin;
            between.line.as_ref().map_or_else(|_| Shift::default(), |line| of(line, here, there))
        };
        self.0.get(&role).map_or_else(Shift::default, shift)
    }

    pub(super) fn finish(self) -> BTreeMap<Role, Between> {
        self.0
    }
}

impl Between {
    fn until(&mut self, peers: &Peers, role: Role) -> Result<Line, String> {
        let readings = peers.read_clock(role).map_err(|cause| cause.sentence())?;
        let after = Offset::of(&readings).map_err(|cause| cause.to_string())?;
        self.readings.extend(readings);
        Line::new(self.before, after).map_err(|cause| cause.to_string())
    }

    fn least_round_trip(&self) -> Option<Nanos> {
        self.readings.iter().map(Reading::round_trip).min()
    }

    /// How far delays of one way may be off, or why they are not known.
    pub(in crate::traffic) fn bound(&self) -> Result<Nanos, String> {
        self.line.clone().map(|line| line.bound())
    }

    /// As a result keeps it.
    pub(in crate::traffic) fn sample(&self, host: Role) -> ClockSample {
        let line = self.line.as_ref().ok();
        ClockSample {
            host,
            ahead_ns: line.map_or(self.before.ahead(), |line| line.ahead(self.begin.0)),
            drift_ppm: line.map_or(0.0, Line::drift_ppm),
            bound_ns: line.map_or(self.before.bound(), Line::bound),
            least_round_trip_ns: self.least_round_trip().unwrap_or(Nanos::ZERO),
            readings: u32::try_from(self.readings.len()).unwrap_or(u32::MAX),
            reason: self.line.as_ref().err().cloned(),
        }
    }
}
