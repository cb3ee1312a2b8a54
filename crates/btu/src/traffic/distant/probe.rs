//! Probes between this host and an agent: a capacity search, round trips under load.

use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::cell::Role;
use btu_core::traffic::clock::ClockError;
use btu_core::traffic::clock::Offset;
use btu_core::traffic::probe::CapacitySample;
use btu_core::traffic::probe::ResponsivenessSample;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::EngineError;
use btu_engine::traffic as engine;
use btu_engine::traffic::Door;

use super::super::peers::LEASE;
use super::super::peers::Peers;
use super::super::peers::misfit;
use super::super::words::Told;
use super::super::words::Word;
use super::read_report;

/// Searches the capacity of the path to the agent.
pub(in super::super) fn capacity(
    peers: &Peers,
    datagram: Bytes,
    time: Nanos,
    cancel: &AtomicBool,
) -> Result<CapacitySample, EngineError> {
    let refused = |cause: ClockError| EngineError::Refused(cause.to_string());
    let offset = Offset::of(&peers.read_clock(FAR)?).map_err(refused)?;
    let job = peers.next_job();
    let ahead_ns = offset.ahead();
    let word = Word::Capacity { job, datagram_bytes: datagram, ahead_ns };
    with_door(peers, job, &word, time, |door| {
        let (sent, late) = engine::capacity_with(door, datagram, time, cancel)?;
        peers.say(FAR, &Word::Sent { job, datagrams: Vec::new() }, LEASE)?;
        let text = read_report(peers, FAR, job, || cancel.load(Relaxed))?;
        let broken = |cause| EngineError::Refused(format!("the agent's report: {cause}"));
        let sample = serde_json::from_str::<CapacitySample>(&text).map_err(broken)?;
        Ok(CapacitySample { sent, late, ..sample })
    })
}

/// Round trips while connections fill the path to the agent.
pub(in super::super) fn responsiveness(
    peers: &Peers,
    interval: Nanos,
    intervals: u32,
    cancel: &AtomicBool,
) -> Result<ResponsivenessSample, EngineError> {
    let job = peers.next_job();
    let longest = interval * u64::from(intervals) * 2;
    with_door(peers, job, &Word::Respond { job }, longest, |door| {
        engine::responsiveness_with(door, interval, intervals, cancel)
    })
}

/// Asks for a door, uses it, and closes it. `time` is how long nothing will be said.
fn with_door<T>(
    peers: &Peers,
    job: u32,
    word: &Word,
    time: Nanos,
    through: impl FnOnce(Door) -> Result<T, EngineError>,
) -> Result<T, EngineError> {
    let told = peers.say(FAR, word, time.saturating_add(LEASE))?;
    let Told::Listening { address, ports, talks, .. } = told else { return Err(misfit()) };
    let port = ports.into_iter().chain(talks).flatten().next().ok_or_else(misfit)?;
    let door = Door { at: SocketAddr::new(address, port), seat: peers.seat(FAR, job)? };
    let done = through(door);
    // An agent that is lost has ended it by itself.
    let _ = peers.say(FAR, &Word::Close { job }, LEASE);
    done
}

/// Probes go to the first agent.
const FAR: Role = Role::Active;
