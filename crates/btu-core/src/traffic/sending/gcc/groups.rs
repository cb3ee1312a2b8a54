//! Packets that left or came together, and how much longer each group took than the one before.

use crate::units::Nanos;

/// Groups as they come.
#[derive(Debug, Default)]
pub(super) struct Groups {
    before: Option<Group>,
    current: Option<Group>,
}

#[derive(Clone, Copy, Debug)]
struct Group {
    first_sent: Nanos,
    last_sent: Nanos,
    first_came: Nanos,
    last_came: Nanos,
}

/// From one group to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Step {
    /// T(i) - T(i-1), ms.
    pub(super) sent_ms: f64,
    /// t(i) - t(i-1), ms.
    pub(super) came_ms: f64,
}

impl Step {
    //= draft-ietf-rmcat-gcc-02#5.1: d(i) = t(i) - t(i-1) - (T(i) - T(i-1))
    pub(super) fn variation_ms(&self) -> f64 {
        self.came_ms - self.sent_ms
    }
}

impl Groups {
    /// One more packet. Gives the step to the group that it ends, if it begins another one. What left before the
    /// group at hand came out of order and is ignored (5.1).
    pub(super) fn add(&mut self, sent: Nanos, came: Nanos) -> Option<Step> {
        let new = Group { first_sent: sent, last_sent: sent, first_came: came, last_came: came };
        let Some(current) = &mut self.current else {
            self.current = Some(new);
            return None;
        };
        if sent < current.first_sent {
            return None;
        }
        if current.takes(sent, came) {
            current.last_sent = current.last_sent.max(sent);
            current.last_came = current.last_came.max(came);
            return None;
        }
        let ended = std::mem::replace(current, new);
        let before = self.before.replace(ended)?;
        Some(Step {
            sent_ms: ended.last_sent.since(before.last_sent).millis(),
            came_ms: ended.last_came.since(before.last_came).millis(),
        })
    }
}

impl Group {
    /// Section 5.2: what is sent within a burst time is a group, and what comes within one of the packet before and
    /// took less time than it belongs to it. libwebrtc ends such a burst of arrivals after 100 ms (`inter_arrival_delta.cc`).
    fn takes(&self, sent: Nanos, came: Nanos) -> bool {
        let within = sent.since(self.first_sent) <= BURST_TIME;
        let gap = came.since(self.last_came);
        let quicker = gap < sent.since(self.last_sent);
        within || (gap < BURST_TIME && quicker && came.since(self.first_came) < LONGEST_BURST)
    }
}

/// Table 1.
pub(super) const BURST_TIME: Nanos = Nanos::from_millis(5);
const LONGEST_BURST: Nanos = Nanos::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(packets: &[(u64, u64)]) -> Vec<(f64, f64)> {
        let mut groups = Groups::default();
        let add = |(sent, came): &(u64, u64)| {
            groups.add(Nanos::from_millis(*sent), Nanos::from_millis(*came))
        };
        packets.iter().filter_map(add).map(|step| (step.sent_ms, step.variation_ms())).collect()
    }

    #[test]
    fn what_is_sent_within_a_burst_time_is_one_group() {
        // Groups 0-5, 20-24 and 40: the second one took 3 ms longer than the first.
        let found = steps(&[(0, 10), (5, 12), (20, 30), (24, 34), (40, 50), (60, 70)]);
        assert_eq!(found, [(19.0, 3.0), (16.0, 0.0)]);
    }

    #[test]
    fn what_an_outage_held_up_is_one_group_and_what_is_late_is_none() {
        // 20, 40 and 60 come together after an outage; 10 comes long after it was overtaken.
        let found = steps(&[(0, 10), (20, 80), (40, 81), (60, 82), (10, 83), (80, 92), (100, 112)]);
        assert_eq!(found, [(60.0, 12.0), (20.0, -10.0)]);
    }
}
