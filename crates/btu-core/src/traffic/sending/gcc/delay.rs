//! The rate by delay: up while no queue grows, down to a share of what came as soon as one does.

use std::collections::VecDeque;

use crate::traffic::trace::float;
use crate::units::Bytes;
use crate::units::Nanos;

use super::Bounds;
use super::detector::Signal;

/// The delay-based estimate (section 5.5), bit/s.
#[derive(Debug)]
pub(super) struct ByDelay {
    /// `A_hat`
    estimate: f64,
    state: State,
    updated: Option<Nanos>,
    /// Where over-use was found before.
    limit: Option<Limit>,
    received: Received,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Decrease,
    Hold,
    Increase,
}

/// What came in at the times of over-use: mean, and variance over mean, both in kbit/s.
#[derive(Clone, Copy, Debug)]
struct Limit {
    mean: f64,
    spread: f64,
}

/// What came within the last T.
#[derive(Debug, Default)]
struct Received {
    packets: VecDeque<(Nanos, u64)>,
    first: Option<Nanos>,
    bytes: u64,
}

impl ByDelay {
    pub(super) fn new(start: f64) -> Self {
        let received = Received::default();
        Self { estimate: start, state: State::Increase, updated: None, limit: None, received }
    }

    pub(super) const fn estimate(&self) -> f64 {
        self.estimate
    }

    /// A packet came.
    pub(super) fn came(&mut self, at: Nanos, size: Bytes) {
        self.received.add(at, size.count());
    }

    /// Sets the rate by what the detector says.
    pub(super) fn update(&mut self, now: Nanos, signal: Signal, trip: Nanos, bounds: Bounds) {
        self.state = self.state.after(signal);
        let elapsed_ms = self.updated.map_or(0.0, |before| now.since(before).millis());
        self.updated = Some(now);
        // Until as much has come as the rate is measured by, nothing is known of it.
        let Some(received) = self.received.rate() else { return };
        let next = match self.state {
            State::Hold => self.estimate,
            State::Increase => self.increased(received, elapsed_ms, trip),
            State::Decrease => self.decreased(received),
        };
        self.estimate = bounds.within(next);
    }

    pub(super) fn halve(&mut self, bounds: Bounds) {
        self.estimate = bounds.within(self.estimate / 2.0);
    }

    //= draft-ietf-rmcat-gcc-02#5.5: A_hat(i) < 1.5 R_hat(i)
    fn increased(&mut self, received: f64, elapsed_ms: f64, trip: Nanos) -> f64 {
        self.limit = self.limit.filter(|limit| received <= limit.upper());
        let more = if self.limit.is_some_and(|limit| received > limit.lower()) {
            additive(self.estimate, elapsed_ms, trip.millis())
        } else {
            multiplicative(self.estimate, elapsed_ms)
        };
        // A sender that does not use its rate gets no more of it, and keeps what it has.
        more.min((1.5 * received).max(self.estimate))
    }

    //= draft-ietf-rmcat-gcc-02#5.5: A_hat(i) = beta R_hat(i)
    // A queue that still runs out may come faster than what is sent by now: nothing increases here.
    fn decreased(&mut self, received: f64) -> f64 {
        self.limit = Some(Limit::after(self.limit, received));
        self.estimate.min(BETA * received)
    }
}

//= draft-ietf-rmcat-gcc-02#5.5: eta = 1.08^min(time_since_last_update_ms / 1000, 1.0), A_hat(i) = eta A_hat(i-1)
fn multiplicative(estimate: f64, elapsed_ms: f64) -> f64 {
    estimate * 1.08_f64.powf((elapsed_ms / 1000.0).min(1.0))
}

//= draft-ietf-rmcat-gcc-02#5.5: response_time_ms = 100 + rtt_ms,
//    alpha = 0.5 min(time_since_last_update_ms / response_time_ms, 1.0),
//    A_hat(i) = A_hat(i-1) + max(1000, alpha expected_packet_size_bits)
fn additive(estimate: f64, elapsed_ms: f64, trip_ms: f64) -> f64 {
    let alpha = 0.5 * (elapsed_ms / (100.0 + trip_ms)).min(1.0);
    let bits_per_frame = estimate / 30.0;
    let packets_per_frame = (bits_per_frame / (1200.0 * 8.0)).ceil();
    estimate + (alpha * bits_per_frame / packets_per_frame).max(1000.0)
}

impl State {
    /// The table of section 5.5.
    const fn after(self, signal: Signal) -> Self {
        match (signal, self) {
            (Signal::Over, _) => Self::Decrease,
            (Signal::Normal, Self::Hold | Self::Increase) => Self::Increase,
            (Signal::Normal, Self::Decrease) | (Signal::Under, _) => Self::Hold,
        }
    }
}

/// The draft averages with 0.95 and calls three standard deviations close. Of the first over-use there is no deviation:
/// libwebrtc keeps that within bounds, which depend on the mean (`link_capacity_estimator.cc`).
impl Limit {
    fn after(before: Option<Self>, received: f64) -> Self {
        let sample = received / 1e3;
        let Self { mean, spread } = before.unwrap_or(Self { mean: sample, spread: LEAST_SPREAD });
        let mean = SMOOTHING * mean + (1.0 - SMOOTHING) * sample;
        let error = mean - sample;
        let spread = SMOOTHING * spread + (1.0 - SMOOTHING) * error * error / mean.max(1.0);
        Self { mean, spread: spread.clamp(LEAST_SPREAD, MOST_SPREAD) }
    }

