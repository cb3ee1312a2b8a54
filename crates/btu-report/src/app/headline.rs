//! Level 1: is it right, over which layer is it fastest, and what do the others cost.

use btu_core::app::analysis::LayerFigures;
use btu_core::app::analysis::ProgramFigures;
use btu_core::app::sample::Line;
use btu_core::journal::EventRecord;
use btu_core::sample::Flag;
use btu_core::words::several;

use super::Seen;
use super::faults;
use super::words;
use crate::document::Badge;
use crate::document::Block;
use crate::document::Card;
use crate::document::Figure;
use crate::document::Pair;
use crate::document::Tone;
use crate::number;
use crate::result::host_line;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    vec![Block::Card(Card {
        figures: figures(seen),
        badges: badges(seen),
        reasons: Vec::new(),
        sentence: sentence(seen),
        facts: facts(seen),
    })]
}

fn figures(seen: &Seen<'_>) -> Vec<Figure> {
    let costs = seen.analysis.layers.iter().filter_map(cost);
    std::iter::once(verified(seen)).chain(costs.take(MOST_COSTS)).collect()
}

/// More stand in the tables.
const MOST_COSTS: usize = 3;

fn verified(seen: &Seen<'_>) -> Figure {
    let programs = &seen.analysis.programs;
    let right = programs.iter().filter(|program| program.is_verified()).count();
    Figure {
        name: "Verified",
        value: format!("{right}/{}", programs.len()),
        unit: "",
        interval: format!("programs of class {}, every launch", seen.journal.plan.class),
        meaning: "programs whose every launch found what the benchmark publishes",
    }
}

/// `tcp 2.31 times`
fn cost(layer: &LayerFigures) -> Option<Figure> {
    let ratio = layer.ratio.as_ref()?;
    let interval = ratio.interval.map_or_else(
        || "no interval: it needs three rounds".to_owned(),
        |bounds| {
            let [low, high] = [bounds.low, bounds.high].map(number::ratio);
            format!("95 % interval {low} to {high}")
        },
    );
    Some(Figure {
        name: "Cost",
        value: number::ratio(ratio.ratio),
        unit: "times",
        interval: format!("{} over {}, {interval}", layer.layer, ratio.to),
        meaning: "times of all programs over a layer, by those over the fastest, geometric mean",
    })
}

fn badges(seen: &Seen<'_>) -> Vec<Badge> {
    let watch = |word| Badge { word, tone: Tone::Watch };
    let is_debug = seen.journal.hosts.build_profile() == Some("debug");
    let complete = seen.analysis.complete;
    [
        (!complete).then(|| watch("INCOMPLETE")),
        seen.analysis.has_faults().then(|| watch("FAULTS")),
        is_oversubscribed(seen).then(|| watch("OVERSUBSCRIBED")),
        is_debug.then(|| watch("DEBUG BUILD")),
        complete.then_some(Badge { word: "COMPLETE", tone: Tone::Good }),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// True where more than a tenth of all launches waited for a CPU.
fn is_oversubscribed(seen: &Seen<'_>) -> bool {
    let launches = || seen.analysis.programs.iter().flat_map(ProgramFigures::launches);
    let is_flagged = |flag: &Flag| flag.name == Flag::OVERSUBSCRIBED;
    let flagged = launches().filter(|(_, launch)| launch.flags.iter().any(is_flagged)).count();
    flagged * 10 > launches().count()
}

/// What is wrong comes first.
fn sentence(seen: &Seen<'_>) -> String {
    let wrong = faults::told(seen);
    let beside = layers(seen);
    match wrong.as_slice() {
        [] => beside,
        [first, more @ ..] => {
            let more = match more.len() {
                0 => String::new(),
                count => {
                    format!(", and {} (see \"What went wrong\")", several(count, "more fault"))
                }
            };
            format!("WRONG: {first}{more}. {beside}")
        }
    }
}

fn layers(seen: &Seen<'_>) -> String {
    let Some((fastest, others)) = seen.analysis.layers.split_first() else {
        return "No program of several ranks has a time over every layer.".to_owned();
    };
    let programs = several(fastest.programs, "program");
    if others.is_empty() {
        return format!("Over {} alone: there is no layer to compare it with.", fastest.layer);
    }
    let costs: Vec<String> = others.iter().filter_map(said).collect();
    let are = if fastest.fastest_in == 1 { "is" } else { "are" };
    format!(
        "Of {programs}, {1} {are} fastest over {0}, and so is their mean; {2}.",
        fastest.layer,
        fastest.fastest_in,
        costs.join(", ")
    )
}

/// `over tcp they take 2.31 [2.20, 2.42] times as long`
fn said(layer: &LayerFigures) -> Option<String> {
    let ratio = layer.ratio.as_ref().map(words::ratio)?;
    Some(format!("over {} they take {ratio} times as long", layer.layer))
}

fn facts(seen: &Seen<'_>) -> Vec<Pair> {
    let (journal, plan) = (seen.journal, &seen.journal.plan);
    let from = EventRecord::started_at(&journal.events).unwrap_or("at an unknown time");
    let to = EventRecord::finished_at(&journal.events)
        .map_or_else(String::new, |at| format!(" to {at}"));
    let is_launch = |line: &&Line| matches!(line, Line::AppLaunch(_));
    let launches = several(journal.lines.iter().filter(is_launch).count(), "launch");
    let rounds = several(plan.launches, "round");
    let mut facts = vec![
        Pair::new("Host", host_line(&journal.hosts)),
        Pair::new("Path", super::path(journal)),
        Pair::new("Layers", format!("{}; a rank waits by {}", plan.layers.join(", "), plan.wait)),
        Pair::new("Measured", format!("{from}{to}; {launches} in {rounds}, in random order")),
    ];
    facts.extend(journal.hosts.note.iter().map(|note| Pair::new("Note", note)));
    facts
}
