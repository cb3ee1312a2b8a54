//! The over-use detector: whether a queue grows, by a threshold that adapts itself.

use super::filter::Trend;
use super::groups::Step;

/// What the path is, as far as its delay tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// A queue grows.
    Over,
    /// Neither.
    Normal,
    /// A queue runs empty.
    Under,
}

/// Of one sender (section 5.4).
#[derive(Debug)]
pub(super) struct Detector {
    /// `del_var_th`, ms.
    threshold: f64,
    before: f64,
    /// For how long the path has been over-used, ms, in how many groups.
    over: Option<(f64, u32)>,
}

impl Detector {
    /// Compares the next trend with the threshold of those before it, and adapts that.
    pub(super) fn detect(&mut self, trend: Trend, step: &Step) -> Signal {
        let offset = trend.offset_ms;
        let signal = if offset > self.threshold {
            self.above(offset, step.sent_ms)
        } else {
            self.over = None;
            if offset < -self.threshold { Signal::Under } else { Signal::Normal }
        };
        self.before = offset;
        self.adapt(offset, step.came_ms);
        signal
    }

    /// Over-use has to last for 10 ms and must not become less meanwhile. libwebrtc counts a half of the first group,
    /// and wants a second one (`Detect` of `overuse_detector.cc`).
    fn above(&mut self, offset: f64, period_ms: f64) -> Signal {
        let (time, groups) =
            self.over.map_or((period_ms / 2.0, 1), |(time, groups)| (time + period_ms, groups + 1));
        self.over = Some((time, groups));
        if time > OVERUSE_TIME_MS && groups > 1 && offset >= self.before {
            self.over = Some((0.0, 0));
            return Signal::Over;
        }
        Signal::Normal
    }

    //= draft-ietf-rmcat-gcc-02#5.4: del_var_th(i) = del_var_th(i-1)
    //    + (t(i) - t(i-1)) K(i) (|m(i)| - del_var_th(i-1)), not where |m(i)| - del_var_th(i) > 15, within [6, 600].
    // libwebrtc takes a step for 100 ms at the most.
    fn adapt(&mut self, offset: f64, elapsed_ms: f64) {
        let beyond = offset.abs() - self.threshold;
        if beyond > FAR_BEYOND_MS {
            return;
        }
        let gain = if beyond < 0.0 { DOWN } else { UP };
        let next = self.threshold + elapsed_ms.min(LONGEST_MS) * gain * beyond;
        self.threshold = next.clamp(LEAST_MS, MOST_MS);
    }
}

impl Default for Detector {
    fn default() -> Self {
        Self { threshold: 12.5, before: 0.0, over: None }
    }
}

/// `overuse_time_th` of table 1.
const OVERUSE_TIME_MS: f64 = 10.0;
/// `K_u` of table 1.
const UP: f64 = 0.01;
/// `K_d` of table 1.
const DOWN: f64 = 0.000_18;
const FAR_BEYOND_MS: f64 = 15.0;
const LEAST_MS: f64 = 6.0;
const MOST_MS: f64 = 600.0;
const LONGEST_MS: f64 = 100.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(detector: &mut Detector, offset_ms: f64) -> Signal {
        detector.detect(Trend { offset_ms }, &Step { sent_ms: 8.0, came_ms: 10.0 })
    }

    /// Groups of 8 ms: 4 ms after the first one, 12 after the second.
    #[test]
    fn over_use_is_what_lasts_for_ten_milliseconds_and_does_not_become_less() {
        let mut detector = Detector::default();
        assert_eq!([30.0, 31.0].map(|m| feed(&mut detector, m)), [Signal::Normal, Signal::Over]);
        let mut detector = Detector::default();
        assert_eq!([31.0, 30.0].map(|m| feed(&mut detector, m)), [Signal::Normal; 2]);
        assert_eq!([5.0, -30.0].map(|m| feed(&mut detector, m)), [Signal::Normal, Signal::Under]);
        assert_eq!(feed(&mut detector, 31.0), Signal::Normal, "it began anew");
    }

    /// 10 ms at 20: 12.5 + 10 * 0.01 * 7.5 = 13.25. 10 ms at 3.25: 13.25 - 10 * 0.00018 * 10 = 13.232.
    #[test]
    fn the_threshold_rises_fast_and_falls_slowly() {
        let mut detector = Detector::default();
        feed(&mut detector, 20.0);
        assert!((detector.threshold - 13.25).abs() < 1e-9, "{detector:?}");
        feed(&mut detector, -3.25);
        assert!((detector.threshold - 13.232).abs() < 1e-9, "{detector:?}");
        // What is further beyond is no noise to get used to.
        feed(&mut detector, 28.3);
        assert!((detector.threshold - 13.232).abs() < 1e-9, "{detector:?}");
        (0..100_000).for_each(|_| assert_eq!(feed(&mut detector, 0.0), Signal::Normal));
        assert!((detector.threshold - 6.0).abs() < 1e-9, "{detector:?}");
    }
}