    fn deviations(self) -> f64 {
        3.0 * (self.spread * self.mean).sqrt()
    }

    /// bit/s
    fn upper(self) -> f64 {
        1e3 * (self.mean + self.deviations())
    }

    /// bit/s
    fn lower(self) -> f64 {
        1e3 * (self.mean - self.deviations())
    }
}

impl Received {
    fn add(&mut self, at: Nanos, bytes: u64) {
        self.first.get_or_insert(at);
        self.packets.push_back((at, bytes));
        self.bytes += bytes;
        while let Some((oldest, bytes)) = self.packets.front().copied()
            && at.since(oldest) >= WINDOW
        {
            self.packets.pop_front();
            self.bytes -= bytes;
        }
    }

    //= draft-ietf-rmcat-gcc-02#5.5: R_hat(i) = 1/T sum(L(j)) for j from 1 to N(i)
    fn rate(&self) -> Option<f64> {
        let (newest, _) = self.packets.back()?;
        let is_full = self.first.is_some_and(|first| newest.since(first) >= WINDOW);
        is_full.then(|| 8.0 * float(self.bytes) / WINDOW.seconds())
    }
}

/// beta of table 1.
const BETA: f64 = 0.85;
/// T of table 1: 0.5 to 1 s. The shorter one follows a path that became slower sooner.
const WINDOW: Nanos = Nanos::from_millis(500);
const SMOOTHING: f64 = 0.95;
const LEAST_SPREAD: f64 = 0.4;
const MOST_SPREAD: f64 = 2.5;

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: Bounds = Bounds { least: 1e4, most: 1e9 };

    fn near(found: f64, wanted: f64) -> bool {
        (found / wanted - 1.0).abs() < 1e-9
    }

    /// 500 ms of 1250 bytes each 10 ms: 1 Mb/s.
    fn fed(start: f64) -> ByDelay {
        let mut rate = ByDelay::new(start);
        for at in 0..=50 {
            rate.came(Nanos::from_millis(10 * at), Bytes::new(1250));
        }
        rate
    }

    #[test]
    fn the_states_follow_the_table_of_the_draft() {
        use State::*;
        let after = |signal| [Hold, Increase, Decrease].map(|state| state.after(signal));
        assert_eq!(after(Signal::Over), [Decrease; 3]);
        assert_eq!(after(Signal::Normal), [Increase, Increase, Hold]);
        assert_eq!(after(Signal::Under), [Hold; 3]);
    }

    /// 8 % in a second and no more in two; a half of a packet of 8333 bits (1 Mb/s in 30 frames of four) in the
    /// 150 ms of a round trip of 50, a third of that in 50 ms, and 1000 bits at the least.
    #[test]
    fn increases_are_those_of_the_draft() {
        assert!(
            near(multiplicative(1e6, 1000.0), 1.08e6) && near(multiplicative(1e6, 2e3), 1.08e6)
        );
        assert!(near(multiplicative(1e6, 500.0), 1e6 * 1.08_f64.sqrt()));
        let packet = 1e6 / 30.0 / 4.0;
        assert!(near(additive(1e6, 150.0, 50.0), 1e6 + packet / 2.0));
        assert!(near(additive(1e6, 50.0, 50.0), 1e6 + packet / 6.0));
        assert!(near(additive(1e6, 10.0, 50.0), 1_001_000.0));
    }

    #[test]
    fn over_use_leaves_a_share_of_what_came_and_the_next_increase_is_additive() {
        let mut rate = fed(1.2e6);
        let (trip, at) = (Nanos::from_millis(50), Nanos::from_millis);
        rate.update(at(500), Signal::Over, trip, FREE);
        assert!(near(rate.estimate(), 0.85e6), "{rate:?}");
        rate.update(at(600), Signal::Under, trip, FREE);
        rate.update(at(700), Signal::Under, trip, FREE);
        assert!(near(rate.estimate(), 0.85e6), "{rate:?}");
        rate.update(at(850), Signal::Normal, trip, FREE);
        // 0.85 Mb/s in 30 frames of three packets.
        assert!(near(rate.estimate(), 0.85e6 + 0.85e6 / 180.0), "{rate:?}");
    }

    #[test]
    fn a_rate_that_is_not_used_does_not_grow() {
        let mut rate = fed(3e6);
        rate.update(Nanos::from_millis(500), Signal::Normal, Nanos::ZERO, FREE);
        rate.update(Nanos::from_millis(1500), Signal::Normal, Nanos::ZERO, FREE);
        assert!(near(rate.estimate(), 3e6), "{rate:?}");
        let mut rate = fed(1.45e6);
        rate.update(Nanos::from_millis(500), Signal::Normal, Nanos::ZERO, FREE);
        rate.update(Nanos::from_millis(1500), Signal::Normal, Nanos::ZERO, FREE);
        assert!(near(rate.estimate(), 1.5e6), "{rate:?}");
    }
}
