//! In which order a sweep visits its points, and how many exchanges each visit makes.
//!
//! Every round visits all pairs of size and configuration once, in a new random order: noise is
//! correlated in time, and one sweep in rising order would turn a slow second into a slow size; that is
//! made where somebody asks for what NetPIPE does. A visit's share of the budget is divided by what an exchange is expected to take.

mod cost;
mod order;
mod stop;
mod stream;
mod visit;

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::collections::VecDeque;

use self::cost::CostModel;
use self::order::Pair;
use self::order::Slot;
use self::stop::PointState;
use super::sample::ConfigurationId;
use super::sample::Ended;
use super::sample::VisitSample;
use crate::stats::count;
use crate::units::Bytes;
use crate::units::Nanos;

pub use order::Order;
pub use stop::Stop;
pub use stop::Stopped;
pub use stream::Division;
pub use stream::SHORT_UNITS;
pub use stream::Sounding;
pub use stream::Stream;
pub use visit::Limit;
pub use visit::Visit;

/// What a sweep is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// The sizes, ascending.
    pub sizes: Vec<Bytes>,
    /// The configurations that are compared; they are interleaved within each round.
    pub configurations: Vec<ConfigurationId>,
    /// Those of them whose blocks go one way, many to an acknowledgement.
    pub streams: BTreeSet<ConfigurationId>,
    /// The largest block of those that do not carry every size.
    pub largest: BTreeMap<ConfigurationId, Bytes>,
    /// The longest exchange of those of which larger blocks are left out.
    pub longest: BTreeMap<ConfigurationId, Nanos>,
    /// How often each point is visited.
    pub rounds: u32,
    /// How many connections the rounds of a configuration are spread over, one after the other.
    pub connections: u32,
    /// The time for everything.
    pub budget: Nanos,
    /// The order of the visits.
    pub order: Order,
    /// Chance.
    pub seed: u64,
    /// The step of the clock, or the cost of reading it, whichever is larger.
    pub resolution: Nanos,
    /// The most time of one point, all rounds together, once it has [`LEAST_ROUNDS`] over as many connections.
    pub point_time: Nanos,
    /// The most exchanges of one point, all rounds together; of a stream the most units.
    pub point_exchanges: u64,
}

/// The time of a point where nothing else is asked for: of 31 s for 124 points a second and a half is
/// left for hosts, copies of memory, the journal and the report.
pub const POINT_TIME: Nanos = Nanos::from_millis(235);

/// The least that the time of a point is held to: a slow one gets more than its share.
pub const LEAST_CAP: Nanos = Nanos::from_secs(2);

/// Rounds that a point gets whatever it takes, and connections where there are as many: below, there is no interval.
pub const LEAST_ROUNDS: u32 = 3;

/// The order and the state of a sweep: asks for visits and is told what they took.
#[derive(Clone, Debug)]
pub struct Schedule {
    sweep: Sweep,
    queue: VecDeque<Slot>,
    round: u32,
    costs: BTreeMap<ConfigurationId, CostModel>,
    points: BTreeMap<(ConfigurationId, Bytes), PointState>,
    opened: BTreeSet<(ConfigurationId, u32)>,
    failures: BTreeMap<ConfigurationId, u32>,
    again: VecDeque<Slot>,
    spent: Nanos,
    left: usize,
}

impl Sweep {
    /// A sweep of one configuration over `sizes`: 10 rounds, 3 connections, [`POINT_TIME`] a point, in
    /// random order.
    pub fn new(sizes: Vec<Bytes>, seed: u64) -> Self {
        let points = u64::try_from(sizes.len()).unwrap_or(u64::MAX);
        Self {
            sizes,
            configurations: vec![ConfigurationId(1)],
            streams: BTreeSet::new(),
            largest: BTreeMap::new(),
            longest: BTreeMap::new(),
            rounds: 10,
            connections: 3,
            budget: POINT_TIME * points,
            order: Order::Random,
            seed,
            resolution: Nanos::new(30),
            point_time: LEAST_CAP,
            point_exchanges: 100_000,
        }
    }
}

impl Schedule {
    /// The schedule of a sweep, at its start.
    pub fn new(sweep: Sweep) -> Self {
        let costs = sweep.configurations.iter().map(|id| (*id, CostModel::default())).collect();
        let rounds = usize::try_from(sweep.rounds).unwrap_or(usize::MAX);
        let mut schedule = Self {
            queue: VecDeque::new(),
            round: 0,
            costs,
            points: BTreeMap::new(),
            opened: BTreeSet::new(),
            failures: BTreeMap::new(),
            again: VecDeque::new(),
            spent: Nanos::ZERO,
            left: 0,
            sweep,
        };
        schedule.left = schedule.pairs().len().saturating_mul(rounds);
        if schedule.sweep.order == Order::Rising {
            schedule.queue = order::rising(&schedule.pairs(), &schedule.connections());
            schedule.round = schedule.sweep.rounds;
        }
        schedule
    }

