//! A linear axis that begins at zero and ends at a round number.

/// From values to places, with round ticks.
pub(super) struct Axis {
    low: f64,
    high: f64,
    step: f64,
    /// Places of `low` and `high`.
    range: [f64; 2],
}

impl Axis {
    /// The axis that shows zero and all values; `range` is where its two ends are drawn.
    pub(super) fn showing(values: impl Iterator<Item = f64>, range: [f64; 2]) -> Self {
        let finite = values.filter(|value| is_shown(*value));
        let (least, most) = finite.fold((0.0_f64, 0.0_f64), |(a, b), v| (a.min(v), b.max(v)));
        let span = if most > least { most - least } else { 1.0 };
        let step = round_step(span / 6.0);
        let high = if most > least { (most / step).ceil() * step } else { 1.0 };
        Self { low: (least / step).floor() * step, high, step, range }
    }

    /// Where a value is drawn; values beyond the ends are drawn at the ends.
    pub(super) fn place(&self, value: f64) -> f64 {
        let share = ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        self.range[0] + share * (self.range[1] - self.range[0])
    }

    /// Round values from end to end.
    pub(super) fn ticks(&self) -> Vec<f64> {
        let all = (0..MOST_TICKS).map(|count| self.low + f64::from(count) * self.step);
        all.take_while(|value| *value <= self.high + self.step / 1e6).collect()
    }
}

/// The next of 1, 2, 2.5, 5 times a power of ten.
pub(super) fn round_step(at_least: f64) -> f64 {
    let power = 10_f64.powf(at_least.max(LEAST_STEP).log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|factor| factor * power);
    steps.into_iter().find(|step| *step >= at_least).unwrap_or(10.0 * power)
}

/// True for a value that an axis is made for; any other one is drawn at an end.
pub(super) fn is_shown(value: f64) -> bool {
    value.abs() <= MOST
}

/// An axis has some six steps; whatever its values are, it never has more ticks.
pub(super) const MOST_TICKS: u8 = 32;
const LEAST_STEP: f64 = 1e-12;
/// Steps and sums of such values are still numbers.
const MOST: f64 = 1e100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_hold_all_values() {
        let axis = Axis::showing([120.0, 1937.0].into_iter(), [100.0, 0.0]);
        assert_eq!(axis.ticks(), [0.0, 500.0, 1000.0, 1500.0, 2000.0]);
        assert!((axis.place(1000.0) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn negative_values_have_room_below_zero() {
        let axis = Axis::showing([-3.0, 40.0].into_iter(), [100.0, 0.0]);
        assert_eq!(axis.ticks().first(), Some(&-10.0));
        assert!(axis.place(0.0) < 100.0);
    }

    #[test]
    fn however_large_or_small_values_are_the_ticks_are_few() {
        for most in [1e-300, 1e-13, 1e-3, 7.0, 1e15, 1e17, 1e60, 1e99, 1e200, f64::MAX] {
            for values in [[most, 0.0], [-most, most], [most, most / 2.0]] {
                let axis = Axis::showing(values.into_iter(), [0.0, 100.0]);
                let ticks = axis.ticks();
                assert!(
                    (2..=usize::from(MOST_TICKS)).contains(&ticks.len()),
                    "{values:?}: {ticks:?}"
                );
                assert!(values.iter().all(|value| axis.place(*value).is_finite()), "{values:?}");
            }
        }
        let steps = [3e-4, 0.3, 300.0, 3e59].map(|least| format!("{:e}", round_step(least)));
        assert_eq!(steps, ["5e-4", "5e-1", "5e2", "5e59"]);
    }

    #[test]
    fn no_values_make_an_axis_of_one() {
        let axis = Axis::showing(std::iter::empty(), [100.0, 0.0]);
        assert_eq!((axis.place(0.0), axis.place(1.0)), (100.0, 0.0));
        assert!(axis.ticks().len() < 12);
    }
}
