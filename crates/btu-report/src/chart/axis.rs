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
        let finite = values.filter(|value| value.is_finite());
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
        let mut ticks = Vec::new();
        let mut count = 0.0;
        while self.low + count * self.step <= self.high + self.step / 1e6 {
            ticks.push(self.low + count * self.step);
            count += 1.0;
        }
        ticks
    }
}

/// The next of 1, 2, 2.5, 5 times a power of ten.
pub(super) fn round_step(at_least: f64) -> f64 {
    let mut power = 1.0;
    while power > at_least && power > 1e-12 {
        power /= 10.0;
    }
    while power * 10.0 <= at_least && power < 1e15 {
        power *= 10.0;
    }
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|factor| factor * power);
    steps.into_iter().find(|step| *step >= at_least).unwrap_or(10.0 * power)
}

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
    fn no_values_make_an_axis_of_one() {
        let axis = Axis::showing(std::iter::empty(), [100.0, 0.0]);
        assert_eq!((axis.place(0.0), axis.place(1.0)), (100.0, 0.0));
        assert!(axis.ticks().len() < 12);
    }
}
