//! A trial over all its rounds: means with intervals. A round with a failure is told and never averaged.

use std::collections::BTreeMap;

use super::round;
use super::round::Alike;
use super::round::ClientRound;
use super::round::Round;
use super::sample::Direction;
use super::sample::Held;
use super::sample::Trial;
use super::sample::TrialSample;
use crate::stats;
use crate::stats::Interval;
use crate::units::Bytes;

/// What all rounds of a trial say together.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// What was asked for.
    pub trial: Trial,
    /// Where the file was in truth, in most rounds.
    pub held: Held,
    /// Rounds in which a file that was asked for cold was warm.
    pub warm_rounds: usize,
    /// Rounds that counted.
    pub rounds: usize,
    /// Rounds with a failure.
    pub failed: usize,
    /// The MTU that the path had.
    pub path_mtu_bytes: Option<Bytes>,
    /// Whether the path's devices segment for the system.
    pub offload: Option<bool>,
    /// The time that counted.
    pub elapsed_s: Option<Figure>,
    /// Each direction.
    pub rates: BTreeMap<Direction, Figure>,
    /// All directions together.
    pub total: Option<Figure>,
    /// The same of each round, by its number.
    pub totals_kib_s: BTreeMap<u32, f64>,
    /// What each round says by itself, by its number.
    pub each_round: BTreeMap<u32, RoundFigures>,
    /// Each client.
    pub clients: Vec<ClientFigures>,
    /// How alike the clients fared.
    pub fairness: Option<Fairness>,
    /// Datagrams for each block or file, where a library counted its own.
    pub datagrams_per_block: Option<Figure>,
    /// What it cost the server.
    pub server: ServerFigures,
}

/// One round of a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundFigures {
    /// The time that counted.
    pub elapsed_s: f64,
    /// All directions together.
    pub total_kib_s: f64,
    /// Jain's index of the clients' rates; `None` for one client.
    pub jain: Option<f64>,
}

/// A mean over rounds: geometric, where every value has a logarithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// The mean.
    pub value: f64,
    /// Its 95 % interval; `None` under three rounds.
    pub interval: Option<Interval>,
}

/// A client over all rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientFigures {
    /// Its number, from 1.
    pub client: u32,
    /// Which way its bytes went.
    pub direction: Direction,
    /// From its request to the server's last word.
    pub elapsed_s: Figure,
    /// Its rate.
    pub rate_kib_s: Figure,
}

/// How alike clients fared that were released together.
///
/// Indexes and the spread are those of each round, then their mean: over rounds together, a victim of one round would be
/// hidden by the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Fairness {
    /// The arithmetic mean of the clients' times.
    pub mean_s: f64,
    /// Their median.
    pub median_s: f64,
    /// Jain's index of their rates.
    pub jain: Figure,
    /// The longest time over the median.
    pub slowest_over_median: Figure,
    /// The lowest rate over the highest.
    pub least_over_most_rate: Figure,
    /// From the end of the first to the end of the last.
    pub finish_spread_s: Figure,
    /// The client with the longest time over all rounds: an index hides a single victim among many.
    pub worst_client: u32,
    /// Its time over the median.
    pub worst_over_median: f64,
}

/// What a trial cost its server, and the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ServerFigures {
    /// CPU time of the server in percent of one CPU.
    pub cpu_percent_of_one: Option<Figure>,
    /// The same in percent of all CPUs.
    pub cpu_percent_of_all: Option<Figure>,
    /// Busy CPUs of the machine, all programs together, in percent of all.
    pub host_cpu_percent: Option<Figure>,
    /// CPU time of programs that are not ours, in percent of all CPUs: at least so much.
    pub foreign_cpu_percent: Option<Figure>,
    /// Calls that read and wrote, per second.
    pub calls_per_s: Option<Figure>,
    /// The same for each 1024 bytes.
    pub calls_per_kib: Option<Figure>,
    /// CPU time for each 2^30 bytes.
    pub cpu_s_per_gib: Option<Figure>,
    /// Bytes from a disk for each that was delivered.
    pub disk_per_delivered: Option<Figure>,
}

