//! `result.json` of a file service: every trial over its rounds, with what each experiment made of it.

mod reasons;

use std::collections::BTreeMap;

use btu_core::file::Journal;
use btu_core::file::analysis::Analysis;
use btu_core::file::point::ClientFigures;
use btu_core::file::point::Figure;
use btu_core::file::point::Point;
use btu_core::file::sample::Direction;
use btu_core::file::table::Fit;
use btu_core::file::table::Pair;
use btu_core::file::table::Ratio;
use btu_core::journal::EventRecord;
use btu_core::sample::Flag;
use btu_core::units::Bytes;
use serde::Deserialize;
use serde::Serialize;

use self::reasons::REASONS;
use super::host::fact_text;
use super::host_line;
use super::silence;
use super::version::FILE_SCHEMA_VERSION;

/// The result of one measurement of a file service. A KiB is 1024 bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileDocument {
    /// Version of this shape, semantic; keys are only added within a major version.
    pub schema_version: String,
    /// `file`
    pub verb: String,
    /// Version of the program that measured; null where the journal does not say.
    pub tool_version: Option<String>,
    /// The host in one line.
    pub host: String,
    /// `direct`, `loopback` or `target`.
    pub path: String,
    /// The server of others that was host B, as a URL without a password.
    pub target: Option<String>,
    /// What it said of itself.
    pub server_greeting: Option<String>,
    /// Seed of every random choice.
    pub seed: u64,
    /// The experiments, in their order.
    pub experiments: Vec<String>,
    /// When it began, UTC, RFC 3339.
    pub started_at: Option<String>,
    /// When it ended, UTC, RFC 3339; null where it was cut short.
    pub finished_at: Option<String>,
    /// False where it was cut short, or a trial failed.
    pub complete: bool,
    /// Every trial over its rounds, in the order of the plan.
    pub trials: Vec<FileTrialResult>,
    /// Lines through times over block sizes.
    pub fits: Vec<FileFitResult>,
    /// Both directions at once beside one alone.
    pub bidirectional: Vec<FilePairResult>,
    /// More clients beside fewer.
    pub ratios: Vec<FileRatioResult>,
    /// Trials that failed.
    pub failures: Vec<FileFailureResult>,
    /// Protocols that are not there, with the reason.
    pub missing: BTreeMap<String, String>,
    /// What a reader should know of all of it.
    pub flags: Vec<FileFlagResult>,
}

/// One trial over its rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileTrialResult {
    /// The protocol.
    pub protocol: String,
    /// `call`, `get`, `put` or `stream`.
    pub operation: String,
    /// `A->B`, `B->A`, `A<->B`, `within A` or `within B`.
    pub direction: String,
    /// The file, or the block of one call.
    pub size_bytes: u64,
    /// Files or calls of each client.
    pub count: u32,
    /// How many clients at once, of each direction.
    pub client_count: u32,
    /// The MTU that was asked for; null for the path's own.
    pub mtu_bytes: Option<u64>,
    /// The MTU that the path had.
    pub path_mtu_bytes: Option<u64>,
    /// Whether the path's devices segment for the system.
    pub offload: Option<bool>,
    /// Where the file was asked to be: `cold`, `nowhere`, `warm`, or `unknown` at a server of others.
    pub held_asked: String,
    /// Where it was.
    pub held: String,
    /// Rounds that counted.
    pub rounds: u64,
    /// Rounds with a failure.
    pub failed_rounds: u64,
    /// The time that counted.
    pub elapsed_s: Option<f64>,
    /// Its 95 % interval.
    pub elapsed_ci95_s: Option<[f64; 2]>,
    /// The rate from A to B, or within the host.
    pub forward_rate_kib_s: Option<f64>,
    /// The rate from B to A.
    pub backward_rate_kib_s: Option<f64>,
    /// All directions together.
    pub rate_kib_s: Option<f64>,
    /// Its 95 % interval.
    pub rate_ci95_kib_s: Option<[f64; 2]>,
    /// Each client.
    pub clients: Vec<FileClientResult>,
    /// The mean of the clients' times.
    pub mean_elapsed_s: Option<f64>,
    /// Their median.
    pub median_elapsed_s: Option<f64>,
    /// Jain's index of their rates, as the mean of the rounds.
    pub jain: Option<f64>,
    /// The longest time over the median, likewise.
    pub slowest_over_median: Option<f64>,
    /// The client with the longest time over all rounds.
    pub worst_client: Option<u32>,
    /// From the end of the first client to that of the last, as the mean of the rounds.
    pub finish_spread_s: Option<f64>,
    /// CPU time of the server in percent of one CPU.
    pub server_cpu_percent_of_one: Option<f64>,
    /// The same in percent of all CPUs.
    pub server_cpu_percent_of_all: Option<f64>,
    /// Busy CPUs of the machine in percent of all.
    pub host_cpu_percent: Option<f64>,
    /// CPU time of other programs in percent of all CPUs: at least so much.
    pub foreign_cpu_percent: Option<f64>,
    /// System calls of the server that read and wrote, per second.
    pub calls_per_s: Option<f64>,
    /// The same for each KiB that was delivered.
    pub calls_per_kib: Option<f64>,
    /// CPU time of the server for each 2^30 bytes.
    pub server_cpu_s_per_gib: Option<f64>,
    /// Bytes from a disk for each one that was delivered.
    pub disk_per_delivered: Option<f64>,
}

