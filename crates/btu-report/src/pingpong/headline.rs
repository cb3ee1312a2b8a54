//! Level 1: the first curve in four figures, and what was measured where.

use btu_core::journal::EventRecord;
use btu_core::pingpong::analysis::Measured;
use btu_core::pingpong::point::PointSummary;
use btu_core::pingpong::schedule::SHORT_UNITS;
use btu_core::pingpong::statistic::Statistic;
use btu_core::words::several;

use super::Seen;
use super::curves::bytes;
use crate::document::Badge;
use crate::document::Block;
use crate::document::Card;
use crate::document::Figure;
use crate::document::Pair;
use crate::document::Tone;
use crate::number;
use crate::result::host_line;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    let base = seen.analysis.base(seen.journal.plan.base.as_deref());
    vec![Block::Card(Card {
        figures: base.map(figures).unwrap_or_default(),
        badges: badges(seen),
        reasons: Vec::new(),
        sentence: base.map_or_else(nothing, sentence),
        facts: facts(seen),
    })]
}

fn figures(curve: &Measured) -> Vec<Figure> {
    if curve.configuration.verify { vec![checked(curve)] } else { timed(curve) }
}

fn checked(curve: &Measured) -> Figure {
    Figure {
        name: "Checked",
        value: exchanges(curve).to_string(),
        unit: "",
        interval: "exchanges, every byte there and back".to_owned(),
        meaning: "exchanges of visits without a fault",
    }
}

/// Those of visits without a fault.
fn exchanges(curve: &Measured) -> u64 {
    curve.verified.iter().map(|(_, exchanges)| exchanges).sum()
}

fn timed(curve: &Measured) -> Vec<Figure> {
    let found = &curve.figures;
    let first = curve.curve.points.first().filter(|point| point.size.count() == 1);
    let interval = match first.map(|point| point.interval_us) {
        None => "no block of one byte was measured".to_owned(),
        Some(None) => format!("no interval: {}", curve.curve.statistic.without_interval()),
        Some(Some(bounds)) => {
            let [low, high] = [bounds.low, bounds.high].map(number::figure);
            format!("95 % interval {low} to {high}")
        }
    };
    let peak_at =
        found.peak_mbps.map_or_else(String::new, |(_, size)| format!("at {}", bytes(size)));
    vec![
        Figure {
            name: "Latency",
            value: number::figure_or_none(found.latency_us),
            unit: if found.latency_us.is_some() { "us" } else { "" },
            interval,
            meaning: "time of one byte, one way",
        },
        Figure {
            name: "Peak",
            value: number::figure_or_none(found.peak_mbps.map(|(rate, _)| rate)),
            unit: if found.peak_mbps.is_some() { "Mb/s" } else { "" },
            interval: peak_at,
            meaning: "the most that blocks of one size reach",
        },
        Figure {
            name: "n1/2",
            value: number::figure_or_none(found.half_size_bytes),
            unit: if found.half_size_bytes.is_some() { "B" } else { "" },
            interval: String::new(),
            meaning: "the block that reaches half of the peak",
        },
    ]
}

