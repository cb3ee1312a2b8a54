//! Noise that is correlated in time, as other work on a machine makes it.

use rand::SeedableRng;
use rand_chacha::ChaCha12Rng;
use rand_distr::Distribution;
use rand_distr::Exp1;
use rand_distr::StandardNormal;

use crate::units::Nanos;

/// What multiplies the times of exchanges.
#[derive(Debug)]
pub struct Noise {
    chance: ChaCha12Rng,
    /// Standard deviation of each exchange on its own, on logs.
    each: f64,
    /// Standard deviation of the slow part, on logs.
    slow: f64,
    /// Time in which the slow part forgets all but 1/e of itself.
    memory: Nanos,
    bursts: Option<Bursts>,
    state: State,
}

/// Times of disturbance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bursts {
    /// The share of the time that is disturbed.
    pub share: f64,
    /// The mean length of a burst.
    pub length: Nanos,
    /// By how much a disturbed exchange is slower.
    pub factor: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    at: Nanos,
    slow: f64,
    disturbed: bool,
    until: Nanos,
}

impl Noise {
    /// Every exchange takes its time exactly.
    pub fn none() -> Self {
        Self::correlated(0.0, Nanos::from_secs(1), 0)
    }

    /// The logs of times wander by `sd` and forget within `memory`: an Ornstein-Uhlenbeck process.
    pub fn correlated(sd: f64, memory: Nanos, seed: u64) -> Self {
        let mut chance = ChaCha12Rng::seed_from_u64(seed);
        let start: f64 = StandardNormal.sample(&mut chance);
        let state = State { slow: sd * start, ..State::default() };
        Self { chance, each: 0.0, slow: sd, memory, bursts: None, state }
    }

    /// Besides, each exchange differs on its own, by `sd` on logs.
    #[must_use]
    pub fn and_each(mut self, sd: f64) -> Self {
        self.each = sd;
        self
    }

    /// Besides, there are bursts.
    #[must_use]
    pub fn and_bursts(mut self, bursts: Bursts) -> Self {
        self.bursts = Some(bursts);
        self
    }

    /// What the exchange that begins at `now` takes longer.
    pub(super) fn factor(&mut self, now: Nanos) -> f64 {
        let mut log = 0.0;
        if self.slow > 0.0 {
            let kept = (-now.since(self.state.at).seconds() / self.memory.seconds()).exp();
            let fresh = self.slow * (1.0 - kept * kept).sqrt();
            self.state.slow = kept * self.state.slow + fresh * self.normal();
            log += self.state.slow;
        }
        if self.each > 0.0 {
            log += self.each * self.normal();
        }
        self.state.at = now;
        log.exp() * self.burst(now)
    }

    fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.chance)
    }

    /// Bursts and pauses follow each other with exponential lengths.
    fn burst(&mut self, now: Nanos) -> f64 {
        let Some(bursts) = self.bursts else { return 1.0 };
        while self.state.until <= now {
            self.state.disturbed = !self.state.disturbed && bursts.share > 0.0;
            let pause = (1.0 - bursts.share) / bursts.share.max(1e-9);
            let mean = bursts.length.seconds() * if self.state.disturbed { 1.0 } else { pause };
            let drawn: f64 = Exp1.sample(&mut self.chance);
            let length = super::super::schedule::whole(mean * drawn * 1e9);
            self.state.until =
                self.state.until.saturating_add(length).saturating_add(Nanos::new(1));
        }
        if self.state.disturbed { bursts.factor } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::arithmetic_mean;
    use crate::stats::count;
    use crate::stats::mean_and_sd;

    fn logs(mut noise: Noise, step: Nanos, n: u64) -> Vec<f64> {
        (0..n).map(|k| noise.factor(step * k).ln()).collect()
    }

    #[test]
    fn correlated_noise_has_its_deviation_and_its_memory() {
        let noise = Noise::correlated(0.05, Nanos::from_millis(10), 1);
        let logs = logs(noise, Nanos::from_millis(1), 20_000);
        let (_, sd) = mean_and_sd(&logs).unwrap();
        assert!((sd - 0.05).abs() < 0.005, "{sd}");
        let products: Vec<f64> = logs.windows(11).map(|row| row[0] * row[10]).collect();
        let kept = arithmetic_mean(&products).unwrap() / (sd * sd);
        assert!((kept - (-1.0_f64).exp()).abs() < 0.1, "{kept}");
    }

    #[test]
    fn bursts_take_their_share_of_the_time() {
        let bursts = Bursts { share: 0.05, length: Nanos::from_millis(5), factor: 3.0 };
        let noise = Noise::none().and_bursts(bursts);
        let logs = logs(noise, Nanos::from_micros(100), 400_000);
        let hit = count(logs.iter().filter(|log| **log > 1.0).count()) / 400_000.0;
        assert!((hit - 0.05).abs() < 0.01, "{hit}");
    }
}
