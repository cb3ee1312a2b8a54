//! The test host around one run: what else moved while the run lasted.

use serde::Deserialize;
use serde::Serialize;

use crate::units::Bytes;
use crate::units::Nanos;

/// Differences of host-wide counters over one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostSample {
    /// Length of the observation.
    pub elapsed_ns: Nanos,
    /// CPU time taken by the hypervisor, all CPUs together.
    pub steal_ns: Option<Nanos>,
    /// Time in which the CPU quota of a control group stopped what it holds, all CPUs together.
    pub throttled_ns: Option<Nanos>,
    /// CPU time used by processes that are not ours, all CPUs together.
    pub foreign_cpu_ns: Option<Nanos>,
    /// CPU time idle, all CPUs together.
    pub idle_ns: Option<Nanos>,
    /// CPU time in softirqs, all CPUs together.
    pub softirq_ns: Option<Nanos>,
    /// Memory that went to swap and came from it.
    pub swapped: Option<Bytes>,
    /// Spells in which the processor was too hot for its clock that began, of the core or package that had most.
    pub hot_spells: Option<u64>,
    /// How long those lasted that ended, which may have begun before: of the core or package that was longest.
    pub hot_ns: Option<Nanos>,
    /// What a cache line takes from one CPU of the host to another and back.
    pub cpu_distance_ns: Option<Nanos>,
    /// By how much the clock of the day moved against the monotonic one: forward where it is positive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_step_ns: Option<i64>,
    /// Counters of the test role's network namespace that moved (`TcpExt.TCPTimeouts`).
    pub counters: Vec<CounterDelta>,
    /// Errors, drops and frames of network devices that carried traffic of the run and counted errors or drops
    /// (`eth0.rx_errors`).
    #[serde(default)]
    pub devices: Vec<CounterDelta>,
    /// Settings that changed during the run: the drift guard's findings.
    pub drift: Vec<String>,
}

impl HostSample {
    /// From so many times as long on a cache line says that the CPUs were moved apart: less is their clock.
    pub const APART: f64 = 1.3;
}

/// How far one counter moved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterDelta {
    /// Group and name, as the kernel writes them.
    pub name: String,
    /// By how much.
    pub delta: i64,
}