    /// The next visit; `None` once all is done or the budget is spent.
    pub fn next_visit(&mut self) -> Option<Visit> {
        while let Some(slot) = self.next_slot() {
            if slot.attempt == 1 {
                self.left = self.left.saturating_sub(1);
            }
            if self.wants(slot) {
                return Some(self.visit(slot));
            }
        }
        None
    }

    /// Takes what a visit saw.
    pub fn record(&mut self, visit: &Visit, sample: &VisitSample) {
        self.spent = self.spent.saturating_add(sample.elapsed_ns);
        let failed = matches!(sample.ended, Ended::Failed { .. });
        let is_stream = self.sweep.streams.contains(&visit.configuration);
        let row = self.failures.entry(visit.configuration).or_default();
        *row = if failed { *row + 1 } else { 0 };
        let point = self.points.entry((visit.configuration, visit.size)).or_default();
        point.time = point.time.saturating_add(sample.elapsed_ns);
        let made = if is_stream { sample.times.n } else { sample.times.exchanges() };
        point.exchanges = point.exchanges.saturating_add(made);
        point.failures += u32::from(failed);
        if sample.counts() {
            if visit.attempt == 1 {
                point.visited_over(visit.connection);
            }
            let exchange_ns = sample.times.p50_ns / f64::from(sample.times.batch.max(1));
            let costs = self.costs.entry(visit.configuration).or_default();
            costs.learn(visit.size, exchange_ns);
        }
        if failed {
            self.opened.remove(&(visit.configuration, visit.connection));
        } else if visit.attempt == 1 && sample.is_disturbed() {
            self.again.push_back(visit.slot().again());
        }
    }

    /// The time that visits have taken so far.
    pub const fn spent(&self) -> Nanos {
        self.spent
    }

    /// In which order it goes.
    pub const fn order(&self) -> Order {
        self.sweep.order
    }

    /// Visits that are still planned.
    pub fn remaining(&self) -> usize {
        self.left + self.again.len()
    }

    fn next_slot(&mut self) -> Option<Slot> {
        if self.queue.is_empty() && self.round < self.sweep.rounds {
            self.round += 1;
            self.queue = order::shuffled(self.pairs(), self.sweep.seed, self.round);
        }
        self.queue.pop_front().or_else(|| self.again.pop_front())
    }

    /// The rounds of each connection.
    fn connections(&self) -> Vec<Vec<u32>> {
        let rounds: Vec<u32> = (1..=self.sweep.rounds).collect();
        let of_connection = rounds.chunk_by(|a, b| self.connection(*a) == self.connection(*b));
        of_connection.map(<[u32]>::to_vec).collect()
    }

    fn pairs(&self) -> Vec<Pair> {
        let carries = |id: &&ConfigurationId, size: &Bytes| {
            self.sweep.largest.get(id).is_none_or(|largest| size <= largest)
        };
        let with_all = |size: &Bytes| {
            let ids = self.sweep.configurations.iter().filter(|id| carries(id, size));
            ids.map(|id| (*size, *id)).collect::<Vec<_>>()
        };
        self.sweep.sizes.iter().flat_map(with_all).collect()
    }

    /// The most exchanges of a point: 6 of one that is far slower than a larger block.
    fn most_exchanges(&self, slot: Slot) -> u64 {
        if self.is_slow(slot) { SLOW_EXCHANGES } else { self.sweep.point_exchanges }
    }

    fn is_slow(&self, slot: Slot) -> bool {
        self.costs.get(&slot.configuration).is_some_and(|costs| costs.is_slow(slot.size))
    }

    /// The most exchanges of the next visit: the point's last rounds shall have some too.
    fn exchanges_left(&self, slot: Slot) -> u64 {
        let point = self.point(slot.configuration, slot.size);
        let rounds = u64::from(self.sweep.rounds.saturating_sub(point.rounds).max(1));
        self.most_exchanges(slot).saturating_sub(point.exchanges).div_ceil(rounds)
    }

    fn point(&self, configuration: ConfigurationId, size: Bytes) -> PointState {
        self.points.get(&(configuration, size)).copied().unwrap_or_default()
    }

    fn visit(&mut self, slot: Slot) -> Visit {
        let costs = self.costs.entry(slot.configuration).or_default();
        let (is_slow, expected) = (costs.is_slow(slot.size), costs.exchange_ns(slot.size));
        let slow_above = costs.slow_above_ns(slot.size);
        let share = self.share(slot);
        let is_stream = self.sweep.streams.contains(&slot.configuration);
        let batch = if is_stream { 1 } else { self.batch(slot.size, expected) };
        let slow_above = slow_above.map(|bound| whole(bound * f64::from(batch)));
        let left = self.exchanges_left(slot);
        let affordable = (share.seconds() * 1e9 / expected / f64::from(batch)).max(1.0);
        let connection = self.connection_of(slot);
        let longest = self.sweep.longest.get(&slot.configuration).copied().unwrap_or(Nanos::MAX);
        let opens = self.opened.insert((slot.configuration, connection));
        let warm_up = if opens || self.fades(slot, affordable) { WARM_UP } else { 0 };
        let forgotten = if opens { 0.0 } else { f64::from(warm_up) };
        let units = whole(affordable - forgotten).count().min(left.div_ceil(u64::from(batch)));
        let visit = Visit {
            configuration: slot.configuration,
            size: slot.size,
            round: slot.round,
            position: slot.position,
            attempt: slot.attempt,
            connection,
            opens,
            warm_up,
            units: if is_slow { 1 } else { u32::try_from(units.max(1)).unwrap_or(u32::MAX) },
            batch,
            stream: None,
            limit: Limit { time: share * 4, slow_above, longest, slow_after: SLOW_AFTER },
        };
        if is_stream { visit.streamed(share, if is_slow { 1 } else { left }) } else { visit }
    }

