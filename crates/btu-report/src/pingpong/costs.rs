//! What each curve costs above the one that costs are counted from (snell1996, figure 8).

use btu_core::pingpong::analysis::Compared;
use btu_core::pingpong::curve::OverheadRow;
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
    let found = seen.analysis.overheads(seen.journal.plan.base.as_deref());
    let rows: Vec<Vec<String>> = found.iter().map(|(label, found)| row(label, found)).collect();
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
        Column::right("difference us, 95 %"),
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

/// Two rounds that differ by chance have intervals over many powers of ten, which say nothing.
fn is_telling(ratio: &Interval) -> bool {
    ratio.high <= ratio.low * WIDEST
}

/// The ends of an interval of a ratio are no further apart than this, or it is not shown.
const WIDEST: f64 = 100.0;

fn row(label: &str, found: &OverheadRow) -> Vec<String> {
    let bounds = |interval: Interval| [interval.low, interval.high];
    vec![
        label.to_owned(),
        found.size.count().to_string(),
        number::figure(found.upper_us),
        number::figure(found.lower_us),
        difference(found),
        ratio(found.upper_us / found.lower_us),
        number::interval(found.ratio.filter(is_telling).map(bounds), ratio),
    ]
}

/// The difference with its interval, where rounds tell one that says something.
fn difference(found: &OverheadRow) -> String {
    let of_all = number::figure(found.upper_us - found.lower_us);
    let telling = found.difference_us.filter(|_| found.ratio.as_ref().is_none_or(is_telling));
    telling.map_or_else(
        || of_all.clone(),
        |Interval { low, high }| {
            format!("{of_all} {}", number::interval(Some([low, high]), number::figure))
        },
    )
}

/// A transport may be a hundred times faster than the base: two decimals would leave nothing of that.
fn ratio(value: f64) -> String {
    if value < 0.1 { number::figure(value) } else { number::ratio(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_of_a_ratio_that_says_nothing_is_not_shown() {
        let found = |low, high| OverheadRow {
            wanted: btu_core::units::Bytes::new(8),
            size: btu_core::units::Bytes::new(8),
            lower_us: 10.0,
            upper_us: 20.0,
            difference_us: Some(Interval { low: 8.5, high: 11.5 }),
            ratio: Some(Interval { low, high }),
        };
        let shown = |low, high| row("tcp", &found(low, high)).pop();
        let difference = |low, high| row("tcp", &found(low, high)).swap_remove(4);
        assert_eq!(difference(1.5, 2.5), "10.0 [8.50, 11.5]");
        assert_eq!(
            difference(0.001, 2e24),
            "10.0",
            "two rounds say no more of it than of the ratio"
        );
        assert_eq!(shown(1.5, 2.5).as_deref(), Some("[1.50, 2.50]"));
        assert_eq!(shown(0.001, 2e24).as_deref(), Some("-"));
        assert_eq!(shown(0.0012, 0.012).as_deref(), Some("[0.00120, 0.0120]"));
    }
}
