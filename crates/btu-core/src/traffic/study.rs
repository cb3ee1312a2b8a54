//! What a journal of traffic says: each cell over its passes, and what the cells of a curve say together.

use std::collections::BTreeMap;

use super::analysis::emodel::G711;
use super::analysis::emodel::Rating;
use super::analysis::figures::Delays;
use super::analysis::figures::Loss;
use super::analysis::knee;
use super::analysis::knee::DelayKnee;
use super::analysis::knee::Hinge;
use super::analysis::knee::Loaded;
use super::analysis::sessions;
use super::analysis::sessions::Scaling;
use super::class;
use super::findings::Findings;
use super::plan::Cell;
use super::plan::Group;
use super::sample::FlowSample;
use super::sample::Journal;
use super::sample::RunSample;
use super::trace::float;
use crate::stats;
use crate::stats::Interval;
use crate::stats::student_on_logs;
use crate::units::Nanos;

/// Everything that a report says.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// True where every run was made and came to its end.
    pub complete: bool,
    /// The cells, by group and place on its axis; those without a run are left out.
    pub cells: Vec<Measured>,
    /// What one full stream gets, bit/s: of the cells that measure it.
    pub mu: Option<Estimate>,
    /// The knee of throughput over offered load.
    pub knee: Option<Hinge>,
    /// The knee of delay over utilisation, from loads below the knee of throughput.
    pub delay_knee: Option<DelayKnee>,
    /// How the total of full streams depends on their number.
    pub scaling: Option<Scaling>,
    /// What the path carries of each application class.
    pub classes: Vec<Carried>,
    /// What one full stream says of TCP and of the queue on the way.
    pub stream: Option<Stream>,
    /// What standard methods found.
    pub findings: Findings,
}

/// What a path carries of an application class.
#[derive(Clone, Debug, PartialEq)]
pub struct Carried {
    /// The class.
    pub class: String,
    /// The most sessions that met its limits in every pass, none of the fewer ones having failed.
    pub most: Option<u32>,
    /// The next number of sessions, which did not, and why.
    pub fails_at: Option<(u32, String)>,
    /// The cell of the most sessions, or of the fewest that were tried.
    pub at: Measured,
}

/// One full stream: the figures of RFC 6349 and round trips under load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stream {
    /// Payload sent less retransmitted, over sent, percent (RFC 6349, 4.2).
    pub efficiency_percent: f64,
    /// Mean round trip less the smallest, over the smallest, percent (RFC 6349, 4.3).
    pub buffer_delay_percent: f64,
    /// Round trips per minute while the stream filled the path, by TCP's own RTT.
    pub loaded_rpm: f64,
    /// The smallest round trip, seconds.
    pub least_rtt_s: f64,
}

/// One cell over its passes.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The cell.
    pub cell: Cell,
    /// Its runs, in order.
    pub runs: Vec<Totals>,
    /// a, bit/s.
    pub arrival: Option<Estimate>,
    /// d, bit/s.
    pub departure: Option<Estimate>,
    /// a / d.
    pub offered_ratio: Option<Estimate>,
    /// Little's delay over the duration, seconds.
    pub window_delay: Option<Estimate>,
}

/// A mean over passes with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The geometric mean of the passes; the arithmetic one where a value is zero.
    pub value: f64,
    /// 95 %, from three passes on.
    pub interval: Option<Interval>,
    /// Passes.
    pub passes: usize,
}

