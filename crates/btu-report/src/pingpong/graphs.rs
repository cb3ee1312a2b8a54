//! The three graphs of the paper: signature, saturation, throughput (snell1996, section 4).

use std::collections::BTreeMap;

use btu_core::pingpong::analysis::Measured;
use btu_core::pingpong::configuration::Mode;
use btu_core::pingpong::curve::Curve;
use btu_core::pingpong::curve::CurvePoint;
use btu_core::pingpong::plan::SizeChoice;
use btu_core::pingpong::sizes::Step;
use btu_core::stats::Interval;
use btu_core::units::Bytes;

use super::Seen;
use crate::document::Block;
use crate::document::Column;
use crate::document::CurveLine;
use crate::document::CurvePlace;
use crate::document::LineChart;
use crate::document::Origin;
use crate::document::Scale;
use crate::document::ScaleKind;
use crate::document::ShadedRange;
use crate::document::Table;
use crate::number;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    let shown = shown(seen);
    if shown.is_empty() {
        return Vec::new();
    }
    let charts = [signature(&shown), saturation(&shown), throughput(seen, &shown)];
    charts.into_iter().map(Block::Lines).collect()
}

/// A curve to draw.
struct Shown<'a> {
    label: &'a str,
    origin: Origin,
    mode: Mode,
    points: Vec<CurvePoint>,
    /// Points of rates alone, with many blocks under way.
    rates: Vec<(Bytes, f64)>,
}

/// Ours first, then those from elsewhere.
fn shown<'a>(seen: &Seen<'a>) -> Vec<Shown<'a>> {
    let own = seen.analysis.timed().map(|curve| Shown::of(&curve.label, Origin::Own, &curve.curve));
    let foreign = seen.analysis.overlaid.iter().map(|other| match &other.curve {
        Some(curve) => Shown::of(&other.label, Origin::Foreign, curve),
        None => Shown {
            label: &other.label,
            origin: Origin::Foreign,
            mode: other.mode(),
            points: Vec::new(),
            rates: other.throughput.clone(),
        },
    });
    own.chain(foreign).collect()
}

impl<'a> Shown<'a> {
    fn of(label: &'a str, origin: Origin, curve: &Curve) -> Self {
        Self { label, origin, mode: curve.mode, points: curve.points.clone(), rates: Vec::new() }
    }

    /// The curve with each point, and each end of its interval, laid out by `at` from size and T.
    fn line(&self, at: impl Fn(Bytes, f64) -> [f64; 2]) -> CurveLine {
        let place = |point: &CurvePoint| CurvePlace {
            at: at(point.size, point.time_us),
            interval: point
                .interval_us
                .filter(|bounds| !is_wide(*bounds))
                .map(|bounds| [bounds.low, bounds.high].map(|time| at(point.size, time))),
        };
        let points = self.points.iter().map(place).collect();
        CurveLine { label: self.label.to_owned(), origin: self.origin, points }
    }

    /// `tcp 17 of 124`: at how many sizes the interval is too wide for a stroke.
    fn without_stroke(&self) -> Option<String> {
        let wide = |point: &&CurvePoint| point.interval_us.is_some_and(is_wide);
        let count = self.points.iter().filter(wide).count();
        (count > 0).then(|| format!("{} {count} of {}", self.label, self.points.len()))
    }

    fn rate(&self, size: Bytes, time_us: f64) -> f64 {
        self.mode.rate_mbps(size, time_us)
    }
}

/// True for an interval of a disturbed point that would cross the whole picture and say nothing in it.
fn is_wide(bounds: Interval) -> bool {
    bounds.high > WIDEST * bounds.low
}

/// How far the ends of an interval that is drawn may be apart.
const WIDEST: f64 = 4.0;

