//! Probes between this host and an agent: a capacity search, a search for the path MTU, round trips under load.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use btu_control::client::Silence;
use btu_core::role::Role;
use btu_core::traffic::clock::ClockError;
use btu_core::traffic::clock::Offset;
use btu_core::traffic::figures::capacity::FEEDBACK;
use btu_core::traffic::plan::Probe;
use btu_core::traffic::probe::CapacityReport;
use btu_core::traffic::probe::CapacitySample;
use btu_core::traffic::probe::PathMtuSample;
use btu_core::traffic::probe::ResponsivenessSample;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::EngineError;
use btu_engine::traffic as engine;
use btu_engine::traffic::CapacityOrder;
use btu_engine::traffic::Door;

use super::super::meter::Counting;
use super::super::peers::Peers;
use super::super::peers::misfit;
use super::super::words::Told;
use super::super::words::Word;
use super::account::Account;
use btu_engine::time::now;

/// Searches the capacity of the path to the agent.
pub(in crate::traffic) fn capacity(
    peers: &Peers,
    order: CapacityOrder,
    cancel: &AtomicBool,
) -> Result<CapacitySample, EngineError> {
    let CapacityOrder { datagram, time, adjustment } = order;
    peers.admits_probes()?;
    let refused = |cause: ClockError| EngineError::Refused(cause.to_string());
    let offset = Offset::of(&peers.read_clock(FAR)?).map_err(refused)?;
    let job = peers.next_job();
    let ahead_ns = offset.ahead();
    let word = Word::Capacity { job, datagram_bytes: datagram, ahead_ns };
    with_door(peers, job, &word, time, |door| {
        let moved = Arc::<AtomicU64>::default();
        let _counting = counting(peers, &moved);
        let sent = engine::capacity_with(door, order, cancel, &moved)?;
        peers.say(FAR, &Word::Sent { job, datagrams: Vec::new() })?;
        let (longest, interrupt) = (longest_report(time), cancel);
        let account =
            Account { peers, role: FAR, job, longest, patience: Silence::LEASE, interrupt };
        let broken = |cause| EngineError::Refused(format!("the agent's report: {cause}"));
        let sample = serde_json::from_str::<CapacitySample>(&account.read()?).map_err(broken)?;
        let counts = |report: &CapacityReport| [report.received, report.lost, report.disordered];
        if sample.reports.iter().flat_map(counts).any(|count| count > MOST) {
            return Err(misfit());
        }
        let after = Offset::of(&peers.read_clock(FAR)?).map_err(refused)?;
        let least_delay_bound_ns = Some(offset.bound_until(&after));
        let over_ipv6 = door.at.ip().to_canonical().is_ipv6();
        let datagram_bytes = datagram;
        Ok(sent.beside(CapacitySample {
            datagram_bytes,
            adjustment,
            over_ipv6,
            least_delay_bound_ns,
            ..sample
        }))
    })
}

/// Searches the MTU of the path to the agent.
pub(in crate::traffic) fn path_mtu(
    peers: &Peers,
    timer: Nanos,
    cancel: &AtomicBool,
) -> Result<PathMtuSample, EngineError> {
    peers.admits_probes()?;
    let job = peers.next_job();
    let longest = Probe::PathMtu { timer_ns: timer }.longest();
    with_door(peers, job, &Word::PathMtu { job }, longest, |door| {
        let moved = Arc::<AtomicU64>::default();
        let _counting = counting(peers, &moved);
        engine::path_mtu_with(door, timer, cancel, &moved)
    })
}

/// Round trips while connections fill the path to the agent.
pub(in crate::traffic) fn responsiveness(
    peers: &Peers,
    interval: Nanos,
    intervals: u32,
    cancel: &AtomicBool,
) -> Result<ResponsivenessSample, EngineError> {
    peers.admits_probes()?;
    let job = peers.next_job();
    let longest = Probe::Responsiveness { interval_ns: interval, intervals }.longest();
    with_door(peers, job, &Word::Respond { job }, longest, |door| {
        let moved = Arc::<AtomicU64>::default();
        let _counting = counting(peers, &moved);
        engine::responsiveness_with(door, interval, intervals, cancel, &moved)
    })
}

/// Counts what a probe moves.
fn counting(peers: &Peers, moved: &Arc<AtomicU64>) -> Option<Counting> {
    let moved = Arc::clone(moved);
    peers.count(move || Bytes::new(moved.load(Relaxed)))
}

/// Asks for a door, uses it, and closes it. `time` is how long nothing will be said.
fn with_door<T>(
    peers: &Peers,
    job: u32,
    word: &Word,
    time: Nanos,
    through: impl FnOnce(&Door) -> Result<T, EngineError>,
) -> Result<T, EngineError> {
    peers.promise(job, now().saturating_add(time).saturating_add(Silence::LEASE));
    let open = || {
        let told = peers.say(FAR, word)?;
        let Told::Listening { address, ports, talks, .. } = told else { return Err(misfit()) };
        let port = ports.into_iter().chain(talks).flatten().next().ok_or_else(misfit)?;
        let at = peers.door(FAR, SocketAddr::new(address, port))?;
        Ok(Door { at, seat: peers.seat(FAR, job)?, certificate: None })
    };
    let done = open().and_then(|door| through(&door));
    peers.close(job, &[FAR]);
    done
}

/// A row of seven numbers each 50 ms, and as many again where a clock was late.
fn longest_report(time: Nanos) -> usize {
    let rows = time.count() / FEEDBACK.count() * 2 + 100;
    usize::try_from(rows.saturating_mul(OF_A_ROW)).unwrap_or(usize::MAX)
}

/// Probes go to the first agent.
const FAR: Role = Role::Active;
/// No interval has more datagrams.
const MOST: u64 = 1 << 32;
/// With the names of its numbers.
const OF_A_ROW: u64 = 400;
