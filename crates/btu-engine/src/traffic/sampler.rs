//! A thread that looks, 100 times a second, where the queues of flows stand.

use std::net::TcpStream;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::traffic::figures::places::Glance;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::clock;
use btu_sys::socket;
use btu_sys::tcp_info::TcpInfo;

use super::connect::Ends;
use super::connect::Socket;
use super::job::Flow;
use crate::time::now;

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
    let (seen, taken) = between_writes(
        || ends.shared.taken.load(Relaxed),
        || {
            // From the receiver to the sender, so that nothing is seen twice.
            let read = ends.shared.read.load(Relaxed);
            let unread = socket::unread(far).ok()?;
            let unacknowledged = socket::unacknowledged(near).ok()?;
            Some((read, unread, unacknowledged, TcpInfo::of(near).ok()?))
        },
    )?;
    let (read, unread, unacknowledged, info) = seen;
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

/// What `look` sees, and what the transport had taken by then. Where it took more meanwhile the sockets were seen before or
/// after it: a block would stand in two places or in none. So they are looked at once more, and no longer, since some
/// senders write all the time.
fn between_writes<T>(taken: impl Fn() -> u64, look: impl Fn() -> Option<T>) -> Option<(T, u64)> {
    let before = taken();
    let (seen, after) = (look()?, taken());
    if before == after { Some((seen, after)) } else { Some((look()?, taken())) }
}

const PERIOD: Nanos = Nanos::from_millis(10);
/// Glances of one flow: ten minutes.
const MOST: usize = 60_000;

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A block of 7 bytes is taken while the sockets are looked at for the first time: the second look sees all of it.
    #[test]
    fn sockets_are_looked_at_again_where_a_block_was_written_meanwhile() {
        let (taken, looks) = (Cell::new(0), Cell::new(0));
        let look = |writes: u32| {
            taken.set(0);
            looks.set(0);
            between_writes(
                || taken.get(),
                || {
                    let seen: u64 = taken.get();
                    looks.set(looks.get() + 1);
                    taken.set(if looks.get() <= writes { seen + 7 } else { seen });
                    Some(seen)
                },
            )
        };
        assert_eq!((look(0), looks.get()), (Some((0, 0)), 1));
        assert_eq!((look(1), looks.get()), (Some((7, 7)), 2));
        assert_eq!((look(9), looks.get()), (Some((7, 14)), 2));
        assert_eq!(between_writes(|| 0, || None::<u64>), None);
    }
}
