//! Curves of other tools and of other results, with where they come from and how they differ.

use super::Measured;
use crate::pingpong::configuration::Mode;
use crate::pingpong::curve::Curve;
use crate::pingpong::curve::CurvePoint;
use crate::pingpong::import::Imported;
use crate::pingpong::import::import;
use crate::pingpong::journal::Journal;
use crate::pingpong::plan::Plan;
use crate::pingpong::sample::Circumstances;
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
        Line::PingPongFile { file, text } => Some(of_file(file, text, plan, curves)),
        Line::PingPongForeign(foreign) => Some(of_result(foreign, plan, curves)),
        _ => None,
    };
    journal.lines.iter().filter_map(foreign).collect()
}

fn of_file(file: &str, text: &str, ours: &Plan, curves: &[Measured]) -> Overlaid {
    match import(file, text) {
        Err(error) => Overlaid {
            label: base_name(file).to_owned(),
            provenance: error.to_string(),
            curve: None,
            throughput: Vec::new(),
            warnings: vec!["it cannot be read".to_owned()],
            like: None,
        },
        Ok(imported) => of_import(&imported, ours, curves),
    }
}

fn of_import(imported: &Imported, ours: &Plan, curves: &[Measured]) -> Overlaid {
    let mut warnings = imported.remarks.clone();
    let tool = &imported.tool;
    warnings.extend(other_statistic(imported, ours.statistic));
    let others = curves.iter().filter(|curve| curve.configuration.mode != Mode::PingPong);
    warnings.extend(others.map(|curve| {
        format!("mode {} against {} of {}", Mode::PingPong, curve.configuration.mode, curve.label)
    }));
    if ours.order == Order::Random {
        warnings.push(format!(
            "{tool} goes from small blocks to large ones, ours come in random order; --order rising \
             --connections 1 compares like with like"
        ));
    }
    warnings.push(
        "the file does not say over which path it went, how its ends waited, where they ran, nor its \
         socket options: they may differ from ours"
            .to_owned(),
    );
    let label = base_name(&imported.file).to_owned();
    let curve = imported.curve().map(|curve| Curve { label: label.clone(), ..curve });
    if curve.is_none() {
        warnings.push("a rate with many blocks under way: no time follows from it".to_owned());
    }
    // A file that names no tool is told by its format alone.
    let format = Some(imported.format).filter(|format| *format != tool);
    let format = format.map_or_else(String::new, |format| format!(" ({format})"));
    let provenance = format!("{}, {tool}{format}", imported.file);
    let like = None;
    Overlaid { throughput: imported.throughput(), label, provenance, curve, warnings, like }
}

/// That our times are another statistic than those of a file, and which option compares like with like.
fn other_statistic(imported: &Imported, ours: Statistic) -> Option<String> {
    let (theirs, tool) = (imported.statistic?, &imported.tool);
    (theirs != ours).then(|| {
        format!(
            "the times of {tool} are \"{theirs}\" ({}), ours are \"{ours}\"; --statistic {theirs} \
             compares like with like",
            theirs.about()
        )
    })
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
        warnings.extend(other_circumstances(foreign, &like.circumstances(ours)));
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

/// What was otherwise outside of the settings of a curve, or that nobody knows.
fn other_circumstances(foreign: &ForeignCurve, ours: &Circumstances) -> Vec<String> {
    let Some(theirs) = &foreign.circumstances else {
        let what = "path, CPUs, connections and congestion control";
        return vec![format!("{what} are not kept of it: they may differ from ours")];
    };
    let pairs =
        theirs.words().into_iter().zip(ours.words()).filter(|(theirs, ours)| theirs != ours);
    pairs.map(|((name, theirs), (_, ours))| format!("{name} {theirs} against {ours}")).collect()
}

impl Circumstances {
    /// Each with its name and value as text.
    fn words(&self) -> [(&'static str, String); 5] {
        let or = |value: &Option<String>, none: &str| value.as_deref().unwrap_or(none).to_owned();
        let connections = match self.connections {
            _ if self.reset => "one for each visit".to_owned(),
            connections => connections.to_string(),
        };
        [
            ("path", self.path.to_string()),
            ("CPUs of the near end", or(&self.near_cpus, "of its host")),
            ("CPUs of the far end", or(&self.far_cpus, "of its host")),
            ("connections", connections),
            ("congestion control", or(&self.congestion, "none")),
        ]
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
    pub fn to_foreign(&self, directory: &str, host: &str, plan: &Plan) -> ForeignCurve {
        ForeignCurve {
            directory: directory.to_owned(),
            label: self.label.clone(),
            host: host.to_owned(),
            configuration: self.configuration.clone(),
            statistic: self.curve.statistic,
            order: plan.order,
            circumstances: Some(self.circumstances(plan)),
            points: self.curve.points.iter().map(ForeignPoint::of).collect(),
        }
    }
}

impl Measured {
    fn circumstances(&self, plan: &Plan) -> Circumstances {
        Circumstances {
            path: plan.path,
            near_cpus: plan.near_cpus.clone(),
            far_cpus: plan.far_cpus.clone(),
            connections: plan.connections,
            reset: plan.reset,
            congestion: self.options.as_ref().and_then(|options| options.congestion.clone()),
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
