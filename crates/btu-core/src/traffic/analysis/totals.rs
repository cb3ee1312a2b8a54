//! One run of traffic: what all its flows came to together.

use super::super::sample::Agreement;
use super::super::sample::ClusterSample;
use super::super::sample::FlowSample;
use super::super::sample::RunSample;
use super::super::trace::float;
use super::rates::carried;
use super::rates::delivered;
use super::rates::rate_of;
use super::rates::transmitted;
use crate::sample::Outcome;
use crate::stats;
use crate::traffic::figures::emodel::G711;
use crate::traffic::figures::emodel::Rating;
use crate::traffic::figures::flow::Delays;
use crate::traffic::figures::flow::Loss;
use crate::traffic::figures::knee::Loaded;
use crate::traffic::figures::sessions;
use crate::units::Nanos;

/// All flows of one run together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// Number of the pass.
    pub pass: u32,
    /// a, bit/s.
    pub arrival: f64,
    /// d, bit/s.
    pub departure: f64,
    /// What the path carried of a, bit/s: d, and what was only under way at the end. `None` in results that are
    /// older than this figure.
    pub carried: Option<f64>,
    /// All that was read, bit/s: what came after T included.
    pub delivered: f64,
    /// Payload acknowledged at T over T, bit/s: what was transmitted; `None` for datagrams.
    pub transmitted: Option<f64>,
    /// Little's delay over the duration, seconds, weighted by the bytes that were not lost; of two clocks as they read
    /// it, as every delay here ([`Totals::known`]).
    pub window_delay: Option<f64>,
    /// The same until the queues were empty.
    pub drained_delay: Option<f64>,
    /// The largest 99th percentile of block delays, seconds, of blocks that were read.
    pub delay_p99: Option<f64>,
    /// The same where blocks that nobody had read count with the time for which they had waited: no less than
    /// this. `None` in results that are older than this figure.
    pub delay_p99_at_least: Option<f64>,
    /// The mean of the medians of block delays, seconds.
    pub delay_p50: Option<f64>,
    /// The largest 95th percentile of block delays, seconds.
    pub delay_p95: Option<f64>,
    /// The largest 99.9th percentile, of blocks that were read.
    pub delay_p999: Option<f64>,
    /// The largest delay of a block, seconds.
    pub delay_max: Option<f64>,
    /// How far delays of one way may be off, seconds: the most of all flows; `None` where one clock measured them.
    pub delay_bound: Option<f64>,
    /// Why the clocks of a flow cannot be compared, of the first such; it has no delays.
    pub clocks_apart: Option<String>,
    /// The largest PDV of a flow: 99th percentile less the smallest, seconds.
    pub pdv_p99: Option<f64>,
    /// The largest ratio of a flow's 99th percentile of delay to its smallest.
    pub slowdown: Option<f64>,
    /// The least that a flow got, bit/s.
    pub least_rate: Option<f64>,
    /// Share of datagrams that were lost.
    pub loss: Option<f64>,
    /// The same of the flow that lost most.
    pub worst_loss: Option<f64>,
    /// Share of datagrams that came after a later one (RFC 4737, 3.4).
    pub reordered: Option<f64>,
    /// The flow of datagrams that would be worth least as a call over G.711; `None`, too, where two clocks hide it.
    pub worst_call: Option<Rating>,
    /// True where two clocks hide what that flow would be worth.
    pub hides_call: bool,
    /// Blocks that were missed or interrupted.
    pub missed: u64,
    /// Fairness between the flows.
    pub fairness: Option<f64>,
    /// CPU seconds per 10^9 bytes: sender, receiver.
    pub cpu_s_per_gb: Option<(f64, f64)>,
    /// Flows whose generator fell behind.
    pub host_limited: usize,
    /// Flows that had a time to keep: only they can fall behind.
    pub timed: usize,
    /// All flows.
    pub flows: usize,
    /// Flows that did not come to their end, with the reason of the first.
    pub broken: Option<String>,
    /// True where it has no rate of all that was to run: a cluster could not be run, a flow failed before anything
    /// of it moved, or there is no flow. A flow that ends early has the rate of its time.
    pub is_partial: bool,
}

