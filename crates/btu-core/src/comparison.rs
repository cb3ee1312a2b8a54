//! Two results beside each other: what changed, by how much, and how sure that is.
//!
//! Passes are the unit, as for the score: each figure is computed per pass, and the two sets of passes
//! are compared by Welch's test on their logs.

mod change;
mod condition;
mod facts;
pub mod history;
mod paired;
mod plan;
pub mod series;
mod surroundings;

use std::collections::BTreeSet;

use crate::run::analysis::Analysis;
use crate::run::analysis::INCOMPLETE_PASS;
use crate::run::analysis::ScoredRun;
use crate::run::score::Figure;
use crate::run::score::Score;
use crate::run::score::even_slowdowns;
use crate::run::score::score;
use crate::run::score::score_repeats;
use crate::stats::geometric_mean;

pub use change::Change;
pub use condition::Condition;
pub use condition::ConditionError;
pub use condition::Outcome;
pub use condition::is_named;
pub use facts::FactChange;
pub use facts::changed_facts;
pub use facts::changed_handshakes;
pub use paired::Paired;
pub use paired::Unpaired;
pub use paired::paired;
pub use plan::changed_plan;
pub use plan::is_ruled;
pub use plan::ruled;
pub use surroundings::Surrounding;
pub use surroundings::UNREAD;
pub use surroundings::surroundings;

use change::correct_for_many;

/// Everything that two results say of each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Figures of the whole, of each application, of each case, of each activity, in this order.
    pub changes: Vec<Change>,
    /// The goodput of each cell that both have.
    pub cells: Vec<Change>,
    /// Which names of figures there are, for who wrote another one.
    pub legal: &'static str,
}

/// What a figure of a run is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// One host activity.
    Activity(String),
    /// One application class.
    Application(String),
    /// One case.
    Case(String),
    /// One cell: `SEND/video/cpu`.
    Cell(String),
    /// The whole result.
    Whole,
}

/// Which figure of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Measure {
    /// Goodput under load, Mb/s.
    Btu,
    /// Goodput of the baselines, Mb/s.
    Idle,
    /// How much longer the host's own work takes: the slowdown, of which the penalty is the excess.
    Penalty,
}

/// Compares two results.
pub fn compare(before: &Analysis, after: &Analysis) -> Comparison {
    let (first, second) = (Passes::of(before), Passes::of(after));
    let change = |part: &Part, measure: Measure| change(&first, &second, part, measure);
    let figures = |part| MEASURES.into_iter().filter_map(move |measure| change(part, measure));
    let mut changes: Vec<Change> = figures(&Part::Whole).collect();
    let whole = changes.len();
    changes.extend(first.parts().iter().flat_map(figures));
    correct_for_many(&mut changes[whole..]);
    let cells = first.cells().into_iter().map(Part::Cell);
    let mut cells: Vec<Change> = cells.filter_map(|part| change(&part, Measure::Btu)).collect();
    correct_for_many(&mut cells);
    Comparison { changes, cells, legal: NAMES_OF_A_RUN }
}

/// The figures of a part, in the order in which they are told.
const MEASURES: [Measure; 3] = [Measure::Btu, Measure::Idle, Measure::Penalty];
/// What a condition may name of a run.
const NAMES_OF_A_RUN: &str = "btu, idle, penalty, application.NAME.btu, case.NAME.btu, activity.NAME.btu (or .idle, .penalty), cell.CASE/APPLICATION/ACTIVITY";

impl Measure {
    /// `btu`, `idle` or `penalty`.
    const fn name(self) -> &'static str {
        match self {
            Self::Btu => "btu",
            Self::Idle => "idle",
            Self::Penalty => "penalty",
        }
    }

    fn of(self, score: &Score) -> Option<f64> {
        match self {
            Self::Btu => score.btu_mbps,
            Self::Idle => score.btu_idle_mbps,
            Self::Penalty => score.slowdown,
        }
    }
}

impl Part {
    /// The name of a figure of it.
    fn figure(&self, measure: Measure) -> String {
        let measure = measure.name();
        match self {
            Self::Activity(name) => format!("activity.{name}.{measure}"),
            Self::Application(name) => format!("application.{name}.{measure}"),
            Self::Case(name) => format!("case.{name}.{measure}"),
            Self::Cell(name) => format!("cell.{name}"),
            Self::Whole => measure.to_owned(),
        }
    }

    /// True for the figures of runs that belong to it. The baselines of a cell are their own cells.
    fn has(&self, figure: &Figure) -> bool {
        match self {
            Self::Activity(name) => figure.activity == *name,
            Self::Application(name) => figure.application == *name,
            Self::Case(name) => figure.case == *name,
            Self::Cell(name) => cell_name(figure) == *name,
            Self::Whole => true,
        }
    }
}

