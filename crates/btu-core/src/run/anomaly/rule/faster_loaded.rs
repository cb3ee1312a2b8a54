//! A cell beside an activity that carries more than the same cell idle, with what may be the reason.

use crate::run::analysis::cpu_s_per_gb;
use crate::run::analysis::writes_per_segment;
use crate::run::anomaly::Evidence;
use crate::run::anomaly::Rule;
use crate::run::anomaly::Weight;
use crate::run::anomaly::evidence::CellRuns;
use crate::run::anomaly::evidence::compared;
use crate::sample::CommSample;
use crate::sample::EndSample;
use crate::stats::Comparison;
use crate::stats::median;

/// The name of the flag.
pub const FASTER_LOADED: &str = "faster-loaded";

pub(super) const RULE: Rule = Rule {
    name: FASTER_LOADED,
    about: "a cell beside an activity carries over 2 % more than the same cell idle, in at least 3 \
            repeats of each, and by chance with a probability below 2 % (Welch's test on logs)",
    weight: Weight::Remark,
    find: |evidence| evidence.each_cell(|cell| judge(evidence, cell)),
};

fn judge(evidence: &Evidence<'_>, cell: &CellRuns<'_>) -> Option<String> {
    let idle = evidence.cells.iter().find(|other| is_idle_of(other, cell))?;
    let found = compared(&idle.goodputs, &cell.goodputs).filter(|found| is_faster(*found))?;
    let [was, is] = [idle, cell].map(|cell| Cost::of(evidence, cell));
    Some(format!(
        "{:.2} times the {:.3} Mb/s of the idle host (95 % interval {:.2} to {:.2}); {}",
        found.ratio,
        idle.goodput_mbps,
        found.interval.low,
        found.interval.high,
        is.reason(&was),
    ))
}

fn is_idle_of(idle: &CellRuns<'_>, cell: &CellRuns<'_>) -> bool {
    let same = idle.cell.case == cell.cell.case && idle.cell.application == cell.cell.application;
    same && idle.cell.activity.is_none() && !cell.cell.activity.is_none()
}

/// One of 100 cells that are as fast as idle is called faster: chance takes half of the two sides.
fn is_faster(found: Comparison) -> bool {
    found.ratio > 1.0 && found.is_different() && found.p < MOST_CHANCE
}

/// What the repeats of a cell took for what they carried: medians of both ends together, `None` where
/// nobody told.
struct Cost {
    sleeps_per_gb: Option<f64>,
    writes_per_segment: Option<f64>,
    cpu_s_per_gb: Option<f64>,
}

impl Cost {
    fn of(evidence: &Evidence<'_>, cell: &CellRuns<'_>) -> Self {
        let runs = || cell.runs.iter().filter_map(|at| evidence.runs[*at].sample.comm.as_ref());
        let middle = |figure: fn(&CommSample) -> Option<f64>| {
            median(&runs().filter_map(figure).collect::<Vec<f64>>())
        };
        Self {
            sleeps_per_gb: middle(sleeps_per_gb),
            writes_per_segment: middle(writes_per_segment),
            cpu_s_per_gb: middle(|comm| cpu_s_per_gb(comm, |_| true)),
        }
    }

    /// What differs from the idle host and saves time, in words; or that nothing does.
    fn reason(&self, idle: &Self) -> String {
        let never = self.sleeps_per_gb == Some(0.0) && idle.sleeps_per_gb > Some(0.0);
        let sleeps = rarer(self.sleeps_per_gb, idle.sleeps_per_gb, LEAST_SLEEPS).map(|less| {
            format!("its data threads slept {less:.1} times less often per GB, and found more when they woke")
        });
        let sleeps = sleeps.or_else(|| never.then(|| "its data threads never slept".to_owned()));
        let packed = rarer(idle.writes_per_segment, self.writes_per_segment, LEAST_PACKED)
            .map(|more| format!("a segment carried {more:.2} times as many writes"));
        let cheaper = rarer(self.cpu_s_per_gb, idle.cpu_s_per_gb, LEAST_CHEAPER).map(|less| {
            format!("a GB took {:.0} % of the CPU time of its data threads", 100.0 / less)
        });
        let is_unexplained = sleeps.is_none() && packed.is_none();
        let seen: Vec<String> = sleeps.into_iter().chain(packed).chain(cheaper.clone()).collect();
        match (is_unexplained, cheaper) {
            (false, _) => format!("seen beside it: {}", seen.join("; ")),
            (true, Some(cheaper)) => format!(
                "{cheaper}, as where busy CPUs keep their clock and leave no idle state, of which the \
                 journal knows nothing"
            ),
            (true, None) => {
                "reason not seen: sleeps of its data threads, writes per segment and CPU \
                             time are not better than idle, or not known"
                    .to_owned()
            }
        }
    }
}

/// How many times less the first is, where that is `least` or more.
fn rarer(is: Option<f64>, was: Option<f64>, least: f64) -> Option<f64> {
    let (is, was) = (is.filter(|is| *is > 0.0)?, was?);
    Some(was / is).filter(|times| *times >= least)
}

/// Voluntary switches of the data threads of both ends: each waited for the other.
fn sleeps_per_gb(comm: &CommSample) -> Option<f64> {
    let ends = comm.connections.iter().flat_map(|one| [&one.sender, &one.receiver]);
    let sleeps: u64 = ends.map(|end: &EndSample| end.voluntary_switches).sum::<Option<u64>>()?;
    per_gb(sleeps, comm.bytes.count())
}

#[expect(clippy::cast_precision_loss, reason = "counters of one run are far below 2^53")]
fn per_gb(count: u64, bytes: u64) -> Option<f64> {
    (bytes > 0).then(|| count as f64 / (bytes as f64 / 1e9))
}

const MOST_CHANCE: f64 = 0.02;
/// Less than these differs from cell to cell of an idle host, too.
const LEAST_SLEEPS: f64 = 1.5;
const LEAST_PACKED: f64 = 1.1;
const LEAST_CHEAPER: f64 = 1.2;
