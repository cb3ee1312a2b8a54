//! Level 4: abnormal cells once more, with their packets: what was found, and what speaks for it.

mod evidence;
pub(super) mod omitted;

use btu_core::diagnosis::Diagnosis;
use btu_core::diagnosis::Worked;
use btu_core::run::analysis::Analysis;
use btu_core::run::analysis::Carried;
use btu_core::run::analysis::Followed;
use btu_core::run::analysis::SecondRun;
use btu_core::run::cell::Direction;
use btu_core::tcp::Detail;
use btu_core::words::several;

use super::Pictures;
use super::Run;
use super::Section;
use crate::abreast;
use crate::document::Block;
use crate::document::Column;
use crate::document::Level;
use crate::document::SequenceChart;
use crate::document::Table;
use crate::explain::sequence;
use crate::number;

/// The second runs and their causes.
#[derive(Debug)]
pub(super) struct Diagnoses;

impl Section for Diagnoses {
    fn name(&self) -> &'static str {
        "diagnosis"
    }

    fn title(&self) -> &'static str {
        "Why it is abnormal"
    }

    fn level(&self) -> Level {
        Level::Abnormal
    }

    fn compose(&self, run: &Run<'_>) -> Vec<Block> {
        let second = &run.analysis.second_runs;
        let mut blocks = Vec::new();
        if !second.is_empty() {
            blocks.extend([Block::paragraph(summary(run.analysis)), Block::Table(causes(second))]);
        }
        blocks.extend(omitted::blocks(&run.analysis.omitted));
        blocks.extend(every(&second.iter().collect::<Vec<_>>(), run.pictures));
        blocks
    }
}

/// Everything about these second runs, one after the other.
pub(crate) fn every(runs: &[&SecondRun], pictures: Pictures) -> Vec<Block> {
    let mut numbered = details(runs.iter().copied()).into_iter().enumerate();
    let of = |run: &&SecondRun| numbered.by_ref().take(run.connections.len()).collect();
    let charts: Vec<Vec<(usize, Detail)>> = runs.iter().map(of).collect();
    let runs: Vec<_> = runs.iter().zip(&charts).collect();
    abreast::map(&runs, |(run, charts)| second_run(run, charts, pictures))
}

/// How much a page shows of each chart of these second runs, one after the other.
pub(crate) fn details<'r>(runs: impl IntoIterator<Item = &'r SecondRun>) -> Vec<Detail> {
    let points = |one: &Followed| carried(one).map_or(0, |carried| carried.outline.points);
    let points = runs.into_iter().flat_map(|run| run.connections.iter().map(points));
    sequence::details(&points.collect::<Vec<_>>(), MOST_POINTS)
}

/// Everything about one; `charts` has the number and the detail of each connection's.
fn second_run(run: &SecondRun, charts: &[(usize, Detail)], pictures: Pictures) -> Block {
    let mut blocks = vec![Block::List { items: reasons(run) }, Block::paragraph(recorded(run))];
    for (place, (one, (number, detail))) in run.connections.iter().zip(charts).enumerate() {
        blocks.extend(connection(run, place, one));
        blocks.extend(chart(*number, run, one, *detail, pictures));
    }
    Block::details(headline(run), blocks)
}

/// The direction that carried the data.
fn carried(one: &Followed) -> Option<&Carried> {
    one.connection.as_ref().filter(|found| found.outline.has_data())
}

/// The time sequence of the data; `number` tells it from the other charts of the page.
fn chart(
    number: usize,
    run: &SecondRun,
    one: &Followed,
    detail: Detail,
    pictures: Pictures,
) -> Vec<Block> {
    let Some(Carried { outline, chart, .. }) = carried(one) else { return Vec::new() };
    let title = format!("{}, {}", run.cell, way(one));
    let words = sequence::words(number, title, outline, &one.congestion);
    let chart = match pictures {
        Pictures::Drawn => SequenceChart { data: chart.data(&one.congestion, detail), ..words },
        Pictures::LeftOut => words,
    };
    let thinned = sequence::thinned(outline, detail).map(|said| {
        let path = run.file.as_ref().map_or("", |file| &file.path);
        Block::paragraph(format!("{said} btu explain DIR/{path} --html FILE draws every point."))
    });
    thinned.into_iter().chain([Block::Sequence(Box::new(chart))]).collect()
}