/// The figures of one result, pass by pass.
struct Passes {
    runs: Vec<Figure>,
    /// Those of them that met their cap, or failed.
    capped: Vec<Figure>,
    /// Those whose activity finished nothing: the slowdown is a bound, and the goodput is none.
    idle: Vec<Figure>,
    /// False where no pass is whole: then all runs stand for one, and there is no interval.
    whole: bool,
}

impl Passes {
    fn of(analysis: &Analysis) -> Self {
        let cut = |run: &&ScoredRun| run.flags.iter().any(|flag| flag.name == INCOMPLETE_PASS);
        let counted = || analysis.runs.iter().filter(|run| !cut(run));
        Self {
            runs: counted().map(figure).collect(),
            capped: counted().filter(|run| run.capped).map(figure).collect(),
            idle: counted().filter(|run| run.slowdown_is_bound).map(figure).collect(),
            whole: analysis.complete_passes > 0,
        }
    }

    /// True where a figure rests on a run that met its cap, or failed; of a penalty also on one whose activity
    /// finished nothing.
    fn has_bound(&self, part: &Part, measure: Measure) -> bool {
        let of_measure = |run: &Figure| match (part, measure) {
            (Part::Cell(_), _) => true,
            (_, Measure::Idle) => run.activity == "none",
            (_, Measure::Btu | Measure::Penalty) => run.activity != "none",
        };
        let of_work = |run: &Figure| measure == Measure::Penalty && part.has(run);
        self.capped.iter().any(|run| part.has(run) && of_measure(run))
            || self.idle.iter().any(of_work)
    }

    /// The figure of a part in each pass that has it; where none has, the one over all runs.
    fn composites(&self, part: &Part, measure: Measure) -> Vec<f64> {
        let own: Vec<Figure> = self.runs.iter().filter(|run| part.has(run)).cloned().collect();
        let passes: Vec<f64> = match part {
            _ if !self.whole => Vec::new(),
            Part::Cell(_) => own.iter().map(|run| run.goodput_mbps).collect(),
            _ => score_repeats(&own).iter().filter_map(|pass| measure.of(pass)).collect(),
        };
        if !passes.is_empty() {
            return passes;
        }
        let over_all = match part {
            Part::Cell(_) => {
                geometric_mean(&own.iter().map(|run| run.goodput_mbps).collect::<Vec<f64>>())
            }
            _ => measure.of(&score(&even_slowdowns(own))),
        };
        over_all.into_iter().collect()
    }

    /// Every application, case and activity.
    fn parts(&self) -> Vec<Part> {
        let names = |of: fn(&Figure) -> &String| self.names(of).into_iter();
        let applications = names(|figure| &figure.application).map(Part::Application);
        let cases = names(|figure| &figure.case).map(Part::Case);
        let busy = names(|figure| &figure.activity).filter(|name| name != "none");
        applications.chain(cases).chain(busy.map(Part::Activity)).collect()
    }

    /// Names in order of appearance in the plan's own order of passes, sorted.
    fn names(&self, of: fn(&Figure) -> &String) -> Vec<String> {
        let all: BTreeSet<&String> = self.runs.iter().map(of).collect();
        all.into_iter().cloned().collect()
    }

    fn cells(&self) -> Vec<String> {
        let all: BTreeSet<String> = self.runs.iter().map(cell_name).collect();
        all.into_iter().collect()
    }
}

fn figure(run: &ScoredRun) -> Figure {
    Figure {
        case: run.cell.case.name().to_owned(),
        application: run.cell.application.name.clone(),
        activity: run.cell.activity.as_str().to_owned(),
        repeat: run.pass.into(),
        goodput_mbps: run.goodput_mbps,
        slowdown: run.slowdown,
    }
}

fn cell_name(figure: &Figure) -> String {
    format!("{}/{}/{}", figure.case, figure.application, figure.activity)
}

/// One figure of both; `None` where one has none.
fn change(first: &Passes, second: &Passes, part: &Part, measure: Measure) -> Option<Change> {
    let (a, b) = (first.composites(part, measure), second.composites(part, measure));
    let enough = first.whole && second.whole;
    let is_bound = [first, second].iter().any(|passes| passes.has_bound(part, measure));
    let change = Change::of(part.figure(measure), [&a, &b], "passes", enough)?;
    Some(if is_bound { change.bounded() } else { change })
}

#[cfg(test)]
mod tests;
