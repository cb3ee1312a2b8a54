//! Level 1: what was carried, in figures, and what was measured where.

use btu_core::journal::EventRecord;
use btu_core::stats::median;
use btu_core::traffic::analysis::Analysis;
use btu_core::traffic::analysis::Estimate;
use btu_core::traffic::analysis::Measured;
use btu_core::traffic::analysis::Of;
use btu_core::traffic::analysis::SheetLine;
use btu_core::traffic::figures::knee::Shape;
use btu_core::traffic::findings::Findings;
use btu_core::traffic::plan::Group;
use btu_core::words::several;

use super::Seen;
use super::Unit;
use super::figures;
use super::rate;
use super::span;
use super::unit_of;
use super::unit_of_time;
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
        figures: card(seen.analysis),
        badges: badges(seen),
        reasons: Vec::new(),
        sentence: sentence(seen.analysis),
        facts: facts(seen),
    })]
}

fn card(analysis: &Analysis) -> Vec<Figure> {
    let mut figures = Vec::new();
    if let Some(mu) = analysis.mu {
        figures.push(of_rate("mu", mu, "what one full stream gets"));
    }
    if let Some(knee) = analysis.knee {
        let value = Estimate { value: knee.knee, interval: knee.interval, passes: knee.passes };
        let told = of_rate("Knee", value, "the load beyond which the path carries no more");
        let some = format!("no interval: {} of {} passes have a knee", knee.passes, knee.made);
        let interval = if knee.passes < knee.made { some } else { told.interval };
        figures.push(Figure { interval, ..told });
    }
    figures.extend(without_loss(&analysis.findings));
    figures.extend(capacity(analysis));
    figures.extend(ratio_of_times(&analysis.findings));
    figures.extend(round_trips(analysis));
    if figures.is_empty() {
        let all = |value: fn(&Measured) -> Option<Estimate>| shown(analysis).and_then(value);
        let rates = [
            ("Arrival", all(|cell| cell.arrival), "bytes that came to the transport's door"),
            ("Departure", all(|cell| cell.departure), "bytes that the receiving users read"),
        ];
        for (name, value, meaning) in rates {
            figures.extend(value.map(|value| of_rate(name, value, meaning)));
        }
        figures.extend(all(|cell| cell.window_delay).map(|delay| {
            let meaning = "mean delay of a byte by Little's formula, within the duration";
            let unit = unit_of_time(delay.value);
            plain("W", value_in(unit, delay.value), unit.1, meaning)
        }));
    }
    figures
}

/// The highest load without loss: in its trial, or in most of them.
fn without_loss(findings: &Findings) -> Option<Figure> {
    let largest = findings.frames.last()?;
    let rate = largest.wire_bit_s(largest.throughput_fps?);
    let meaning = if largest.goals.is_empty() {
        "the highest load of the largest frame without loss, on the wire"
    } else {
        "the highest load of the largest frame without loss in most of its trials, on the wire"
    };
    let unit = unit_of(rate);
    Some(plain("Throughput", value_in(unit, rate), unit.1, meaning))
}

/// A sheet has a search in each pass, and its figure is their mean; a method by itself has their median.
fn capacity(analysis: &Analysis) -> Option<Figure> {
    let of_sheet = on_sheet(analysis, "capacity_bit_s");
    let found = &analysis.findings.capacities;
    let own: Vec<f64> = found.iter().map(|one| one.figures.capacity_bit_s).collect();
    let (rate, at_least) = of_sheet
        .and_then(|line| Some((line.value?, line.at_least)))
        .or_else(|| Some((median(&own)?, found.iter().any(|one| one.figures.is_lower_bound))))?;
    let unit = unit_of(rate);
    let (sign, meaning) = if at_least {
        (
            ">= ",
            "the most that came, at the IP layer (RFC 9097); the sender could not send what was asked for",
        )
    } else {
        ("", "the most that came, at the IP layer (RFC 9097)")
    };
    let figure = plain("Capacity", format!("{sign}{}", value_in(unit, rate)), unit.1, meaning);
    let own: Vec<f64> = own.iter().map(|rate| rate / unit.0).collect();
    Some(Figure {
        interval: of_sheet.map_or_else(|| range(&own), |line| bounds(line, unit.0)),
        ..figure
    })
}

