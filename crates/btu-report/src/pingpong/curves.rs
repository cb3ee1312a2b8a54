//! Every curve in one line, its regimes, and every point of it.

use btu_core::pingpong::analysis::Measured;
use btu_core::pingpong::curve::Regime;
use btu_core::pingpong::curve::Rise;
use btu_core::pingpong::nature::Nature;
use btu_core::pingpong::point::PointSummary;
use btu_core::pingpong::schedule::SHORT_UNITS;
use btu_core::pingpong::statistic::Statistic;
use btu_core::stats::Interval;
use btu_core::units::Bytes;
use btu_core::words::several;

use super::Seen;
use super::stops;
use crate::document::Block;
use crate::document::Column;
use crate::document::Table;
use crate::number;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    let timed: Vec<&Measured> = all(seen).collect();
    let measured: Vec<&Measured> = seen.analysis.timed().collect();
    let mut blocks = Vec::new();
    if !timed.is_empty() {
        blocks.push(Block::Table(figures(&timed)));
    }
    if !measured.is_empty() {
        blocks.push(Block::Table(regimes(&measured)));
    }
    blocks.extend(notes(seen).map(Block::paragraph));
    blocks
}

/// All timed curves, the reference last.
fn all<'a>(seen: &Seen<'a>) -> impl Iterator<Item = &'a Measured> {
    seen.analysis.timed().chain(&seen.analysis.reference)
}

fn figures(curves: &[&Measured]) -> Table {
    let row = |curve: &&Measured| {
        let found = &curve.figures;
        let (peak, at) = found.peak_mbps.map_or((None, None), |(rate, at)| (Some(rate), Some(at)));
        vec![
            curve.label.clone(),
            number::figure_or_none(found.latency_us),
            number::figure_or_none(found.netpipe_latency_us),
            number::figure_or_none(peak),
            at.map_or_else(|| number::NONE.to_owned(), bytes),
            number::figure_or_none(found.half_size_bytes),
            number::figure_or_none(found.asymptotic_mbps),
            found.saturation.map_or_else(|| number::NONE.to_owned(), bytes),
        ]
    };
    Table {
        title: "Latency T(1 B), throughput in Mb/s (10^6 bit/s)".to_owned(),
        columns: vec![
            Column::left("curve"),
            Column::right("T(1 B) us"),
            Column::right("below 64 B"),
            Column::right("peak"),
            Column::right("at"),
            Column::right("n1/2 B"),
            Column::right("r_inf"),
            Column::right("saturated"),
        ],
        rows: curves.iter().map(row).collect(),
        summary_rows: 0,
    }
}

/// `LogGP`: T(n) = L + o + (n - 1) G.
fn regimes(curves: &[&Measured]) -> Table {
    let of_curve = |curve: &&Measured| -> Vec<Vec<String>> {
        let figures = &curve.figures;
        let row = |regime: &Regime| {
            let rise = figures.rises.iter().find(|rise: &&Rise| rise.at == regime.from);
            vec![
                curve.label.clone(),
                format!("{} to {}", regime.from.count(), regime.to.count()),
                positive(regime.latency_us()),
                positive(regime.gap_ns()),
                rise.map_or_else(String::new, |rise| number::ratio(rise.ratio)),
            ]
        };
        figures.regimes.iter().map(row).collect()
    };
    Table {
        title: "Regimes, T(n) = L + o + (n - 1) G; L and o cannot be told apart here".to_owned(),
        columns: vec![
            Column::left("curve"),
            Column::left("bytes"),
            Column::right("L + o us"),
            Column::right("G ns/B"),
            Column::right("rise"),
        ],
        rows: curves.iter().flat_map(of_curve).collect(),
        summary_rows: 0,
    }
}

/// A figure that has no meaning below zero.
fn positive(value: f64) -> String {
    number::figure_or_none(Some(value).filter(|value| *value > 0.0))
}

