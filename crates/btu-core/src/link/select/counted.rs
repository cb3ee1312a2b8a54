//! Selection by a counter of wire packets.

use std::sync::Arc;

use super::Counting;
use super::Flow;
use super::Pattern;
use super::Select;
use super::Start;
use crate::link::continued::Standing;

/// A pattern with one counter for the direction.
#[derive(Debug)]
pub(super) struct Counted {
    pattern: Pattern,
    start: Start,
    counter: Counter,
}

/// A pattern with one counter per flow. The table has a fixed size: flows beyond [`FLOWS`] in one
/// run share one counter.
#[derive(Debug)]
pub(super) struct CountedPerFlow {
    pattern: Pattern,
    start: Start,
    table: Table,
}

/// The counters of flows.
#[derive(Clone, Debug)]
pub(in crate::link) struct Table {
    /// Twice as many places as flows; each flow stands at its hash or at the next free place.
    places: Vec<Option<(Flow, Counter)>>,
    flows: usize,
    others: Counter,
}

/// Given positions, with one counter for the direction.
#[derive(Debug)]
pub(super) struct Listed {
    positions: Arc<[u64]>,
    seen: u64,
    passed: usize,
}

/// Packets seen so far, in all and before this run, and the next one that is hit.
#[derive(Clone, Copy, Debug)]
pub(in crate::link) struct Counter {
    seen: u64,
    before: u64,
    next: u64,
}

impl Counter {
    fn new(pattern: &Pattern, start: Start) -> Self {
        Self { seen: 0, before: 0, next: pattern.next_hit(0) + start.phase }
    }

    fn first_hit(&mut self, pattern: &Pattern, start: Start, count: u32) -> Option<u32> {
        let before_hit = self.next - self.seen - 1;
        let Some(passed) = u32::try_from(before_hit).ok().filter(|passed| *passed < count) else {
            self.seen += u64::from(count);
            return None;
        };
        self.seen = self.next;
        self.next = pattern.next_hit(self.seen - start.phase) + start.phase;
        Some(passed)
    }

    fn expected(&self, pattern: &Pattern, start: Start) -> u64 {
        let hits = |packets: u64| pattern.count(packets.saturating_sub(start.phase));
        hits(self.seen) - hits(self.before)
    }

    /// The same counter at the start of another run.
    fn of_next_run(self) -> Self {
        Self { before: self.seen, ..self }
    }
}

impl Counted {
    pub(super) fn new(pattern: Pattern, start: Start) -> Self {
        let counter = Counter::new(&pattern, start);
        Self { pattern, start, counter }
    }
}

impl CountedPerFlow {
    pub(super) fn new(pattern: Pattern, start: Start) -> Self {
        let others = Counter::new(&pattern, start);
        let table = Table { places: vec![None; 2 * FLOWS], flows: 0, others };
        Self { pattern, start, table }
    }
}

impl Table {
    fn counter(&mut self, flow: Flow, pattern: &Pattern, start: Start) -> &mut Counter {
        let mut place = usize::try_from(flow.0).unwrap_or(0) % self.places.len();
        while self.places[place].is_some_and(|(known, _)| known != flow) {
            place = (place + 1) % self.places.len();
        }
        if self.places[place].is_none() && self.flows == FLOWS {
            return &mut self.others;
        }
        let flows = &mut self.flows;
        let new = || {
            *flows += 1;
            (flow, Counter::new(pattern, start))
        };
        &mut self.places[place].get_or_insert_with(new).1
    }

    fn counters(&self) -> impl Iterator<Item = &Counter> {
        let flows = self.places.iter().flatten().map(|(_, counter)| counter);
        flows.chain([&self.others])
    }

    /// The same counters at the start of another run.
    fn of_next_run(mut self) -> Self {
        self.others = self.others.of_next_run();
        for (_, counter) in self.places.iter_mut().flatten() {
            *counter = counter.of_next_run();
        }
        self
    }
}

impl Listed {
    pub(super) const fn new(positions: Arc<[u64]>) -> Self {
        Self { positions, seen: 0, passed: 0 }
    }
}

impl Select for Counted {
    fn first_hit(&mut self, _flow: Flow, count: u32) -> Option<u32> {
        self.counter.first_hit(&self.pattern, self.start, count)
    }