impl Totals {
    /// Rates are all bits over the time in which anything ran; delays are weighted by what arrived and was not lost.
    pub fn of(run: &RunSample) -> Self {
        let flows: Vec<&FlowSample> = run.flows().collect();
        let got = |flow: &&FlowSample| flow.figures.carried();
        // Who wanted nothing was not treated unfairly.
        let wanted: Vec<f64> = flows.iter().filter(|flow| !flow.is_silent()).map(got).collect();
        let datagrams = |of| datagrams(&flows, of);
        let (sent, came) = (datagrams(|loss| loss.sent), datagrams(|loss| loss.received));
        let medians: Vec<f64> =
            flows.iter().filter_map(|flow| flow.figures.delay).map(|delay| delay.p50_s).collect();
        let tails = flows.iter().filter_map(|flow| flow.figures.delay_p99_at_least_s);
        let most = |of: fn(&Delays) -> f64| {
            let delays = flows.iter().filter_map(|flow| flow.figures.delay);
            delays.map(|delay| of(&delay)).max_by(f64::total_cmp)
        };
        let losses = flows.iter().filter_map(|f| f.figures.loss).map(|loss| loss.lost_share);
        let call = worst_call(&flows);
        Self {
            pass: run.pass,
            arrival: rate_of(run, |flow| flow.figures.arrival_rate_bit_s),
            departure: rate_of(run, |flow| flow.figures.departure_rate_bit_s),
            carried: carried(run),
            delivered: delivered(run),
            transmitted: transmitted(run),
            window_delay: weighted(&flows, |flow| flow.figures.window_delay_s),
            drained_delay: weighted(&flows, |flow| flow.figures.drained_delay_s),
            delay_p99: most(|delay| delay.p99_s),
            delay_p99_at_least: tails.max_by(f64::total_cmp),
            delay_p50: stats::arithmetic_mean(&medians),
            delay_p95: most(|delay| delay.p95_s),
            delay_p999: most(|delay| delay.p999_s),
            delay_max: most(|delay| delay.max_s),
            delay_bound: flows.iter().filter_map(|f| f.delay_bound_s()).max_by(f64::total_cmp),
            clocks_apart: flows.iter().find_map(|flow| clocks_apart(flow)),
            pdv_p99: most(|delay| delay.pdv_p99_s),
            slowdown: flows.iter().filter_map(|flow| flow.slowdown()).max_by(f64::total_cmp),
            least_rate: flows.iter().map(got).min_by(f64::total_cmp),
            worst_loss: losses.max_by(f64::total_cmp),
            loss: (sent > 0).then(|| 1.0 - float(came) / float(sent)),
            reordered: (came > 0).then(|| float(datagrams(|loss| loss.reordered)) / float(came)),
            worst_call: call.filter(|call| !call.hidden).map(|call| call.rating),
            hides_call: call.is_some_and(|call| call.hidden),
            missed: flows
                .iter()
                .map(|f| f.figures.blocks.missed + f.figures.blocks.interrupted)
                .sum(),
            fairness: sessions::jain(&wanted),
            cpu_s_per_gb: cpu_s_per_gb(run, &flows),
            host_limited: flows
                .iter()
                .filter(|flow| flow.figures.pacing.is_some_and(|pacing| pacing.host_limited))
                .count(),
            timed: flows.iter().filter(|flow| flow.figures.pacing.is_some()).count(),
            flows: flows.len(),
            broken: broken(run, &flows),
            is_partial: is_partial(run, &flows),
        }
    }

    /// A 99th percentile of delay that is a lower bound: blocks that nobody had read had waited longer than those that
    /// were read took.
    pub fn delay_p99_bound(&self) -> Option<f64> {
        let is_longer = |least: &f64| self.delay_p99.is_none_or(|read| *least > read);
        self.delay_p99_at_least.filter(is_longer)
    }

    /// What the path carried, bit/s, as well as a result tells: d in those that are older than the figure.
    pub fn carried(&self) -> f64 {
        self.carried.unwrap_or(self.departure)
    }

    /// The same; where nothing came in its time, what came after it. `None` where nothing came at all: such a run
    /// says nothing of the rate of the path.
    pub fn carried_at_all(&self) -> Option<f64> {
        [self.carried(), self.delivered].into_iter().find(|rate| *rate > 0.0)
    }

    /// What it says of a knee as a run of a cell; `None` where it has no rate.
    pub fn loaded(&self, cell: u32) -> Option<Loaded> {
        let (offered, carried) = (self.arrival, self.carried());
        (!self.is_partial).then_some(Loaded { pass: self.pass, cell, offered, carried })
    }
}