impl Figure {
    /// The mean of the rounds and its interval; `None` without any.
    pub fn of(rounds: &[f64]) -> Option<Self> {
        let few = rounds.len() < LEAST_ROUNDS;
        let (value, interval) = match stats::geometric_mean(rounds) {
            Some(mean) => (mean, stats::student_on_logs(rounds)),
            // A disk that was not read in a round has no logarithm.
            None => (stats::arithmetic_mean(rounds)?, stats::student(rounds)),
        };
        Some(Self { value, interval: interval.filter(|_| !few) })
    }
}

impl Point {
    /// What these samples of one trial say, on a machine with so many CPUs.
    pub fn of(trial: &Trial, samples: &[&TrialSample], cpus: Option<u32>) -> Self {
        let counted = || samples.iter().filter(|sample| !sample.warm_up);
        let rounds: Vec<Round<'_>> = counted().filter_map(|sample| Round::of(sample)).collect();
        let last = counted().next_back();
        let clients = clients(&rounds);
        let warm = if trial.held == Held::Cold { warm(&rounds) } else { 0 };
        Self {
            trial: last.map_or(trial, |sample| &sample.trial).clone(),
            held: if 2 * warm > rounds.len() { Held::Warm } else { trial.held },
            warm_rounds: warm,
            rounds: rounds.len(),
            failed: counted().filter(|sample| round::failure(sample).is_some()).count(),
            path_mtu_bytes: last.and_then(|sample| sample.path_mtu_bytes),
            offload: last.and_then(|sample| sample.offload),
            elapsed_s: over(&rounds, |round| Some(round.elapsed_s())),
            rates: rates(trial.direction, &rounds),
            total: over(&rounds, |round| Some(round.total_kib_s())),
            totals_kib_s: rounds.iter().map(|one| (one.number(), one.total_kib_s())).collect(),
            each_round: rounds.iter().map(of_round).collect(),
            fairness: fairness(&clients, &rounds),
            datagrams_per_block: over(&rounds, Round::datagrams_per_block),
            clients,
            server: server(&rounds, cpus),
        }
    }

    /// The arithmetic mean of the clients' times.
    pub fn mean_elapsed_s(&self) -> Option<f64> {
        let times: Vec<f64> = self.clients.iter().map(|one| one.elapsed_s.value).collect();
        stats::arithmetic_mean(&times)
    }
}

fn of_round(round: &Round<'_>) -> (u32, RoundFigures) {
    let clients = round.clients();
    let alike = Alike::of(&clients).filter(|_| clients.len() > 1);
    let (elapsed_s, total_kib_s) = (round.elapsed_s(), round.total_kib_s());
    (round.number(), RoundFigures { elapsed_s, total_kib_s, jain: alike.map(|one| one.jain) })
}

