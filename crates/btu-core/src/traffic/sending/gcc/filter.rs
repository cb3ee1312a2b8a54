//! The filter of delay variation: how fast the queue of the path grows, without the noise.

use std::collections::VecDeque;

use super::groups::Step;

/// A scalar Kalman filter (section 5.3), in milliseconds per group.
#[derive(Debug)]
pub(super) struct Filter {
    /// `m_hat`
    slope: f64,
    /// `e`
    error: f64,
    /// `var_v_hat`
    noise: f64,
    /// T(j) - T(j-1) of the last K groups, ms.
    periods: VecDeque<f64>,
    groups: f64,
}

/// What is compared with the threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Trend {
    /// m(i), multiplied as libwebrtc does: by the groups that it is an estimate of, 60 at the most (`Detect` of
    /// `overuse_detector.cc`). The draft compares m(i) itself: of groups that are 5 to 20 ms long a path that is
    /// over-used by a tenth would never be told from one that is not.
    pub(super) offset_ms: f64,
}

impl Filter {
    /// The next group.
    pub(super) fn update(&mut self, step: &Step) -> Trend {
        self.remember(step.sent_ms);
        //= draft-ietf-rmcat-gcc-02#5.3: z(i) = d(i) - m_hat(i-1)
        let residual = step.variation_ms() - self.slope;
        self.update_noise(residual);
        //= draft-ietf-rmcat-gcc-02#5.3: k(i) = (e(i-1) + q(i)) / (var_v_hat(i) + e(i-1) + q(i))
        let error = self.error + STATE_NOISE;
        let gain = error / (self.noise + error);
        //= draft-ietf-rmcat-gcc-02#5.3: m_hat(i) = m_hat(i-1) + z(i) k(i), e(i) = (1 - k(i)) (e(i-1) + q(i))
        self.slope += residual * gain;
        self.error = (1.0 - gain) * error;
        self.groups = (self.groups + 1.0).min(MOST_GROUPS);
        Trend { offset_ms: self.groups * self.slope }
    }

    //= draft-ietf-rmcat-gcc-02#5.3: var_v_hat(i) = max(alpha var_v_hat(i-1) + (1 - alpha) z(i)^2, 1),
    // alpha = (1 - chi)^(30 / (1000 f_max)), z at the most 3 sqrt(var_v_hat); f_max per ms, as libwebrtc has it
    // (`UpdateNoiseEstimate` of `overuse_estimator.cc`).
    fn update_noise(&mut self, residual: f64) {
        let shortest = self.periods.iter().copied().fold(f64::MAX, f64::min);
        let alpha = (1.0 - CHI).powf(30.0 * shortest / 1000.0);
        let most = 3.0 * self.noise.sqrt();
        let residual = residual.clamp(-most, most);
        self.noise = (alpha * self.noise + (1.0 - alpha) * residual * residual).max(1.0);
    }

    fn remember(&mut self, period_ms: f64) {
        if self.periods.len() == REMEMBERED {
            self.periods.pop_front();
        }
        self.periods.push_back(period_ms);
    }
}

impl Default for Filter {
    fn default() -> Self {
        Self { slope: 0.0, error: 0.1, noise: FIRST_NOISE, periods: VecDeque::new(), groups: 0.0 }
    }
}

/// q of table 1, `10^-3`.
const STATE_NOISE: f64 = 1e-3;
/// Of its range, [0.1, 0.001], in the middle.
const CHI: f64 = 0.01;
/// libwebrtc: `OverUseDetectorOptions`.
const FIRST_NOISE: f64 = 50.0;
/// K; libwebrtc: `kMinFramePeriodHistoryLength`.
const REMEMBERED: usize = 60;
/// libwebrtc: `kMaxNumDeltas`.
const MOST_GROUPS: f64 = 60.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, wanted: f64) -> bool {
        (found - wanted).abs() < 1e-9
    }

    /// Groups each 10 ms: alpha = 0.99^0.3 = 0.996989; of d = 4: var = 0.996989 * 50 + 0.003011 * 16 = 49.897...,
    /// k = 0.101 / (var + 0.101), m = 4 k, e = (1 - k) 0.101.
    #[test]
    fn the_first_group_is_weighed_as_the_draft_says() {
        let mut filter = Filter::default();
        let trend = filter.update(&Step { sent_ms: 10.0, came_ms: 14.0 });
        let alpha = 0.99_f64.powf(0.3);
        let noise = alpha * 50.0 + (1.0 - alpha) * 16.0;
        let gain = 0.101 / (noise + 0.101);
        assert!(near(filter.noise, noise) && (noise - 49.897_6).abs() < 1e-3, "{filter:?}");
        assert!(near(filter.slope, 4.0 * gain) && near(trend.offset_ms, 4.0 * gain));
        assert!(near(filter.error, (1.0 - gain) * 0.101));
    }

    /// A spike of 1 s is taken for 3 standard deviations of the noise: 3 * sqrt(50) = 21.2 ms.
    #[test]
    fn an_outlier_hardly_changes_the_noise() {
        let mut filter = Filter::default();
        filter.update(&Step { sent_ms: 10.0, came_ms: 1010.0 });
        let alpha = 0.99_f64.powf(0.3);
        assert!(near(filter.noise, alpha * 50.0 + (1.0 - alpha) * 450.0), "{filter:?}");
    }

    #[test]
    fn a_queue_that_grows_evenly_is_found_at_its_slope() {
        let mut filter = Filter::default();
        for _ in 0..2000 {
            filter.update(&Step { sent_ms: 10.0, came_ms: 11.0 });
        }
        assert!((filter.slope - 1.0).abs() < 0.01, "{filter:?}");
        // Noise is never less than 1 ms^2.
        assert!(filter.noise >= 1.0);
    }
}
