//! One trial in figures: rates in the window that counts, times of clients, what it cost the server.
//!
//! The unit of a rate is that of the paper, 1024 bytes in a second (CITI TR 92-2 writes KB/s).

use super::sample::ClientSample;
use super::sample::Direction;
use super::sample::Held;
use super::sample::Operation;
use super::sample::TrialSample;
use crate::stats;
use crate::units::Bytes;
use crate::units::Nanos;

/// A trial without a failure.
#[derive(Clone, Copy, Debug)]
pub struct Round<'a> {
    sample: &'a TrialSample,
    /// When counting begins and ends, since all were released.
    window: [Nanos; 2],
}

/// A client's part of a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClientRound {
    /// Its number, from 1.
    pub client: u32,
    /// Which way its bytes went.
    pub direction: Direction,
    /// From its request to the server's last word.
    pub elapsed_s: f64,
    /// When the last word came, since all were released.
    pub ended_s: f64,
    /// Its bytes in that time.
    pub rate_kib_s: f64,
}

/// How alike the clients of one trial fared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alike {
    /// Jain's index of their rates.
    pub jain: f64,
    /// The longest time over the median.
    pub slowest_over_median: f64,
    /// The lowest rate over the highest.
    pub least_over_most_rate: f64,
    /// From the end of the first to the end of the last.
    pub finish_spread_s: f64,
}

/// Why a trial has no figures.
pub fn failure(sample: &TrialSample) -> Option<String> {
    let failed = sample.clients.iter().find_map(|client| {
        let reason = client.failure.as_ref()?;
        Some(format!("client {}: {reason}", client.client))
    });
    failed.or_else(|| Round::of(sample).is_none().then(|| without_window(sample)))
}

fn without_window(sample: &TrialSample) -> String {
    match sample.trial.direction {
        Direction::Both if !sample.clients.is_empty() => {
            "the two directions never ran at once".to_owned()
        }
        _ => "no client passed a byte".to_owned(),
    }
}

impl<'a> Round<'a> {
    /// The figures of a trial; `None` where a client failed, or nothing ran.
    pub fn of(sample: &'a TrialSample) -> Option<Self> {
        let good = sample.clients.iter().all(|client| client.failure.is_none());
        let spans: Vec<[Nanos; 2]> = sample.clients.iter().map(span).collect::<Option<_>>()?;
        let (begun, ended) = (spans.iter().map(|one| one[0]), spans.iter().map(|one| one[1]));
        let window = match sample.trial.direction {
            // Only what ran beside the other direction was disturbed by it.
            Direction::Both => [begun.max()?, ended.min()?],
            _ => [begun.min()?, ended.max()?],
        };
        (good && window[0] < window[1]).then_some(Self { sample, window })
    }

    /// Where the file was: one that was asked for cold and of which no disk was read was warm.
    pub fn held(&self) -> Held {
        match (self.sample.trial.held, self.disk_read()) {
            (Held::Cold, Some(read))
                if f64_of(read) < WARM * f64_of(self.sample.trial.size_bytes) =>
            {
                Held::Warm
            }
            (held, _) => held,
        }
    }

    /// From the first request to the last word of a server, or the time in which both directions ran.
    pub fn elapsed_s(&self) -> f64 {
        (self.window[1] - self.window[0]).seconds()
    }

    /// What passed within the window one way, in its time.
    pub fn rate_kib_s(&self, direction: Direction) -> Option<f64> {
        let clients = self.sample.clients.iter().filter(|client| client.direction == direction);
        let passed: Vec<f64> = clients.map(|client| within(client, self.window)).collect();
        (!passed.is_empty()).then(|| passed.iter().sum::<f64>() / KIB / self.elapsed_s())
    }

    /// The same of all directions together.
    pub fn total_kib_s(&self) -> f64 {
        let passed = self.sample.clients.iter().map(|client| within(client, self.window));
        passed.sum::<f64>() / KIB / self.elapsed_s()
    }

