//! What bar charts stand in: grid lines, ticks at both sides, and the names of the axes.

use super::WIDTH;
use super::axis::Axis;
use super::svg::Anchor;
use super::svg::Svg;
use crate::document::SecondAxis;
use crate::number;

/// The left end of the plot.
pub(super) const LEFT: f64 = 84.0;

/// The right end of the plot: behind it are the figures of the second axis, and its name beside the
/// widest of them.
pub(super) fn right(axis: &Axis, second: Option<&SecondAxis>) -> f64 {
    let widest = second.and_then(|second| {
        let ticks = axis.ticks().into_iter().filter(|tick| *tick > 0.0);
        ticks.map(|tick| second.reads(tick).chars().count()).max()
    });
    let widest = widest.and_then(|digits| u16::try_from(digits).ok()).unwrap_or(0);
    WIDTH - (GAP + DIGIT * f64::from(widest) + NAME).max(LEFT)
}

/// Between the plot and a figure.
const GAP: f64 = 10.0;
/// Width of a digit of [`number::figure`] with some air.
const DIGIT: f64 = 7.5;
/// What the name of the second axis takes: its letters, and as much room beside them.
const NAME: f64 = 34.0;

/// Grid, ticks, and the names of both axes, between `top` and `bottom`; the plot ends at `right`.
pub(super) fn scales(
    svg: &mut Svg,
    axis: &Axis,
    (title, second): (&str, Option<&SecondAxis>),
    ([top, bottom], right): ([f64; 2], f64),
) {
    for tick in axis.ticks() {
        let y = axis.place(tick);
        svg.line("grid", [LEFT, y], [right, y]);
        svg.text("tick", [LEFT - GAP, y + 4.5], Anchor::End, &number::tick(tick));
        if let Some(second) = second.filter(|_| tick > 0.0) {
            svg.text("tick", [right + GAP, y + 4.5], Anchor::Start, &second.reads(tick));
        }
    }
    let centre = f64::midpoint(top, bottom);
    svg.upright_text("axis", [20.0, centre], title);
    if let Some(second) = second {
        svg.upright_text("axis", [WIDTH - 10.0, centre], &second.title);
    }
}

impl SecondAxis {
    /// What the right axis says where the left one says `value`.
    fn reads(&self, value: f64) -> String {
        number::figure(self.numerator / value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the plot ends if its second axis reads `numerator` at the first of a hundred.
    fn right_of(numerator: f64) -> f64 {
        let second = SecondAxis { title: String::new(), numerator };
        right(&Axis::showing([100.0].into_iter(), [0.0, 1.0]), Some(&second))
    }

    #[test]
    fn long_figures_of_the_second_axis_push_the_plot_away_from_its_name() {
        let (short, long) = (right_of(3200.0), right_of(0.533));
        assert!(long < short, "{long} {short}");
        let name = WIDTH - NAME;
        for numerator in [1e-9, 0.533, 7.0, 3200.0, 1e12] {
            let second = SecondAxis { title: String::new(), numerator };
            let axis = Axis::showing([100.0].into_iter(), [0.0, 1.0]);
            let ticks = axis.ticks().into_iter().filter(|tick| *tick > 0.0);
            for text in ticks.map(|tick| second.reads(tick)) {
                let digits = u16::try_from(text.chars().count()).unwrap();
                let end = right_of(numerator) + GAP + DIGIT * f64::from(digits);
                assert!(end <= name + 1e-9, "{text} ends at {end}");
            }
        }
    }

    #[test]
    fn without_a_second_axis_both_margins_are_alike() {
        let axis = Axis::showing([100.0].into_iter(), [0.0, 1.0]);
        assert!((right(&axis, None) - (WIDTH - LEFT)).abs() < 1e-9);
    }
}
