//! Probes on connections of their own that are under way: they are begun by schedule, however long others take.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use btu_core::traffic::probe::ForeignProbe;
use btu_core::traffic::probe::PendingProbe;
use btu_core::units::Nanos;

/// Those that have not come to their end, and those that came since somebody asked.
#[derive(Debug, Default)]
pub(super) struct Flights(Mutex<Board>);

#[derive(Debug, Default)]
struct Board {
    next: u64,
    flying: BTreeMap<u64, Flight>,
    came: Vec<ForeignProbe>,
}

/// One that is under way.
#[derive(Clone, Copy, Debug)]
struct Flight {
    /// When what it does now began: its connection, or its exchange.
    since: Nanos,
    /// What the connection took, once it is there.
    connect_ns: Option<Nanos>,
}

impl Flights {
    /// One more; `None` where so many are under way that the load would be theirs.
    pub(super) fn begin(&self, now: Nanos) -> Option<u64> {
        let mut board = self.board();
        if board.flying.len() >= MOST_FLYING {
            return None;
        }
        board.next += 1;
        let number = board.next;
        board.flying.insert(number, Flight { since: now, connect_ns: None });
        Some(number)
    }

    /// Its connection is there, and it asks.
    pub(super) fn connected(&self, number: u64, connect_ns: Nanos, now: Nanos) {
        if let Some(flight) = self.board().flying.get_mut(&number) {
            *flight = Flight { since: now, connect_ns: Some(connect_ns) };
        }
    }

    /// It came to its end; one that broke has none.
    pub(super) fn end(&self, number: u64, came: Option<ForeignProbe>) {
        let mut board = self.board();
        board.flying.remove(&number);
        board.came.extend(came);
    }

    /// Those that came since the last time.
    pub(super) fn take(&self) -> Vec<ForeignProbe> {
        std::mem::take(&mut self.board().came)
    }

    /// Those that are under way, with what they have waited for until now.
    pub(super) fn pending(&self, now: Nanos) -> Vec<PendingProbe> {
        let waits = |flight: &Flight| {
            let age = now.since(flight.since);
            match flight.connect_ns {
                Some(connect_ns) => PendingProbe { connect_ns, exchange_ns: Some(age) },
                None => PendingProbe { connect_ns: age, exchange_ns: None },
            }
        };
        self.board().flying.values().map(waits).collect()
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Beside the connections with load an agent has room for these, and for some whose end it has not seen yet.
const MOST_FLYING: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    /// Four that wait: the fifth turn is missed, and what waits is told with its age.
    #[test]
    fn so_many_are_under_way_and_no_more() {
        let (at, flights) = (Nanos::from_millis, Flights::default());
        let begun: Vec<Option<u64>> = (0..5).map(|n| flights.begin(at(n * 100))).collect();
        assert_eq!(begun.iter().flatten().count(), MOST_FLYING);
        let [first, second] = [begun[0].unwrap(), begun[1].unwrap()];
        flights.connected(first, at(40), at(40));
        flights.connected(second, at(50), at(150));
        let came = ForeignProbe { connect_ns: at(40), exchange_ns: at(60) };
        flights.end(first, Some(came));
        assert_eq!((flights.take(), flights.take()), (vec![came], vec![]));
        let pending = flights.pending(at(500));
        assert_eq!(pending.len(), 3);
        assert_eq!(pending[0], PendingProbe { connect_ns: at(50), exchange_ns: Some(at(350)) });
        assert_eq!(pending[1], PendingProbe { connect_ns: at(300), exchange_ns: None });
        assert!(flights.begin(at(500)).is_some());
    }
}
