//! What the sender waited for between two segments with data.

use super::Follower;
use super::Known;
use super::Last;
use crate::tcp::mark::Mark;
use crate::tcp::stream::Limit;
use crate::tcp::stream::Wait;
use crate::units::Nanos;

impl Follower {
    /// Names the time since the last segment with data.
    pub(super) fn wait(&mut self, at: Nanos, mark: Mark, payload: u32) {
        let Some(last) = self.last else { return };
        let opened = self.opened(at, &last);
        let known = self.known(at);
        let limit = self.limit(at, mark, payload, &last, known.as_ref());
        if limit == Limit::DelayedAck {
            self.stream.counts.nagle_stalls += 1;
        }
        let mut from = last.at;
        // The window had room again, and the sender had nothing for it.
        let opened = opened.filter(|_| limit == Limit::ReceiverWindow);
        let limit = if opened.is_some() { Limit::Application } else { limit };
        if let Some(opened) = opened {
            self.waited([from, opened], Limit::ReceiverWindow, &last);
            from = opened;
        }
        self.waited([from, at], limit, &last);
        if limit == Limit::Application {
            self.idle_ended(at, at.since(from));
        }
        if limit == Limit::CongestionWindow {
            self.clocked();
        }
    }

    fn waited(&mut self, [from, to]: [Nanos; 2], limit: Limit, last: &Last) {
        let is_squeezed = last.is_squeezed;
        let wait = Wait { from, to, limit, longest: to.since(from), is_squeezed };
        add(&mut self.stream.waits, wait, self.timer.least());
    }

    /// When a window that was used up had room for all that the sender sends now, if that was much
    /// earlier: a window alone does not keep a sender back for so long.
    fn opened(&self, at: Nanos, last: &Last) -> Option<Nanos> {
        let mss = i64::from(self.stream.mss_bytes.max(1));
        let has_room = |known: &&Known| known.edge - last.end >= mss;
        let sender = |known: &Known| known.at.saturating_add(self.stream.to_sender);
        let first = self.answers.iter().find(|known| has_room(known) && sender(known) > last.at)?;
        let late = at.since(sender(first)) > self.timer.tolerance() * 2;
        (!last.has_room && late).then(|| sender(first))
    }

    fn limit(
        &self,
        at: Nanos,
        mark: Mark,
        payload: u32,
        last: &Last,
        known: Option<&Known>,
    ) -> Limit {
        let tolerance = self.timer.tolerance();
        let gap = at.since(last.at);
        if mark.is_retransmission() || self.recovery.is_some() {
            return Limit::Recovery;
        }
        if mark == Mark::OutOfOrder {
            return Limit::Sending;
        }
        if gap <= tolerance && gap < self.quarter() {
            return Limit::Sending;
        }
        if !last.has_room {
            return Limit::ReceiverWindow;
        }
        let answer = known.filter(|known| known.at + self.stream.to_sender > last.at);
        let lag = |known: &Known| at.since(known.at + self.stream.to_sender);
        let prompt = answer.filter(|known| known.opens && lag(known) <= tolerance);
        let is_small = |bytes: u32| bytes < self.stream.mss_bytes;
        if let Some(known) = prompt {
            let held = known.is_delayed && known.is_last;
            return if held && (is_small(last.payload) || is_small(payload)) {
                Limit::DelayedAck
            } else if known.is_last && is_small(last.payload) && !self.is_bulk(last) {
                // An answer of the peer's application, or Nagle without a delayed acknowledgement.
                Limit::Application
            } else {
                Limit::CongestionWindow
            };
        }
        let nothing_in_flight = known.is_none_or(|known| known.acknowledged >= last.end);
        if nothing_in_flight || is_small(last.payload) {
            return Limit::Application;
        }
        if gap <= tolerance { Limit::Sending } else { Limit::Unknown }
    }

    /// More than one segment was in flight: a sender of blocks, not of single messages.
    fn is_bulk(&self, last: &Last) -> bool {
        self.stream.sent.last().is_some_and(|sent| sent.flight > u64::from(last.payload))
    }

    fn quarter(&self) -> Nanos {
        let round_trip = self.timer.round_trip().unwrap_or(Nanos::from_millis(1));
        Nanos::new(round_trip.count() / 4).max(Nanos::from_micros(200))
    }
}

/// Adds a gap; gaps of one kind that follow each other are one wait, unless one is long.
fn add(waits: &mut Vec<Wait>, wait: Wait, round_trip: Option<Nanos>) {
    let long = Nanos::from_millis(100).max(round_trip.unwrap_or_default() * 2);
    if let Some(last) = waits.last_mut()
        && (last.limit, last.is_squeezed) == (wait.limit, wait.is_squeezed)
        && last.to == wait.from
        && last.longest < long
        && wait.longest < long
    {
        last.to = wait.to;
        last.longest = last.longest.max(wait.longest);
        return;
    }
    waits.push(wait);
}
