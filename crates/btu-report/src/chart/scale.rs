//! Axes of curves: linear or logarithmic, with ticks that people read.

use super::axis::MOST_TICKS;
use super::axis::is_shown;
use super::axis::round_step;
use crate::document::ScaleKind;
use crate::number;

/// From values to places along an axis.
pub(super) struct Axis {
    kind: ScaleKind,
    low: f64,
    high: f64,
    /// Places of `low` and `high`.
    range: [f64; 2],
}

impl Axis {
    /// The axis that shows all values; on a logarithmic one those above zero.
    pub(super) fn showing(
        kind: ScaleKind,
        values: impl Iterator<Item = f64>,
        range: [f64; 2],
    ) -> Self {
        let is_log = matches!(kind, ScaleKind::Log | ScaleKind::LogBytes);
        let shown = values.filter(|value| {
            is_shown(*value) && (!is_log || is_shown(value.recip()) && *value > 0.0)
        });
        let bounds = shown.fold(None, |bounds: Option<(f64, f64)>, value| {
            Some(bounds.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
        });
        let (least, most) = bounds.unwrap_or((1.0, 2.0));
        let (low, high) = match kind {
            ScaleKind::Linear => (least.min(0.0), most),
            _ => (least, most),
        };
        let axis = Self { kind, low, high, range };
        if is_log { axis.with_margin() } else { axis.rounded() }
    }

    /// Where a value is drawn; values beyond the ends are drawn at the ends.
    pub(super) fn place(&self, value: f64) -> f64 {
        let share = match self.kind {
            ScaleKind::Linear | ScaleKind::LinearWithin => {
                (value - self.low) / (self.high - self.low)
            }
            ScaleKind::Log | ScaleKind::LogBytes => {
                (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
            }
        };
        self.range[0] + share.clamp(0.0, 1.0) * (self.range[1] - self.range[0])
    }

    /// Values and their texts, from end to end.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        match self.kind {
            ScaleKind::Linear | ScaleKind::LinearWithin => self.even_ticks(),
            ScaleKind::Log => self.powers(DECIMAL, number::tick),
            ScaleKind::LogBytes => self.powers(BINARY, binary),
        }
    }

    /// Room of a fiftieth at both ends, so that nothing sticks to the frame.
    fn with_margin(self) -> Self {
        let room = (self.high / self.low).powf(0.02).max(1.02);
        Self { low: self.low / room, high: self.high * room, ..self }
    }

    fn rounded(self) -> Self {
        let span = if self.high > self.low { self.high - self.low } else { 1.0 };
        let step = round_step(span / 6.0);
        let high = (self.high / step).ceil() * step;
        let low = (self.low / step).floor() * step;
        Self { high: if high > low { high } else { low + step }, low, ..self }
    }

    fn even_ticks(&self) -> Vec<(f64, String)> {
        let step = round_step((self.high - self.low) / 8.0);
        let first = (self.low / step).ceil();
        let values = (0..MOST_TICKS).map(|count| (first + f64::from(count)) * step);
        let inside = values.take_while(|value| *value <= self.high + step / 1e6);
        inside.map(|value| (value, number::tick(value))).collect()
    }

    /// The ticks of the first grid that has enough of them.
    fn powers(&self, grids: &[Grid], text: fn(f64) -> String) -> Vec<(f64, String)> {
        let mut found = Vec::new();
        for (base, steps) in grids {
            found = self.multiples(*base, steps);
            if found.len() >= LEAST_TICKS {
                break;
            }
        }
        let each = found.len().div_ceil(MOST_TICKS.into()).max(1);
        found.into_iter().step_by(each).map(|value| (value, text(value))).collect()
    }

    fn multiples(&self, base: f64, steps: &[f64]) -> Vec<f64> {
        let (mut power, mut found) = (1.0, Vec::new());
        while power > self.low {
            power /= base;
        }
        while power <= self.high {
            let here = steps.iter().map(|step| step * power);
            found.extend(here.filter(|value| *value >= self.low && *value <= self.high));
            power *= base;
        }
        found
    }
}

/// `64 Ki`, `1 Mi`: sizes in bytes that are powers of two.
fn binary(value: f64) -> String {
    const UNITS: [(&str, f64); 3] =
        [(" Gi", 1_073_741_824.0), (" Mi", 1_048_576.0), (" Ki", 1024.0)];
    let unit = UNITS.iter().find(|(_, size)| value >= *size);
    unit.map_or_else(|| number::tick(value), |(name, size)| number::tick(value / size) + name)
}

/// Powers of a base, each with its multiples.
type Grid = (f64, &'static [f64]);

static DECIMAL: &[Grid] = &[(10.0, &[1.0]), (10.0, &[1.0, 5.0]), (10.0, &[1.0, 2.0, 5.0])];
static BINARY: &[Grid] = &[(16.0, &[1.0]), (4.0, &[1.0]), (2.0, &[1.0])];

const LEAST_TICKS: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(kind: ScaleKind, low: f64, high: f64) -> Vec<String> {
        let axis = Axis::showing(kind, [low, high].into_iter(), [0.0, 100.0]);
        axis.ticks().into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn sizes_have_ticks_at_powers_of_two() {
        let all = texts(ScaleKind::LogBytes, 1.0, 8_388_608.0);
        assert_eq!(all, ["1", "16", "256", "4 Ki", "64 Ki", "1 Mi"]);
        assert_eq!(texts(ScaleKind::LogBytes, 8.0, 64.0), ["8", "16", "32", "64"]);
    }

    #[test]
    fn times_have_ticks_at_powers_of_ten_and_between_where_they_are_few() {
        assert_eq!(texts(ScaleKind::Log, 0.5, 7000.0), ["1", "10", "100", "1000"]);
        assert_eq!(texts(ScaleKind::Log, 3.0, 40.0), ["5", "10", "20"]);
    }

    #[test]
    fn a_zoom_does_not_begin_at_zero() {
        let axis = Axis::showing(ScaleKind::LinearWithin, [59e3, 72e3].into_iter(), [0.0, 100.0]);
        assert!(axis.ticks().first().is_some_and(|(value, _)| *value >= 57_500.0));
        assert!(axis.place(59e3) >= 0.0 && axis.place(72e3) > axis.place(59e3));
        let all = Axis::showing(ScaleKind::Linear, [5.0, 9.0].into_iter(), [0.0, 100.0]);
        assert!(all.place(0.0).abs() < 1e-9);
    }

    #[test]
    fn values_of_many_magnitudes_have_few_ticks() {
        for kind in [ScaleKind::Linear, ScaleKind::Log, ScaleKind::LogBytes] {
            for (low, high) in [(1e-90, 1e90), (5e-324, f64::MAX), (1.0, 1e60)] {
                let axis = Axis::showing(kind, [low, high].into_iter(), [0.0, 100.0]);
                assert!(axis.ticks().len() <= usize::from(MOST_TICKS), "{low} {high}");
                assert!(axis.ticks().iter().all(|(_, text)| text.len() < 24), "{low} {high}");
                assert!(axis.place(low).is_finite() && axis.place(high).is_finite());
            }
        }
    }

    #[test]
    fn nothing_and_one_value_have_an_axis_too() {
        for kind in
            [ScaleKind::Linear, ScaleKind::LinearWithin, ScaleKind::Log, ScaleKind::LogBytes]
        {
            for values in [vec![], vec![7.0], vec![f64::NAN, -1.0]] {
                let axis = Axis::showing(kind, values.into_iter(), [100.0, 0.0]);
                assert!(axis.place(7.0).is_finite() && axis.ticks().len() < 40);
            }
        }
    }
}
