//! The figures of the paper, from cells: throughput, CPU, delay and utilisation along an axis; and delay over a load.

mod waiting;

use btu_core::traffic::analysis::Estimate;
use btu_core::traffic::analysis::Measured;
use btu_core::traffic::figures::delay;
use btu_core::traffic::figures::sessions::Scaling;
use btu_core::traffic::plan::Group;

use super::Seen;
use super::rate;
use super::span;
use crate::document::Block;
use crate::document::Column;
use crate::document::CurveLine;
use crate::document::CurvePlace;
use crate::document::LineChart;
use crate::document::Origin;
use crate::document::Scale;
use crate::document::ScaleKind;
use crate::document::Table;
use crate::number;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    let drawn: [fn(&Seen<'_>) -> Option<LineChart>; 8] = [
        throughput_over_block_size,
        cpu_over_block_size,
        rate_per_session,
        rates_over_period,
        delay_over_utilisation,
        waiting::delay_over_load,
        utilisation_over_time,
        delay_over_time,
    ];
    let charts = drawn.into_iter().filter_map(|chart| chart(seen));
    let mut blocks: Vec<Block> = charts.map(Block::Lines).collect();
    blocks.extend(scaling(seen));
    blocks
}

/// A point of a curve with the interval of its value.
fn place(x: f64, found: Estimate, unit: f64) -> CurvePlace {
    let interval = found.interval.map(|bounds| [[x, bounds.low / unit], [x, bounds.high / unit]]);
    CurvePlace { at: [x, found.value / unit], interval }
}

fn point(x: f64, y: f64) -> CurvePlace {
    CurvePlace { at: [x, y], interval: None }
}

fn own(label: &str, points: Vec<CurvePlace>) -> CurveLine {
    CurveLine { label: label.to_owned(), origin: Origin::Own, points }
}

fn reference(label: &str, points: Vec<CurvePlace>) -> CurveLine {
    CurveLine { label: label.to_owned(), origin: Origin::Reference, points }
}

/// The cells of a group along its axis; none where there are fewer than two.
fn cells<'a>(seen: &'a Seen<'_>, group: Group) -> Option<Vec<&'a Measured>> {
    let cells: Vec<&Measured> = seen.analysis.group(group).collect();
    (cells.len() > 1).then_some(cells)
}

fn curve(cells: &[&Measured], value: impl Fn(&Measured) -> Option<CurvePlace>) -> Vec<CurvePlace> {
    cells.iter().filter_map(|cell| value(cell)).collect()
}