/// What a reader must know beside the figures.
fn notes(seen: &Seen<'_>) -> impl Iterator<Item = String> {
    let large =
        seen.analysis.curves.iter().filter(|curve| !curve.too_large.is_empty()).map(|curve| {
            format!(
                "{}: {} not {}: above {} bytes{}.",
                curve.label,
                several(curve.too_large.len(), "size"),
                if curve.configuration.verify { "checked" } else { "available" },
                curve.largest.count(),
                bound(&curve.configuration.nature)
            )
        });
    let remarks =
        seen.analysis.curves.iter().flat_map(|curve| {
            curve.remarks.iter().map(|remark| format!("{}: {remark}.", curve.label))
        });
    let statistic = seen.journal.plan.statistic;
    let bare = seen.analysis.timed().filter_map(|curve| {
        let points = &curve.curve.points;
        let bare = points.iter().filter(|point| point.interval_us.is_none()).count();
        let which = format!("{}: interval of {statistic} not available", curve.label);
        let why = statistic.without_interval();
        (bare > 0).then(|| format!("{which} at {bare} of {} sizes: {why}.", points.len()))
    });
    let missing = missing(&seen.analysis.missing);
    let noisy = seen.analysis.timed().filter_map(noise);
    let stopped =
        seen.analysis.curves.iter().flat_map(|curve| stops::told(curve, &seen.journal.plan));
    noisy
        .chain(stopped)
        .chain(large)
        .chain(remarks)
        .chain(bare)
        .chain(missing)
        .collect::<Vec<_>>()
        .into_iter()
}

/// What is not there and why, each reason once: a transport is missing in every way to wait.
fn missing(all: &[(String, String)]) -> Vec<String> {
    let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, reason) in all {
        let reason = bare_reason(name, reason);
        match by_reason.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(name),
            None => by_reason.push((reason, vec![name])),
        }
    }
    let told = by_reason.into_iter().map(|(reason, names)| {
        let are = if names.len() == 1 { "is" } else { "are" };
        format!("{} {are} not there: {reason}.", names.join(", "))
    });
    told.collect()
}

/// The reason without the name that it begins with.
fn bare_reason<'r>(transport: &str, reason: &'r str) -> &'r str {
    let name = transport.split(' ').next().unwrap_or(transport);
    reason.strip_prefix(name).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(reason)
}

/// At how many sizes of a curve the machine did something else.
fn noise(curve: &Measured) -> Option<String> {
    let flagged = |name: &str| {
        let has = |point: &&PointSummary| point.flags.iter().any(|flag| flag.name == name);
        curve.points.iter().filter(has).count()
    };
    let (disturbed, few) = (flagged("disturbed"), flagged("few-rounds"));
    let short = flagged(SHORT_UNITS);
    let words = [
        (disturbed, "other work took more than 5 % of the time of some rounds"),
        (few, "there were fewer than three rounds"),
        (short, "more than 5 % of some units of a stream were or may be their acknowledgement"),
    ];
    let told = words.iter().filter(|(points, _)| *points > 0);
    let told: Vec<String> = told.map(|(points, what)| format!("{what} at {points}")).collect();
    let of = several(curve.points.len(), "size");
    (!told.is_empty()).then(|| format!("{}: {} of {of}.", curve.label, told.join(", ")))
}

/// What bounds the blocks of a transport, where it says so.
fn bound(nature: &Nature) -> String {
    nature.bound.as_ref().map_or_else(String::new, |bound| format!(" ({bound})"))
}

pub(super) fn every_point(seen: &Seen<'_>) -> Vec<Block> {
    let table = |curve: &Measured| {
        let title = format!("{}: {}", curve.label, several(curve.points.len(), "point"));
        Block::details(title, vec![Block::Table(points(curve))])
    };
    all(seen).map(table).collect()
}

