//! Searches for the highest load that meets a goal of loss: several goals at once, and back-to-back bursts.

use crate::units::BitRate;
use crate::units::Nanos;

/// What a load must meet: a share of trials with more than so much loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// A trial with a larger share of loss is bad.
    pub loss: f64,
    /// The share of bad time that is put up with.
    pub exceed: f64,
    /// The sum of trial time after which a load is classified.
    pub time: Nanos,
    /// The relative distance of the bounds at which the search ends.
    pub width: f64,
}

/// One trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// The load that was asked for.
    pub load: BitRate,
    /// How long.
    pub time: Nanos,
    /// Lost, of all sent.
    pub loss: f64,
}

/// What is known of a load for a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Undecided,
}

/// The multiple loss ratio search (draft-ietf-bmwg-mlrsearch): bounds for each goal, tightened by
/// bisection, with as many trials at a load as its classification needs. Trials that contradict each
/// other are part of the method: a load is a lower bound where even the worst outcome of the trial
/// time that is still missing would meet the goal, an upper bound where even the best would not.
#[derive(Clone, Debug)]
pub struct MultipleLossRatioSearch {
    goals: Vec<Goal>,
    range: (BitRate, BitRate),
    trial_time: Nanos,
    trials: Vec<Trial>,
    most_trials: usize,
}

/// What a search found for a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The highest load that meets the goal; `None` where none does.
    pub lower: Option<BitRate>,
    /// The lowest load above it that does not.
    pub upper: Option<BitRate>,
}

impl MultipleLossRatioSearch {
    /// A search between two loads, in trials of `trial_time`, at most `most_trials` of them.
    pub fn new(
        goals: Vec<Goal>,
        range: (BitRate, BitRate),
        trial_time: Nanos,
        most_trials: usize,
    ) -> Self {
        Self { goals, range, trial_time, trials: Vec::new(), most_trials }
    }

    /// The next trial; `None` where every goal has its bounds or no trial is left.
    pub fn next_trial(&self) -> Option<(BitRate, Nanos)> {
        if self.trials.len() >= self.most_trials {
            return None;
        }
        // The upper end first: what is met there needs no search.
        self.goals.iter().find_map(|goal| self.load_for(goal)).map(|load| (load, self.trial_time))
    }

    /// Doubles the upper end for as long as a goal is met there: a first guess may be too low, and one trial that lost
    /// something does not make it right.
    pub fn raise_end(&mut self) {
        let met = self.bounds().iter().filter_map(|bounds| bounds.lower).max();
        let mut most = self.range.1.bit_per_second().max(1);
        while met.is_some_and(|met| met.bit_per_second() >= most) && most < u64::MAX {
            most = most.saturating_mul(2);
        }
        self.range.1 = BitRate::new(most);
    }

    /// The outcome of a trial.
    pub fn record(&mut self, trial: Trial) {
        self.trials.push(trial);
    }

    /// Every trial, in order.
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// What is known for each goal.
    pub fn bounds(&self) -> Vec<Bounds> {
        self.goals.iter().map(|goal| self.bounds_of(goal)).collect()
    }

    fn load_for(&self, goal: &Goal) -> Option<BitRate> {
        let (least, most) = self.range;
        let bounds = self.bounds_of(goal);
        let load = match (bounds.lower, bounds.upper) {
            (Some(lower), _) if lower >= most => return None,
            (_, Some(upper)) if upper <= least => return None,
            (_, None) => most,
            (None, Some(_)) => least,
            (Some(lower), Some(upper)) => {
                let (low, high) = (float(lower), float(upper));
                if high - low <= goal.width * high {
                    return None;
                }
                // By ratio: a relative goal is halved.
                rate((low * high).sqrt())
            }
        };
        // A load that is still undecided between the bounds is decided first.
        let pending = self.loads().into_iter().find(|load| {
            let inside = bounds.lower.is_none_or(|lower| *load > lower)
                && bounds.upper.is_none_or(|upper| *load < upper);
            inside && self.class(goal, *load) == Class::Undecided
        });
        Some(pending.unwrap_or(load))
    }

