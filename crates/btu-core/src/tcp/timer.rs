//! The sender's retransmission timer, as an observer can rebuild it (RFC 6298).

use crate::units::Nanos;

/// Smoothed round trip and its variation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timer {
    smoothed: Option<Nanos>,
    variation: Nanos,
    least: Option<Nanos>,
}

impl Timer {
    /// Takes a sample of the whole path.
    //= RFC 6298, 2.2 and 2.3: alpha 1/8, beta 1/4
    pub(super) fn sample(&mut self, time: Nanos) {
        self.least = Some(self.least.map_or(time, |least| least.min(time)));
        let Some(smoothed) = self.smoothed else {
            (self.smoothed, self.variation) = (Some(time), Nanos::new(time.count() / 2));
            return;
        };
        let apart = smoothed.count().abs_diff(time.count());
        self.variation = Nanos::new(self.variation.count() / 4 * 3 + apart / 4);
        self.smoothed = Some(Nanos::new(smoothed.count() / 8 * 7 + time.count() / 8));
    }

    /// Smoothed round trip.
    pub(super) const fn round_trip(&self) -> Option<Nanos> {
        self.smoothed
    }

    /// Smallest round trip.
    pub(super) const fn least(&self) -> Option<Nanos> {
        self.least
    }

    /// When the timer runs out, at the least: Linux adds 200 ms where RFC 6298 wants a second.
    pub(super) fn timeout(&self) -> Nanos {
        let Some(smoothed) = self.smoothed else { return Nanos::from_millis(200) };
        smoothed + (self.variation * 4).max(Nanos::from_millis(200))
    }

    /// How long after its trigger a segment still counts as sent for it.
    #[inline]
    pub(super) fn tolerance(&self) -> Nanos {
        let quarter = Nanos::new(self.smoothed.unwrap_or_default().count() / 4);
        quarter.max(Nanos::from_millis(2)).min(Nanos::from_millis(10))
    }
}