/// What strokes are, and where there are none.
fn strokes(shown: &[Shown<'_>]) -> String {
    let wide: Vec<String> = shown.iter().filter_map(Shown::without_stroke).collect();
    if wide.is_empty() {
        return "Strokes are 95 % intervals.".to_owned();
    }
    format!(
        "Strokes are 95 % intervals; those whose ends are more than a factor of {WIDEST} apart are not drawn \
         and stand in the table of every point: {}.",
        wide.join(", ")
    )
}

fn signature(shown: &[Shown<'_>]) -> LineChart {
    let timed = || shown.iter().filter(|curve| !curve.points.is_empty());
    LineChart {
        name: "signature",
        title: "Signature graph".to_owned(),
        description: "Throughput over the time of a block, one way, for each curve.".to_owned(),
        x: Scale { title: "T in us, one way".to_owned(), kind: ScaleKind::Log },
        y: Scale { title: "Mb/s (10^6 bit/s)".to_owned(), kind: ScaleKind::Linear },
        curves: timed()
            .map(|curve| curve.line(|size, time| [time, curve.rate(size, time)]))
            .collect(),
        ranges: Vec::new(),
        reading: format!(
            "Each point is a block size. Where a curve begins on the left is its latency, its top is its \
             peak; of two curves the one further to the left and higher is better. Sizes grow along the \
             curve: where it turns back or falls, larger blocks are slower. {}",
            strokes(shown)
        ),
        table: table(shown, "T us and Mb/s", &[" us", " Mb/s"], |curve, point| {
            vec![
                number::figure(point.time_us),
                number::figure(curve.rate(point.size, point.time_us)),
            ]
        }),
    }
}

fn saturation(shown: &[Shown<'_>]) -> LineChart {
    let timed = || shown.iter().filter(|curve| !curve.points.is_empty());
    LineChart {
        name: "saturation",
        title: "Saturation graph".to_owned(),
        description: "Block size over the time of a block, one way, for each curve.".to_owned(),
        x: Scale { title: "T in us, one way".to_owned(), kind: ScaleKind::Log },
        y: Scale { title: "block in bytes".to_owned(), kind: ScaleKind::LogBytes },
        curves: timed().map(|curve| curve.line(|size, time| [time, float(size)])).collect(),
        ranges: Vec::new(),
        reading: format!(
            "Where a curve stands upright, time is latency and larger blocks come for nothing; where it \
             rises at a fixed slope, every byte costs the same. The bend between is the saturation point. {}",
            strokes(shown)
        ),
        table: table(shown, "T us", &[""], |_, point| vec![number::figure(point.time_us)]),
    }
}

fn throughput(seen: &Seen<'_>, shown: &[Shown<'_>]) -> LineChart {
    let zoom = is_zoom(seen);
    let mut curves: Vec<CurveLine> = shown
        .iter()
        .map(|curve| curve.line(|size, time| [float(size), curve.rate(size, time)]))
        .collect();
    for (line, curve) in curves.iter_mut().zip(shown) {
        let rates = curve
            .rates
            .iter()
            .map(|(size, rate)| CurvePlace { at: [float(*size), *rate], interval: None });
        line.points.extend(rates);
    }
    if let Some(reference) = seen.analysis.reference.as_ref().filter(|_| !zoom) {
        let copies = Shown::of(&reference.label, Origin::Reference, &reference.curve);
        curves.push(copies.line(|size, time| [float(size), copies.rate(size, time)]));
    }
    let kinds = if zoom {
        [ScaleKind::LinearWithin, ScaleKind::Linear]
    } else {
        [ScaleKind::LogBytes, ScaleKind::Log]
    };
    LineChart {
        name: "throughput",
        title: "Throughput graph".to_owned(),
        description: "Throughput over block size for each curve, chasms shaded.".to_owned(),
        x: Scale { title: "block in bytes".to_owned(), kind: kinds[0] },
        y: Scale { title: "Mb/s (10^6 bit/s)".to_owned(), kind: kinds[1] },
        curves,
        ranges: chasms(seen),
        reading: if zoom {
            format!(
                "A zoom: both axes are linear; shaded is what was confirmed as a chasm, with its factor. {}",
                strokes(shown)
            )
        } else {
            format!(
                "Both axes are logarithmic, so that a factor is a distance. Shaded is what was confirmed as \
                 a chasm, with its factor; the dotted line is what copies of memory reach, the limit of \
                 every transport within one machine. {}",
                strokes(shown)
            )
        },
        table: table(shown, "Mb/s", &[""], |curve, point| {
            vec![number::figure(curve.rate(point.size, point.time_us))]
        }),
    }
}

/// The confirmed chasms.
fn chasms(seen: &Seen<'_>) -> Vec<ShadedRange> {
    let of_curve = |curve: &Measured| -> Vec<ShadedRange> {
        let findings = curve.findings.iter().flatten();
        let range = |chasm: &btu_core::pingpong::chasm::Chasm| ShadedRange {
            bounds: [float(chasm.from), float(chasm.to)],
            label: format!("{}: {} times slower", curve.label, number::figure(chasm.ratio)),
        };
        findings.filter_map(|finding| finding.chasm()).map(range).collect()
    };
    seen.analysis.timed().flat_map(of_curve).collect()
}

/// True for sizes with equal steps.
fn is_zoom(seen: &Seen<'_>) -> bool {
    matches!(&seen.journal.plan.sizes, SizeChoice::Grid(sizes) if matches!(sizes.step(), Step::Every(_)))
}

/// One row per size, the columns of every curve beside each other.
fn table(
    shown: &[Shown<'_>],
    title: &str,
    units: &[&str],
    cells: impl Fn(&Shown<'_>, &CurvePoint) -> Vec<String>,
) -> Table {
    let timed: Vec<&Shown<'_>> = shown.iter().filter(|curve| !curve.points.is_empty()).collect();
    let mut rows: BTreeMap<Bytes, Vec<String>> = BTreeMap::new();
    for (place, curve) in timed.iter().enumerate() {
        for point in &curve.points {
            let row = rows.entry(point.size).or_default();
            row.resize(place * units.len(), String::new());
            row.extend(cells(curve, point));
        }
    }
    let heads =
        timed.iter().flat_map(|curve| units.iter().map(|unit| format!("{}{unit}", curve.label)));
    let columns: Vec<Column> =
        std::iter::once("bytes".to_owned()).chain(heads).map(Column::right).collect();
    let row = |(size, mut cells): (Bytes, Vec<String>)| {
        cells.resize(timed.len() * units.len(), String::new());
        std::iter::once(size.count().to_string()).chain(cells).collect()
    };
    let rows = rows.into_iter().map(row).collect();
    Table { title: title.to_owned(), columns, rows, summary_rows: 0 }
}

#[expect(clippy::cast_precision_loss, reason = "block sizes are far below 2^53")]
fn float(size: Bytes) -> f64 {
    size.count() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_over_a_factor_of_four_has_no_stroke_and_is_told() {
        let point = |size, high| CurvePoint {
            size: Bytes::new(size),
            time_us: 10.0,
            interval_us: Some(Interval { low: 5.0, high }),
            rounds_us: Vec::new(),
        };
        let shown = |points: Vec<CurvePoint>| Shown {
            label: "tcp",
            origin: Origin::Own,
            mode: Mode::PingPong,
            points,
            rates: Vec::new(),
        };
        let noisy = shown(vec![point(1, 20.0), point(2, 20.1)]);
        let line = noisy.line(|size, time| [float(size), time]);
        let drawn: Vec<bool> = line.points.iter().map(|place| place.interval.is_some()).collect();
        assert_eq!(drawn, [true, false]);
        assert!(strokes(&[noisy]).ends_with("in the table of every point: tcp 1 of 2."));
        assert_eq!(strokes(&[shown(vec![point(1, 20.0)])]), "Strokes are 95 % intervals.");
    }
}