    /// The lowest upper bound, and the highest lower bound below it.
    fn bounds_of(&self, goal: &Goal) -> Bounds {
        let loads = self.loads();
        let upper =
            loads.iter().copied().filter(|load| self.class(goal, *load) == Class::Upper).min();
        let below = |load: &BitRate| upper.is_none_or(|upper| *load < upper);
        let lower = loads
            .into_iter()
            .filter(|load| below(load) && self.class(goal, *load) == Class::Lower)
            .max();
        Bounds { lower, upper }
    }

    fn loads(&self) -> Vec<BitRate> {
        let mut loads: Vec<BitRate> = self.trials.iter().map(|trial| trial.load).collect();
        loads.sort_unstable();
        loads.dedup();
        loads
    }

    fn class(&self, goal: &Goal, load: BitRate) -> Class {
        let (mut good, mut bad) = (0.0, 0.0);
        for trial in self.trials.iter().filter(|trial| trial.load == load) {
            let time = trial.time.seconds();
            if trial.loss > goal.loss { bad += time } else { good += time }
        }
        let missing = (goal.time.seconds() - good - bad).max(0.0);
        let all = good + bad + missing;
        if (bad + missing) / all <= goal.exceed {
            Class::Lower
        } else if bad / all > goal.exceed {
            Class::Upper
        } else {
            Class::Undecided
        }
    }
}

/// Throughput of RFC 2544, section 26.1: the highest load without any loss, by bisection, each trial
/// alone deciding.
pub fn rfc2544(
    range: (BitRate, BitRate),
    trial_time: Nanos,
    width: f64,
    most_trials: usize,
) -> MultipleLossRatioSearch {
    let goal = Goal { loss: 0.0, exceed: 0.0, time: trial_time, width };
    MultipleLossRatioSearch::new(vec![goal], range, trial_time, most_trials)
}

/// The longest burst at the rate of the sender that comes without loss (RFC 2544, 26.4; RFC 9004):
/// bisection over the number of frames; the mean of repeats counts.
#[derive(Clone, Debug)]
pub struct BackToBack {
    low: u64,
    high: Option<u64>,
    most: u64,
}

impl BackToBack {
    /// A search up to `most` frames.
    pub fn new(most: u64) -> Self {
        Self { low: 0, high: None, most }
    }

    /// The next burst to try; `None` where the longest is known.
    pub fn next_burst(&self) -> Option<u64> {
        match self.high {
            None if self.low >= self.most => None,
            None => Some((self.low * 2).clamp(1, self.most)),
            Some(high) if high - self.low <= 1 => None,
            Some(high) => Some(u64::midpoint(self.low, high)),
        }
    }

    /// Whether all frames of that burst came.
    pub fn record(&mut self, frames: u64, all_came: bool) {
        if all_came {
            self.low = self.low.max(frames);
        } else {
            self.high = Some(self.high.map_or(frames, |high| high.min(frames)));
        }
    }

    /// The longest burst that came whole.
    pub fn longest(&self) -> u64 {
        self.low
    }
}

/// The buffer that a back-to-back burst shows, corrected for what left while it arrived (RFC 9004,
/// section 6.4): frames - frames x (throughput / rate at which the burst came).
pub fn corrected_buffer(frames: f64, throughput_frames: f64, burst_frames: f64) -> f64 {
    (frames * (1.0 - throughput_frames / burst_frames)).max(0.0)
}

#[expect(clippy::cast_precision_loss, reason = "rates are far below 2^53")]
fn float(rate: BitRate) -> f64 {
    rate.bit_per_second() as f64
}

fn rate(value: f64) -> BitRate {
    BitRate::new(crate::traffic::figures::flow::rounded(value))
}

#[cfg(test)]
mod tests {
    use rand::RngExt;
    use rand::SeedableRng;
    use rand_chacha::ChaCha12Rng;

    use super::*;

    const RANGE: (BitRate, BitRate) = (BitRate::new(100_000), BitRate::new(100_000_000));

    fn goal(loss: f64, exceed: f64, trials: u64) -> Goal {
        Goal { loss, exceed, time: Nanos::from_secs(trials), width: 0.005 }
    }

    /// A path that loses what is above `mu`.
    fn lossy(load: BitRate, mu: f64) -> f64 {
        (1.0 - mu / float(load)).max(0.0)
    }