fn warm(rounds: &[Round<'_>]) -> usize {
    rounds.iter().filter(|round| round.held() == Held::Warm).count()
}

fn rates(direction: Direction, rounds: &[Round<'_>]) -> BTreeMap<Direction, Figure> {
    let ways = match direction {
        Direction::Both => vec![Direction::AToB, Direction::BToA],
        one => vec![one],
    };
    let figure = |way| over(rounds, |round| round.rate_kib_s(way)).map(|figure| (way, figure));
    ways.into_iter().filter_map(figure).collect()
}

fn clients(rounds: &[Round<'_>]) -> Vec<ClientFigures> {
    let mut of_each: BTreeMap<(Direction, u32), Vec<ClientRound>> = BTreeMap::new();
    for one in rounds.iter().flat_map(Round::clients) {
        of_each.entry((one.direction, one.client)).or_default().push(one);
    }
    of_each
        .into_iter()
        .filter_map(|((way, client), rounds)| of_client(client, way, &rounds))
        .collect()
}

fn of_client(client: u32, direction: Direction, rounds: &[ClientRound]) -> Option<ClientFigures> {
    let figure =
        |of: fn(&ClientRound) -> f64| Figure::of(&rounds.iter().map(of).collect::<Vec<_>>());
    let (elapsed_s, rate_kib_s) = (figure(|one| one.elapsed_s)?, figure(|one| one.rate_kib_s)?);
    Some(ClientFigures { client, direction, elapsed_s, rate_kib_s })
}

fn fairness(clients: &[ClientFigures], rounds: &[Round<'_>]) -> Option<Fairness> {
    if clients.len() < 2 {
        return None;
    }
    let times: Vec<f64> = clients.iter().map(|one| one.elapsed_s.value).collect();
    let worst = clients.iter().max_by(|a, b| a.elapsed_s.value.total_cmp(&b.elapsed_s.value))?;
    let median_s = stats::median(&times)?;
    let of_each: Vec<Alike> = rounds.iter().filter_map(|one| Alike::of(&one.clients())).collect();
    let mean = |of: fn(&Alike) -> f64| Figure::of(&of_each.iter().map(of).collect::<Vec<_>>());
    Some(Fairness {
        mean_s: stats::arithmetic_mean(&times)?,
        median_s,
        jain: mean(|one| one.jain)?,
        slowest_over_median: mean(|one| one.slowest_over_median)?,
        least_over_most_rate: mean(|one| one.least_over_most_rate)?,
        finish_spread_s: mean(|one| one.finish_spread_s)?,
        worst_client: worst.client,
        worst_over_median: worst.elapsed_s.value / median_s,
    })
}

fn server(rounds: &[Round<'_>], cpus: Option<u32>) -> ServerFigures {
    let of_all = |busy: f64| cpus.map(|cpus| 100.0 * busy / f64::from(cpus));
    ServerFigures {
        cpu_percent_of_one: over(rounds, |round| Some(100.0 * round.server_cpus()?)),
        cpu_percent_of_all: over(rounds, |round| of_all(round.server_cpus()?)),
        host_cpu_percent: cpus.and_then(|cpus| host(rounds, cpus)),
        foreign_cpu_percent: cpus.and_then(|cpus| foreign(rounds, cpus)),
        calls_per_s: over(rounds, Round::calls_per_s),
        calls_per_kib: over(rounds, Round::calls_per_kib),
        cpu_s_per_gib: over(rounds, Round::cpu_s_per_gib),
        disk_per_delivered: over(rounds, Round::disk_per_delivered),
    }
}

/// Busy CPUs of the machine, all programs together.
fn host(rounds: &[Round<'_>], cpus: u32) -> Option<Figure> {
    let idle = share_of_all(rounds, cpus, Round::watched_and_idle_s)?;
    Some(Figure::exact((100.0 - idle).max(0.0)))
}

fn foreign(rounds: &[Round<'_>], cpus: u32) -> Option<Figure> {
    let taken = share_of_all(rounds, cpus, Round::watched_and_foreign_s)?;
    Some(Figure::exact(taken.min(100.0)))
}

/// CPU time in percent of all CPUs, over all rounds: the counters of the machine move in ticks of 10 ms, of which a short round
/// has none.
fn share_of_all<'r>(
    rounds: &[Round<'r>],
    cpus: u32,
    of: impl Fn(&Round<'r>) -> Option<[f64; 2]>,
) -> Option<f64> {
    let watched: Vec<[f64; 2]> = rounds.iter().filter_map(of).collect();
    let [elapsed, part] = [0, 1].map(|part| watched.iter().map(|one| one[part]).sum::<f64>());
    (elapsed >= LEAST_WATCHED_S).then(|| 100.0 * part / (elapsed * f64::from(cpus)))
}

/// A figure of the rounds that have one.
fn over<'r>(rounds: &[Round<'r>], of: impl Fn(&Round<'r>) -> Option<f64>) -> Option<Figure> {
    Figure::of(&rounds.iter().filter_map(of).collect::<Vec<f64>>())
}

/// Twenty ticks of one CPU.
const LEAST_WATCHED_S: f64 = 0.2;
/// Two values give an interval that is right and useless.
const LEAST_ROUNDS: usize = 3;

#[cfg(test)]
mod tests;
