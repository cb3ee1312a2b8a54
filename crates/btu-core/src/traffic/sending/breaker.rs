//! The circuit breaker of a sender of datagrams to another host (RFC 8084): it goes on only while the other
//! end tells that they arrive. TCP has the like of itself; datagrams would go into the void for as long as
//! their schedule lasts.

use std::fmt;

use crate::units::Nanos;

/// Of one flow.
#[derive(Clone, Debug)]
pub struct Breaker {
    /// When the last receipt came.
    heard: Nanos,
    /// What the other end counted.
    arrived: u64,
    /// What had been sent when that grew last.
    sent_then: u64,
    /// Since when some of what was sent is missing.
    missing: Nanos,
}

/// Why a sender has to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trip {
    /// Receipts come, and nothing else arrives.
    Lost,
    /// No receipt comes.
    Silent,
}

impl Breaker {
    /// One of a flow that begins now.
    pub const fn new(begin: Nanos) -> Self {
        Self { heard: begin, arrived: 0, sent_then: 0, missing: begin }
    }

    /// The other end tells how many datagrams it has had, of so many that were sent by now.
    pub fn receipt(&mut self, now: Nanos, arrived: u64, sent: u64) {
        self.heard = now;
        if arrived > self.arrived {
            (self.arrived, self.sent_then, self.missing) = (arrived, sent, now);
        }
    }

    /// Whether a flow that has sent so many datagrams has to stop (RFC 8084, section 5.1).
    pub fn look(&mut self, now: Nanos, sent: u64) -> Option<Trip> {
        if sent <= self.sent_then {
            self.missing = now;
        }
        let unseen = sent.saturating_sub(self.sent_then);
        if now.since(self.heard) > PATIENCE {
            Some(Trip::Silent)
        } else if unseen >= LEAST && now.since(self.missing) > PATIENCE {
            Some(Trip::Lost)
        } else {
            None
        }
    }
}

impl fmt::Display for Trip {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self {
            Self::Lost => "no datagram arrived",
            Self::Silent => "no receipt came",
        };
        write!(out, "circuit breaker: {what} for {} s", PATIENCE.seconds())
    }
}

/// How often the receiving end gives a receipt.
pub const RECEIPTS_EVERY: Nanos = Nanos::from_millis(500);
/// Six receipts in a row: a busy host may be held up for one or two of them.
const PATIENCE: Nanos = Nanos::from_secs(3);
/// Fewer may be lost by chance, on a path that drops most.
const LEAST: u64 = 10;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A flow of a datagram each 10 ms over a path with this delay, cut at `cut`; `arrives` says which come.
    fn tripped(delay_ms: u64, cut_ms: u64, arrives: impl Fn(u64) -> bool) -> Option<(u64, Trip)> {
        let mut breaker = Breaker::new(Nanos::ZERO);
        let (mut sent, mut came) = (0, Vec::new());
        for now_ms in (0..600_000_u64).step_by(10) {
            let now = Nanos::from_millis(now_ms);
            if now_ms + delay_ms < cut_ms && arrives(sent) {
                came.push(now_ms + delay_ms);
            }
            sent += 1;
            // A receipt that is here now was given a delay ago.
            let given_ms = now_ms.saturating_sub(delay_ms);
            if now_ms >= delay_ms && given_ms % 500 == 0 && now_ms < cut_ms {
                let had = came.iter().filter(|at| **at <= given_ms).count();
                breaker.receipt(now, u64::try_from(had).unwrap(), sent);
            }
            if let Some(trip) = breaker.look(now, sent) {
                return Some((now_ms, trip));
            }
        }
        None
    }

    #[test]
    fn a_cut_stops_a_flow_of_ten_minutes_within_the_patience_and_one_period() {
        for delay_ms in [0, 10, 1000] {
            let (at_ms, trip) = tripped(delay_ms, 60_000, |_| true).unwrap();
            assert_eq!(trip, Trip::Silent);
            assert!((60_000..=63_510).contains(&at_ms), "delay {delay_ms} ms: {at_ms} ms");
        }
    }

    #[test]
    fn heavy_loss_stops_nothing_and_total_loss_does() {
        assert_eq!(tripped(20, u64::MAX, |number| number % 100 == 0), None);
        let (at_ms, trip) = tripped(20, u64::MAX, |number| number < 1000).unwrap();
        assert_eq!(trip, Trip::Lost);
        assert!((13_000..=14_000).contains(&at_ms), "{at_ms} ms");
        assert_eq!(trip.to_string(), "circuit breaker: no datagram arrived for 3 s");
    }

    #[test]
    fn who_was_silent_has_time_for_what_it_sends_at_last() {
        let at = Nanos::from_secs;
        let mut breaker = Breaker::new(at(0));
        for second in 0..100 {
            breaker.receipt(at(second), 0, 0);
            assert_eq!(breaker.look(at(second), 0), None);
        }
        breaker.receipt(at(100), 0, 500);
        assert_eq!(breaker.look(at(100), 500), None);
        breaker.receipt(at(101), 500, 500);
        assert_eq!(breaker.look(at(101), 500), None);
    }

    proptest! {
        /// Whatever is told, and whenever: who hears nothing for the patience stops.
        #[test]
        fn silence_always_stops(receipts in prop::collection::vec((0..5_000_u64, 0..9_u64, 0..9_u64), 0..50)) {
            let mut breaker = Breaker::new(Nanos::ZERO);
            let (mut now, mut most) = (Nanos::ZERO, 0);
            for (step_ms, arrived, sent) in receipts {
                now += Nanos::from_millis(step_ms);
                most = most.max(sent);
                breaker.receipt(now, arrived, most);
            }
            let late = now + PATIENCE + Nanos::new(1);
            prop_assert_eq!(breaker.look(late, most), Some(Trip::Silent));
        }
    }
}