fn badges(seen: &Seen<'_>) -> Vec<Badge> {
    let watch = |word| Badge { word, tone: Tone::Watch };
    let is_debug = seen.journal.hosts.build_profile() == Some("debug");
    let complete = seen.analysis.complete;
    [
        (!complete).then(|| watch("INCOMPLETE")),
        seen.analysis.has_faults().then(|| watch("FAULTS")),
        is_disturbed(seen).then(|| watch("DISTURBED")),
        is_debug.then(|| watch("DEBUG BUILD")),
        complete.then_some(Badge { word: "COMPLETE", tone: Tone::Good }),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// True where more than a tenth of all points have a flag of other work on the machine, or of too few rounds.
fn is_disturbed(seen: &Seen<'_>) -> bool {
    let points = || seen.analysis.timed().flat_map(|curve| &curve.points);
    let is_noisy = |point: &&PointSummary| point.flags.iter().any(|flag| flag.name != SHORT_UNITS);
    points().filter(is_noisy).count() * 10 > points().count()
}

/// The first curve as one would say it.
fn sentence(curve: &Measured) -> String {
    let (label, found) = (&curve.label, &curve.figures);
    if curve.configuration.verify {
        return format!("{}; nothing was timed.", said_of_checks(curve));
    }
    match (found.latency_us, found.peak_mbps, found.half_size_bytes) {
        (Some(latency), Some((peak, size)), Some(half)) => format!(
            "Over {label} one byte takes {} us, blocks of {} reach {} Mb/s, and half of that is \
             reached from {} bytes on.",
            number::figure(latency),
            bytes(size),
            number::figure(peak),
            number::fixed(half, 0)
        ),
        (None, Some((peak, size)), _) | (Some(_), Some((peak, size)), None) => format!(
            "Over {label} blocks of {} reach {} Mb/s, the most of the sizes that were measured.",
            bytes(size),
            number::figure(peak)
        ),
        (_, None, _) => nothing(),
    }
}

fn said_of_checks(curve: &Measured) -> String {
    let (label, exchanges) = (&curve.label, exchanges(curve));
    let Some(first) = curve.faults.first() else {
        return format!("Every byte of {exchanges} exchanges over {label} was checked");
    };
    let faults = several(curve.faults.len(), "fault");
    let (size, detail) = (bytes(first.size), &first.detail);
    let others = match exchanges {
        0 => String::new(),
        _ => format!(". Every byte of {exchanges} exchanges of other visits was as it was sent"),
    };
    format!("Over {label} {faults} came up, the first with {size}: {detail}{others}")
}

fn nothing() -> String {
    "Nothing was measured.".to_owned()
}

fn facts(seen: &Seen<'_>) -> Vec<Pair> {
    let (journal, plan) = (seen.journal, &seen.journal.plan);
    let from = EventRecord::started_at(&journal.events).unwrap_or("at an unknown time");
    let to = EventRecord::finished_at(&journal.events)
        .map_or_else(String::new, |at| format!(" to {at}"));
    let visits: usize = journal
        .lines
        .iter()
        .filter(|line| matches!(line, btu_core::pingpong::sample::Line::PingPongVisit(_)))
        .count();
    let (visits, rounds) = (several(visits, "visit"), rounds(seen));
    let mode = plan.configurations.first().map(|configuration| configuration.mode.formula());
    let mut facts = vec![
        Pair::new("Host", host_line(&journal.hosts)),
        Pair::new("Path", super::path(journal)),
        Pair::new("Measured", format!("{from}{to}; {visits} in {} order, {rounds}", plan.order)),
    ];
    if seen.analysis.timed().next().is_some() {
        facts.push(Pair::new("Statistic", statistic(seen)));
        facts.extend(mode.map(|formula| Pair::new("Formula", formula)));
    }
    facts.extend(journal.hosts.note.iter().map(|note| Pair::new("Note", note)));
    facts
}

/// How many rounds the points have: of those that were stopped before, the fewest.
fn rounds(seen: &Seen<'_>) -> String {
    let asked = seen.journal.plan.rounds;
    let points = seen.analysis.timed().flat_map(|curve| &curve.points);
    let fewest = points.filter_map(|point| u32::try_from(point.rounds_us.len()).ok()).min();
    match fewest.filter(|fewest| *fewest < asked) {
        Some(fewest) => format!("{fewest} to {}", several(asked, "round")),
        None => several(asked, "round"),
    }
}

/// The statistic and how it is computed; where its name promises more exchanges than there were, how many.
fn statistic(seen: &Seen<'_>) -> String {
    let statistic = seen.journal.plan.statistic;
    let text = format!("{statistic}: {}", statistic.about());
    let points = seen.analysis.timed().flat_map(|curve| &curve.points);
    let taken: Vec<u64> = points.map(|point| point.average_of_3000_us.1).collect();
    let fewer = taken.iter().filter(|taken| **taken < 3_000).count();
    match taken.iter().min() {
        Some(least) if statistic == Statistic::AverageOf3000 && fewer > 0 => format!(
            "{text}; {fewer} of {} points had fewer, {least} at the least, and are the mean of those",
            taken.len()
        ),
        _ => text,
    }
}