/// Points of all charts of a report: some 8 MB, which a browser draws without stutter.
const MOST_POINTS: usize = 1_000_000;

/// `test -> active`
fn way(one: &Followed) -> String {
    match one.direction {
        Direction::Receive => format!("{} -> test", one.peer),
        Direction::Send => format!("test -> {}", one.peer),
    }
}

/// `SEND/telnet/none: delayed-ack-nagle (confidence high)`
fn headline(run: &SecondRun) -> String {
    format!("{}: {}", run.cell, verdict(run))
}

fn summary(analysis: &Analysis) -> String {
    let again = analysis.second_runs.len();
    let has_cause = |run: &&SecondRun| first(run).is_some_and(Diagnosis::is_known);
    let explained = analysis.second_runs.iter().filter(has_cause).count();
    let unseen = analysis.second_runs.iter().filter(|run| !run.no_packets.is_empty()).count();
    if unseen == again {
        return format!(
            "After the last pass {} ran once more with capture; nothing of it is scored. There are no packets to \
             look at, so no cause can be told.",
            several(again, "cell")
        );
    }
    let found = match (again, explained) {
        (1, 1) => "Its cause stands below.".to_owned(),
        (_, 0) => "No cause was found.".to_owned(),
        (_, 1) => "1 of them has its cause below.".to_owned(),
        _ => format!("{explained} of them have their cause below."),
    };
    format!(
        "After the last pass {} ran once more with capture; nothing of it is scored. {found} A second run \
         may be calm where the scored one was not: then none is named. btu explain DIR CELL prints the \
         same.",
        several(again, "cell")
    )
}

/// Each cell with its strongest cause.
fn causes(runs: &[SecondRun]) -> Table {
    let row = |run: &SecondRun| {
        let rules: Vec<&str> = run.why.iter().map(|flag| flag.name.as_str()).collect();
        let found = first(run);
        let known = found.filter(|one| one.is_known());
        vec![
            run.cell.id(),
            if rules.is_empty() { "asked for".to_owned() } else { rules.join(", ") },
            number::figure_or_none(run.goodput_mbps),
            found.map_or_else(|| verdict(run), |one| one.cause.to_owned()),
            known.map_or_else(String::new, |one| one.confidence.to_string()),
            number::percent_or_none(known.map(|one| one.share.percent())),
        ]
    };
    Table {
        title: "Second runs".to_owned(),
        columns: vec![
            Column::left("cell"),
            Column::left("rules"),
            Column::right("Mb/s this time"),
            Column::left("first cause"),
            Column::left("confidence"),
            Column::right("% of the time"),
        ],
        rows: runs.iter().map(row).collect(),
        summary_rows: 0,
    }
}

/// The strongest cause of all connections.
fn first(run: &SecondRun) -> Option<&Diagnosis> {
    strongest(run.connections.iter().filter_map(|one| one.diagnoses.first()))
}

/// That nothing explains one connection says less than any cause of another one.
fn strongest<'d>(each: impl Iterator<Item = &'d Diagnosis>) -> Option<&'d Diagnosis> {
    each.max_by(|a, b| {
        a.is_known().cmp(&b.is_known()).then_with(|| a.weight().total_cmp(&b.weight()))
    })
}

fn verdict(run: &SecondRun) -> String {
    match first(run) {
        Some(found) if found.is_known() => {
            format!("{} (confidence {})", found.cause, found.confidence)
        }
        Some(_) => "no known cause".to_owned(),
        None if run.no_packets.is_empty() => "no cause found".to_owned(),
        None => "no packets".to_owned(),
    }
}

fn reasons(run: &SecondRun) -> Vec<String> {
    if run.why.is_empty() {
        return vec!["asked for; no rule calls it abnormal".to_owned()];
    }
    run.why.iter().map(|flag| format!("{}: {}", flag.name, flag.detail)).collect()
}

