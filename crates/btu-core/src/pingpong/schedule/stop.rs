//! Why a point gets fewer rounds than were asked for, and over which connections it has those that it gets.
//!
//! A connection is a factor of its own (S. Hunold and A. Carpen-Amarie, "MPI benchmarking revisited", 2015), so
//! what stops a point early leaves it a visit over each of three connections, not three over the first: each
//! connection has a part of the time and of the exchanges of a point, and of the time of the sweep.

use std::fmt;

use serde::Deserialize;
use serde::Serialize;

use super::LEAST_ROUNDS;
use super::MOST_FAILURES;
use super::MOST_FAILURES_ROW;
use super::Schedule;
use super::Slot;
use super::whole;
use crate::units::Bytes;
use crate::units::Nanos;

/// Why a point was not visited in every round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// A block takes longer than the plan allows.
    BlockTime,
    /// The time of the whole sweep was over.
    Budget,
    /// It had as many exchanges as a point may have.
    Exchanges,
    /// Its visits failed, or those of its configuration.
    Failures,
    /// The time of the point was over.
    PointTime,
    /// It is far slower than a larger block: more exchanges tell nothing new.
    Slow,
}

/// A point that was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopped {
    /// The block.
    pub size_bytes: Bytes,
    /// Why.
    pub cause: Stop,
}

/// What a point has had so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PointState {
    pub(super) rounds: u32,
    pub(super) exchanges: u64,
    pub(super) time: Nanos,
    pub(super) failures: u32,
    /// Connections that it has a visit over.
    pub(super) connections: u32,
    /// The last of them; their numbers rise.
    pub(super) connection: u32,
    /// Whether its visits warm up, once that is settled.
    pub(super) fades: Option<bool>,
    /// Why the last round went without it.
    pub(super) stop: Option<Stop>,
}

impl PointState {
    /// A visit of a new round counts.
    pub(super) const fn visited_over(&mut self, connection: u32) {
        self.rounds += 1;
        if self.connection != connection {
            (self.connection, self.connections) = (connection, self.connections + 1);
        }
    }
}

impl Stop {
    /// Its name in a result.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BlockTime => "block_time",
            Self::Budget => "budget",
            Self::Exchanges => "exchanges",
            Self::Failures => "failures",
            Self::PointTime => "point_time",
            Self::Slow => "slow",
        }
    }
}

impl Schedule {
    /// Every point of a configuration that got fewer rounds than were asked for, with the reason; not those of
    /// which visits failed and nothing else.
    pub fn stopped(&self, of: super::ConfigurationId) -> Vec<Stopped> {
        let points = self
            .points
            .iter()
            .filter(|((id, _), point)| *id == of && point.rounds < self.sweep.rounds);
        let stopped = points.filter_map(|((_, size), point)| {
            Some(Stopped { size_bytes: *size, cause: point.stop? })
        });
        stopped.collect()
    }

    /// True where a point is visited in its turn; else keeps in mind why not.
    pub(super) fn wants(&mut self, slot: Slot) -> bool {
        let stop = self.stop(slot);
        if slot.attempt == 1 && stop.is_some() {
            self.points.entry((slot.configuration, slot.size)).or_default().stop = stop;
        }
        stop.is_none()
    }

    /// Why a point has had its share, or is given up.
    fn stop(&self, slot: Slot) -> Option<Stop> {
        let point = self.point(slot.configuration, slot.size);
        let gone = self.failures.get(&slot.configuration).is_some_and(|n| *n >= MOST_FAILURES_ROW);
        if gone || point.failures >= MOST_FAILURES {
            return Some(Stop::Failures);
        }
        if self.takes_too_long(slot) {
            return Some(Stop::BlockTime);
        }
        let enough = self.has_enough(slot)?;
        let is_needed = slot.attempt == 1 && self.lacks(slot);
        (!is_needed).then_some(enough)
    }

    /// True for a size whose block takes longer than the plan allows, or one below it does: no round of it is needed
    /// (NetPIPE ends its sweep there).
    fn takes_too_long(&self, slot: Slot) -> bool {
        let most = self.sweep.longest.get(&slot.configuration);
        let costs = self.costs.get(&slot.configuration);
        costs.zip(most).is_some_and(|(costs, most)| costs.is_above(slot.size, *most))
    }

    /// Which share of a point is used up, where one is, as far as the connection of the slot goes.
    fn has_enough(&self, slot: Slot) -> Option<Stop> {
        let (point, sweep) = (self.point(slot.configuration, slot.size), &self.sweep);
        let last = self.last_round(self.connection_of(slot));
        // Above or below: what one visit more or less makes of it.
        let half_visit = point.time.seconds() / f64::from(point.rounds.max(1)) / 2.0;
        let of_point = self.part(sweep.point_time, last);
        // A round more than the connection's own: sweeps whose first rounds take longer make that good.
        let of_sweep = self.part(sweep.budget, last + 1);
        let most = self.most_exchanges(slot).saturating_mul(last.into());
        if point.exchanges >= most.div_ceil(sweep.rounds.max(1).into()) {
            Some(if self.is_slow(slot) { Stop::Slow } else { Stop::Exchanges })
        } else if point.time.seconds() + half_visit >= of_point.seconds() {
            Some(Stop::PointTime)
        } else {
            (self.spent >= of_sweep).then_some(Stop::Budget)
        }
    }

    /// True for a point that would end with too few rounds, or over too few connections, without this visit.
    fn lacks(&self, slot: Slot) -> bool {
        let (point, connection) =
            (self.point(slot.configuration, slot.size), self.connection_of(slot));
        let missing = LEAST_ROUNDS.saturating_sub(point.rounds);
        if point.connection == connection {
            return missing > self.connection(self.sweep.rounds).saturating_sub(connection);
        }
        missing > 0 || point.connections < LEAST_ROUNDS
    }

    /// The part of a time that belongs to the rounds up to this one.
    fn part(&self, time: Nanos, round: u32) -> Nanos {
        let rounds = self.sweep.rounds.max(1);
        whole(time.seconds() * 1e9 * f64::from(round.min(rounds)) / f64::from(rounds))
    }

    /// The last round over a connection.
    fn last_round(&self, connection: u32) -> u32 {
        let all = self.connection(self.sweep.rounds);
        (connection * self.sweep.rounds).div_ceil(all.max(1))
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::BlockTime => "a block takes longer than the plan allows",
            Self::Budget => "the time of the sweep was over",
            Self::Exchanges => "the most exchanges of a point were made",
            Self::Failures => "visits failed",
            Self::PointTime => "the time of the point was over",
            Self::Slow => "far slower than a larger block",
        })
    }
}
