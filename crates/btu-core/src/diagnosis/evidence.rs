//! What hosts and emulator say beside a capture, where somebody measured it.

use serde::Deserialize;
use serde::Serialize;

use super::Confidence;
use super::Figure;
use super::Repeat;
use crate::role::Role;
use crate::sample::CaptureSample;
use crate::sample::ConnectionSample;
use crate::sample::CounterDelta;
use crate::sample::DirectionSample;
use crate::sample::EndSample;
use crate::sample::HostSample;
use crate::tcp::float;
use crate::units::Nanos;
use crate::units::Ratio;

/// Everything that is known beside the capture; by default nothing is.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Evidence {
    /// How long was observed.
    pub elapsed: Nanos,
    /// The end that sent most.
    pub sender: EndEvidence,
    /// The other end.
    pub receiver: EndEvidence,
    /// How long the host was observed: the times of it below are within this.
    pub host_elapsed: Nanos,
    /// CPU time idle, all CPUs together.
    pub idle: Option<Nanos>,
    /// CPU time taken by the hypervisor.
    pub steal: Option<Nanos>,
    /// CPU time in softirqs.
    pub softirq: Option<Nanos>,
    /// Time in which a CPU quota stopped the programs of the host under test, all CPUs together.
    pub throttled: Option<Nanos>,
    /// CPU time of other programs of the host under test, all CPUs together.
    pub foreign: Option<Nanos>,
    /// Packets that the emulator dropped because it was asked to.
    pub asked_drops: Option<u64>,
    /// Packets that found its queue full.
    pub queue_drops: Option<u64>,
    /// Why a black box, and not the host under test, was the limit, its data thread aside.
    pub blackbox: Vec<String>,
    /// Why somebody calls this abnormal; then "unknown" is an answer.
    pub abnormal: Vec<String>,
    /// The scored runs of the same cell.
    pub repeats: Vec<Repeat>,
    /// Packets that the capture lost among those that it has.
    pub lost_packets: u64,
    /// The part of the observed time that the capture holds; `None` where that is all of it.
    pub covered: Option<Covered>,
}

/// The part of a run that its capture holds, from the connection's begin on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Covered {
    /// Until the capture ends.
    pub held: Nanos,
    /// Until the connection does.
    pub whole: Nanos,
}

impl Covered {
    /// Of the whole.
    pub fn share(self) -> Ratio {
        Ratio::new(self.held.seconds() / self.whole.seconds().max(f64::MIN_POSITIVE))
    }
}

/// What one end says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EndEvidence {
    /// Its host; `None` where nobody measured.
    pub role: Option<Role>,
    /// CPU time of its data thread.
    pub cpu: Option<Nanos>,
    /// Time its data thread was runnable but not running.
    pub run_delay: Option<Nanos>,
    /// For how long its process stood still at the most. A run that this invalidates says so itself.
    #[serde(skip)]
    pub stood_still: Nanos,
    /// Time with data outstanding.
    pub busy: Option<Nanos>,
    /// Time limited by the peer's window.
    pub window_limited: Option<Nanos>,
    /// Time limited by its own send buffer.
    pub buffer_limited: Option<Nanos>,
    /// Times that its retransmission timer ran out.
    pub timeouts: Option<u64>,
    /// Its send buffer, as the kernel counts.
    pub send_buffer_bytes: Option<u64>,
    /// Its receive buffer, as the kernel counts.
    pub receive_buffer_bytes: Option<u64>,
    /// Counters of its host's network stack that moved, all connections together; empty where nobody
    /// read them.
    pub counters: Vec<CounterDelta>,
    /// What its host spent otherwise, for a black box on a machine of its own.
    pub host: Option<HostTimes>,
}

/// CPU time of a host, all CPUs together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HostTimes {
    /// How long was observed.
    pub elapsed: Nanos,
    /// Taken by the hypervisor.
    pub steal: Option<Nanos>,
    /// In softirqs.
    pub softirq: Option<Nanos>,
}

impl Evidence {
    /// Of what was counted over the whole time, as much as falls into the capture.
    pub(super) fn in_capture(&self, count: u64) -> u64 {
        let Some(Covered { held, whole }) = self.covered else { return count };
        let part = u128::from(count) * u128::from(held.count()) / u128::from(whole.count().max(1));
        u64::try_from(part).unwrap_or(count).min(count)
    }

    /// Whatever is concluded from a capture with holes, or from less than half of what happened, may
    /// be wrong.
    pub(super) fn trusts(&self, found: Confidence) -> Confidence {
        let is_little = self.covered.is_some_and(|covered| covered.share().share() < 0.5);
        if self.lost_packets > 0 || is_little { found.min(Confidence::Medium) } else { found }
    }