/// A client over all rounds of its trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileClientResult {
    /// Its number, from 1.
    pub client: u32,
    /// Which way its bytes went.
    pub client_direction: String,
    /// From its request to the server's last word.
    pub client_elapsed_s: f64,
    /// Its rate.
    pub client_rate_kib_s: f64,
}

/// elapsed = t0 + size / `r_inf`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileFitResult {
    /// The protocol.
    pub protocol: String,
    /// `call` or `stream`.
    pub operation: String,
    /// The MTU that was asked for; null for the path's own.
    pub mtu_bytes: Option<u64>,
    /// The time of an empty block.
    pub t0_s: f64,
    /// The rate of endless blocks.
    pub r_inf_kib_s: f64,
    /// The block that reaches half of it.
    pub half_size_kib: f64,
}

/// Both directions at once beside one alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilePairResult {
    /// Of which transfers.
    pub label: String,
    /// Both together.
    pub sum_kib_s: f64,
    /// That over the mean of the two directions alone, of the same round each.
    pub sum_over_unidirectional: Option<f64>,
    /// Its 95 % interval.
    pub sum_over_unidirectional_ci95: Option<[f64; 2]>,
}

/// A number of clients beside the smallest one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileRatioResult {
    /// Of which reads.
    pub label: String,
    /// Of rates.
    pub rate_ratio: Option<f64>,
    /// Of CPU time of the server.
    pub server_cpu_ratio: Option<f64>,
    /// Of busy CPUs of the machine.
    pub host_cpu_ratio: Option<f64>,
    /// Of calls in a second.
    pub calls_ratio: Option<f64>,
}

/// A trial that failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileFailureResult {
    /// Of which trial.
    pub label: String,
    /// Its round.
    pub round: u32,
    /// What happened.
    pub failure: String,
}

/// A remark on the result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileFlagResult {
    /// Kebab case, stable: `shared-host`, `foreign-cpu`, `not-cold`, `server-of-others`.
    pub name: String,
    /// What was seen.
    pub detail: String,
}

/// The result of a file service, for programs.
pub fn file_result(journal: &Journal, analysis: &Analysis) -> FileDocument {
    let findings = || analysis.experiments.iter().map(|one| &one.findings);
    FileDocument {
        schema_version: FILE_SCHEMA_VERSION.to_owned(),
        verb: "file".to_owned(),
        tool_version: fact_text(journal.hosts.tool.get("version")),
        host: host_line(&journal.hosts),
        path: journal.plan.path.to_string(),
        target: journal.plan.target.as_ref().map(ToString::to_string),
        server_greeting: crate::file::greeting(journal).map(str::to_owned),
        seed: journal.plan.seed,
        experiments: journal.plan.experiments.clone(),
        started_at: EventRecord::started_at(&journal.events).map(str::to_owned),
        finished_at: EventRecord::finished_at(&journal.events).map(str::to_owned),
        complete: analysis.complete,
        trials: analysis.points.iter().map(trial).collect(),
        fits: findings().flat_map(|one| &one.fits).map(fit).collect(),
        bidirectional: findings().flat_map(|one| &one.pairs).map(pair).collect(),
        ratios: findings().flat_map(|one| &one.ratios).map(ratio).collect(),
        failures: analysis.failures.iter().map(|one| failure(journal, one)).collect(),
        missing: analysis.missing.iter().cloned().collect(),
        flags: analysis.flags.iter().map(flag).collect(),
    }
}