    fn run(search: &mut MultipleLossRatioSearch, mut path: impl FnMut(BitRate) -> f64) {
        while let Some((load, time)) = search.next_trial() {
            search.record(Trial { load, time, loss: path(load) });
        }
    }

    #[test]
    fn t13_two_goals_at_once_find_the_rate_and_half_a_percent_above() {
        let mu = 17_000_000.0;
        let goals = vec![goal(0.0, 0.5, 1), goal(0.005, 0.5, 1)];
        let mut search = MultipleLossRatioSearch::new(goals, RANGE, Nanos::from_secs(1), 100);
        run(&mut search, |load| lossy(load, mu));
        let found = search.bounds();
        for (bounds, want) in found.iter().zip([mu, mu / 0.995]) {
            let (lower, upper) = (float(bounds.lower.unwrap()), float(bounds.upper.unwrap()));
            assert!(lower <= want && want < upper && upper / lower < 1.0051, "{found:?}");
        }
        assert!(search.trials().len() < 40, "{}", search.trials().len());
    }

    /// One trial in ten loses something at any load: a goal of half the trials is not led astray, and
    /// the bisection of RFC 2544 is.
    #[test]
    fn trials_that_contradict_each_other_are_outvoted() {
        let mu = 17_000_000.0;
        let mut chance = ChaCha12Rng::seed_from_u64(3);
        let mut path = |load| lossy(load, mu).max(if chance.random_bool(0.1) { 0.01 } else { 0.0 });
        let mut search =
            MultipleLossRatioSearch::new(vec![goal(0.0, 0.5, 9)], RANGE, Nanos::from_secs(1), 400);
        run(&mut search, &mut path);
        let lower = float(search.bounds()[0].lower.unwrap());
        assert!((lower / mu - 1.0).abs() < 0.006, "{lower}");
    }

    /// Of three trials two decide, for the goal of no loss as for that of half a percent.
    #[test]
    fn the_end_is_raised_where_most_trials_of_it_meet_a_goal() {
        let raised = |losses: &[f64]| {
            let goals = vec![goal(0.0, 0.5, 3), goal(0.005, 0.5, 3)];
            let mut search = MultipleLossRatioSearch::new(goals, RANGE, Nanos::from_secs(1), 100);
            for loss in losses {
                search.record(Trial { load: RANGE.1, time: Nanos::from_secs(1), loss: *loss });
            }
            search.raise_end();
            search.range.1.bit_per_second() / RANGE.1.bit_per_second()
        };
        assert_eq!([raised(&[0.0, 0.5, 0.0]), raised(&[0.001, 0.001])], [2, 2]);
        assert_eq!([raised(&[]), raised(&[0.0, 0.5]), raised(&[0.5, 0.0, 0.5])], [1, 1, 1]);
    }

    #[test]
    fn t13_rfc_2544_finds_the_rate_of_a_clean_path() {
        let mut search = rfc2544(RANGE, Nanos::from_secs(1), 0.01, 60);
        run(&mut search, |load| lossy(load, 33_000_000.0));
        let bounds = search.bounds()[0];
        assert!(float(bounds.lower.unwrap()) <= 33e6 && float(bounds.lower.unwrap()) > 32.6e6);
        let mut open = rfc2544(RANGE, Nanos::from_secs(1), 0.01, 60);
        run(&mut open, |_| 0.0);
        assert_eq!(open.bounds()[0], Bounds { lower: Some(RANGE.1), upper: None });
        let mut shut = rfc2544(RANGE, Nanos::from_secs(1), 0.01, 60);
        run(&mut shut, |_| 1.0);
        assert_eq!(shut.bounds()[0].lower, None);
    }

    #[test]
    fn t13_back_to_back_finds_the_queue() {
        for queue in [0, 1, 57, 999, 5000] {
            let mut search = BackToBack::new(1000);
            while let Some(frames) = search.next_burst() {
                search.record(frames, frames <= queue);
            }
            assert_eq!(search.longest(), queue.min(1000));
        }
        assert!((corrected_buffer(100.0, 20.0, 100.0) - 80.0).abs() < 1e-12);
    }
}
