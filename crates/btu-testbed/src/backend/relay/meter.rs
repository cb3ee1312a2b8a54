//! What a direction measures of itself: how late it was, and what it could not do.

use std::io;

use btu_core::sample::DirectionSample;
use btu_core::sample::Quantiles;
use btu_core::units::Nanos;
use btu_sys::errno::ENOBUFS;
use hdrhistogram::Histogram;

use crate::segment::Vnet;

/// Counters and distributions of one run.
#[derive(Debug)]
pub(super) struct Meter {
    /// Nanoseconds from due to the start of the send.
    lateness: Histogram<u64>,
    /// Nanoseconds from due to the end of the send.
    error: Histogram<u64>,
    pub(super) counts: Counts,
}

/// What a direction could not do, or did too late, in wire packets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) late: u64,
    pub(super) opaque: u64,
    pub(super) overflow: u64,
    pub(super) overflow_bytes: u64,
    pub(super) send_errors: u64,
    /// What the device counted, at most, of calls that failed: also of frames that are not counted, and of
    /// earlier runs.
    pub(super) known_refusals: u64,
    pub(super) socket_drops: u64,
}

impl Counts {
    /// A send failed. Only `ENOBUFS` comes from the device, which counts the frame as dropped; a super-packet that
    /// cannot be divided it counts twice (`validate_xmit_skb` and `__dev_direct_xmit` of `net/core/dev.c`).
    pub(super) fn failed(&mut self, cause: &io::Error, vnet: Vnet) {
        if cause.raw_os_error() == Some(ENOBUFS) {
            self.known_refusals += if vnet.is_super() { 2 } else { 1 };
        }
    }
}

impl Meter {
    pub(super) fn new() -> Self {
        Self { lateness: histogram(), error: histogram(), counts: Counts::default() }
    }

    /// Begins a new run, with the memory of the old one.
    pub(super) fn reset(&mut self) {
        self.lateness.reset();
        self.error.reset();
        self.counts = Counts::default();
    }

    /// `count` wire packets were due at `due`; their send began and ended.
    pub(super) fn sent(&mut self, count: u32, due: Nanos, began: Nanos, ended: Nanos) {
        let (count, lateness) = (u64::from(count), began.since(due));
        self.lateness.saturating_record_n(lateness.count(), count);
        self.error.saturating_record_n(ended.since(due).count(), count);
        if lateness > LATE {
            self.counts.late += count;
        }
    }

    /// Completes what the chain says of its direction.
    pub(super) fn complete(&self, sample: &mut DirectionSample) {
        let counts = &self.counts;
        sample.packets += counts.overflow;
        sample.bytes += counts.overflow_bytes;
        sample.overflow += counts.overflow;
        sample.late = counts.late;
        sample.opaque = counts.opaque;
        sample.send_errors = counts.send_errors;
        sample.socket_drops = counts.socket_drops;
        sample.lateness_us = quantiles(&self.lateness);
        sample.delay_error_us = sample.delay_asked_us.and_then(|_| quantiles(&self.error));
    }
}

/// Up to 100 s in steps of a thousandth.
#[expect(clippy::expect_used, reason = "constant bounds, as the tests show")]
fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 100_000_000_000, 3).expect("legal bounds")
}

fn quantiles(nanoseconds: &Histogram<u64>) -> Option<Quantiles> {
    let micros = |count: u64| Nanos::new(count).micros();
    (!nanoseconds.is_empty()).then(|| Quantiles {
        n: nanoseconds.len(),
        mean: nanoseconds.mean() / 1000.0,
        p50: micros(nanoseconds.value_at_quantile(0.5)),
        p99: micros(nanoseconds.value_at_quantile(0.99)),
        max: micros(nanoseconds.max()),
    })
}

/// A packet released later than this counts as late.
const LATE: Nanos = Nanos::from_micros(50);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_is_counted_per_wire_packet() {
        let mut meter = Meter::new();
        let due = Nanos::from_millis(5);
        meter.sent(98, due, due, due + Nanos::from_micros(10));
        meter.sent(2, due, due + Nanos::from_micros(60), due + Nanos::from_micros(100));
        let mut sample = DirectionSample { delay_asked_us: Some(5000.0), ..Default::default() };
        meter.complete(&mut sample);
        assert_eq!(sample.late, 2);
        let error = sample.delay_error_us.unwrap();
        assert_eq!(error.n, 100);
        assert!((error.p50 - 10.0).abs() < 0.02 && (error.p99 - 100.0).abs() < 0.2, "{error:?}");
        assert!((error.mean - 11.8).abs() < 0.05, "{error:?}");
        meter.reset();
        meter.complete(&mut sample);
        assert_eq!((sample.late, sample.lateness_us), (0, None));
    }

    #[test]
    fn without_an_asked_delay_there_is_no_delay_error() {
        let mut meter = Meter::new();
        meter.sent(1, Nanos::ZERO, Nanos::ZERO, Nanos::ZERO);
        let mut sample = DirectionSample::default();
        meter.complete(&mut sample);
        assert_eq!(sample.delay_error_us, None);
        assert!(sample.lateness_us.is_some());
    }
}