fn ratio_of_times(findings: &Findings) -> Option<Figure> {
    let last = findings.transfers.last()?;
    let meaning = "time taken over the ideal time with the largest window (RFC 6349)";
    Some(plain("Time ratio", number::ratio(last.figures.time_ratio), "", meaning))
}

fn round_trips(analysis: &Analysis) -> Option<Figure> {
    let of_sheet = on_sheet(analysis, "rpm");
    let found = analysis.findings.responsiveness.iter();
    let own: Vec<f64> = found.map(|one| one.figures.rpm).collect();
    let rpm = of_sheet.and_then(|line| line.value).or_else(|| median(&own))?;
    let meaning = "round trips per minute while connections fill the path";
    let figure = plain("RPM", number::fixed(rpm, 0), "/min", meaning);
    Some(Figure {
        interval: of_sheet.map_or_else(|| range(&own), |line| bounds(line, 1.0)),
        ..figure
    })
}

/// What a median is of, and from where to where; nothing of one pass.
fn range(values: &[f64]) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    match values.len() {
        0 | 1 => String::new(),
        passes => format!(
            "median of {}, {} to {}",
            several(passes, "pass"),
            number::figure(least),
            number::figure(most)
        ),
    }
}

/// The line of a sheet that has this figure of the path.
fn on_sheet<'a>(analysis: &'a Analysis, figure: &str) -> Option<&'a SheetLine> {
    analysis.sheet.iter().find(|line| line.of == Of::Path && line.figure == figure)
}

fn bounds(line: &SheetLine, unit: f64) -> String {
    interval(line.interval.map(|bounds| [bounds.low / unit, bounds.high / unit]))
}

/// Without an interval.
fn plain(name: &'static str, value: String, unit: &'static str, meaning: &'static str) -> Figure {
    Figure { name, value, unit, interval: String::new(), meaning }
}

/// In the unit that sentences and tables have for it.
fn of_rate(name: &'static str, rate: Estimate, meaning: &'static str) -> Figure {
    let unit = unit_of(rate.value);
    let bounds = rate.interval.map(|bounds| [bounds.low / unit.0, bounds.high / unit.0]);
    let value = value_in(unit, rate.value);
    Figure { name, value, unit: unit.1, interval: interval(bounds), meaning }
}

fn value_in(Unit(size, _): Unit, value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { number::figure(value / size) }
}

fn interval(bounds: Option<[f64; 2]>) -> String {
    bounds.map_or_else(
        || "no interval below three passes".to_owned(),
        |[low, high]| format!("95 % interval {} to {}", number::figure(low), number::figure(high)),
    )
}

