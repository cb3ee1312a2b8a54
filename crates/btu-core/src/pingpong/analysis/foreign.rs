//! Curves of other tools and of other results, with where they come from and how they differ.

use super::Measured;
use crate::pingpong::configuration::Mode;
use crate::pingpong::curve::Curve;
use crate::pingpong::curve::CurvePoint;
use crate::pingpong::import::Imported;
use crate::pingpong::import::import;
use crate::pingpong::journal::Journal;
use crate::pingpong::plan::Plan;
use crate::pingpong::sample::ConfigurationId;
use crate::pingpong::sample::ForeignCurve;
use crate::pingpong::sample::ForeignPoint;
use crate::pingpong::sample::Line;
use crate::pingpong::schedule::Order;
use crate::pingpong::statistic::Statistic;
use crate::stats::Interval;
use crate::units::Bytes;

/// A curve that was measured elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Overlaid {
    /// What legends call it.
    pub label: String,
    /// File or directory, tool and version, host.
    pub provenance: String,
    /// Its times; `None` for a file of rates alone, or one that cannot be read any more.
    pub curve: Option<Curve>,
    /// The throughput graph: (block size, Mb/s).
    pub throughput: Vec<(Bytes, f64)>,
    /// How it was measured in another way than the first curve here, or that nobody knows.
    pub warnings: Vec<String>,
    /// The curve here that was measured most like it; `None` for a file, which does not say.
    pub like: Option<ConfigurationId>,
}

/// The curves of the journal that are not its own.
pub(super) fn overlaid(journal: &Journal, curves: &[Measured]) -> Vec<Overlaid> {
    let plan = &journal.plan;
    let foreign = |line: &Line| match line {
        Line::PingPongFile { file, text } => Some(of_file(file, text, plan)),
        Line::PingPongForeign(foreign) => Some(of_result(foreign, plan, curves)),
        _ => None,
    };
    journal.lines.iter().filter_map(foreign).collect()
}

fn of_file(file: &str, text: &str, ours: &Plan) -> Overlaid {
    match import(file, text) {
        Err(error) => Overlaid {
            label: base_name(file).to_owned(),
            provenance: error.to_string(),
            curve: None,
            throughput: Vec::new(),
            warnings: vec!["it cannot be read".to_owned()],
            like: None,
        },
        Ok(imported) => of_import(&imported, ours),
    }
}

fn of_import(imported: &Imported, ours: &Plan) -> Overlaid {
    let mut warnings = imported.remarks.clone();
    let (statistic, tool) = (ours.statistic, &imported.tool);
    if statistic != Statistic::Netpipe {
        warnings.push(format!(
            "its times are {tool}'s own, ours are \"{statistic}\"; --statistic netpipe compares like \
             with like"
        ));
    }
    if ours.order == Order::Random {
        warnings.push(format!(
            "{tool} goes from small blocks to large ones, ours come in random order; --order rising \
             --connections 1 compares like with like"
        ));
    }
    warnings.push(
        "the file does not say how its ends waited, where they ran, nor its socket options: \
         they may differ from ours"
            .to_owned(),
    );
    let label = base_name(&imported.file).to_owned();
    let curve = imported.curve().map(|curve| Curve { label: label.clone(), ..curve });
    if curve.is_none() {
        warnings.push("a rate with many blocks under way: no time follows from it".to_owned());
    }
    let provenance = format!("{}, {} ({})", imported.file, imported.tool, imported.format);
    let like = None;
    Overlaid { throughput: imported.throughput(), label, provenance, curve, warnings, like }
}

fn of_result(foreign: &ForeignCurve, ours: &Plan, curves: &[Measured]) -> Overlaid {
    let mut warnings = Vec::new();
    if foreign.statistic != ours.statistic {
        warnings.push(format!("statistic {} against {}", foreign.statistic, ours.statistic));
    }
    if foreign.order != ours.order {
        warnings.push(format!("order {} against {}", foreign.order, ours.order));
    }
    let like = like(foreign, curves);
    if let Some(like) = like {
        let differing = foreign.configuration.differences(&like.configuration);
        warnings.extend(differing.into_iter().map(|text| format!("{text} of {}", like.label)));
    }
    let label = format!("{} of {}", foreign.label, base_name(&foreign.directory));
    let points = foreign.points.iter().map(ForeignPoint::to_point).collect();
    let mode = foreign.configuration.mode;
    let curve = Curve { label: label.clone(), mode, statistic: foreign.statistic, points };
    let provenance = format!("{}, {}", foreign.directory, foreign.host);
    Overlaid {
        throughput: curve.throughput(),
        label,
        provenance,
        curve: Some(curve),
        warnings,
        like: like.map(|like| like.id),
    }
}

/// The curve of the same transport with the fewest other settings; the first one where there is none.
fn like<'c>(foreign: &ForeignCurve, curves: &'c [Measured]) -> Option<&'c Measured> {
    let same = |curve: &&Measured| curve.configuration.transport == foreign.configuration.transport;
    let others = |curve: &&Measured| foreign.configuration.differences(&curve.configuration).len();
    curves.iter().filter(same).min_by_key(others).or(curves.first())
}

impl Overlaid {
    /// What an exchange of it was.
    pub fn mode(&self) -> Mode {
        self.curve.as_ref().map_or(Mode::PingPong, |curve| curve.mode)
    }
}

impl Measured {
    /// The curve as another result keeps it.
    pub fn to_foreign(&self, directory: &str, host: &str, order: Order) -> ForeignCurve {
        ForeignCurve {
            directory: directory.to_owned(),
            label: self.label.clone(),
            host: host.to_owned(),
            configuration: self.configuration.clone(),
            statistic: self.curve.statistic,
            order,
            points: self.curve.points.iter().map(ForeignPoint::of).collect(),
        }
    }
}

impl ForeignPoint {
    fn of(point: &CurvePoint) -> Self {
        Self {
            size_bytes: point.size,
            time_us: point.time_us,
            interval_us: point.interval_us.map(|bounds| [bounds.low, bounds.high]),
            rounds_us: point.rounds_us.clone(),
        }
    }

    fn to_point(&self) -> CurvePoint {
        CurvePoint {
            size: self.size_bytes,
            time_us: self.time_us,
            interval_us: self.interval_us.map(|[low, high]| Interval { low, high }),
            rounds_us: self.rounds_us.clone(),
        }
    }
}

/// The last part of a path.
fn base_name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}