/// What all these charts share.
struct Form {
    name: &'static str,
    title: &'static str,
    x: (&'static str, ScaleKind),
    y: (&'static str, ScaleKind),
    reading: &'static str,
}

impl Form {
    fn of(&self, curves: Vec<CurveLine>, rows: Vec<Vec<String>>) -> Option<LineChart> {
        let shown = curves.iter().any(|curve| curve.points.len() > 1);
        let mut columns = vec![Column::left(self.x.0)];
        columns.extend(curves.iter().map(|curve| Column::right(&curve.label)));
        shown.then(|| LineChart {
            name: self.name,
            title: self.title.to_owned(),
            description: format!("{}; {} over {}.", self.title, self.y.0, self.x.0),
            x: Scale { title: self.x.0.to_owned(), kind: self.x.1 },
            y: Scale { title: self.y.0.to_owned(), kind: self.y.1 },
            curves,
            ranges: Vec::new(),
            reading: self.reading.to_owned(),
            table: Table { title: self.title.to_owned(), columns, rows, summary_rows: 0 },
        })
    }
}

/// `1.71 Mb/s (1.69 to 1.73)`, with the interval where there is one.
fn said(found: Option<Estimate>, text: impl Fn(f64) -> String) -> String {
    let Some(found) = found else { return number::NONE.to_owned() };
    let interval = found.interval.map_or_else(String::new, |bounds| {
        format!(" ({} to {})", text(bounds.low), text(bounds.high))
    });
    text(found.value) + &interval
}

fn megabits(found: Option<Estimate>) -> String {
    said(found, rate)
}

fn time(found: Option<Estimate>) -> String {
    said(found, |seconds| span(Some(seconds)))
}

fn throughput_over_block_size(seen: &Seen<'_>) -> Option<LineChart> {
    let cells = cells(seen, Group::BlockSize)?;
    let form = Form {
        name: "block-size",
        title: "Throughput over block size (napier, figure 4)",
        x: ("block, bytes", ScaleKind::LogBytes),
        y: ("Mb/s", ScaleKind::Linear),
        reading: "Strokes are 95 % intervals over passes. A level curve means that the path and not \
                  the host decides.",
    };
    let sent = curve(&cells, |c| Some(place(c.cell.x, c.transmitted?, 1e6)));
    let received = curve(&cells, |c| Some(place(c.cell.x, c.departure?, 1e6)));
    let rows = cells
        .iter()
        .map(|c| vec![c.cell.label.clone(), megabits(c.departure), megabits(c.transmitted)]);
    let rows = rows.collect();
    form.of(vec![own("received", received), reference("acknowledged", sent)], rows)
}

fn cpu_over_block_size(seen: &Seen<'_>) -> Option<LineChart> {
    let cells = cells(seen, Group::BlockSize)?;
    let form = Form {
        name: "cpu",
        title: "CPU time per gigabyte over block size (napier, figure 5)",
        x: ("block, bytes", ScaleKind::LogBytes),
        y: ("s/GB", ScaleKind::Log),
        reading: "CPU time of the threads at both ends, with 95 % intervals over passes: many small blocks \
                  cost more calls.",
    };
    let sender = curve(&cells, |c| Some(place_at(c.cell.x, c.sender_cpu_s_per_gb?)));
    let receiver = curve(&cells, |c| Some(place_at(c.cell.x, c.receiver_cpu_s_per_gb?)));
    let rows = cells.iter().map(|c| {
        let both = [c.sender_cpu_s_per_gb, c.receiver_cpu_s_per_gb];
        let [s, r] = both.map(|found| said(found, number::figure));
        vec![c.cell.label.clone(), s, r]
    });
    let rows = rows.collect();
    form.of(vec![own("sender", sender), own("receiver", receiver)], rows)
}

fn rate_per_session(seen: &Seen<'_>) -> Option<LineChart> {
    let cells = cells(seen, Group::Sessions)?;
    let form = Form {
        name: "sessions",
        title: "Throughput over sessions (napier, figure 6)",
        x: ("sessions", ScaleKind::Linear),
        y: ("Mb/s", ScaleKind::Linear),
        reading: "Strokes are 95 % intervals over passes. The total stays level on a shared link; what one \
                  session gets falls as 1/N.",
    };
    let total = curve(&cells, |c| Some(place(c.cell.x, c.departure?, 1e6)));
    let each = curve(&cells, |c| Some(place(c.cell.x, c.departure?, 1e6 * c.cell.x.max(1.0))));
    let mut curves = vec![own("per session", each), own("together", total)];
    if let Some(law) = seen.analysis.scaling {
        let fitted = curve(&cells, |c| Some(point(c.cell.x, law.total(c.cell.x) / 1e6)));
        curves.push(reference("fitted law", fitted));
    }
    let rows = cells.iter().map(|c| {
        let sessions = c.cell.x.max(1.0);
        let mut row = vec![
            c.cell.label.clone(),
            said(c.departure, |together| rate(together / sessions)),
            megabits(c.departure),
        ];
        row.extend(seen.analysis.scaling.map(|law| rate(law.total(c.cell.x))));
        row
    });
    let rows = rows.collect();
    form.of(curves, rows)
}

fn rates_over_period(seen: &Seen<'_>) -> Option<LineChart> {
    let cells = cells(seen, Group::Period)?;
    let form = Form {
        name: "period",
        title: "Throughput and arrival rate over burst period (napier, figure 7)",
        x: ("burst period, ms", ScaleKind::Linear),
        y: ("Mb/s", ScaleKind::Linear),
        reading: "Strokes are 95 % intervals over passes. Throughput is what was carried, with what was only under way at the end. Above \
                  the knee both are one line; below it the arrival rate goes on rising and the throughput does not.",
    };
    let carried = curve(&cells, |c| Some(place(c.cell.x, c.carried()?, 1e6)));
    let arrived = curve(&cells, |c| Some(place(c.cell.x, c.arrival?, 1e6)));
    let rows = cells
        .iter()
        .map(|c| vec![c.cell.label.clone(), megabits(c.carried()), megabits(c.arrival)]);
    let rows = rows.collect();
    form.of(vec![own("throughput", carried), reference("arrival rate", arrived)], rows)
}

fn delay_over_utilisation(seen: &Seen<'_>) -> Option<LineChart> {
    let group = if cells(seen, Group::Period).is_some() { Group::Period } else { Group::Load };
    let cells = cells(seen, group)?;
    let form = Form {
        name: "delay",
        title: "Average delay over utilisation (napier, figure 8)",
        x: ("utilisation a/d", ScaleKind::Linear),
        y: ("s", ScaleKind::Linear),
        reading: "Strokes are 95 % intervals over passes. Little's formula over the duration, and until the queue was empty. The dotted line is \
                  what a fluid of that load does: (T/2)(1 - 1/rho), never more than half the duration.",
    };
    // A cell of which no run could be made has no place here.
    let mut sorted: Vec<_> = cells.into_iter().filter(|c| c.offered_ratio.is_some()).collect();
    sorted.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let window = curve(&sorted, |c| Some(place_at(ratio(c), c.window_delay?)));
    let drained = curve(&sorted, |c| Some(place_at(ratio(c), c.drained_delay?)));
    let fluid_of = |c: &Measured| {
        let rho = seen.analysis.rho(c.arrival?.value)?;
        Some(delay::fluid_window(duration_s(seen, c)?, rho))
    };
    let fluid = curve(&sorted, |c| Some(point(ratio(c), fluid_of(c)?)));
    let rows = sorted.iter().map(|c| {
        vec![
            format!("{} ({})", number::ratio(ratio(c)), c.cell.label),
            time(c.window_delay),
            time(c.drained_delay),
            span(fluid_of(c)),
        ]
    });
    let rows = rows.collect();
    form.of(
        vec![own("W, window", window), own("W, drained", drained), reference("fluid", fluid)],
        rows,
    )
}

fn utilisation_over_time(seen: &Seen<'_>) -> Option<LineChart> {
    let cells = cells(seen, Group::Time)?;
    let form = Form {
        name: "utilisation",
        title: "Utilisation over transmission time (napier, figure 9)",
        x: ("transmission time, s", ScaleKind::Linear),
        y: ("a/d", ScaleKind::Linear),
        reading: "Strokes are 95 % intervals over passes. Random bursts: short runs scatter, long ones settle. The dotted line is rho of the \
                  schedule that was drawn, by mu of the same plan.",
    };
    let measured = curve(&cells, |c| Some(place(c.cell.x, c.offered_ratio?, 1.0)));
    let drawn = curve(&cells, |c| Some(point(c.cell.x, seen.analysis.rho(c.arrival?.value)?)));
    let rows = cells.iter().map(|c| {
        let rho = c.arrival.and_then(|arrival| seen.analysis.rho(arrival.value));
        vec![c.cell.label.clone(), said(c.offered_ratio, number::ratio), number::ratio_or_none(rho)]
    });
    let rows = rows.collect();
    form.of(vec![own("measured", measured), reference("drawn schedule", drawn)], rows)
}

fn delay_over_time(seen: &Seen<'_>) -> Option<LineChart> {
    let cells = cells(seen, Group::Time)?;
    let form = Form {
        name: "delay-time",
        title: "Delay over transmission time (napier, figure 10)",
        x: ("transmission time, s", ScaleKind::Linear),
        y: ("s", ScaleKind::Linear),
        reading: "Strokes are 95 % intervals over passes. Overload makes the delay grow with time, at (1 - 1/rho)/2 seconds in each second.",
    };
    let measured = curve(&cells, |c| Some(place(c.cell.x, c.window_delay?, 1.0)));
    let fluid =
        |c: &Measured| Some(delay::fluid_window(c.cell.x, seen.analysis.rho(c.arrival?.value)?));
    let expected = curve(&cells, |c| Some(point(c.cell.x, fluid(c)?)));
    let rows =
        cells.iter().map(|c| vec![c.cell.label.clone(), time(c.window_delay), span(fluid(c))]);
    let rows = rows.collect();
    form.of(vec![own("measured", measured), reference("fluid", expected)], rows)
}

/// T of the runs of a cell; those of others have other durations.
fn duration_s(seen: &Seen<'_>, cell: &Measured) -> Option<f64> {
    let mut runs = seen.journal.runs().filter(|run| run.cell == cell.cell.id);
    runs.find_map(|run| run.flows().next()).map(|flow| flow.duration_ns.seconds())
}

fn place_at(x: f64, found: Estimate) -> CurvePlace {
    place(x, found, 1.0)
}

fn ratio(cell: &Measured) -> f64 {
    cell.offered_ratio.map_or(0.0, |found| found.value)
}

fn scaling(seen: &Seen<'_>) -> Option<Block> {
    seen.analysis.scaling.map(|law| Block::paragraph(scaling_in_words(&law)))
}

/// How the total depends on the number of sessions, in words.
pub(super) fn scaling_in_words(law: &Scaling) -> String {
    if law.is_shared_link {
        let (total, largest) = (rate(law.single), law.largest);
        return format!("Sessions share one link: their total is {total}, of one as of {largest}.");
    }
    let most = match law.most_at {
        Some(most) if most > 1.0 => {
            format!(" The total is greatest at {} sessions.", number::figure(most))
        }
        Some(_) => " The total is greatest with one session.".to_owned(),
        None => String::new(),
    };
    format!(
        "X(N) = X1 N / (1 + s (N - 1) + k N (N - 1)) with X1 = {}, contention s = {}, coherence k = {}.{most}",
        rate(law.single),
        number::figure(law.contention),
        number::figure(law.coherence)
    )
}
