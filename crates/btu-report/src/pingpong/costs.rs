//! What each curve costs above the one that costs are counted from (snell1996, figure 8).

use btu_core::pingpong::analysis::Compared;
use btu_core::pingpong::curve::OverheadRow;
use btu_core::pingpong::curve::TABLE_SIZES;
use btu_core::pingpong::curve::overhead;
use btu_core::stats::Interval;

use super::Seen;
use crate::document::Block;
use crate::document::Column;
use crate::document::Table;
use crate::number;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    let Some(base) = seen.analysis.base(seen.journal.plan.base.as_deref()) else {
        return Vec::new();
    };
    let others = seen.analysis.timed().filter(|curve| curve.id != base.id);
    let own = others.map(|curve| (&curve.label, &curve.curve));
    let foreign = seen
        .analysis
        .overlaid
        .iter()
        .filter_map(|other| Some((&other.label, other.curve.as_ref()?)));
    let rows: Vec<Vec<String>> = own
        .chain(foreign)
        .flat_map(|(label, curve)| {
            overhead(&base.curve, curve, &TABLE_SIZES).into_iter().map(|found| row(label, &found))
        })
        .collect();
    let pairs = seen.analysis.paired(seen.journal.plan.base.as_deref()).into_iter();
    let pairs: Vec<Compared> = pairs.filter(|pair| pair.found.sizes.len() >= FEWEST).collect();
    let verdicts = verdicts(&pairs);
    if rows.is_empty() {
        return verdicts;
    }
    let columns = vec![
        Column::left("curve"),
        Column::right("bytes"),
        Column::right("T us"),
        Column::right("base us"),
        Column::right("difference"),
        Column::right("ratio"),
        Column::right("95 %"),
    ];
    let title = format!(
        "T above that of {} (the base), at the sizes nearest to 8, 1400, 65536, 1048576 B",
        base.label
    );
    let table = Block::Table(Table { title, columns, rows, summary_rows: 0 });
    std::iter::once(table).chain(verdicts).collect()
}

/// Of each pair of curves, whether they are the same.
pub(super) fn verdicts(pairs: &[Compared]) -> Vec<Block> {
    let sentence =
        |pair: &Compared| format!("{} beside {}: {}", pair.second, pair.first, pair.found);
    let items: Vec<String> = pairs.iter().map(sentence).collect();
    if items.is_empty() { Vec::new() } else { vec![Block::List { items }] }
}

/// Of fewer sizes the table above says it all.
const FEWEST: usize = 5;

fn row(label: &str, found: &OverheadRow) -> Vec<String> {
    let bounds = |interval: Interval| [interval.low, interval.high];
    vec![
        label.to_owned(),
        found.size.count().to_string(),
        number::figure(found.upper_us),
        number::figure(found.lower_us),
        number::figure(found.upper_us - found.lower_us),
        number::ratio(found.upper_us / found.lower_us),
        number::interval(found.ratio.map(bounds), number::ratio),
    ]
}