    /// True for blocks whose first exchanges after another size are unlike those that follow: the
    /// caches hold something else by then, and the window was grown for another size. At 4 MiB over
    /// loopback the first took twice as long. Not where a visit has time for few exchanges. Settled
    /// for a point after its first round, so that its rounds are alike.
    fn fades(&mut self, slot: Slot, affordable: f64) -> bool {
        let now = slot.size >= FADES_FROM && affordable >= 2.0 * f64::from(WARM_UP);
        let point = self.points.entry((slot.configuration, slot.size)).or_default();
        if point.rounds == 0 { now } else { *point.fades.get_or_insert(now) }
    }

    /// The time of the next visit: an equal share of what is left, to the sweep and to the point.
    fn share(&self, slot: Slot) -> Nanos {
        let point = self.point(slot.configuration, slot.size);
        let rounds = f64::from(self.sweep.rounds.saturating_sub(point.rounds).max(1));
        let left = |time: Nanos, used| time.since(used).seconds() * (1.0 - REPEAT_SHARE);
        let of_sweep = left(self.sweep.budget, self.spent) / count(self.left + 1);
        let of_point = left(self.sweep.point_time, point.time) / rounds;
        whole(of_sweep.min(of_point) * 1e9).max(LEAST_SHARE)
    }

    /// Exchanges per timed unit: so many that the clock's step is a hundredth of it.
    fn batch(&self, size: Bytes, expected_ns: f64) -> u32 {
        let wanted = 100.0 * self.sweep.resolution.seconds() * 1e9 / expected_ns;
        let batch = if size > LARGEST_BATCHED { 1.0 } else { wanted.ceil().clamp(1.0, 1000.0) };
        u32::try_from(whole(batch).count()).unwrap_or(1)
    }

    /// What is repeated comes after all rounds, over the connection that is left then.
    fn connection_of(&self, slot: Slot) -> u32 {
        self.connection(if slot.attempt > 1 { self.sweep.rounds } else { slot.round })
    }

    /// The connections of a configuration serve equal shares of the rounds.
    fn connection(&self, round: u32) -> u32 {
        let connections = self.sweep.connections.clamp(1, self.sweep.rounds.max(1));
        (round.max(1) - 1) * connections / self.sweep.rounds.max(1) + 1
    }
}

impl Visit {
    /// One of a stream: how many blocks a unit has is found when it is made, and that warms up as well.
    fn streamed(self, share: Nanos, most_units: u64) -> Self {
        let units = u32::try_from(most_units).unwrap_or(u32::MAX).clamp(1, stream::UNITS);
        Self { warm_up: 0, units, batch: 1, stream: Some(Stream::within(share)), ..self }
    }

    const fn slot(&self) -> Slot {
        Slot {
            round: self.round,
            position: self.position,
            attempt: self.attempt,
            size: self.size,
            configuration: self.configuration,
        }
    }
}

/// A number of nanoseconds, or of anything else, without its fraction.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and nothing is far below zero"
)]
pub(super) fn whole(value: f64) -> Nanos {
    Nanos::new(value as u64)
}

/// The first exchanges of a connection are not measured: a receiver acknowledges them at once
/// (quick-ack), which hides what Nagle and delayed acknowledgements do later.
pub const WARM_UP: u32 = 2;
const FADES_FROM: Bytes = Bytes::new(256 << 10);
/// After so many exchanges a visit may be found slow.
const SLOW_AFTER: u32 = 3;
/// Exchanges of a slow point, all rounds together: at 88 ms each, more tell nothing new.
const SLOW_EXCHANGES: u64 = 6;
/// Failed visits after which a point is given up.
const MOST_FAILURES: u32 = 2;
/// Failed visits in a row after which a configuration is given up.
const MOST_FAILURES_ROW: u32 = 5;
/// Part of the budget that is kept for visits that must be repeated.
const REPEAT_SHARE: f64 = 0.1;
/// No visit is planned shorter.
const LEAST_SHARE: Nanos = Nanos::from_micros(100);
/// Larger blocks take so long that every exchange is timed alone.
const LARGEST_BATCHED: Bytes = Bytes::new(64 << 10);

#[cfg(test)]
mod tests;
