//! The comparison for spreadsheets: one row per figure.

use super::ChangeResult;
use super::ComparisonDocument;

/// Heading and rows; a field that is missing is empty.
pub(crate) fn csv_rows(found: &ComparisonDocument) -> Vec<Vec<String>> {
    let heading = COLUMNS.iter().map(|name| (*name).to_owned()).collect();
    let all = found.changes.iter().chain(&found.cells);
    let [before, after] = [&found.before, &found.after].map(|side| side.badges.join(", "));
    let of_all = [before, after, found.doubts.join("; ")];
    std::iter::once(heading).chain(all.map(|change| row(change, &of_all))).collect()
}

const COLUMNS: [&str; 12] = [
    "figure",
    "before",
    "after",
    "ratio",
    "ratio_low",
    "ratio_high",
    "change_percent",
    "different",
    "different_reason",
    "badges_before",
    "badges_after",
    "doubts",
];

fn row(change: &ChangeResult, [before, after, doubts]: &[String; 3]) -> Vec<String> {
    let [low, high] =
        change.ratio_ci95.map_or_else(Default::default, |ends| ends.map(|end| end.to_string()));
    let different = change.different.map_or_else(String::new, |different| different.to_string());
    let number = |value: f64| value.to_string();
    vec![
        change.figure.clone(),
        number(change.before),
        number(change.after),
        number(change.ratio),
        low,
        high,
        number(change.change_percent),
        different,
        change.different_reason.clone().unwrap_or_default(),
        before.clone(),
        after.clone(),
        doubts.clone(),
    ]
}
