//! Where a queue stands: with the sender, in its socket, on the way, or with the receiver.

use serde::Deserialize;
use serde::Serialize;

use crate::stats;
use crate::traffic::trace::Trace;
use crate::traffic::trace::float;
use crate::units::Bytes;
use crate::units::Nanos;

/// One reading of all places, taken as close together as calls allow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Glance {
    /// From the start of the flow.
    pub at_ns: Nanos,
    /// Bytes that the transport had taken in all.
    pub taken_bytes: Bytes,
    /// Of these, not yet sent (`tcpi_notsent_bytes`).
    pub unsent_bytes: Bytes,
    /// Of these, not yet acknowledged (SIOCOUTQ); holds those that are not yet sent.
    pub unacknowledged_bytes: Bytes,
    /// At the receiver, not yet read (FIONREAD).
    pub unread_bytes: Bytes,
    /// Bytes that the receiving user had read in all.
    pub read_bytes: Bytes,
    /// Smoothed round-trip time.
    pub rtt_ns: Nanos,
}

/// The mean queue of a flow by place, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Places {
    /// How many readings.
    pub glances: u64,
    /// Due and not yet taken by the transport.
    pub application_bytes: f64,
    /// Taken and not yet sent.
    pub socket_bytes: f64,
    /// Sent and not yet acknowledged. What has come and is not acknowledged yet is part of it, and stands with the
    /// receiver as well, or was read.
    pub network_bytes: f64,
    /// Received and not yet read.
    pub receiver_bytes: f64,
    /// A(t) - D(t) at the same moments.
    pub queue_bytes: f64,
    /// The largest difference between the sum of the four and A - D of one reading, bytes. What the sender has not
    /// heard of yet makes one: what moves in half a round trip, and a segment or two where the receiver delays its
    /// acknowledgement (RFC 1122, 4.2.3.2), as Linux does for 40 ms and more.
    pub largest_gap_bytes: f64,
    /// RTT less its smallest, mean, seconds: what waits on the way.
    pub queueing_s: f64,
    /// The smallest RTT, seconds.
    pub least_rtt_s: f64,
}

impl Places {
    /// The means over the readings within the duration; `None` without readings.
    pub fn of(trace: &Trace, glances: &[Glance]) -> Option<Self> {
        let within: Vec<&Glance> =
            glances.iter().filter(|glance| glance.at_ns <= trace.duration).collect();
        let least =
            within.iter().map(|glance| glance.rtt_ns).filter(|rtt| *rtt > Nanos::ZERO).min();
        let mut sums = Self::default();
        let arrivals = trace.arrivals();
        for glance in &within {
            let [taken, unsent, unacknowledged, unread, read] = [
                glance.taken_bytes,
                glance.unsent_bytes,
                glance.unacknowledged_bytes,
                glance.unread_bytes,
                glance.read_bytes,
            ]
            .map(|bytes| float(bytes.count()));
            // A full stream has nothing due but what it writes.
            let arrived =
                if trace.endless { taken } else { float(arrivals.by(glance.at_ns).count()) };
            let queue = arrived - read;
            let four =
                [(arrived - taken).max(0.0), unsent, (unacknowledged - unsent).max(0.0), unread];
            sums.application_bytes += four[0];
            sums.socket_bytes += four[1];
            sums.network_bytes += four[2];
            sums.receiver_bytes += four[3];
            sums.queue_bytes += queue;
            sums.queueing_s += glance.rtt_ns.since(least.unwrap_or(Nanos::ZERO)).seconds();
            let gap = (four.iter().sum::<f64>() - queue).abs();
            sums.largest_gap_bytes = sums.largest_gap_bytes.max(gap);
        }
        (!within.is_empty()).then(|| sums.mean(within.len(), least))
    }

    fn mean(self, count: usize, least: Option<Nanos>) -> Self {
        let n = stats::count(count);
        Self {
            glances: u64::try_from(count).unwrap_or(u64::MAX),
            application_bytes: self.application_bytes / n,
            socket_bytes: self.socket_bytes / n,
            network_bytes: self.network_bytes / n,
            receiver_bytes: self.receiver_bytes / n,
            queue_bytes: self.queue_bytes / n,
            queueing_s: self.queueing_s / n,
            least_rtt_s: least.map_or(0.0, Nanos::seconds),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::sending::burst::BlockRecord;
    use crate::traffic::sending::burst::Fate;

    #[test]
    fn four_places_make_up_the_queue() {
        let block = BlockRecord {
            size: Bytes::new(1000),
            fate: Fate::Unfinished,
            ..BlockRecord::default()
        };
        let trace =
            Trace { duration: Nanos::from_secs(1), blocks: vec![block], ..Trace::default() };
        let glance = |at, rtt| Glance {
            at_ns: Nanos::from_millis(at),
            taken_bytes: Bytes::new(700),
            unsent_bytes: Bytes::new(100),
            unacknowledged_bytes: Bytes::new(250),
            unread_bytes: Bytes::new(50),
            read_bytes: Bytes::new(400),
            rtt_ns: Nanos::from_millis(rtt),
        };
        let glances = [glance(1, 10), glance(2, 30), glance(2000, 1)];
        let places = Places::of(&trace, &glances).unwrap();
        assert_eq!(places.glances, 2);
        let sum = places.application_bytes
            + places.socket_bytes
            + places.network_bytes
            + places.receiver_bytes;
        assert!((sum - 600.0).abs() < 1e-9 && (places.queue_bytes - 600.0).abs() < 1e-9);
        assert!((places.queueing_s - 0.010).abs() < 1e-9 && places.largest_gap_bytes < 1e-9);
        assert_eq!(Places::of(&trace, &[]), None);
        // What was read while it still counts as sent stands in two places; one such reading shows among many.
        let early = Glance { read_bytes: Bytes::new(450), ..glance(3, 10) };
        let mut glances = vec![glance(1, 10); 99];
        glances.push(early);
        let places = Places::of(&trace, &glances).unwrap();
        assert!((places.largest_gap_bytes - 50.0).abs() < 1e-9, "{places:?}");
        assert!((places.queue_bytes - 599.5).abs() < 1e-9, "{places:?}");
    }
}
