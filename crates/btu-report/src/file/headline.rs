//! Level 1: the first rate of each experiment, and what was measured where.

use btu_core::file::analysis::Outcome;
use btu_core::file::point::Figure as Found;
use btu_core::file::table::Column;
use btu_core::file::table::Row;
use btu_core::file::table::Table;
use btu_core::file::table::Unit;
use btu_core::journal::EventRecord;
use btu_core::words::several;

use super::Seen;
use super::experiments::rounded;
use crate::document::Badge;
use crate::document::Block;
use crate::document::Card;
use crate::document::Figure;
use crate::document::Pair;
use crate::document::Tone;
use crate::number;
use crate::result::host_line;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    let figures: Vec<Figure> = seen.analysis.experiments.iter().filter_map(figure).collect();
    vec![Block::Card(Card {
        sentence: sentence(seen, !figures.is_empty()),
        figures,
        badges: badges(seen),
        reasons: Vec::new(),
        facts: facts(seen),
    })]
}

/// The first rate of an experiment, with the row that it stands in.
fn figure(outcome: &Outcome) -> Option<Figure> {
    let mut tables = outcome.findings.tables.iter();
    let (found, label) = tables.find_map(first_rate)?;
    let interval = found.interval.map_or_else(
        || "no interval under three rounds".to_owned(),
        |bounds| {
            let [low, high] = [bounds.low, bounds.high].map(number::figure);
            format!("95 % interval {low} to {high}")
        },
    );
    Some(Figure {
        name: outcome.experiment.title(),
        value: rounded(found.value),
        unit: Unit::KibPerSecond.symbol(),
        interval: format!("{label}; {interval}"),
        meaning: outcome.experiment.about(),
    })
}

fn first_rate(table: &Table) -> Option<(Found, String)> {
    let head = table.head.to_lowercase();
    let is_rate = |column: &Column| column.unit == Unit::KibPerSecond;
    let rates: Vec<usize> =
        (0..table.columns.len()).filter(|at| is_rate(&table.columns[*at])).collect();
    let of_row = |row: &Row| rates.iter().find_map(|at| *row.cells.get(*at)?);
    table.rows.iter().find_map(|row| Some((of_row(row)?, format!("{head} {}", row.label))))
}

fn badges(seen: &Seen<'_>) -> Vec<Badge> {
    let watch = |word| Badge { word, tone: Tone::Watch };
    let is_debug = seen.journal.hosts.build_profile() == Some("debug");
    let (complete, failed) = (seen.analysis.complete, !seen.analysis.failures.is_empty());
    let badges = [
        (!complete).then(|| watch("INCOMPLETE")),
        failed.then(|| watch("FAULTS")),
        is_debug.then(|| watch("DEBUG BUILD")),
        complete.then_some(Badge { word: "COMPLETE", tone: Tone::Good }),
    ];
    badges.into_iter().flatten().collect()
}

fn sentence(seen: &Seen<'_>, measured: bool) -> String {
    if !measured {
        return "Nothing was measured that counts.".to_owned();
    }
    let trials = seen.analysis.points.len();
    let failed = match seen.analysis.failures.len() {
        0 => String::new(),
        failed => format!(" {} failed, and no figure has them in it.", several(failed, "trial")),
    };
    format!(
        "{} of a file service, each in several rounds; rates are of 1024 bytes.{failed}",
        several(trials, "trial")
    )
}

fn facts(seen: &Seen<'_>) -> Vec<Pair> {
    let (journal, plan) = (seen.journal, &seen.journal.plan);
    let from = EventRecord::started_at(&journal.events).unwrap_or("at an unknown time");
    let to = EventRecord::finished_at(&journal.events)
        .map_or_else(String::new, |at| format!(" to {at}"));
    let (warm, rounds) =
        (several(plan.warm_rounds, "warm-up round"), several(plan.rounds, "round"));
    let mut facts = vec![
        Pair::new("Host", host_line(&journal.hosts)),
        Pair::new("Path", super::path(journal)),
        Pair::new("Experiments", plan.experiments.join(", ")),
        Pair::new("Measured", format!("{from}{to}; {warm}, then {rounds} that count")),
    ];
    facts.extend(plan.target.as_ref().map(|target| Pair::new("Server", target.to_string())));
    facts.extend(super::greeting(journal).map(|said| Pair::new("Server's greeting", said)));
    facts.extend(plan.object.as_ref().map(|name| Pair::new("File retrieved", name)));
    facts.extend(seen.analysis.flags.iter().map(|flag| Pair::new(&flag.name, &flag.detail)));
    facts.extend(journal.hosts.note.iter().map(|note| Pair::new("Note", note)));
    facts
}
