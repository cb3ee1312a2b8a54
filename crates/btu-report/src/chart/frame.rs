//! What bar charts stand in: grid lines, ticks at both sides, and the names of the axes.

use super::WIDTH;
use super::axis::Axis;
use super::svg::Anchor;
use super::svg::Svg;
use crate::document::SecondAxis;
use crate::number;

/// The left end of the plot.
pub(super) const LEFT: f64 = 84.0;
/// The right end of the plot.
pub(super) const RIGHT: f64 = WIDTH - 84.0;

/// Grid, ticks, and the names of both axes, between `top` and `bottom`.
pub(super) fn scales(
    svg: &mut Svg,
    axis: &Axis,
    (title, second): (&str, Option<&SecondAxis>),
    [top, bottom]: [f64; 2],
) {
    for tick in axis.ticks() {
        let y = axis.place(tick);
        svg.line("grid", [LEFT, y], [RIGHT, y]);
        svg.text("tick", [LEFT - 10.0, y + 4.5], Anchor::End, &number::tick(tick));
        if let Some(second) = second.filter(|_| tick > 0.0) {
            svg.text("tick", [RIGHT + 10.0, y + 4.5], Anchor::Start, &second.reads(tick));
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