/// All flows of one run together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// Number of the pass.
    pub pass: u32,
    /// a, bit/s.
    pub arrival: f64,
    /// d, bit/s.
    pub departure: f64,
    /// Payload acknowledged at T over T, bit/s: what was transmitted; `None` for datagrams.
    pub transmitted: Option<f64>,
    /// Little's delay over the duration, seconds, weighted by bytes.
    pub window_delay: Option<f64>,
    /// The same until the queues were empty.
    pub drained_delay: Option<f64>,
    /// The largest 99th percentile of block delays, seconds.
    pub delay_p99: Option<f64>,
    /// The mean of the medians of block delays, seconds.
    pub delay_p50: Option<f64>,
    /// The same of the 99.9th percentile.
    pub delay_p999: Option<f64>,
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
    /// The flow of datagrams that would be worth least as a call over G.711.
    pub worst_call: Option<Rating>,
    /// Blocks that were missed or interrupted.
    pub missed: u64,
    /// Fairness between the flows.
    pub fairness: Option<f64>,
    /// CPU seconds per 10^9 bytes: sender, receiver.
    pub cpu_s_per_gb: Option<(f64, f64)>,
    /// Flows whose generator fell behind.
    pub host_limited: usize,
    /// All flows.
    pub flows: usize,
    /// Flows that did not come to their end, with the reason of the first.
    pub broken: Option<String>,
}

