//! One visit: which point, how many exchanges, and when to stop before them.

use super::super::sample::ConfigurationId;
use super::super::sample::Early;
use super::Stream;
use crate::units::Bytes;
use crate::units::Nanos;

/// An order to measure one point once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    /// The configuration.
    pub configuration: ConfigurationId,
    /// The block.
    pub size: Bytes,
    /// Number of the round, from 1.
    pub round: u32,
    /// Place in the order of the round, from 1.
    pub position: u32,
    /// 1 for the first try.
    pub attempt: u32,
    /// Number of the connection of this configuration, from 1.
    pub connection: u32,
    /// True where the connection must be made first, in place of the one before.
    pub opens: bool,
    /// Exchanges to make and forget before the first timed one.
    pub warm_up: u32,
    /// Timed units.
    pub units: u32,
    /// Exchanges per timed unit; of a stream whose blocks nobody counted before, one.
    pub batch: u32,
    /// How long the units of a stream shall be, where its visit finds out how many blocks that are.
    pub stream: Option<Stream>,
    /// When to stop before all units are made.
    pub limit: Limit,
}

/// When a visit stops before all its units are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The time of the visit is over after this.
    pub time: Nanos,
    /// A unit of `batch` exchanges slower than this is far slower than that of a clean neighbour.
    pub slow_above: Option<Nanos>,
    /// No exchange is made to warm up after one that took longer than this.
    pub longest: Nanos,
    /// Units after which the fastest one decides whether the point is slow.
    pub slow_after: u32,
}

impl Visit {
    /// A visit that is no part of a sweep: `units` single exchanges over the connection that is there, in
    /// `time` at the most.
    pub const fn single(size: Bytes, units: u32, time: Nanos) -> Self {
        Self {
            configuration: ConfigurationId(0),
            size,
            round: 1,
            position: 1,
            attempt: 1,
            connection: 1,
            opens: false,
            warm_up: 0,
            units,
            batch: 1,
            stream: None,
            limit: Limit { time, slow_above: None, longest: Nanos::MAX, slow_after: 3 },
        }
    }
}

impl Limit {
    /// Why to stop after `done` units, the fastest of which took `fastest`, `elapsed` after the
    /// first began. Cheap enough for the gap between two exchanges.
    pub fn reached(&self, done: u32, elapsed: Nanos, fastest: Nanos) -> Option<Early> {
        if done >= self.slow_after && self.slow_above.is_some_and(|bound| fastest > bound) {
            return Some(Early::Slow);
        }
        (done > 0 && elapsed >= self.time).then_some(Early::TimeCap)
    }
}