fn trial(point: &Point) -> FileTrialResult {
    let (trial, server, fair) = (&point.trial, &point.server, point.fairness.as_ref());
    let rate = |way| value(point.rates.get(&way).copied());
    FileTrialResult {
        protocol: trial.protocol.clone(),
        operation: trial.operation.name().to_owned(),
        direction: trial.direction.name().to_owned(),
        size_bytes: trial.size_bytes.count(),
        count: trial.count,
        client_count: trial.clients,
        mtu_bytes: trial.mtu_bytes.map(Bytes::count),
        path_mtu_bytes: point.path_mtu_bytes.map(Bytes::count),
        offload: point.offload,
        held_asked: trial.held.name().to_owned(),
        held: point.held.name().to_owned(),
        rounds: point.rounds as u64,
        failed_rounds: point.failed as u64,
        elapsed_s: value(point.elapsed_s),
        elapsed_ci95_s: interval(point.elapsed_s),
        forward_rate_kib_s: FORWARD.into_iter().find_map(rate),
        backward_rate_kib_s: rate(Direction::BToA),
        rate_kib_s: value(point.total),
        rate_ci95_kib_s: interval(point.total),
        clients: point.clients.iter().map(client).collect(),
        mean_elapsed_s: point.mean_elapsed_s(),
        median_elapsed_s: fair.map(|fair| fair.median_s),
        jain: fair.map(|fair| fair.jain.value),
        slowest_over_median: fair.map(|fair| fair.slowest_over_median.value),
        worst_client: fair.map(|fair| fair.worst_client),
        finish_spread_s: fair.map(|fair| fair.finish_spread_s.value),
        server_cpu_percent_of_one: value(server.cpu_percent_of_one),
        server_cpu_percent_of_all: value(server.cpu_percent_of_all),
        host_cpu_percent: value(server.host_cpu_percent),
        foreign_cpu_percent: value(server.foreign_cpu_percent),
        calls_per_s: value(server.calls_per_s),
        calls_per_kib: value(server.calls_per_kib),
        server_cpu_s_per_gib: value(server.cpu_s_per_gib),
        disk_per_delivered: value(server.disk_per_delivered),
    }
}

fn value(figure: Option<Figure>) -> Option<f64> {
    figure.map(|figure| figure.value)
}

fn interval(figure: Option<Figure>) -> Option<[f64; 2]> {
    figure.and_then(|figure| figure.interval).map(|bounds| [bounds.low, bounds.high])
}

fn client(one: &ClientFigures) -> FileClientResult {
    FileClientResult {
        client: one.client,
        client_direction: one.direction.name().to_owned(),
        client_elapsed_s: one.elapsed_s.value,
        client_rate_kib_s: one.rate_kib_s.value,
    }
}

fn fit(fit: &Fit) -> FileFitResult {
    FileFitResult {
        protocol: fit.protocol.clone(),
        operation: fit.operation.name().to_owned(),
        mtu_bytes: fit.mtu_bytes.map(Bytes::count),
        t0_s: fit.t0_s,
        r_inf_kib_s: fit.r_inf_kib_s,
        half_size_kib: fit.half_size_kib,
    }
}

fn pair(pair: &Pair) -> FilePairResult {
    FilePairResult {
        label: pair.label.clone(),
        sum_kib_s: pair.sum_kib_s,
        sum_over_unidirectional: value(pair.sum_over_unidirectional),
        sum_over_unidirectional_ci95: interval(pair.sum_over_unidirectional),
    }
}

fn ratio(ratio: &Ratio) -> FileRatioResult {
    FileRatioResult {
        label: ratio.label.clone(),
        rate_ratio: ratio.rate,
        server_cpu_ratio: ratio.server_cpu,
        host_cpu_ratio: ratio.host_cpu,
        calls_ratio: ratio.calls,
    }
}

fn failure(journal: &Journal, one: &btu_core::file::analysis::Failure) -> FileFailureResult {
    let label = journal.plan.label(&one.trial);
    FileFailureResult { label, round: one.round, failure: one.reason.clone() }
}

fn flag(flag: &Flag) -> FileFlagResult {
    FileFlagResult { name: flag.name.clone(), detail: flag.detail.clone() }
}

impl FileDocument {
    /// The document as its file: pretty JSON, a reason after each null, and a newline.
    pub fn to_json(&self) -> String {
        silence::to_json(self, REASONS)
    }
}

/// What leads forward: never two of them in one trial.
const FORWARD: [Direction; 3] = [Direction::AToB, Direction::WithinA, Direction::WithinB];

#[cfg(test)]
mod tests;