    /// Every client.
    pub fn clients(&self) -> Vec<ClientRound> {
        self.sample.clients.iter().filter_map(client_round).collect()
    }

    /// CPU time of the servers in one second.
    pub fn server_cpus(&self) -> Option<f64> {
        Some(self.server_cpu_s()? / self.server_s()?)
    }

    /// Calls that read and wrote in one second.
    pub fn calls_per_s(&self) -> Option<f64> {
        Some(self.calls()? / self.server_s()?)
    }

    /// Calls for each 1024 bytes that were delivered.
    pub fn calls_per_kib(&self) -> Option<f64> {
        Some(self.calls()? / (self.delivered()? / KIB))
    }

    /// CPU time of the servers for each 2^30 bytes.
    pub fn cpu_s_per_gib(&self) -> Option<f64> {
        Some(self.server_cpu_s()? / (self.delivered()? / GIB))
    }

    /// Bytes that came from a disk for each one that was delivered.
    pub fn disk_per_delivered(&self) -> Option<f64> {
        Some(f64_of(self.disk_read()?) / self.delivered()?)
    }

    /// Datagrams with data for each block or file, where a library counted its own.
    pub fn datagrams_per_block(&self) -> Option<f64> {
        let sent = |client: &ClientSample| Some(client.sent?.datagrams);
        let sent: Option<u64> = self.sample.clients.iter().map(sent).sum();
        let sent = sent.filter(|_| !self.sample.clients.is_empty())?;
        let blocks = stats::count(self.sample.clients.len()) * f64::from(self.sample.trial.count);
        Some(f64_of(Bytes::new(sent)) / blocks)
    }

    /// How long the machine was watched, and how long its CPUs were idle meanwhile, all together.
    pub fn watched_and_idle_s(&self) -> Option<[f64; 2]> {
        let host = self.sample.host.as_ref()?;
        Some([host.elapsed_ns.seconds(), host.idle_ns?.seconds()])
    }

    /// How long the machine was watched, and the CPU time that other programs took meanwhile.
    pub fn watched_and_foreign_s(&self) -> Option<[f64; 2]> {
        let host = self.sample.host.as_ref()?;
        Some([host.elapsed_ns.seconds(), host.foreign_cpu_ns?.seconds()])
    }

    /// The number of the round that it was made in.
    pub fn number(&self) -> u32 {
        self.sample.round
    }

    fn disk_read(&self) -> Option<Bytes> {
        let read: Option<Bytes> = self.sample.servers.iter().map(|server| server.disk_read).sum();
        read.filter(|_| !self.sample.servers.is_empty())
    }

    fn server_cpu_s(&self) -> Option<f64> {
        let cpu: Option<Nanos> = self.sample.servers.iter().map(|server| server.cpu_ns).sum();
        cpu.filter(|_| !self.sample.servers.is_empty()).map(Nanos::seconds)
    }

    fn server_s(&self) -> Option<f64> {
        let longest = self.sample.servers.iter().map(|server| server.elapsed_ns).max()?;
        (!longest.is_zero()).then(|| longest.seconds())
    }

    fn calls(&self) -> Option<f64> {
        let calls: Option<u64> = self.sample.servers.iter().map(|server| server.calls).sum();
        calls.filter(|_| !self.sample.servers.is_empty()).map(|calls| f64_of(Bytes::new(calls)))
    }

    fn delivered(&self) -> Option<f64> {
        let bytes: Bytes = self.sample.clients.iter().map(|client| client.bytes).sum();
        (!bytes.is_empty()).then(|| f64_of(bytes))
    }
}

impl Alike {
    /// Of these clients; `None` without any.
    pub fn of(clients: &[ClientRound]) -> Option<Self> {
        let all = |of: fn(&ClientRound) -> f64| clients.iter().map(of).collect::<Vec<f64>>();
        let (times, rates) = (all(|one| one.elapsed_s), all(|one| one.rate_kib_s));
        let [first_end, last_end] = bounds(&all(|one| one.ended_s))?;
        let [least, most] = bounds(&rates)?;
        let [_, longest] = bounds(&times)?;
        Some(Self {
            jain: jain(&rates)?,
            slowest_over_median: longest / stats::median(&times)?,
            least_over_most_rate: least / most,
            finish_spread_s: last_end - first_end,
        })
    }
}