fn badges(seen: &Seen<'_>) -> Vec<Badge> {
    let watch = |word| Badge { word, tone: Tone::Watch };
    let runs = || seen.analysis.cells.iter().flat_map(|cell| &cell.runs);
    let is_debug = seen.journal.hosts.build_profile() == Some("debug");
    let searches = &seen.analysis.findings.capacities;
    let is_host_limited = runs().any(|run| run.host_limited > 0)
        || searches.iter().any(|one| one.figures.is_lower_bound);
    let complete = seen.analysis.complete;
    [
        (!complete).then(|| watch("INCOMPLETE")),
        is_host_limited.then(|| watch("HOST LIMITED")),
        is_debug.then(|| watch("DEBUG BUILD")),
        complete.then_some(Badge { word: "COMPLETE", tone: Tone::Good }),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn sentence(analysis: &Analysis) -> String {
    if let Some(knee) = analysis.knee {
        let shape = match knee.shape {
            Shape::Hinge => String::new(),
            Shape::NotAHinge { p } => format!(
                " The points do not lie on a hinge ({}): the rate of this path depends on its load.",
                number::chance(p)
            ),
            Shape::Unknown => {
                " Without repeats nobody can tell whether that is a sharp knee.".to_owned()
            }
        };
        let bounds = knee.interval.map_or_else(String::new, |bounds| {
            format!(" (95 % interval {} to {})", rate(bounds.low), rate(bounds.high))
        });
        return format!(
            "The path carries what it is offered up to {}{bounds}, and no more beyond.{shape}",
            rate(knee.knee)
        );
    }
    if !analysis.findings.is_empty() {
        return "What the method found stands below, with what it does not follow of its text."
            .to_owned();
    }
    if let Some((most, cell)) = analysis.largest_if_carried() {
        let most = rate(most);
        let further = further(analysis, cell).unwrap_or_default();
        return format!("The path carried all that it was offered, {most} at the most.{further}");
    }
    let apart = analysis.scaling.map(|law| format!(" {}", figures::scaling_in_words(&law)));
    match shown(analysis) {
        Some(cell) => format!("{}{}", one_cell(cell, analysis), apart.unwrap_or_default()),
        None => "Nothing was measured.".to_owned(),
    }
}

/// The cell that the card is about: the only one, or that in which most departed.
fn shown(analysis: &Analysis) -> Option<&Measured> {
    let departed = |cell: &Measured| cell.departure.map_or(0.0, |rate| rate.value);
    // Of equal ones the first.
    analysis.cells.iter().rev().max_by(|a, b| departed(a).total_cmp(&departed(b)))
}

/// Which periods would have reached the knee, where those were chosen that do not.
fn further(analysis: &Analysis, cell: &Measured) -> Option<String> {
    let (mu, arrival) = (analysis.mu?.value, cell.arrival?.value);
    (cell.cell.group == Group::Period && mu > arrival).then(|| {
        let period = span(Some(cell.cell.x / 1e3 * arrival / mu));
        let mu = rate(mu);
        format!(
            " One full stream gets {mu}: such bursts reach the knee at periods below {period}; without --values the \
             sweep chooses them by itself."
        )
    })
}

fn one_cell(cell: &Measured, analysis: &Analysis) -> String {
    let whole = cell.runs.iter().find(|run| !run.is_partial);
    let Some((run, (arrival, departure))) = whole.zip(cell.arrival.zip(cell.departure)) else {
        return "In no run could all of it be run: there are no rates.".to_owned();
    };
    let delay = cell.window_delay.map_or_else(String::new, |delay| {
        format!("; a byte waited {} on average", span(Some(delay.value)))
    });
    let flows = several(run.flows, "flow");
    let which = match analysis.cells.len() {
        1 => String::new(),
        all => format!("Of {all} cells most departed in \"{}\": ", cell.cell.label),
    };
    let (arrival, departure) = (rate(arrival.value), rate(departure.value));
    format!("{which}{flows} offered {arrival} and {departure} departed{delay}.")
}

fn facts(seen: &Seen<'_>) -> Vec<Pair> {
    let (journal, plan) = (seen.journal, &seen.journal.plan);
    let from = EventRecord::started_at(&journal.events).unwrap_or("at an unknown time");
    let to = EventRecord::finished_at(&journal.events)
        .map_or_else(String::new, |at| format!(" to {at}"));
    let (runs, cells) = (several(journal.runs().count(), "run"), several(plan.cells.len(), "cell"));
    let mut facts = vec![
        Pair::new("Host", host_line(&journal.hosts)),
        Pair::new("Path", super::path(journal)),
        Pair::new("Measured", format!("{from}{to}; {runs} of {cells}")),
        Pair::new("Seed", plan.seed.to_string()),
    ];
    if plan.scale > 1 {
        let scale = plan.scale;
        let told = format!("every rate times {scale}, every time divided by {scale}");
        facts.push(Pair::new("Quick form", told));
    }
    facts.extend(journal.hosts.note.iter().map(|note| Pair::new("Note", note)));
    facts
}

#[cfg(test)]
mod tests {
    use btu_core::traffic::findings::FrameFinding;
    use btu_core::traffic::findings::GoalFinding;

    use super::*;

    /// A load of which one trial lost something is no load without loss.
    #[test]
    fn a_throughput_by_majority_is_told_as_that() {
        let goal = GoalFinding { loss: 0.0, lower_fps: Some(1.0), upper_fps: None };
        let meaning = |goals| {
            let found =
                FrameFinding { throughput_fps: Some(1.0), goals, ..FrameFinding::default() };
            without_loss(&Findings { frames: vec![found], ..Findings::default() }).unwrap().meaning
        };
        let told = "the highest load of the largest frame without loss";
        assert_eq!(meaning(Vec::new()), format!("{told}, on the wire"));
        assert_eq!(meaning(vec![goal]), format!("{told} in most of its trials, on the wire"));
    }
}
