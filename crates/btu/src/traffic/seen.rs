//! From what the engine saw of flows to what a sample says of them.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

use btu_core::role::Role;
use btu_core::traffic::figures::flow::Figures;
use btu_core::traffic::figures::places::Places;
use btu_core::traffic::figures::slowdown;
use btu_core::traffic::figures::slowdown::Message;
use btu_core::traffic::sample::Agreement;
use btu_core::traffic::sample::ClusterSample;
use btu_core::traffic::sample::Curves;
use btu_core::traffic::sample::FlowSample;
use btu_core::traffic::sample::INTERNAL_ERROR;
use btu_core::traffic::sample::SlowdownSample;
use btu_core::units::Nanos;
use btu_engine::EngineError;
use btu_engine::socket_options;
use btu_engine::traffic::FlowEnd;
use btu_engine::traffic::JobEnd;

use super::expand::Named;
use super::expand::Said;
use crate::traffic::remote::distant::Between;

/// A flow and its messages, of which the sample alone does not know each.
#[derive(Debug)]
pub(super) struct Seen {
    flow: FlowSample,
    /// The name of its test, which may have several flows.
    test: String,
    messages: Vec<Message>,
}

/// What flows and conversations of a cluster came to.
pub(super) fn sample(
    name: &str,
    named: Vec<Named>,
    ended: Result<JobEnd, EngineError>,
    talks: Vec<Result<Seen, EngineError>>,
) -> ClusterSample {
    let mut causes = Vec::new();
    let mut keep = |cause: EngineError| {
        let told = told_of(&cause);
        if !causes.contains(&told) {
            causes.push(told);
        }
    };
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
    // A conversation has threads of its own, which end by themselves.
    let elapsed = talked.iter().map(|talk| talk.flow.lasts()).fold(end.elapsed, Nanos::max);
    let known: Vec<[Nanos; 2]> = talked.iter().filter_map(|talk| talk.flow.cpu_ns).collect();
    let cpu = |end: usize| known.iter().map(|cpu| cpu[end]).sum::<Nanos>();
    let threads = end.sender_threads + known.len();
    let flows = named.into_iter().zip(end.flows).map(|(named, end)| flow(named, end));
    let mut all: Vec<Seen> = flows.chain(talked).collect();
    let slowdowns = slowdowns(&mut all);
    ClusterSample {
        name: name.to_owned(),
        sender_cpu_ns: end.sender_cpu.saturating_add(cpu(0)),
        receiver_cpu_ns: end.receiver_cpu.saturating_add(cpu(1)),
        sender_threads: u32::try_from(threads).unwrap_or(u32::MAX),
        flows: all.into_iter().map(|seen| seen.flow).collect(),
        failed: (!causes.is_empty()).then(|| causes.join("; ")),
        began_ns: Nanos::ZERO,
        elapsed_ns: elapsed,
        clocks: Vec::new(),
        slowdowns,
    }
}

/// The slowdowns of each test in each direction, from the messages of all its flows.
fn slowdowns(all: &mut [Seen]) -> Vec<SlowdownSample> {
    let mut tests: BTreeMap<(String, Role, Role), Vec<Message>> = BTreeMap::new();
    for Seen { flow, test, messages } in all {
        tests.entry((test.clone(), flow.from, flow.to)).or_default().append(messages);
    }
    let told = tests.into_iter().map(|((test, from, to), messages)| {
        let sizes = slowdown::by_size(messages);
        SlowdownSample { test, from, to, sizes }
    });
    told.filter(|one| !one.sizes.is_empty()).collect()
}

/// Why a cluster failed. A panic is a fault of the program, and is told as one.
fn told_of(cause: &EngineError) -> String {
    let sentence = cause.sentence();
    match cause {
        EngineError::Panicked { .. } => format!("{INTERNAL_ERROR}: {sentence}"),
        _ => sentence,
    }
}

/// What `work` makes of a cluster; where it panics, a cluster that failed.
pub(super) fn guarded(name: &str, work: impl FnOnce() -> ClusterSample) -> ClusterSample {
    // What it leaves half done is its own; what it shares is behind locks that are taken from whoever panicked.
    let ended = catch_unwind(AssertUnwindSafe(work));
    ended.unwrap_or_else(|said| {
        failed(name, &EngineError::panicked(&format!("of cluster {name}"), &*said))
    })
}

/// A cluster that could not be run.
pub(super) fn failed(name: &str, cause: &EngineError) -> ClusterSample {
    let failed = Some(told_of(cause));
    ClusterSample { failed, ..sample(name, Vec::new(), Ok(JobEnd::default()), Vec::new()) }
}

/// Says of each flow how well its delays are known. Ratios of delays between two clocks are none.
pub(super) fn compare_clocks(cluster: &mut ClusterSample, clocks: &BTreeMap<Role, Between>) {
    cluster.flows.iter_mut().for_each(|flow| compare_clocks_of(flow, clocks));
    let flows = &cluster.flows;
    let is_asked =
        |one: &SlowdownSample| flows.iter().any(|flow| flow.is_asked() && flow.test == one.test);
    let of_two = |one: &SlowdownSample| {
        let own = |flow: &&FlowSample| (flow.from, flow.to) == (one.from, one.to);
        flows.iter().filter(own).any(|flow| flow.clocks.is_some())
    };
    cluster.slowdowns.retain(|one| is_asked(one) || !of_two(one));
}

