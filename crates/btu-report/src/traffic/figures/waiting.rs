//! Delay over the load of random arrivals, beside what theory says of them.

use btu_core::traffic::analysis::Measured;
use btu_core::traffic::plan::Group;

use super::Form;
use super::cells;
use super::own;
use super::place_at;
use super::point;
use super::reference;
use super::time;
use crate::document::LineChart;
use crate::document::ScaleKind;
use crate::number;
use crate::traffic::Seen;
use crate::traffic::span;

/// Of loads that the path carries: beyond its rate no queue has a mean.
pub(super) fn delay_over_load(seen: &Seen<'_>) -> Option<LineChart> {
    let form = Form {
        name: "waiting",
        title: "Average delay over the load of random arrivals",
        x: ("load a/mu", ScaleKind::Linear),
        y: ("s", ScaleKind::Linear),
        reading: "Strokes are 95 % intervals over passes. The dotted line is M/D/1 (Pollaczek, Khinchine): the least delay of a block, and \
                  S rho/(2(1 - rho)) of waiting, S being what the path needs for a block. What is above it waits for something else \
                  than the blocks before it; near 1 a queue becomes as long as that only in a long run.",
    };
    let with_rho = |cell| Some((rho(seen, cell)?, cell));
    let mut loads: Vec<(f64, &Measured)> =
        cells(seen, Group::Load)?.into_iter().filter_map(with_rho).collect();
    loads.sort_by(|a, b| a.0.total_cmp(&b.0));
    let theory = |load| seen.analysis.m_d_1(seen.journal, load);
    let measured = loads.iter().filter_map(|(rho, load)| Some(place_at(*rho, load.window_delay?)));
    let expected = loads.iter().filter_map(|(rho, load)| Some(point(*rho, theory(load)?)));
    let curves = vec![own("W, window", measured.collect()), reference("M/D/1", expected.collect())];
    let rows = loads.iter().map(|(rho, load)| {
        let name = format!("{} ({})", number::ratio(*rho), load.cell.label);
        vec![name, time(load.window_delay), span(theory(load))]
    });
    form.of(curves, rows.collect())
}

/// The load, where it is less than the path carries.
fn rho(seen: &Seen<'_>, load: &Measured) -> Option<f64> {
    seen.analysis.rho(load.arrival?.value).filter(|rho| *rho < 1.0)
}
