//! A cell over its passes.

use super::CellSummary;
use super::CountedRun;
use super::reference_seconds;
use crate::role::Role;
use crate::run::cell::Cell;
use crate::sample::CommSample;
use crate::sample::ConnectionSample;
use crate::sample::Flag;
use crate::stats::Sorted;
use crate::stats::coefficient_of_variation;
use crate::stats::geometric_mean;
use crate::stats::median;
use crate::stats::robust_cv;
use crate::stats::student_on_logs;

/// The summary of one cell; `None` without runs.
pub(super) fn summarise(cell: &Cell, runs: &[&CountedRun<'_>]) -> Option<CellSummary> {
    let goodputs: Vec<f64> = runs.iter().map(|run| run.scored.goodput_mbps).collect();
    let slowdowns: Vec<f64> = runs.iter().filter_map(|run| run.scored.slowdown).collect();
    let traffic: Vec<&CommSample> =
        runs.iter().filter_map(|run| run.sample.comm.as_ref()).collect();
    let of_runs = |figure: fn(&CommSample) -> Option<f64>| {
        median(&traffic.iter().filter_map(|comm| figure(comm)).collect::<Vec<f64>>())
    };
    let goodput_mbps = geometric_mean(&goodputs)?;
    let in_order = Sorted::new(goodputs.clone())?;
    let interval = student_on_logs(&goodputs).filter(|_| goodputs.len() >= 3);
    Some(CellSummary {
        cell: cell.clone(),
        n: u32::try_from(runs.len()).unwrap_or(u32::MAX),
        seconds: reference_seconds(goodput_mbps),
        goodput_mbps,
        goodput_ci95: interval.map(|interval| [interval.low, interval.high]),
        goodput_range: [0.0, 0.5, 1.0].map(|share| in_order.at(share)),
        goodput_p95_mbps: in_order.at(0.95),
        cv: coefficient_of_variation(&goodputs),
        robust_cv: robust_cv(&goodputs)?,
        slowdown: geometric_mean(&slowdowns),
        retransmissions: retransmissions(&traffic),
        writes_per_segment: of_runs(writes_per_segment),
        cpu_s_per_gb: of_runs(|comm| cpu_s_per_gb(comm, |role| role == Role::Test)),
        black_boxes_cpu_s_per_gb: of_runs(|comm| cpu_s_per_gb(comm, |role| role != Role::Test)),
        flags: joined_flags(runs),
    })
}

/// Of all passes together; `None` where no kernel told.
fn retransmissions(traffic: &[&CommSample]) -> Option<u64> {
    let connections = traffic.iter().flat_map(|comm| &comm.connections);
    let counts: Vec<u64> = connections.filter_map(ConnectionSample::retransmissions).collect();
    (!counts.is_empty()).then(|| counts.iter().sum())
}

/// Write calls over segments with data, of all connections; `None` where no kernel told.
pub(crate) fn writes_per_segment(comm: &CommSample) -> Option<f64> {
    let segments = |one: &ConnectionSample| one.sender.tcp_info.as_ref()?.data_segs_out;
    let calls: u64 = comm.connections.iter().map(|one| one.sender.calls).sum();
    let segments: u64 = comm.connections.iter().map(segments).sum::<Option<u64>>()?;
    (segments > 0).then(|| float(calls) / float(segments))
}

/// CPU time of one side's data threads over what they carried, seconds per GB.
pub(crate) fn cpu_s_per_gb(comm: &CommSample, of_side: fn(Role) -> bool) -> Option<f64> {
    let ends = comm.connections.iter().flat_map(|one| [&one.sender, &one.receiver]);
    let times: Vec<f64> = ends
        .filter(|end| of_side(end.role))
        .map(|end| end.cpu_ns.map(crate::units::Nanos::seconds))
        .collect::<Option<_>>()?;
    let gigabytes = float(comm.bytes.count()) / 1e9;
    (gigabytes > 0.0 && !times.is_empty()).then(|| times.iter().sum::<f64>() / gigabytes)
}

/// Every remark once; one that several runs have says of how many.
fn joined_flags(runs: &[&CountedRun<'_>]) -> Vec<Flag> {
    let mut joined: Vec<Joined<'_>> = Vec::new();
    let own = |run: &'_ CountedRun<'_>| run.scored.pass;
    for (flag, pass) in
        runs.iter().flat_map(|run| run.scored.flags.iter().map(|flag| (flag, own(run))))
    {
        match joined.iter_mut().find(|one| one.first.name == flag.name) {
            Some(one) => one.add(flag),
            None => joined.push(Joined { first: flag, pass, times: 1, alike: true }),
        }
    }
    joined.iter().map(|one| one.told(runs.len())).collect()
}

/// A remark that runs of a cell have.
struct Joined<'f> {
    first: &'f Flag,
    pass: u32,
    times: usize,
    /// True where all of them say the same.
    alike: bool,
}

impl Joined<'_> {
    fn add(&mut self, flag: &Flag) {
        self.times += 1;
        self.alike &= flag.detail == self.first.detail;
    }

    /// What the first run says, and of how many of `all` passes it is said.
    fn told(&self, all: usize) -> Flag {
        let Self { first, pass, times, alike } = self;
        let detail = match (all, alike) {
            (1, _) => first.detail.clone(),
            (_, true) => format!("{} ({times} of {all} passes)", first.detail),
            _ => format!("{} (pass {pass}; {times} of {all} passes have this)", first.detail),
        };
        Flag { detail, ..(*first).clone() }
    }
}

impl ConnectionSample {
    /// Segments that the sender sent again.
    pub(crate) fn retransmissions(&self) -> Option<u64> {
        self.sender.tcp_info.as_ref()?.total_retrans
    }
}

#[expect(clippy::cast_precision_loss, reason = "counters of one run are far below 2^53")]
fn float(count: u64) -> f64 {
    count as f64
}