/// A conversation has one clock: the asker's.
fn compare_clocks_of(flow: &mut FlowSample, clocks: &BTreeMap<Role, Between>) {
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

/// What a conversation, or media, came to.
pub(super) fn seen(said: Said, end: FlowEnd) -> Seen {
    let test = said.test.clone();
    told(said, (test, None), end)
}

fn flow(named: Named, end: FlowEnd) -> Seen {
    let Named { test, of, session, from, to, traffic, phase, flow } = named;
    let (transport, start) = (flow.carrier.transport(), flow.start);
    let said = Said { test, session, from, to, transport, traffic, start };
    told(said, (of, phase), end)
}

/// The flow of a test, which begins so much later than its schedule.
fn told(said: Said, (test, phase): (String, Option<Nanos>), end: FlowEnd) -> Seen {
    let messages = slowdown::messages(&end.trace);
    let flow = FlowSample {
        test: said.test,
        session: said.session,
        from: said.from,
        to: said.to,
        transport: said.transport.name().to_owned(),
        traffic: said.traffic,
        phase_ns: phase,
        start_ns: said.start,
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
    };
    Seen { flow, test, messages }
}

#[cfg(test)]
mod tests {
    use btu_core::sample::HostSample;
    use btu_core::sample::Outcome;
    use btu_core::traffic::Transport;
    use btu_core::traffic::sample::RunSample;
    use btu_core::traffic::trace::Read;
    use btu_core::traffic::trace::Trace;
    use btu_core::units::Bytes;
    use btu_sys::socket::Effective;

    use super::*;

    /// A conversation of 2 s from 1 s on, whose last answer came after 2.5 s.
    #[test]
    fn a_cluster_of_conversations_lasts_as_long_as_they_do() {
        for (last, lasts) in [(2500, 3500), (10, 3000)] {
            let talk = Ok(seen(said(), end(last)));
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

    /// Media go over datagrams: what the kernel threw away of them is said as of every flow.
    #[test]
    fn packets_of_media_that_the_kernel_refused_are_told() {
        let end = FlowEnd { refused: 3, pace: "hybrid", ..end(10) };
        assert_eq!(seen(said(), end).flow.refused, 3);
    }

    /// Two conversations of a test, of which one had the quicker of two messages of 1000 bytes; and one whose delays
    /// are between two clocks.
    #[test]
    fn the_messages_of_a_test_are_compared_with_those_of_all_its_flows() {
        let of_test = |test: &str, messages: &[(u64, u64)]| {
            let said = Said { test: test.to_owned(), ..said() };
            let message = |(size, millis): &(u64, u64)| Message {
                size: Bytes::new(*size),
                delay: Nanos::from_millis(*millis),
            };
            let messages = messages.iter().map(message).collect();
            Ok(Seen { messages, ..seen(said, end(10)) })
        };
        let talks = vec![of_test("a", &[(1000, 30)]), of_test("a", &[(1000, 10), (90, 40)])];
        let other = of_test("b", &[(1000, 30), (90, 10)]);
        let talks = talks.into_iter().chain([other]).collect();
        let mut cluster = sample("c", Vec::new(), Ok(JobEnd::default()), talks);
        let [one, two] = &cluster.slowdowns[..] else { panic!("{:?}", cluster.slowdowns) };
        assert_eq!((one.test.as_str(), two.test.as_str()), ("a", "b"));
        let told: Vec<(u64, u64, f64)> =
            one.sizes.iter().map(|s| (s.up_to_bytes.count(), s.messages, s.p50)).collect();
        assert_eq!(told, [(100, 1, 4.0), (1000, 2, 2.0)]);
        // No conversation any more.
        cluster.flows[2].pace = "sleep".to_owned();
        cluster.flows[2].clocks = Some(Agreement::Within(Nanos::from_micros(5)));
        compare_clocks(&mut cluster, &BTreeMap::new());
        let left: Vec<&str> = cluster.slowdowns.iter().map(|one| one.test.as_str()).collect();
        assert_eq!(left, ["a"]);
    }

    /// One of the two other causes is no fault of the program.
    #[test]
    fn a_panic_fails_its_cluster_as_a_fault_of_the_program_and_hides_no_other_cause() {
        let run = |cluster: ClusterSample| RunSample { clusters: vec![cluster], ..run() };
        let cluster = guarded("web", || panic!("index {} is out of bounds", 7));
        let told = "internal error (please report it): thread of cluster web panicked: index 7 is out of bounds";
        assert_eq!((cluster.name.as_str(), cluster.failed.as_deref()), ("web", Some(told)));
        assert!(run(cluster).has_internal_error());
        let refused = || Err(EngineError::Refused("no route".to_owned()));
        let fault = Err(EngineError::panicked("of a conversation", &"why"));
        // What happened to many is told once.
        let again = Err(EngineError::Refused("no route".to_owned()));
        let both = sample("c", Vec::new(), refused(), vec![fault, again]);
        assert_eq!(both.failed.as_ref().map(|causes| causes.matches("no route").count()), Some(1));
        assert!(run(both).has_internal_error());
        let only = guarded("c", || sample("c", Vec::new(), refused(), Vec::new()));
        assert_eq!(only.failed.as_deref(), Some("no route"));
        assert!(!run(only).has_internal_error());
    }

    fn run() -> RunSample {
        RunSample {
            cell: 1,
            pass: 1,
            started_at: String::new(),
            clusters: Vec::new(),
            probe: None,
            emulation: Vec::new(),
            host: HostSample::default(),
            flags: Vec::new(),
        }
    }

    fn said() -> Said {
        Said {
            test: "a".to_owned(),
            session: 1,
            from: Role::Test,
            to: Role::Active,
            transport: Transport::Tcp,
            traffic: "telnet()".to_owned(),
            start: Nanos::from_secs(1),
        }
    }

    /// A conversation of 2 s whose last answer came after so many milliseconds.
    fn end(last: u64) -> FlowEnd {
        FlowEnd {
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
        }
    }
}