/// Every point; where something else than the typical time is drawn, with the interval of that beside.
fn points(curve: &Measured) -> Table {
    let statistic = curve.curve.statistic;
    let drawn = Some(statistic).filter(|statistic| *statistic != Statistic::Typical);
    let form = |bounds: Interval| number::interval(Some([bounds.low, bounds.high]), number::figure);
    let interval = |bounds: Option<Interval>| bounds.map_or_else(|| number::NONE.to_owned(), form);
    let row = |point: &PointSummary| {
        let rate = curve.configuration.mode.rate_mbps(point.size, point.value_us(statistic));
        let mut cells = vec![
            point.size.count().to_string(),
            number::figure(point.typical_us),
            interval(point.interval_us),
            number::figure(rate),
            number::figure(point.min_us),
            number::figure(point.median_us),
            number::figure(point.p99_us),
            average(point.average_of_3000_us),
            number::figure(point.netpipe_us),
            connections(&point.connections_us),
            point.exchanges.to_string(),
            rounds(curve, point),
            point.flags.iter().map(|flag| flag.name.as_str()).collect::<Vec<_>>().join(" "),
        ];
        cells.extend(drawn.map(|_| interval(curve.interval_us(point.size))));
        cells
    };
    let heads = [
        "bytes",
        "T us",
        "95 %",
        "Mb/s",
        "min",
        "median",
        "p99",
        "av. of 3000",
        "NetPIPE's",
        "connections",
        "n",
        "rounds",
        "flags",
    ];
    let mut columns = heads.map(Column::right).to_vec();
    columns.extend(drawn.map(|statistic| Column::right(format!("95 % of {statistic}"))));
    Table {
        title: String::new(),
        columns,
        rows: curve.points.iter().map(row).collect(),
        summary_rows: 0,
    }
}

/// The rounds of a point; where there are fewer than were asked for, of how many, and why.
fn rounds(curve: &Measured, point: &PointSummary) -> String {
    let (made, asked) = (point.rounds_us.len(), curve.asked_rounds);
    let why = curve.stops.get(&point.size).map(|stop| format!(" ({})", stop.name()));
    match why {
        None if usize::try_from(asked).is_ok_and(|asked| asked <= made) => made.to_string(),
        why => format!("{made} of {asked}{}", why.unwrap_or_default()),
    }
}

/// The mean of the first 3000 exchanges, with their number where it is another.
fn average((mean, exchanges): (f64, u64)) -> String {
    let mean = number::figure(mean);
    if exchanges == 3_000 { mean } else { format!("{mean} (of {exchanges})") }
}

/// The typical times of the connections: the least, the most, and how many there were.
fn connections(times_us: &[f64]) -> String {
    let least = times_us.iter().copied().min_by(f64::total_cmp);
    let most = times_us.iter().copied().max_by(f64::total_cmp);
    match least.zip(most) {
        None => number::NONE.to_owned(),
        Some((only, _)) if times_us.len() == 1 => format!("{} (1)", number::figure(only)),
        Some((least, most)) => {
            let [least, most] = [least, most].map(number::figure);
            format!("{least} to {most} ({})", times_us.len())
        }
    }
}

/// `64 KiB` where that is exact, else `65507 B`.
pub(super) fn bytes(size: Bytes) -> String {
    let text = size.to_string();
    let unit = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    format!("{} {}", &text[..unit], &text[unit..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_of_connections_stand_in_a_range() {
        assert_eq!(connections(&[10.0, 9.5, 12.25]), "9.50 to 12.2 (3)");
        assert_eq!((connections(&[10.0]).as_str(), connections(&[]).as_str()), ("10.0 (1)", "-"));
    }

    #[test]
    fn a_transport_that_is_not_there_is_named_once() {
        assert_eq!(bare_reason("xdp wait spin", "xdp: no driver"), "no driver");
        assert_eq!(bare_reason("vsock", "open /dev/vsock: gone"), "open /dev/vsock: gone");
        let gone = |name: &str, reason: &str| (name.to_owned(), reason.to_owned());
        let all =
            [gone("xdp block", "xdp: no"), gone("vsock", "gone"), gone("xdp spin", "xdp: no")];
        let told = ["xdp block, xdp spin are not there: no.", "vsock is not there: gone."];
        assert_eq!(missing(&all), told);
    }
}