/// The lowest and the highest.
fn bounds(values: &[f64]) -> Option<[f64; 2]> {
    let low = values.iter().copied().reduce(f64::min)?;
    Some([low, values.iter().copied().reduce(f64::max)?])
}

/// Jain, Chiu and Hawe, DEC-TR-301 (1984): (sum x)^2 / (n sum x^2); 1 where all have the same.
pub fn jain(rates: &[f64]) -> Option<f64> {
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    let sum: f64 = rates.iter().sum();
    (squares > 0.0).then(|| sum * sum / (stats::count(rates.len()) * squares))
}

fn client_round(client: &ClientSample) -> Option<ClientRound> {
    let [from, to] = span(client)?;
    let elapsed_s = (to - from).seconds();
    Some(ClientRound {
        client: client.client,
        direction: client.direction,
        elapsed_s,
        ended_s: to.seconds(),
        rate_kib_s: f64_of(client.bytes) / KIB / elapsed_s,
    })
}

/// From the first request to the last commit, or to the last byte where a protocol has no commit.
fn span(client: &ClientSample) -> Option<[Nanos; 2]> {
    let from = client.phases.request_ns?;
    let to = client.phases.commit_ns.or(client.phases.last_byte_ns)?;
    (from < to).then_some([from, to])
}

/// The bytes of a client within a window: a file that reaches beyond it counts with the share of its time inside.
fn within(client: &ClientSample, window: [Nanos; 2]) -> f64 {
    let Some([from, to]) = span(client) else { return 0.0 };
    let whole = [to - from];
    let took = if client.took_ns.is_empty() { &whole[..] } else { &client.took_ns[..] };
    let each = f64_of(client.bytes) / stats::count(took.len());
    let mut at = from;
    let shares = took.iter().map(|took| {
        let begun = at;
        at += *took;
        share([begun, at], window)
    });
    each * shares.sum::<f64>()
}

/// Which part of a time is within a window.
fn share([from, to]: [Nanos; 2], window: [Nanos; 2]) -> f64 {
    let (begun, ended) = (from.max(window[0]), to.min(window[1]));
    if from == to || begun >= ended {
        return if from == to && window[0] <= from && from <= window[1] { 1.0 } else { 0.0 };
    }
    (ended - begun).seconds() / (to - from).seconds()
}

impl Operation {
    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Get => "get",
            Self::Put => "put",
            Self::Stream => "stream",
        }
    }
}

impl Direction {
    /// As it is written for people, where host B has this name.
    pub fn towards(self, far: &str) -> String {
        self.name().replace('B', far)
    }

    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AToB => "A->B",
            Self::BToA => "B->A",
            Self::Both => "A<->B",
            Self::WithinA => "within A",
            Self::WithinB => "within B",
        }
    }
}

impl Held {
    /// True where a server of this program gives a file of its disk.
    pub const fn is_on_disk(self) -> bool {
        matches!(self, Self::Cold | Self::Warm)
    }

    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Nowhere => "nowhere",
            Self::Unknown => "unknown",
            Self::Warm => "warm",
        }
    }
}

/// A number of bytes as a float.
#[expect(clippy::cast_precision_loss, reason = "a trial passes far less than 2^53 bytes")]
pub(super) fn f64_of(bytes: Bytes) -> f64 {
    bytes.count() as f64
}

/// The KB of the paper.
pub(super) const KIB: f64 = 1024.0;
const GIB: f64 = KIB * KIB * KIB;
/// A file of which less than this share came from a disk was in the page cache.
const WARM: f64 = 0.05;

#[cfg(test)]
mod tests;
