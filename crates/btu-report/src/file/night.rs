//! What was measured at each slot of a night: figures over the hours, missed slots, whether there was a drift.

use btu_core::file::analysis::Drift;
use btu_core::file::plan::Plan;
use btu_core::file::point::Point;
use btu_core::file::point::RoundFigures;
use btu_core::units::Nanos;

use super::Seen;
use super::experiments::rounded;
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
    let (plan, analysis) = (&seen.journal.plan, seen.analysis);
    let Some(night) = &plan.night else { return Vec::new() };
    let about = format!(
        "Each round is a slot, {} after the one before; what was due before is not made later.",
        night.every_ns
    );
    let mut blocks = vec![Block::paragraph(about)];
    let points = analysis.points.iter().filter(|point| !point.each_round.is_empty());
    let points: Vec<&Point> = points.collect();
    let table = (!points.is_empty()).then(|| slots(plan, night.every_ns, &points));
    blocks.extend(table.map(Block::Table));
    blocks.extend((!points.is_empty()).then(|| Block::Lines(chart(plan, night.every_ns, &points))));
    let missed = analysis.missed.iter().map(|(slot, why)| format!("slot {slot} was missed: {why}"));
    let items: Vec<String> = analysis.drifts.iter().map(drift).chain(missed).collect();
    blocks.extend((!items.is_empty()).then_some(Block::List { items }));
    blocks
}

/// The change from the first slot to the last, with its interval and what follows from that.
fn drift(found: &Drift) -> String {
    let Drift { label, over_night, interval, slots } = found;
    let [rate, low, high] = [*over_night, interval.low, interval.high].map(|part| 100.0 * part);
    let verdict = if found.is_there() { "there was a drift" } else { "no drift is seen" };
    let digits = |value: f64| number::fixed(value, 1);
    format!(
        "{label}: the rate changed by {} % from the first slot to the last, 95 % interval {} to {}, over {slots} slots: {verdict}",
        digits(rate),
        digits(low),
        digits(high)
    )
}

fn chart(plan: &Plan, every: Nanos, points: &[&Point]) -> LineChart {
    let curves = points.iter().map(|point| curve(plan, every, point));
    LineChart {
        name: "rate-over-the-night",
        title: "Throughput over the hours".to_owned(),
        description: "The rate of each trial at each slot, over the hours since the first.".to_owned(),
        x: Scale { title: "hours since the first slot".to_owned(), kind: ScaleKind::Linear },
        y: Scale { title: "KB/s (1024 bytes)".to_owned(), kind: ScaleKind::Log },
        curves: curves.collect(),
        ranges: Vec::new(),
        reading: "A service whose users come and go has hours in which it is slower; a curve that falls or rises all \
                  night is a drift."
            .to_owned(),
        table: slots(plan, every, points),
    }
}

fn curve(plan: &Plan, every: Nanos, point: &Point) -> CurveLine {
    let place = |(slot, found): (&u32, &RoundFigures)| CurvePlace {
        at: [hours(every, *slot), found.total_kib_s],
        interval: None,
    };
    let points = point.each_round.iter().map(place).collect();
    CurveLine { label: plan.label(&point.trial), origin: Origin::Own, points }
}

/// Every slot of every trial.
fn slots(plan: &Plan, every: Nanos, points: &[&Point]) -> Table {
    let row = |label: &str, (slot, found): (&u32, &RoundFigures)| {
        vec![
            label.to_owned(),
            slot.to_string(),
            number::fixed(hours(every, *slot), 2),
            rounded(found.elapsed_s),
            rounded(found.total_kib_s),
            found.jain.map_or_else(|| number::NONE.to_owned(), number::ratio),
        ]
    };
    let rows = points.iter().flat_map(|point| {
        let label = plan.label(&point.trial);
        point.each_round.iter().map(move |one| row(&label, one)).collect::<Vec<_>>()
    });
    let columns = ["Slot", "hours", "Elapsed (s)", "Throughput (KB/s)", "Jain"];
    let columns = columns.map(Column::right).into_iter();
    Table {
        title: "Slot by slot".to_owned(),
        columns: std::iter::once(Column::left("Trial")).chain(columns).collect(),
        rows: rows.collect(),
        summary_rows: 0,
    }
}

fn hours(every: Nanos, slot: u32) -> f64 {
    every.seconds() / 3600.0 * f64::from(slot.saturating_sub(1))
}
