//! A run far from the other repeats of its cell, with what may have caused it.

use super::Evidence;
use super::Finding;
use super::Rule;
use super::Subject;
use super::Weight;
use super::cpu_quota;
use super::evidence::percent;
use super::foreign_cpu;
use super::heat;
use super::retransmissions;
use super::steal;
use crate::analysis::CountedRun;
use crate::cell::Role;
use crate::sample::HostSample;
use crate::stats::Severity;
use crate::stats::median;
use crate::stats::outliers_on_logs;
use crate::tcp::float;
use crate::verdict::standstill;

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
        let apart = usual_distance(evidence, &cell.runs);
        for (at, severity) in cell.runs.iter().zip(outliers_on_logs(&cell.goodputs)) {
            let sentence =
                severity.map(|severity| sentence(&evidence.runs[*at], severity, middle, apart));
            let found = |detail| Finding { subject: Subject::Run(*at), detail };
            findings.extend(sentence.map(found));
        }
    }
    findings
}

/// The median distance of two CPUs in these runs, in nanoseconds; `None` where none of them tells.
fn usual_distance(evidence: &Evidence<'_>, runs: &[usize]) -> Option<f64> {
    median(&runs.iter().filter_map(|at| distance_ns(&evidence.runs[*at])).collect::<Vec<_>>())
}

fn distance_ns(run: &CountedRun<'_>) -> Option<f64> {
    run.sample.host.cpu_distance_ns.map(|distance| float(distance.count()))
}

fn sentence(run: &CountedRun<'_>, severity: Severity, middle: f64, apart: Option<f64>) -> String {
    let ranges = match severity {
        Severity::Mild => "1.5",
        Severity::Severe => "3",
    };
    let goodput = run.scored.goodput_mbps;
    // What takes time from a run is not why it was faster than its repeats.
    let hints = if run.scored.goodput_mbps < middle { hints(run, apart) } else { Vec::new() };
    let cause = if hints.is_empty() { "no cause seen".to_owned() } else { hints.join(", ") };
    format!(
        "{goodput:.3} Mb/s is more than {ranges} interquartile ranges outside its repeats (median \
         {middle:.3} Mb/s); {cause}"
    )
}

/// What else was unusual about the run.
fn hints(run: &CountedRun<'_>, apart: Option<f64>) -> Vec<String> {
    let host = &run.sample.host;
    let share = |time: Option<_>| time.and_then(|time| percent(time, host.elapsed_ns));
    let connections = || run.sample.comm.iter().flat_map(|comm| &comm.connections);
    let waited = connections()
        .flat_map(|one| [&one.sender, &one.receiver])
        .filter(|end| end.role == Role::Test)
        .filter_map(|end| percent(end.run_delay_ns?, run.scored.elapsed))
        .fold(0.0, f64::max);
    let hint = |found: Option<f64>, least: f64, what: &str| {
        found.filter(|found| *found > least).map(|found| format!("{found:.1} % {what}"))
    };
    [
        run.sample.comm.as_ref().and_then(standstill),
        retransmissions::unexplained(run),
        hint(share(host.steal_ns), steal::MOST, "of the window stolen by the hypervisor"),
        hint(share(host.throttled_ns), cpu_quota::MOST, "of the window stopped by a CPU quota"),
        heat::judge(host),
        hint(share(host.foreign_cpu_ns), foreign_cpu::MOST, "of a CPU used by other programs"),
        hint(Some(waited), 5.0, "of the window waiting for a CPU"),
        distance_ns(run)
            .zip(apart)
            .filter(|(own, usual)| own / usual > HostSample::APART)
            .map(|(own, usual)| format!("its CPUs {:.1} times as far apart as usual", own / usual)),
    ]
    .into_iter()
    .flatten()
    .collect()
}