/// What the journal says.
pub fn analyse(journal: &Journal) -> Analysis {
    let mut runs: BTreeMap<u32, Vec<Totals>> = BTreeMap::new();
    for run in journal.runs() {
        runs.entry(run.cell).or_default().push(Totals::of(run));
    }
    let mut cells: Vec<Measured> = journal
        .plan
        .cells
        .iter()
        .filter_map(|cell| Some(Measured::of(cell, runs.remove(&cell.id)?)))
        .collect();
    cells.sort_by(|a, b| {
        (a.cell.group, a.cell.x)
            .partial_cmp(&(b.cell.group, b.cell.x))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let of = |group| cells.iter().filter(move |measured| measured.cell.group == group);
    let full = of(Group::Capacity).flat_map(|measured| &measured.runs).map(|run| run.departure);
    let mu = Estimate::of(&full.collect::<Vec<_>>());
    let knee = knee::hinge(&loads(of(Group::Period).chain(of(Group::Load))));
    let sessions: Vec<(u32, f64)> = of(Group::Sessions)
        .flat_map(|measured| {
            measured.runs.iter().map(|run| (measured.cell.sessions, run.departure))
        })
        .collect();
    let rate = mu.map(|mu| mu.value).or(knee.map(|knee| knee.knee));
    let delays: Vec<(f64, f64)> = of(Group::Period)
        .chain(of(Group::Load))
        .filter_map(|measured| {
            Some((measured.arrival?.value / rate?, measured.window_delay?.value))
        })
        .collect();
    Analysis {
        complete: journal.moment("finished").is_some()
            && journal.runs().all(RunSample::is_complete),
        mu,
        knee,
        delay_knee: knee::delay_knee(&delays),
        scaling: sessions::scaling(&sessions),
        classes: classes(&cells, mu.map(|mu| mu.value)),
        stream: stream(journal),
        findings: Findings::of(journal),
        cells,
    }
}

/// Each class with the most sessions that the path carries.
fn classes(cells: &[Measured], mu: Option<f64>) -> Vec<Carried> {
    let mut names: Vec<&str> = cells.iter().filter_map(|c| c.cell.class.as_deref()).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().filter_map(|name| carried(cells, name, mu)).collect()
}

fn carried(cells: &[Measured], name: &str, mu: Option<f64>) -> Option<Carried> {
    let limits = class::by_name(name)?.limits;
    let mut own: Vec<&Measured> =
        cells.iter().filter(|c| c.cell.class.as_deref() == Some(name)).collect();
    own.sort_by_key(|measured| measured.cell.sessions);
    let missed = |measured: &Measured| {
        let sessions = measured.cell.sessions;
        measured.runs.iter().find_map(|run| limits.missed(run, sessions, mu))
    };
    let failing = own.iter().position(|measured| missed(measured).is_some());
    let met = &own[..failing.unwrap_or(own.len())];
    let fails_at = failing.and_then(|at| Some((own[at].cell.sessions, missed(own[at])?)));
    let at = met.last().or(own.first()).copied()?.clone();
    let most = met.last().map(|measured| measured.cell.sessions);
    Some(Carried { class: name.to_owned(), most, fails_at, at })
}

/// The first full stream whose socket told what it did.
fn stream(journal: &Journal) -> Option<Stream> {
    let is_capacity = |run: &&RunSample| {
        journal.plan.cell(run.cell).is_some_and(|cell| cell.group == Group::Capacity)
    };
    journal.runs().filter(is_capacity).find_map(|run| told(run.flows().next()?))
}

fn told(flow: &FlowSample) -> Option<Stream> {
    let (places, least) = (flow.places?, flow.least_rtt_ns?.seconds());
    let acknowledged = float(flow.acknowledged_bytes?.count());
    let again = float(flow.retransmitted_bytes?.count());
    let loaded = places.least_rtt_s + places.queueing_s;
    (acknowledged > 0.0 && least > 0.0 && loaded > 0.0).then(|| Stream {
        efficiency_percent: 100.0 * acknowledged / (acknowledged + again),
        buffer_delay_percent: 100.0 * (loaded - least) / least,
        loaded_rpm: 60.0 / loaded,
        least_rtt_s: least,
    })
}

fn loads<'a>(cells: impl Iterator<Item = &'a Measured>) -> Vec<Loaded> {
    let points = cells.flat_map(|measured| {
        measured.runs.iter().map(|run| Loaded {
            pass: run.pass,
            cell: measured.cell.id,
            offered: run.arrival,
            departed: run.departure,
        })
    });
    points.collect()
}

impl Analysis {
    /// The cells of a curve, along its axis.
    pub fn group(&self, group: Group) -> impl Iterator<Item = &Measured> {
        self.cells.iter().filter(move |measured| measured.cell.group == group)
    }

    /// a / mu of a rate: the true utilisation.
    pub fn rho(&self, arrival: f64) -> Option<f64> {
        Some(arrival / self.mu.map(|mu| mu.value).or(self.knee.map(|knee| knee.knee))?)
    }
}

impl Measured {
    fn of(cell: &Cell, runs: Vec<Totals>) -> Self {
        let estimate = |value: fn(&Totals) -> Option<f64>| {
            let values: Vec<f64> = runs.iter().filter_map(value).collect();
            Estimate::of(&values)
        };
        Self {
            cell: cell.clone(),
            arrival: estimate(|run| Some(run.arrival)),
            departure: estimate(|run| Some(run.departure)),
            offered_ratio: estimate(|run| {
                (run.departure > 0.0).then(|| run.arrival / run.departure)
            }),
            window_delay: estimate(|run| run.window_delay),
            runs,
        }
    }
}

impl Estimate {
    /// The mean of a value of each pass; `None` without one.
    pub fn of(values: &[f64]) -> Option<Self> {
        let value = stats::geometric_mean(values).or_else(|| stats::arithmetic_mean(values))?;
        let interval = student_on_logs(values).filter(|_| values.len() >= 3);
        Some(Self { value, interval, passes: values.len() })
    }
}

impl Totals {
    /// Rates add up; delays are weighted by what arrived.
    pub fn of(run: &RunSample) -> Self {
        let flows: Vec<&FlowSample> = run.flows().collect();
        let sum = |value: fn(&FlowSample) -> f64| flows.iter().map(|flow| value(flow)).sum::<f64>();
        let rates: Vec<f64> = flows.iter().map(|f| f.figures.departure_rate_bit_s).collect();
        let delivered = sum(|flow| float(flow.figures.delivered_bytes.count()));
        let datagrams = |of| datagrams(&flows, of);
        let (sent, came) = (datagrams(|loss| loss.sent), datagrams(|loss| loss.received));
        let cpu = |of: fn(&super::sample::ClusterSample) -> Nanos| {
            run.clusters.iter().map(|cluster| of(cluster).seconds()).sum::<f64>()
        };
        let medians: Vec<f64> =
            flows.iter().filter_map(|flow| flow.figures.delay).map(|delay| delay.p50_s).collect();
        let tails = flows.iter().filter_map(|flow| flow.figures.delay).map(|delay| delay.p99_s);
        let most = |of: fn(&Delays) -> f64| {
            let delays = flows.iter().filter_map(|flow| flow.figures.delay);
            delays.map(|delay| of(&delay)).max_by(f64::total_cmp)
        };
        let losses = flows.iter().filter_map(|f| f.figures.loss).map(|loss| loss.lost_share);
        let transmitted = flows.iter().map(|flow| {
            let seconds = flow.duration_ns.seconds();
            flow.acknowledged_bytes.filter(|_| seconds > 0.0).map(|b| float(b.bits()) / seconds)
        });
        Self {
            pass: run.pass,
            arrival: sum(|flow| flow.figures.arrival_rate_bit_s),
            departure: sum(|flow| flow.figures.departure_rate_bit_s),
            transmitted: transmitted.sum(),
            window_delay: weighted(&flows, |flow| flow.one_way(flow.figures.window_delay_s)),
            drained_delay: weighted(&flows, |flow| flow.one_way(flow.figures.drained_delay_s)),
            delay_p99: tails.max_by(f64::total_cmp),
            delay_p50: stats::arithmetic_mean(&medians),
            delay_p999: most(|delay| delay.p999_s),
            pdv_p99: most(|delay| delay.pdv_p99_s),
            slowdown: flows.iter().filter_map(|flow| flow.slowdown()).max_by(f64::total_cmp),
            least_rate: rates.iter().copied().min_by(f64::total_cmp),
            worst_loss: losses.max_by(f64::total_cmp),
            loss: (sent > 0).then(|| 1.0 - float(came) / float(sent)),
            reordered: (came > 0).then(|| float(datagrams(|loss| loss.reordered)) / float(came)),
            worst_call: worst_call(&flows),
            missed: flows
                .iter()
                .map(|f| f.figures.blocks.missed + f.figures.blocks.interrupted)
                .sum(),
            fairness: sessions::jain(&rates),
            cpu_s_per_gb: (delivered > 0.0 && !flows.iter().any(|flow| flow.is_uncounted())).then(
                || {
                    let per_gb = 1e9 / delivered;
                    (cpu(|c| c.sender_cpu_ns) * per_gb, cpu(|c| c.receiver_cpu_ns) * per_gb)
                },
            ),
            host_limited: flows
                .iter()
                .filter(|flow| flow.figures.pacing.is_some_and(|pacing| pacing.host_limited))
                .count(),
            flows: flows.len(),
            broken: broken(run, &flows),
        }
    }
}

fn datagrams(flows: &[&FlowSample], of: fn(&Loss) -> u64) -> u64 {
    flows.iter().filter_map(|flow| flow.figures.loss.as_ref()).map(of).sum()
}

fn worst_call(flows: &[&FlowSample]) -> Option<Rating> {
    flows.iter().filter_map(|flow| call(flow)).min_by(|a, b| a.r.total_cmp(&b.r))
}

/// What a flow of datagrams would be worth as a call whose decoder waits for all but one packet in a thousand.
fn call(flow: &FlowSample) -> Option<Rating> {
    let (loss, delay) = (flow.figures.loss?, flow.figures.delay?);
    let missing = 1.0 - (1.0 - loss.lost_share) * (1.0 - LEFT_OUT);
    Some(G711.rating(flow.one_way(Some(delay.p999_s))?, missing))
}

/// Of the packets that come, those that come too late to be played.
const LEFT_OUT: f64 = 0.001;

/// The mean over flows, weighted by arrived bytes; `None` where a flow has none.
fn weighted(flows: &[&FlowSample], value: fn(&FlowSample) -> Option<f64>) -> Option<f64> {
    let (mut sum, mut bytes) = (0.0, 0.0);
    for flow in flows {
        let weight = float(flow.figures.arrived_bytes.count());
        sum += weight * value(flow)?;
        bytes += weight;
    }
    (bytes > 0.0).then(|| sum / bytes)
}

fn broken(run: &RunSample, flows: &[&FlowSample]) -> Option<String> {
    let failed = run.clusters.iter().find_map(|cluster| cluster.failed.clone());
    failed.or_else(|| {
        let reason = |flow: &&FlowSample| match &flow.outcome {
            crate::sample::Outcome::Complete => None,
            crate::sample::Outcome::Capped { reason }
            | crate::sample::Outcome::Failed { reason } => Some(reason.clone()),
        };
        flows.iter().find_map(reason)
    })
}
