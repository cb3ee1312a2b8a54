//! A thread that looks, 100 times a second, where the queues of flows stand.

use std::net::TcpStream;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::traffic::analysis::places::Glance;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::clock;
use btu_sys::socket;
use btu_sys::tcp_info::TcpInfo;

use super::connect::Ends;
use super::connect::Socket;
use super::job::Flow;
use super::pacer::now;

/// Flows to look at, each with its ends.
pub(super) type Watched<'a> = Vec<(&'a Flow, &'a Ends)>;

/// Looks until told to stop. Gives the glances of each flow, in times of the flow.
pub(super) fn run(watched: &Watched<'_>, begin: Nanos, stop: &AtomicBool) -> Vec<Vec<Glance>> {
    let mut glances: Vec<Vec<Glance>> =
        watched.iter().map(|_| Vec::with_capacity(MOST.min(4096))).collect();
    let mut next = begin;
    while !stop.load(Relaxed) {
        clock::sleep_until(next.count());
        // A thread that slept too long does not look twice for it.
        next = next.max(now()).saturating_add(PERIOD);
        for ((flow, ends), glances) in watched.iter().zip(&mut glances) {
            if glances.len() < MOST
                && let Some(glance) = glance(flow, ends, begin)
            {
                glances.push(glance);
            }
        }
    }
    glances
}

/// True where both ends are here, and keep an account: sockets of datagrams do not.
pub(super) fn can_watch(ends: &Ends) -> bool {
    streams(ends).is_some()
}

fn streams(ends: &Ends) -> Option<(&TcpStream, &TcpStream)> {
    match (&ends.near, &ends.far) {
        (Some(Socket::Stream(near)), Some(Socket::Stream(far))) => Some((near, far)),
        _ => None,
    }
}

/// One reading of all places; `None` before the flow begins, and where nothing can be read.
fn glance(flow: &Flow, ends: &Ends, begin: Nanos) -> Option<Glance> {
    let (near, far) = streams(ends)?;
    let time = now();
    let start = begin.saturating_add(flow.start);
    if time < start || time > start.saturating_add(flow.duration) {
        return None;
    }
    // From the receiver to the sender, so that nothing is seen twice.
    let read = ends.shared.read.load(Relaxed);
    let unread = socket::unread(far).ok()?;
    let unacknowledged = socket::unacknowledged(near).ok()?;
    let info = TcpInfo::of(near).ok()?;
    let taken = ends.shared.taken.load(Relaxed);
    Some(Glance {
        at_ns: now().since(start),
        taken_bytes: Bytes::new(taken),
        unsent_bytes: Bytes::new(info.notsent_bytes().unwrap_or(0)),
        unacknowledged_bytes: Bytes::new(unacknowledged),
        unread_bytes: Bytes::new(unread),
        read_bytes: Bytes::new(read),
        rtt_ns: Nanos::from_micros(info.rtt_us().unwrap_or(0)),
    })
}

const PERIOD: Nanos = Nanos::from_millis(10);
/// Glances of one flow: ten minutes.
const MOST: usize = 60_000;