impl Totals {
    /// A delay of one way, where the clocks of all flows are known well enough to say it.
    pub fn known(&self, seconds: Option<f64>) -> Option<f64> {
        seconds.filter(|seconds| self.delay_bound.is_none_or(|bound| *seconds >= bound))
    }
}

fn datagrams(flows: &[&FlowSample], of: fn(&Loss) -> u64) -> u64 {
    flows.iter().filter_map(|flow| flow.figures.loss.as_ref()).map(of).sum()
}

/// Of sender and receiver; `None` where nothing was delivered, or nobody counts the time of some threads.
fn cpu_s_per_gb(run: &RunSample, flows: &[&FlowSample]) -> Option<(f64, f64)> {
    let bytes: f64 = flows.iter().map(|flow| float(flow.figures.delivered_bytes.count())).sum();
    let cpu = |of: fn(&ClusterSample) -> Nanos| {
        run.clusters.iter().map(|cluster| of(cluster).seconds()).sum::<f64>() * (1e9 / bytes)
    };
    let is_counted = bytes > 0.0 && !flows.iter().any(|flow| flow.is_uncounted());
    is_counted
        .then(|| (cpu(|cluster| cluster.sender_cpu_ns), cpu(|cluster| cluster.receiver_cpu_ns)))
}

fn clocks_apart(flow: &FlowSample) -> Option<String> {
    match flow.clocks.as_ref()? {
        Agreement::Unknown(reason) => Some(reason.clone()),
        Agreement::Within(_) => None,
    }
}

/// A flow of datagrams as a call.
#[derive(Clone, Copy, Debug)]
struct Call {
    rating: Rating,
    /// True where its delay is only known to be within what two clocks agree by, and it is rated with that.
    hidden: bool,
}

fn worst_call(flows: &[&FlowSample]) -> Option<Call> {
    flows.iter().filter_map(|flow| call(flow)).min_by(|a, b| a.rating.r.total_cmp(&b.rating.r))
}

/// What a flow of datagrams would be worth as a call whose decoder waits for all but one packet in a thousand; `None` for
/// one that never sent.
fn call(flow: &FlowSample) -> Option<Call> {
    let loss = flow.figures.loss?;
    if loss.sent > 0 && loss.received == 0 {
        return Some(Call { rating: Rating::NOTHING_HEARD, hidden: false });
    }
    let delay = flow.figures.delay?;
    let missing = 1.0 - (1.0 - loss.lost_share) * (1.0 - LEFT_OUT);
    let known = flow.one_way(Some(delay.p999_s));
    let longest = known.or(flow.delay_bound_s())?;
    Some(Call { rating: G711.rating(longest, missing), hidden: known.is_none() })
}

/// Of the packets that come, those that come too late to be played.
const LEFT_OUT: f64 = 0.001;

/// The mean over flows, weighted by what arrived of them and was not lost; `None` where such a flow has no value.
fn weighted(flows: &[&FlowSample], value: fn(&FlowSample) -> Option<f64>) -> Option<f64> {
    let (mut sum, mut bytes) = (0.0, 0.0);
    for flow in flows {
        let figures = &flow.figures;
        let kept = figures.arrived_bytes.saturating_sub(figures.lost_bytes);
        if kept.is_empty() {
            continue;
        }
        let weight = float(kept.count());
        sum += weight * value(flow)?;
        bytes += weight;
    }
    (bytes > 0.0).then(|| sum / bytes)
}

/// A probe has no flows, and no rates.
fn is_partial(run: &RunSample, flows: &[&FlowSample]) -> bool {
    flows.is_empty()
        || run.clusters.iter().any(|cluster| cluster.failed.is_some())
        || flows.iter().any(|flow| flow.has_never_moved())
}

fn broken(run: &RunSample, flows: &[&FlowSample]) -> Option<String> {
    let failed = run.clusters.iter().find_map(|cluster| cluster.failed.clone());
    failed.or_else(|| {
        let reason = |flow: &&FlowSample| match &flow.outcome {
            Outcome::Complete => None,
            Outcome::Capped { reason } | Outcome::Failed { reason } => Some(reason.clone()),
        };
        flows.iter().find_map(reason)
    })
}
