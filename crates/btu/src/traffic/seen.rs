//! From what the engine saw of flows to what a sample says of them.

use std::collections::BTreeMap;

use btu_core::cell::Role;
use btu_core::traffic::analysis::figures::Figures;
use btu_core::traffic::analysis::places::Places;
use btu_core::traffic::sample::Agreement;
use btu_core::traffic::sample::ClusterSample;
use btu_core::traffic::sample::Curves;
use btu_core::traffic::sample::FlowSample;
use btu_core::units::Nanos;
use btu_engine::EngineError;
use btu_engine::socket_options;
use btu_engine::traffic::FlowEnd;
use btu_engine::traffic::JobEnd;

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
    // A conversation has threads of its own, which end by themselves.
    let elapsed = talked.iter().map(FlowSample::lasts).fold(end.elapsed, Nanos::max);
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
        elapsed_ns: elapsed,
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
    FlowSample {
        test: said.test,
        session: said.session,
        from: said.from,
        to: said.to,
        transport: said.transport.name().to_owned(),
        traffic: said.traffic,
        phase_ns: None,
        start_ns: said.start,
        duration_ns: end.trace.duration,
        outcome: end.outcome,
        figures: Figures::of(&end.trace),
        clocks: None,
        places: None,
        acknowledged_bytes: None,
        retransmitted_bytes: None,
        least_rtt_ns: None,
        refused: 0,
        pace: end.pace.to_owned(),
        cpu_ns: end.cpu,
        noticed: end.noticed.iter().map(|one| (one.name.to_owned(), one.value)).collect(),
        sender_options: socket_options(end.sender),
        receiver_options: socket_options(end.receiver),
        curves: Curves::of(&end.trace),
    }
}

fn flow(named: Named, end: FlowEnd) -> FlowSample {
    FlowSample {
        test: named.test,
        session: named.session,
        from: named.from,
        to: named.to,
        transport: named.flow.carrier.transport().name().to_owned(),
        traffic: named.traffic,
        phase_ns: named.phase,
        start_ns: named.flow.start,
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
        sender_options: socket_options(end.sender),
        receiver_options: socket_options(end.receiver),
        curves: Curves::of(&end.trace),
    }
}

#[cfg(test)]
mod tests {
    use btu_core::sample::Outcome;
    use btu_core::traffic::Transport;
    use btu_core::traffic::trace::Read;
    use btu_core::traffic::trace::Trace;
    use btu_core::units::Bytes;
    use btu_sys::socket::Effective;

    use super::*;

    /// A conversation of 2 s from 1 s on, whose last answer came after 2.5 s.
    #[test]
    fn a_cluster_of_conversations_lasts_as_long_as_they_do() {
        let said = Said {
            test: "a".to_owned(),
            session: 1,
            from: Role::Test,
            to: Role::Active,
            transport: Transport::Tcp,
            traffic: "telnet()".to_owned(),
            start: Nanos::from_secs(1),
        };
        let end = |last| FlowEnd {
            outcome: Outcome::Complete,
            tcp: None,
            pace: "answers",
            refused: 0,
            cpu: None,
            noticed: Vec::new(),
            trace: Trace {
                duration: Nanos::from_secs(2),
                reads: vec![Read { at: Nanos::from_millis(last), total: Bytes::new(1) }],
                ..Trace::default()
            },
            glances: Vec::new(),
            sender: Effective::default(),
            receiver: Effective::default(),
        };
        for (last, lasts) in [(2500, 3500), (10, 3000)] {
            let talk = Ok(conversation(said.clone(), end(last)));
            let cluster = sample("c", Vec::new(), Ok(JobEnd::default()), vec![talk]);
            let (elapsed, lasts) = (cluster.elapsed_ns, Nanos::from_millis(lasts));
            // The times of curves are as close as that.
            assert!(elapsed <= lasts && lasts.since(elapsed) < Nanos::from_micros(1), "{elapsed}");
            assert_eq!(cluster.flows[0].start_ns, Nanos::from_secs(1));
        }
        let longer = JobEnd { elapsed: Nanos::from_secs(9), ..JobEnd::default() };
        let cluster = sample("c", Vec::new(), Ok(longer), Vec::new());
        assert_eq!(cluster.elapsed_ns, Nanos::from_secs(9));
    }
}
