//! Starts after idle times: does the sender begin again with a small window (RFC 9293, RFC 5681)?

use super::Follower;
use crate::tcp::stream::Restart;
use crate::units::Nanos;

/// A start that has not reached the flight of before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    restart: Restart,
    is_answered: bool,
    /// Last segment with data since then.
    last_at: Nanos,
}

impl Follower {
    /// The sender sends again after `idle`.
    pub(super) fn idle_ended(&mut self, at: Nanos, idle: Nanos) {
        if idle < self.timer.timeout() {
            return;
        }
        self.end_restart();
        let restart = Restart {
            at,
            idle,
            flight_before: self.peak,
            first_flight: 0,
            duration: Nanos::ZERO,
            clocked: 0,
        };
        self.restart = Some(Open { restart, is_answered: false, last_at: at });
        self.peak = 0;
    }

    /// A segment since the start: counts the first flight, ends where flight is back.
    pub(super) fn restarting(&mut self, at: Nanos, flight: u64, payload: u32) {
        let acked_since = self.progress_at;
        let Some(open) = &mut self.restart else { return };
        let answered = acked_since.saturating_add(self.stream.to_sender);
        open.is_answered |= answered > open.restart.at;
        open.last_at = at;
        if !open.is_answered {
            open.restart.first_flight += u64::from(payload);
        }
        if flight >= open.restart.flight_before / 5 * 4 {
            self.end_restart();
        }
    }

    /// The sender waited for an acknowledgement and went on at once.
    pub(super) fn clocked(&mut self) {
        if let Some(open) = &mut self.restart {
            open.restart.clocked += 1;
        }
    }

    pub(super) fn end_restart(&mut self) {
        if let Some(open) = self.restart.take() {
            let duration = open.last_at.since(open.restart.at);
            self.stream.restarts.push(Restart { duration, ..open.restart });
        }
    }
}