/// Where the packets are, and what is missing of them.
fn recorded(run: &SecondRun) -> String {
    let rate = run.goodput_mbps.map_or_else(
        || "The second run carried nothing.".to_owned(),
        |mbps| format!("The second run carried {} Mb/s.", number::figure(mbps)),
    );
    let packets = match &run.file {
        Some(file) => format!(
            " {} packets, as seen at {}, recorded by {}: {}.",
            file.packets,
            file.seen_at.name(),
            file.source.name(),
            file.path
        ),
        None => String::new(),
    };
    let gone = match run.no_packets.as_str() {
        "" => String::new(),
        why => format!(" No packets to look at: {why}."),
    };
    let missing = match run.missing.join("; ") {
        missing if missing.is_empty() => missing,
        missing => format!(" Incomplete: {missing}."),
    };
    format!("{rate}{packets}{gone}{missing}")
}

/// Causes, then the figures of hosts and packets.
fn connection(run: &SecondRun, number: usize, one: &Followed) -> Vec<Block> {
    let way = way(one);
    let mut blocks = Vec::new();
    if run.connections.len() > 1 {
        blocks.push(Block::paragraph(format!("Connection {}, {way}:", number + 1)));
    }
    match (one.connection.is_some(), one.diagnoses.is_empty()) {
        (false, _) if run.no_packets.is_empty() => {
            blocks.push(Block::paragraph("The capture does not hold this connection."));
        }
        (true, true) => blocks.push(Block::paragraph(nothing(Worked::of(&one.evidence)))),
        (_, false) => blocks.push(Block::List { items: one.diagnoses.iter().map(told).collect() }),
        (false, true) => {}
    }
    blocks.push(Block::Table(evidence::table(&format!("Evidence, {way}"), one)));
    blocks
}

/// No cause: then the slower end is the limit, and it is worth knowing which one that is.
fn nothing(worked: Worked) -> String {
    let said = "Packets and hosts show nothing that slowed this connection down.";
    let Some((sender, receiver)) = worked.sender.zip(worked.receiver) else {
        return said.to_owned();
    };
    format!(
        "{said} The sending thread had work {} % of the time, the receiving one {} %.",
        number::percent(sender.percent()),
        number::percent(receiver.percent())
    )
}

/// A cause in words, with what to try.
fn told(found: &Diagnosis) -> String {
    if !found.is_known() {
        return format!("{}: {}. Try: {}.", found.cause, found.sentence, found.remedy);
    }
    format!(
        "{} (confidence {}, {} % of the time): {}. Try: {}.",
        found.cause,
        found.confidence,
        number::percent(found.share.percent()),
        found.sentence,
        found.remedy
    )
}

#[cfg(test)]
mod tests {
    use btu_core::diagnosis::Confidence;
    use btu_core::tcp::Endpoint;
    use btu_core::units::Ratio;

    use super::*;

    fn found(cause: &'static str, percent: f64, confidence: Confidence) -> Diagnosis {
        let end = Endpoint { address: std::net::Ipv4Addr::LOCALHOST.into(), port: 7 };
        Diagnosis {
            cause,
            from: end,
            to: end,
            confidence,
            share: Ratio::new(percent / 100.0),
            sentence: String::new(),
            remedy: "",
            figures: Vec::new(),
        }
    }

    /// Of two connections, by the first cause of each.
    fn first_of(one: &Diagnosis, other: &Diagnosis) -> &'static str {
        let both = [[one, other], [other, one]];
        let [there, back] = both.map(|each| strongest(each.into_iter()).unwrap().cause);
        assert_eq!(there, back);
        there
    }

    #[test]
    fn the_first_cause_of_a_run_weighs_most_by_share_and_confidence() {
        let timeout = found("timeout", 30.0, Confidence::High);
        let window = found("congestion-window", 40.0, Confidence::Medium);
        assert_eq!(first_of(&timeout, &window), "timeout");
        assert_eq!(first_of(&window, &found("timeout", 20.0, Confidence::High)), window.cause);
        assert_eq!(strongest(std::iter::empty()), None);
    }

    #[test]
    fn that_nothing_explains_one_connection_never_hides_the_cause_of_another() {
        let unknown = found("unknown", 100.0, Confidence::Low);
        let counted = found("fast-retransmit", 0.1, Confidence::High);
        assert_eq!(first_of(&unknown, &counted), "fast-retransmit");
        assert_eq!(first_of(&counted, &found("timeout", 0.0, Confidence::High)), counted.cause);
    }
}
