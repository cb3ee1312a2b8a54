//! A run far from the other repeats of its cell, with what may have caused it.

use super::cpu_quota;
use super::foreign_cpu;
use super::heat;
use super::retransmissions;
use super::steal;
use crate::role::Role;
use crate::run::analysis::CountedRun;
use crate::run::anomaly::Evidence;
use crate::run::anomaly::Finding;
use crate::run::anomaly::Rule;
use crate::run::anomaly::Subject;
use crate::run::anomaly::Weight;
use crate::run::anomaly::evidence::percent;
use crate::run::verdict::standstill;
use crate::sample::HostSample;
use crate::stats::Severity;
use crate::stats::median;
use crate::stats::outliers_on_logs;
use crate::tcp::float;
use crate::units::Nanos;

pub(super) const RULE: Rule = Rule {
    name: "outlier",
    about: "beyond Tukey's fences (1.5 or 3 interquartile ranges) on the logs of at least 5 repeats",
    weight: Weight::Remark,
    find,
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for cell in &evidence.cells {
        let Some(middle) = median(&cell.goodputs) else { continue };
        for (at, severity) in cell.runs.iter().zip(outliers_on_logs(&cell.goodputs)) {
            let Some(severity) = severity else { continue };
            let others = cell.runs.iter().filter(|other| *other != at);
            let others: Vec<&CountedRun<'_>> = others.map(|other| &evidence.runs[*other]).collect();
            let detail = sentence(&evidence.runs[*at], severity, middle, &others);
            findings.push(Finding { subject: Subject::Run(*at), detail });
        }
    }
    findings
}

fn sentence(
    run: &CountedRun<'_>,
    severity: Severity,
    middle: f64,
    others: &[&CountedRun<'_>],
) -> String {
    let ranges = match severity {
        Severity::Mild => "1.5",
        Severity::Severe => "3",
    };
    let goodput = run.scored.goodput_mbps;
    // What takes time from a run is not why it was faster than its repeats.
    let hints = if goodput < middle { hints(run, others) } else { Vec::new() };
    let cause = if hints.is_empty() { "no cause seen".to_owned() } else { hints.join(", ") };
    format!(
        "{goodput:.3} Mb/s is more than {ranges} interquartile ranges outside its repeats (median \
         {middle:.3} Mb/s); {cause}"
    )
}

/// What else was unusual about the run.
fn hints(run: &CountedRun<'_>, others: &[&CountedRun<'_>]) -> Vec<String> {
    let stood_still = run.sample.comm.as_ref().and_then(standstill);
    let happened = [stood_still, retransmissions::unexplained(run), heat::judge(&run.sample.host)];
    let taken = TAKEN.iter().filter_map(|taken| taken.beyond_usual(run, others));
    happened.into_iter().flatten().chain(taken).chain(apart(run, others)).collect()
}

/// What takes time from a run.
struct Taken {
    /// Of a run, percent.
    of: fn(&CountedRun<'_>) -> Option<f64>,
    /// By how much more than in the median of the other repeats it is no longer what the cell always has.
    least: f64,
    what: &'static str,
}

const TAKEN: &[Taken] = &[
    Taken {
        of: |run| of_window(run, run.sample.host.steal_ns),
        least: steal::MOST,
        what: "of the window stolen by the hypervisor",
    },
    Taken {
        of: |run| of_window(run, run.sample.host.throttled_ns),
        least: cpu_quota::MOST,
        what: "of the window stopped by a CPU quota",
    },
    Taken {
        of: |run| of_window(run, run.sample.host.foreign_cpu_ns),
        least: foreign_cpu::MOST,
        what: "of a CPU used by other programs",
    },
    Taken { of: waited, least: 5.0, what: "of the window waiting for a CPU" },
];

impl Taken {
    /// `67.4 % of the window stopped by a CPU quota (usually 40.1 %)`
    fn beyond_usual(&self, run: &CountedRun<'_>, others: &[&CountedRun<'_>]) -> Option<String> {
        let (own, usual) = ((self.of)(run)?, usual(others, self.of).unwrap_or(0.0));
        let usually =
            if usual < SHOWN { String::new() } else { format!(" (usually {usual:.1} %)") };
        (own - usual > self.least).then(|| format!("{own:.1} % {}{usually}", self.what))
    }
}

/// Less has no digit.
const SHOWN: f64 = 0.05;

/// The median over those other repeats that tell it.
fn usual(others: &[&CountedRun<'_>], of: fn(&CountedRun<'_>) -> Option<f64>) -> Option<f64> {
    median(&others.iter().filter_map(|run| of(run)).collect::<Vec<_>>())
}

fn of_window(run: &CountedRun<'_>, part: Option<Nanos>) -> Option<f64> {
    percent(part?, run.sample.host.elapsed_ns)
}

/// Of the thread of the test host that waited longest.
fn waited(run: &CountedRun<'_>) -> Option<f64> {
    let connections = run.sample.comm.iter().flat_map(|comm| &comm.connections);
    connections
        .flat_map(|one| [&one.sender, &one.receiver])
        .filter(|end| end.role == Role::Test)
        .filter_map(|end| percent(end.run_delay_ns?, run.scored.elapsed))
        .reduce(f64::max)
}

fn apart(run: &CountedRun<'_>, others: &[&CountedRun<'_>]) -> Option<String> {
    let times = distance_ns(run)? / usual(others, distance_ns)?;
    (times > HostSample::APART).then(|| format!("its CPUs {times:.1} times as far apart as usual"))
}

fn distance_ns(run: &CountedRun<'_>) -> Option<f64> {
    run.sample.host.cpu_distance_ns.map(|distance| float(distance.count()))
}
