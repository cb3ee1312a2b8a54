//! Google Congestion Control: the rate at which media are sent, by what their receiver reports of each packet.
//!
//! draft-ietf-rmcat-gcc-02, with both controllers at the sender (section 3): groups of packets
//! (`groups`), the filter of their delay variation (`filter`), the over-use detector (`detector`) and the rate
//! by delay (`delay`); beside it the rate by loss (`loss`). Where the draft leaves something open, libwebrtc's
//! answer is taken, and named where it stands. Left out is what libwebrtc has beyond the draft: probes, and the
//! estimates of the application's pauses.

mod delay;
mod detector;
mod filter;
mod groups;
mod loss;

use crate::traffic::figures::flow::rounded;
use crate::traffic::trace::float;
use crate::units::BitRate;
use crate::units::Bytes;
use crate::units::Nanos;

use self::delay::ByDelay;
use self::detector::Detector;
use self::detector::Signal;
use self::filter::Filter;
use self::groups::Groups;
use self::loss::ByLoss;

/// A controller of one sender.
#[derive(Debug)]
pub struct Gcc {
    groups: Groups,
    filter: Filter,
    detector: Detector,
    by_delay: ByDelay,
    by_loss: ByLoss,
    bounds: Bounds,
}

/// A packet that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledged {
    /// When it left, by the sender's clock.
    pub sent: Nanos,
    /// When it came, by the receiver's: only differences of these matter.
    pub came: Nanos,
    /// Its size.
    pub size: Bytes,
}

/// What a report says, packets by the time at which they came.
#[derive(Clone, Copy, Debug)]
pub struct Heard<'a> {
    /// The packets that came since the report before.
    pub packets: &'a [Acknowledged],
    /// How many were to come since the report before, by their numbers.
    pub expected: u64,
    /// How many of those did not.
    pub lost: u64,
    /// From a packet to what its receiver says of it, without the time that the receiver took for that.
    pub round_trip: Nanos,
}

/// The least and the most that a rate may be, bit/s.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    least: f64,
    most: f64,
}

impl Gcc {
    /// A controller that begins at a rate between a least and a largest one.
    pub fn new(start: BitRate, [least, most]: [BitRate; 2]) -> Self {
        let [start, least, most] = [start, least, most].map(|rate| float(rate.bit_per_second()));
        let bounds = Bounds { least, most };
        let start = bounds.within(start);
        Self {
            groups: Groups::default(),
            filter: Filter::default(),
            detector: Detector::default(),
            by_delay: ByDelay::new(start),
            by_loss: ByLoss::new(start),
            bounds,
        }
    }

    /// What may be sent: the smaller of both rates (section 6).
    pub fn rate(&self) -> BitRate {
        let rate = self.by_delay.estimate().min(self.by_loss.estimate());
        BitRate::new(rounded(self.bounds.within(rate)))
    }

    /// Takes note of a report that came at `now`. Gives what may be sent from then on.
    pub fn hear(&mut self, now: Nanos, heard: &Heard<'_>) -> BitRate {
        let mut signals = Vec::new();
        for packet in heard.packets {
            self.by_delay.came(packet.came, packet.size);
            if let Some(step) = self.groups.add(packet.sent, packet.came) {
                let trend = self.filter.update(&step);
                signals.push(self.detector.detect(trend, &step));
            }
        }
        // The rate is set once for each report: what was over-used in between counts, however it went on.
        let over = signals.contains(&Signal::Over).then_some(Signal::Over);
        let signal = over.or(signals.last().copied()).unwrap_or(Signal::Normal);
        self.by_delay.update(now, signal, heard.round_trip, self.bounds);
        let most = self.by_delay.estimate();
        self.by_loss.update(now, heard, Bounds { most, ..self.bounds });
        self.rate()
    }

    /// Nothing was heard for long. The draft says nothing of that; a sender that knows nothing of its path halves
    /// its rate, as for a lost window.
    pub fn hear_nothing(&mut self) -> BitRate {
        self.by_delay.halve(self.bounds);
        self.by_loss.halve(self.bounds);
        self.rate()
    }
}

impl Bounds {
    fn within(self, rate: f64) -> f64 {
        rate.min(self.most).max(self.least)
    }
}

#[cfg(test)]
mod tests;