    fn expected(&self) -> Option<u64> {
        Some(self.counter.expected(&self.pattern, self.start))
    }

    fn counting(&self) -> Option<Counting> {
        self.start.continuous.then_some(Counting(Standing::One(self.counter)))
    }

    fn go_on(&mut self, from: &Counting) {
        if let Standing::One(counter) = &from.0 {
            self.counter = counter.of_next_run();
        }
    }
}

impl Select for CountedPerFlow {
    fn first_hit(&mut self, flow: Flow, count: u32) -> Option<u32> {
        let Self { pattern, start, table } = self;
        table.counter(flow, pattern, *start).first_hit(pattern, *start, count)
    }

    fn expected(&self) -> Option<u64> {
        Some(self.table.counters().map(|counter| counter.expected(&self.pattern, self.start)).sum())
    }

    fn counting(&self) -> Option<Counting> {
        self.start.continuous.then(|| Counting(Standing::Flows(self.table.clone())))
    }

    fn go_on(&mut self, from: &Counting) {
        if let Standing::Flows(table) = &from.0 {
            self.table = table.clone().of_next_run();
        }
    }
}

impl Select for Listed {
    fn first_hit(&mut self, _flow: Flow, count: u32) -> Option<u32> {
        let next = self.positions.get(self.passed).map(|next| next - self.seen - 1);
        let passed = next.and_then(|next| u32::try_from(next).ok()).filter(|next| *next < count);
        self.passed += usize::from(passed.is_some());
        self.seen += passed.map_or(u64::from(count), |passed| u64::from(passed) + 1);
        passed
    }

    fn expected(&self) -> Option<u64> {
        u64::try_from(self.positions.partition_point(|position| *position <= self.seen)).ok()
    }
}

/// Counters per direction where each flow has its own.
const FLOWS: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern() -> Pattern {
        "1@2/5".parse().expect("a legal pattern")
    }

    fn hits(select: &mut dyn Select, flow: u32, packets: u32) -> Vec<u32> {
        (1..=packets).filter(|_| select.first_hit(Flow(flow), 1) == Some(0)).collect()
    }

    #[test]
    fn each_flow_has_its_own_counter() {
        let mut select = CountedPerFlow::new(pattern(), Start::default());
        let mut hit = Vec::new();
        for i in 1..=10 {
            for flow in 0..3 {
                if select.first_hit(Flow(flow), 1).is_some() {
                    hit.push((flow, i));
                }
            }
        }
        assert_eq!(hit, [(0, 2), (1, 2), (2, 2), (0, 7), (1, 7), (2, 7)]);
        assert_eq!(select.expected(), Some(6));
    }

    #[test]
    fn flows_beyond_the_table_share_a_counter() {
        let mut select = CountedPerFlow::new(pattern(), Start::default());
        for flow in 0..9_000 {
            select.first_hit(Flow(flow), 1);
        }
        assert_eq!((select.table.flows, select.table.others.seen), (FLOWS, 9_000 - 4_096));
        assert_eq!(select.expected(), Some(pattern().count(9_000 - 4_096)));
    }

    #[test]
    fn a_phase_moves_the_pattern_and_its_formula() {
        let mut select = Counted::new(pattern(), Start { phase: 3, continuous: false });
        assert_eq!(hits(&mut select, 0, 12), [5, 10]);
        assert_eq!(select.expected(), Some(2));
    }

    #[test]
    fn only_a_continuous_pattern_goes_on_in_the_next_run() {
        let continuous = Start { phase: 0, continuous: true };
        let of_direction = |start| Box::new(Counted::new(pattern(), start)) as Box<dyn Select>;
        let of_flows = |start| Box::new(CountedPerFlow::new(pattern(), start)) as Box<dyn Select>;
        for make in [&of_direction as &dyn Fn(Start) -> Box<dyn Select>, &of_flows] {
            let [mut first, mut next] = [make(continuous), make(continuous)];
            assert_eq!(hits(first.as_mut(), 0, 3), [2]);
            next.go_on(&first.counting().expect("it goes on"));
            assert_eq!(hits(next.as_mut(), 0, 6), [4]);
            assert_eq!(next.expected(), Some(1));
            assert!(make(Start::default()).counting().is_none());
        }
    }
}
