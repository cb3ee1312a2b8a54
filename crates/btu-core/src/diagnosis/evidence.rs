//! What hosts and emulator say beside a capture, where somebody measured it.

use crate::sample::CellSample;
use crate::sample::ConnectionSample;
use crate::sample::CounterDelta;
use crate::sample::DirectionSample;
use crate::sample::EndSample;
use crate::units::Nanos;

/// Everything that is known beside the capture; by default nothing is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// How long was observed.
    pub elapsed: Nanos,
    /// The end that sent most.
    pub sender: EndEvidence,
    /// The other end.
    pub receiver: EndEvidence,
    /// CPU time taken by the hypervisor.
    pub steal: Option<Nanos>,
    /// CPU time in softirqs.
    pub softirq: Option<Nanos>,
    /// Packets that the emulator dropped because it was asked to.
    pub asked_drops: Option<u64>,
    /// Packets that found its queue full.
    pub queue_drops: Option<u64>,
    /// Counters of the host's network stack that moved.
    pub counters: Vec<CounterDelta>,
    /// Why a black box, and not the host under test, was the limit.
    pub blackbox: Vec<String>,
    /// Why somebody calls this abnormal; then "unknown" is an answer.
    pub abnormal: Vec<String>,
}

/// What one end says of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndEvidence {
    /// CPU time of its data thread.
    pub cpu: Option<Nanos>,
    /// Time its data thread was runnable but not running.
    pub run_delay: Option<Nanos>,
    /// Time with data outstanding.
    pub busy: Option<Nanos>,
    /// Time limited by the peer's window.
    pub window_limited: Option<Nanos>,
    /// Time limited by its own send buffer.
    pub buffer_limited: Option<Nanos>,
    /// Its send buffer, as the kernel counts.
    pub send_buffer_bytes: Option<u64>,
    /// Its receive buffer, as the kernel counts.
    pub receive_buffer_bytes: Option<u64>,
}

impl Evidence {
    /// Of one connection of a run; `connection` counts from 0, as in the case.
    pub fn of_run(sample: &CellSample, connection: usize) -> Self {
        let mut found = Self {
            elapsed: sample.host.elapsed_ns,
            steal: sample.host.steal_ns,
            softirq: sample.host.softirq_ns,
            counters: sample.host.counters.clone(),
            ..Self::default()
        };
        let connections = sample.comm.iter().flat_map(|comm| &comm.connections);
        if let Some(one) = connections.clone().nth(connection) {
            found.elapsed = one.elapsed_ns;
            found.sender = EndEvidence::of(&one.sender);
            found.receiver = EndEvidence::of(&one.receiver);
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
            self.queue_drops = Some(of_link.iter().map(|each| each.queue_dropped).sum());
        }
    }
}

impl EndEvidence {
    fn of(end: &EndSample) -> Self {
        let micros = |count: Option<u64>| count.map(Nanos::from_micros);
        let info = end.tcp_info.as_ref();
        Self {
            cpu: end.cpu_ns,
            run_delay: end.run_delay_ns,
            busy: micros(info.and_then(|info| info.busy_us)),
            window_limited: micros(info.and_then(|info| info.rwnd_limited_us)),
            buffer_limited: micros(info.and_then(|info| info.sndbuf_limited_us)),
            send_buffer_bytes: end.options.send_buffer_bytes,
            receive_buffer_bytes: end.options.receive_buffer_bytes,
        }
    }
}
