//! From what the engine saw of flows to what a sample says of them.

use std::collections::BTreeMap;

use btu_core::cell::Role;
use btu_core::sample::SocketOptions;
use btu_core::traffic::analysis::figures::Figures;
use btu_core::traffic::analysis::places::Places;
use btu_core::traffic::sample::Agreement;
use btu_core::traffic::sample::ClusterSample;
use btu_core::traffic::sample::Curves;
use btu_core::traffic::sample::FlowSample;
use btu_core::units::Nanos;
use btu_engine::EngineError;
use btu_engine::traffic::Carrier;
use btu_engine::traffic::FlowEnd;
use btu_engine::traffic::JobEnd;
use btu_sys::socket::Effective;

use super::distant::Between;
use super::expand::Named;
use super::expand::Said;

/// What flows and conversations of a cluster came to.
pub(super) fn sample(
    name: &str,
    named: Vec<Named>,
    ended: Result<JobEnd, EngineError>,
    talks: Vec<Result<FlowSample, EngineError>>,
) -> ClusterSample {
    let mut failed = None;
    let mut keep = |cause: EngineError| failed = Some(cause.sentence());
    let mut talked = Vec::new();
    for talk in talks {
        match talk {
            Ok(talk) => talked.push(talk),
            Err(cause) => keep(cause),
        }
    }
    let end = ended.unwrap_or_else(|cause| {
        keep(cause);
        JobEnd::default()
    });
    let flows = named.into_iter().zip(end.flows).map(|(named, end)| flow(named, end));
    let known: Vec<[Nanos; 2]> = talked.iter().filter_map(|talk| talk.cpu_ns).collect();
    let cpu = |end: usize| known.iter().map(|cpu| cpu[end]).sum::<Nanos>();
    let threads = end.sender_threads + known.len();
    ClusterSample {
        name: name.to_owned(),
        sender_cpu_ns: end.sender_cpu.saturating_add(cpu(0)),
        receiver_cpu_ns: end.receiver_cpu.saturating_add(cpu(1)),
        sender_threads: u32::try_from(threads).unwrap_or(u32::MAX),
        flows: flows.chain(talked).collect(),
        failed,
        began_ns: Nanos::ZERO,
        elapsed_ns: end.elapsed,
        clocks: Vec::new(),
    }
}

/// A cluster that could not be run.
pub(super) fn failed(name: &str, cause: &EngineError) -> ClusterSample {
    let failed = Some(cause.sentence());
    ClusterSample { failed, ..sample(name, Vec::new(), Ok(JobEnd::default()), Vec::new()) }
}

/// Says of a flow how well its delays are known. A conversation has one clock: the asker's.
pub(super) fn compare_clocks(flow: &mut FlowSample, clocks: &BTreeMap<Role, Between>) {
    let far = if flow.from == Role::Test { flow.to } else { flow.from };
    let Some(between) = clocks.get(&far).filter(|_| !flow.is_asked()) else { return };
    flow.clocks = Some(match between.bound() {
        Ok(bound) => Agreement::Within(bound),
        Err(reason) => Agreement::Unknown(reason),
    });
    if let Some(Agreement::Unknown(_)) = flow.clocks {
        let figures = &mut flow.figures;
        (figures.delay, figures.window_delay_s, figures.drained_delay_s) = (None, None, None);
        (figures.mean_queue_bytes, figures.delay_p99_at_least_s) = (None, None);
    }
}

/// True for a flow of this role's, and for a conversation that it answers.
pub(super) fn is_sent_by(flow: &FlowSample, role: Role) -> bool {
    let sender = if flow.is_asked() { flow.to } else { flow.from };
    sender == role
}

pub(super) fn conversation(said: Said, end: FlowEnd) -> FlowSample {
    // Nobody but the answers decides when such a sender goes on.
    let figures = Figures { pacing: None, ..Figures::of(&end.trace) };
    FlowSample {
        test: said.test,
        session: said.session,
        from: said.from,
        to: said.to,
        transport: said.transport,
        traffic: said.traffic,
        phase_ns: None,
        duration_ns: end.trace.duration,
        outcome: end.outcome,
        figures,
        clocks: None,
        places: None,
        acknowledged_bytes: None,
        retransmitted_bytes: None,
        least_rtt_ns: None,
        refused: 0,
        pace: end.pace.to_owned(),
        cpu_ns: end.cpu,
        noticed: end.noticed.iter().map(|one| (one.name.to_owned(), one.value)).collect(),
        sender_options: options(end.sender),
        receiver_options: options(end.receiver),
        curves: Curves::of(&end.trace),
    }
}

fn flow(named: Named, end: FlowEnd) -> FlowSample {
    FlowSample {
        test: named.test,
        session: named.session,
        from: named.from,
        to: named.to,
        transport: match named.flow.carrier {
            Carrier::Tcp(_) => "tcp",
            Carrier::Udp => "udp",
            Carrier::Quic(_) => "quic",
        }
        .to_owned(),
        traffic: named.traffic,
        phase_ns: named.phase,
        duration_ns: end.trace.duration,
        outcome: end.outcome,
        figures: Figures::of(&end.trace),
        clocks: None,
        places: Places::of(&end.trace, &end.glances),
        acknowledged_bytes: end.tcp.map(|tcp| tcp.acknowledged),
        retransmitted_bytes: end.tcp.map(|tcp| tcp.retransmitted),
        least_rtt_ns: end.tcp.map(|tcp| tcp.least_rtt),
        refused: end.refused,
        pace: end.pace.to_owned(),
        cpu_ns: end.cpu,
        noticed: end.noticed.iter().map(|one| (one.name.to_owned(), one.value)).collect(),
        sender_options: options(end.sender),
        receiver_options: options(end.receiver),
        curves: Curves::of(&end.trace),
    }
}

fn options(read: Effective) -> SocketOptions {
    SocketOptions {
        congestion: read.congestion,
        nodelay: read.nodelay,
        send_buffer_bytes: read.send_buffer,
        receive_buffer_bytes: read.receive_buffer,
        mss_bytes: read.mss,
        window_clamp_bytes: read.window_clamp,
    }
}