    /// What a reader of any diagnosis must know of the capture.
    pub(super) fn limits(&self) -> impl Iterator<Item = Figure> {
        let lost = float(self.lost_packets);
        let lost = (lost > 0.0).then(|| Figure::new("packets that the capture lost", lost, ""));
        let part = |covered: Covered| {
            Figure::new("of the run in the capture", covered.share().percent(), "%")
        };
        lost.into_iter().chain(self.covered.map(part))
    }

    /// Of one connection of a second run; `connection` counts from 0, as in the case.
    pub fn of_run(second: &CaptureSample, connection: usize) -> Self {
        let sample = &second.run;
        let mut found = Self {
            elapsed: sample.host.elapsed_ns,
            host_elapsed: sample.host.elapsed_ns,
            idle: sample.host.idle_ns,
            steal: sample.host.steal_ns,
            softirq: sample.host.softirq_ns,
            throttled: sample.host.throttled_ns,
            foreign: sample.host.foreign_cpu_ns,
            ..Self::default()
        };
        let connections = sample.comm.iter().flat_map(|comm| &comm.connections);
        if let Some(one) = connections.clone().nth(connection) {
            found.elapsed = one.elapsed_ns;
            found.sender = EndEvidence::of(&one.sender);
            found.receiver = EndEvidence::of(&one.receiver);
            for end in [&mut found.sender, &mut found.receiver] {
                end.counters = match end.role {
                    Some(Role::Test) => sample.host.counters.clone(),
                    role => of_role(&second.black_boxes, role).cloned().unwrap_or_default(),
                };
                end.host = of_role(&second.black_box_hosts, end.role).map(HostTimes::of);
            }
            found.emulation(&sample.emulation, one);
        }
        let flags = sample.flags.iter().filter(|flag| flag.name == "blackbox-limited");
        found.blackbox = flags.map(|flag| flag.detail.clone()).collect();
        found
    }

    /// What the emulator did to the link of this connection, both directions.
    fn emulation(&mut self, emulation: &[DirectionSample], one: &ConnectionSample) {
        let link = format!("test-{}", one.peer);
        let of_link: Vec<&DirectionSample> =
            emulation.iter().filter(|each| each.link == link).collect();
        if !of_link.is_empty() {
            self.asked_drops = Some(of_link.iter().map(|each| each.dropped).sum());
            // What CoDel drops says nothing of the size of a queue.
            let full = of_link.iter().filter(|each| !each.has_codel());
            self.queue_drops = Some(full.map(|each| each.queue_dropped).sum());
        }
    }
}

fn of_role<T>(all: &[(Role, T)], wanted: Option<Role>) -> Option<&T> {
    all.iter().find(|(role, _)| Some(*role) == wanted).map(|(_, said)| said)
}

impl HostTimes {
    const fn of(sample: &HostSample) -> Self {
        Self { elapsed: sample.elapsed_ns, steal: sample.steal_ns, softirq: sample.softirq_ns }
    }
}

impl EndEvidence {
    /// How far a counter moved (`TcpExt.TCPTimeouts`); `None` where nobody read them.
    pub fn counter(&self, name: &str) -> Option<u64> {
        let moved = self.counters.iter().find(|one| one.name == name).map_or(0, |one| one.delta);
        (!self.counters.is_empty()).then(|| u64::try_from(moved).unwrap_or(0))
    }

    /// How far these counters moved together; 0 also where nobody read them.
    pub fn counted(&self, names: &[&str]) -> u64 {
        names.iter().filter_map(|name| self.counter(name)).sum()
    }

    /// True where this is a black box, and not the host under test.
    pub fn is_black_box(&self) -> bool {
        self.role.is_some_and(|role| role != Role::Test)
    }

    fn of(end: &EndSample) -> Self {
        let micros = |count: Option<u64>| count.map(Nanos::from_micros);
        let info = end.tcp_info.as_ref();
        Self {
            role: Some(end.role),
            cpu: end.cpu_ns,
            run_delay: end.run_delay_ns,
            stood_still: end.stood_still_ns,
            busy: micros(info.and_then(|info| info.busy_us)),
            window_limited: micros(info.and_then(|info| info.rwnd_limited_us)),
            buffer_limited: micros(info.and_then(|info| info.sndbuf_limited_us)),
            timeouts: info.and_then(|info| info.total_rto),
            send_buffer_bytes: end.options.send_buffer_bytes,
            receive_buffer_bytes: end.options.receive_buffer_bytes,
            counters: Vec::new(),
            host: None,
        }
    }
}
