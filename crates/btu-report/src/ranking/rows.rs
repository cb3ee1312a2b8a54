//! The ranking for spreadsheets: one row per host.

use super::RankedHost;
use super::Ranking;

/// Heading and rows; a field that is missing is empty.
pub(crate) fn csv_rows(ranking: &Ranking) -> Vec<Vec<String>> {
    let all = || ranking.hosts.iter().chain(&ranking.not_ranked);
    let mut marks: Vec<&str> =
        all().flat_map(|host| &host.marks).map(|mark| mark.name.as_str()).collect();
    marks.sort_unstable();
    marks.dedup();
    let mut heading: Vec<String> = COLUMNS.iter().map(|name| (*name).to_owned()).collect();
    heading.extend(marks.iter().map(|name| format!("mark {name}")));
    std::iter::once(heading).chain(all().map(|host| row(host, &marks))).collect()
}

const COLUMNS: [&str; 16] = [
    "rank",
    "rank_first",
    "rank_last",
    "name",
    "host",
    "btu_mbps",
    "btu_low_mbps",
    "btu_high_mbps",
    "penalty_percent",
    "penalty_low_percent",
    "penalty_high_percent",
    "passes",
    "price",
    "currency",
    "trust",
    "not_rankable_reasons",
];

fn row(host: &RankedHost, marks: &[&str]) -> Vec<String> {
    let [btu_low, btu_high] = ends(host.btu_ci95_mbps);
    let [penalty_low, penalty_high] = ends(host.penalty_ci95_percent);
    let mut row = vec![
        host.rank.clone().unwrap_or_default(),
        or_empty(host.rank_first),
        or_empty(host.rank_last),
        host.name.clone(),
        host.host.clone(),
        or_empty(host.btu_mbps),
        btu_low,
        btu_high,
        or_empty(host.penalty_percent),
        penalty_low,
        penalty_high,
        host.passes.to_string(),
        or_empty(host.price.as_ref().map(|price| price.amount)),
        or_empty(host.price.as_ref().map(|price| price.currency.as_str())),
        host.trust.clone(),
        host.not_rankable_reasons.join("; "),
    ];
    let value = |name: &&str| host.marks.iter().find(|mark| mark.name == **name);
    row.extend(marks.iter().map(|name| or_empty(value(name).map(|mark| mark.value))));
    row
}

fn ends(interval: Option<[f64; 2]>) -> [String; 2] {
    interval.map_or_else(Default::default, |ends| ends.map(|end| end.to_string()))
}

fn or_empty(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}
